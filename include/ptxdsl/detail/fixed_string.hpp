// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ptxdsl/detail/string_view.hpp>

#include <cstddef>
#include <cstdint>

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

    constexpr explicit fixed_string(string_view text) noexcept {
        for (std::size_t i = 0; i < N && i < text.size(); ++i) data[i] = text[i];
    }

    [[nodiscard]] constexpr string_view view() const noexcept { return {data, N}; }
    [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }

    constexpr bool operator==(const fixed_string&) const = default;
};

template <std::size_t N>
fixed_string(const char (&)[N]) -> fixed_string<N - 1>;

namespace detail {

/// clang prints about 36 characters of a string argument, so it gets a sentence in several.
inline constexpr std::size_t piece_size = 30;

/// Start of piece `i` of a sentence: cut at blanks where one is near.
[[nodiscard]] constexpr std::size_t piece_begin(string_view s, std::size_t i) noexcept {
    std::size_t at = 0;
    for (std::size_t k = 0; k < i && at < s.size(); ++k) {
        std::size_t end = at + piece_size;
        if (end >= s.size()) return s.size();
        while (end > at + piece_size / 2 && s[end - 1] != ' ') --end;
        if (end == at + piece_size / 2) end = at + piece_size;
        at = end;
    }
    return at;
}

[[nodiscard]] constexpr std::uint32_t piece_count(string_view s) noexcept {
    std::uint32_t n = 0;
    while (piece_begin(s, n) < s.size()) ++n;
    return n;
}

template <class T, T... Index>
struct piece_indices {};
/// The numbers of `Count` pieces with clang, of one with g++, which prints a sentence whole.
template <std::uint32_t Count>
[[nodiscard]] constexpr auto pieces() noexcept {
#if defined(__clang__)
    return __make_integer_seq<piece_indices, std::uint32_t, Count>();
#else
    return piece_indices<std::uint32_t, 0>();
#endif
}

/// Characters [Begin, End) of `s` as a template argument that clang prints as text: it does so only for an array whose
/// last element was written.
template <std::size_t Begin, std::size_t End>
[[nodiscard]] constexpr fixed_string<End - Begin> sentence_piece(string_view s) noexcept {
    fixed_string<End - Begin> piece(s.substr(Begin, End - Begin));
    piece.data[End - Begin] = '\0';
    return piece;
}

}  // namespace detail

}  // namespace ptxdsl
