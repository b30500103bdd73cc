// SPDX-License-Identifier: Apache-2.0
// E07: shared memory that other threads, or other blocks of the cluster, have written is read before they are met.
//
// expect-1: PTXDSL-E07 "k.bar_sync"
// expect-2: PTXDSL-E07 "barrier.cluster"
// expect-3: PTXDSL-E07 "k.bar_sync"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

/// The sum of one value of each warp, of each block.
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto warps = k.smem_array<f32>(4, "warps"), blocks = k.smem_array<f32>(2, "blocks");
    const auto tid = k.mov(px::tid.x);
    const auto rank = k.mov(px::cluster_ctarank);
    const auto lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
    k.barrier_cluster_arrive();
    k.at(lane == 0u).st(warps + warp, k.cvt<f32, px::rn>(tid));
#if PTXDSL_CASE == 1
    // left out
#else
    k.bar_sync();
#endif
    const auto mine = k.ld(warps + k.and_(lane, 3u));  // here-1
    k.barrier_cluster_wait();
    k.at(tid < 2u).st(k.mapa(blocks + rank, k.min(tid, 1u)), mine);
    k.barrier_cluster_arrive();
#if PTXDSL_CASE == 2
    // left out
#else
    k.barrier_cluster_wait();
#endif
    const auto theirs = k.ld(blocks + k.and_(lane, 1u));  // here-2
#if PTXDSL_CASE == 2
    k.barrier_cluster_wait();
#endif
    k.st(out + tid, theirs);
}
/// The sum of one value of each warp, made by the first one.
constexpr void one_warp(hopper& k, px::global_ptr<u32> out) {
    const auto part = k.smem_array<u32>(8, "part");
    const auto tid = k.mov(px::tid.x);
    const auto lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
    const auto sum = k.redux_sync_add(tid, 0xffffffffu);
    k.if_(lane == 0u, [&] { k.st(part + warp, sum); });
#if PTXDSL_CASE == 3
    k.bar_warp_sync();  // meets the own warp only
#else
    k.bar_sync();
#endif
    k.if_(tid < 8u, [&] {
        const auto mine = k.ld(part + lane);  // here-3
        k.at(tid == 0u).st(out, k.redux_sync_add(mine, 255u));
    });
}
[[maybe_unused]] constexpr auto small =
    px::assemble<px::kernel<"one_warp", one_warp, px::attributes{.reqntid = {256}}>>();
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {2}}>>();
