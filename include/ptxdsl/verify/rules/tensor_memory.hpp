// SPDX-License-Identifier: Apache-2.0
// Tensor memory and tcgen05 (I01 to I14). One look at the text in order: what is refused needs two statements that the
// same threads execute one after the other, or something the whole kernel never does.
#pragma once

#include <ptxdsl/verify/knowledge/registers.hpp>
#include <ptxdsl/verify/rules/barriers.hpp>

namespace ptxdsl::verify {

/// Where statements stand that must be executed by the same threads to contradict each other.
template <class Facts>
[[nodiscard]] constexpr u32 stand(const Facts& f) noexcept {
    return f.arm_now << 8 | (f.role_now & 0xffu);
}

/// I08: forgets the loads under way. (At `wait::ld`; and where another arm begins, which has not loaded.)
template <class Facts>
constexpr void settle_loads(Facts& f) noexcept {
    for (u32 i = 0; i < f.tm.loads.size(); ++i)
        for (u32 r = f.tm.loads[i].first; r < f.tm.loads[i].first + f.tm.loads[i].count; ++r)
            f.regs[r] &= ~bit::in_flight;
    f.tm.loads.truncate(0);
}

/// Whether an address register has the same value wherever it is named.
template <class Facts>
[[nodiscard]] constexpr bool holds_one_value(const Facts& f, u32 head) noexcept {
    return ir::kind_of(head) == ir::operand_kind::reg && (f.regs[ir::payload_of(head)] & bit::again) == 0 &&
           !f.is_of_round(ir::payload_of(head));
}

/// I01: one cta_group for all tcgen05 instructions of a kernel (PTX ISA 9.7.16.5; ptxas refuses it as well).
template <class Facts>
constexpr void check_group(Facts& f, const ir::cursor& c) {
    const u32 group = has_token(c, tok::cta_group__2) ? 2 : has_token(c, tok::cta_group__1) ? 1 : 0;
    if (group == 0) return;
    if (f.tm.group != 0 && f.tm.group != group)
        f.out.add(catalogue::I01_group, f.where).with(group).with(f.tm.group);
    else
        f.tm.group = group;
}

template <class Facts>
constexpr void on_alloc(Facts& f, const ir::cursor& c) {
    std::int64_t columns = 0;
    if (!f.constant_of(operand_at(c, 1)[0], columns)) columns = 0;
    if (f.tm.relinquished && f.tm.relinquished_at == stand(f) && !f.unstructured)
        f.out.add(catalogue::I03_relinquished, f.where);
    if (f.tm.allocations++ == 0) f.tm.alloc_where = f.where, f.tm.columns = static_cast<u32>(columns);
    if (f.tm.live_at != stand(f)) f.tm.live = 0, f.tm.live_at = stand(f);
    f.tm.live += static_cast<u32>(columns);
    f.tm.freed = 0;
    if (f.tm.live > 512 && f.loop_now == 0 && !f.unstructured)
        f.out.add(catalogue::I02_columns, f.where).with(f.tm.live);
}

template <class Facts>
constexpr void note_result_use(Facts& f, bool frees) noexcept {
    if (f.tm.multiplies == 0 || f.tm.result.sites != unknown_count) return;
    f.tm.result = {f.where, f.sites.size(), f.role_now, f.loop_now, frees};
}

/// I11: others are told that tensor memory is free while loads from it are not ordered before.
template <class Facts>
constexpr void warn_unordered(Facts& f) {
    if (f.tm.unordered == 0) return;
    f.tm.unordered = 0;
    f.out.add(catalogue::I11_no_fence_before, f.where);
}

template <class Facts>
constexpr void on_dealloc(Facts& f, const ir::cursor& c) {
    if (f.tm.frees++ == 0) f.tm.free_where = f.where;
    note_result_use(f, true);
    if (f.tm.loaded != 0 && f.tm.loaded != stand(f) + 1) f.out.add(catalogue::I03_still_loaded, f.where);
    const u32 address = c.first_operand()[0];
    std::int64_t columns = 0;
    const bool known = f.constant_of(operand_at(c, 1)[0], columns);
    if (known && columns != f.tm.columns && f.tm.frees == 1)
        f.tm.freed_columns = static_cast<u32>(columns), f.tm.free_where = f.where;
    // What is freed under another condition may be what was allocated here.
    const u32 freed = known && f.tm.live_at == stand(f) ? static_cast<u32>(columns) : f.tm.live;
    f.tm.live -= f.tm.live < freed ? f.tm.live : freed;
    if (f.guard != 0 || f.unstructured || !holds_one_value(f, address)) return;
    if (f.tm.freed == ir::payload_of(address) + 1 && f.tm.freed_at == stand(f))
        f.out.add(catalogue::I03_twice, f.where).name(f.reg_name(ir::payload_of(address)));
    f.tm.freed = ir::payload_of(address) + 1, f.tm.freed_at = stand(f);
}

/// I14: the first multiplication of all, into columns nothing has written.
template <class Facts>
constexpr void check_first(Facts& f, const ir::cursor& c) {
    if (f.tm.multiplies++ != 0 || f.tm.stores != 0 || f.arm_now != 0 || f.guard != 0 || f.unstructured) return;
    // The predicate is the last operand but for scale-input-d and the column mask, which no short form has.
    const u32 n = c.operands();
    for (u32 i = 4; i < n; ++i) {
        const u32 head = operand_at(c, i)[0];
        const bool literal = ir::kind_of(head) == ir::operand_kind::small_int;
        if (!literal && ir::kind_of(head) != ir::operand_kind::reg && ir::kind_of(head) != ir::operand_kind::not_pred)
            continue;
        const bool metadata = has_token(c, tok::sp);
        if (i == 4 && metadata) continue;  // the instruction descriptor
        std::int64_t flag = 0;
        const bool negated = ir::kind_of(head) == ir::operand_kind::not_pred;
        const u32 bits = literal ? 0 : f.regs[ir::payload_of(head)];
        const bool known = literal || (bits & (bit::constant | bit::again)) == bit::constant;
        if (known) flag = literal ? ir::small_value(head) : static_cast<std::int64_t>(f.values[ir::payload_of(head)]);
        if (known && (flag != 0) != negated) f.tm.first_accumulates = f.where + 1;
        return;
    }
}

/// Whether all multiplications before the first use of what they leave add up in one place.
template <class Facts>
constexpr void note_sum(Facts& f, const ir::cursor& c) {
    if (f.tm.result.sites != unknown_count) return;
    const u32* d = c.first_operand();
    const bool first = f.tm.multiplies == 0;
    if (first && ir::kind_of(d[0]) == ir::operand_kind::address) f.tm.sum = d[1], f.tm.sum_offset = d[2];
    f.tm.one_sum = f.tm.one_sum && ir::kind_of(d[0]) == ir::operand_kind::address && d[1] == f.tm.sum &&
                   d[2] == f.tm.sum_offset && holds_one_value(f, d[1]) && f.loop_now == 0 && f.guard == 0 &&
                   f.arm_now == 0 && (first || f.role_now == f.tm.issue.role);
    f.tm.last_issue = f.sites.size();
}
template <class Facts>
constexpr void on_multiply(Facts& f, const ir::cursor& c) {
    if (f.tm.multiplies == 0) f.tm.issue = {f.where, f.sites.size(), f.role_now, f.loop_now};
    note_sum(f, c);
    check_first(f, c);
    if (!f.tm.issued) f.tm.issued_at = stand(f);
    f.tm.issued = true;
    loop& l = f.loops[f.loop_now];
    if (l.multiply == 0) l.multiply = 1 + (f.role_now & 0xffu);
}

/// I12: an arrival that frees a slot of the ring, noted in front of the instruction.
template <class Facts>
constexpr void on_release(Facts& f) {
    loop& l = f.loops[f.loop_now];
    if (l.multiply == 1 + (f.role_now & 0xffu) && l.release_where == 0) l.release_where = f.where + 1;
}

/// I13: an mma of a pair reads the shared memory of both blocks.
template <class Facts>
constexpr void check_commit_mask(Facts& f, const ir::cursor& c) {
    std::int64_t mask = 0;
    if (!has_token(c, tok::multicast__cluster) || !has_token(c, tok::cta_group__2) ||
        !f.constant_of(operand_at(c, c.operands() - 1)[0], mask) || ((mask ^ mask >> 1) & 0x5555) == 0)
        return;
    f.out.add(catalogue::I13_mask, f.where).with(mask);
}

template <class Facts>
constexpr void on_commit(Facts& f) noexcept {
    ++f.tm.commits;
    if ((f.noted &
         (1u << static_cast<u32>(ir::note::barrier_arrive) | 1u << static_cast<u32>(ir::note::barrier_noarity))) == 0)
        f.arrivals_unknown = true;
    for (u32 l = f.loop_now;; l = f.loops[l].parent) {
        f.loops[l].commits = true;
        if (l == 0) return;
    }
}

/// A thread has learned what others did: an mbarrier wait (by which mma's end is known, I11), a barrier.
template <class Facts>
constexpr void tensor_memory_met(Facts& f, bool waits) noexcept {
    f.tm.issued = false;
    f.tm.met = f.tm.multiplies;
    f.tm.loaded = 0;
    f.tm.unfenced_wait = f.tm.unfenced_wait || waits;
}

/// I10: an address that all threads have from one place names the same lanes for every warp.
template <class Facts>
constexpr void check_quarter(Facts& f, const u32* address) {
    if (f.threads <= 32 || f.in_single || f.guard != 0 || ir::kind_of(address[0]) != ir::operand_kind::address ||
        ir::kind_of(address[1]) != ir::operand_kind::reg || (f.regs[ir::payload_of(address[1])] & bit::again) != 0)
        return;
    for (const u32 r : f.tm.addresses)
        if (r == ir::payload_of(address[1])) f.out.add(catalogue::I10_quarter, f.where).with(f.threads);
}
template <class Facts>
constexpr void on_load(Facts& f, const ir::cursor& c) {
    f.acc |= bit::varies;
    check_quarter(f, operand_at(c, 1));
    if (f.tm.first_load == 0) f.tm.first_load = f.where + 1;
    note_result_use(f, false);
    f.tm.unordered = stand(f) + 1;
    if (f.threads > 32 && !f.in_single) f.tm.loaded = stand(f) + 1;
    // An accumulator that was waited for may be loaded while the next one is under way.
    const bool only_sum = f.tm.met == 0 && f.tm.stores == 0;
    if (f.tm.issued && f.tm.issued_at == stand(f) && only_sum && !f.unstructured) {
        f.out.add(catalogue::I11_right_behind, f.where);
        f.tm.issued = false, f.tm.told = true;
    } else if (f.tm.unfenced_wait && f.tm.multiplies != 0) {
        f.tm.order.push_back({f.where, f.sites.size(), f.role_now, f.arm_now, true, f.in_single});
        f.tm.unfenced_wait = false;
    }
    const u32* address = operand_at(c, 1);
    if (ir::kind_of(address[0]) == ir::operand_kind::address && f.tm.store_base == address[1] &&
        (f.tm.store_offset == address[2] || f.tm.store_first == address[2])) {
        f.out.add(catalogue::I08_store, f.where);
        f.tm.store_base = 0;
    }
}

/// The registers of a load, after they have been defined.
template <class Facts>
constexpr void load_begins(Facts& f, const u32* dst) {
    const bool one = ir::kind_of(dst[0]) == ir::operand_kind::reg;  // what `.red` makes of them
    const fragment r = one ? fragment{ir::payload_of(dst[0]), 1} : registers_of(dst);
    // nvcc moves copies and conversions above the wait, and ptxas keeps them in order: a text's are not judged.
    if (r.count == 0 || f.unstructured || f.guard != 0 || f.m.from_text) return;
    for (u32 i = r.first; i < r.first + r.count; ++i) f.regs[i] |= bit::in_flight;
    f.tm.loads.push_back(r);
}

template <class Facts>
constexpr void on_store(Facts& f, const ir::cursor& c) {
    ++f.tm.stores, ++f.tm.puts;
    if (f.tm.first_store == 0) f.tm.first_store = f.where + 1;
    const u32* address = c.first_operand();
    check_quarter(f, address);
    if (ir::kind_of(address[0]) != ir::operand_kind::address || f.guard != 0 || f.unstructured ||
        !holds_one_value(f, address[1]))
        return;
    if (f.tm.store_base != address[1]) f.tm.store_first = address[2];
    f.tm.store_base = address[1], f.tm.store_offset = address[2];
}

template <class Facts>
constexpr void on_tcgen05(Facts& f, const ir::cursor& c) {
    check_group(f, c);
    switch (token_at(c, 1)) {
        case tok::alloc: return on_alloc(f, c);
        case tok::dealloc: return on_dealloc(f, c);
        case tok::relinquish_alloc_permit: f.tm.relinquished = f.guard == 0, f.tm.relinquished_at = stand(f); return;
        case tok::mma: return on_multiply(f, c);
        case tok::cp: ++f.tm.stores; return;
        case tok::commit: check_commit_mask(f, c); return on_commit(f);
        case tok::ld: return on_load(f, c);
        case tok::st: return on_store(f, c);
        case tok::wait__ld: f.tm.waits_for_loads = true; return settle_loads(f);
        case tok::wait__st: f.tm.store_base = 0, f.tm.waits_for_stores = true; return;
        case tok::fence__after_thread_sync:
            f.tm.unfenced_wait = false;
            if (!f.m.from_text)
                f.tm.order.push_back({f.where, f.sites.size(), f.role_now, f.arm_now, false, f.in_single});
            return;
        case tok::fence__before_thread_sync: f.tm.unordered = 0; return;
        default: return;
    }
}

/// Whether a wait returns at once: its parity is that of the phase before the first, and nobody waits for another.
template <class Facts>
[[nodiscard]] constexpr bool is_void(const Facts& f, const site& wait) noexcept {
    if (f.waits_unknown) return false;
    for (const site& s : f.sites)
        if (s.kind == site_kind::wait && s.barrier == wait.barrier && s.parity != (walker_code::constant | 1u))
            return false;
    return true;
}
/// Whether the barrier gets arrivals of tcgen05.commit, or some that are not known.
template <class Facts>
[[nodiscard]] constexpr bool is_committed(const Facts& f, u32 barrier) noexcept {
    if (f.arrivals_unknown || (f.no_arity >> (barrier & 31u) & 1u) != 0) return true;
    for (const site& s : f.sites)
        if (s.barrier == barrier && (s.flags & site_flag::commit) != 0) return true;
    return false;
}
template <class Facts>
[[nodiscard]] constexpr u32 outermost(const Facts& f, u32 loop) noexcept {
    while (loop != 0 && f.loops[loop].parent != 0) loop = f.loops[loop].parent;
    return loop;
}
/// Whether the threads of the load have gone through this wait for a commit.
template <class Facts>
[[nodiscard]] constexpr bool has_waited(const Facts& f, const tensor_memory_facts::ordered& load,
                                        const site& wait) noexcept {
    bool committed = false;
    for (const site& s : f.sites)
        committed = committed || (s.barrier == wait.barrier && (s.flags & site_flag::commit) != 0);
    return wait.kind == site_kind::wait && (wait.role == 0 || wait.role == load.role) && wait.single == 0 &&
           f.arm_lies_in(load.arm, wait.arm) && committed && !is_void(f, wait);
}
/// I11: a load behind a wait without the fence that orders it. It is wrong where no fence stands behind any wait for a
/// commit that its threads have gone through (PTX ISA 9.7.16.6.4.2); else it may be of another accumulator.
template <class Facts>
constexpr void check_load_order(Facts& f) {
    for (const auto& load : f.tm.order) {
        if (!load.loads) continue;
        bool waited = false, fenced = false;
        for (u32 i = 0; i < load.sites; ++i) {
            if (!has_waited(f, load, f.sites[i])) continue;
            waited = true;
            for (const auto& fence : f.tm.order)
                fenced = fenced || (!fence.loads && fence.sites > i && !fence.single &&
                                    (fence.role == 0 || fence.role == load.role) && f.arm_lies_in(load.arm, fence.arm));
        }
        const bool wrong =
            waited && !fenced && !load.single && f.tm.puts == 0 && !f.m.from_text && f.flow_is_known() && !f.opaque;
        f.out.add(wrong ? catalogue::I11_no_fence_after : catalogue::I11_no_fence_perhaps, load.where);
    }
}
/// I11: the accumulator is used by threads that have not waited for a commit, nor can one that has have told them.
template <class Facts>
constexpr void check_result_use(Facts& f) {
    if (f.m.from_text) return;  // what a text waits for is not always known
    const auto &issue = f.tm.issue, &use = f.tm.result;
    if (use.sites == unknown_count || f.tm.told || f.tm.commits == 0 || f.tm.puts != 0 || f.waits_unknown ||
        f.unstructured)
        return;
    const u32 around = outermost(f, issue.loop);
    for (u32 i = 0; i < use.sites; ++i) {
        const site& s = f.sites[i];
        if (s.kind != site_kind::wait || !is_committed(f, s.barrier) || is_void(f, s)) continue;
        if (f.tm.one_sum && use.loop == 0 && i < f.tm.last_issue) continue;
        if (use.frees || s.role == use.role || s.role == 0 || i >= issue.sites ||
            (around != 0 && outermost(f, s.loop) == around))
            return;
    }
    f.out.add(catalogue::I11_no_wait, use.where)
        .with(use.frees ? "tensor memory is freed" : "tcgen05.ld of an accumulator");
}

/// What only the whole kernel shows.
template <class Facts>
constexpr void check_tensor_memory(Facts& f) {
    const bool all_seen = !f.is_function && !f.opaque && !f.tm.calls;
    check_load_order(f);
    if (!all_seen) return;
    if (f.tm.allocations == 1 && f.tm.columns != 0 && f.tm.freed_columns != 0 && f.tm.frees == 1)
        f.out.add(catalogue::I03_other_size, f.tm.free_where).with(f.tm.freed_columns).with(f.tm.columns);
    if (f.tm.allocations != 0 && f.tm.frees == 0) f.out.add(catalogue::I03_never_freed, f.tm.alloc_where);
    if (f.m.from_text && f.tm.first_load != 0 && !f.tm.waits_for_loads)
        f.out.add(catalogue::I08_no_wait, f.tm.first_load - 1);
    if (f.tm.allocations == 0 && f.tm.frees != 0) f.out.add(catalogue::I03_not_allocated, f.tm.free_where);
    check_result_use(f);
    if (f.tm.multiplies != 0 && f.tm.commits == 0 && f.tm.first_load != 0)
        f.out.add(catalogue::I11_no_commit, f.tm.first_load - 1);
    if (f.tm.first_store != 0 && !f.tm.waits_for_stores)
        f.out.add(catalogue::I08_no_wait_for_stores, f.tm.first_store - 1);
    if (f.tm.first_accumulates != 0 && f.tm.stores == 0 && !f.unstructured)
        f.out.add(catalogue::I14_first, f.tm.first_accumulates - 1);
    if (f.unstructured) return;
    for (u32 i = 0; i < f.loops.size(); ++i)
        if (f.loops[i].release_where != 0 && !f.loops[i].commits)
            f.tm.told_release = true, f.out.add(catalogue::I12_plain_arrive, f.loops[i].release_where - 1);
}

}  // namespace ptxdsl::verify
