// SPDX-License-Identifier: Apache-2.0
// Kernels that reduce over rows: RMS norm and layer norm (with a residual added first, if wanted), softmax, and fp8
// with one scale a row. f32, bf16 or f16 in memory, f32 in registers. docs/kernels/rows.md draws how a row is worked
// on.
#pragma once

#include <ptxdsl/kernels/row_access.hpp>

#include <type_traits>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels {

/// What a norm does beyond x / sqrt(mean(x^2) + eps).
struct norm_form {
    bool centred = false;   ///< layer norm: the mean is subtracted first
    bool residual = false;  ///< x + residual is stored, and normalised as stored
    bool weight = true, bias = false;
    constexpr auto operator<=>(const norm_form&) const = default;
};

namespace detail {

/// A row kernel's start: nothing before this touches memory that the kernel ahead of it may still write.
constexpr void start_after_previous(k_t& k) {
    k.griddepcontrol_launch_dependents();
    k.griddepcontrol_wait();
}
/// Asks L2 for `bytes`, a multiple of 16, where `asks` holds. PTX ISA 9.7.9.25.4.5.
template <class Ptr>
constexpr void ask_l2(k_t& k, const reg<pred>& asks, const Ptr& from, const words& bytes) {
    k.at(asks).cp_async_bulk_prefetch_L2(from.template assume_aligned<16>(), bytes);
}

template <class T>
[[nodiscard]] constexpr global_ptr<T> row_at(k_t& k, const global_ptr<T>& base, const words& row,
                                             const reg<u64>& stride) {
    return base + k.mul_lo(k.cvt<u64>(row), stride);
}

/// The start of a kernel over rows of `matrices`: then L2 is asked for the row `ahead` of this one, where rows are
/// whole 16-byte accesses (and end in registers: else they are read more than once).
template <class T, std::size_t N>
constexpr void start_rows(k_t& k, const row_plan& c, const row_seat& seat, const words& rows, const words& columns,
                          const words& ahead, const global_ptr<const T> (&matrices)[N], const reg<u64> (&strides)[N]) {
    start_after_previous(k);
    if (c.width * sizeof(T) != 16 || c.reread) return;
    const auto row = k.add(seat.row, ahead);
    const auto asks = seat.leads() && row < rows;
    const auto bytes = k.mul_lo(columns, static_cast<u32>(sizeof(T)));
    // Of normal priority, such lines may leave before they are read: at 8192x8192 that costs a tenth.
    const cache_policy keep = k.createpolicy_fractional<L2::evict_last>(1.0f);
    for (std::size_t i = 0; i < N; ++i) {
        const auto from = row_at(k, matrices[i], row, strides[i]).template assume_aligned<16>();
        k.at(asks).cp_async_bulk_prefetch_L2(from, bytes, keep);
    }
}

// ---- norms ----------------------------------------------------------------------------------------------------------

/// One row's norm: its statistics, then its results.
template <class T>
class norm_row {
public:
    constexpr norm_row(const row_plan& c, const norm_form& f, row_seat& seat, const words& columns, const words& units,
                       const floats& eps)
        : c_(c), f_(f), seat_(seat), columns_(columns), units_(units), eps_(eps) {}

    global_ptr<const T> x, residual, weight, bias;
    global_ptr<T> y, sum;

