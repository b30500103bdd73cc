// SPDX-License-Identifier: Apache-2.0
// What one thread has under way, and how paths join: `meet` for two that are equally possible, `join` for the arms of
// an `if` (engine/dataflow.hpp says what "provably" makes of them).
#pragma once

#include <ptxdsl/verify/engine/facts.hpp>

namespace ptxdsl::verify {

/// One thing under way. Ages: 0 nothing, 1 issued, 2 + n committed with n younger groups.
///
/// `depth`: how deep inside ifs the code may stand that is sure to meet it. What one arm of an `if` leaves behind
/// concerns the threads that took it; an arm of another `if` may be entered by others, the code around both is run by
/// all.
struct item {
    u8 value = 0;
    u8 depth = 255;
    constexpr bool operator==(const item&) const = default;
};
enum class fragment_item : u8 { d, a, dirty };  ///< age as D, age as register A, written since the fence
/// Age of a bulk store, of a wgmma that reads it; generic writes; a copy into it is under way.
enum class slot_item : u8 { store, matrix, proxy, copy };
inline constexpr u8 proxy_fenced = 1, proxy_written = 2;  ///< values of `slot_item::proxy`

/// A pipeline as one consumer sees it. Slots are waited for, read by wgmma groups and released in the order of the
/// ring, so that ages tell which slot a group reads: the slot waited for last has age 1, the one before it 2, …
struct ring_flow {
    static constexpr u8 unknown = 255, most = 14;
    u8 held = 0;         ///< slots waited for and not released
    u8 open = 0;         ///< age of the oldest slot that wgmmas since the last commit read, 0: none
    bool fresh = false;  ///< something was waited for since the last release: the next one is another slot's
    u8 cases = 0;        ///< case distinctions around the latest wait
    u32 waited = 0;      ///< wait (event + 1) that is not counted yet: its loop is walked more than once
    u64 groups = 0;      ///< four bits a committed group, the youngest lowest: age of the oldest slot it reads, 0: none
    constexpr bool operator==(const ring_flow&) const = default;
};

/// One side of a pipeline: what was waited for last and handed over last. Numbers are versions of walkers: two equal
/// ones are the same value.
struct walk_flow {
    u32 slot = 0, parity = 0, handed = 0;
    u32 site = 0, hand_site = 0;  ///< events
    u8 cases = 255;               ///< in one block of the cluster only: case distinctions around its ifs
    bool passed = false;          ///< something was handed over since the wait
    bool waited = false;          ///< there was a wait since the hand-over
    constexpr bool operator==(const walk_flow&) const = default;
};

/// What one thread has under way.
struct flow_state {
    bool dead = false;              ///< behind a ret, an exit or a jump
    bool unfenced = true;           ///< no wgmma.fence so far
    bool open = false;              ///< a wgmma may have been issued since the last commit
    bool pending = false;           ///< a committed group may be pending
    u8 cluster = 0;                 ///< barrier.cluster: 0 nothing, 1 arrived, 2 unknown
    u32 looked = 0;                 ///< bit per fragment: read since the last fence
    u32 lax = 0;                    ///< bit per slot: its bulk store outlived a wait
    u32 partly = 0;                 ///< bit per slot: written by a part of the threads, which have met nobody since
    u32 peers = 0, told = 0;        ///< bit per allocation: of other blocks, written; and told by an arrive
    u32 readers = 0;                ///< bit per slot: several threads have read it, and met nobody since
    bool touched = false;           ///< other blocks' shared memory is used, and no cluster barrier came since
    u32 waited = 0;                 ///< bit per slot: one thread has waited for its bulk store, and met nobody since
    u32 many = 0;                   ///< bit per slot: the generic write was made by several threads
    u32 partial = 0;                ///< bit per slot: the generic write may cover a part only
    u32 met = 0;                    ///< bit per slot: threads have met since the generic write
    u32 fresh = 0;                  ///< bit per barrier: initialised by one thread, threads have not met since
    u32 of_warp = 0;                ///< ... but for those of a warp
    u64 initialised = 0;            ///< bit per barrier stage
    u64 invalid = 0;                ///< the same: invalidated since
    u32 apart = 0;                  ///< bit per barrier: threads of several warps wait for it, and have not met since
    u32 apart_lanes = 0;            ///< the same for the lanes of one warp
    u32 polled = 0;                 ///< bit per flag: several threads wait for it, and have not met since
    u8 map_busy = 0;                ///< bit per tensor map: a copy that reads it may be under way
    u8 map_changed = 0;             ///< the same: changed, and not fenced since
    bool map_fenced = false;        ///< some map has been fenced since
    u16 shape[max_fragments] = {};  ///< token of the wgmma that used D since the last fence
    item fragments[3][max_fragments] = {};
    item slots[4][max_slots] = {};
    ring_flow rings[max_rings] = {};
    walk_flow walks[max_rings][2] = {};  ///< waits for filled slots, for free ones
    u32 version[max_walkers] = {};
    u32 wrapped = 0;                ///< bit per walker: it may have returned to 0 since it was used
    u8 multiplied = 0;              ///< bit per ring: tcgen05.mma reads it since the last wait
    u32 at_start = 0;               ///< bit per walker: it has its first value
    u32 moved = ~0u;                ///< bit per walker: written since a slot was waited for with it
    u32 filled[max_rings] = {};     ///< bit per stage: filled, and no free slot waited for since
    u8 unanswered[max_rings] = {};  ///< slots waited for and not freed, 255: not known
    u32 waits[max_rings] = {};      ///< the latest wait (event + 1)

