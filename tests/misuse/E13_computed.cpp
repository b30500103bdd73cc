// SPDX-License-Identifier: Apache-2.0
// E13: slots computed from the step: both sides take the remainder by the number of slots there are.
//
// expect-1: PTXDSL-E13 "3 slots" "elsewhere"
// expect-2: PTXDSL-E13 "8 slots" "which has 4"
// expect-3: PTXDSL-E13 "2 slots"
// control-4: a mask in the place of a remainder
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> steps) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             k.for_(steps, [&](px::reg<u32> i) {
#if PTXDSL_CASE == 2
                 const auto slot = k.and_(i, 7u);
#elif PTXDSL_CASE == 4
                 const auto slot = k.and_(i, 3u);
#else
                 const auto slot = k.rem(i, 4u);
#endif
                 k.wait(pipe.empty()[slot], k.xor_(k.and_(k.shr(i, 2u), 1u), 1u));  // here-2
                 k.mbarrier_arrive_expect_tx(pipe.full()[slot], a);
                 k.cp_async_bulk_tensor(a[slot], map, px::coords(0u, 0u), pipe.full()[slot]);
             });
         });
     }).else_([&] {
        k.role(128, [&] {
            k.for_(steps, [&](px::reg<u32> i) {
#if PTXDSL_CASE == 1
                const auto slot = k.rem(i, 3u);
#else
                const auto slot = k.rem(i, 4u);
#endif
                k.wait(pipe.full()[slot], k.and_(k.shr(i, 2u), 1u));
#if PTXDSL_CASE == 3
                k.mbarrier_arrive(pipe.empty()[k.and_(i, 1u)]);
#else
                k.mbarrier_arrive(pipe.empty()[slot]);
#endif
            });
        });
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
