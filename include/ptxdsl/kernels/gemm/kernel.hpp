// SPDX-License-Identifier: Apache-2.0
// The matrix product for Hopper, one source for all configurations (docs/kernels/gemm.md draws the pipeline).
//
//   warpgroup 0    one thread goes from tile to tile and feeds a ring of shared-memory stages through TMA
//   the others     wait for a stage, multiply 64 rows each, free the stage; the result is converted to 16 bits in
//                  registers and stored while the tensor cores already work on the next tile
//
// The grid is persistent (without `split_k`): a cluster takes every (number of clusters)-th tile.
#pragma once

#include <ptxdsl/kernels/gemm/block_scaled.hpp>
#include <ptxdsl/kernels/gemm/split_k.hpp>

#include <type_traits>

namespace ptxdsl::kernels::detail {

/// Makes the ring ready, and what `also` says, and lets the next grid be placed on multiprocessors that become free.
template <class S, class Also>
constexpr void prologue(k_t& k, const gemm_ring<S>& ring, const gemm_place<S>& here, const gemm_pointers<S>& g,
                        const gemm_arguments& p, const Also& also) {
    k.single_thread(here.tid == 0u, [&] {
        k.prefetch_tensormap(g.a);
        k.prefetch_tensormap(g.b);
    });
    ring.start(k, here.tid, also);
    k.griddepcontrol_launch_dependents();
    if (!p.early_b) k.griddepcontrol_wait();  // the grid before this one may still write A, B or read C
}

/// The producer's items, one after the other.
template <class S>
constexpr void produce_all(k_t& k, const gemm_producer<S>& producer, tile_scheduler<S>& scheduler, bool early_b) {
    const auto zero = k.mov<u32>(0);
    const auto first = [&] { return S::config.stream_k ? scheduler.first : zero; };
    if (early_b) {
        producer.load_early(k, scheduler.coord(k), first(), scheduler.last);
        const auto done = scheduler.next(k);
        k.if_(unless(done), [&] {
            k.do_while([&] {
                producer.load(k, scheduler.coord(k), first(), scheduler.last);
                return !scheduler.next(k);
            });
        });
    } else {
        k.do_while([&] {
            producer.load(k, scheduler.coord(k), first(), scheduler.last);
            return !scheduler.next(k);
        });
    }
}

template <class S>
constexpr void persistent_gemm(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) {
    constexpr bool packs = S::config.store == store_mode::tma || S::config.turns_behind();
    using whole = std::conditional_t<packs, overlapped_consumer<S>, direct_consumer<S>>;
    using one_tile = std::conditional_t<S::config.block_scaled, block_scaled_consumer<S>, whole>;
    using consumer = std::conditional_t<S::config.ping_pong(), ping_pong_consumer<S>, one_tile>;
    using plan = register_plan<S>;
    const gemm_ring<S> ring(k);
    const gemm_place<S> here(k, p);
    prologue(k, ring, here, g, p, [] {});
    const tile_raster<S> raster(k, p, here.block);
    tile_scheduler<S> scheduler(k, raster, here.steps, here.cluster, here.clusters);
    k.if_(here.tid < 128u, [&] {
         if constexpr (plan::moves) k.template setmaxnreg_dec<plan::producer>();
         k.single_thread(here.tid == 0u,
                         [&] { produce_all(k, gemm_producer<S>(k, ring, g.a, g.b, raster), scheduler, p.early_b); });
     }).else_([&] {
        if constexpr (plan::moves) k.template setmaxnreg_inc<plan::consumer>();
        if (p.early_b) k.griddepcontrol_wait();
        const gemm_consumer me(k, here.tid);
        consumer(k, g, p, me).run(k, here, me, ring, scheduler);
    });
    if constexpr (S::config.cluster_blocks() >
                  1) {  // no block leaves while its peer may still multicast to it or free its slots
        k.template barrier_cluster_arrive<relaxed>();
        k.barrier_cluster_wait();
    }
}

template <class S>
constexpr void split_k_gemm(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) {
    constexpr u32 ways = S::config.split_k;
    const gemm_ring<S> ring(k);
    const split_k_consumer<S> out(k, g, p);
    const gemm_place<S> here(k, p);
    prologue(k, ring, here, g, p, [&] { out.init(k); });
    const tile_raster<S> raster(k, p, here.block);
    const auto pos = raster.at(k, here.cluster);
    const auto first = k.div(k.mul_lo(here.steps, here.block.rank), ways);
    const auto last = k.div(k.mul_lo(here.steps, k.add(here.block.rank, 1u)), ways);
    k.if_(here.tid < 128u, [&] {
         k.single_thread(here.tid == 0u, [&] {
             const gemm_producer<S> producer(k, ring, g.a, g.b, raster);
             if (p.early_b)
                 producer.load_early(k, pos, first, last);
             else
                 producer.load(k, pos, first, last);
         });
     }).else_([&] {
        if (p.early_b) k.griddepcontrol_wait();
        out.run(k, here, ring, first, last, pos);
    });
}

}  // namespace ptxdsl::kernels::detail

namespace ptxdsl::kernels {

/// The kernel body of configuration `C`: C = A * B with A of `In`, B of `InB`, results of `Out`, f32 sums (s32 of s8).
/// `Gated` is `v.epilogue.gated`, which decides how many columns a block stores.
///
/// `a_scale` and `b_scale` are one value each with `tensor_scales`, matrices with `block_scaled`, else not used.
/// `partials` and `flags` (zero) are used with `stream_k` only, `c` without `store_mode::tma`, `c_map` with it.
template <gemm_config C, class In, class Out, bool Gated = false, class InB = In>
constexpr void gemm_body(builder<sm_90a>& k, const gemm_variant& v,
                         typename detail::gemm_spec<C, In, Out, Gated, InB>::map_a a,
                         typename detail::gemm_spec<C, In, Out, Gated, InB>::map_b b,
                         typename detail::gemm_spec<C, In, Out, Gated, InB>::map_c c_map, global_ptr<Out> c,
                         global_ptr<const detail::bias_of<In, Out>> bias, global_ptr<f32, 16> partials,
                         global_ptr<u32> flags, reg<u32> m, reg<u32> n, reg<u32> depth, reg<u32> batches, reg<u32> ldc,
                         reg<u64> batch_stride, reg<f32> alpha, reg<f32> beta, global_ptr<const f32> a_scale,
                         global_ptr<const f32> b_scale, reg<u64> a_scale_row, reg<u64> a_scale_k, reg<u64> b_scale_col,
                         reg<u64> b_scale_k) {
    using S = detail::gemm_spec<C, In, Out, Gated, InB>;
    const detail::gemm_pointers<S> g{a, b, c_map, c, bias, partials, flags, a_scale, b_scale};
    const detail::gemm_arguments p{.epilogue = v.epilogue,
                                   .early_b = v.early_b,
                                   .m = m,
                                   .n = n,
                                   .depth = depth,
                                   .batches = batches,
                                   .ldc = ldc,
                                   .batch_stride = batch_stride,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a_scale_row = a_scale_row,
                                   .a_scale_k = a_scale_k,
                                   .b_scale_col = b_scale_col,
                                   .b_scale_k = b_scale_k};
    if constexpr (C.split_k > 1)
        detail::split_k_gemm<S>(k, g, p);
    else
        detail::persistent_gemm<S>(k, g, p);
}

/// The launch attributes of configuration `C`.
template <gemm_config C>
inline constexpr attributes gemm_attributes{
    .reqntid = {C.threads()}, .minnctapersm = C.blocks_per_sm, .cluster = {C.cluster_blocks()}};

}  // namespace ptxdsl::kernels