    /// A row in registers.
    constexpr void once(k_t& k) {
        const auto p = spread(k, c_, c_.accesses, c_.exact, seat_.thread, units_);
        values v = input(k, p);
        prepare(k);
        if (v.count <= row_values / 4) load_vectors(k, p);  // there is room: under way before the sums
        if (f_.centred) {
            centre(k, over_row(k, in_chains(v, sum_step{k})), v, p);
            finish(k, over_row(k, in_chains(v, square_step{k})));
        } else {
            finish(k, over_row(k, in_chains(v, square_step{k})));
        }
        write(k, p, v);
    }
    /// A row that is loaded again for each pass, or widened again.
    constexpr void in_passes(k_t& k) {
        row_passes<T> passes(k, c_, x, seat_.thread, units_, 0.0f);
        prepare(k);
        const auto from_memory = [&](const positions& p) { return again(k, p); };
        const auto reduce = [&](auto step, const auto& load, bool centred) {
            auto total = k.mov<f32>(0.0f).named("total");
            passes.next(k, load, [&](const positions& p, values& v) {
                if (centred) subtract(k, v, p);
                total += in_chains(v, step);
            });
            return over_row(k, total);
        };
        const auto first = [&](const positions& p) { return input(k, p); };
        if (f_.centred) {
            mean_ = k.mul<rn>(reduce(sum_step{k}, first, false), inverse_);
            finish(k, reduce(square_step{k}, from_memory, true));
        } else {
            finish(k, reduce(square_step{k}, first, false));
        }
        passes.next(k, from_memory, [&](const positions& p, values& v) {
            if (f_.centred) subtract(k, v, p);
            write(k, p, v);
        });
    }

private:
    constexpr void prepare(k_t& k) {
        const auto n = k.cvt<f32, rn>(columns_);
        inverse_ = k.rcp<rn>(n).named("inverse_columns");
    }
    constexpr floats over_row(k_t& k, const floats& mine) {
        return seat_.over_row(k, sum_over(k, mine), 0.0f,
                              [&](const floats& v, u32 lanes) { return sum_over(k, v, lanes); });
    }
    /// x, or x + residual, which is stored and rounded as stored.
    constexpr values input(k_t& k, const positions& p) const {
        values v = load_row<T>(k, x, p, 0.0f);
        if (!f_.residual) return v;
        const values r = load_row<T>(k, residual, p, 0.0f);
        for (u32 i = 0; i < v.count; ++i) point(v[i], floats(k.add<rn>(v[i], r[i])));
        round_to<T>(k, v);
        store_result<T>(k, c_, sum, p, v, c_.reread);
        return v;
    }
    /// What `input` gave, from memory.
    constexpr values again(k_t& k, const positions& p) const {
        return f_.residual ? load_row<T>(k, sum, p, 0.0f) : load_row<T>(k, x, p, 0.0f);
    }
    constexpr void centre(k_t& k, const floats& total, values& v, const positions& p) {
        mean_ = k.mul<rn>(total, inverse_);
        subtract(k, v, p);
    }
    /// Subtracts the mean; what is outside of the row stays 0.
    constexpr void subtract(k_t& k, values& v, const positions& p) const {
        for (u32 i = 0; i < v.count; ++i) {
            const auto d = k.sub<rn>(v[i], mean_);
            point(v[i], p.may_be_outside(i / p.width) ? floats(k.selp(d, 0.0f, p.in)) : floats(d));
        }
    }
    constexpr void finish(k_t& k, const floats& squares) {
        scale_ = k.rsqrt<approx>(k.fma<rn>(squares, inverse_, eps_)).named("scale");
    }
    constexpr void write(k_t& k, const positions& p, values& v) {
        // Full registers have no room for all weights and biases as well: a few at a time. (The
        // loads may not pass the stores, which keeps ptxas from collecting them again.)
        const bool full = f_.weight && f_.bias && v.count > row_values / 2;
        const u32 step = full ? (p.count + 3) / 4 : p.count;
        for (u32 j = 0; j < p.count; j += step) {
            const positions part = full ? part_of(k, p, j, p.count - j < step ? p.count - j : step) : p;
            values some{.count = part.count * p.width, .v = {}};
            for (u32 i = 0; i < some.count; ++i) point(some[i], v[j * p.width + i]);
            write_part(k, part, some);
        }
    }
    constexpr void write_part(k_t& k, const positions& p, values& v) {
        const bool early = w_.count + b_.count != 0;
        if (!early) load_vectors(k, p);
        for (u32 i = 0; i < v.count; ++i) {
            const floats unit = k.mul<rn>(v[i], scale_);
            if (f_.weight && f_.bias)
                point(v[i], floats(k.fma<rn>(unit, w_[i], b_[i])));
            else if (f_.weight)
                point(v[i], floats(k.mul<rn>(unit, w_[i])));
            else
                point(v[i], f_.bias ? floats(k.add<rn>(unit, b_[i])) : unit);
        }
        if (!early) w_.count = b_.count = 0;
        store_result<T>(k, c_, y, p, v);
    }
    constexpr void load_vectors(k_t& k, const positions& p) {
        const auto load = [&](values& to, const global_ptr<const T>& from) {
            const values v = load_row<T>(k, from, p, 0.0f);
            to.count = v.count;
            for (u32 i = 0; i < v.count; ++i) point(to[i], v[i]);
        };
        if (f_.weight) load(w_, weight);
        if (f_.bias) load(b_, bias);
    }

    row_plan c_;
    norm_form f_;
    row_seat& seat_;
    words columns_, units_;
    floats eps_, inverse_, mean_, scale_;
    values w_, b_;  ///< of the accesses at hand
};

}  // namespace detail

