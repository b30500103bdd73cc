// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace ptxdsl {

/// A string literal that can be a template argument: kernel names, mnemonics, diagnostics.
///
/// `N` counts the characters without the terminating NUL; `data` always holds that NUL.
template <std::size_t N>
struct fixed_string {
    char data[N + 1] = {};

    constexpr fixed_string() noexcept = default;

    // NOLINTNEXTLINE(google-explicit-constructor): `kernel<"name", body>` is the whole point.
    constexpr fixed_string(const char (&text)[N + 1]) noexcept {
        for (std::size_t i = 0; i < N; ++i) data[i] = text[i];
    }

    constexpr explicit fixed_string(std::string_view text) noexcept {
        for (std::size_t i = 0; i < N && i < text.size(); ++i) data[i] = text[i];
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept { return {data, N}; }
    [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }

    constexpr bool operator==(const fixed_string&) const = default;
};

template <std::size_t N>
fixed_string(const char (&)[N]) -> fixed_string<N - 1>;

}  // namespace ptxdsl
