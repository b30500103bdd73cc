// SPDX-License-Identifier: Apache-2.0
// Attention for Hopper, one source for all head sizes (docs/kernels/attention.md draws the pipeline).
//
//   warpgroup 0    one thread goes from tile to tile and loads queries, keys and values through TMA
//   the others     64 queries each: logits, softmax in registers, results
//
// The grid is persistent.
#pragma once

#include <ptxdsl/kernels/attention/consumer.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// The kernel body of configuration `C` and form `f`: out = softmax(scale * q k^T) v for every head, of what the form
/// lets a query see. `lse`, `q_starts`, `k_starts` and `k_used` are read or written only where the form says so.
template <attention_config C, class T>
constexpr void attention_body(builder<sm_90a>& k, const attention_form& f,
                              typename detail::attention_spec<C, T>::map_q q,
                              typename detail::attention_spec<C, T>::map_k keys,
                              typename detail::attention_spec<C, T>::map_v values, global_ptr<T, 16> out,
                              global_ptr<f32> lse, global_ptr<const s32> q_starts, global_ptr<const s32> k_starts,
                              global_ptr<const s32> k_used, reg<s32> q_len, reg<s32> k_len, reg<u32> heads,
                              reg<u32> group, reg<u32> pairs, reg<u32> row_tiles, reg<f32> factor, reg<f32> cap,
                              reg<s32> left, reg<s32> right, reg<u64> o_row, reg<u64> o_head, reg<u64> o_batch,
                              reg<u64> lse_head, reg<u64> lse_batch) {
    using namespace detail;
    using S = attention_spec<C, T>;
    const attention_pointers<S> g{q, keys, values, out, lse, q_starts, k_starts, k_used};
    const attention_arguments p{.form = f,
                                .q_len = q_len,
                                .k_len = k_len,
                                .heads = heads,
                                .group = group,
                                .pairs = pairs,
                                .row_tiles = row_tiles,
                                .factor = factor,
                                .cap = cap,
                                .left = left,
                                .right = right,
                                .o_row = o_row,
                                .o_head = o_head,
                                .o_batch = o_batch,
                                .lse_head = lse_head,
                                .lse_batch = lse_batch};
    const attention_rings<S> rings(k);
    const auto tid = k.mov(ptxdsl::tid.x).named("tid");
    k.single_thread(tid == 0u, [&] {
        k.prefetch_tensormap(q);
        k.prefetch_tensormap(keys);
        k.prefetch_tensormap(values);
    });
    rings.start(k, tid);
    k.griddepcontrol_launch_dependents();
    k.griddepcontrol_wait();  // the grid before this one may still write what is read here
    attention_work<S> work(k, g, p);
    k.if_(tid < 128u, [&] {
         k.template setmaxnreg_dec<C.producer_registers()>();
         k.single_thread(tid == 0u, [&] { attention_producer<S>(k, rings, g).run(k, work); });
     }).else_([&] {
        k.template setmaxnreg_inc<C.consumer_registers()>();
        const attention_consumer_thread me(k, tid);
        attention_consumer<S>(k, rings, g, p, me).run(k, work);
    });
}

/// The launch attributes of configuration `C`.
template <attention_config C>
inline constexpr attributes attention_attributes{.reqntid = {C.threads()}, .minnctapersm = 1};

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
