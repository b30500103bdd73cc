// SPDX-License-Identifier: Apache-2.0
// Other blocks of the cluster (G06, G07), the kernel ahead (G08), and lanes of one warp (H03): who must be there, and
// who sees what.
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>

namespace ptxdsl::verify {

// ---- blocks of a cluster
// ------------------------------------------------------------------------------------------------

/// G06: until a block has entered, its shared memory is not there (PTX ISA 5.1.6).
template <class Facts>
constexpr void reaches_peer(Facts& f) {
    if (f.cluster_met || f.is_function || f.opaque || f.unstructured || f.tm.calls) return;
    f.cluster_met = true;  // told once
    f.out.add(catalogue::G06_before_entry, f.where);
}

/// G07: what makes earlier stores visible to other blocks.
template <class Facts>
constexpr void releases_to_cluster(Facts& f) noexcept {
    if (f.peer_store != 0 || f.loop_now != 0) f.wide_release = true;
}
/// An instruction whose first address `mapa` made.
template <class Facts>
constexpr void on_mapped_access(Facts& f, op k, const ir::cursor& c) {
    const bool tells = k == op::mbarrier || has_token(c, tok::async);  // somebody may wait for it
    f.tells_peers = f.tells_peers || tells;
    if (!reaches_another(f, mapping_at(f, f.places[0].mapped))) return;
    reaches_peer(f);
    f.reaches_peers = f.reaches_peers || k == op::mbarrier;
    if (!tells) f.push(event_kind::peer_touch);
    if ((k == op::store || k == op::load || k == op::atomic || k == op::reduce) && has_token(c, tok::cta) &&
        !is_weak(c))
        f.out.add(catalogue::G07_scope, f.where);
    if (k == op::store && !has_token(c, tok::async) && f.peer_store == 0) f.peer_store = f.where + 1;
    if (k != op::mbarrier || f.peer_store == 0 || f.narrow_arrive != 0) return;
    if (!has_token(c, tok::cluster)) f.narrow_arrive = f.where + 1;
}
/// G07 of the whole program.
template <class Facts>
constexpr void check_peer_stores(Facts& f) {
    if (f.narrow_arrive == 0 || f.is_function || f.opaque || f.unstructured || f.tm.calls) return;
    f.out.add(f.wide_release ? catalogue::G07_perhaps : catalogue::G07_release, f.narrow_arrive - 1);
}

// ---- the kernel ahead
// ----------------------------------------------------------------------------------------------------------

/// `griddepcontrol.wait`: from here on what the kernel ahead wrote is visible (PTX ISA 9.7.13.13).
template <class Facts>
constexpr void on_grid_wait(Facts& f, const ir::cursor& c) noexcept {
    if (has_token(c, tok::wait) && f.guard == 0 && !f.unstructured) f.grid_wait = f.ifs_open + 1;
}
/// G08: ptxas puts loads that are `.nc` in front of the wait. Told once.
template <class Facts>
constexpr void check_early_load(Facts& f, const ir::cursor& c) {
    if (f.grid_wait == 0 || f.early_told || !has_token(c, tok::nc)) return;
    f.early_told = true;
    f.out.add(catalogue::G08_nc, f.where);
}

// ---- lanes of a warp
// ----------------------------------------------------------------------------------------------------

/// The constant member mask of `shfl.sync`, `vote.sync`, … ; false when there is none.
template <class Facts>
[[nodiscard]] constexpr bool constant_mask(const Facts& f, const ir::cursor& c, u32& mask) noexcept {
    if (c.operands() == 0 || !has_token(c, tok::sync) || has_token(c, tok::aligned) || token_at(c, 0) == tok::barrier)
        return false;
    const u32* o = operand_at(c, c.operands() - 1);
    std::int64_t v = 0;
    if (ir::kind_of(o[0]) == ir::operand_kind::integer)
        v = o[1];
    else if (!f.constant_of(o[0], v))
        return false;
    mask = static_cast<u32>(v);
    return true;
}
/// H03 in code that a part of a warp runs (or under a guard that selects one).
template <class Facts>
constexpr void check_convergence(Facts& f, op k, const ir::cursor& c) {
    if (f.some_left || f.unstructured) return;
    const u32 guard = f.guard == 0 ? 0 : (f.guard >> 1) - 1;
    const bool guard_splits = f.guard != 0 && (f.regs[guard] & (bit::lanes | bit::again)) == bit::lanes &&
                              lane_form::of(f.values[guard]).splits_a_warp(f.m.attrs.threads());
    if (!f.split && !guard_splits) return;
    u32 mask = 0;
    if (has_token(c, tok::aligned)) {
        if (f.in_single && (k == op::wgmma || k == op::bar)) return;  // D12, H05
        f.out.add(catalogue::H03_aligned, f.where).with(isa::spelling(token_at(c, 0)));
    } else if (f.split && constant_mask(f, c, mask) && mask == ~0u) {
        f.masks.push_back(f.where);
    }
}
/// H03: lanes that have exited are not waited for (PTX ISA 9.7.9.6), so a full mask in a part of a warp hangs only
/// where the other lanes provably wait as well, at the next place where the whole warp meets.
template <class Facts>
constexpr void meet_lone_masks(Facts& f) {
    if (f.lone_masks.empty() || f.split || f.in_single || f.guard != 0 || f.some_left || f.unstructured) return;
    u32 kept = 0;
    for (u32 i = 0; i < f.lone_masks.size(); ++i) {
        if (f.lone_masks[i].depth < f.ifs_open) {
            f.lone_masks[kept++] = f.lone_masks[i];
            continue;
        }
        f.out.add(catalogue::H03_waits, f.lone_masks[i].where).at(f.source(f.where));
    }
    f.lone_masks.truncate(kept);
}
template <class Facts>
constexpr void warn_of_lone_masks(Facts& f) {
    for (u32 i = 0; i < f.lone_masks.size(); ++i) f.out.add(catalogue::H03_mask, f.lone_masks[i].where);
}
/// H03 where whole warps run: the executing lanes are in the mask.
template <class Facts>
constexpr void check_members(Facts& f, const ir::cursor& c) {
    u32 mask = 0;
    if (f.split || f.ifs_open != 0 || f.guard != 0 || f.some_left || f.unstructured || f.is_function ||
        f.roles[0].threads == 0 || f.roles[0].threads % 32 != 0 || !constant_mask(f, c, mask) || mask == ~0u)
        return;
    f.out.add(catalogue::H03_left_out, f.where).with(isa::spelling(token_at(c, 0)));
}

}  // namespace ptxdsl::verify
