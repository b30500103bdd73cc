// SPDX-License-Identifier: Apache-2.0
// wgmma: what one instruction says by itself (A06 of the accumulator, D12), and the events of the second pass (D08 to
// D10).
#pragma once

#include <ptxdsl/verify/knowledge/registers.hpp>

namespace ptxdsl::verify {

/// D12: a warpgroup is four warps.
template <class Facts>
constexpr void check_warpgroup(Facts& f) {
    f.roles[f.role_now].multiplies = true;
    if (f.in_single)
        f.out.add(catalogue::D12_one_thread, f.where);
    else if (f.threads % 128 != 0)
        f.out.add(catalogue::D12_threads, f.where).with(f.threads);
    else if (f.threads != 0 && f.first_thread != unknown_count && f.first_thread % 128 != 0)
        f.out.add(catalogue::D12_first, f.where).with(f.first_thread);
}

/// Registers an mma reads without a copy of them: unwritten ones are reported once (A06), none is an event.
template <class Facts>
constexpr void read_fragment(Facts& f, const fragment& r, u32 which) {
    if (which < max_fragments && (f.fragments[which].written || f.fragments[which].fuzzy)) return;
    for (u32 i = r.first; i < r.first + r.count; ++i) {
        if ((f.regs[i] & (bit::written | bit::hidden)) == bit::written) continue;
        unwritten_use(f, i);
        return;
    }
}

template <class Facts>
constexpr void on_mma(Facts& f, const ir::cursor& c) {
    check_warpgroup(f);
    const u32* o = c.first_operand();
    const fragment d = registers_of(o);
    const u32 accumulator = d.count == 0 ? max_fragments : fragment_of(f, d.first, d.count);
    o += ir::operand_words(o[0]);
    const fragment a = registers_of(o);
    const u32 a_registers = a.count == 0 ? max_fragments : fragment_of(f, a.first, a.count);
    if (a.count != 0)
        read_fragment(f, a, a_registers);
    else if (ir::kind_of(o[0]) == ir::operand_kind::reg)
        take(f, ir::payload_of(o[0]));
    o += ir::operand_words(o[0]);
    if (ir::kind_of(o[0]) == ir::operand_kind::reg) take(f, ir::payload_of(o[0]));
    o += ir::operand_words(o[0]);
    const bool sparse = token_at(c, 2) == tok::sp;
    if (sparse) {
        take(f, ir::payload_of(o[0]));  // metadata; the selector is a literal
        o += ir::operand_words(o[0]);
        o += ir::operand_words(o[0]);
    }
    // scale-d: a literal 0 does not read D, a literal 1 does, a predicate is unknown.
    if (o[0] >> 28 <= 1)
        take(f, ir::payload_of(o[0]));
    else if (ir::kind_of(o[0]) == ir::operand_kind::small_int && ir::small_value(o[0]) != 0 && d.count != 0)
        read_fragment(f, d, accumulator);
    if (accumulator < max_fragments)
        f.fragments[accumulator].written = true;
    else
        define_operand(f, c.first_operand());
    f.push(event_kind::wgmma, accumulator | a_registers << 8, c.token(sparse ? 5 : 4));
}

template <class Facts>
constexpr void on_wgmma(Facts& f, const ir::cursor& c) {
    std::int64_t n = 0;
    switch (token_at(c, 1)) {
        case tok::fence: return f.push(event_kind::wgmma_fence);
        case tok::commit_group: return f.push(event_kind::wgmma_commit);
        case tok::wait_group:
            if (c.operands() != 0 && f.constant_of(c.first_operand()[0], n))
                f.push(event_kind::wgmma_wait, static_cast<u32>(n));
            return;
        case tok::mma_async: return on_mma(f, c);
        default: return;
    }
}

}  // namespace ptxdsl::verify
