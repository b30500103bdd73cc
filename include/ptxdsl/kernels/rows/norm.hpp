// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm, with a residual added first if wanted. f32, bf16 or f16 in memory, f32 in registers.
// docs/kernels/rows.md draws how a row is worked on.
#pragma once

#include <ptxdsl/kernels/rows/passes.hpp>

#include <compare>

namespace ptxdsl::kernels {

namespace detail {

/// One row's norm: its statistics, then its results.
template <class T>
class norm_row {
public:
    constexpr norm_row(const row_plan& c, const norm_form& f, row_team& team, const reg32& columns, const reg32& units,
                       const regf32& eps)
        : c_(c), f_(f), team_(team), columns_(columns), units_(units), eps_(eps) {}

    global_ptr<const T> x, residual, weight, bias;
    global_ptr<T> y, sum;

    /// A row in registers.
    constexpr void once(k_t& k) {
        const auto p = partition(k, c_, c_.accesses, c_.exact, team_.thread, units_);
        values v = input(k, p);
        prepare(k);
        if (v.count <= row_values / 4) load_vectors(k, p);  // there is room: under way before the sums
        if (f_.centred) {
            centre(k, over_row(k, thread_reduce(v, sum_op{k})), v, p);
            finish(k, over_row(k, thread_reduce(v, square_op{k})));
        } else {
            finish(k, over_row(k, thread_reduce(v, square_op{k})));
        }
        write(k, p, v);
    }
    /// A row that is loaded again for each pass, or widened again.
    constexpr void in_passes(k_t& k) {
        row_passes<T> passes(k, c_, x, team_.thread, units_, 0.0f);
        prepare(k);
        const auto from_memory = [&](const positions& p) { return again(k, p); };
        const auto reduce = [&](auto step, const auto& load, bool centred) {
            auto total = k.mov<f32>(0.0f).named("total");
            passes.next(k, load, [&](const positions& p, values& v) {
                if (centred) subtract(k, v, p);
                total += thread_reduce(v, step);
            });
            return over_row(k, total);
        };
        const auto first = [&](const positions& p) { return input(k, p); };
        if (f_.centred) {
            mean_ = k.mul<rn>(reduce(sum_op{k}, first, false), inverse_);
            finish(k, reduce(square_op{k}, from_memory, true));
        } else {
            finish(k, reduce(square_op{k}, first, false));
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
    constexpr regf32 over_row(k_t& k, const regf32& mine) {
        return team_.reduce(k, warp_sum(k, mine), 0.0f,
                            [&](const regf32& v, u32 lanes) { return warp_sum(k, v, lanes); });
    }
    /// x, or x + residual, which is stored and rounded as stored.
    constexpr values input(k_t& k, const positions& p) const {
        values v = load_row<T>(k, x, p, 0.0f);
        if (!f_.residual) return v;
        const values r = load_row<T>(k, residual, p, 0.0f);
        for (u32 i = 0; i < v.count; ++i) rebind(v[i], regf32(k.add<rn>(v[i], r[i])));
        round_to<T>(k, v);
        store_result<T>(k, c_, sum, p, v, c_.reread);
        return v;
    }
    /// What `input` gave, from memory.
    constexpr values again(k_t& k, const positions& p) const {
        return f_.residual ? load_row<T>(k, sum, p, 0.0f) : load_row<T>(k, x, p, 0.0f);
    }
    constexpr void centre(k_t& k, const regf32& total, values& v, const positions& p) {
        mean_ = k.mul<rn>(total, inverse_);
        subtract(k, v, p);
    }
    /// Subtracts the mean; what is outside of the row stays 0.
    constexpr void subtract(k_t& k, values& v, const positions& p) const {
        for (u32 i = 0; i < v.count; ++i) {
            const auto d = k.sub<rn>(v[i], mean_);
            rebind(v[i], p.may_be_outside(i / p.width) ? regf32(k.selp(d, 0.0f, p.in)) : regf32(d));
        }
    }
    constexpr void finish(k_t& k, const regf32& squares) {
        scale_ = k.rsqrt<approx>(k.fma<rn>(squares, inverse_, eps_)).named("scale");
    }
    constexpr void write(k_t& k, const positions& p, values& v) {
        // Full registers have no room for all weights and biases as well: a few at a time. (The
        // loads may not pass the stores, which keeps ptxas from collecting them again.)
        const bool full = f_.weight && f_.bias && v.count > row_values / 2;
        const u32 step = full ? (p.count + 3) / 4 : p.count;
        for (u32 j = 0; j < p.count; j += step) {
            const positions part = full ? slice_of(k, p, j, p.count - j < step ? p.count - j : step) : p;
            values some{.count = part.count * p.width, .v = {}};
            for (u32 i = 0; i < some.count; ++i) rebind(some[i], v[j * p.width + i]);
            write_part(k, part, some);
        }
    }
    constexpr void write_part(k_t& k, const positions& p, values& v) {
        const bool early = w_.count + b_.count != 0;
        if (!early) load_vectors(k, p);
        for (u32 i = 0; i < v.count; ++i) {
            const regf32 unit = k.mul<rn>(v[i], scale_);
            if (f_.weight && f_.bias)
                rebind(v[i], regf32(k.fma<rn>(unit, w_[i], b_[i])));
            else if (f_.weight)
                rebind(v[i], regf32(k.mul<rn>(unit, w_[i])));
            else
                rebind(v[i], f_.bias ? regf32(k.add<rn>(unit, b_[i])) : unit);
        }
        if (!early) w_.count = b_.count = 0;
        store_result<T>(k, c_, y, p, v);
    }
    constexpr void load_vectors(k_t& k, const positions& p) {
        const auto load = [&](values& to, const global_ptr<const T>& from) {
            const values v = load_row<T>(k, from, p, 0.0f);
            to.count = v.count;
            for (u32 i = 0; i < v.count; ++i) rebind(to[i], v[i]);
        };
        if (f_.weight) load(w_, weight);
        if (f_.bias) load(b_, bias);
    }

    row_plan c_;
    norm_form f_;
    row_team& team_;
    reg32 columns_, units_;
    regf32 eps_, inverse_, mean_, scale_;
    values w_, b_;  ///< of the accesses at hand
};

}  // namespace detail

/// Norm of every row.
template <class T>
constexpr void norm_body(builder<sm_90a>& k, const row_plan& c, const norm_form& f, global_ptr<const T> x,
                         global_ptr<const T> residual, global_ptr<const T> weight, global_ptr<const T> bias,
                         global_ptr<T> y, global_ptr<T> sum, reg<u32> rows, reg<u32> columns, reg<u64> x_stride,
                         reg<u64> residual_stride, reg<u64> y_stride, reg<u64> sum_stride, reg<f32> eps,
                         reg<u32> prefetch_rows) {
    using namespace detail;
    const auto units = k.div(columns, c.width).named("units");
    row_team team(k, c);
    if (f.residual)
        start_rows<T, 2>(k, c, team, rows, columns, prefetch_rows, {x, residual}, {x_stride, residual_stride});
    else
        start_rows<T, 1>(k, c, team, rows, columns, prefetch_rows, {x}, {x_stride});
    team.if_inside(k, rows, [&] {
        norm_row<T> row(c, f, team, columns, units, eps);
        row.x = row_at(k, x, team.row, x_stride);
        row.y = row_at(k, y, team.row, y_stride);
        if (f.residual) row.residual = row_at(k, residual, team.row, residual_stride);
        if (f.residual) row.sum = row_at(k, sum, team.row, sum_stride);
        row.weight = weight, row.bias = bias;
        if (c.reread || c.held)
            row.in_passes(k);
        else
            row.once(k);
    });
}

}  // namespace ptxdsl::kernels
