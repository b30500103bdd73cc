// SPDX-License-Identifier: Apache-2.0
// The sentences of findings: text and numbers joined. No templates: a message a call would be an instantiation a
// message.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/string_view.hpp>

#include <cstdint>
#include <initializer_list>

namespace ptxdsl::ir {

/// Text or a number, a piece of a sentence.
struct part {
    string_view text{};
    std::uint64_t number = 0;
    enum class kind : std::uint8_t { none, text, number, negative } what = kind::none;

    constexpr part() noexcept = default;
    // NOLINTBEGIN(google-explicit-constructor): a call lists its pieces as they are.
    constexpr part(string_view s) noexcept : text(s), what(kind::text) {}
    constexpr part(const char* s) noexcept : text(s), what(kind::text) {}
    constexpr part(std::uint32_t v) noexcept : number(v), what(kind::number) {}
    constexpr part(std::uint64_t v) noexcept : number(v), what(kind::number) {}
    constexpr part(std::int32_t v) noexcept : part(static_cast<std::int64_t>(v)) {}
    constexpr part(std::int64_t v) noexcept
        : number(v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v)),
          what(v < 0 ? kind::negative : kind::number) {}
    // NOLINTEND(google-explicit-constructor)
};

/// A sentence being joined. It has its own memory because pieces may point into the pool it will be stored in.
struct sentence_text {
    char text[448] = {};
    std::uint32_t size = 0;

    constexpr void add(const part& p) noexcept {
        if (p.what == part::kind::text) put(p.text);
        if (p.what == part::kind::negative) put("-");
        if (p.what == part::kind::number || p.what == part::kind::negative) put(detail::decimal(p.number).view());
    }
    constexpr void add(std::initializer_list<part> parts) noexcept {
        for (const part& p : parts) add(p);
    }

private:
    constexpr void put(string_view s) noexcept {
        for (char c : s)
            if (size < sizeof(text)) text[size++] = c;
    }
};

}  // namespace ptxdsl::ir
