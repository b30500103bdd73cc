// SPDX-License-Identifier: Apache-2.0
// E16: a multicast copy fills a slot of other blocks, which have no say in when it is free.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;
constexpr u32 slots = 4;

/// Both blocks of a pair send half of the slots to both; `release(pipe, state, tid)` frees a slot.
template <class Steps, class Release>
constexpr void ring(hopper& k, const map_t& map, const Steps& steps, px::arrival_count releases, Release release) {
    const auto a = k.smem<tile>(slots, "a");
    const auto pipe = k.make_pipeline<"load">(slots, px::arrivals<1>, releases);
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
                k.mbarrier_arrive_expect_tx(pipe.full(at), 2 * a.bytes());  // both blocks send
                k.cp_async_bulk_tensor_multicast(a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), pipe.full(at),
                                                 u16{3});  // here-2 here-5
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
    ring(k, map, slots, px::arrivals<128>,
         [&](const auto& pipe, const auto& at, const auto&) { k.mbarrier_arrive(pipe.empty(at)); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E16 "other blocks"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    ring(k, map, steps, px::arrivals<128>,
         [&](const auto& pipe, const auto& at, const auto&) { k.mbarrier_arrive(pipe.empty(at)); });
}

#elif PTXDSL_CASE == 3 || PTXDSL_CASE == 4
// control-3: MMAs of one block commit to the empty barriers of both, so each sender hears of both releases
// control-4: copies of a pair onto the barrier of its leader stay in their block

using blackwell = px::builder<px::sm_100a>;
using tile_a = px::tile<bf16, 128, 64>;
using half = px::tile<bf16, 32, 64>;

template <bool of_pair>
constexpr void body(blackwell& k, px::tma_map<tile_a> am, px::tma_map<half> bm, px::reg<u32> n) {
    constexpr auto group = of_pair ? px::cta_group_2 : px::cta_group_1;
    using tile_b = px::tile<bf16, of_pair ? 32 : 64, 64>;
    const auto a = k.smem<tile_a>(slots, "a");
    const auto b = k.smem<tile_b>(slots, "b");
    const auto pipe = k.make_pipeline<"load">(slots, px::arrivals<1>, px::arrivals < of_pair ? 1 : 2 >);
    const auto slot = k.tcgen05.template make_slot<64, group>("slot");
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto warp = k.shr(k.mov(px::tid.x), 5u), rank = k.mov(px::cluster_ctarank);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.init(pipe), k.mbarrier_init(done[0]); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();
    k.if_(warp == 1u, [&] { k.tcgen05.alloc(slot), k.tcgen05.relinquish_alloc_permit(slot); });
    k.tcgen05.fence_before_thread_sync(), k.bar_sync(), k.tcgen05.fence_after_thread_sync();
    const auto memory = k.tcgen05.load(slot);
    k.if_(warp == 0u, [&] {
        k.single_thread(k.elect_sync(), [&] {
            const auto at = k.producer_state(pipe);
            const auto leads = k.mapa(pipe.full(), 0u);
            k.for_(n, [&](px::reg<u32> i) {
                k.wait_empty(pipe, at);
                if constexpr (of_pair) {
                    k.if_(rank == 0u, [&] { k.mbarrier_arrive_expect_tx(pipe.full(at), 2 * (a.bytes() + b.bytes())); });
                    k.cp_async_bulk_tensor<group>(a[at.slot()], am, px::coords(k.shl(i, 6u), k.shl(rank, 7u)),
                                                  leads[at.slot()]);
                    k.cp_async_bulk_tensor<group>(b[at.slot()], bm, px::coords(k.shl(i, 6u), k.shl(rank, 5u)),
                                                  leads[at.slot()]);
                } else {
                    k.mbarrier_arrive_expect_tx(pipe.full(at), a, b);
                    k.cp_async_bulk_tensor(a[at.slot()], am, px::coords(k.shl(i, 6u), 0u), pipe.full(at));
                    k.cp_async_bulk_tensor_multicast(b[at.slot()].template part<half>(rank), bm,
                                                     px::coords(k.shl(i, 6u), k.shl(rank, 5u)), pipe.full(at), u16{3});
                }
                k.advance(at);
            });
        });
    });
    const auto multiplies = of_pair ? k.and_(warp == 1u, rank == 0u) : warp == 1u;
    k.if_(multiplies, [&] {
        k.single_thread(k.elect_sync(), [&] {
            const auto at = k.consumer_state(pipe);
            const auto acc = memory.template accumulator<f32, of_pair ? 256 : 128, 64>();
            const auto da = k.tcgen05.descriptor(a);
            const auto db = k.tcgen05.descriptor(b);
            k.for_(n, [&](px::reg<u32> i) {
                k.wait_full(pipe, at), k.tcgen05.fence_after_thread_sync();
                k.tcgen05.multiply(acc, da[at.slot()], db[at.slot()], i != 0u);
                k.tcgen05.commit_multicast<group>(pipe.empty(at), 3);
                k.advance(at);
            });
            k.tcgen05.commit_multicast<group>(done[0], of_pair ? 3 : 1);
        });
    });
    k.tcgen05.wait(done[0], 0u);
    k.tcgen05.fence_before_thread_sync(), k.barrier_cluster_arrive(), k.barrier_cluster_wait();
    k.if_(warp == 1u, [&] { k.tcgen05.fence_after_thread_sync(), k.tcgen05.dealloc(memory); });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-E16 "other blocks"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    // The last tile is announced to the peer, which says nothing about slots.
    const auto last = k.make_mbarrier_ring<"last">(1, px::arrivals<128>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(last[0]); });
    ring(k, map, steps, px::arrivals<128>,
         [&](const auto& pipe, const auto& at, const auto&) { k.mbarrier_arrive(pipe.empty(at)); });
    k.if_(k.mov(px::tid.x) < 128u, [&] { k.mbarrier_arrive(k.mapa(last[0], k.mov(px::cluster_ctarank) ^ 1u)); });
    k.wait(last[0], 0u);
}

