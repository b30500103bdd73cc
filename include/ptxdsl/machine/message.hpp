// SPDX-License-Identifier: Apache-2.0
// Text that grows in constant evaluation. (std::string of libstdc++ 12 cannot be moved about there.)
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/machine/list.hpp>

#include <cstddef>

namespace ptxdsl::machine {

/// Owned characters. Converts to `ptxdsl::string_view`, and to `std::string` where one is asked for.
class message {
public:
    constexpr message() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is a text wherever one is asked for.
    constexpr message(const char* c_string) { *this += string_view(c_string); }
    constexpr message(const char* first, std::size_t count) { *this += string_view(first, count); }
    // NOLINTNEXTLINE(google-explicit-constructor): so is a view
    constexpr message(string_view s) { *this += s; }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return chars_.size(); }
    [[nodiscard]] constexpr bool empty() const noexcept { return chars_.empty(); }
    [[nodiscard]] constexpr const char* data() const noexcept { return chars_.data(); }
    [[nodiscard]] constexpr const char* begin() const noexcept { return chars_.begin(); }
    [[nodiscard]] constexpr const char* end() const noexcept { return chars_.end(); }
    /// `std::string s = t;`
    template <class String>
        requires(!__is_same(String, message) && !__is_same(String, string_view) &&
                 requires(String s, const char* p, std::size_t n) { s.append(p, n); })
    // NOLINTNEXTLINE(google-explicit-constructor): as std::string's own conversions
    [[nodiscard]] operator String() const {
        return String(data(), size());
    }

    constexpr message& operator+=(char c) {
        chars_.push_back(c);
        return *this;
    }
    constexpr message& operator+=(string_view s) {
        chars_.reserve(chars_.size() + s.size());
        for (const char c : s) chars_.push_back(c);
        return *this;
    }
    [[nodiscard]] friend constexpr message operator+(const message& a, string_view b) {
        message r(a);
        r += b;
        return r;
    }
    [[nodiscard]] friend constexpr message operator+(const char* a, const message& b) {
        message r(a);
        r += string_view(b);
        return r;
    }
    [[nodiscard]] friend constexpr bool operator==(const message& a, string_view b) noexcept {
        return string_view(a) == b;
    }
    [[nodiscard]] friend constexpr bool operator==(const message& a, const char* b) noexcept {
        return string_view(a) == string_view(b);
    }
    [[nodiscard]] friend constexpr bool operator==(const message& a, const message& b) noexcept {
        return string_view(a) == string_view(b);
    }

private:
    list<char> chars_;
};

}  // namespace ptxdsl::machine
