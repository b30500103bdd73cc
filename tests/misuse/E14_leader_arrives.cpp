// SPDX-License-Identifier: Apache-2.0
// E14: one thread frees a slot while others of its role may still wait for it to fill.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

/// One thread fills slots, a group uses them; `use(slots, state, leader)` is the body of its loop.
template <class Use>
constexpr void ring(hopper& k, const map_t& map, const px::reg<u32>& steps, Use use, u32 consumers = 128) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < consumers, [&] {
         k.role(consumers, [&] {
             const auto at = k.consumer_state(pipe);
             const auto leader = tid == 0u;
             k.for_(steps, [&](px::reg<u32>) {
                 use(a, pipe, at, leader);
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.single_thread(tid == consumers, [&] {
            const auto at = k.producer_state(pipe);
            k.for_(steps, [&](px::reg<u32> i) {
                k.wait_empty(pipe, at);
                k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), pipe.full(at));
                k.advance(at);
            });
        });
    });
}

constexpr void body(hopper& k, map_t map, px::reg<u32> steps, [[maybe_unused]] px::global_ptr<f32> out) {
#if PTXDSL_CASE == 0
    ring(k, map, steps, [&](const auto& a, const auto& pipe, const auto& at, const auto& leader) {
        k.wait_full(pipe, at);
        k.st(out, k.cvt<f32>(k.ld(a[at.slot()].at(0, 0))));
        k.bar_sync<1, 128>();  // all 128 have left their wait, and read
        k.single_thread(leader, [&] { k.mbarrier_arrive(pipe.empty(at)); });
    });
#elif PTXDSL_CASE == 1
    // control-1: wgmma is executed by all four warps together
    ring(k, map, steps, [&](const auto& a, const auto& pipe, const auto& at, const auto& leader) {
        const auto acc = k.wgmma.make_accumulator<f32, 64>();
        const auto d = k.wgmma.descriptor(a);
        k.wait_full(pipe, at);
        k.wgmma.fence();
        k.wgmma.mma_async(acc, d[at.slot()], d[at.slot()], false);
        k.wgmma.commit_group();
        k.wgmma.wait_group<0>();
        k.single_thread(leader, [&] { k.mbarrier_arrive(pipe.empty(at)); });
    });
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-E14
    ring(k, map, steps, [&](const auto& a, const auto& pipe, const auto& at, const auto& leader) {
        k.wait_full(pipe, at);
        k.st(out, k.cvt<f32>(k.ld(a[at.slot()].at(0, 0))));
        k.single_thread(leader, [&] {
            k.mbarrier_arrive(pipe.empty(at));  // here-2
        });
    });
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-E14
    ring(k, map, steps, [&](const auto& a, const auto& pipe, const auto& at, const auto& leader) {
        k.bar_sync<1, 128>();  // before the wait: it holds nobody behind it
        k.wait_full(pipe, at);
        k.st(out, k.cvt<f32>(k.ld(a[at.slot()].at(0, 0))));
        k.single_thread(leader, [&] {
            k.mbarrier_arrive(pipe.empty(at));  // here-3
        });
    });
#elif PTXDSL_CASE == 4
    // warn-4: PTXDSL-E14 "lanes"
    ring(
        k, map, steps,
        [&](const auto& a, const auto& pipe, const auto& at, const auto& leader) {
            k.wait_full(pipe, at);
            k.st(out, k.cvt<f32>(k.ld(a[at.slot()].at(0, 0))));
            k.single_thread(leader, [&] {
                k.mbarrier_arrive(pipe.empty(at));  // here-4
            });
        },
        32);
#elif PTXDSL_CASE == 5
    // control-5: one warp, which meets
    ring(
        k, map, steps,
        [&](const auto& a, const auto& pipe, const auto& at, const auto&) {
            k.wait_full(pipe, at);
            k.st(out, k.cvt<f32>(k.ld(a[at.slot()].at(0, 0))));
            k.bar_warp_sync();
            k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(pipe.empty(at)); });
        },
        32);
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