/// Norm of every row.
template <class T>
constexpr void norm_body(builder<sm_90a>& k, const row_plan& c, const norm_form& f, global_ptr<const T> x,
                         global_ptr<const T> residual, global_ptr<const T> weight, global_ptr<const T> bias,
                         global_ptr<T> y, global_ptr<T> sum, reg<u32> rows, reg<u32> columns, reg<u64> x_stride,
                         reg<u64> residual_stride, reg<u64> y_stride, reg<u64> sum_stride, reg<f32> eps,
                         reg<u32> ahead) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_seat seat(k, c);
    if (f.residual)
        start_rows<T, 2>(k, c, seat, rows, columns, ahead, {x, residual}, {x_stride, residual_stride});
    else
        start_rows<T, 1>(k, c, seat, rows, columns, ahead, {x}, {x_stride});
    seat.if_inside(k, rows, [&] {
        norm_row<T> row(c, f, seat, columns, units, eps);
        row.x = row_at(k, x, seat.row, x_stride);
        row.y = row_at(k, y, seat.row, y_stride);
        if (f.residual) row.residual = row_at(k, residual, seat.row, residual_stride);
        if (f.residual) row.sum = row_at(k, sum, seat.row, sum_stride);
        row.weight = weight, row.bias = bias;
        if (c.reread || c.held)
            row.in_passes(k);
        else
            row.once(k);
    });
}

// ---- softmax --------------------------------------------------------------------------------------------------------

namespace detail {

// Maximum and sum are found together: a thread sums relative to its warp's (or its own) maximum, and sums are rescaled
// when they meet a larger one. Maxima start at the smallest finite float, not at -inf: a masked (-inf) element is then
// e^-inf = 0 also where everything so far was masked.
inline constexpr float lowest_float = -3.402823466e38f;

/// e^(scale * (x - m)), `factor` being scale * log2(e). The difference comes first: x * factor may overflow, and loses
/// bits where x is large.
[[nodiscard]] constexpr floats exp_below(k_t& k, const floats& x, const floats& m, const floats& factor) {
    const auto below = k.sub<rn>(x, m);
    return k.ex2<approx>(k.mul<rn>(below, factor));
}

template <class T>
class softmax_row {
public:
    constexpr softmax_row(const row_plan& c, row_seat& seat, const words& units, const floats& factor)
        : c_(c), seat_(seat), units_(units), factor_(factor) {}

    global_ptr<const T> x;
    global_ptr<T> y;

    constexpr void once(k_t& k) {
        const auto p = spread(k, c_, c_.accesses, c_.exact, seat_.thread, units_);
        values v = load_row<T>(k, x, p, minus_infinity);
        const auto low = k.mov<f32>(lowest_float);
        const auto m = max_over(k, k.max(in_chains(v, max_step{k}), low));
        exponentiate(k, v, m);
        const partial total = over_row(k, {m, sum_over(k, in_chains(v, sum_step{k}))});
        const auto inverse = k.rcp<approx>(total.sum);
        write(k, p, v, k.mul<rn>(exp_below(k, m, total.max, factor_), inverse));
    }
    constexpr void in_passes(k_t& k) {
        row_passes<T> passes(k, c_, x, seat_.thread, units_, minus_infinity);
        auto max = k.mov<f32>(lowest_float).named("max");
        auto sum = k.mov<f32>(0.0f).named("sum");
        passes.next(k, [&](const positions&, values& v) {
            const auto higher = k.max(in_chains(v, max_step{k}), max);
            exponentiate(k, v, higher);
            sum *= exp_below(k, max, higher, factor_);
            sum += in_chains(v, sum_step{k});
            max = higher;
        });
        const auto m = max_over(k, max);
        const partial total = over_row(k, {m, sum_over(k, k.mul<rn>(sum, exp_below(k, max, m, factor_)))});
        const auto inverse = k.rcp<approx>(total.sum);
        passes.next(k, [&](const positions& p, values& v) {
            exponentiate(k, v, total.max);
            write(k, p, v, inverse);
        });
    }

private:
    static constexpr float minus_infinity = -__builtin_huge_valf();