#elif PTXDSL_CASE == 6
// control-6: a thread tells both senders that its block has freed the slot

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    const auto a = k.smem<tile>(slots, "a");
    const auto pipe = k.make_pipeline<"load">(slots, px::arrivals<1>, px::arrivals<128>);
    const auto all_free = k.make_mbarrier_ring<"all_free">(slots, px::arrivals<2>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] {
        k.init(pipe);
        for (u32 s = 0; s < slots; ++s) k.mbarrier_init(all_free[s]);
    });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();
    k.if_(tid < 128u, [&] {
         const auto at = k.consumer_state(pipe);
         k.for_(steps, [&](px::reg<u32>) {
             k.wait_full(pipe, at);
             k.mbarrier_arrive(pipe.empty(at));
             k.advance(at);
         });
     }).else_([&] {
        k.single_thread(tid == 128u, [&] {
            const auto at = k.producer_state(pipe);
            k.for_(steps, [&](px::reg<u32> i) {
                k.wait_empty(pipe, at);
                k.mbarrier_arrive(k.mapa(all_free[at.slot()], 0u));
                k.mbarrier_arrive(k.mapa(all_free[at.slot()], 1u));
                k.wait(all_free[at.slot()], k.xor_(at.parity(), 1u));
                k.mbarrier_arrive_expect_tx(pipe.full(at), 2 * a.bytes());  // both blocks send
                k.cp_async_bulk_tensor_multicast(a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), pipe.full(at),
                                                 u16{3});
                k.advance(at);
            });
        });
    });
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();
}

#endif
#if PTXDSL_CASE == 3 || PTXDSL_CASE == 4
constexpr auto kernel_body = body < PTXDSL_CASE == 4 > ;
#else
constexpr auto kernel_body = body;
#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", kernel_body, px::attributes{.reqntid = {256}, .cluster = {2}}>>();
