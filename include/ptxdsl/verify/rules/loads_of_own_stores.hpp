// SPDX-License-Identifier: Apache-2.0
// G08: a thread loads with .nc what it has stored before, though .nc promises that nobody writes there while the kernel
// runs (PTX ISA 9.7.9.8).
#pragma once

#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct loads_of_own_stores : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        if (what == op::store && has_token(c, tok::global) && is_address(c.first_operand())) {
            const u32* o = c.first_operand();
            stores_.push_back({o[1], o[2], f.rewrites, f.arm_now, f.role_now, f.where});
        }
        if (what != op::load || stores_.empty() || !has_token(c, tok::nc) || c.operands() < 2) return;
        const u32* o = operand_at(c, 1);
        for (u32 i = 0; i < stores_.size() && is_address(o); ++i) {
            const store& s = stores_[i];
            if (s.offset != o[2] || !f.arm_lies_in(f.arm_now, s.arm) || (s.role != 0 && s.role != f.role_now) ||
                !is_same(f, s, o[1]))
                continue;
            f.out.add(catalogue::G08_own_store, f.where).at(f.source(s.where));
            return;
        }
    }

private:
    struct store {
        u32 base, offset, rewrites, arm, role, where;  ///< `rewrites`: `facts::rewrites` at that time
    };

    [[nodiscard]] static constexpr bool is_address(const u32* o) noexcept {
        return ir::kind_of(o[0]) == ir::operand_kind::address && ir::kind_of(o[1]) == ir::operand_kind::reg;
    }
    /// Whether a register that a load names holds what the store's did.
    [[nodiscard]] static constexpr bool is_same(const Facts& f, const store& s, u32 base) noexcept {
        const u32 both = f.regs[ir::payload_of(base)] | f.regs[ir::payload_of(s.base)];
        if (base == s.base) return (both & bit::again) == 0 || s.rewrites == f.rewrites;
        if ((both & bit::again) != 0) return false;
        const u32 *a = nullptr, *b = nullptr;
        const u32* const end = f.m.words + f.m.n.words;
        for (const u32* w = f.m.words; w < end && (a == nullptr || b == nullptr); w += w[0] & 0xffffu) {
            const ir::cursor c{w};
            if (!c.is_instruction() || ir::results_of(w) != 1) continue;
            if (c.first_operand()[0] == base) a = w;
            if (c.first_operand()[0] == s.base) b = w;
        }
        return a != nullptr && b != nullptr && computes_the_same(f, a, b);
    }
    /// Two instructions without guards that differ in what they write, and read registers that are written once.
    [[nodiscard]] static constexpr bool computes_the_same(const Facts& f, const u32* a, const u32* b) noexcept {
        const ir::cursor x{a}, y{b};
        if (a[0] != b[0] || a[1] != b[1] || (a[2] | b[2]) != 0 || opcode_of(a) > op::scale ||
            opcode_of(a) == op::varying)
            return false;
        for (u32 i = 0; i < x.tokens(); ++i)
            if (x.token(i) != y.token(i)) return false;
        const u32 *o = x.first_operand() + 1, *p = y.first_operand() + 1;
        for (u32 i = 1; i < x.operands(); ++i, ++o, ++p)
            if (*o != *p || ir::operand_words(*o) != 1 ||
                (ir::kind_of(*o) == ir::operand_kind::reg && (f.regs[ir::payload_of(*o)] & bit::again) != 0))
                return false;
        return true;
    }

    ::ptxdsl::detail::dynarray<store> stores_;
};

}  // namespace ptxdsl::verify
