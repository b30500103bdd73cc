// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ptxdsl/detail/string_view.hpp>

#include <cstdint>

namespace ptxdsl::detail {

/// The decimal digits of a number, in constant evaluation too: `put(decimal(n).view())`, `for (char c : decimal(n))`.
class decimal {
public:
    constexpr explicit decimal(std::uint64_t v) noexcept {
        do digits_[--begin_] = static_cast<char>('0' + v % 10);
        while ((v /= 10) != 0);
    }
    [[nodiscard]] constexpr const char* begin() const noexcept { return digits_ + begin_; }
    [[nodiscard]] constexpr const char* end() const noexcept { return digits_ + sizeof(digits_); }
    /// Of a temporary: for the call it is an argument of.
    [[nodiscard]] constexpr string_view view() const noexcept { return {digits_ + begin_, sizeof(digits_) - begin_}; }

private:
    char digits_[20] = {};
    std::uint32_t begin_ = sizeof(digits_);
};

}  // namespace ptxdsl::detail
