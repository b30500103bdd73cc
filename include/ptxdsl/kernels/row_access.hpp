// SPDX-License-Identifier: Apache-2.0
// What kernels over the rows of a matrix share: how a row is spread over threads, accesses of up to 16 bytes in f32,
// bf16 and f16, and reductions over a warp, a block and a cluster.
//
//   a warp      rows of up to 32 x 32 values; four rows a block
//   a block     up to 32 Ki values: each thread keeps at most 32 in registers, memory is read once
//   a cluster   2, 4 or 8 blocks, up to 256 Ki values, the same
//   reread      longer rows: a cluster of 8 reads the row again for each pass, mostly from L2
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <compare>
#include <memory>
#include <numbers>
#include <type_traits>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels {

/// As far ahead as blocks ask L2 for input, in bytes: somewhat less than what the loads of a full H200 have under way,
/// 132 x 2048 threads x 32 bytes. docs/kernels/rows.md says why.
inline constexpr u32 l2_reach = 6u << 20;
/// Norms of up to so many bytes of input ask for less, and leave their results in L2.
inline constexpr std::uint64_t small_input = 64u << 20;
inline constexpr u32 small_reach = 4u << 20;
/// `reach` in rows, or blocks, of `bytes` each.
[[nodiscard]] constexpr u32 reach_in(std::uint64_t bytes, u32 reach = l2_reach) noexcept {
    return bytes == 0 || bytes >= reach ? 1 : static_cast<u32>(reach / bytes);
}

/// How a row is spread over threads: constants of the kernel.
struct row_plan {
    u32 width = 1;        ///< values of one access; its bytes are 2 to 16
    u32 threads = 32;     ///< of a block that work on one row, a multiple of 32
    u32 together = 1;     ///< rows a block works on at once; more than one only with 32 threads a row
    u32 accesses = 1;     ///< of each thread to its row, all but the last inside it for every thread
    bool exact = false;   ///< the last one too
    u32 cluster = 1;      ///< blocks that share a row
    bool held = false;    ///< 16-bit values wait in registers as they came, two in each, and are widened for each pass
    bool reread = false;  ///< the row does not fit: `accesses` are those in flight, and each pass loads it again
    u32 resident = 0;     ///< blocks a multiprocessor should hold, 0: as ptxas decides
    bool evict_first = true;  ///< results leave L2 before other data does

    constexpr auto operator<=>(const row_plan&) const = default;
    [[nodiscard]] constexpr u32 block() const noexcept { return threads * together; }
    [[nodiscard]] constexpr u32 stride() const noexcept { return threads * cluster; }
    [[nodiscard]] constexpr attributes launch() const noexcept {
        return {.reqntid = {block()}, .minnctapersm = resident, .cluster = {cluster > 1 ? cluster : 0}};
    }
};

inline constexpr u32 row_values = 32;            ///< values a thread keeps in registers
inline constexpr u32 held_values = 64;           ///< and of 16 bits, if the plan is `held`
inline constexpr u32 row_accesses = 16;          ///< and the most accesses they come in
inline constexpr u32 most_row_units = 1u << 30;  ///< accesses of the longest row

/// The plan of `threads` and `cluster` for rows of `units` accesses.
[[nodiscard]] constexpr row_plan make_row_plan(u32 units, u32 width, u32 threads, u32 cluster = 1) noexcept {
    row_plan p{.width = width, .threads = threads, .cluster = cluster};
    p.accesses = (units + p.stride() - 1) / p.stride();
    p.exact = units % p.stride() == 0;
    return p;
}