    constexpr void exponentiate(k_t& k, values& v, const floats& m) const {
        for (u32 i = 0; i < v.count; ++i) point(v[i], exp_below(k, v[i], m, factor_));
    }
    constexpr partial over_row(k_t& k, const partial& of_warp) {
        return seat_.pair_over_row(k, of_warp, {lowest_float, 0.0f}, [&](const partial& p, u32 lanes) {
            const auto m = max_over(k, p.max, lanes);
            return partial{m, sum_over(k, k.mul<rn>(p.sum, exp_below(k, p.max, m, factor_)), lanes)};
        });
    }
    constexpr void write(k_t& k, const positions& p, values& v, const floats& by) const {
        for (u32 i = 0; i < v.count; ++i) point(v[i], floats(k.mul<rn>(v[i], by)));
        store_result<T>(k, c_, y, p, v);
    }
    row_plan c_;
    row_seat& seat_;
    words units_;
    floats factor_;
};

}  // namespace detail

/// Softmax of every row of scale * x; `factor` is scale * log2(e), scale > 0.
template <class T>
constexpr void softmax_body(builder<sm_90a>& k, const row_plan& c, global_ptr<const T> x, global_ptr<T> y,
                            reg<u32> rows, reg<u32> columns, reg<u64> x_stride, reg<u64> y_stride, reg<f32> factor,
                            reg<u32> ahead) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_seat seat(k, c);
    start_rows<T, 1>(k, c, seat, rows, columns, ahead, {x}, {x_stride});
    seat.if_inside(k, rows, [&] {
        softmax_row<T> row(c, seat, units, factor);
        row.x = row_at(k, x, seat.row, x_stride);
        row.y = row_at(k, y, seat.row, y_stride);
        if (c.reread || c.held)
            row.in_passes(k);
        else
            row.once(k);
    });
}

// ---- fp8, a scale a row ---------------------------------------------------------------------------------------------

namespace detail {

template <class Q>
inline constexpr float fp8_most = std::is_same_v<Q, e5m2> ? 57344.0f : 448.0f;
/// Below this largest element, rows are scaled as if it were this: 1 / scale stays finite.
inline constexpr float fp8_least = 1e-30f;

/// The scale for a largest element, and its inverse.
template <class Q>
struct fp8_scale {
    floats scale, inverse;
    constexpr fp8_scale(k_t& k, const floats& largest) {
        const auto m = k.max(largest, fp8_least);
        scale = k.mul<rn>(m, 1.0f / fp8_most<Q>);
        inverse = k.mul<rn>(k.rcp<rn>(m), fp8_most<Q>);
    }
    constexpr void apply(k_t& k, values& v) const { apply(k, v, inverse); }
    static constexpr void apply(k_t& k, values& v, const floats& by) {
        for (u32 i = 0; i < v.count; ++i) point(v[i], floats(k.mul<rn>(v[i], by)));
    }
};

}  // namespace detail

/// q = x / scale in fp8, scale = max|x| / (largest fp8) of each row.
template <class T, class Q>
constexpr void quantize_rows_body(builder<sm_90a>& k, const row_plan& c, global_ptr<const T> x, global_ptr<Q> q,
                                  global_ptr<f32> scales, reg<u32> rows, reg<u32> columns, reg<u64> x_stride,
                                  reg<u64> q_stride, reg<u32> ahead) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_seat seat(k, c);
    start_rows<T, 1>(k, c, seat, rows, columns, ahead, {x}, {x_stride});
    seat.if_inside(k, rows, [&] {
        const auto in = row_at(k, x, seat.row, x_stride);
        const auto out = row_at(k, q, seat.row, q_stride);
        const auto over_row = [&](const floats& mine) {
            return seat.over_row(k, max_over(k, mine), 0.0f,
                                 [&](const floats& v, u32 lanes) { return max_over(k, v, lanes); });
        };
        const auto scale_of = [&](const floats& mine) {
            fp8_scale<Q> s(k, over_row(mine));
            k.at(seat.leads()).st(scales + seat.row, s.scale);
            return s;
        };
        const auto write = [&](const fp8_scale<Q>& s, const positions& p, values& v) {
            s.apply(k, v);
            store_result<Q>(k, c, out, p, v);
        };
        if (!c.reread && !c.held) {
            const auto p = spread(k, c, c.accesses, c.exact, seat.thread, units);
            values v = load_row<T>(k, in, p, 0.0f);
            write(scale_of(in_chains(v, abs_step{k})), p, v);
            return;
        }
        row_passes<T> passes(k, c, in, seat.thread, units, 0.0f);
        auto largest = k.mov<f32>(0.0f).named("largest");
        passes.next(k, [&](const positions&, const values& v) { largest = k.max(largest, in_chains(v, abs_step{k})); });
        const auto s = scale_of(largest);
        passes.next(k, [&](const positions& p, values& v) { write(s, p, v); });
    });
}

}  // namespace ptxdsl::kernels

#pragma pop_macro("max")
#pragma pop_macro("min")
