// SPDX-License-Identifier: Apache-2.0
// A growable text for printers and messages, usable in constant evaluation.
#pragma once

#include <ptxdsl/detail/decimal.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptxdsl::ptx {

/// Characters under construction.
class text {
public:
    constexpr text() noexcept = default;
    constexpr explicit text(std::uint32_t capacity) : data_(new char[capacity + 1]), capacity_(capacity + 1) {}
    text(const text&) = delete;
    text& operator=(const text&) = delete;
    constexpr text(text&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
        other.data_ = nullptr;
        other.size_ = other.capacity_ = 0;
    }
    constexpr text& operator=(text&& other) noexcept {
        char* const data = data_;
        data_ = other.data_, other.data_ = data;
        std::uint32_t n = size_;
        size_ = other.size_, other.size_ = n;
        n = capacity_;
        capacity_ = other.capacity_, other.capacity_ = n;
        return *this;
    }
    constexpr ~text() { delete[] data_; }

    constexpr text& put(char c) {
        if (size_ == capacity_) grow(1);
        data_[size_++] = c;
        return *this;
    }
    constexpr text& put(std::string_view s) {
        const auto n = static_cast<std::uint32_t>(s.size());
        if (n > capacity_ - size_) grow(n);
        copy(data_ + size_, s.data(), n);
        size_ += n;
        return *this;
    }
    /// Room for `n` bytes more.
    constexpr void reserve(std::uint32_t n) {
        if (n > capacity_ - size_) grow(n);
    }
    constexpr text& put_number(std::uint64_t v) { return put(std::string_view(::ptxdsl::detail::decimal(v).view())); }
    constexpr void clear() noexcept { size_ = 0; }

    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {data_, size_}; }

    /// clang counts every statement of a constant evaluation but folds a memcpy into one; g++ 12 refuses it there.
    static constexpr void copy(char* to, const char* from, std::uint32_t n) noexcept {
        if (n == 0) return;
#if defined(__clang__)
        __builtin_memcpy(to, from, n);
#else
        if (!std::is_constant_evaluated())
            __builtin_memcpy(to, from, n);
        else
            for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
#endif
    }

private:
    constexpr void grow(std::uint32_t n) {
        const std::uint32_t capacity = 2 * capacity_ + n + 64;
        char* const data = new char[capacity];
        copy(data, data_, size_);
        delete[] data_;
        data_ = data;
        capacity_ = capacity;
    }

    char* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace ptxdsl::ptx
