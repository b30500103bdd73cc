// SPDX-License-Identifier: Apache-2.0
// E15, E01, D14: a pipeline made of two rings of mbarriers, with its slots and parities computed from the counter.
//
// expect-1: PTXDSL-E15 "the first wait for a free slot of pipeline 'full'"
// expect-2: PTXDSL-E15 "the first wait for a full slot of pipeline 'full'"
// expect-3: PTXDSL-E01 "this frees slot 1 of pipeline 'full' in a round that has waited for slot 0"
// expect-4: PTXDSL-E01 "nothing frees any"
// expect-5: PTXDSL-D14 "frees a slot of pipeline 'full'"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using tile = px::tile<bf16, 64, 64>;

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> n, px::global_ptr<f32> out) {
    const auto a = k.smem<tile>(4, "a");
    const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
    const auto empty = k.make_mbarrier_ring<"empty">(4, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] {
        for (u32 i = 0; i < 4; ++i) k.mbarrier_init(full[i]), k.mbarrier_init(empty[i]);
    });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             k.for_(n, [&](const px::reg<u32>& i) {
                 const auto slot = i & 3u;
                 const auto phase = k.shr(i, 2u) & 1u;
                 k.wait(empty[slot], PTXDSL_CASE == 1 ? phase ^ 0u : phase ^ 1u);  // here-1 here-4
                 k.mbarrier_arrive_expect_tx(full[slot], a);
                 k.cp_async_bulk_tensor(a[slot], map, px::coords(k.shl(i, 6u), 0u), full[slot]);
             });
         });
     }).else_([&] {
        const auto acc = k.wgmma.make_accumulator<f32, 64>();
        const auto d = k.wgmma.descriptor(a);
        k.for_(n, [&](const px::reg<u32>& i) {
            const auto slot = i & 3u;
            const auto phase = k.shr(i, 2u) & 1u;
            k.wait(full[slot], PTXDSL_CASE == 2 ? phase ^ 1u : phase ^ 0u);  // here-2
            k.wgmma.fence();
            k.wgmma.mma_async(acc, d[slot], d[slot], i != 0u);
            k.wgmma.commit_group();
            if constexpr (PTXDSL_CASE == 5)
                k.wgmma.wait_group<1>();
            else
                k.wgmma.wait_group<0>();
#if PTXDSL_CASE == 3
            k.mbarrier_arrive(empty[(i + 1u) & 3u]);  // here-3
#elif PTXDSL_CASE == 4
            // left out
#else
            k.mbarrier_arrive(empty[slot]);  // here-5
#endif
        });
        if constexpr (PTXDSL_CASE == 5) k.wgmma.wait_group<0>();
        k.st(out + tid, acc[0]);
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