/// Chooses the plan for rows of `units` accesses of `width` values. `first`: accesses a thread takes before more
/// threads do. `may_hold`: rows of 16-bit values that need more than a block may be `held`. docs/kernels/rows.md has
/// the measurements.
[[nodiscard]] constexpr row_plan plan_rows(u32 units, u32 width, u32 first = 2, u32 limit = 1024,
                                           bool may_hold = false) noexcept {
    const u32 most = row_values / width < row_accesses ? row_values / width : row_accesses;
    const auto up = [](u32 a, u32 b) { return a / b + (a % b != 0 ? 1u : 0u); };
    if (units <= 32 * (most < 8 ? most : 8)) {
        row_plan p = make_row_plan(units, width, 32);
        p.together = 4;
        return p;
    }
    const auto in_block = [&](u32 threads_limit) {
        for (u32 a = first < most ? first : most; a <= most; a *= 2) {
            const u32 threads = up(up(units, a), 32) * 32;
            if (threads <= threads_limit) return make_row_plan(units, width, threads);
        }
        return row_plan{.accesses = 0};
    };
    row_plan p = in_block(limit);
    if (p.accesses == 0 && limit < 512) p = in_block(512);
    if (p.accesses == 0) p = in_block(1024);
    // More than a block. Of held rows as few blocks as hold them, of 1024 threads; else clusters of 512 threads, two
    // blocks of which share a multiprocessor if they keep to 64 registers.
    for (u32 cluster = 1; may_hold && width == 8 && cluster <= 8 && p.accesses == 0; cluster *= 2) {
        const u32 a = up(units, 1024 * cluster);
        if (a > held_values / width) continue;
        p = make_row_plan(units, width, up(up(units, a * cluster), 32) * 32, cluster);
        p.held = true;
    }
    for (u32 cluster = 2; cluster <= 8 && p.accesses == 0; cluster *= 2) {
        for (u32 a = first < most ? first : most; a <= most && p.accesses == 0; a *= 2) {
            const u32 threads = up(up(units, a * cluster), 32) * 32;
            if (threads <= 512) p = make_row_plan(units, width, threads, cluster), p.resident = 2;
        }
    }
    if (p.accesses == 0 && up(units, 8 * most) <= 1024)
        p = make_row_plan(units, width, up(up(units, 8 * most), 32) * 32, 8);
    // Left alone, ptxas takes 40 registers and more, and a third block does not fit.
    if (limit > 512 && p.threads > 256 && p.threads <= 512 && p.accesses * width == row_values / 2) p.resident = 3;
    if (p.accesses != 0) return p;
    return {.width = width,
            .threads = limit < 512 ? 512 : limit,
            .accesses = row_values / 2 / width < 4 ? row_values / 2 / width : 4,
            .cluster = 8,
            .reread = true};
}

/// The `limit` for layer norms of `width` values an access: their weights and biases want registers too.
[[nodiscard]] constexpr u32 layer_norm_threads(u32 width) noexcept { return width == 8 ? 256 : 512; }

