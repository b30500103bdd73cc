// SPDX-License-Identifier: Apache-2.0
// Pipelines as a whole: each of the four things that keep a ring in step must be there (E01, E03, E07, F13). What each
// phase receives is the business of verify/rules/barriers.hpp, what is read when, of verify/engine/dataflow.hpp.
#pragma once

#include <ptxdsl/verify/rules/barriers.hpp>

namespace ptxdsl::verify {

/// Whether the site runs more often than the ring has stages, as far as its loops tell.
template <class Facts>
[[nodiscard]] constexpr bool goes_round(const Facts& f, const site& s, u32 stages) noexcept {
    for (u32 l = s.loop; l != 0; l = f.loops[l].parent)
        if (f.loops[l].trips == unknown_count || f.loops[l].trips > stages) return true;
    u32 rounds = 0;
    for (u32 i = 0; !f.counted.empty() && i < f.sites.size(); ++i)
        rounds += f.sites[i].where == s.where && f.sites[i].kind == s.kind ? 1 : 0;
    return rounds > stages;
}

/// What is done to one barrier of a ring, all stages together.
struct ring_side {
    const site *init = nullptr, *wait = nullptr, *arrival = nullptr, *multicast = nullptr;
    u32 arrivals = 0;                               ///< places that arrive
    bool fills_again = false, waits_again = false;  ///< some place does so more often than the ring has stages

