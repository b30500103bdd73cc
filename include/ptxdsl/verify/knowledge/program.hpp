// SPDX-License-Identifier: Apache-2.0
// What a program is made of, as rules see it: roles, pipelines, loops, what is done to mbarriers and tensor memory,
// blocks of a cluster.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/verify/knowledge/forms.hpp>

namespace ptxdsl::verify {

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

/// A `for_` whose rounds are read one by one (verify/engine/rounds.hpp). Places are word offsets.
struct counted_loop {
    u32 begin = 0, body = 0, step = 0, end = 0;  ///< `body`: behind the test at the top; `step`: in front of it
    u32 counter = 0;                             ///< register
    std::int64_t rounds = 0, first = 0, stride = 0;
};
inline constexpr u32 most_rounds = 16;

/// Tensor memory, as far as the text has been read (verify/rules/tensor_memory.hpp). Places are `stand(facts)`.
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
    u32 rewrites = 0;                  ///< `facts::rewrites` at that time
    u32 to_block = 0;                  ///< arrives at this block of the cluster, in whichever it runs: rank + 1
    bool to_all = false;               ///< a multicast into all blocks of the cluster
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

}  // namespace ptxdsl::verify