    constexpr bool operator==(const flow_state&) const = default;
};

/// The joins. A template, as the rest: only what is followed counts.
template <class Facts>
class lattice {
public:
    using S = flow_state;

    constexpr explicit lattice(const Facts& f) noexcept
        : fragments_(f.fragments.size()),
          slots_(f.slots.size()),
          rings_(f.rings.size() < max_rings ? f.rings.size() : max_rings),
          walkers_(f.walkers.size()) {}

    /// What two paths both leave behind: the older age, the lesser need of a fence.
    [[nodiscard]] static constexpr item both(item a, item b, bool lesser) noexcept {
        if (a.value == 0 || b.value == 0) return {};
        const u8 value = (a.value < b.value) == lesser ? a.value : b.value;
        return {value, a.depth < b.depth ? a.depth : b.depth};
    }
    /// Behind an `if`: one arm changed it, or both did.
    [[nodiscard]] static constexpr item either(item before, item a, item b, bool lesser, u8 depth) noexcept {
        if (a.value != before.value && b.value != before.value) return both(a, b, lesser);
        if (a.value == b.value) return {a.value, a.depth < b.depth ? a.depth : b.depth};
        return {a.value != before.value ? a.value : b.value, depth};
    }
    [[nodiscard]] static constexpr u32 either(u32 before, u32 a, u32 b) noexcept {
        return before ^ ((a ^ before) | (b ^ before));
    }
    static constexpr bool is_proxy(u32 kind) noexcept { return kind == static_cast<u32>(slot_item::proxy); }

