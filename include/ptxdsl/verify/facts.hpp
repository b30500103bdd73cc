// SPDX-License-Identifier: Apache-2.0
// What one run of the verifier knows about a program. The rules are spread over the topic headers; this is the data
// they share, and the place in the program that the first pass has reached.
//
// Two passes. The first goes over the text once: it judges what needs no control flow, follows registers, and reduces
// the rest to a short list of events. The second walks the events as a program (verify/flow.hpp): branches join, loop
// bodies run twice. Nothing is done register by register for a 128-register operand: such a range is one *fragment*.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/verify/opcodes.hpp>
#include <ptxdsl/verify/report.hpp>

#include <cstdint>

namespace ptxdsl::verify {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ir::unknown_count;

/// A fixed number of zeroed words; cheaper to make than a filled dynarray.
class words {
public:
    constexpr explicit words(u32 n) : data_(new u32[n + 1]()) {}
    words(const words&) = delete;
    words& operator=(const words&) = delete;
    constexpr ~words() { delete[] data_; }
    [[nodiscard]] constexpr u32& operator[](u32 i) noexcept { return data_[i]; }
    [[nodiscard]] constexpr const u32& operator[](u32 i) const noexcept { return data_[i]; }

private:
    u32* data_;
};

/// Bits of a register's word. From `place` on stands the allocation + 1 its value points into, 0: none known; from
/// `mapped` on: it is an address that `mapa` made (`facts::mapped_to`).
namespace bit {
inline constexpr u32 written = 1;       ///< some instruction that can come before has written it
inline constexpr u32 hidden = 2;        ///< only the other arm of the open `if` has
inline constexpr u32 watched = 4;       ///< predicate of a wait that nothing has read yet
inline constexpr u32 member = 8;        ///< belongs to the fragment in bits 8 to 11
inline constexpr u32 constant = 16;     ///< its value is known
inline constexpr u32 address = 32;      ///< its value is this offset in shared memory
inline constexpr u32 varies = 64;       ///< differs from thread to thread, or may
inline constexpr u32 in_flight = 128;   ///< a tcgen05.ld writes it that has not been waited for
inline constexpr u32 seen = 1u << 12;   ///< prescan: an instruction writes it
inline constexpr u32 again = 1u << 13;  ///< more than one does: in a loop the later value may come first
inline constexpr u32 lanes =
    1u << 14;  ///< its value is a part of the thread index, or a comparison of one (`lane_form`)
inline constexpr u32 by_index = 1u << 15;  ///< follows from the thread index alone, or from `elect.sync`
inline constexpr u32 walks = 1u << 16;     ///< chooses a barrier's stage, or is a parity: each write is an event
inline constexpr u32 form = 1u << 17;      ///< what is known of its value is one of `facts::forms`
inline constexpr u32 partly = 1u << 18;    ///< written under one guard only (`facts::guarded_writes`)
inline constexpr u32 by_block = 1u << 19;  ///< differs from block to block of a cluster, or may
inline constexpr u32 place = 20;
inline constexpr u32 kept = 0xf00u | seen | again | walks;  ///< survives a write
inline constexpr u32 special = written | hidden | watched | member | in_flight | partly;
}  // namespace bit
inline constexpr u32 mapped = 0xfc0u, max_mapped = 64;

/// Added to `facts::divergent` where the `if` that parts the threads stands in a loop.
inline constexpr u32 diverged_in_loop = bit::written;

/// (tid.x >> shift) & (2^width - 1), or, with `count`, the predicate that holds for `count` of its 2^width values.
struct lane_form {
    u32 shift = 0, width = 0, count = 0;
    bool first_values = false;  ///< those are 0 … count - 1
    bool last_values = false;   ///< those are the last `count`
    u32 only = 0;               ///< with `count` 1 the value it holds for, else the one it fails for; 0: neither

