// SPDX-License-Identifier: Apache-2.0
// E07: shared memory that other threads, or other blocks of the cluster, have written is read before they are met.
//
// expect-1: PTXDSL-E07 "k.bar_sync"
// expect-2: PTXDSL-E07 "barrier.cluster"
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
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {2}}>>();
