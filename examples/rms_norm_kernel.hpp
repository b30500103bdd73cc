// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x^2) + eps) * weight, row by row; f32 or bf16 in memory, f32 in registers.
//
// Squares are summed in f32: a row whose sum of squares exceeds 3.4e38 becomes 0, as with torch.
#pragma once

#include "rows.hpp"

namespace rms_norm {

using namespace rows;

/// 1 / sqrt(sum / columns + eps)
[[nodiscard]] constexpr floats scale_of(k_t& k, const floats& sum, const floats& inverse_columns, const floats& eps) {
    return k.rsqrt<px::approx>(k.fma<px::rn>(sum, inverse_columns, eps));
}

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
[[nodiscard]] constexpr many<Width> scaled(k_t& k, const many<Width>& v, const many<Width>& weight, u32 count, const floats& scale) {
    many<Width> out;
    for (u32 j = 0; j < count; ++j)
        for (u32 e = 0; e < Width; ++e) {
            const auto unit = k.mul<px::rn>(v[j][e], scale);
            out[j][e] = k.mul<px::rn>(unit, weight[j][e]);
        }
    return out;
}

/// Constants `c`; parameters: x and y are `row_count` rows of `columns` elements, weight one row.
template <class T, u32 Width>
constexpr void rms_norm(k_t& k, const plan& c, input<T, Width> x, input<T, Width> weight, output<T, Width> y, words row_count,
                        words columns, floats eps) {
    const auto me = take_seat(k, c);
    const auto units = k.div(columns, Width).named("units");
    const auto float_columns = k.cvt<f32, px::rn>(columns);
    const auto inverse_columns = k.rcp<px::rn>(float_columns);
    std::optional<exchange<f32>> warps;
    if (c.threads > 32) warps.emplace(k, c, me);
    const auto scale_from = [&](const floats& part) {
        return scale_of(k, sum_over_row(k, c, warps ? &*warps : nullptr, part), inverse_columns, eps);
    };
    const row_pass<T, Width> pass{c, x, weight, y, units, me};
    k.for_(me.row, row_count, me.step, [&](const words& row) {
        if (c.where == keep::registers) pass.in_registers(k, row, scale_from);
        else pass.in_two_passes(k, row, scale_from);
    });
}
