// SPDX-License-Identifier: Apache-2.0
// The matrix product for operands TMA cannot address (rows that are no multiple of 16 bytes, any strides): one thread
// an element, sums in f32 or s32. Slow, and right for every shape.
#pragma once

#include <ptxdsl/kernels/gemm/epilogue.hpp>

#include <type_traits>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

namespace detail {

/// Strides of an operand or result, elements.
struct plain_strides {
    reg<u64> row, col, batch;
};
/// Block scales: the first one, and elements from one row (or column) and from one 128 of K to the next.
struct plain_block_scales {
    global_ptr<const f32> first;
    reg<u64> line, k;
};

/// An element as the sums take it: s32 of s8, else f32.
template <class T>
constexpr auto load_plain(k_t& k, const global_ptr<const T>& p) {
    if constexpr (std::is_same_v<T, f32>) {
        return k.ld(p);
    } else if constexpr (std::is_same_v<T, s8>) {
        return k.cvt<s32>(k.ld(p));
    } else if constexpr (sizeof(T) == 1) {  // fp8 converts in pairs (PTX ISA 9.7.9.22)
        using two = std::conditional_t<std::is_same_v<T, e5m2>, e5m2x2, e4m3x2>;
        const auto byte = k.ld(p.template as<const u8>());
        const auto both = k.cvt<f16x2, rn>(k.mov_b16<two>(k.cvt<u16>(byte)));
        return k.cvt<f32>(k.mov_unpack<f16>(both)[0]);
    } else {
        return k.cvt<f32>(k.ld(p));
    }
}

/// Address of element (row, col) of product `batch`.
template <class T>
constexpr global_ptr<T> plain_element(k_t& k, const global_ptr<T>& p, const plain_strides& s, const reg32& row,
                                      const reg32& col, const reg32& batch) {
    const auto at_row = k.mul_lo(k.cvt<u64>(row), s.row);
    const auto at_col = k.mad_lo(k.cvt<u64>(col), s.col, at_row);
    return p + k.mad_lo(k.cvt<u64>(batch), s.batch, at_col);
}

/// Rows of A times columns of B.
template <class A, class B>
struct plain_product {
    using sum = std::conditional_t<std::is_same_v<A, s8>, s32, f32>;
    global_ptr<const A> a;
    global_ptr<const B> b;
    plain_strides as, bs;  ///< `col` is K's
    plain_block_scales a_scale, b_scale;
    reg32 depth, batch;
    bool block_scales;

    constexpr reg<sum> dot(k_t& k, const reg32& row, const reg32& col) const {
        auto pa = k.mad_lo(k.cvt<u64>(batch), as.batch, k.mul_lo(k.cvt<u64>(row), as.row));
        auto pb = k.mad_lo(k.cvt<u64>(batch), bs.batch, k.mul_lo(k.cvt<u64>(col), bs.row));
        if (!block_scales) return run(k, pa, pb, depth);
        if constexpr (std::is_same_v<sum, s32>) {
            return {};  // s8 has no scales
        } else {
            auto all = k.mov<f32>(0.0f).named("all");
            auto sa = k.mul_lo(k.cvt<u64>(row), a_scale.line);
            auto sb = k.mul_lo(k.cvt<u64>(k.shr(col, 7u)), b_scale.line);
            k.for_(0u, depth, 128u, [&](const reg32& first) {
                const auto part = run(k, pa, pb, k.min(k.sub(depth, first), 128u));
                const auto scale = k.mul<rn>(k.ld(a_scale.first + sa), k.ld(b_scale.first + sb));
                all = k.fma<rn>(part, scale, all);
                sa = sa + a_scale.k;
                sb = sb + b_scale.k;
            });
            return all;
        }
    }

private:
    /// The sum over `count` of K; `pa` and `pb` are behind them afterwards.
    constexpr reg<sum> run(k_t& k, reg<u64>& pa, reg<u64>& pb, const reg32& count) const {
        auto total = k.mov<sum>(sum{}).named("sum");
        k.for_(count, [&](const reg32&) {
            const auto x = load_plain(k, a + pa);
            const auto y = load_plain(k, b + pb);
            if constexpr (std::is_same_v<sum, s32>)
                total = k.mad_lo(x, y, total);
            else
                total = k.fma<rn>(x, y, total);
            pa = pa + as.col;
            pb = pb + bs.col;
        });
        return total;
    }
};

/// What follows the product of f32 sums.
template <class Bias>
struct plain_epilogue {
    gemm_plain_form form;
    global_ptr<const Bias> bias;
    reg<u32> has_bias;
    reg<f32> alpha;

