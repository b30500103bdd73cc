// SPDX-License-Identifier: Apache-2.0
// Tiles that wgmma and bulk stores read, and nothing in the kernel waits for the copies that fill them: a barrier of
// the block behind the copy is no wait.
//
// expect-1: PTXDSL-E07 "E07_tiles.cpp:"
// expect-2: PTXDSL-E07 "E07_tiles.cpp:" "second"
// expect-3: PTXDSL-E07 "E07_tiles.cpp:"
// control-4: one thread waits, and the others meet it
// control-5: what is multiplied was there before the copies begin

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 64, 64>;

constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<tile> from, [[maybe_unused]] px::tma_map_out<tile> to,
                    px::global_ptr<f32> out) {
    const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto second = k.make_mbarrier_ring<"second">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    const auto multiply = [&] {
        k.wgmma.fence();
        k.wgmma.mma_async(acc, k.wgmma.descriptor(a), k.wgmma.descriptor(b), false);  // here-1 here-2
        k.wgmma.commit_group();
        k.wgmma.wait_group<0>();
        k.st(out + tid, acc[0]);
    };
    const auto copy = [&] {
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_init(full[0]);
            k.mbarrier_init(second[0]);
            k.fence_mbarrier_init();
            k.mbarrier_arrive_expect_tx(full[0], a);
            k.cp_async_bulk_tensor(a[0], from, px::coords(0, 0), full[0]);
            k.mbarrier_arrive_expect_tx(second[0], b);
            k.cp_async_bulk_tensor(b[0], from, px::coords(0, 0), second[0]);
        });
        k.bar_sync();
    };
    static_cast<void>(multiply), static_cast<void>(copy);
#if PTXDSL_CASE == 0
    copy();
    k.wait(full[0], 0);
    k.wait(second[0], 0);
    multiply();
#elif PTXDSL_CASE == 1
    copy();
    multiply();
#elif PTXDSL_CASE == 2
    copy();
    k.wait(full[0], 0);
    multiply();
#elif PTXDSL_CASE == 3
    copy();
    k.single_thread(tid == 0u, [&] {
        k.cp_async_bulk_tensor(to, px::coords(0, 0), a[0]);  // here-3
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group<0>();
    });
#elif PTXDSL_CASE == 4
    copy();
    k.if_(tid < 32u, [&] {
        k.wait(full[0], 0);
        k.wait(second[0], 0);
    });
    k.bar_sync();
    multiply();
#elif PTXDSL_CASE == 5
    for (u32 r = 0; r < 32; ++r) {
        k.st(k.tile_element(a[0], r * 2 + (tid >> 6u), tid & 63u).as<px::b16>(), k.mov<px::b16>(0));
        k.st(k.tile_element(b[0], r * 2 + (tid >> 6u), tid & 63u).as<px::b16>(), k.mov<px::b16>(0));
    }
    k.fence_proxy_async_shared_cta();
    k.bar_sync();
    multiply();
    k.bar_sync();
    copy();
    k.wait(full[0], 0);
    k.wait(second[0], 0);
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