    template <class Facts>
    constexpr ring_side(const Facts& f, u32 barrier, u32 stages) noexcept {
        for (const site& s : f.sites) {
            if (s.barrier != barrier) continue;
            const bool waits = s.kind == site_kind::wait, again = s.kind != site_kind::init && goes_round(f, s, stages);
            const site*& first = s.kind == site_kind::init ? init : waits ? wait : arrival;
            if (first == nullptr) first = &s;
            (waits ? waits_again : fills_again) |= again;
            arrivals += s.kind == site_kind::arrive ? 1 : 0;
            if ((s.flags & site_flag::multicast) != 0) multicast = &s;
        }
    }
};

/// Whether threads of other blocks, or commits of theirs, arrive on a barrier.
template <class Facts>
[[nodiscard]] constexpr bool hears_of_others(const Facts& f, u32 barrier) noexcept {
    for (const site& s : f.sites)
        if (s.kind == site_kind::arrive && s.barrier == barrier &&
            (s.flags & (site_flag::remote | site_flag::several)) != 0)
            return true;
    return false;
}
/// E16: copies fill slots of several blocks, and no block hears from another that its slot is free.
template <class Facts>
constexpr void check_multicast(Facts& f, const ring_side& full, const ring_side& empty, string_view name, u32 stages) {
    if (full.multicast == nullptr || empty.arrival == nullptr || empty.wait == nullptr || f.arrivals_unknown ||
        f.no_arity != 0 || f.cluster_in_loop || f.begins_anew || !goes_round(f, *full.multicast, stages))
        return;
    for (const site& s : f.sites)
        if (s.kind == site_kind::wait && s.role == full.multicast->role && hears_of_others(f, s.barrier)) return;
    f.out.add(catalogue::E16_own_block, full.multicast->where).with(name);
}

/// Through so many slots a stage goes that is computed from a loop's counter; 0: another one, or not known.
template <class Facts>
[[nodiscard]] constexpr u32 period_of(const Facts& f, const site& s) noexcept {
    return s.period != 0 && f.loops[s.counter].step == 1 ? s.period : 0;
}
/// Whether both sides wait with registers that return to the first slot after `limit` of them.
template <class Facts>
[[nodiscard]] constexpr bool both_go_through(const Facts& f, const ring& r, u32 limit) noexcept {
    bool full = false, empty = false;
    for (const site& s : f.sites) {
        if (s.kind != site_kind::wait || (!walker_code::is_walker(s.slot) && period_of(f, s) != limit)) continue;
        const walker w = walker_code::is_walker(s.slot) ? f.walkers[s.slot - 1] : walker{.limit = limit};
        if (w.limit != limit && w.other != limit) continue;
        full = full || s.barrier == r.full, empty = empty || s.barrier == r.empty;
    }
    return full && empty;
}
template <class Facts>
constexpr void say_slots(Facts& f, const ring& r, u32 where, u32 here, u32 elsewhere, bool too_many) {
    f.out.add(too_many ? catalogue::E13_too_many : catalogue::E13_elsewhere, where)
        .with(here)
        .with(f.m.text(r.name))
        .with(elsewhere);
}
/// E13: a register that walks over the stages returns to the first one after another number of them.
template <class Facts>
constexpr void check_walks(Facts& f, const ring& r, u32 stages) {
    const walker* first = nullptr;
    for (const site& s : f.sites) {
        if ((s.barrier != r.full && s.barrier != r.empty) || !walker_code::is_walker(s.slot)) continue;
        const walker& w = f.walkers[s.slot - 1];
        if (w.limit == 0 || w.odd) continue;
        if (first == nullptr && s.kind == site_kind::wait) first = &w;
        const bool apart = w.other != 0 || (first != nullptr && first->limit != w.limit);
        if (w.limit <= stages && w.other <= stages && (!apart || !goes_round(f, s, w.limit))) continue;
        // Both sides may go through fewer slots for a time.
        const u32 other = w.other != 0 ? w.other : first != nullptr ? first->limit : w.limit;
        const bool together = both_go_through(f, r, w.limit) && both_go_through(f, r, other);
        if (w.limit <= stages && w.other <= stages && together) continue;
        const u32 most = w.limit > w.other ? w.limit : w.other;
        const u32 here = most > stages ? most : w.other != 0 && w.other < w.limit ? w.other : w.limit;
        const u32 elsewhere = first != nullptr && first->limit != w.limit ? first->limit : most;
        return say_slots(f, r, s.where, here, most > stages ? stages : elsewhere, most > stages);
    }
}
/// Through so many slots the stage at a site goes; 0: it is constant, or not known.
template <class Facts>
[[nodiscard]] constexpr u32 slots_of(const Facts& f, const ring& r, const site& s) noexcept {
    if (s.barrier != r.full && s.barrier != r.empty) return 0;
    if (!walker_code::is_walker(s.slot)) return period_of(f, s);
    return f.walkers[s.slot - 1].odd ? 0 : f.walkers[s.slot - 1].limit;
}
/// E13 of computed stages: `i % 4` on one side and `i % 3` on the other, or of a pipeline of 3.
template <class Facts>
constexpr void check_periods(Facts& f, const ring& r, u32 stages) {
    for (const site& s : f.sites) {
        const u32 period = s.barrier == r.full || s.barrier == r.empty ? period_of(f, s) : 0;
        if (period > stages && goes_round(f, s, stages)) return say_slots(f, r, s.where, period, stages, true);
        for (u32 i = 0; i < f.sites.size() && period != 0; ++i) {
            const site& x = f.sites[i];
            const u32 other = slots_of(f, r, x), fewer = other < period ? other : period;
            if (other == 0 || other == period || !goes_round(f, s, fewer) || !goes_round(f, x, fewer) ||
                (both_go_through(f, r, period) && both_go_through(f, r, other)))
                continue;
            return period == stages ? say_slots(f, r, x.where, other, period, false)
                                    : say_slots(f, r, s.where, period, other, false);
        }
    }
}
/// Whether some wait for the pipeline takes a register as its parity.
template <class Facts>
[[nodiscard]] constexpr bool is_parity(const Facts& f, const ring& r, u32 code) noexcept {
    for (const site& s : f.sites)
        if (s.kind == site_kind::wait && (s.barrier == r.full || s.barrier == r.empty) &&
            walker_code::is_walker(code) && s.parity == code)
            return true;
    return false;
}
/// E13: slots and parities mixed up. A parity is 0 or 1, so it goes through no more than two slots.
template <class Facts>
constexpr void check_mixed(Facts& f, const ring& r, u32 stages) {
    for (const site& s : f.sites) {
        if (stages <= 2 || (s.barrier != r.full && s.barrier != r.empty)) continue;
        const bool slot_is = is_parity(f, r, s.slot), parity_is = s.kind == site_kind::wait &&
                                                                  walker_code::is_walker(s.parity) &&
                                                                  f.walkers[s.parity - 1].limit > 2;
        if (slot_is || parity_is) return say_mixed(f, r, s.where, !parity_is);
    }
    for (const auto& t : f.ring_tiles) {
        if (stages <= 2 || t.barrier != r.full || t.slot == 0) continue;
        const u32 which = f.walker_of(t.slot - 1);
        if (which < max_walkers && is_parity(f, r, which + 1)) return say_mixed(f, r, t.where, true);
    }
}
template <class Facts>
constexpr void say_mixed(Facts& f, const ring& r, u32 where, bool slot) {
    f.out.add(slot ? catalogue::E13_slot_by_parity : catalogue::E13_parity_by_slot, where).with(f.m.text(r.name));
}
/// Whether its thread has waited for a free slot before it fills one. (It may know otherwise that the first ones are.)
template <class Facts>
[[nodiscard]] constexpr bool waits_before_filling(const Facts& f, const ring& r, u32 fill) noexcept {
    const site& to = f.sites[fill];
    for (u32 i = 0; i < fill; ++i) {
        const site& s = f.sites[i];
        if (s.kind != site_kind::wait || s.barrier != r.empty || s.role != to.role || !f.arm_lies_in(to.arm, s.arm) ||
            (s.block != 0 && s.block != to.block))
            continue;
        u32 around = s.loop, l = to.loop;
        if (!s.spins && around != 0 && f.loops[around].counter == 0) around = f.loops[around].parent;
        while (l != around && l != 0) l = f.loops[l].parent;
        if (l == around) return true;
    }
    return false;
}
/// Whether threads that do not come to this wait may wait for another phase before.
template <class Facts>
[[nodiscard]] constexpr bool may_not_be_first(const Facts& f, const site& wait) noexcept {
    for (const site& s : f.sites)
        if (s.kind == site_kind::wait && s.barrier == wait.barrier && s.role == wait.role &&
            (!f.arm_lies_in(s.arm, wait.arm) || s.block != wait.block))
            return true;
    return false;
}
/// E15: the first wait for a barrier, on the parity of the other side.
template <class Facts>
constexpr void check_first_waits(Facts& f, const ring& r) {
    bool given = f.arrivals_unknown || f.begins_anew;  // somebody frees or fills slots without having waited for them
    for (u32 i = 0; i < f.sites.size(); ++i) {
        const site& s = f.sites[i];
        given = given || (s.kind == site_kind::arrive && s.barrier == r.full && !waits_before_filling(f, r, i));
        if (s.kind != site_kind::arrive || s.barrier != r.empty) continue;
        bool waited = false;
        for (u32 k = 0; k < i; ++k)
            waited = waited ||
                     (f.sites[k].kind == site_kind::wait && f.sites[k].barrier == r.full && f.sites[k].role == s.role);
        given = given || !waited;
    }
    for (const site& s : f.sites) {
        const bool full = s.barrier == r.full;
        if (s.first_parity == unknown_count || may_not_be_first(f, s)) continue;
        if (full && s.first_parity == 1) f.out.add(catalogue::E15_full, s.where).with(f.m.text(r.name));
        if (s.barrier == r.empty && s.first_parity == 0 && !given)
            f.out.add(catalogue::E15_free, s.where).with(f.m.text(r.name));
    }
}

/// Whether what a barrier's copies bring is the only thing that fills an array.
template <class Facts>
[[nodiscard]] constexpr bool fills_alone(const Facts& f, u32 barrier, u32 allocation) noexcept {
    bool fills = false, others = ((f.own_writes | f.peers_write) >> allocation & 1u) != 0;
    for (const auto& t : f.ring_tiles) {
        fills = fills || (t.allocation == allocation && t.barrier == barrier);
        others = others || (t.allocation == allocation && t.barrier != barrier);
    }
    for (const auto& c : f.late_copies)
        others = others || (c.by_thread && (c.allocation == 0 || c.allocation == allocation + 1));
    return fills && !others;
}
/// E15 without a pipeline: threads wait for the phase before the first, and then read what only copies on the barrier
/// bring. (A phase may end without copies, or be waited for by others first.)
template <class Facts>
constexpr void check_void_wait(Facts& f, const site& wait) {
    u32 plain = 0;
    for (const site& s : f.sites) {
        if (s.barrier != wait.barrier) continue;
        if (s.kind == site_kind::wait && s.role != wait.role) return;
        if (s.kind == site_kind::uncounted || (s.flags & site_flag::remote) != 0) return;
        plain += s.kind == site_kind::arrive ? 1 : 0;
        plain -= s.kind == site_kind::expect ? 1 : 0;
    }
    u32 read = 0;
    while (read < f.m.n.allocations && ((wait.reads >> read & 1u) == 0 || !fills_alone(f, wait.barrier, read))) ++read;
    if (plain != 0 || read >= f.m.n.allocations || read >= 32) return;
    f.out.add(catalogue::E15_void, wait.where)
        .with(f.name_of(wait.barrier))
        .with(f.name_of(read))
        .at(f.source(wait.read_at));
}
template <class Facts>
constexpr void check_ring(Facts& f, const ring& r) {
    const u32 stages = f.m.allocations[r.full].stages;
    const ring_side full(f, r.full, stages), empty(f, r.empty, stages);
    if (full.wait == nullptr && full.arrival == nullptr && empty.wait == nullptr && empty.arrival == nullptr) return;
    const auto name = f.m.text(r.name);
    check_walks(f, r, stages);
    check_periods(f, r, stages);
    check_mixed(f, r, stages);
    check_first_waits(f, r);
    if (full.init == nullptr && empty.init == nullptr && !f.inits_unknown)
        f.out.add(catalogue::E03_pipeline, r.where).with(name);
    if (full.arrival != nullptr && full.wait == nullptr && !f.waits_unknown)
        f.out.add(catalogue::E07_no_wait, full.arrival->where).with(name);
    if (full.wait != nullptr && full.arrival == nullptr && !f.arrivals_unknown && !f.bytes_unknown)
        f.out.add(catalogue::E01_nobody_fills, full.wait->where).with(name);
    const bool refilled = full.arrival != nullptr && (full.arrivals > stages || full.fills_again);
    if (empty.arrival != nullptr && empty.wait == nullptr && !f.waits_unknown && refilled && !f.begins_anew)
        f.out.add(catalogue::F13_refilled, full.arrival->where).with(name).at(f.source(empty.arrival->where));
    check_multicast(f, full, empty, name, stages);
    if (empty.wait != nullptr && empty.arrival == nullptr && !f.arrivals_unknown && !f.begins_anew &&
        empty.waits_again && (f.no_arity >> (r.empty & 31u) & 1u) == 0)
        f.out.add(catalogue::E01_nobody_frees, empty.wait->where).with(name).with(stages);
}

template <class Facts>
constexpr void check_rings(Facts& f) {
    if (f.opaque || f.is_function || !f.flow_is_known()) return;
    for (const ring& r : f.rings) check_ring(f, r);
    if (f.arrivals_unknown || f.bytes_unknown || f.inits_unknown || f.begins_anew || f.may_have_peers()) return;
    for (const site& s : f.sites)
        if (s.reads != 0 && f.ring_of(s.barrier, false) == max_rings && f.ring_of(s.barrier, true) == max_rings)
            check_void_wait(f, s);
}

}  // namespace ptxdsl::verify
