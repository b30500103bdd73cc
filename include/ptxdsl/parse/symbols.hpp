// SPDX-License-Identifier: Apache-2.0
// Names and scopes of a parsed module (PTX ISA 9.0, 5.1, 5.4, 11.6).
#pragma once

#include <ptxdsl/isa/types.hpp>
#include <ptxdsl/parse/constant.hpp>
#include <ptxdsl/parse/tree.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

enum class symbol_kind : std::uint8_t { reg, variable, function, label, target_list, prototype };

/// What a name stands for.
struct symbol {
    symbol_kind kind = symbol_kind::reg;
    isa::scalar type = isa::scalar::none;
    ptxdsl::space sp = ptxdsl::space::generic;
    std::uint8_t vector = 1;     ///< elements of a vector register or variable
    std::uint32_t range = 0;     ///< `%r<40>`: 40
    std::uint32_t name = 0;      ///< spelling
    std::uint32_t node = 0;      ///< declarator, label or function
    std::uint32_t shadowed = 0;  ///< what the name meant outside, symbol number + 1
};

/// The scalar type a word such as `.b32` names; `none` for texture and other opaque types.
[[nodiscard]] constexpr isa::scalar scalar_named(std::string_view word) noexcept {
    for (unsigned i = 1; i < sizeof isa::detail::scalar_table / sizeof isa::detail::scalar_table[0]; ++i)
        if (isa::detail::scalar_table[i].name == word.substr(1)) return static_cast<isa::scalar>(i);
    return isa::scalar::none;
}

/// Names that are visible at a place of the text. Registers and variables share one space of names, labels have
/// another.
class symbol_table {
public:
    static constexpr std::uint32_t none = 0xffffffffu;

    constexpr explicit symbol_table(const tree_view& v) : v_(v), values_(v.n_words), labels_(v.n_words) {
        values_.resize(v.n_words, 0);
        labels_.resize(v.n_words, 0);
        scopes_.push_back({0, 0});
    }

    [[nodiscard]] constexpr const symbol& operator[](std::uint32_t i) const noexcept { return symbols_[i]; }

    constexpr void open_scope() { scopes_.push_back({symbols_.size(), ranges_.size()}); }
    constexpr void close_scope() {
        const mark m = scopes_.back();
        scopes_.pop_back();
        while (symbols_.size() > m.symbols) {
            const symbol& s = symbols_.back();
            if (s.range == 0) bound(s) = s.shadowed;
            symbols_.pop_back();
        }
        ranges_.truncate(m.ranges);
    }
    /// Adds a name to the innermost scope. The number of the symbol that has the name there already, or `none`.
    constexpr std::uint32_t declare(symbol s) {
        const std::uint32_t before = in_this_scope(s);
        if (s.range != 0)
            ranges_.push_back(symbols_.size());
        else
            s.shadowed = bound(s), bound(s) = symbols_.size() + 1;
        symbols_.push_back(s);
        return before;
    }
    /// The symbol a spelling means as register, variable or function.
    [[nodiscard]] constexpr std::uint32_t find(std::uint32_t spelling) const noexcept {
        const std::uint32_t exact = values_[spelling];
        const std::uint32_t range = find_range(v_.word(spelling), 0);
        if (exact == 0) return range;
        return range != none && range > exact - 1 && depth_of(range) > depth_of(exact - 1) ? range : exact - 1;
    }
    [[nodiscard]] constexpr std::uint32_t find_label(std::uint32_t spelling) const noexcept {
        return labels_[spelling] - 1;
    }

private:
    struct mark {
        std::uint32_t symbols, ranges;
    };

    [[nodiscard]] static constexpr bool is_label(const symbol& s) noexcept { return s.kind >= symbol_kind::label; }
    [[nodiscard]] constexpr std::uint32_t& bound(const symbol& s) noexcept {
        return is_label(s) ? labels_[s.name] : values_[s.name];
    }
    [[nodiscard]] constexpr std::uint32_t in_this_scope(const symbol& s) noexcept {
        if (s.range == 0) {
            if (bound(s) > scopes_.back().symbols) return bound(s) - 1;
            return is_label(s) ? none : find_range(v_.word(s.name), scopes_.back().ranges);
        }
        for (std::uint32_t i = scopes_.back().ranges; i < ranges_.size(); ++i)
            if (symbols_[ranges_[i]].name == s.name) return ranges_[i];
        return none;
    }
    /// The declared range that has this name: `%r12` is in `%r<40>`.
    [[nodiscard]] constexpr std::uint32_t find_range(std::string_view word, std::uint32_t first) const noexcept {
        std::size_t digits = word.size();
        while (digits > 0 && word[digits - 1] >= '0' && word[digits - 1] <= '9') --digits;
        if (digits == word.size()) return none;
        for (std::uint32_t i = ranges_.size(); i > first; --i) {
            const symbol& s = symbols_[ranges_[i - 1]];
            const std::string_view prefix = v_.word(s.name);
            const std::size_t n = prefix.size();
            if (n < digits || n >= word.size() || word.size() - n > 9 || (word[n] == '0' && word.size() != n + 1))
                continue;
            if (word.substr(0, n) != prefix) continue;
            std::uint32_t number = 0;
            for (std::size_t k = n; k < word.size(); ++k)
                number = number * 10 + static_cast<std::uint32_t>(word[k] - '0');
            if (number < s.range) return ranges_[i - 1];
        }
        return none;
    }
    [[nodiscard]] constexpr std::uint32_t depth_of(std::uint32_t s) const noexcept {
        std::uint32_t d = scopes_.size();
        while (d > 0 && scopes_[d - 1].symbols > s) --d;
        return d;
    }

    const tree_view& v_;
    ptxdsl::detail::dynarray<symbol> symbols_;
    ptxdsl::detail::dynarray<std::uint32_t> ranges_;
    ptxdsl::detail::dynarray<std::uint32_t> values_;  ///< by spelling: symbol number + 1
    ptxdsl::detail::dynarray<std::uint32_t> labels_;
    ptxdsl::detail::dynarray<mark> scopes_;
};

}  // namespace ptxdsl::ptx
