// SPDX-License-Identifier: Apache-2.0
// The instruction table as text, for documentation and tools. Not needed to check or emit an instruction.
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/behaviour.hpp>
#include <ptxdsl/isa/generated/forms_text.hpp>
#include <ptxdsl/isa/table.hpp>

namespace ptxdsl::isa {

/// One row of the table as its file has it.
struct form_text {
    string_view pattern;   ///< mnemonic with optional modifiers in `{}` and choices in `<>`
    string_view operands;  ///< operand list in the row language (tools/isa/generate.py)
    string_view targets;   ///< `all`, `sm_90`, `sm_100a|sm_103a` ...
    string_view section;   ///< title of the PTX ISA section
    string_view family;    ///< file of the row
    string_view calls;     ///< the builder's calls that emit it, `k.add`, apart by blanks; empty: only `k.inst` does
    ptx_version since;
};

namespace detail {

[[nodiscard]] constexpr string_view text_of(unsigned form, unsigned field) noexcept {
    const unsigned i = form_text_of[form * 6 + field];
    return {form_text + form_text_start[i], form_text_start[i + 1] - form_text_start[i]};
}

/// The packed row of a form.
[[nodiscard]] constexpr row_view row_of(unsigned form) noexcept {
    for (unsigned t = 1; t != token_count; ++t) {
        const unsigned first = opcode_first[t];
        if (first == 0 || form < code[first] || form >= code[first] + code[first + 1]) continue;
        const char16_t* at = code + first + 2;
        for (unsigned i = code[first]; i != form; ++i) at += at[0];
        return row_at(at);
    }
    return {};
}

}  // namespace detail

/// Row number `i` of the table, 0 .. form_count() - 1; `verdict::form` is such a number.
[[nodiscard]] constexpr form_text form(unsigned i) noexcept {
    using detail::text_of;
    return {text_of(i, 0),
            text_of(i, 1),
            text_of(i, 2),
            text_of(i, 3),
            text_of(i, 4),
            text_of(i, 5),
            detail::row_of(i).version()};
}

/// What a form of the table does; `form` is `verdict::form`.
[[nodiscard]] constexpr behaviour behaviour_of_form(unsigned form) noexcept { return {detail::form_behaviour[form]}; }

/// Whether row `i` exists on a target.
[[nodiscard]] constexpr bool form_on(unsigned i, target t) noexcept {
    return detail::on_target(detail::row_of(i).target_rule(), t);
}

/// Whether row `i` can have these modifiers, in this order, with others between them.
[[nodiscard]] constexpr bool form_may_have(unsigned i, const tok* modifiers, unsigned n) noexcept {
    const detail::row_view row = detail::row_of(i);
    unsigned met = 0;
    for (const char16_t* p = row.pattern; p != row.pattern_end && met < n; ++p)
        if ((*p & detail::word_optional) == 0 && detail::word_takes(*p, modifiers[met])) ++met;
    return met == n;
}

}  // namespace ptxdsl::isa