    [[nodiscard]] static constexpr lane_form of(u32 word) noexcept {
        return {word & 15u, word >> 4 & 15u, word >> 8 & 0x7ffu, (word >> 20 & 1u) != 0, (word >> 21 & 1u) != 0,
                word >> 22};
    }
    [[nodiscard]] constexpr u32 word() const noexcept {
        return shift | width << 4 | count << 8 | (first_values ? 1u << 20 : 0) | (last_values ? 1u << 21 : 0) |
               only << 22;
    }
    /// Threads after which the value repeats.
    [[nodiscard]] constexpr u32 period() const noexcept { return 1u << (shift + width); }
    /// Whether the predicate may hold for a lane of this warp (or, with `fails`, not hold).
    [[nodiscard]] constexpr bool may_hold_in(u32 warp, bool fails) const noexcept {
        const u32 mask = (1u << width) - 1, low = (32 * warp) >> shift & mask, high = (32 * warp + 31) >> shift & mask;
        if (count == 0 || high < low) return true;
        if (only != 0) return (count == 1) != fails ? low <= only && only <= high : low != only || high != only;
        if (!first_values && !last_values) return true;
        const u32 border = first_values ? count : mask + 1 - count;
        return first_values != fails ? low < border : high >= border;
    }
    /// Whether the predicate holds for some lanes of a warp of the block and not for others.
    [[nodiscard]] constexpr bool splits_a_warp(u32 block) const noexcept {
        if (count == 0 || shift >= 5 || count >= 1u << width) return false;
        if (shift + width <= 5 || (!first_values && !last_values)) return true;
        const u32 border = (first_values ? count : (1u << width) - count) << shift;
        return border % 32 != 0 && border < block;
    }
    [[nodiscard]] constexpr bool same_value(const lane_form& f) const noexcept {
        return shift == f.shift && width == f.width;
    }
};

/// What is known of a 32-bit value: a multiple of one register, and a number between two others.
struct value_form {
    u32 root = 0;  ///< register + 1, 0: none
    std::int64_t times = 0, low = 0, high = 0;
    std::int64_t most = -1;  ///< the register holds 0 to `most`; -1: not known
    u32 share = 31;          ///< 2^share neighbouring threads have the same root; 31: all
    u32 skew = 0;            ///< another register + 1 of which `skews` is added, the same in all threads
    std::int64_t skews = 0;
    u32 peer = 0;                 ///< allocation + 1 of which it is an address in another block (`mapa`)
    u32 period = 0, counter = 0;  ///< made of the counter of this loop modulo that
    bool known = true;
    bool moves = false;  ///< the register is written more than once
    [[nodiscard]] constexpr bool exact() const noexcept { return known && low == high; }
    /// The root as a number between bounds.
    constexpr void flatten() noexcept {
        if (root == 0) return;
        known = known && most >= 0 && times >= 0;
        high += times * most;
        root = 0, times = 0, share = 31, moves = false;
    }
};

inline constexpr value_form no_value{.known = false};

/// Registers that instructions name together: an accumulator, an A operand.
struct fragment {
    u32 first = 0, count = 0;
    bool written = false;
    bool fuzzy = false;  ///< shares registers with another fragment: nothing is provable
};
inline constexpr u32 max_fragments = 16;

/// Where a shared address operand points, as far as known.
struct place {
    u32 allocation = 0;  ///< + 1
    bool exact = false;
    u32 mapped = 0;  ///< `facts::mapped_to` + 1, 0: no address that `mapa` made
    u32 offset = 0;  ///< bytes from the start of shared memory, when exact; else those behind `form`
    u32 form = 0;    ///< of `facts::forms` + 1, 0: none
};

/// One stage of an allocation, whose state the second pass follows.
struct slot {
    u32 allocation = 0, stage = 0;
    bool fuzzy = false;      ///< the stage is not known: two uses may be two stages
    bool scattered = false;  ///< bulk stores read parts of it: a write may concern another part
    u32 root = 0;            ///< `stage` is counted from `times` bytes for each of this register + 1
    std::int64_t times = 0;
    u32 share = 31;    ///< so many threads have the same slot (`value_form::share`)
    bool one = false;  ///< its bulk stores are issued by one thread of those
    enum class writer : u8 { none, one_warp, a_lane_of_each, mixed };
    writer by = writer::none;       ///< generic stores of a part of the threads, all of them to one address:
    std::int64_t at = 0, step = 0;  ///< of the one warp; `at` + `step` * warp (+ `skews` * `skew`)
    u32 skew = 0, rewrites = 0;     ///< `facts::rewrites` at that time
    std::int64_t skews = 0;
    u32 copied_from = 0, copied_to = 0;  ///< bytes that bulk copies fill, when they are known to fill the same
    bool copies_differ = false;
};
inline constexpr u32 max_slots = 24;
inline constexpr u32 max_maps = 8;  ///< tensor maps that are followed

enum class event_kind : u8 {
    if_begin,
    else_begin,
    if_end,
    loop_begin,
    loop_end,
    block_begin,
    block_end,
    break_,
    continue_,
    leave,
    opaque,
    wgmma_fence,
    wgmma,
    wgmma_a,
    wgmma_commit,
    wgmma_wait,
    register_read,
    register_write,
    generic_write,
    proxy_fence,
    rendezvous,  ///< `a`: + 1, the barrier whose wait it is; 0: others
    converge,    ///< the lanes of a warp, or the warps of a group, execute it together
    async_read,
    matrix_read,
    async_write,
    copy_begins,   ///< a copy into slot `a` is under way
    tensor_read,   ///< a tcgen05.mma reads slots of ring `a`
    plain_read,    ///< what the copy into slot `a` brings is read
    told,          ///< others may have told that copies are complete
    generic_read,  ///< slot `a`, by `ld`
    peer_touch,    ///< another block's shared memory is read or written
    peer_write,    ///< allocation `a` of another block is written
    peer_read,     ///< the own one, which others write, is read
    part_write,    ///< slot `a` is written by a part of the threads, as `slot::by` says
    cross_read,    ///< and read by others
    bulk_store,
    bulk_commit,
    bulk_wait,
    cluster_arrive,
    cluster_wait,
    barrier_init,
    barrier_inval,
    barrier_use,
    barrier_wait,  ///< barrier `a`, by `b` threads
    map_use,       ///< tensor map `a` (`facts::maps`) in a copy
    map_change,
    map_fence,
    ring_wait,    ///< a slot of ring `a` & 255 is full (`a` >> 8: is free); `b`: walkers of slot and parity
                  ///< (`walker_code`)
    ring_hand,    ///< a slot of ring `a` & 255 is handed over to those who wait for it; `b`: walker of the slot
    flag_polled,  ///< threads have waited for flag `a` (`facts::polls`) in memory
    flag_reset,   ///< one of them makes those wait that come later
    walk,         ///< walker `a` gets a new value; `b`: 1 + the walker it is a copy of, 0: none, `wraps`
};

/// One thing the second pass follows. `flags` says what `event_flag` lists.
struct event {
    event_kind kind{};
    u8 flags = 0;
    bool told = false;    ///< a finding on this event has been reported
    bool useful = false;  ///< commit or wait that had something to do on some path
    u32 a = 0, b = 0;
    u32 where = 0;
};
namespace event_flag {
inline constexpr u8 guarded = 1;
inline constexpr u8 single = 2;    ///< one thread executes it
inline constexpr u8 many = 4;      ///< more than one thread is known to
inline constexpr u8 partial = 8;   ///< may cover a part of the slot only
inline constexpr u8 selects = 16;  ///< an `if` that selects threads (a role or one thread), not cases
inline constexpr u8 one = 32;      ///< an `if` that selects one thread
inline constexpr u8 cases = 128;   ///< an `if` that distinguishes cases, as far as is known
inline constexpr u8 certain = 64;  ///< an `if` that holds for some thread whatever the data are
}  // namespace event_flag

/// A group of threads with a job of its own; role 0 is the whole block.
struct role {
    u32 threads = 0;
    u32 first = unknown_count;  ///< its first thread in the block
    u32 block_barriers = 0;     ///< uses of barrier 0 over all threads
    u32 block_barrier_where = 0;
    u32 block_barrier_at = 0;  ///< word offset of the latest one
    bool single = false;
    bool inferred = false;    ///< from a comparison of the thread index, not from `k.role`
    bool exits = false;       ///< threads of it end before the kernel does
    bool thinned = false;     ///< ... and others do not
    bool multiplies = false;  ///< runs wgmma: its threads are whole warpgroups
};

/// A pipeline: the barriers that count filled and freed slots.
struct ring {
    u32 full = 0, empty = 0, where = 0;
    ir::name name{};
    bool whole[2] = {};  ///< filled, freed: one arrival statement, executed once by its threads, ends the phase
    /// Where only several statements of one role that frees slots make the count: what each adds, the count, where.
    u32 part = 0, count = 0, part_where = 0;
};
inline constexpr u32 max_rings = 4;
inline constexpr u32 own_block = unknown_count - 1, one_block = unknown_count - 2;

/// A register that goes through the stages of barriers, or is the parity that goes with it.
struct walker {
    u32 reg = 0, writes = 0;
    u32 start = unknown_count;             ///< its first value, where that is a literal
    u32 limit = 0, other = 0;              ///< it returns to 0 when it reaches this; another such number
    bool odd = false;                      ///< is written in other ways too
    bool sum = false, odd_before = false;  ///< a number was added that `rem` has not followed yet; `odd` before that
    u32 skipped = 0, skipped_in = 0;       ///< writes in this arm, which some threads do not take
    u32 copy_of = 0;                       ///< another walker + 1 whose value it gets
};
inline constexpr u32 max_walkers = 16, wraps = 255, begins = 256;
/// How events and sites name a stage or parity: 0 not known, 1 + a walker, or a constant.
namespace walker_code {
inline constexpr u32 constant = 0x8000;
[[nodiscard]] constexpr bool is_walker(u32 code) noexcept { return code != 0 && code < constant; }
}  // namespace walker_code

struct loop {
    u32 id = 0, parent = 0, trips = unknown_count, where = 0, ifs = 0;
    u32 cases = 0;        ///< case distinctions around it
    u16 ranks = 0;        ///< blocks of the cluster that come to it
    bool leaves = false;  ///< has a break, ret, exit or trap
    bool skips = false;   ///< a break or continue stands before: what follows may not run
    bool spins = false;   ///< waits for an mbarrier, and does nothing else
    u32 paced = 0;        ///< bit per role that waits on an mbarrier in each iteration
    u32 counter = 0;      ///< register that it counts in + 1, 0: none
    bool counts_signed = false;
    bool step_known = false;
    std::int32_t step = 0;  ///< what is added to the counter, 0 where that is not known
    bool commits = false;   ///< has a tcgen05.commit, in inner loops too
    u32 multiply = 0;       ///< role of the first tcgen05.mma directly in it + 1
    u32 release_where = 0;  ///< of the first arrival behind it that frees a slot + 1
};

/// A `for_` whose rounds are read one by one (verify/rounds.hpp). Places are word offsets.
struct counted_loop {
    u32 begin = 0, body = 0, step = 0, end = 0;  ///< `body`: behind the test at the top; `step`: in front of it
    u32 counter = 0;                             ///< register
    std::int64_t rounds = 0, first = 0, stride = 0;
};
inline constexpr u32 most_rounds = 16;

/// Tensor memory, as far as the text has been read (verify/tensor_memory.hpp). Places are `stand(facts)`.
struct tensor_memory_facts {
    u32 group = 0;
    u32 allocations = 0, frees = 0, alloc_where = 0, free_where = 0;
    u32 columns = 0, freed_columns = 0;  ///< of the first allocation; of the first release, when it names others
    u32 live = 0, live_at = 0;           ///< columns allocated at one place
    u32 freed = 0, freed_at = 0;         ///< register freed last + 1
    u32 relinquished_at = 0;
    u32 multiplies = 0, commits = 0, stores = 0, puts = 0;  ///< `puts`: tcgen05.st
    u32 first_store = 0;                                    ///< tcgen05.st: location + 1
    bool waits_for_stores = false;
    u32 issued_at = 0;
    u32 first_load = 0, first_accumulates = 0;              ///< location + 1
    u32 met = 0;                                            ///< of `multiplies`: those before threads have met
    u32 store_base = 0, store_offset = 0, store_first = 0;  ///< addresses of stores that have not been waited for
    /// The first mma and the first use of what it leaves: where, and how many sites came before.
    struct use {
        u32 where = 0, sites = unknown_count, role = 0, loop = 0;
        bool frees = false;
    } issue, result;
    u32 sum = 0, sum_offset = 0;  ///< address of the accumulator
    u32 last_issue = 0;           ///< sites before the latest mma in front of `result`
    bool one_sum = true;          ///< those before it are done once each, by the same threads, into one accumulator
    bool told = false;            ///< that an accumulator is loaded too early
    bool told_release = false;    ///< that a slot is freed too early
    bool relinquished = false;
    bool issued = false;         ///< an mma, and nobody met since
    bool unfenced_wait = false;  ///< a wait without a tcgen05.fence behind it
    /// A tcgen05.fence::after_thread_sync, or a load behind a wait that has none: how many sites came before.
    struct ordered {
        u32 where = 0, sites = 0, role = 0, arm = 0;
        bool loads = false, single = false;
    };
    ::ptxdsl::detail::dynarray<ordered> order;
    u32 unordered = 0;  ///< `stand` + 1 of a load without a tcgen05.fence::before_thread_sync behind it
    u32 loaded = 0;     ///< `stand` + 1 of a load by several warps, and nobody met since
    bool calls = false;
    bool waits_for_loads = false;
    ::ptxdsl::detail::dynarray<fragment> loads;
    ::ptxdsl::detail::dynarray<u32> addresses;  ///< registers that all threads load from one place
};

/// One thing done to an mbarrier, for the accounting of arrivals and bytes.
enum class site_kind : u8 { init, arrive, expect, copy, wait, uncounted };
struct site {
    site_kind kind{};
    u8 flags = 0;
    bool guarded = false;
    bool left_out = false;  ///< a copy of which some block of the cluster gets nothing
    u32 arm = 0;            ///< innermost case distinction around it
    u32 barrier = 0, stage = 0, amount = 0, extra = 0;
    u32 threads = 0, together = 0, role = 0, loop = 0, where = 0;
    u32 warps = 0;                     ///< one elected thread of this many warps may be meant
    u32 lanes = 0;                     ///< guard: the threads for which it holds (`lane_form`), 0: unknown
    u32 slot = 0, parity = 0;          ///< `walker_code`
    u32 period = 0, counter = 0;       ///< the stage is the counter of this loop modulo that
    u32 first_parity = unknown_count;  ///< of the first wait for a barrier, where it is known
    u32 single = 0;                    ///< single-thread region it stands in, 0: none
    bool many_singles = false;         ///< one thread of each of several warps may run that region
    bool spins = false;                ///< wait: in a loop of its own, which is not counted in `loop`
    bool sure = false;                 ///< all blocks do it: no case distinction around it
    u32 mask = 0;                      ///< multicast: register that says to which blocks + 1
    u32 block = 0;                     ///< only this block of the cluster does it: rank + 1, 0: all, or not known
    u32 meetings = 0;                  ///< `facts::meetings` at that time
    u32 reads = 0, read_at = 0;        ///< wait: bit per array that is read next, whatever the data are; where first
};

/// Blocks of a cluster: a bit per rank.
struct block_set {
    u16 ranks = 0xffff;
    bool sure = true;  ///< exactly these; else these at most
    [[nodiscard]] constexpr bool all() const noexcept { return sure && ranks == 0xffff; }
    [[nodiscard]] constexpr block_set both(const block_set& b) const noexcept {
        return {static_cast<u16>(ranks & b.ranks), sure && b.sure};
    }
    [[nodiscard]] constexpr block_set either(const block_set& b) const noexcept {
        return {static_cast<u16>(ranks | b.ranks), sure && b.sure};
    }
};
/// A register that the rank of a block in its cluster decides, and nothing else.
struct rank_value {
    u32 reg = 0;
    u32 of[16] = {};  ///< by rank
};
/// One `mapa`: which blocks it leads to.
struct mapping {
    bool known = false;  ///< by `own`
    bool alike = false;  ///< the rank given is not known, and the same in all blocks
    u16 own = 0;         ///< ranks that it gives their own address
    u8 farthest[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    ///< by rank: the last block that it leads to, 255: not known
};

/// State of one run, up to the record the first pass has reached. A template (over `ir::view`), as are the functions
/// that take it, so that a translation unit that verifies nothing only parses them.
template <class View>
struct facts_of {
    const View& m;
    report& out;

