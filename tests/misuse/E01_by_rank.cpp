// SPDX-License-Identifier: Apache-2.0
// E01, E04: which blocks of the cluster a block sends to, and frees slots of, is computed from its rank.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

/// Two rows of two blocks: each block sends its tile to its row, and two warpgroups free the slot of both.
template <u32 Arrivals, u32 Bytes>
constexpr void share(hopper& k, const px::tma_map<tile>& map, const px::reg<u32>& steps) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<Arrivals>);
    const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
    const auto row = k.div(rank, 2u);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto at = k.producer_state(pipe);
             const auto mask = k.cvt<u16>(k.shl(k.mov<u32>(0b11), k.mul_lo(row, 2u)));
             k.for_(steps, [&](px::reg<u32>) {
                 k.wait_empty(pipe, at);
                 k.mbarrier_arrive_expect_tx(pipe.full(at), Bytes);  // here-2
                 k.cp_async_bulk_tensor_multicast(a[at.slot()], map, px::coords(0u, 0u), pipe.full(at), mask);
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.role(256, [&] {
            const auto t = k.and_(tid, 127u);
            const auto freed = k.mapa(pipe.empty(), k.mad_lo(row, 2u, t));
            const auto acc = k.wgmma.make_accumulator<f32, 64>();
            const auto d = k.wgmma.descriptor(a);
            const auto at = k.consumer_state(pipe);
            k.for_(steps, [&](px::reg<u32>) {
                k.wait_full(pipe, at);
                k.wgmma.fence();
                k.wgmma.mma_async(acc, d[at.slot()], d[at.slot()], false);
                k.wgmma.commit_group();
                k.wgmma.wait_group<0>();
                k.at(t < 2u).mbarrier_arrive(freed[at.slot()]);  // here-1
                k.advance(at);
            });
        });
    });
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> steps) {
#if PTXDSL_CASE == 0
    share<4, 2 * 8192>(k, map, steps);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E01 "expects"
    share<8, 2 * 8192>(k, map, steps);
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-E04 "8192"
    share<4, 8192>(k, map, steps);
#endif
}
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {384}, .cluster = {4}}>>();
