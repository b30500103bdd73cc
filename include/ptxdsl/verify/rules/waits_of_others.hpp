// SPDX-License-Identifier: Apache-2.0
// E07, F13: who reads what a copy brings, or writes where copies go, and has waited for another slot, or not at all.
#pragma once

#include <ptxdsl/verify/rules/pipelines.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct waits_of_others : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        switch (what) {
            case op::mbarrier:
                if (token_at(c, 1) == tok::arrive && noted(f, ir::note::barrier_arrive) && !f.sites.empty())
                    return note_slot(f, c, freed, f.sites[f.sites.size() - 1].barrier);
                if (token_at(c, 1) != tok::try_wait && token_at(c, 1) != tok::test_wait) return;
                return f.noted_wait == 0 ? note(f, met, 0) : note_slot(f, c, waited, f.noted_wait - 1);
            case op::wgmma: return on_multiply(f);
            case op::bar:
                if (token_at(c, 1) != tok::warp) note(f, met, 0);
                return;
            case op::atomic:
            case op::call:
            case op::unknown: return note(f, met, 0);
            case op::load:
                if (!is_weak(c)) return note(f, met, 0);
                if (has_token(c, tok::shared) || has_token(c, tok::shared__cta)) use(f, read);
                return;
            case op::store:
                if (has_token(c, tok::shared) || has_token(c, tok::shared__cta)) use(f, written);
                return;
            case op::stmatrix: return use(f, written);
            case op::varying:
                if (token_at(c, 0) == tok::ldmatrix) use(f, read);
                return;
            default: return;
        }
    }
    constexpr void finish(Facts& f) {
        if (f.opaque || f.unstructured || f.is_function || f.waits_unknown || f.begins_anew || f.some_left) return;
        for (u32 i = 0; i < steps_.size() && !f.ring_tiles.empty(); ++i) {
            if (steps_[i].kind != read && steps_[i].kind != written) continue;
            if (told_ == 0 && steps_[i].kind == read) judge_threads(f, i);
            if (told_ == 0 && steps_[i].stage != unknown_count) judge_slot(f, steps_[i]);
        }
        for (u32 r = 0; r < f.rings.size() && r < max_rings && told_ == 0; ++r) judge_frees(f, f.rings[r]);
    }

