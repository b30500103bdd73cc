// SPDX-License-Identifier: Apache-2.0
// Bulk copies and shared-memory writes: sizes and places (F09), masks (F06), who issues them (F07); and the events from
// which the second pass judges proxies and bulk groups (F04, F05, F14).
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>
#include <ptxdsl/verify/rules/layout.hpp>

namespace ptxdsl::verify {

/// Note codes as bits of `facts::noted`.
[[nodiscard]] constexpr u32 note_bit(ir::note n) noexcept { return 1u << static_cast<u32>(n); }
template <class Facts>
[[nodiscard]] constexpr bool noted(const Facts& f, ir::note n) noexcept {
    return (f.noted & note_bit(n)) != 0;
}

/// Whether a use of shared memory may cover only a part of its slot: then two uses need not overlap.
template <class Facts>
[[nodiscard]] constexpr u8 coverage(const Facts& f, const place& p, u32 bytes) noexcept {
    if (p.allocation == 0) return event_flag::partial;
    const ir::allocation& a = f.m.allocations[p.allocation - 1];
    if (a.kind == ir::allocation_kind::tile) return 0;
    return p.exact && p.offset == a.offset && bytes >= a.bytes() ? u8{0} : event_flag::partial;
}

/// `meets`: the threads of a warp wait for each other in it (`.sync`).
template <class Facts>
constexpr void generic_write(Facts& f, const place& p, bool meets = false) {
    const u32 s = f.slot_at(p);
    if (s == max_slots) return;
    f.push(event_kind::generic_write, s, meets ? 1 : 0, coverage(f, p, 0));
    if (meets) f.events.back().flags |= event_flag::many;
    if (f.slots[s].share < 5) f.events.back().flags &= static_cast<u8>(~event_flag::many);  // a slot for each thread
}

/// `st`, `red`, `atom`, `stmatrix` with a shared address of this block.
template <class Facts>
constexpr void on_shared_write(Facts& f, const ir::cursor& c) {
    if (f.places_used == 0) return;
    if (has_token(c, tok::mbarrier__complete_tx__bytes)) f.bytes_unknown = true;
    const bool shared = has_token(c, tok::shared) || has_token(c, tok::shared__cta);
    if (!shared || has_token(c, tok::async)) return;
    if (opcode_of(c.w) != op::stmatrix) check_access(f, c);
    generic_write(f, f.places[0], opcode_of(c.w) == op::stmatrix);
}

/// The operand with the blocks of a multicast: the last but the cache policy.
[[nodiscard]] constexpr u32 mask_of_multicast(const ir::cursor& c) noexcept {
    const u32 behind = has_token(c, tok::L2__cache_hint) ? 2 : 1;
    return c.operands() < behind ? ir::head(ir::operand_kind::sink, 0) : operand_at(c, c.operands() - behind)[0];
}
/// F06: bit i of the mask is block i of the cluster.
template <class Facts>
constexpr void check_mask(Facts& f, const ir::cursor& c) {
    std::int64_t mask = 0;
    if (!f.constant_of(mask_of_multicast(c), mask)) return;
    const u32 size = f.m.attrs.cluster_size();
    mask &= 0xffff;
    if (mask == 0)
        f.out.add(catalogue::F06_nobody, f.where);
    else if (f.m.attrs.cluster.given() && size < 16 && mask >> size != 0)
        f.out.add(catalogue::F06_outside, f.where).with(mask).with(size);
}

/// A copy into several blocks: which ones (G04, G06).
template <class Facts>
constexpr void on_multicast(Facts& f, const ir::cursor& c) {
    check_mask(f, c);
    const u32 head = mask_of_multicast(c);
    const mapping m = mapping_of(
        f, head, [](u32 own, u32 mask) { return (mask & 0xffffu & ~(1u << own)) == 0; },
        [](u32 mask) {
            u32 last = 0;
            while (mask >> last > 1) ++last;
            return last;
        });
    f.names_peers = true;
    learn_least_cluster(f, m);
    if (!noted(f, ir::note::barrier_copy)) return;
    if (!reaches_another(f, m)) return;
    f.reaches_peers = true;
    reaches_peer(f);
}

/// F07: nothing in the instruction or in the way to it depends on the thread.
template <class Facts>
constexpr void check_issuer(Facts& f) {
    const ir::attributes& a = f.m.attrs;
    const u32 block = f.m.from_text && !a.reqntid.given() ? 0 : a.threads();  // a text's bound may be far from it
    const u32 threads = f.role_now == 0 ? block : f.roles[f.role_now].threads;
    if (f.in_single || threads <= 1 || f.unstructured || f.opaque || f.roles[f.role_now].thinned ||
        (f.acc & bit::varies) != 0 || noted(f, ir::note::thread_dependent))
        return;
    f.out.add(catalogue::F07_all_threads, f.where).with(threads);
}

// ---- tensor maps that change: F15
// -------------------------------------------------------------------------------------

/// Number of the tensor map whose address is the base of this operand; `max_maps`: not followed.
template <class Facts>
constexpr u32 map_at(Facts& f, const u32* o) {
    const ir::operand_kind k = ir::kind_of(o[0]);
    if (k != ir::operand_kind::address && k != ir::operand_kind::tensor) return max_maps;
    u32 base = o[1];
    for (const auto& a : f.map_aliases)
        if (a.of == base) base = a.root;
    if (ir::kind_of(base) != ir::operand_kind::reg || (k == ir::operand_kind::address && o[2] != 0) ||
        (f.regs[ir::payload_of(base)] & bit::again) != 0 || f.is_of_round(ir::payload_of(base)))
        return max_maps;
    for (u32 i = 0; i < f.maps.size(); ++i)
        if (f.maps[i] == base) return i;
    if (f.maps.size() == max_maps) return max_maps;
    f.maps.push_back(base);
    return f.maps.size() - 1;
}
template <class Facts>
constexpr void on_map_use(Facts& f, const ir::cursor& c) {
    if (!f.changes_maps) return;
    for (u32 i = 0; i < c.operands(); ++i)
        if (const u32* o = operand_at(c, i); ir::kind_of(o[0]) == ir::operand_kind::tensor)
            if (const u32 map = map_at(f, o); map < max_maps) f.push(event_kind::map_use, map);
}
template <class Facts>
constexpr void on_map_change(Facts& f, const ir::cursor& c) {
    if (has_token(c, tok::global))
        if (const u32 map = map_at(f, c.first_operand()); map < max_maps) f.push(event_kind::map_change, map);
}
/// `fence.proxy.tensormap::generic.acquire.SCOPE [map], 128`
template <class Facts>
constexpr void on_map_fence(Facts& f, const ir::cursor& c) {
    if (c.operands() != 0) f.push(event_kind::map_fence, map_at(f, c.first_operand()));
}
/// `cvta` between the global and the generic address of a map.
template <class Facts>
constexpr void on_cvta(Facts& f, const ir::cursor& c) {
    const u32* o = c.first_operand();
    if (f.changes_maps && c.operands() == 2 && ir::kind_of(o[1]) == ir::operand_kind::reg)
        f.map_aliases.push_back({o[0], o[1]});
}

template <class Facts>
constexpr void check_bulk_size(Facts& f, const ir::cursor& c, u32 operand) {
    std::int64_t bytes = 0;
    if (c.operands() <= operand || !f.constant_of(operand_at(c, operand)[0], bytes)) return;
    if (bytes % 16 != 0) f.out.add(catalogue::F09_size, f.where).with(bytes);
}

template <class Facts>
constexpr void note_copy(Facts& f, const place& to, bool by_thread) {
    for (const auto& c : f.late_copies)
        if (c.by_thread == by_thread && c.allocation == to.allocation) return;
    f.late_copies.push_back({f.where + 1, to.allocation, by_thread});
}
/// A copy into shared memory begins: which bytes of the slot it fills.
template <class Facts>
constexpr void copy_begins(Facts& f, const place& dst, u32 bytes) {
    const u32 s = f.slot_at(dst);
    if (s == max_slots) return;
    slot& to = f.slots[s];
    const ir::allocation& a = f.m.allocations[to.allocation];
    const bool whole = coverage(f, dst, bytes) == 0;
    if (to.fuzzy || (!whole && (!dst.exact || bytes == 0))) return;
    const u32 from = whole ? 0 : dst.offset - a.offset, behind = whole ? ~0u : from + bytes;
    to.copies_differ = to.copies_differ || (to.copied_to != 0 && (to.copied_from != from || to.copied_to != behind));
    to.copied_from = from, to.copied_to = behind;
    f.push(event_kind::copy_begins, s);
}
/// `clusterlaunchcontrol.try_cancel.async … [response], [bar]` writes 16 bytes as a bulk copy does.
template <class Facts>
constexpr void on_cancel(Facts& f, const ir::cursor& c) {
    if (token_at(c, 0) != tok::clusterlaunchcontrol || token_at(c, 1) != tok::try_cancel) return;
    note_copy(f, f.places[0], false);
    if (f.noted_barrier != 0 && f.places[0].allocation != 0)
        f.ring_tiles.push_back({f.places[0].allocation - 1, f.noted_barrier - 1});
    copy_begins(f, f.places[0], 16);
}
/// Where an array (by its number + 1; 0: not known which) is first read behind a copy.
template <class Facts>
constexpr void note_first_read(Facts& f, u32 allocation) {
    if (f.read_at.size() == 0) f.read_at.resize(f.m.n.allocations + 1, 0);
    if (f.read_at[allocation] == 0 && !f.late_copies.empty()) f.read_at[allocation] = f.where + 1;
}
/// What is read behind a wait that returns at once (by the number of the array + 1).
template <class Facts>
constexpr void read_behind_wait(Facts& f, u32 allocation) noexcept {
    if (f.void_wait == 0 || allocation == 0 || allocation > 32) return;
    site& w = f.sites[f.void_wait - 1];
    if (f.guard != 0 || f.arm_now != w.arm || f.role_now != w.role || f.loop_now != w.loop ||
        f.in_single != (w.single != 0))
        return;
    if (w.reads == 0) w.read_at = f.where;
    w.reads |= 1u << (allocation - 1);
}
/// Shared memory is read by threads.
template <class Facts>
constexpr void shared_read(Facts& f, const place& from) {
    read_behind_wait(f, from.allocation);
    if (f.late_copies.empty() && f.loop_now == 0) return;
    note_first_read(f, from.allocation);
    if (from.allocation == 0) return;
    const u32 s = f.slot_at(from);
    if (s == max_slots || f.slots[s].fuzzy) return;
    const slot& of = f.slots[s];
    const u32 at = from.offset - f.m.allocations[of.allocation].offset;
    if (of.copied_to != 0 && of.copied_to != ~0u && (!from.exact || at < of.copied_from || at >= of.copied_to)) return;
    const event* last = f.events.empty() ? nullptr : &f.events.back();
    if (last != nullptr && last->kind == event_kind::plain_read && last->a == s) return;
    f.push(event_kind::plain_read, s);
}

// ---- cp.async: each thread for itself
// -------------------------------------------------------------------------------------

template <class Facts>
constexpr void thread_copy(Facts& f, const ir::cursor& c) {
    note_copy(f, f.places[0], true);
    const u32* o = c.first_operand();
    if (f.guard != 0 || f.unstructured || ir::kind_of(o[0]) != ir::operand_kind::address ||
        (ir::kind_of(o[1]) == ir::operand_kind::reg && (f.regs[ir::payload_of(o[1])] & bit::again) != 0))
        return;
    f.thread_writes.push_back({o[1], o[2], f.arm_now << 8 | (f.role_now & 0xffu), f.loop_now, f.where, f.round});
}
template <class Facts>
constexpr void thread_copies_arrive(Facts& f) noexcept {
    f.thread_writes.truncate(0);
}
/// E07: the thread reads where its own `cp.async` writes.
template <class Facts>
constexpr void read_own_copy(Facts& f, const u32* address) {
    if (f.thread_writes.empty() || ir::kind_of(address[0]) != ir::operand_kind::address) return;
    for (const auto& w : f.thread_writes) {
        u32 l = f.loop_now;
        while (l != w.loop && l != 0) l = f.loops[l].parent;
        if (w.round != f.round || w.base != address[1] || w.offset != address[2] || l != w.loop ||
            w.stand != (f.arm_now << 8 | (f.role_now & 0xffu)))
            continue;
        f.out.add(catalogue::E07_own_cp_async, f.where).at(f.source(w.where));
        return thread_copies_arrive(f);
    }
}

template <class Facts>
[[nodiscard]] constexpr u32 bulk_bytes(const Facts& f, const ir::cursor& c) noexcept {
    std::int64_t bytes = 0;
    return c.operands() > 2 && f.constant_of(operand_at(c, 2)[0], bytes) && bytes > 0 ? static_cast<u32>(bytes) : 0;
}

template <class Facts>
constexpr void on_bulk_load(Facts& f, const ir::cursor& c, bool tensor) {
    const bool from_shared = !tensor && has_token(c, tok::shared__cta) && has_token(c, tok::shared__cluster);
    if (!noted(f, ir::note::barrier_copy)) f.bytes_unknown = true;
    if (has_token(c, tok::multicast__cluster)) on_multicast(f, c);
    check_issuer(f);
    if (tensor) on_map_use(f, c);
    const place dst = f.places[0];
    if (tensor && has_token(c, tok::cta_group__1) && owner_of(f, f.places[2].mapped) == owner::peer)
        f.out.add(catalogue::B07_group_1, f.where);
    if (f.noted_barrier != 0 && f.unfenced_init != 0)
        f.first_unfenced = f.first_unfenced == 0 ? f.where + 1 : f.first_unfenced;
    if (tensor) check_stage(f, dst);
    if (dst.allocation != 0 && f.noted_barrier != 0)
        f.ring_tiles.push_back(
            {dst.allocation - 1, f.noted_barrier - 1, dst.form == 0 ? 0 : f.forms[dst.form - 1].root, f.where});
    const u32 align = tensor ? 128 : 16;
    if (!misplaced(f, dst, align, catalogue::F09_destination) && !tensor) check_bulk_size(f, c, 2);
    if (!tensor && !(from_shared && dst.mapped != 0)) check_end(f, dst, bulk_bytes(f, c), "this copies");
    if (from_shared) {
        misplaced(f, f.places[1], 16, catalogue::F09_source);
        check_end(f, f.places[1], bulk_bytes(f, c), "this copies");
        const u32 s = f.slot_at(f.places[1]);
        if (s < max_slots) f.push(event_kind::async_read, s, 0, coverage(f, f.places[1], bulk_bytes(f, c)));
        return;
    }
    const u32 s = f.slot_at(dst);
    if (s < max_slots) f.push(event_kind::async_write, s, 0, coverage(f, dst, tensor ? 0 : bulk_bytes(f, c)));
    note_copy(f, dst, false);
    copy_begins(f, dst, tensor ? 0 : bulk_bytes(f, c));
}

/// Whether the guard holds for one of the threads that have the slot in common.
template <class Facts>
[[nodiscard]] constexpr bool one_of_its_threads(const Facts& f, const slot& s) noexcept {
    if (f.guard == 0 || (f.guard & 1u) != 0) return false;
    const u32 id = (f.guard >> 1) - 1;
    const lane_form form = lane_form::of(f.values[id]);
    const u32 together = s.share < 11 ? 1u << s.share : f.m.attrs.threads();
    return (f.regs[id] & (bit::lanes | bit::again)) == bit::lanes && form.count == 1 && together != 0 &&
           form.period() >= together;
}

/// As an `owner_code`: a guard or the innermost `if` tells.
template <class Facts>
[[nodiscard]] constexpr u32 owner_here(const Facts& f) noexcept {
    const u32 inner = f.guard != 0           ? f.guard - 2
                      : f.conditions.empty() ? 1u
                                             : f.conditions[f.conditions.size() - 1].holds;
    const u32 id = inner >> 1;
    if ((f.guard == 0 && !f.in_single && f.threads != 1) || f.followed_warps() == 0) return 0;
    const lane_form form = lane_form::of(f.values[id]);
    const bool one = (f.regs[id] & (bit::lanes | bit::again)) == bit::lanes && form.count == 1 && form.shift == 0 &&
                     form.period() >= f.roles[0].threads && (form.first_values || form.only != 0);
    if ((inner & 1u) == 0 && one) return owner_code::thread | form.only;
    return f.guard == 0 ? f.warps & ~owner_code::thread : 0;
}

template <class Facts>
constexpr void on_bulk_store(Facts& f, const ir::cursor& c, bool tensor) {
    check_issuer(f);
    if (tensor) on_map_use(f, c);
    const place src = f.places[1];
    if (!misplaced(f, src, 16, catalogue::F09_source) && !tensor) check_bulk_size(f, c, 2);
    if (!tensor) check_end(f, src, bulk_bytes(f, c), "this copies");
    const bool named = noted(f, ir::note::bulk_store);
    u32 s = f.slot_at(src);
    if (named && (s >= max_slots || f.slots[s].fuzzy)) s = f.noted_slot;
    if (s >= max_slots && f.m.from_text) s = f.slot_of(f.m.n.allocations - 1, unknown_count);
    if (s >= max_slots) return;
    const ir::allocation& from = f.m.allocations[f.slots[s].allocation];
    const std::int64_t start = std::int64_t{src.offset} - from.offset + (src.form == 0 ? 0 : f.forms[src.form - 1].low);
    const bool whole = src.exact || (src.form != 0 && f.forms[src.form - 1].exact());
    if (!whole || start % from.stage_bytes != 0) f.slots[s].scattered = true;
    const bool one = f.in_single || one_of_its_threads(f, f.slots[s]);
    f.slots[s].one = one;
    f.push(event_kind::bulk_store, s, owner_here(f),
           static_cast<u8>((named ? u8{0} : coverage(f, src, tensor ? 0 : bulk_bytes(f, c))) |
                           (one ? event_flag::single : 0)));
}

/// `cp.async…`, `cp.reduce.async.bulk…`.
template <class Facts>
constexpr void on_copy(Facts& f, const ir::cursor& c) {
    const u32 at = token_at(c, 1) == tok::reduce ? 3 : 2;
    const tok third = token_at(c, at);
    if (third == tok::mbarrier) {
        if (!noted(f, ir::note::barrier_arrive) && !noted(f, ir::note::barrier_noarity)) f.arrivals_unknown = true;
        f.waits_for_thread_copies = true;
        return thread_copies_arrive(f);
    }
    if (third == tok::wait_group || third == tok::wait_all) {
        f.waits_for_thread_copies = true;
        return thread_copies_arrive(f);
    }
    if (third == tok::commit_group) return;
    if (third != tok::bulk) {
        thread_copy(f, c);
        check_end(f, f.places[0], bulk_bytes(f, c), "this copies");
        if (has_token(c, tok::shared) || has_token(c, tok::shared__cta)) generic_write(f, f.places[0]);
        return;
    }
    std::int64_t n = 0;
    switch (token_at(c, at + 1)) {
        case tok::commit_group: return f.push(event_kind::bulk_commit, 0, owner_here(f));
        case tok::wait_group:
            if (c.operands() != 0 && f.constant_of(c.first_operand()[0], n))
                f.push(event_kind::bulk_wait, static_cast<u32>(n), owner_here(f));
            return;
        case tok::prefetch: return;
        default: break;
    }
    const bool tensor = token_at(c, at + 1) == tok::tensor;
    if (has_token(c, tok::bulk_group))
        on_bulk_store(f, c, tensor);
    else
        on_bulk_load(f, c, tensor);
}

}  // namespace ptxdsl::verify
