// SPDX-License-Identifier: Apache-2.0
// What kernels that reduce over the rows of a matrix share: how a row is spread over threads, 16-byte accesses in two
// element types, and block-wide reductions. rms_norm_kernel.hpp and the example softmax_kernel.hpp are built from it.
//
//   registers   a thread holds all its elements, memory is read once                        (rows up to 32 Ki elements)
//   shared      the first pass leaves the row in shared memory for the second               (up to about 220 KiB a row)
//   reread      the second pass reads the row from memory (mostly L2) again                 (any length)
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <array>
#include <memory>

namespace rows {

namespace px = ptxdsl;
using px::bf16;
using px::f32;
using px::u32;
using k_t = px::builder<px::sm_90a>;
using floats = px::reg<f32>;
using words = px::reg<u32>;

/// Makes `name` stand for register `r`. (Assigning to a handle that has a register emits a mov into it.)
template <class T>
constexpr void point(px::reg<T>& name, const px::reg<T>& r) {
    std::construct_at(&name, r);
}

enum class keep : std::uint8_t { registers, shared, reread };

/// How a row is spread over the threads of a block: constants of the kernel.
struct plan {
    keep where = keep::registers;
    u32 threads = 256;       ///< that work on one row, a multiple of 32
    u32 rows_per_block = 1;  ///< rows a block works on at once; more than one only with 32 threads a row
    u32 accesses = 4;        ///< loads a thread has in flight, at most `most_accesses`
    u32 sure =
        0;  ///< registers: of each thread's accesses, how many lie in the row for all threads: no bounds to check
    u32 units = 0;     ///< shared: accesses that make up a row
    u32 resident = 0;  ///< blocks a multiprocessor should hold, 0: as ptxas decides
    constexpr bool operator==(const plan&) const = default;
    [[nodiscard]] constexpr u32 block() const noexcept { return threads * rows_per_block; }
    [[nodiscard]] constexpr px::attributes attributes() const noexcept {
        return {.reqntid = {block()}, .minnctapersm = resident};
    }
};
inline constexpr u32 most_accesses = 8;
inline constexpr u32 most_threads = 1024;
inline constexpr u32 most_floats = 32;  ///< elements a thread keeps in registers without spilling at 1024 threads
inline constexpr u32 most_shared_bytes = 220 << 10;  ///< of the 227 KiB a block may have

/// Chooses the plan for rows of `units` accesses of `width` elements, `bytes` each.
[[nodiscard]] constexpr plan plan_for(u32 units, u32 width, u32 bytes) noexcept {
    const u32 most = most_floats / width < most_accesses ? most_floats / width : most_accesses;
    const auto divide_up = [](u32 a, u32 b) { return a / b + (a % b != 0 ? 1u : 0u); };
    plan p;
    if (units <= 32 * most) {
        p.threads = 32;
        p.rows_per_block = 4;
        p.accesses = divide_up(units, 32);
    } else {
        // Blocks of up to 512 threads with few loads each were the fastest on an H200 (bench/README.md); longer rows
        // take more loads, then more threads.
        const auto threads = [&](u32 accesses) { return divide_up(divide_up(units, accesses), 32) * 32; };
        for (p.accesses = most < 2 ? most : 2; p.accesses < most && threads(p.accesses) > most_threads / 2;)
            p.accesses *= 2;
        p.threads = threads(p.accesses);
    }
    if (p.threads > most_threads) {
        p.where = std::uint64_t{units} * bytes <= most_shared_bytes ? keep::shared : keep::reread;
        p.threads = most_threads;
        p.accesses = most < 4 ? most : 4;
    }
    if (p.where == keep::registers) {
        p.sure = units / p.threads;
        // Left alone, ptxas may squeeze such a block into a third of the registers, and spill.
        if (p.threads > 256 && p.threads <= 512 && p.accesses * width == most_floats / 2) p.resident = 2;
    }
    if (p.where == keep::shared) p.units = units;
    return p;
}

// ---- accesses -------------------------------------------------------------------------------------------------------

template <u32 Width>
using values = std::array<floats, Width>;

/// One access: `Width` elements of type `T` in 16 bytes, or a single one where rows are not multiples of 16 bytes.
/// `unit` is its element in memory, `raw` what the load leaves in registers.
template <class T, u32 Width>
struct element_access;

template <>
struct element_access<f32, 4> {
    using unit = px::packet<f32, 4>;
    using raw = px::vec<f32, 4>;
    static constexpr values<4> expand(k_t&, const raw& r) { return {r[0], r[1], r[2], r[3]}; }
    static constexpr raw pack(k_t&, const values<4>& v) { return raw(v[0], v[1], v[2], v[3]); }
};
template <>
struct element_access<bf16, 8> {
    using unit = px::packet<px::bf16x2, 4>;
    using raw = px::vec<px::bf16x2, 4>;
    static constexpr values<8> expand(k_t& k, const raw& r) {
        values<8> v;
        for (u32 i = 0; i < 4; ++i) {
            const auto halves = k.mov_unpack(r[i]);
            v[2 * i] = k.cvt<f32>(halves[0]);
            v[2 * i + 1] = k.cvt<f32>(halves[1]);
        }
        return v;
    }
    static constexpr raw pack(k_t& k, const values<8>& v) {
        std::array<px::reg<px::bf16x2>, 4> w;
        for (u32 i = 0; i < 4; ++i) w[i] = k.cvt<px::bf16x2, px::rn>(px::hi(v[2 * i + 1]), px::lo(v[2 * i]));
        return raw(w[0], w[1], w[2], w[3]);
    }
};
template <>
struct element_access<f32, 1> {
    using unit = f32;
    using raw = floats;
    static constexpr values<1> expand(k_t&, const raw& r) { return {r}; }
    static constexpr raw pack(k_t&, const values<1>& v) { return v[0]; }
};
template <>
struct element_access<bf16, 1> {
    using unit = bf16;
    using raw = px::reg<bf16>;
    static constexpr values<1> expand(k_t& k, const raw& r) { return {k.cvt<f32>(r)}; }
    static constexpr raw pack(k_t& k, const values<1>& v) { return k.cvt<bf16, px::rn>(v[0]); }
};

/// Elements of one 16-byte access.
template <class T>
inline constexpr u32 full_width = 16 / sizeof(T);
/// Whether rows of `columns` elements can be accessed 16 bytes at a time (and not one element).
template <class T>
[[nodiscard]] constexpr bool takes_full_width(u32 columns) noexcept {
    return columns % full_width<T> == 0;
}

template <class T, u32 Width>
[[nodiscard]] constexpr plan plan_for_columns(u32 columns) noexcept {
    return plan_for(columns / Width, Width, static_cast<u32>(sizeof(T)) * Width);
}

/// What kernel parameters are known to be aligned to.
template <class T, u32 Width>
inline constexpr unsigned alignment = unsigned{sizeof(T)} * Width;

template <class T, u32 Width>
using input = px::global_ptr<const T, alignment<T, Width>>;
template <class T, u32 Width>
using output = px::global_ptr<T, alignment<T, Width>>;
template <class T, u32 Width>
using input_units = px::global_ptr<const typename element_access<T, Width>::unit, alignment<T, Width>>;
template <class T, u32 Width>
using output_units = px::global_ptr<typename element_access<T, Width>::unit, alignment<T, Width>>;

/// The accesses a thread makes together: positions in the row, `stride` apart, and for those that may lie outside of it
/// whether they do.
struct positions {
    u32 count = 0, sure = 0, stride = 0;  ///< the first `sure` are inside
    words first;
    std::array<words, most_accesses> at;              ///< the others: position, moved to the first one when outside
    std::array<px::reg<px::pred>, most_accesses> in;  ///< and whether it was inside