private:
    enum kind_of_step : u8 { met, waited, read, written, freed };
    struct step {
        kind_of_step kind;
        bool certain;  ///< all of `warps` come here, whatever the data are
        u32 warps, what, stage, where, loop, arm, role;
        u32 base = 0, offset = 0;  ///< of an mbarrier's address
    };

    constexpr void note_slot(const Facts& f, const ir::cursor& c, kind_of_step kind, u32 what) {
        note(f, kind, what);
        for (u32 i = 0; i < c.operands(); ++i)
            if (const u32* o = operand_at(c, i); ir::kind_of(o[0]) == ir::operand_kind::address)
                steps_.back().base = o[1], steps_.back().offset = o[2];
    }
    /// Tiles that descriptors name, as the notes in front of the instruction tell.
    constexpr void on_multiply(const Facts& f) {
        for (u32 i = f.events.size(); i > 0 && f.events[i - 1].where == f.where; --i) {
            const event& e = f.events[i - 1];
            if (e.kind != event_kind::matrix_read || f.slots[e.a].fuzzy || f.slots[e.a].root != 0) continue;
            const u32 array = f.slots[e.a].allocation;
            if (f.m.allocations[array].stages > 1 && f.in_rounds == 0) note(f, read, array, f.slots[e.a].stage);
        }
    }

    constexpr void note(const Facts& f, kind_of_step kind, u32 what, u32 stage = unknown_count) {
        const u32 block = f.followed_warps() == 0 ? 0 : (1u << f.followed_warps()) - 1;
        steps_.push_back({kind, f.warps_known && f.guard == 0, block == 0 ? ~0u : f.warps & block, what, stage, f.where,
                          f.loop_now, f.arm_now, f.role_now});
    }
    constexpr void use(const Facts& f, kind_of_step kind) {
        const place& p = f.places[0];
        if (p.allocation == 0 || f.places_used == 0 || f.m.from_text || p.mapped != 0) return;
        const ir::allocation& a = f.m.allocations[p.allocation - 1];
        if (a.kind == ir::allocation_kind::barrier) return;
        const step* last = steps_.empty() ? nullptr : &steps_.back();
        const u32 stage = a.stages > 1 && f.in_rounds == 0 ? constant_stage(f, p, a) : unknown_count;
        if (last != nullptr && last->kind == kind && last->what == p.allocation - 1 && last->stage == stage &&
            last->arm == f.arm_now && last->loop == f.loop_now && last->role == f.role_now)
            return;
        note(f, kind, p.allocation - 1, stage);
    }
    /// The stage an address lies in whatever registers hold.
    [[nodiscard]] static constexpr u32 constant_stage(const Facts& f, const place& p,
                                                      const ir::allocation& a) noexcept {
        if (a.stage_bytes == 0) return unknown_count;
        if (p.exact) return f.stage_of(p);
        if (p.form == 0) return unknown_count;
        value_form v = f.forms[p.form - 1];
        if (v.moves || (v.skew | v.peer) != 0) return unknown_count;
        v.flatten();
        const std::int64_t low = v.low + p.offset - a.offset, high = v.high + p.offset - a.offset;
        return v.known && low >= 0 && low / a.stage_bytes == high / a.stage_bytes && high < a.bytes()
                   ? static_cast<u32>(low / a.stage_bytes)
                   : unknown_count;
    }
    /// The one barrier on which all copies into an array complete; `unknown_count`: there is not just one.
    [[nodiscard]] static constexpr u32 barrier_of(const Facts& f, u32 array) noexcept {
        u32 barrier = unknown_count;
        for (const auto& t : f.ring_tiles) {
            if (t.allocation != array) continue;
            if (barrier != unknown_count && barrier != t.barrier) return unknown_count;
            barrier = t.barrier;
        }
        return barrier != unknown_count && fills_alone(f, barrier, array) ? barrier : unknown_count;
    }

    /// E07: warps that never wait for the barrier read behind the wait of others, and meet nobody between.
    constexpr void judge_threads(Facts& f, u32 i) {
        const step& r = steps_[i];
        if (!r.certain || r.warps == ~0u || f.may_have_peers()) return;
        const u32 barrier = barrier_of(f, r.what);
        if (barrier == unknown_count) return;
        for (const site& s : f.sites)
            if (s.barrier == barrier && s.kind == site_kind::uncounted) return;
        u32 last = unknown_count, wait = 0;
        for (u32 k = 0; k < steps_.size(); ++k) {
            if (steps_[k].kind != waited || steps_[k].what != barrier) continue;
            wait |= steps_[k].warps;
            if (k < i) last = k;
        }
        if (last == unknown_count || !stands_around(f, steps_[last], r)) return;
        u32 late = r.warps & ~wait;
        for (u32 k = last; k < i; ++k)
            if (steps_[k].kind == met || steps_[k].kind == waited) late &= ~steps_[k].warps;
        if (late == 0) return;
        ++told_;
        f.out.add(catalogue::E07_others_wait, r.where).with(f.name_of(r.what)).at(f.source(steps_[last].where));
    }
    /// Whether the wait stands in the same loops as what follows, or around them.
    [[nodiscard]] static constexpr bool stands_around(const Facts& f, const step& w, const step& r) noexcept {
        u32 around = f.loops[w.loop].spins ? f.loops[w.loop].parent : w.loop, l = r.loop;
        while (l != around && l != 0) l = f.loops[l].parent;
        return l == around;
    }

    /// E07, F13: one stage of a tile is used in every round, while the rounds wait for one stage after the other.
    constexpr void judge_slot(Facts& f, const step& u) {
        const u32 barrier = unknown_ring(f, u) ? unknown_count : ring_barrier(f, u.what);
        if (barrier == unknown_count || u.loop == 0 || f.loops[u.loop].trips < 2) return;
        const ring& r = f.rings[f.ring_of(barrier, false)];
        const site* wait = nullptr;
        const site* frees = nullptr;
        bool producer_waits = false;
        u32 producer = unknown_count;
        for (const site& s : f.sites) {
            if (s.barrier == r.full && s.kind == site_kind::copy) producer = s.role;
            if (s.barrier == r.empty && s.kind == site_kind::arrive && s.role == u.role) frees = &s;
            if (s.barrier != r.full || s.kind != site_kind::wait) continue;
            const bool walks = walker_code::is_walker(s.slot) && !f.walkers[s.slot - 1].odd;
            if (s.role != u.role || (!walks && s.period < 2) || wait != nullptr) return;
            wait = &s;
        }
        for (const site& s : f.sites)
            producer_waits =
                producer_waits || (s.kind == site_kind::wait && s.role == producer && s.barrier != r.empty);
        for (const auto& b : f.barrier_uses) producer_waits = producer_waits || (b.role == producer && b.loop != 0);
        if (wait == nullptr || frees == nullptr || producer == u.role || producer == unknown_count || producer_waits)
            return;
        const u32 turns = f.loops[wait->loop].spins && !wait->spins ? f.loops[wait->loop].parent : wait->loop;
        if (f.loops[turns].trips <= f.m.allocations[r.full].stages || frees->loop != turns) return;
        u32 around = f.loops[turns].parent;
        while (around != 0 && around != u.loop) around = f.loops[around].parent;
        const bool same = u.loop == turns && u.arm == wait->arm && u.kind == read;
        if (!same && (around == 0 || u.kind != written)) return;
        ++told_;
        f.out.add(same ? catalogue::E07_other_slot : catalogue::F13_live_slot, u.where)
            .with(u.stage)
            .with(f.name_of(u.what))
            .with(f.m.text(r.name))
            .at(f.source(wait->where));
    }
    /// E01: the slot that a round frees is another one than it has waited for, in the first round already.
    constexpr void judge_frees(Facts& f, const ring& r) {
        const step *wait = nullptr, *free = nullptr;
        for (const step& s : steps_) {
            if (s.kind == waited && s.what == r.full && wait != nullptr) return;
            if (s.kind == freed && s.what == r.empty && free != nullptr) return;
            if (s.kind == waited && s.what == r.full) wait = &s;
            if (s.kind == freed && s.what == r.empty) free = &s;
        }
        if (wait == nullptr || free == nullptr || !r.whole[1] || wait->role != free->role || free->arm != wait->arm ||
            free->loop == 0 || free->loop != (f.loops[wait->loop].spins ? f.loops[wait->loop].parent : wait->loop))
            return;
        for (const site& s : f.sites)
            if (s.barrier == r.full && s.kind == site_kind::wait && s.slot != 0) return;  // a walker: k.advance
        evaluator<Facts> first(f, true);
        u32 tid = 0, a = 0, b = 0;
        while (tid < 31 && (wait->warps >> tid & 1u) == 0) ++tid;
        if (!slot_at(f, first, *wait, r.full, 32 * tid, a) || !slot_at(f, first, *free, r.empty, 32 * tid, b) || a == b)
            return;
        ++told_;
        f.out.add(catalogue::E01_frees_other, free->where)
            .with(b)
            .with(f.m.text(r.name))
            .with(a)
            .at(f.source(wait->where));
    }
    /// The stage of a barrier that a step names in the first round.
    [[nodiscard]] static constexpr bool slot_at(const Facts& f, evaluator<Facts>& e, const step& s, u32 barrier,
                                                u32 tid, u32& slot) {
        u32 at = 0;
        const ir::allocation& a = f.m.allocations[barrier];
        if (ir::kind_of(s.base) != ir::operand_kind::reg || !e.value(ir::payload_of(s.base), tid, 0, at)) return false;
        slot = (at + s.offset - a.offset) / 8;
        return at + s.offset >= a.offset && slot < a.stages;
    }
    [[nodiscard]] static constexpr bool unknown_ring(const Facts& f, const step& u) noexcept {
        return f.arrivals_unknown || f.bytes_unknown || u.role == 0;
    }
    /// The barrier of a pipeline's filled slots, where the array is filled by its copies alone.
    [[nodiscard]] static constexpr u32 ring_barrier(const Facts& f, u32 array) noexcept {
        u32 barrier = unknown_count;
        for (const auto& t : f.ring_tiles) {
            if (t.allocation != array) continue;
            if (barrier != unknown_count && barrier != t.barrier) return unknown_count;
            barrier = t.barrier;
        }
        return barrier != unknown_count && f.ring_of(barrier, false) < max_rings ? barrier : unknown_count;
    }

    ::ptxdsl::detail::dynarray<step> steps_;
    u32 told_ = 0;
};

}  // namespace ptxdsl::verify