    /// Joins two paths that are equally possible.
    constexpr void meet(S& into, const S& from) const noexcept {
        if (from.dead) return;
        if (into.dead) {
            into = from;
            return;
        }
        common(into, from);
        into.looked &= from.looked, into.lax &= from.lax, into.waited &= from.waited, into.partly &= from.partly;
        into.peers &= from.peers, into.told &= from.told;
        for (u32 k = 0; k < 3; ++k) {
            for (u32 i = 0; i < fragments_; ++i)
                into.fragments[k][i] = both(into.fragments[k][i], from.fragments[k][i], false);
            for (u32 i = 0; i < slots_; ++i) into.slots[k][i] = both(into.slots[k][i], from.slots[k][i], is_proxy(k));
        }
        meet_copies(into, from);
    }
    constexpr void meet_copies(S& into, const S& from) const noexcept {
        constexpr auto k = static_cast<u32>(slot_item::copy);
        for (u32 i = 0; i < slots_; ++i) into.slots[k][i] = both(into.slots[k][i], from.slots[k][i], false);
    }
    /// Behind an `if`: a case in which the copy has not begun, or has been waited for, may be the one at hand. What a
    /// part of the threads does is done, and others that have not waited do not know more.
    constexpr void join_copies(S& r, const S& before, const S& then, const S& other, bool cases, bool has_else,
                               u8 depth) const {
        constexpr auto k = static_cast<u32>(slot_item::copy);
        if (then.dead || other.dead) return;
        for (u32 i = 0; i < slots_; ++i) {
            const item &a = then.slots[k][i], &b = other.slots[k][i];
            r.slots[k][i] = cases ? both(a, b, false) : has_else ? either(before.slots[k][i], a, b, false, depth) : a;
        }
    }
    constexpr void common(S& into, const S& from) const noexcept {
        into.unfenced = into.unfenced && from.unfenced;
        into.readers &= from.readers;
        into.touched = into.touched && from.touched;
        into.open = into.open || from.open;
        into.pending = into.pending || from.pending;
        into.cluster = into.cluster == from.cluster ? from.cluster : u8{2};
        into.many &= from.many, into.partial |= from.partial, into.met |= from.met;
        into.initialised &= from.initialised, into.fresh &= from.fresh, into.invalid &= from.invalid;
        into.of_warp |= from.of_warp;
        into.polled &= from.polled, into.apart &= from.apart, into.apart_lanes &= from.apart_lanes;
        into.map_busy &= from.map_busy, into.map_changed &= from.map_changed;
        into.map_fenced = into.map_fenced && from.map_fenced;
        for (u32 i = 0; i < fragments_; ++i)
            if (into.shape[i] != from.shape[i]) into.shape[i] = 0;
        for (u32 i = 0; i < rings_; ++i)
            if (!(into.rings[i] == from.rings[i])) into.rings[i] = {ring_flow::unknown};
        into.multiplied &= from.multiplied, into.wrapped &= from.wrapped, into.moved &= from.moved,
            into.at_start &= from.at_start;
        for (u32 i = 0; i < rings_; ++i) {
            into.filled[i] &= from.filled[i];
            if (into.unanswered[i] != from.unanswered[i]) into.unanswered[i] = 255;
            if (into.waits[i] != from.waits[i]) into.waits[i] = 0;
        }
        for (u32 i = 0; i < rings_; ++i)
            for (u32 k = 0; k < 2; ++k)
                if (!(into.walks[i][k] == from.walks[i][k])) into.walks[i][k] = {};
        for (u32 i = 0; i < walkers_; ++i)
            if (into.version[i] != from.version[i]) into.version[i] = 0;
    }
    /// Joins the two arms of an `if` that was entered with `before`.
    constexpr S join(const S& before, const S& a, const S& b, u8 depth) const noexcept {
        if (a.dead) return b;
        if (b.dead) return a;
        S r = a;
        common(r, b);
        r.many = either(before.many, a.many, b.many), r.fresh = either(before.fresh, a.fresh, b.fresh);
        r.looked = either(before.looked, a.looked, b.looked);
        r.touched = either(before.touched ? 1u : 0u, a.touched ? 1u : 0u, b.touched ? 1u : 0u) != 0;
        r.lax = either(before.lax, a.lax, b.lax), r.waited = either(before.waited, a.waited, b.waited);
        r.partly = either(before.partly, a.partly, b.partly);
        r.peers = either(before.peers, a.peers, b.peers), r.told = either(before.told, a.told, b.told);
        for (u32 k = 0; k < 3; ++k) {
            for (u32 i = 0; i < fragments_; ++i)
                r.fragments[k][i] = either(before.fragments[k][i], a.fragments[k][i], b.fragments[k][i], false, depth);
            for (u32 i = 0; i < slots_; ++i)
                r.slots[k][i] = either(before.slots[k][i], a.slots[k][i], b.slots[k][i], is_proxy(k), depth);
        }
        return r;
    }

private:
    u32 fragments_, slots_, rings_, walkers_;
};

}  // namespace ptxdsl::verify
