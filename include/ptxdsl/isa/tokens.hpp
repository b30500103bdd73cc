// SPDX-License-Identifier: Apache-2.0
// Mnemonic words and modifiers as small integers: what the instruction table, the DSL and the parser compare.
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/generated/tokens.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cstdint>

namespace ptxdsl::isa {

/// The PTX text of a token, without the leading dot: `spelling(tok::shared__cta)` is `shared::cta`.
[[nodiscard]] constexpr string_view spelling(tok t) noexcept {
    const auto i = static_cast<unsigned>(t);
    const unsigned begin = detail::token_offset[i];
    return {detail::token_text + begin, detail::token_offset[i + 1] - begin};
}

/// The token with this PTX text (no leading dot); `tok::none` when the table has no such word.
[[nodiscard]] constexpr tok find_token(string_view text) noexcept {
    unsigned low = 1;
    unsigned high = detail::token_count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const int order = spelling(static_cast<tok>(middle)).compare(text);
        if (order == 0) return static_cast<tok>(middle);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return tok::none;
}

/// The token that names a type: `type_token(scalar::f32)` is `tok::f32`.
[[nodiscard]] constexpr tok type_token(scalar s) noexcept {
    return static_cast<tok>(detail::scalar_token[static_cast<unsigned>(s)]);
}

/// The type a token names; `scalar::none` when it names none.
[[nodiscard]] constexpr scalar token_type(tok t) noexcept {
    return static_cast<scalar>(detail::token_scalar[static_cast<unsigned>(t)]);
}

/// The number a token counts with: 4 for `v4`, 8 for `x8`, 3 for `3d`, n for `m64n<n>k16`; 0 for all others.
[[nodiscard]] constexpr unsigned token_count_of(tok t) noexcept {
    return detail::token_number[static_cast<unsigned>(t)];
}

}  // namespace ptxdsl::isa