    // Registers (verify/registers.hpp).
    words regs;
    words values;
    ::ptxdsl::detail::dynarray<fragment> fragments;
    ::ptxdsl::detail::dynarray<u32> first_writes;  ///< registers written for the first time in open arms
    ::ptxdsl::detail::dynarray<u32> turned;        ///< registers that differ from thread to thread since an open arm
    struct unproved {
        u32 reg, where;
        bool decides;
    };
    struct guarded_write {
        u32 reg, guard;
    };
    ::ptxdsl::detail::dynarray<guarded_write> guarded_writes;
    ::ptxdsl::detail::dynarray<value_form> forms;
    ::ptxdsl::detail::dynarray<unproved> unproved_uses;  ///< in loops: wrong unless a later write reaches them

    // The instruction at hand.
    u32 where = 0;
    u32 guard = 0;
    bool decides = false;  ///< what is read now is an address or a condition
    bool stores = false;   ///< the instruction writes to memory what it reads
    u32 acc = 0;           ///< bits of everything it reads
    u32 provenance = 0;    ///< allocation its result points into
    u32 places_used = 0;
    place places[4] = {};

    // Where it stands (verify/control.hpp).
    u32 threads = 0;   ///< that execute it, 0: unknown
    u32 together = 0;  ///< the same, where only cases lie between that all of them take alike (but see `takes_back`)
    bool late_varies = false;           ///< a register that was the same in all threads was written with what is not
    bool late_floats = false;           ///< the same of floats, which decide nothing in most kernels
    u32 floats_decide = unknown_count;  ///< `floats_decide(f)`, once it was asked for
    u32 warps = ~0u;                    ///< bit per warp of the block that may be here
    bool warps_known = false;           ///< all of those come here, where any does whatever the data are
    bool has_blocks = false;            ///< a text leaves constructs in the middle
    u32 first_thread = unknown_count;   ///< the first of them in the block, where it is known; the others follow it
    u32 role_now = 0;
    u32 arm_now = 0;                       ///< innermost `if` that is not a selection of threads, 0: none
    ::ptxdsl::detail::dynarray<u32> arms;  ///< the arm around each; arm 1 stands first
    u64 index_arms = 0;  ///< bit per arm: some threads take it, and some do not, whatever the data are
    u32 ifs_open = 0;
    u32 grid_wait = 0;        ///< a griddepcontrol.wait stands before: `ifs_open` there, + 1; 0: none
    bool early_told = false;  ///< G08 was told
    u32 cases_open = 0;       ///< those of them whose condition is on more than the thread's index and the block's rank
    u32 block_now = 0;        ///< rank of the only block of the cluster that runs it, + 1; 0: all do, or not known
    block_set blocks{};       ///< blocks of the cluster that run it
    bool never = false;       ///< nothing runs it: a condition around it cannot hold
    u32 meetings = 0;         ///< barriers of threads so far in the text
    u32 loop_now = 0;         ///< index into `loops`, 0: none
    u32 divergent = 0;  ///< bit::varies where the control flow may differ from thread to thread, `diverged_in_loop`
    bool in_single = false;
    bool split = false;         ///< a part of a warp's lanes runs it, and provably not all
    bool some_left = false;     ///< threads may have left the kernel before
    u32 single_warps = 0;       ///< in a single-thread region: warps whose threads it was chosen from, 0: unknown
    u32 single_now = 0;         ///< event of that region's `if` + 1, 0: no such region
    bool one_of_block = false;  ///< it is one thread of the whole block
    bool one_lane = false;      ///< one lane of each warp of the block runs it
    ::ptxdsl::detail::dynarray<role> roles;
    ::ptxdsl::detail::dynarray<loop> loops;
    ::ptxdsl::detail::dynarray<counted_loop> counted;
    u32 in_rounds = 0;                        ///< of so many of them the text at hand is a round
    u32 round = 0;                            ///< rounds begun so far
    ::ptxdsl::detail::dynarray<u32> learned;  ///< registers written in the rounds at hand

