// SPDX-License-Identifier: Apache-2.0
// The matrix product for operands TMA cannot address (rows that are no multiple of 16 bytes, any strides): one thread
// an element, f32 sums. Slow, and right for every shape.
#pragma once

#include <ptxdsl/kernels/gemm_kernel.hpp>

namespace ptxdsl::kernels {

namespace detail {

/// Strides of an operand or result, elements.
struct plain_strides {
    reg<u64> row, col, batch;
};

template <class T>
constexpr reg<f32> load_f32(k_t& k, const global_ptr<T>& p) {
    if constexpr (std::is_same_v<std::remove_const_t<T>, f32>)
        return k.ld(p);
    else
        return k.cvt<f32>(k.ld(p));
}

/// Address of element (row, col) of product `batch`.
template <class T>
constexpr global_ptr<T> plain_element(k_t& k, const global_ptr<T>& p, const plain_strides& s, const reg32& row,
                                      const reg32& col, const reg32& batch) {
    const auto at_row = k.mul_lo(k.cvt<u64>(row), s.row);
    const auto at_col = k.mad_lo(k.cvt<u64>(col), s.col, at_row);
    return p + k.mad_lo(k.cvt<u64>(batch), s.batch, at_col);
}

}  // namespace detail

/// C = act(alpha * A * B + bias) + beta * C, thread (x, y) of a 16 x 16 block for column x, row y; the grid's z is the
/// batch. Strides are (row, K, batch) of A, (column, K, batch) of B, (row, column, batch) of C.
template <class In, class Out, activation Act>
constexpr void gemm_plain_body(builder<sm_90a>& k, global_ptr<const In> a, global_ptr<const In> b, global_ptr<Out> c,
                               global_ptr<const In> bias, reg<u32> has_bias, reg<u32> m, reg<u32> n, reg<u32> depth,
                               reg<u64> a_row, reg<u64> a_k, reg<u64> a_batch, reg<u64> b_row, reg<u64> b_k,
                               reg<u64> b_batch, reg<u64> c_row, reg<u64> c_batch, reg<f32> alpha, reg<f32> beta) {
    using namespace detail;
    const auto col = k.mad_lo(k.mov(ctaid.x), 16u, k.mov(tid.x)).named("col");
    const auto row = k.mad_lo(k.mov(ctaid.y), 16u, k.mov(tid.y)).named("row");
    const auto batch = k.mov(ctaid.z);
    const auto one = k.mov<u64>(1);
    k.if_(row < m && col < n, [&] {
        auto pa = k.mad_lo(k.cvt<u64>(batch), a_batch, k.mul_lo(k.cvt<u64>(row), a_row));
        auto pb = k.mad_lo(k.cvt<u64>(batch), b_batch, k.mul_lo(k.cvt<u64>(col), b_row));
        auto sum = k.mov<f32>(0.0f).named("sum");
        k.for_(depth, [&](reg32) {
            const auto x = load_f32(k, a + pa);
            const auto y = load_f32(k, b + pb);
            sum = k.fma_rn(x, y, sum);
            pa = pa + a_k;
            pb = pb + b_k;
        });
        sum = sum * alpha;
        k.if_(has_bias != 0u, [&] {
            const auto added = load_f32(k, bias + col);
            sum = sum + added;
        });
        auto value = apply(k, Act, sum);
        const auto at = plain_element(k, c, {c_row, one, c_batch}, row, col, batch);
        k.if_(beta != 0.0f, [&] {
            const auto old = load_f32(k, at);
            value = k.fma_rn(old, beta, value);
        });
        if constexpr (std::is_same_v<Out, f32>)
            k.st(at, value);
        else
            k.st(at, k.cvt<Out, rn>(value));
    });
}
inline constexpr attributes gemm_plain_attributes{.reqntid = {16, 16}};

}  // namespace ptxdsl::kernels
