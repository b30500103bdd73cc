// SPDX-License-Identifier: Apache-2.0
// E07, F13, E01: a consumer that uses another slot than it waits for, frees another, or lets others wait for it.
//
// expect-1: PTXDSL-E07 "'a' is read here by warps that neither have waited"
// expect-2: PTXDSL-E07 "stage 0 of 'a' is read here in every round"
// expect-3: PTXDSL-F13 "stage 0 of 'a' is written here while the producer of pipeline 'load'"
// expect-4: PTXDSL-E01 "this ends a second phase of mbarrier 'full'"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using hopper = px::builder<px::sm_90a>;
using tile = px::tile<bf16, 64, 64>;

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> tiles, px::reg<u32> steps,
                    px::global_ptr<bf16> out) {
    const auto a = k.smem<tile>(4, "a"), staging = k.smem<tile>(1, "staging");
    const auto load = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(load); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto at = k.producer_state(load);
             k.for_(tiles * steps, [&](const px::reg<u32>& i) {
                 k.wait_empty(load, at);
#if PTXDSL_CASE == 4
                 k.mbarrier_arrive(load.full(at));
#endif
                 k.mbarrier_arrive_expect_tx(load.full(at), a);  // here-4
                 k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(k.shl(i, 6u), 0u), load.full(at));
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.role(128, [&] {
            const auto at = k.consumer_state(load);
            auto last = k.cvt<bf16, px::rn>(k.mov<px::f32>(0.0f));
            k.for_(tiles, [&](const px::reg<u32>&) {
                k.for_(steps, [&](const px::reg<u32>&) {
#if PTXDSL_CASE == 1
                    k.single_thread(tid == 128u, [&] { k.wait_full(load, at); });
#else
                    k.wait_full(load, at);
#endif
#if PTXDSL_CASE == 2
                    last = k.ld(k.tile_element(a[0], 0u, tid & 63u));  // here-2
#else
                    last = k.ld(k.tile_element(a[at.slot()], 0u, tid & 63u));  // here-1
#endif
                    k.mbarrier_arrive(load.empty(at));
                    k.advance(at);
                });
#if PTXDSL_CASE == 3
                k.st(k.tile_element(a[0], tid & 63u, 0u), last);  // here-3
#else
                k.st(k.tile_element(staging[0], tid & 63u, 0u), last);
#endif
            });
            k.st(out + tid, last);
        });
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