    /// One use of a named barrier.
    struct barrier_use {
        u32 id, count, threads, together, role, where;  ///< `id`: `unknown_count` when a register has it
        bool waits, in_loop;
        bool guarded = false, single = false;
        bool exact = false;    ///< `warps` are those that execute it, not only those that may
        bool all = false;      ///< without a count: of all threads of the block
        bool perhaps = false;  ///< under a condition on more than who executes it
        u32 warps = ~0u;       ///< bit per warp of the block that may execute it
        u32 form = 0;          ///< of `facts::forms` + 1: the register's value
        u32 arm = 0, loop = 0, block = 0;
    };
    ::ptxdsl::detail::dynarray<barrier_use> barrier_uses;
    /// One setmaxnreg.
    struct register_request {
        u32 registers = 0;
        u32 warps = 0;  ///< bit per warp that may execute it
        u32 role = 0, where = 0;
        bool certain = false;  ///< those warps do, whatever the data are
    };
    ::ptxdsl::detail::dynarray<register_request> register_requests;
    bool requests_told = false;  ///< one asks in the wrong direction
    u32 init_warps = 0;          ///< bit per warp that may initialise an mbarrier
    u32 noted = 0;               ///< bit per kind of note that stands before the instruction
    u32 noted_slot = 0;
    u32 void_wait = 0;  ///< the latest site + 1, when it is a wait that returns at once and nobody was met since

