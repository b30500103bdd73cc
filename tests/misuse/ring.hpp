// SPDX-License-Identifier: Apache-2.0
// A pipeline between one thread that fills slots and a warpgroup that multiplies them; the tests give both loop bodies.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

/// What the loop bodies work with.
struct slots {
    px::shared_tile<tile> a;
    px::pipeline<"load"> pipe;
};
constexpr px::attributes block{.reqntid = {256}};

template <class Fill, class Use>
constexpr void ring_kernel(hopper& k, px::reg<u32> steps, Fill fill, Use use, bool initialise = true) {
    const slots s{k.smem<tile>(4, "a"), k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<128>)};
    const auto tid = k.mov(px::tid.x);
    if (initialise) k.single_thread(tid == 0u, [&] { k.init(s.pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto at = k.producer_state(s.pipe);
             k.for_(steps, [&](px::reg<u32> i) {
                 fill(s, at, i);
                 k.advance(at);
             });
         });
     }).else_([&] {
        const auto at = k.consumer_state(s.pipe);
        const auto acc = k.wgmma.make_accumulator<f32, 64>();
        const auto a = k.wgmma.descriptor(s.a);
        k.for_(steps, [&](px::reg<u32>) {
            use(s, at, [&] {
                k.wgmma.fence();
                k.wgmma.mma_async(acc, a[at.slot()], a[at.slot()], false);
                k.wgmma.commit_group();
            });
            k.advance(at);
        });
    });
}
