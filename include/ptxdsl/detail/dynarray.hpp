// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ptxdsl::detail {

/// A growable array of trivially copyable elements that works in constant evaluation and at run time.
///
/// `std::vector` would do, at 1.5 times the evaluation cost and the price of its header in every translation unit
/// (docs/design.md, "What was decided against").
template <class T>
class dynarray {
    static_assert(__is_trivially_copyable(T) && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

public:
    constexpr dynarray() noexcept = default;
    constexpr explicit dynarray(std::uint32_t capacity) : data_(allocate(capacity)), capacity_(capacity) {}
    dynarray(const dynarray&) = delete;
    dynarray& operator=(const dynarray&) = delete;
    constexpr dynarray(dynarray&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
        other.data_ = nullptr;
        other.size_ = other.capacity_ = 0;
    }
    constexpr dynarray& operator=(dynarray&& other) noexcept {
        T* data = data_;
        data_ = other.data_, other.data_ = data;
        std::uint32_t n = size_;
        size_ = other.size_, other.size_ = n;
        n = capacity_;
        capacity_ = other.capacity_, other.capacity_ = n;
        return *this;
    }
    constexpr ~dynarray() { release(data_); }

    constexpr void push_back(const T& value) {
        if (size_ == capacity_) grow();
        data_[size_++] = value;
    }
    constexpr void resize(std::uint32_t n, const T& fill = T{}) {
        while (capacity_ < n) grow();
        for (std::uint32_t i = size_; i < n; ++i) data_[i] = fill;
        size_ = n;
    }
    constexpr void truncate(std::uint32_t n) noexcept { size_ = n; }

    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T* data() noexcept { return data_; }
    [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr T& operator[](std::uint32_t i) noexcept { return data_[i]; }
    [[nodiscard]] constexpr const T& operator[](std::uint32_t i) const noexcept { return data_[i]; }
    [[nodiscard]] constexpr T& back() noexcept { return data_[size_ - 1]; }
    constexpr void pop_back() noexcept { --size_; }
    [[nodiscard]] constexpr T* begin() noexcept { return data_; }
    [[nodiscard]] constexpr T* end() noexcept { return data_ + size_; }
    [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }

private:
    constexpr void grow() {
        const std::uint32_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
        T* data = allocate(capacity);
        for (std::uint32_t i = 0; i < size_; ++i) data[i] = data_[i];
        release(data_);
        data_ = data;
        capacity_ = capacity;
    }
    /// At run time elements begin with their first assignment (they are of implicit-lifetime types): what is allocated
    /// and never used is never touched, so a generous capacity costs no page faults.
    [[nodiscard]] static constexpr T* allocate(std::uint32_t n) {
        if (__builtin_is_constant_evaluated()) return new T[n];
        return static_cast<T*>(::operator new(n * sizeof(T)));
    }
    static constexpr void release(T* data) noexcept {
        if (__builtin_is_constant_evaluated())
            delete[] data;
        else
            ::operator delete(static_cast<void*>(data));
    }

    T* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace ptxdsl::detail