    // What the second pass and the accounting read.
    ::ptxdsl::detail::dynarray<event> events;
    ::ptxdsl::detail::dynarray<slot> slots;
    ::ptxdsl::detail::dynarray<site> sites;
    bool unstructured = false;  ///< branches that no construct made
    bool malformed = false;     ///< regions do not nest
    bool opaque = false;        ///< raw text, calls: anything may have happened
    u32 no_arity = 0;           ///< bit per allocation: the author vouches for the arrivals
    ::ptxdsl::detail::dynarray<ring> rings;
    ::ptxdsl::detail::dynarray<walker> walkers;
    u32 rewrites = 0;  ///< of registers that are written more than once, in the text so far
    u32 wrap_guard = 0, wrap_walker = 0, wrap_limit = 0;  ///< the latest comparison of a walker with a literal
    u32 sum_where = 0;                                    ///< of the latest walker that went several stages on + 1
    struct ring_tile {
        u32 allocation, barrier;
        u32 slot = 0;  ///< register + 1 that chooses the tile's stage, 0: not known
        u32 where = 0;
    };
    ::ptxdsl::detail::dynarray<ring_tile> ring_tiles;  ///< tiles whose copies complete on a barrier
    ::ptxdsl::detail::dynarray<u32> read_at;  ///< by allocation + 1 (0: not known): first read behind a copy, + 1
    struct late_copy {
        u32 where, allocation;  ///< both + 1, or 0
        bool by_thread;         ///< `cp.async`, no bulk copy
    };
    ::ptxdsl::detail::dynarray<late_copy> late_copies;  ///< into shared memory: the first of each array
    bool waits = false;                                 ///< has a wait on an mbarrier
    bool waits_for_thread_copies = false;               ///< has `cp.async.wait_group` or the like
    bool told_late = false;                             ///< E07: nothing waits for a copy
    struct thread_write {
        u32 base = 0, offset = 0, stand = 0, loop = 0, where = 0, round = 0;
    };
    ::ptxdsl::detail::dynarray<thread_write> thread_writes;  ///< `cp.async` that have not been waited for
    u32 noted_barrier = 0;
    u32 noted_wait = 0;    ///< barrier + 1 of the wait the note stands in front of
    u32 mapped_lanes = 0;  ///< rank operand of all `mapa` (`lane_form`, `own_block`, `one_block`), `unknown_count`:
                           ///< they differ, or are unknown
    ::ptxdsl::detail::dynarray<rank_value> rank_values;
    u32 mapped_by = 0;  ///< register with the rank of all `mapa` of barriers + 1, `unknown_count`: not just one
    struct rank_test {
        u32 reg;
        block_set holds, fails;  ///< in some threads of these blocks
        bool alone = true;       ///< of the rank and the thread's index, and nothing else
    };
    ::ptxdsl::detail::dynarray<rank_test> rank_tests;  ///< predicates
    ::ptxdsl::detail::dynarray<mapping> mapped_to;     ///< what `mapa` was given
    u32 peers_write = 0;         ///< bit per allocation: generic stores go into that of another block
    u32 own_writes = 0;          ///< bit per allocation: the block has stored into its own, which it may read again
    bool reaches_peers = false;  ///< writes into other blocks of the cluster, or arrives there
    bool names_peers = false;    ///< maps addresses to blocks of the cluster by number, or multicasts
    /// A word in memory that threads load again and again while it holds `value`.
    struct flag {
        u32 base = 0, offset = 0;  ///< operand
        u32 loop = 0, arm = 0, role = 0;
        u32 loaded = 0;     ///< register it is loaded into
        u32 predicate = 0;  ///< + 1, that tells whether it holds `value` (or, with `unequal`, does not)
        u32 value = 0;
        bool unequal = false, polled = false;
    };
    ::ptxdsl::detail::dynarray<flag> polls;
    /// E09: a register with the state that an arrival returns, and the byte of shared memory of its barrier.
    struct token {
        u32 reg, offset, where;
    };
    ::ptxdsl::detail::dynarray<token> tokens;
    u32 unfenced_init = 0;         ///< the first init of an mbarrier with no fence for the async proxy behind it + 1
    u32 first_unfenced = 0;        ///< the first copy onto an mbarrier behind such an init + 1
    bool listens = false;          ///< has strong loads or atomics: flags of others may be read there
    bool tells_peers = false;      ///< arrives at another block's mbarrier, or copies with one
    bool cluster_met = false;      ///< a barrier.cluster.wait stands before in the text
    bool cluster_in_loop = false;  ///< one stands in a loop
    u32 peer_store = 0,
        narrow_arrive = 0;      ///< G07: first store into a peer, arrive of block scope behind it (location + 1)
    bool wide_release = false;  ///< something behind it releases to the cluster
    bool changes_maps = false;  ///< has a `tensormap` instruction
    ::ptxdsl::detail::dynarray<u32> maps;  ///< registers that hold the addresses of tensor maps
    struct alias {
        u32 of, root;
    };
    ::ptxdsl::detail::dynarray<alias> map_aliases;  ///< `cvta` results
    ::ptxdsl::detail::dynarray<u32> masks;          ///< H03: full masks in a part of a warp, by location
    struct lone_mask {
        u32 where, depth;  ///< ifs around the code that all lanes come to afterwards
    };
    ::ptxdsl::detail::dynarray<lone_mask> lone_masks;  ///< those of them that the other lanes do not execute
    bool waits_unknown = false;                        ///< a wait without a note
    u32 unknown_wait = 0;                              ///< the first of them (location + 1)
    bool inits_unknown = false;                        ///< an init without a note
    bool initialises = false;                          ///< has an init, noted or not
    bool begins_anew = false;                          ///< a barrier is invalidated: its phases begin again
    bool arrivals_unknown = false;                     ///< an arrival without a note
    bool is_function = false;    ///< a device function: the caller may have begun things and may end them
    bool bytes_unknown = false;  ///< a copy onto a barrier without a note
    tensor_memory_facts tm;

