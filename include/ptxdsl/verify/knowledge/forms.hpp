// SPDX-License-Identifier: Apache-2.0
// What a register may hold: the bits of its word, parts of the thread's index, values between bounds, places in shared
// memory.
#pragma once

#include <ptxdsl/ir/module.hpp>

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
    /// The value, or whether the predicate holds, in one thread of the block. (Of threads that are elected it is taken
    /// to be the first.)
    [[nodiscard]] constexpr u32 in_thread(u32 tid) const noexcept {
        const u32 x = tid >> shift & ((1u << width) - 1);
        if (count == 0) return x;
        if (first_values) return x < count ? 1 : 0;
        if (last_values) return x + count >= 1u << width ? 1 : 0;
        return only == 0 ? (x == 0 ? 1 : 0) : (x == only) == (count == 1) ? 1 : 0;
    }
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

}  // namespace ptxdsl::verify
