// SPDX-License-Identifier: Apache-2.0
// What the first pass reduces a program to: the events that the second one follows, and the slots of shared memory that
// they are about.
#pragma once

#include <ptxdsl/verify/knowledge/forms.hpp>

namespace ptxdsl::verify {

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

/// Who issues, commits or waits for bulk stores, as far as is known: a thread of the block, or warps one of which it
/// belongs to. 0: not known.
namespace owner_code {
inline constexpr u32 thread = 0x80000000u;
[[nodiscard]] constexpr u32 warps(u32 code) noexcept {
    return (code & thread) != 0 ? 1u << ((code & ~thread) / 32 & 31u) : code;
}
/// Whether they are certainly not the same.
[[nodiscard]] constexpr bool differ(u32 a, u32 b) noexcept {
    if (a == 0 || b == 0) return false;
    return (a & b & thread) != 0 ? a != b : (warps(a) & warps(b)) == 0;
}
}  // namespace owner_code

}  // namespace ptxdsl::verify