    constexpr facts_of(const View& program, report& to)
        : m(program), out(to), regs(program.n.regs), values(program.n.regs) {
        threads = together = m.attrs.reqntid.given() ? m.attrs.reqntid.count() : 0;
        if (threads != 0) first_thread = 0, warps_known = true;
        roles.push_back({threads, first_thread});
        if (followed_warps() != 0) warps = (1u << followed_warps()) - 1;
        loops.push_back({});
    }

    /// All threads of a block of several warps are here.
    [[nodiscard]] constexpr bool whole_block() const noexcept {
        return role_now == 0 && arm_now == 0 && threads >= 64 && threads == roles[0].threads;
    }
    /// Whether a register is written in the rounds at hand: its value may be another one in each.
    [[nodiscard]] constexpr bool is_of_round(u32 reg) const noexcept {
        for (u32 i = 0; in_rounds != 0 && i < learned.size(); ++i)
            if (learned[i] == reg) return true;
        return false;
    }
    /// Warps of the block, where rules follow each of them; 0: not known, or more than sets of 31 bits hold.
    [[nodiscard]] constexpr u32 followed_warps() const noexcept {
        return roles[0].threads > 31 * 32 ? 0 : (roles[0].threads + 31) / 32;
    }
    [[nodiscard]] constexpr register_name reg_name(u32 id) const noexcept {
        const ir::prefix_info& p = m.prefixes[m.regs[id].prefix];
        return {m.text(p.id), id - p.first, p.how == ir::naming::numbered};
    }
    [[nodiscard]] constexpr string_view name_of(u32 allocation) const noexcept {
        return allocation < m.n.allocations && m.allocations[allocation].id.length != 0
                   ? m.text(m.allocations[allocation].id)
                   : string_view("buffer");
    }
    [[nodiscard]] constexpr const std::source_location* source(u32 location) const noexcept {
        return m.from_text || location >= m.n.locations ? nullptr : m.locations + location;
    }
    [[nodiscard]] constexpr bool flow_is_known() const noexcept { return !unstructured && !malformed; }
    /// The blocks of the cluster in which a condition holds, as far as it is made of their ranks.
    [[nodiscard]] constexpr block_set blocks_of(u32 predicate, bool negated) const noexcept {
        for (const rank_test& t : rank_tests)
            if (t.reg == predicate) return negated ? t.fails : t.holds;
        return {.sure = (regs[predicate] & (bit::by_block | bit::again)) == 0};
    }
    /// Whether other blocks may reach this one: in a cluster that is declared, or that the launch may give.
    [[nodiscard]] constexpr bool may_have_peers() const noexcept {
        return m.attrs.cluster_size() > 1 || (!m.attrs.cluster.given() && names_peers);
    }
    /// Whether a condition is made of the thread's index, the block's rank and constants alone.
    [[nodiscard]] constexpr bool is_of_position(u32 predicate) const noexcept {
        if ((regs[predicate] & (bit::by_index | bit::constant)) != 0) return true;
        for (const rank_test& t : rank_tests)
            if (t.reg == predicate) return t.alone;
        return false;
    }
    /// Whether nothing but who executes it is asked of the code at hand: no case distinction stands around it.
    [[nodiscard]] constexpr bool is_certain() const noexcept { return cases_open == 0; }
    /// Whether each round of a loop around comes here: no case distinction, and none between blocks, lies between.
    [[nodiscard]] constexpr bool in_each_round_of(u32 l) const noexcept {
        return loops[l].cases == cases_open && loops[l].ranks == blocks.ranks;
    }
    /// Whether arm `inner` stands in `outer`, or is it.
    [[nodiscard]] constexpr bool arm_lies_in(u32 inner, u32 outer) const noexcept {
        while (inner > outer) inner = arms[inner - 1];
        return inner == outer;
    }