namespace detail {

using k_t = builder<sm_90a>;
using floats = reg<f32>;
using words = reg<u32>;

/// Makes `name` stand for register `r`. (Assigning to a handle that has a register emits a mov into it.)
template <class T>
constexpr void point(reg<T>& name, const reg<T>& r) {
    std::construct_at(&name, r);
}

/// Values of one thread, access by access.
struct values {
    u32 count = 0;
    floats v[row_values];
    constexpr floats& operator[](u32 i) noexcept { return v[i]; }
    constexpr const floats& operator[](u32 i) const noexcept { return v[i]; }
};

// ---- one access -----------------------------------------------------------------------------------------------------

/// `Width` values of type `T` as one access: `unit` is the pointer's element, `raw` what a load leaves in registers.
template <class T, u32 Width>
struct row_access;

template <u32 Width>
struct row_access<f32, Width> {
    using unit = packet<f32, Width>;
    using raw = vec<f32, Width>;
    static constexpr void expand(k_t&, const raw& r, floats* v) {
        for (u32 i = 0; i < Width; ++i) point(v[i], r[i]);
    }
    static constexpr raw pack(k_t&, const floats* v) {
        if constexpr (Width == 4)
            return raw(v[0], v[1], v[2], v[3]);
        else
            return raw(v[0], v[1]);
    }
};
template <>
struct row_access<f32, 1> {
    using unit = f32;
    using raw = floats;
    static constexpr void expand(k_t&, const raw& r, floats* v) { point(v[0], r); }
    static constexpr raw pack(k_t&, const floats* v) { return v[0]; }
};
template <class T>
using pair_of = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;

/// bf16 and f16, in pairs.
template <class T, u32 Width>
struct row_access {
    using pair = pair_of<T>;
    static constexpr u32 pairs = Width / 2;
    using unit = packet<pair, pairs>;
    using raw = vec<pair, pairs>;
    static constexpr void expand(k_t& k, const raw& r, floats* v) {
        for (u32 i = 0; i < pairs; ++i) expand_pair(k, r[i], v + 2 * i);
    }
    static constexpr raw pack(k_t& k, const floats* v) {
        reg<pair> w[pairs];
        for (u32 i = 0; i < pairs; ++i) w[i] = pack_pair(k, v + 2 * i);
        if constexpr (pairs == 4)
            return raw(w[0], w[1], w[2], w[3]);
        else
            return raw(w[0], w[1]);
    }
    static constexpr void expand_pair(k_t& k, const reg<pair>& r, floats* v) {
        const auto halves = k.mov_unpack(r);
        for (u32 i = 0; i < 2; ++i) point(v[i], floats(k.cvt<f32>(halves[i])));
    }
    static constexpr reg<pair> pack_pair(k_t& k, const floats* v) { return k.cvt<pair, rn>(hi(v[1]), lo(v[0])); }
};
template <class T>
    requires(sizeof(T) == 2)
struct row_access<T, 2> {
    using unit = pair_of<T>;
    using raw = reg<unit>;
    using pairs = row_access<T, 4>;
    static constexpr void expand(k_t& k, const raw& r, floats* v) { pairs::expand_pair(k, r, v); }
    static constexpr raw pack(k_t& k, const floats* v) { return pairs::pack_pair(k, v); }
};
template <class T>
    requires(sizeof(T) == 2)
struct row_access<T, 1> {
    using unit = T;
    using raw = reg<T>;
    static constexpr void expand(k_t& k, const raw& r, floats* v) { point(v[0], floats(k.cvt<f32>(r))); }
    static constexpr raw pack(k_t& k, const floats* v) { return k.cvt<T, rn>(v[0]); }
};
/// fp8 results, four to a word.
template <class T, u32 Width>
    requires(sizeof(T) == 1)
struct row_access<T, Width> {
    using two = std::conditional_t<std::is_same_v<T, e5m2>, e5m2x2, e4m3x2>;
    using unit = std::conditional_t<Width == 8, packet<u32, 2>, std::conditional_t<Width == 4, u32, u16>>;
    static constexpr reg<two> pair(k_t& k, const floats& low, const floats& high) {
        return k.cvt<two, rn, satfinite>(hi(high), lo(low));
    }
    static constexpr words word(k_t& k, const floats* v) {
        const auto low = pair(k, v[0], v[1]);
        const auto high = pair(k, v[2], v[3]);
        return k.mov_pack<u32>(low, high);
    }
    static constexpr auto pack(k_t& k, const floats* v) {
        if constexpr (Width == 8) {
            const auto low = word(k, v);
            const auto high = word(k, v + 4);
            return vec<u32, 2>(low, high);
        } else if constexpr (Width == 4) {
            return word(k, v);
        } else {
            return k.mov_b16<u16>(pair(k, v[0], v[1]));
        }
    }
};
template <class T>
    requires(sizeof(T) == 1)
struct row_access<T, 1> {
    using unit = u8;
    static constexpr reg<u8> pack(k_t& k, const floats* v) {
        const auto zero = k.mov<f32>(0.0f);
        return k.cvt<u8>(k.mov_b16<u16>(row_access<T, 2>::pair(k, v[0], zero)));
    }
};

/// Calls `f.template operator()<Width>()` for a width that is a number at run time.
template <class T, class F>
constexpr auto with_width(u32 width, F&& f) {
    constexpr u32 most = 16 / (sizeof(T) == 1 ? 2 : sizeof(T));
    if constexpr (most >= 8)
        if (width == 8) return f.template operator()<8>();
    if (width == 4) return f.template operator()<4>();
    if (width == 2) return f.template operator()<2>();
    return f.template operator()<1>();
}

// ---- the accesses of a thread ---------------------------------------------------------------------------------------

/// Positions in the row that a thread accesses together: `first`, `first + stride` …; the last may be outside.
struct positions {
    u32 count = 0, stride = 0, width = 1;
    bool exact = true;
    words first;
    words last;    ///< not `exact`: the last position, moved to `first` (or the row's end) when outside
    reg<pred> in;  ///< and whether it was inside
    [[nodiscard]] constexpr bool may_be_outside(u32 j) const noexcept { return !exact && j + 1 == count; }
};

[[nodiscard]] constexpr positions spread(k_t& k, const row_plan& c, u32 count, bool exact, const words& first,
                                         const words& units) {
    positions p{
        .count = count, .stride = c.stride(), .width = c.width, .exact = exact, .first = first, .last = {}, .in = {}};
    if (exact) return p;
    const auto wanted = count == 1 ? first : words(k.add(first, (count - 1) * c.stride()));
    p.in = wanted < units;
    p.last = k.selp(wanted, count == 1 ? words(k.mov<u32>(0)) : first, p.in);
    return p;
}

/// Accesses `from` to `from + count` of them.
[[nodiscard]] constexpr positions part_of(k_t& k, const positions& p, u32 from, u32 count) {
    positions part = p;
    part.count = count, part.exact = p.exact || from + count < p.count;
    if (from != 0) point(part.first, words(k.add(p.first, from * p.stride)));
    return part;
}

/// Access `j` of the row at `row`; `mine` is that of the thread's first access.
template <class Ptr>
[[nodiscard]] constexpr Ptr place_of(const Ptr& row, const Ptr& mine, const positions& p, u32 j) {
    return p.may_be_outside(j) ? Ptr(row + p.last) : Ptr(mine + static_cast<int>(j * p.stride));
}

/// Loads what `p` says, all accesses before the first use; `neutral` where the row has ended.
///
/// Plain loads, not `.nc`: the grid before this one may still write what is read, and ptxas moves loads through the
/// read-only path in front of `griddepcontrol.wait` (PTX ISA 9.7.9.9: read-only for the duration of the kernel). And
/// not `.L1::no_allocate`, which makes the lines the first to leave L2 as well: docs/kernels/rows.md.
template <class T>
[[nodiscard]] constexpr values load_row(k_t& k, const global_ptr<const T>& row, const positions& p, float neutral) {
    values out{.count = p.count * p.width, .v = {}};
    with_width<T>(p.width, [&]<u32 W>() {
        using access = row_access<T, W>;
        const auto start = row.template as<typename access::unit>().template assume_aligned<W * sizeof(T)>();
        const auto mine = p.count > 1 || p.exact ? start + p.first : start + p.last;
        typename access::raw raw[row_values / W < row_accesses ? row_values / W : row_accesses];
        for (u32 j = 0; j < p.count; ++j)
            raw[j] = k.ld(p.count == 1 ? mine : place_of<std::remove_cv_t<decltype(mine)>>(start, mine, p, j));
        for (u32 j = 0; j < p.count; ++j) {
            access::expand(k, raw[j], out.v + j * W);
            if (!p.may_be_outside(j)) continue;
            for (u32 e = 0; e < W; ++e) point(out.v[j * W + e], floats(k.selp(out.v[j * W + e], neutral, p.in)));
        }
    });
    return out;
}

template <class T, tok... M>
constexpr void store_row(k_t& k, const global_ptr<T>& row, const positions& p, const values& v) {
    with_width<T>(p.width, [&]<u32 W>() {
        using access = row_access<T, W>;
        const auto start = row.template as<typename access::unit>().template assume_aligned<W * sizeof(T)>();
        const auto mine = p.count > 1 || p.exact ? start + p.first : start + p.last;
        for (u32 j = 0; j < p.count; ++j) {
            const auto packed = access::pack(k, v.v + j * W);
            const auto to = p.count == 1 ? mine : place_of<std::remove_cv_t<decltype(mine)>>(start, mine, p, j);
            if (p.may_be_outside(j))
                k.at(p.in).template st<M...>(to, packed);
            else
                k.template st<M...>(to, packed);
        }
    });
}

/// Stores with or without the hint that the lines may leave L2 first. `read_again`: this kernel needs them once more.
template <class T>
constexpr void store_result(k_t& k, const row_plan& c, const global_ptr<T>& row, const positions& p, const values& v,
                            bool read_again = false) {
    if (c.evict_first && !read_again)
        store_row<T, cs>(k, row, p, v);
    else
        store_row<T>(k, row, p, v);
}

/// The values as they are after a store as `T` and a load.
template <class T>
constexpr void round_to(k_t& k, values& v) {
    if constexpr (sizeof(T) == 2) {
        using access = row_access<T, 2>;
        for (u32 i = 0; i + 1 < v.count; i += 2) access::expand(k, access::pack(k, v.v + i), v.v + i);
        if (v.count % 2 != 0)
            row_access<T, 1>::expand(k, row_access<T, 1>::pack(k, v.v + v.count - 1), v.v + v.count - 1);
    }
}

/// The accesses of a thread to a row of 16-bit values, as they came from memory: half the registers of `values`.
template <class T>
class held_row {
public:
    static constexpr u32 width = 8;
    using access = row_access<T, width>;
    /// Loads all of them, before the first use.
    constexpr void load(k_t& k, const global_ptr<const T>& row, const positions& p) {
        const auto start = row.template as<typename access::unit>().template assume_aligned<16>();
        const auto mine = p.count > 1 || p.exact ? start + p.first : start + p.last;
        for (u32 j = 0; j < p.count; ++j) {
            const auto from = p.count == 1 ? mine : place_of<std::remove_cv_t<decltype(mine)>>(start, mine, p, j);
            std::construct_at(&raw_[j], k.ld(from));
        }
    }
    /// Access `j`, which `p` describes, as f32; `neutral` where the row has ended. `pass`: how often it has been
    /// widened before. ptxas would keep the results of the first time, and spill; it cannot where they may be others,
    /// and nobody tells it that `ctaid.y` and `ctaid.z` are 0.
    [[nodiscard]] constexpr values get(k_t& k, u32 j, const positions& p, float neutral, u32 pass) {
        using pair = typename access::pair;
        typename access::raw r = raw_[j];
        if (pass != 0) {
            words& zero = zero_[pass - 1];
            if (!zero.bound()) point(zero, pass == 1 ? words(k.mov(ctaid.y)) : words(k.mov(ctaid.z)));
            const auto same = [&](const reg<pair>& w) {
                return k.xor_(w.template as<u32>(), zero).template as<pair>();
            };
            std::construct_at(&r, same(raw_[j][0]), same(raw_[j][1]), same(raw_[j][2]), same(raw_[j][3]));
        }
        values v{.count = width, .v = {}};
        access::expand(k, r, v.v);
        for (u32 e = 0; e < width && p.may_be_outside(0); ++e) point(v.v[e], floats(k.selp(v.v[e], neutral, p.in)));
        return v;
    }

private:
    typename access::raw raw_[held_values / width];
    words zero_[2];
};
/// What is never held.
template <>
class held_row<f32> {
public:
    constexpr void load(k_t&, const global_ptr<const f32>&, const positions&) {}
    constexpr values get(k_t&, u32, const positions&, float, u32) { return {}; }
};

// ---- sums and maxima of one thread, in four chains so that no operation waits for the one before it
// -------------------

template <class Step>
[[nodiscard]] constexpr floats in_chains(const values& v, Step&& step) {
    floats chain[4];
    for (u32 i = 0; i < v.count; ++i) point(chain[i % 4], step(chain[i % 4], v[i]));
    floats all = chain[0];
    for (u32 i = 1; i < 4 && chain[i].bound(); ++i) point(all, step.join(all, chain[i]));
    return all;
}
struct sum_step {
    k_t& k;
    constexpr floats operator()(const floats& sum, const floats& x) const {
        return sum.bound() ? floats(k.add<rn>(sum, x)) : x;
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.add<rn>(a, b); }
};
struct square_step {
    k_t& k;
    constexpr floats operator()(const floats& sum, const floats& x) const {
        return sum.bound() ? floats(k.fma<rn>(x, x, sum)) : floats(k.mul<rn>(x, x));
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.add<rn>(a, b); }
};
struct max_step {
    k_t& k;
    constexpr floats operator()(const floats& m, const floats& x) const { return m.bound() ? floats(k.max(m, x)) : x; }
    constexpr floats join(const floats& a, const floats& b) const { return k.max(a, b); }
};
struct abs_step {
    k_t& k;
    constexpr floats operator()(const floats& m, const floats& x) const {
        const auto a = k.abs(x);
        return m.bound() ? floats(k.max(m, a)) : floats(a);
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.max(a, b); }
};

// ---- reductions over threads ----------------------------------------------------------------------------------------

/// Combines `v` over `lanes` neighbouring lanes, a power of two; every lane gets the result.
template <class Combine>
[[nodiscard]] constexpr floats over_lanes(k_t& k, const floats& v, u32 lanes, Combine&& combine) {
    floats result = v;
    for (u32 step = lanes / 2; step > 0; step /= 2) {
        const auto other = k.shfl_sync_bfly(result, step, 31u, full_mask);
        point(result, floats(combine(result, other)));
    }
    return result;
}
[[nodiscard]] constexpr floats max_over(k_t& k, const floats& m, u32 lanes = 32) {
    return over_lanes(k, m, lanes, [&](const floats& a, const floats& b) { return k.max(a, b); });
}
[[nodiscard]] constexpr floats sum_over(k_t& k, const floats& s, u32 lanes = 32) {
    return over_lanes(k, s, lanes, [&](const floats& a, const floats& b) { return k.add<rn>(a, b); });
}

/// A maximum, and a sum of exponentials relative to it; or only one of them.
struct partial {
    floats max, sum;
};

/// Where a thread stands, and how it sees the other warps and blocks of its row.
class row_seat {
public:
    words thread;  ///< among those of its row
    words row;
    words lane, warp;

