// SPDX-License-Identifier: Apache-2.0
// The grouped matrix product for Hopper: `gemm`'s ring, main loop and epilogue under a schedule that is read from
// memory (docs/kernels/grouped_gemm.md).
#pragma once

#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/grouped/work.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// The kernel body of configuration `C`: C = act(A B^T) for each group of rows, with a B of its own. `rows` says which
/// rows are whose (`grouped_variant::masked`), `most` how many a matrix of A has.
template <gemm_config C, class T, bool Gated>
constexpr void grouped_gemm_body(builder<sm_90a>& k, const grouped_variant& v,
                                 typename detail::grouped_spec<C, T, Gated>::map_a a,
                                 typename detail::grouped_spec<C, T, Gated>::map_b b,
                                 typename detail::grouped_spec<C, T, Gated>::map_c c_map, global_ptr<T> c,
                                 global_ptr<const s32> rows, reg<u32> groups, reg<u32> most, reg<u32> n, reg<u32> depth,
                                 reg<u32> ldc, reg<u64> batch_stride) {
    using namespace detail;
    using S = grouped_spec<C, T, Gated>;
    using plan = register_plan<S>;
    gemm_pointers<S> g{a, b, c_map, c, {}, {}, {}, {}, {}};  // not const: g++ 12 then refuses it in constant evaluation
    gemm_arguments p{};
    p.epilogue.act = v.act, p.epilogue.gated = Gated;
    p.n = n.same(), p.depth = depth.same(), p.ldc = ldc.same(), p.batch_stride = batch_stride.same();
    const gemm_ring<S> ring(k);
    const gemm_place<S> here(k, p);
    prologue(k, ring, here, g, p, [] {});
    tile_scheduler<S> scheduler(k, {v.masked, rows, groups, most}, p, here);
    k.if_(here.tid < 128u, [&] {
         if constexpr (plan::moves) k.template setmaxnreg_dec<plan::producer>();
         k.single_thread(here.tid == 0u, [&] {
             const grouped_producer<S> producer(k, ring, g, here.block);
             k.while_([&] { return scheduler.inside(); },
                      [&] {
                          producer.load(k, scheduler.coord(k), scheduler.group(), scheduler.last);
                          static_cast<void>(scheduler.next(k));
                      });
         });
     }).else_([&] {
        if constexpr (plan::moves) k.template setmaxnreg_inc<plan::consumer>();
        const gemm_consumer me(k, here.tid);
        overlapped_consumer<S> consumer(k, g, p, me);
        k.if_(scheduler.inside(), [&] { consumer.run(k, here, me, ring, scheduler); });
    });
    if constexpr (C.cluster_blocks() > 1) {  // no block leaves while its peer may still multicast to it
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
