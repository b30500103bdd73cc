// SPDX-License-Identifier: Apache-2.0
// The softmax of rows that come a step of columns at a time, in the registers of a wgmma accumulator.
#pragma once

#include <ptxdsl/kernels/attention/work.hpp>

#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// What a consumer warpgroup's thread knows about itself.
struct attention_consumer_thread {
    reg<u32> index;  ///< its warpgroup: queries 64 * index of the block's tile
    reg<u32> t;      ///< thread of the warpgroup
    reg<u32> lane, warp;
    reg<s32> row;  ///< its first accumulator row inside the block's tile (the second is 8 below)
    reg<s32> col;  ///< its first column of each group of 8: 2 * (lane % 4)

    constexpr attention_consumer_thread(k_t& k, const reg32& tid)
        // Uniform in a warp, which ptxas only knows of a shuffle: descriptors then stay in uniform registers.
        : index(k.shfl_sync_idx(k.sub(k.shr(tid, 7u), 1u), 0u, 31u, full_mask).named("consumer")),
          t(k.and_(tid, 127u).named("t")),
          lane(k.and_(tid, 31u)),
          warp(k.shr(t, 5u)),
          row(k.mad_lo(index, 64u, k.mad_lo(warp, 16u, k.shr(lane, 2u))).template as<s32>()),
          col(k.shl(k.and_(lane, 3u), 1u).template as<s32>()) {}
};

/// Sets logits to -inf that are not seen. `edge_of(r)`: of the thread's row `r`; `seen(edge, c)`: whether column `c`
/// is.
template <u32 N, class Edge, class Seen>
constexpr void hide_logits(k_t& k, const accumulator<f32, N>& s, const Edge& edge_of, const Seen& seen) {
    const reg<s32> edge[2] = {edge_of(0), edge_of(1)};
    for (u32 i = 0; i < accumulator<f32, N>::size; ++i) {
        auto x = s[i];
        x = k.selp(x, -std::numeric_limits<float>::infinity(),
                   seen(edge[i / 2 % 2], static_cast<s32>(i / 4 * 8 + i % 2)));
    }
}

/// Which keys a tile's queries see: all in [left, right), both ends by row.
template <class S>
class attention_mask {
    static constexpr u32 bn = S::config.bn;
    using logits = accumulator<f32, bn>;

public:
    constexpr explicit attention_mask(const attention_arguments& p) : form_(p.form), left_(p.left), right_(p.right) {}

    /// For the queries of another tile.
    constexpr void begin(k_t& k, const attention_consumer_thread& me, const attention_tile& t) {
        // The warpgroup's first row sees the fewest keys at the right end, its last one at the left end.
        const auto top = k.add(k.mad_lo(me.index.template as<s32>(), 64, t.row), t.shift);
        const auto own = k.add(k.add(me.row, t.row), t.shift);
        const auto end = [&](const reg<s32>& row) {
            return form_.right ? reg<s32>(k.min(t.k_len, k.add(k.add(row, right_), 1))) : reg<s32>(k.mov(t.k_len));
        };
        all_end_ = end(top);
        for (u32 r = 0; r < 2; ++r) end_[r] = k.sub(end(k.add(own, 8 * r)), me.col);
        if (!form_.left) return;
        all_begin_ = k.sub(k.add(top, 63), left_);
        for (u32 r = 0; r < 2; ++r) begin_[r] = k.sub(k.sub(k.add(own, 8 * r), left_), me.col);
    }
    /// Sets what is not seen of the step at column `first` to -inf; a step that every row sees is left alone.
    constexpr void apply(k_t& k, const logits& s, const reg<s32>& first) const {
        k.if_(k.add(first, bn) > all_end_, [&] {
            hide_logits(
                k, s, [&](u32 r) { return reg<s32>(k.sub(end_[r], first)); },
                [](const reg<s32>& edge, s32 c) { return edge > c; });
        });
        if (!form_.left) return;
        k.if_(first < all_begin_, [&] {
            hide_logits(
                k, s, [&](u32 r) { return reg<s32>(k.sub(begin_[r], first)); },
                [](const reg<s32>& edge, s32 c) { return edge <= c; });
        });
    }

private:
    attention_form form_;
    reg<s32> left_, right_;
    reg<s32> all_end_, all_begin_;  ///< what every row of the warpgroup sees
    reg<s32> end_[2], begin_[2];    ///< what the thread's rows see, counted from its first column
};

/// Maxima and sums of a thread's two rows so far. Logits become weights 2^(factor * (logit - maximum)), and what was
/// summed up with a smaller maximum is scaled down when a larger one comes: by `correction`.
template <class S>
class online_softmax {
    static constexpr u32 bn = S::config.bn;
    using logits = accumulator<f32, bn>;
    static constexpr float nothing = -std::numeric_limits<float>::infinity();

public:
    constexpr explicit online_softmax(const regf32& factor) : factor_(factor) {}

