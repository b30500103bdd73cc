// SPDX-License-Identifier: Apache-2.0
// Softmax. f32, bf16 or f16 in memory, f32 in registers.
#pragma once

#include <ptxdsl/kernels/rows/passes.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

namespace detail {

// Maximum and sum are found together: a thread sums relative to its warp's (or its own) maximum, and sums are rescaled
// when they meet a larger one. Maxima start at the smallest finite float, not at -inf: a masked (-inf) element is then
// e^-inf = 0 also where everything so far was masked.
inline constexpr float lowest_float = -3.402823466e38f;

/// e^(scale * (x - m)), `factor` being scale * log2(e). The difference comes first: x * factor may overflow, and loses
/// bits where x is large.
[[nodiscard]] constexpr regf32 exp_below(k_t& k, const regf32& x, const regf32& m, const regf32& factor) {
    const auto below = k.sub<rn>(x, m);
    return k.ex2<approx>(k.mul<rn>(below, factor));
}

template <class T>
class softmax_row {
public:
    constexpr softmax_row(const row_plan& c, row_team& team, const reg32& units, const regf32& factor)
        : c_(c), team_(team), units_(units), factor_(factor) {}

    global_ptr<const T> x;
    global_ptr<T> y;

    constexpr void once(k_t& k) {
        const auto p = partition(k, c_, c_.accesses, c_.exact, team_.thread, units_);
        values v = load_row<T>(k, x, p, minus_infinity);
        const auto low = k.mov<f32>(lowest_float);
        const auto m = warp_max(k, k.max(thread_reduce(v, max_op{k}), low));
        exponentiate(k, v, m);
        const partial total = over_row(k, {m, warp_sum(k, thread_reduce(v, sum_op{k}))});
        const auto inverse = k.rcp<approx>(total.sum);
        write(k, p, v, k.mul<rn>(exp_below(k, m, total.max, factor_), inverse));
    }
    constexpr void in_passes(k_t& k) {
        row_passes<T> passes(k, c_, x, team_.thread, units_, minus_infinity);
        auto max = k.mov<f32>(lowest_float).named("max");
        auto sum = k.mov<f32>(0.0f).named("sum");
        passes.next(k, [&](const positions&, values& v) {
            const auto higher = k.max(thread_reduce(v, max_op{k}), max);
            exponentiate(k, v, higher);
            sum *= exp_below(k, max, higher, factor_);
            sum += thread_reduce(v, sum_op{k});
            max = higher;
        });
        const auto m = warp_max(k, max);
        const partial total = over_row(k, {m, warp_sum(k, k.mul<rn>(sum, exp_below(k, max, m, factor_)))});
        const auto inverse = k.rcp<approx>(total.sum);
        passes.next(k, [&](const positions& p, values& v) {
            exponentiate(k, v, total.max);
            write(k, p, v, inverse);
        });
    }

private:
    static constexpr float minus_infinity = -__builtin_huge_valf();

    constexpr void exponentiate(k_t& k, values& v, const regf32& m) const {
        for (u32 i = 0; i < v.count; ++i) rebind(v[i], exp_below(k, v[i], m, factor_));
    }
    constexpr partial over_row(k_t& k, const partial& of_warp) {
        return team_.reduce_pair(k, of_warp, {lowest_float, 0.0f}, [&](const partial& p, u32 lanes) {
            const auto m = warp_max(k, p.max, lanes);
            return partial{m, warp_sum(k, k.mul<rn>(p.sum, exp_below(k, p.max, m, factor_)), lanes)};
        });
    }
    constexpr void write(k_t& k, const positions& p, values& v, const regf32& by) const {
        for (u32 i = 0; i < v.count; ++i) rebind(v[i], regf32(k.mul<rn>(v[i], by)));
        store_result<T>(k, c_, y, p, v);
    }
    row_plan c_;
    row_team& team_;
    reg32 units_;
    regf32 factor_;
};

}  // namespace detail

/// Softmax of every row of scale * x; `factor` is scale * log2(e), scale > 0.
template <class T>
constexpr void softmax_body(builder<sm_90a>& k, const row_plan& c, global_ptr<const T> x, global_ptr<T> y,
                            reg<u32> rows, reg<u32> columns, reg<u64> x_stride, reg<u64> y_stride, reg<f32> factor,
                            reg<u32> prefetch_rows) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_team team(k, c);
    start_rows<T, 1>(k, c, team, rows, columns, prefetch_rows, {x}, {x_stride});
    team.if_inside(k, rows, [&] {
        softmax_row<T> row(c, team, units, factor);
        row.x = row_at(k, x, team.row, x_stride);
        row.y = row_at(k, y, team.row, y_stride);
        if (c.reread || c.held)
            row.in_passes(k);
        else
            row.once(k);
    });
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