    constexpr u8 thread_flags() const noexcept {
        return static_cast<u8>((guard != 0 ? event_flag::guarded : 0) |
                               (in_single || threads == 1 ? event_flag::single : 0) |
                               (!in_single && threads > 1 ? event_flag::many : 0));
    }
    constexpr void push(event_kind k, u32 a = 0, u32 b = 0, u8 flags = 0) {
        event e;
        e.kind = k, e.a = a, e.b = b, e.flags = static_cast<u8>(flags | thread_flags()), e.where = where;
        events.push_back(e);
    }

    /// The slot of a stage; `max_slots` when there are too many to follow.
    constexpr u32 slot_of(u32 allocation, u32 stage, const value_form& v = {}) {
        if (allocation >= m.n.allocations) return max_slots;
        if (m.allocations[allocation].stages <= 1) stage = 0;
        for (u32 i = 0; i < slots.size(); ++i)
            if (slots[i].allocation == allocation && slots[i].stage == stage && slots[i].root == v.root &&
                slots[i].times == v.times)
                return i;
        if (slots.size() == max_slots) return max_slots;
        slots.push_back({allocation, stage, stage == unknown_count, false, v.root, v.times, v.share});
        return slots.size() - 1;
    }
    /// The stage an exact address lies in.
    [[nodiscard]] constexpr u32 stage_of(const place& p) const noexcept {
        const ir::allocation& a = m.allocations[p.allocation - 1];
        return p.exact && a.stage_bytes != 0 && p.offset >= a.offset ? (p.offset - a.offset) / a.stage_bytes
                                                                     : unknown_count;
    }
    constexpr u32 slot_at(const place& p) {
        if (p.allocation == 0) return max_slots;
        const ir::allocation& a = m.allocations[p.allocation - 1];
        if (p.form == 0 || a.stages <= 1 || a.stage_bytes == 0 || forms[p.form - 1].moves)
            return slot_of(p.allocation - 1, stage_of(p));
        // All of what the address may be lies in one stage, counted from where the root's multiple begins.
        value_form v = forms[p.form - 1];
        if (v.times % a.stage_bytes != 0) v.flatten();
        if (v.skew != 0) v.known = false;
        const std::int64_t bytes = a.stage_bytes, skew = std::int64_t{p.offset} - a.offset + bytes * a.stages * 16;
        const std::int64_t first = (v.low + skew) / bytes, last = (v.high + skew) / bytes;
        if (!v.known || v.low + skew < 0 || first != last) return slot_of(p.allocation - 1, unknown_count);
        const u32 stage = static_cast<u32>(first) - a.stages * 16u;
        return v.root == 0 && stage >= a.stages ? max_slots : slot_of(p.allocation - 1, stage, v);
    }