    constexpr row_seat(k_t& k, const row_plan& c) : c_(c) {
        const auto tid = k.mov(ptxdsl::tid.x).named("tid");
        lane = k.and_(tid, 31u).named("lane");
        warp = k.shr(tid, 5u).named("warp");
        const auto block = k.mov(ctaid.x);
        if (c.together > 1) {
            thread = lane, row = k.mad_lo(block, c.together, warp);
        } else if (c.cluster > 1) {
            rank_ = k.mov(cluster_ctarank).named("rank");
            thread = k.mad_lo(rank_, c.threads, tid);
            row = k.mov(clusterid.x);
            k.barrier_cluster_arrive();  // the others may write here once this block is known to run
        } else {
            thread = tid, row = block;
        }
        row.named("row");
    }
    /// Runs `body` if the row exists: a block of several rows may have some too many.
    template <class Body>
    constexpr void if_inside(k_t& k, const words& rows, Body&& body) const {
        if (c_.together > 1)
            k.if_(row < rows, body);
        else
            body();
    }
    /// One thread of the row.
    [[nodiscard]] constexpr reg<pred> leads() const { return thread == 0u; }

    /// From the value of each warp (in all of its lanes) to that of the row. `combine(value, lanes)` combines over
    /// lanes; `neutral` is what does not change it.
    template <class Combine>
    [[nodiscard]] constexpr floats over_row(k_t& k, const floats& of_warp, float neutral, Combine&& combine) {
        if (c_.threads == 32 && c_.cluster == 1) return of_warp;
        floats of_block = of_warp;
        if (c_.threads > 32) {
            const auto slots = k.smem_array<f32>(32, "warps");
            k.at(lane == 0u).st(slots + warp, of_warp);
            k.bar_sync();
            const auto [lanes, slot] = slot_of(k);
            const auto theirs = k.ld(slots + slot);
            const auto value = lanes == warps() ? floats(theirs) : floats(k.selp(theirs, neutral, slot < warps()));
            point(of_block, floats(combine(value, lanes)));
        }
        if (c_.cluster == 1) return of_block;
        const auto slots = k.smem_array<f32>(8, "blocks");
        send(k, slots, [&](const auto& to) { k.at(lane < c_.cluster && warp == 0u).st(to, of_block); });
        const auto theirs = k.ld(slots + k.and_(lane, c_.cluster - 1));
        return combine(theirs, c_.cluster);
    }
    /// The same for two values that go together.
    template <class Combine>
    [[nodiscard]] constexpr partial pair_over_row(k_t& k, const partial& of_warp, const float (&neutral)[2],
                                                  Combine&& combine) {
        if (c_.threads == 32 && c_.cluster == 1) return of_warp;
        using two = packet<f32, 2>;
        partial of_block = of_warp;
        if (c_.threads > 32) {
            const auto slots = k.smem_array<two>(32, "warps");
            k.at(lane == 0u).st(slots + warp, vec<f32, 2>(of_warp.max, of_warp.sum));
            k.bar_sync();
            const auto [lanes, slot] = slot_of(k);
            const auto theirs = k.ld(slots + slot);
            partial p{theirs[0], theirs[1]};
            if (lanes != warps()) {
                const auto filled = slot < warps();
                p = {floats(k.selp(theirs[0], neutral[0], filled)), floats(k.selp(theirs[1], neutral[1], filled))};
            }
            const partial c = combine(p, lanes);
            point(of_block.max, c.max), point(of_block.sum, c.sum);
        }
        if (c_.cluster == 1) return of_block;
        const auto slots = k.smem_array<two>(8, "blocks");
        send(k, slots, [&](const auto& to) {
            k.at(lane < c_.cluster && warp == 0u).st(to, vec<f32, 2>(of_block.max, of_block.sum));
        });
        const auto theirs = k.ld(slots + k.and_(lane, c_.cluster - 1));
        return combine(partial{theirs[0], theirs[1]}, c_.cluster);
    }

private:
    [[nodiscard]] constexpr u32 warps() const noexcept { return c_.threads / 32; }
    struct warp_slot {
        u32 lanes;
        words slot;
    };
    /// Lanes that have to combine, a power of two, and the warp whose value this lane takes.
    constexpr warp_slot slot_of(k_t& k) const {
        u32 lanes = 1;
        while (lanes < warps()) lanes *= 2;
        return {lanes, lanes == 32 ? lane : words(k.and_(lane, lanes - 1))};
    }
    /// Lane i writes to the slot of this block in block i of the cluster; afterwards all have been written.
    template <class Slots, class Write>
    constexpr void send(k_t& k, const Slots& slots, Write&& write) {
        if (!started_) k.barrier_cluster_wait();
        started_ = true;
        write(k.mapa(slots + rank_, k.min(lane, c_.cluster - 1)));
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
    row_plan c_;
    words rank_;
    bool started_ = false;
};

/// Runs `body(positions, j)` on the accesses of a row that is worked on in passes: of one that does not fit in
/// registers `c.accesses` of each thread at a time, of one that is held access `j` of `all`.
template <class Body>
constexpr void for_row(k_t& k, const row_plan& c, const positions& all, const words& thread, const words& units,
                       Body&& whole_body) {
    if (c.held) {
        for (u32 j = 0; j < all.count; ++j) whole_body(part_of(k, all, j, 1), j);
        return;
    }
    const auto body = [&](const positions& p) { whole_body(p, 0); };
    const u32 at_once = c.stride() * c.accesses;
    const auto whole = k.mul_lo(k.div(units, at_once), at_once);
    k.for_(k.mov<u32>(0), whole, at_once,
           [&](const words& base) { body(spread(k, c, c.accesses, true, k.add(base, thread), units)); });
    k.for_(whole, units, c.stride(),
           [&](const words& base) { body(spread(k, c, 1, false, k.add(base, thread), units)); });
}

/// The passes over a row that is held, or loaded again for each.
template <class T>
class row_passes {
public:
    constexpr row_passes(k_t& k, const row_plan& c, const global_ptr<const T>& x, const words& thread,
                         const words& units, float neutral)
        : c_(c), x_(x), thread_(thread), units_(units), neutral_(neutral) {
        if (!c_.held) return;
        all_ = spread(k, c_, c_.accesses, c_.exact, thread_, units_);
        held_.load(k, x_, all_);
    }
    /// One pass: `body(positions, values)`; `load(positions)` gives the values where none are held.
    template <class Load, class Body>
    constexpr void next(k_t& k, const Load& load, Body&& body) {
        for_row(k, c_, all_, thread_, units_, [&](const positions& p, u32 j) {
            values v = c_.held ? held_.get(k, j, p, neutral_, passes_) : load(p);
            body(p, v);
        });
        ++passes_;
    }
    template <class Body>
    constexpr void next(k_t& k, Body&& body) {
        next(k, [&](const positions& p) { return load_row<T>(k, x_, p, neutral_); }, body);
    }

private:
    row_plan c_;
    global_ptr<const T> x_;
    words thread_, units_;
    float neutral_;
    held_row<T> held_;
    positions all_;  ///< what is held
    u32 passes_ = 0;
};

}  // namespace detail

}  // namespace ptxdsl::kernels

#pragma pop_macro("max")
#pragma pop_macro("min")