    constexpr void begin(k_t& k) {
        for (u32 r = 0; r < 2; ++r) {
            max_[r] = k.template mov<f32>(nothing);
            scaled_[r] = k.template mov<f32>(nothing);
            sum_[r] = k.template mov<f32>(0.0f);
            correction_[r] = k.template mov<f32>(1.0f);
        }
    }
    /// A step's logits become weights.
    constexpr void step(k_t& k, const logits& s) {
        regf32 minus[2], sum[4];
        raise_maxima(k, s, minus);
        for (u32 i = 0; i < logits::size; ++i) {
            auto x = s[i];
            x = k.template ex2<approx, ftz>(k.template fma<rn>(x, factor_, minus[i / 2 % 2]));
            if (i >= 4) sum[i % 4] = k.template add<rn>(i < 8 ? s[i - 4] : sum[i % 4], x);
        }
        for (u32 r = 0; r < 2; ++r)
            sum_[r] = k.template fma<rn>(sum_[r], correction_[r], k.template add<rn>(sum[2 * r], sum[2 * r + 1]));
    }
    [[nodiscard]] constexpr const regf32& correction(u32 r) const { return correction_[r]; }
    /// The sums of whole rows.
    constexpr void finish(k_t& k) {
        for (u32 lanes = 1; lanes <= 2; lanes *= 2)
            for (u32 r = 0; r < 2; ++r)
                sum_[r] = k.template add<rn>(sum_[r], k.shfl_sync_bfly(sum_[r], lanes, 31u, full_mask));
    }
    /// 1 / sum; 0 of a row that saw nothing (and NaN of NaN).
    constexpr regf32 inverse(k_t& k, u32 r) const {
        return k.selp(k.template rcp<approx, ftz>(sum_[r]), 0.0f, sum_[r] != 0.0f);
    }
    /// ln of the sum of e^logit; -inf of a row that saw nothing.
    constexpr regf32 log_sum(k_t& k, u32 r) const {
        return k.template mul<rn>(k.template add<rn>(k.template lg2<approx>(sum_[r]), scaled_[r]),
                                  std::numbers::ln2_v<float>);
    }

private:
    /// `minus`: what is added to a logit times the factor.
    constexpr void raise_maxima(k_t& k, const logits& s, regf32 (&minus)[2]) {
        regf32 high[4];
        for (u32 i = 0; i < logits::size; ++i)
            high[i % 4] = i < 4 ? regf32(k.max(s[i], max_[i / 2])) : regf32(k.max(high[i % 4], s[i]));
        for (u32 r = 0; r < 2; ++r) max_[r] = k.max(high[2 * r], high[2 * r + 1]);
        for (u32 lanes = 1; lanes <= 2; lanes *= 2)
            for (u32 r = 0; r < 2; ++r) max_[r] = k.max(max_[r], k.shfl_sync_bfly(max_[r], lanes, 31u, full_mask));
        for (u32 r = 0; r < 2; ++r) {
            // A row that has seen nothing has no maximum to subtract: -inf - -inf is no number.
            const auto scaled = k.template mul<rn>(max_[r], factor_);
            const auto base = k.selp(scaled, 0.0f, max_[r] > nothing);
            correction_[r] = k.template ex2<approx, ftz>(k.template sub<rn>(scaled_[r], base));
            scaled_[r] = scaled;
            minus[r] = k.neg(base);
        }
    }
    regf32 factor_;
    regf32 max_[2], sum_[2], correction_[2];
    regf32 scaled_[2];  ///< factor * maximum, rounded once: what weights and corrections are relative to
};

/// Weights as the A operand of the second product.
template <class T, std::size_t N>
struct weight_fragments {
    a_fragment<T> f[N];
};
template <class T, std::size_t... Index>
constexpr weight_fragments<T, sizeof...(Index)> make_weights(k_t& k, std::index_sequence<Index...>) {
    return {{(static_cast<void>(Index), k.wgmma.make_a_fragment<T>("p"))...}};
}

/// A step's weights in 16 bits: the accumulator's registers are in the order of an A operand, two groups of 8 columns
/// make its 16.
template <class S, std::size_t N>
constexpr void pack_weights(k_t& k, const accumulator<f32, S::config.bn>& s,
                            const weight_fragments<typename S::element, N>& to) {
    for (u32 n = 0; n < N; ++n)
        for (u32 i = 0; i < 4; ++i) {
            auto pair = to.f[n][i];
            pair = k.template cvt<typename S::packed, rn>(hi(s[8 * n + 2 * i + 1]), lo(s[8 * n + 2 * i]))
                       .template as<b32>();
        }
}

/// Logits as softcap * tanh(scale * product / softcap), but for the factor softcap, which the softmax's has. By an
/// exponential and a reciprocal: `tanh.approx` is off by 2^-11, which at a softcap of 50 is 2.5 % of a weight.
template <class S>
constexpr void cap_logits(k_t& k, const accumulator<f32, S::config.bn>& s, const regf32& cap) {
    for (u32 i = 0; i < s.size; ++i) {
        auto x = s[i];
        const auto e = k.template ex2<approx, ftz>(k.template mul<rn>(x, cap));
        x = k.template fma<rn>(k.template rcp<approx, ftz>(k.template add<rn>(e, 1.0f)), -2.0f, 1.0f);
    }
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
