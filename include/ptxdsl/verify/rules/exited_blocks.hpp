// SPDX-License-Identifier: Apache-2.0
// G04: a block of the cluster that has left the kernel is reached into. Its shared memory is gone with it (PTX
// ISA 5.1.6).
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>
#include <ptxdsl/verify/rules/barriers.hpp>
#include <ptxdsl/verify/rules/copies.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct exited_blocks : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        if (what == op::bar && token_at(c, 1) == tok::cluster && token_at(c, 2) == tok::wait) met_ = f.sites.size();
        if (what == op::leave && token_at(c, 0) != tok::trap) return on_exit(f);
        if (gone_ == 0 || f.is_function || f.opaque || f.unstructured) return;
        if (what == op::copy && has_token(c, tok::multicast__cluster)) {
            const u32 head = mask_of_multicast(c);
            for (u32 r = 0; r < max_ranks; ++r) {
                u32 mask = 0;
                if (is_here(f, r) && value_in_block(f, head, r, mask) && (mask & gone_) != 0)
                    return say(f, mask & gone_);
            }
        }
        for (u32 i = 0; i < f.places_used && i < 4 && what != op::mapa; ++i) {
            if (f.places[i].mapped == 0) continue;
            const mapping m = mapping_at(f, f.places[i].mapped);
            for (u32 r = 0; r < max_ranks; ++r)
                if (is_here(f, r) && m.known && m.farthest[r] < max_ranks && (gone_ >> m.farthest[r] & 1u) != 0)
                    return say(f, 1u << m.farthest[r]);
        }
    }

    /// The last slots that consumers free in other blocks: nobody waits for them, so a block may be gone by then.
    constexpr void finish(Facts& f) {
        if (f.is_function || f.opaque || f.unstructured || f.begins_anew || f.waits_unknown || f.arrivals_unknown ||
            f.m.attrs.cluster_size() < 2 || f.listens)
            return;
        for (u32 i = met_; i < f.sites.size(); ++i) {
            const site& s = f.sites[i];
            const u32 r = s.kind == site_kind::arrive && (s.flags & site_flag::remote) != 0 ? f.ring_of(s.barrier, true)
                                                                                            : max_rings;
            if (r == max_rings || s.to_block == 0 || !s.sure || s.loop == 0 || is_drained(f, f.rings[r])) continue;
            f.out.add(catalogue::G04_frees_late, s.where).with(f.m.text(f.rings[r].name));
            return;
        }
    }

private:
    /// Whether somebody waits for free slots without filling them again, or may.
    [[nodiscard]] static constexpr bool is_drained(const Facts& f, const ring& r) noexcept {
        for (const site& w : f.sites) {
            if (w.kind == site_kind::uncounted) return true;
            if (w.kind != site_kind::wait || (w.barrier != r.empty && w.barrier != r.full)) {
                if (w.kind == site_kind::wait) return true;  // another barrier may tell that all is over
                continue;
            }
            if (w.barrier != r.empty) continue;
            bool fills = false;
            const u32 turns = f.loops[w.loop].spins && !w.spins ? f.loops[w.loop].parent : w.loop;
            for (const site& s : f.sites)
                fills =
                    fills || (s.kind == site_kind::copy && s.barrier == r.full && s.role == w.role && s.loop == turns);
            if (!fills) return true;
        }
        return false;
    }
    /// All threads of some blocks leave, whatever the data are.
    constexpr void on_exit(const Facts& f) noexcept {
        const u32 all = all_ranks(f), ranks = f.blocks.ranks & all;
        if (!f.blocks.sure || ranks == 0 || ranks == all || f.guard != 0 || f.in_single || f.role_now != 0 ||
            (f.divergent & bit::varies) != 0 || !f.is_certain() || f.loop_now != 0)
            return;
        gone_ |= ranks, where_ = f.where;
    }
    /// Whether the block of this rank certainly comes here.
    [[nodiscard]] constexpr bool is_here(const Facts& f, u32 rank) const noexcept {
        const block_set b = blocks_here(f, f.guard);
        return b.sure && ((b.ranks & ~gone_) >> rank & 1u) != 0;
    }
    constexpr void say(Facts& f, u32 ranks) {
        u32 rank = 0;
        while ((ranks >> rank & 1u) == 0) ++rank;
        gone_ = 0;  // told once
        f.out.add(catalogue::G04_gone, f.where).with(rank).at(f.source(where_));
    }

    u32 gone_ = 0, where_ = 0;
    u32 met_ = 0;  ///< uses of mbarriers before the latest cluster barrier
};

}  // namespace ptxdsl::verify
