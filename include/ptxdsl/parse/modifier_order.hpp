// SPDX-License-Identifier: Apache-2.0
// Modifiers in the order a form has them.
#pragma once

#include <ptxdsl/isa/table.hpp>

namespace ptxdsl::ptx::detail {

/// Finds an order of the modifiers that a form has; PTX in the wild has them in any. Tries each form once: every word
/// of its pattern takes the first modifier left that fits. Types and state spaces keep their order, which has a
/// meaning: `cvt.u32.f32` and `cvt.f32.u32`, destination and source space of a copy.
struct reordering {
    static constexpr unsigned most = 24;
    isa::tok result[most] = {};
    unsigned count = 0;

    constexpr bool try_form(const isa::detail::row_view& row, const isa::tok* t, unsigned n) noexcept {
        bool used[most] = {};
        count = 1;
        result[0] = t[0];
        last_type_ = last_space_ = 0;
        return place(row.pattern, row.pattern_end, t, n, used, false) && count == n;
    }

private:
    /// In an optional group the words are placed when its first one finds its modifier.
    constexpr bool place(const char16_t* p, const char16_t* end, const isa::tok* t, unsigned n, bool* used,
                         bool optional) noexcept {
        bool first = true;
        while (p != end) {
            const unsigned word = *p++;
            if ((word & isa::detail::word_optional) != 0) {
                const char16_t* const group_end = p + (word & 0xffu);
                if (!place(p, group_end, t, n, used, true)) return false;
                p = group_end;
                continue;
            }
            unsigned i = 1;
            while (i < n && (used[i] || !isa::detail::word_takes(word, t[i]))) ++i;
            if (i == n) {
                if (optional && first) return true;
                return false;
            }
            if (!keeps_order(t[i], i)) return false;
            first = false;
            used[i] = true;
            result[count++] = t[i];
        }
        return true;
    }
    constexpr bool keeps_order(isa::tok t, unsigned i) noexcept {
        const bool is_type = isa::token_type(t) != isa::scalar::none;
        if (!is_type && !is_space(t)) return true;
        unsigned& last = is_type ? last_type_ : last_space_;
        if (i < last) return false;
        last = i;
        return true;
    }
    [[nodiscard]] static constexpr bool is_space(isa::tok t) noexcept {
        using isa::tok;
        return t == tok::global || t == tok::shared || t == tok::shared__cta || t == tok::shared__cluster ||
               t == tok::const_ || t == tok::local || t == tok::param;
    }

    unsigned last_type_ = 0;
    unsigned last_space_ = 0;
};

}  // namespace ptxdsl::ptx::detail
