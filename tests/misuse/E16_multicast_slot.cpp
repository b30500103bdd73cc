// SPDX-License-Identifier: Apache-2.0
// E16: a multicast copy fills a slot of other blocks, which have no say in when it is free.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;
constexpr u32 stages = 4;

/// Both blocks of a pair send half of the slots to both; `release(pipe, state, tid)` frees a slot.
template <class Steps, class Release>
constexpr void ring(hopper& k, const map_t& map, const Steps& steps, px::arrival_count releases, Release release) {
    const auto a = k.smem<tile>(stages, "a");
    const auto pipe = k.make_pipeline<"load">(stages, px::arrivals<1>, releases);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.if_(tid < 128u, [&] {
         k.role(128, [&] {
             const auto at = k.consumer_state(pipe);
             k.for_(steps, [&](px::reg<u32>) {
                 k.wait_full(pipe, at);
                 release(pipe, at, tid);
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.single_thread(tid == 128u, [&] {
            const auto at = k.producer_state(pipe);
            k.for_(steps, [&](px::reg<u32> i) {
                k.wait_empty(pipe, at);
                k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                k.cp_async_bulk_tensor_multicast(a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), pipe.full(at),
                                                 u16{3});  // here-2
                k.advance(at);
            });
        });
    });
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    ring(k, map, steps, px::arrivals<256>, [&](const auto& pipe, const auto& at, const auto&) {
        k.mbarrier_arrive(k.mapa(pipe.empty(at), 0u));  // at both blocks
        k.mbarrier_arrive(k.mapa(pipe.empty(at), 1u));
    });
}

#elif PTXDSL_CASE == 1
// control-1: every slot is filled once

constexpr void body(hopper& k, map_t map) {
    ring(k, map, stages, px::arrivals<128>,
         [&](const auto& pipe, const auto& at, const auto&) { k.mbarrier_arrive(pipe.empty(at)); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E16 "other blocks"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    ring(k, map, steps, px::arrivals<128>,
         [&](const auto& pipe, const auto& at, const auto&) { k.mbarrier_arrive(pipe.empty(at)); });
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}, .cluster = {2}}>>();