    /// Access `j` of the row whose first one of this thread is at `mine`.
    template <class Ptr>
    [[nodiscard]] constexpr auto address(const Ptr& row, const Ptr& mine, u32 j) const {
        return j < sure ? mine + static_cast<int>(j * stride) : row + at[j];
    }
};

[[nodiscard]] constexpr positions spread(k_t& k, const plan& c, const words& first, const words& units) {
    positions p{.count = c.accesses, .sure = c.sure, .stride = c.threads, .first = first, .at = {}, .in = {}};
    if (p.sure == p.count) return p;
    const auto safe = p.sure > 0 ? first : k.min(first, k.sub(units, 1u));
    for (u32 j = p.sure; j < p.count; ++j) {
        const auto wanted = k.add(first, j * c.threads);
        p.in[j] = wanted < units;
        p.at[j] = k.selp(wanted, safe, p.in[j]);
    }
    return p;
}

/// Runs `body` on the accesses of a whole row, `c.accesses` of each thread at a time.
template <class Body>
constexpr void for_row(k_t& k, const plan& c, const words& thread, const words& units, Body&& body) {
    k.for_(thread, units, c.threads * c.accesses, [&](const words& first) { body(spread(k, c, first, units)); });
}

/// The address of this thread's first access; the row's own where it is not needed.
template <class Ptr>
[[nodiscard]] constexpr Ptr first_address(const Ptr& row, const positions& p) {
    return p.sure > 0 ? Ptr(row + p.first) : row;
}

/// Loads what `p` says, all accesses before the first use. `Modifiers` go to each `ld`.
template <class T, u32 Width, px::tok... Modifiers, class Ptr>
[[nodiscard]] constexpr auto load(k_t& k, const Ptr& row, const positions& p) {
    std::array<typename element_access<T, Width>::raw, most_accesses> r;
    const Ptr mine = first_address(row, p);
    for (u32 j = 0; j < p.count; ++j) r[j] = k.ld<Modifiers...>(p.address(row, mine, j));
    return r;
}

template <u32 Width>
using many = std::array<values<Width>, most_accesses>;

/// The elements of `raw`, `neutral` in place of those outside the row.
template <class T, u32 Width, class Raw>
[[nodiscard]] constexpr many<Width> expand(k_t& k, const Raw& raw, const positions& p, float neutral) {
    many<Width> v;
    for (u32 j = 0; j < p.count; ++j) {
        const values<Width> all = element_access<T, Width>::expand(k, raw[j]);
        for (u32 e = 0; e < Width; ++e) {
            // Binding an empty handle names a register; assigning to a bound one would be a mov.
            if (j < p.sure)
                v[j][e] = all[e];
            else
                v[j][e] = k.selp(all[e], neutral, p.in[j]);
        }
    }
    return v;
}

template <class T, u32 Width, px::tok... Modifiers, class Ptr>
constexpr void store(k_t& k, const Ptr& row, const positions& p, const many<Width>& v) {
    const Ptr mine = first_address(row, p);
    for (u32 j = 0; j < p.count; ++j) {
        const auto packed = element_access<T, Width>::pack(k, v[j]);
        const auto to = p.address(row, mine, j);
        if (j < p.sure)
            k.st<Modifiers...>(to, packed);
        else
            k.at(p.in[j]).template st<Modifiers...>(to, packed);
    }
}

/// Keeps raw accesses for the second pass; each thread reads back what it wrote itself, so no barrier is needed.
template <class Ptr, class Raw>
constexpr void keep_raw(k_t& k, const Ptr& row, const positions& p, const Raw& raw) {
    for (u32 j = 0; j < p.count; ++j) {
        const auto to = row + p.at[j];
        k.at(p.in[j]).st(to, raw[j]);
    }
}

// ---- reductions -----------------------------------------------------------------------------------------------------

/// Combines `v` over `lanes` neighbouring lanes, a power of two; every lane gets the result.
template <class Combine>
[[nodiscard]] constexpr floats over_warp(k_t& k, const floats& v, u32 lanes, Combine&& combine) {
    floats result = v;
    for (u32 step = lanes / 2; step > 0; step /= 2)
        point(result, combine(result, k.shfl_sync_bfly(result, step, 31u, px::full_mask)));
    return result;
}

/// Where a thread stands.
struct seat {
    words thread;  ///< among those of its row
    words lane, warp;
    words row, step;  ///< first row and distance to the next
};

[[nodiscard]] constexpr seat take_seat(k_t& k, const plan& c) {
    const auto tid = k.mov(px::tid.x).named("tid");
    const auto lane = k.and_(tid, 31u).named("lane");
    const auto warp = k.shr(tid, 5u).named("warp");
    const auto block = k.mov(px::ctaid.x);
    const auto blocks = k.mov(px::nctaid.x);
    if (c.rows_per_block == 1) return {tid, lane, warp, block, blocks};
    return {lane, lane, warp, k.mad_lo(block, c.rows_per_block, warp), k.mul_lo(blocks, c.rows_per_block)};
}

/// Lets every thread of a block see one value of each warp. Two halves take turns, so that one barrier a row is enough:
/// a slow warp still reads one half while a fast one writes the next row's values into the other.
template <class Unit>
class exchange {
public:
    constexpr exchange(k_t& k, const plan& c, const seat& s)
        : warps_(c.threads / 32),
          seat_(s),
          slots_(k.smem_array<Unit>(2 * 32, "exchange")),
          half_(k.mov<u32>(0).named("half")) {
        while (lanes_ < warps_) lanes_ *= 2;
        slot_ = k.and_(s.lane, lanes_ - 1);
        first_lane_ = s.lane == 0u;
        filled_ = slot_ < warps_;
    }
    /// Lanes that `over_warp` has to combine.
    [[nodiscard]] constexpr u32 lanes() const noexcept { return lanes_; }

    /// Gives this warp's value, returns that of warp `lane % lanes()`.
    template <class Value>
    [[nodiscard]] constexpr auto swap(k_t& k, const Value& mine) {
        const auto to = slots_ + k.add(half_, seat_.warp);
        k.at(first_lane_).st(to, mine);
        k.bar_sync();
        const auto from = slots_ + k.add(half_, slot_);
        const auto theirs = k.ld(from);
        half_ ^= 32u;
        return theirs;
    }
    /// `v` where a warp has given it, else `neutral`.
    [[nodiscard]] constexpr floats or_neutral(k_t& k, const floats& v, float neutral) const {
        return lanes_ == warps_ ? v : floats(k.selp(v, neutral, filled_));
    }

private:
    u32 warps_, lanes_ = 1;
    seat seat_;
    px::shared_ptr<Unit, 16> slots_;
    words half_, slot_;
    px::reg<px::pred> first_lane_, filled_;
};

}  // namespace rows