    constexpr reg<f32> linear(k_t& k, const reg<f32>& sum, const reg32& col) const {
        auto v = k.mul<rn>(sum, alpha);
        k.if_(has_bias != 0u, [&] { v = k.add<rn>(v, load_plain(k, bias + col)); });
        return v;
    }
    /// Element `col` of C in `row`: of a gated product, the group of 16 columns of B is 8 of the gate, 8 of the value.
    template <class Product>
    constexpr reg<f32> value(k_t& k, const Product& product, const reg32& row, const reg32& col) const {
        if (form.gated) {
            const auto gate = k.add(k.shl(k.shr(col, 3u), 4u), k.and_(col, 7u));
            const auto up = k.add(gate, 8u);
            const auto g = apply(k, form.act, linear(k, product.dot(k, row, gate), gate));
            const auto v = linear(k, product.dot(k, row, up), up);
            return k.mul<rn>(g, v);
        }
        return apply(k, form.act, linear(k, product.dot(k, row, col), col));
    }
};

}  // namespace detail

/// C = act(alpha * A * B + bias) + beta * C, thread (x, y) of a 16 x 16 block for column x and every (16 grid.y)-th row
/// from y on; the grid's z is the batch. `n` counts C's columns. Strides are (row, K, batch) of A, (column, K, batch)
/// of B, (row, batch) of C; those of block scales as `gemm_body`'s. s8 gives the sums as they are.
template <class A, class B, class Out>
constexpr void gemm_plain_body(builder<sm_90a>& k, const gemm_plain_form& f, global_ptr<const A> a,
                               global_ptr<const B> b, global_ptr<Out> c, global_ptr<const detail::bias_of<A, Out>> bias,
                               reg<u32> has_bias, reg<u32> m, reg<u32> n, reg<u32> depth, reg<u64> a_row, reg<u64> a_k,
                               reg<u64> a_batch, reg<u64> b_row, reg<u64> b_k, reg<u64> b_batch, reg<u64> c_row,
                               reg<u64> c_batch, reg<f32> alpha, reg<f32> beta, global_ptr<const f32> a_scale,
                               global_ptr<const f32> b_scale, reg<u64> a_scale_row, reg<u64> a_scale_k,
                               reg<u64> b_scale_col, reg<u64> b_scale_k) {
    using namespace detail;
    const auto col = k.mad_lo(k.mov(ctaid.x), 16u, k.mov(tid.x)).named("col");
    const auto first_row = k.mad_lo(k.mov(ctaid.y), 16u, k.mov(tid.y)).named("first_row");
    const auto batch = k.mov(ctaid.z);
    const auto one = k.mov<u64>(1);
    if (f.scales == plain_scales::tensor) alpha = k.mul<rn>(alpha, k.mul<rn>(k.ld(a_scale), k.ld(b_scale)));
    const plain_product<A, B> product{a,
                                      b,
                                      {a_row, a_k, a_batch},
                                      {b_row, b_k, b_batch},
                                      {a_scale, a_scale_row, a_scale_k},
                                      {b_scale, b_scale_col, b_scale_k},
                                      depth,
                                      batch,
                                      f.scales == plain_scales::blocks};
    const plain_epilogue<bias_of<A, Out>> epilogue{f, bias, has_bias, alpha};
    k.if_(col < n, [&] {
        k.for_(first_row, m, k.shl(k.mov(nctaid.y), 4u), [&](const reg32& row) {
            const auto at = plain_element(k, c, {c_row, one, c_batch}, row, col, batch);
            if constexpr (std::is_same_v<Out, s32>) {
                k.st(at, product.dot(k, row, col));
            } else {
                auto value = epilogue.value(k, product, row, col);
                k.if_(beta != 0.0f, [&] {
                    const auto old = load_plain<Out>(k, at);
                    value = k.fma<rn>(old, beta, value);
                });
                if constexpr (std::is_same_v<Out, f32>)
                    k.st(at, value);
                else
                    k.st(at, k.cvt<Out, rn>(value));
            }
        });
    });
}
inline constexpr attributes gemm_plain_attributes{.reqntid = {16, 16}};

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
