// SPDX-License-Identifier: Apache-2.0
// Accesses of up to 16 bytes in f32, bf16, f16 and fp8, and those of one thread to its row.
#pragma once

#include <ptxdsl/kernels/rows/plan.hpp>

#include <memory>
#include <type_traits>

namespace ptxdsl::kernels::detail {

using k_t = builder<sm_90a>;
using regf32 = reg<f32>;
using reg32 = reg<u32>;

/// Makes `name` stand for register `r`, or for the registers of `r`. (Assigning to a handle emits a mov into its own.)
template <class T>
constexpr void rebind(T& name, const std::type_identity_t<T>& r) {
    std::construct_at(&name, r);
}

/// Values of one thread, access by access.
struct values {
    u32 count = 0;
    regf32 v[row_values];
    constexpr regf32& operator[](u32 i) noexcept { return v[i]; }
    constexpr const regf32& operator[](u32 i) const noexcept { return v[i]; }
};

// ---- one access -----------------------------------------------------------------------------------------------------

/// `Width` values of type `T` as one access: `unit` is the pointer's element, `raw` what a load leaves in registers.
template <class T, u32 Width>
struct row_access;

template <u32 Width>
struct row_access<f32, Width> {
    using unit = packet<f32, Width>;
    using raw = vec<f32, Width>;
    static constexpr void expand(k_t&, const raw& r, regf32* v) {
        for (u32 i = 0; i < Width; ++i) rebind(v[i], r[i]);
    }
    static constexpr raw pack(k_t&, const regf32* v) {
        if constexpr (Width == 4)
            return raw(v[0], v[1], v[2], v[3]);
        else
            return raw(v[0], v[1]);
    }
};
template <>
struct row_access<f32, 1> {
    using unit = f32;
    using raw = regf32;
    static constexpr void expand(k_t&, const raw& r, regf32* v) { rebind(v[0], r); }
    static constexpr raw pack(k_t&, const regf32* v) { return v[0]; }
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
    static constexpr void expand(k_t& k, const raw& r, regf32* v) {
        for (u32 i = 0; i < pairs; ++i) expand_pair(k, r[i], v + 2 * i);
    }
    static constexpr raw pack(k_t& k, const regf32* v) {
        reg<pair> w[pairs];
        for (u32 i = 0; i < pairs; ++i) w[i] = pack_pair(k, v + 2 * i);
        if constexpr (pairs == 4)
            return raw(w[0], w[1], w[2], w[3]);
        else
            return raw(w[0], w[1]);
    }
    static constexpr void expand_pair(k_t& k, const reg<pair>& r, regf32* v) {
        const auto halves = k.mov_unpack(r);
        for (u32 i = 0; i < 2; ++i) rebind(v[i], regf32(k.cvt<f32>(halves[i])));
    }
    static constexpr reg<pair> pack_pair(k_t& k, const regf32* v) { return k.cvt<pair, rn>(hi(v[1]), lo(v[0])); }
};
template <class T>
    requires(sizeof(T) == 2)
struct row_access<T, 2> {
    using unit = pair_of<T>;
    using raw = reg<unit>;
    using pairs = row_access<T, 4>;
    static constexpr void expand(k_t& k, const raw& r, regf32* v) { pairs::expand_pair(k, r, v); }
    static constexpr raw pack(k_t& k, const regf32* v) { return pairs::pack_pair(k, v); }
};
template <class T>
    requires(sizeof(T) == 2)
struct row_access<T, 1> {
    using unit = T;
    using raw = reg<T>;
    static constexpr void expand(k_t& k, const raw& r, regf32* v) { rebind(v[0], regf32(k.cvt<f32>(r))); }
    static constexpr raw pack(k_t& k, const regf32* v) { return k.cvt<T, rn>(v[0]); }
};
/// fp8 results, four to a word.
template <class T, u32 Width>
    requires(sizeof(T) == 1)
struct row_access<T, Width> {
    using two = std::conditional_t<std::is_same_v<T, e5m2>, e5m2x2, e4m3x2>;
    using unit = std::conditional_t<Width == 8, packet<u32, 2>, std::conditional_t<Width == 4, u32, u16>>;
    static constexpr reg<two> pair(k_t& k, const regf32& low, const regf32& high) {
        return k.cvt<two, rn, satfinite>(hi(high), lo(low));
    }
    static constexpr reg32 word(k_t& k, const regf32* v) {
        const auto low = pair(k, v[0], v[1]);
        const auto high = pair(k, v[2], v[3]);
        return k.mov_pack<u32>(low, high);
    }
    static constexpr auto pack(k_t& k, const regf32* v) {
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
    static constexpr reg<u8> pack(k_t& k, const regf32* v) {
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
    reg32 first;
    reg32 last;    ///< not `exact`: the last position, moved to `first` (or the row's end) when outside
    reg<pred> in;  ///< and whether it was inside
    [[nodiscard]] constexpr bool may_be_outside(u32 j) const noexcept { return !exact && j + 1 == count; }
};

[[nodiscard]] constexpr positions partition(k_t& k, const row_plan& c, u32 count, bool exact, const reg32& first,
                                            const reg32& units) {
    positions p{
        .count = count, .stride = c.stride(), .width = c.width, .exact = exact, .first = first, .last = {}, .in = {}};
    if (exact) return p;
    const auto wanted = count == 1 ? first : reg32(k.add(first, (count - 1) * c.stride()));
    p.in = wanted < units;
    p.last = k.selp(wanted, count == 1 ? reg32(k.mov<u32>(0)) : first, p.in);
    return p;
}

/// Accesses `from` to `from + count` of them.
[[nodiscard]] constexpr positions slice_of(k_t& k, const positions& p, u32 from, u32 count) {
    positions part = p;
    part.count = count, part.exact = p.exact || from + count < p.count;
    if (from != 0) rebind(part.first, reg32(k.add(p.first, from * p.stride)));
    return part;
}

/// Access `j` of the row at `row`; `mine` is that of the thread's first access.
template <class Ptr>
[[nodiscard]] constexpr Ptr access_at(const Ptr& row, const Ptr& mine, const positions& p, u32 j) {
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
            raw[j] = k.ld(p.count == 1 ? mine : access_at<std::remove_cv_t<decltype(mine)>>(start, mine, p, j));
        for (u32 j = 0; j < p.count; ++j) {
            access::expand(k, raw[j], out.v + j * W);
            if (!p.may_be_outside(j)) continue;
            for (u32 e = 0; e < W; ++e) rebind(out.v[j * W + e], regf32(k.selp(out.v[j * W + e], neutral, p.in)));
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
            const auto to = p.count == 1 ? mine : access_at<std::remove_cv_t<decltype(mine)>>(start, mine, p, j);
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
            const auto from = p.count == 1 ? mine : access_at<std::remove_cv_t<decltype(mine)>>(start, mine, p, j);
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
            reg32& zero = zero_[pass - 1];
            if (!zero.bound()) rebind(zero, pass == 1 ? reg32(k.mov(ctaid.y)) : reg32(k.mov(ctaid.z)));
            const auto same = [&](const reg<pair>& w) {
                return k.xor_(w.template as<u32>(), zero).template as<pair>();
            };
            std::construct_at(&r, same(raw_[j][0]), same(raw_[j][1]), same(raw_[j][2]), same(raw_[j][3]));
        }
        values v{.count = width, .v = {}};
        access::expand(k, r, v.v);
        for (u32 e = 0; e < width && p.may_be_outside(0); ++e) rebind(v.v[e], regf32(k.selp(v.v[e], neutral, p.in)));
        return v;
    }

private:
    typename access::raw raw_[held_values / width];
    reg32 zero_[2];
};
/// What is never held.
template <>
class held_row<f32> {
public:
    constexpr void load(k_t&, const global_ptr<const f32>&, const positions&) {}
    constexpr values get(k_t&, u32, const positions&, float, u32) { return {}; }
};

}  // namespace ptxdsl::kernels::detail
