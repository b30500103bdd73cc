// SPDX-License-Identifier: Apache-2.0
// A view of characters that costs nothing to include.
#pragma once

#include <cstddef>

namespace ptxdsl {

namespace detail {
/// A class that has its characters in a row: `std::string`, `std::string_view`, `fmt::string_view` …
template <class S>
concept character_range = requires(const S& s, const char*& first, std::size_t& count) {
    first = s.data();
    count = s.size();
};
/// A non-owning view of another library: made from a pointer and a count, and it can be shortened.
template <class V>
concept foreign_view = requires(V v, const char* first, std::size_t count) {
    V(first, count);
    v.remove_prefix(count);
};
}  // namespace detail

/// Characters that belong to somebody else, as `std::string_view`, to which it converts by itself (and from it, and
/// from `std::string`).
///
/// It exists because `<string_view>` brings the ranges part of the standard library, a third of what
/// `<ptxdsl/ptxdsl.hpp>` may cost (docs/design.md, "What was decided against").
class string_view {
public:
    using value_type = char;
    using size_type = std::size_t;
    using const_iterator = const char*;
    using iterator = const_iterator;
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    constexpr string_view() noexcept = default;
    constexpr string_view(const char* first, std::size_t count) noexcept : data_(first), size_(count) {}
    /// Up to the terminating NUL.
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is an argument wherever a name is.
    constexpr string_view(const char* c_string) noexcept : data_(c_string) {
        while (c_string[size_] != '\0') ++size_;
    }
    template <detail::character_range S>
    // NOLINTNEXTLINE(google-explicit-constructor): as std::string to std::string_view
    constexpr string_view(const S& s) noexcept : data_(s.data()), size_(s.size()) {}

    template <detail::foreign_view V>
    // NOLINTNEXTLINE(google-explicit-constructor): `std::string_view ptx = program.text();`
    [[nodiscard]] constexpr operator V() const noexcept {
        return V(data_, size_);
    }

    [[nodiscard]] constexpr const char* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr std::size_t length() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const char* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const char* end() const noexcept { return data_ + size_; }
    [[nodiscard]] constexpr const char& operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] constexpr const char& front() const noexcept { return data_[0]; }
    [[nodiscard]] constexpr const char& back() const noexcept { return data_[size_ - 1]; }

    constexpr void remove_prefix(std::size_t n) noexcept { data_ += n, size_ -= n; }
    constexpr void remove_suffix(std::size_t n) noexcept { size_ -= n; }
    /// Characters [pos, pos + count) as far as there are; empty beyond the end, where `std::string_view` throws.
    [[nodiscard]] constexpr string_view substr(std::size_t pos, std::size_t count = npos) const noexcept {
        if (pos > size_) pos = size_;
        return {data_ + pos, count < size_ - pos ? count : size_ - pos};
    }

    [[nodiscard]] constexpr bool starts_with(string_view s) const noexcept {
        return size_ >= s.size_ && substr(0, s.size_) == s;
    }
    [[nodiscard]] constexpr bool ends_with(string_view s) const noexcept {
        return size_ >= s.size_ && substr(size_ - s.size_) == s;
    }
    [[nodiscard]] constexpr bool starts_with(char c) const noexcept { return size_ != 0 && data_[0] == c; }
    [[nodiscard]] constexpr bool ends_with(char c) const noexcept { return size_ != 0 && back() == c; }
    [[nodiscard]] constexpr std::size_t find(char c, std::size_t pos = 0) const noexcept {
        for (std::size_t i = pos; i < size_; ++i) {
            if (data_[i] == c) return i;
        }
        return npos;
    }
    [[nodiscard]] constexpr std::size_t find(string_view s, std::size_t pos = 0) const noexcept {
        for (std::size_t i = pos; i <= size_ && s.size_ <= size_ - i; ++i) {
            if (substr(i, s.size_) == s) return i;
        }
        return npos;
    }
    [[nodiscard]] constexpr std::size_t rfind(char c) const noexcept {
        for (std::size_t i = size_; i > 0; --i) {
            if (data_[i - 1] == c) return i - 1;
        }
        return npos;
    }
    /// Negative, zero or positive, as `std::string_view::compare`: bytes compare as unsigned.
    [[nodiscard]] constexpr int compare(string_view s) const noexcept {
        for (std::size_t i = 0; i < size_ && i < s.size_; ++i) {
            if (data_[i] != s.data_[i])
                return static_cast<unsigned char>(data_[i]) < static_cast<unsigned char>(s.data_[i]) ? -1 : 1;
        }
        return size_ == s.size_ ? 0 : size_ < s.size_ ? -1 : 1;
    }

    friend constexpr bool operator==(string_view a, string_view b) noexcept {
        return a.size_ == b.size_ && a.compare(b) == 0;
    }
    friend constexpr bool operator<(string_view a, string_view b) noexcept { return a.compare(b) < 0; }
    /// For `std::string_view` and its like on the other side: without it both libraries' operators would do.
    template <detail::character_range S>
    friend constexpr bool operator==(string_view a, const S& b) noexcept {
        return a == string_view(b);
    }
    template <class Stream>
        requires requires(Stream& s, const char* first) { s.write(first, 1).flush(); }
    friend Stream& operator<<(Stream& stream, string_view s) {
        stream.write(s.data_, static_cast<std::ptrdiff_t>(s.size_));
        return stream;
    }

private:
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

inline namespace string_view_literals {
[[nodiscard]] constexpr string_view operator""_sv(const char* first, std::size_t count) noexcept {
    return {first, count};
}
}  // namespace string_view_literals

}  // namespace ptxdsl
