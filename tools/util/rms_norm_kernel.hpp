// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x^2) + eps) * weight, row by row; f32 or bf16 in memory, f32 in registers.
//
// Squares are summed in f32: a row whose sum of squares exceeds 3.4e38 becomes 0, as with torch.
#pragma once

#include "rows.hpp"

#include <optional>

namespace rms_norm {

using namespace rows;

/// The sum of a row's squares, from each thread's part.
[[nodiscard]] constexpr floats sum_over_row(k_t& k, const plan& c, exchange<f32>* warps, const floats& part) {
    const auto add = [&](const floats& a, const floats& b) { return k.add<px::rn>(a, b); };
    const auto of_warp = over_warp(k, part, 32, add);
    if (c.threads == 32) return of_warp;
    const auto theirs = warps->swap(k, of_warp);
    return over_warp(k, warps->or_neutral(k, theirs, 0.0f), warps->lanes(), add);
}

/// Adds the squares to four chains, so that an addition need not wait for the one before it.
using chains = std::array<floats, 4>;
template <u32 Width>
constexpr void add_squares(k_t& k, const many<Width>& v, u32 count, chains& sums) {
    for (u32 i = 0; i < count * Width; ++i) {
        const floats& x = v[i / Width][i % Width];
        floats& sum = sums[i % 4];
        point(sum, sum.bound() ? k.fma<px::rn>(x, x, sum) : k.mul<px::rn>(x, x));
    }
}
[[nodiscard]] constexpr floats total(k_t& k, const chains& sums) {
    floats sum = sums[0];
    for (u32 i = 1; i < 4 && sums[i].bound(); ++i) point(sum, k.add<px::rn>(sum, sums[i]));
    return sum;
}

template <u32 Width>
[[nodiscard]] constexpr many<Width> scaled(k_t& k, const many<Width>& v, const many<Width>& weight, u32 count,
                                           const floats& scale) {
    many<Width> out;
    for (u32 j = 0; j < count; ++j)
        for (u32 e = 0; e < Width; ++e) {
            const auto unit = k.mul<px::rn>(v[j][e], scale);
            out[j][e] = k.mul<px::rn>(unit, weight[j][e]);
        }
    return out;
}

/// What stays the same from row to row.
template <class T, u32 Width>
struct operands {
    plan c;
    input_units<T, Width> x, weight;
    output_units<T, Width> y;
    words units;
    seat me;
};

/// A row that stays in registers: the weights too, when there is room, from row to row.
template <class T, u32 Width, class Scale>
constexpr void rows_in_registers(k_t& k, const operands<T, Width>& o, const words& row_count, Scale&& scale_from) {
    const auto p = spread(k, o.c, o.me.thread, o.units);
    const bool early = o.c.threads <= most_threads / 2 || o.c.accesses * Width <= most_floats / 2;
    const auto weights = [&] { return load<T, Width, px::nc>(k, o.weight, p); };
    const auto kept = early ? weights() : decltype(weights()){};
    k.for_(o.me.row, row_count, o.me.step, [&](const words& row) {
        const auto at = k.mul_wide(row, o.units).named("at");
        const auto raw = load<T, Width, px::nc, px::L1::no_allocate>(k, o.x + at, p);
        const auto v = expand<T, Width>(k, raw, p, 0.0f);
        chains sums;
        add_squares<Width>(k, v, p.count, sums);
        const auto scale = scale_from(total(k, sums));
        const auto w = expand<T, Width>(k, early ? kept : weights(), p, 0.0f);
        store<T, Width, px::cs>(k, o.y + at, p, scaled<Width>(k, v, w, p.count, scale));
    });
}

/// A row that does not: two passes, the second one over shared memory where it fits there.
template <class T, u32 Width, class Scale>
constexpr void rows_in_two_passes(k_t& k, const operands<T, Width>& o, const words& row_count, Scale&& scale_from) {
    using unit = typename element_access<T, Width>::unit;
    const bool shared = o.c.where == keep::shared;
    const px::shared_ptr<unit> kept = k.smem_array<unit>(shared ? o.c.units : 1, "row");
    k.for_(o.me.row, row_count, o.me.step, [&](const words& row) {
        const auto at = k.mul_wide(row, o.units).named("at");
        const auto in = o.x + at;
        const auto out = o.y + at;
        auto sum = k.mov<f32>(0.0f).named("sum");
        for_row(k, o.c, o.me.thread, o.units, [&](const positions& p) {
            const auto raw = load<T, Width, px::nc>(k, in, p);
            if (shared) keep_raw(k, kept, p, raw);
            chains sums;
            add_squares<Width>(k, expand<T, Width>(k, raw, p, 0.0f), p.count, sums);
            sum += total(k, sums);
        });
        const auto scale = scale_from(sum);
        for_row(k, o.c, o.me.thread, o.units, [&](const positions& p) {
            const auto raw = shared ? load<T, Width>(k, kept, p) : load<T, Width, px::nc>(k, in, p);
            const auto v = expand<T, Width>(k, raw, p, 0.0f);
            const auto w = expand<T, Width>(k, load<T, Width, px::nc>(k, o.weight, p), p, 0.0f);
            store<T, Width, px::cs>(k, out, p, scaled<Width>(k, v, w, p.count, scale));
        });
    });
}

/// The kernel. `c` is a constant; x and y are `row_count` rows of `columns` elements each, `weight` is one row.
template <class T, u32 Width>
constexpr void rms_norm(k_t& k, const plan& c, input<T, Width> x, input<T, Width> weight, output<T, Width> y,
                        words row_count, words columns, floats eps) {
    using unit = typename element_access<T, Width>::unit;
    const auto units = k.div(columns, Width).named("units");
    const operands<T, Width> o{c,     x.template as<unit>(), weight.template as<unit>(), y.template as<unit>(),
                               units, take_seat(k, c)};
    const auto float_columns = k.cvt<f32, px::rn>(columns);
    const auto inverse_columns = k.rcp<px::rn>(float_columns).named("inverse_columns");
    std::optional<exchange<f32>> warps;
    if (c.threads > 32) warps.emplace(k, c, o.me);
    const auto scale_from = [&](const floats& part) {
        const auto sum = sum_over_row(k, c, warps ? &*warps : nullptr, part);
        return k.rsqrt<px::approx>(k.fma<px::rn>(sum, inverse_columns, eps));
    };
    if (c.where == keep::registers)
        rows_in_registers(k, o, row_count, scale_from);
    else
        rows_in_two_passes(k, o, row_count, scale_from);
}

}  // namespace rms_norm