    /// Ring of which `barrier` counts filled (or freed) slots; `max_rings`: none.
    [[nodiscard]] constexpr u32 ring_of(u32 barrier, bool freed) const noexcept {
        for (u32 i = 0; i < rings.size() && i < max_rings; ++i)
            if ((freed ? rings[i].empty : rings[i].full) == barrier) return i;
        return max_rings;
    }
    /// Ring whose copies bring this tile.
    [[nodiscard]] constexpr u32 ring_of_tile(u32 allocation) const noexcept {
        for (const ring_tile& t : ring_tiles)
            if (t.allocation == allocation) return ring_of(t.barrier, false);
        return max_rings;
    }

    /// The walker a register is; `max_walkers`: none, or too many.
    constexpr u32 walker_of(u32 reg) {
        if ((regs[reg] & bit::walks) == 0) return max_walkers;
        for (u32 i = 0; i < walkers.size(); ++i)
            if (walkers[i].reg == reg) return i;
        if (walkers.size() == max_walkers) return max_walkers;
        walkers.push_back({reg});
        return walkers.size() - 1;
    }

    /// A number behind a one-word operand: literal, or register that holds one.
    [[nodiscard]] constexpr bool constant_of(u32 head, std::int64_t& v) const noexcept {
        const ir::operand_kind k = ir::kind_of(head);
        if (k == ir::operand_kind::small_int) {
            v = ir::small_value(head);
            return true;
        }
        if (k != ir::operand_kind::reg || (regs[ir::payload_of(head)] & bit::constant) == 0) return false;
        v = static_cast<std::int32_t>(values[ir::payload_of(head)]);
        return true;
    }
};

using facts = facts_of<ir::view>;

/// Head word of operand `i` of an instruction; for operands before it of any length.
[[nodiscard]] constexpr const u32* operand_at(const ir::cursor& c, u32 i) noexcept {
    const u32* o = c.first_operand();
    for (; i != 0; --i) o += ir::operand_words(o[0]);
    return o;
}
[[nodiscard]] constexpr bool has_token(const ir::cursor& c, tok t) noexcept {
    for (u32 i = 1; i < c.tokens(); ++i)
        if (c.token(i) == static_cast<u32>(t)) return true;
    return false;
}
/// `.volatile`, `.relaxed` and the like: may race.
[[nodiscard]] constexpr bool is_weak(const ir::cursor& c) noexcept {
    return !has_token(c, tok::volatile_) && !has_token(c, tok::relaxed) && !has_token(c, tok::acquire) &&
           !has_token(c, tok::release);
}
[[nodiscard]] constexpr tok token_at(const ir::cursor& c, u32 i) noexcept {
    return i < c.tokens() ? static_cast<tok>(c.token(i)) : tok::none;
}

}  // namespace ptxdsl::verify
