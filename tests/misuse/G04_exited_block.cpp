// SPDX-License-Identifier: Apache-2.0
// G04, E07: a block that has left its cluster is reached into; a cluster barrier that releases nothing.
//
// expect-1: PTXDSL-G04 "block 1 of the cluster, which has exited"
// expect-2: PTXDSL-E07 "barrier.cluster.arrive.relaxed"
// expect-3: PTXDSL-G04 "slots of pipeline 'load' are freed here in other blocks"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using hopper = px::builder<px::sm_90a>;
using tile = px::tile<bf16, 64, 64>;
using half_tile = px::tile<bf16, 32, 64>;
constexpr px::attributes pair(u32 threads) { return {.reqntid = {threads}, .cluster = {2}}; }

constexpr void exchange(hopper& k, px::global_ptr<f32> out, px::reg<f32> x) {
    const auto mine = k.smem_array<f32>(1, "mine");
    const auto tid = k.mov(px::tid.x);
    const auto rank = k.mov(px::cluster_ctarank);
#if PTXDSL_CASE == 1
    k.if_(rank == 1u, [&] { k.exit(); });
#endif
    k.single_thread(tid == 0u, [&] { k.st(mine, x); });
#if PTXDSL_CASE == 2
    k.barrier_cluster_arrive<px::relaxed>();
#else
    k.barrier_cluster_arrive();
#endif
    k.barrier_cluster_wait();
    const auto theirs = k.ld(k.mapa(mine, rank ^ 1u));  // here-1 here-2
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.st(out + tid, theirs);
}
constexpr void multicast(hopper& k, px::tma_map<half_tile> map, px::reg<u32> n, px::global_ptr<bf16> out) {
    const auto a = k.smem<tile>(4, "a");
    const auto load = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<256>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(load); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    const auto rank = k.mov(px::cluster_ctarank);
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto at = k.producer_state(load);
             k.for_(n, [&](const px::reg<u32>& i) {
                 k.wait_empty(load, at);
                 k.mbarrier_arrive_expect_tx(load.full(at), a);
                 k.cp_async_bulk_tensor_multicast(a[at.slot()].part<half_tile>(rank), map,
                                                  px::coords(k.shl(i, 6u), rank * 32u), load.full(at), u16{3});
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.role(128, [&] {
            const auto at = k.consumer_state(load);
            const auto first = k.mapa(load.empty(), 0u), second = k.mapa(load.empty(), 1u);
            k.for_(n, [&](const px::reg<u32>&) {
                k.wait_full(load, at);
                k.st(out + tid, k.ld(k.tile_element(a[at.slot()], 0u, tid & 63u)));
                k.mbarrier_arrive(first[at.slot()]);  // here-3
                k.mbarrier_arrive(second[at.slot()]);
                k.advance(at);
            });
        });
    });
#if PTXDSL_CASE == 3
    // left out
#else
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
#endif
}
[[maybe_unused]] constexpr auto assembled_exchange = px::assemble<px::kernel<"exchange", exchange, pair(128)>>();
[[maybe_unused]] constexpr auto assembled_ring = px::assemble<px::kernel<"multicast", multicast, pair(256)>>();
