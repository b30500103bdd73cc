// SPDX-License-Identifier: Apache-2.0
// y = exp(x - max(x)) / sum(exp(x - max(x))), row by row; f32 or bf16 in memory, f32 in registers.
//
// Maximum and sum are found together: a thread sums relative to its warp's (or its own) maximum, and sums are rescaled
// when they meet a larger one, so no element is read twice. Maxima start at the smallest finite float, not at -inf:
// a masked (-inf) element is then e^-inf = 0 also where everything so far was masked.
//
// As with torch, a row of nothing but -inf is NaN (0 times 1/0), and so is a row with a NaN or +inf in it.
#pragma once

#include "../tools/util/rows.hpp"

#include <limits>
#include <optional>

namespace softmax {

using namespace rows;

inline constexpr float lowest = -3.402823466e38f;
inline constexpr float log2_e = 1.442695041f;

/// e^(x - m). The difference comes first: x * log2(e) may overflow, and loses bits where x is large.
[[nodiscard]] constexpr floats exp_below(k_t& k, const floats& x, const floats& m) {
    const auto below = k.sub<px::rn>(x, m);
    return k.ex2<px::approx>(k.mul<px::rn>(below, log2_e));
}

/// The largest of `count` accesses and `start`. max ignores NaN: the sum will have it.
template <u32 Width>
[[nodiscard]] constexpr floats largest(k_t& k, const many<Width>& v, u32 count, const floats& start) {
    std::array<floats, 4> chain;
    for (u32 i = 0; i < count * Width; ++i) {
        const floats& x = v[i / Width][i % Width];
        floats& m = chain[i % 4];
        point(m, m.bound() ? floats(k.max(m, x)) : x);
    }
    floats m = start;
    for (u32 i = 0; i < 4 && chain[i].bound(); ++i) point(m, k.max(m, chain[i]));
    return m;
}

/// e^(v - m) for every element, and the sum of them.
template <u32 Width>
struct exponentials {
    many<Width> e;
    floats sum;
};
template <u32 Width>
[[nodiscard]] constexpr exponentials<Width> exponentiate(k_t& k, const many<Width>& v, u32 count, const floats& m) {
    exponentials<Width> out;
    std::array<floats, 4> chain;
    for (u32 i = 0; i < count * Width; ++i) {
        const auto e = exp_below(k, v[i / Width][i % Width], m);
        out.e[i / Width][i % Width] = e;
        floats& sum = chain[i % 4];
        point(sum, sum.bound() ? k.add<px::rn>(sum, e) : e);
    }
    out.sum = chain[0];
    for (u32 i = 1; i < 4 && chain[i].bound(); ++i) point(out.sum, k.add<px::rn>(out.sum, chain[i]));
    return out;
}

template <u32 Width>
[[nodiscard]] constexpr many<Width> times(k_t& k, const many<Width>& v, u32 count, const floats& factor) {
    many<Width> out;
    for (u32 i = 0; i < count * Width; ++i) out[i / Width][i % Width] = k.mul<px::rn>(v[i / Width][i % Width], factor);
    return out;
}

/// A maximum, and a sum of exponentials relative to it.
struct partial {
    floats max, sum;
};
using swap_unit = px::packet<f32, 2>;

[[nodiscard]] constexpr floats warp_max(k_t& k, const floats& m, u32 lanes = 32) {
    return over_warp(k, m, lanes, [&](const floats& a, const floats& b) { return k.max(a, b); });
}
[[nodiscard]] constexpr floats warp_sum(k_t& k, const floats& s, u32 lanes = 32) {
    return over_warp(k, s, lanes, [&](const floats& a, const floats& b) { return k.add<px::rn>(a, b); });
}

/// Maximum and sum of the row, from those of each warp.
[[nodiscard]] constexpr partial over_row(k_t& k, exchange<swap_unit>* warps, const partial& of_warp) {
    if (warps == nullptr) return of_warp;
    const auto theirs = warps->swap(k, px::vec<f32, 2>(of_warp.max, of_warp.sum));
    const auto max = warps->or_neutral(k, theirs[0], lowest);
    const auto sum = warps->or_neutral(k, theirs[1], 0.0f);
    const auto row_max = warp_max(k, max, warps->lanes());
    return {row_max, warp_sum(k, k.mul<px::rn>(sum, exp_below(k, max, row_max)), warps->lanes())};
}

/// What stays the same from row to row.
template <class T, u32 Width>
struct operands {
    plan c;
    input_units<T, Width> x;
    output_units<T, Width> y;
    words units;
    seat me;
    exchange<swap_unit>* warps;
};

/// A row that stays in registers.
template <class T, u32 Width>
constexpr void rows_in_registers(k_t& k, const operands<T, Width>& o, const words& row_count) {
    const auto p = spread(k, o.c, o.me.thread, o.units);
    const auto start = k.mov<f32>(lowest).named("lowest");
    k.for_(o.me.row, row_count, o.me.step, [&](const words& row) {
        const auto at = k.mul_wide(row, o.units).named("at");
        const auto raw = load<T, Width, px::nc, px::L1::no_allocate>(k, o.x + at, p);
        const auto v = expand<T, Width>(k, raw, p, -std::numeric_limits<float>::infinity());
        const auto m = warp_max(k, largest<Width>(k, v, p.count, start));
        const auto exp = exponentiate<Width>(k, v, p.count, m);
        const auto row_total = over_row(k, o.warps, {m, warp_sum(k, exp.sum)});
        const auto inverse = k.rcp<px::approx>(row_total.sum);
        const auto factor = o.warps != nullptr ? k.mul<px::rn>(exp_below(k, m, row_total.max), inverse) : inverse;
        store<T, Width, px::cs>(k, o.y + at, p, times<Width>(k, exp.e, p.count, factor));
    });
}

/// First pass over a row that does not fit: a thread's own maximum and sum, rescaled as the maximum grows.
template <class T, u32 Width, class Keep>
[[nodiscard]] constexpr partial first_pass(k_t& k, const operands<T, Width>& o, const input_units<T, Width>& in,
                                           Keep&& keep_it) {
    auto max = k.mov<f32>(lowest).named("max");
    auto sum = k.mov<f32>(0.0f).named("sum");
    for_row(k, o.c, o.me.thread, o.units, [&](const positions& p) {
        const auto raw = load<T, Width, px::nc>(k, in, p);
        keep_it(p, raw);
        const auto v = expand<T, Width>(k, raw, p, -std::numeric_limits<float>::infinity());
        const auto higher = largest<Width>(k, v, p.count, max);
        const auto exp = exponentiate<Width>(k, v, p.count, higher);
        sum *= exp_below(k, max, higher);
        sum += exp.sum;
        max = higher;
    });
    const auto m = warp_max(k, max);
    return {m, warp_sum(k, k.mul<px::rn>(sum, exp_below(k, max, m)))};
}

/// A row that does not: two passes, the second one over shared memory where it fits there.
template <class T, u32 Width>
constexpr void rows_in_two_passes(k_t& k, const operands<T, Width>& o, const words& row_count) {
    using unit = typename element_access<T, Width>::unit;
    const bool shared = o.c.where == keep::shared;
    const px::shared_ptr<unit> kept = k.smem_array<unit>(shared ? o.c.units : 1, "row");
    k.for_(o.me.row, row_count, o.me.step, [&](const words& row) {
        const auto at = k.mul_wide(row, o.units).named("at");
        const input_units<T, Width> in = o.x + at;
        const auto out = o.y + at;
        const auto of_warp = first_pass<T, Width>(k, o, in, [&](const positions& p, const auto& raw) {
            if (shared) keep_raw(k, kept, p, raw);
        });
        const auto row_total = over_row(k, o.warps, of_warp);
        const auto inverse = k.rcp<px::approx>(row_total.sum);
        for_row(k, o.c, o.me.thread, o.units, [&](const positions& p) {
            const auto raw = shared ? load<T, Width>(k, kept, p) : load<T, Width, px::nc>(k, in, p);
            const auto v = expand<T, Width>(k, raw, p, 0.0f);
            const auto exp = exponentiate<Width>(k, v, p.count, row_total.max);
            store<T, Width, px::cs>(k, out, p, times<Width>(k, exp.e, p.count, inverse));
        });
    });
}

/// The kernel. `c` is a constant; x and y are `row_count` rows of `columns` elements.
template <class T, u32 Width>
constexpr void softmax(k_t& k, const plan& c, input<T, Width> x, output<T, Width> y, words row_count, words columns) {
    using unit = typename element_access<T, Width>::unit;
    const auto units = k.div(columns, Width).named("units");
    const auto me = take_seat(k, c);
    std::optional<exchange<swap_unit>> warps;
    if (c.threads > 32) warps.emplace(k, c, me);
    const operands<T, Width> o{c, x.template as<unit>(), y.template as<unit>(), units, me, warps ? &*warps : nullptr};
    if (c.where == keep::registers)
        rows_in_registers(k, o, row_count);
    else
        rows_in_two_passes(k, o, row_count);
}

}  // namespace softmax
