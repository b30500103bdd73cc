// SPDX-License-Identifier: Apache-2.0
// C08: accesses that go past the end of their shared array.
//
// expect-1: PTXDSL-C08 "copies"
// expect-2: PTXDSL-C08 "writes"
// expect-3: PTXDSL-C08 "loads"
// expect-4: PTXDSL-C08
// control-5: a size in a register
// control-6: conditions that do not hold: nothing runs the accesses
// expect-7: PTXDSL-C08 "writes"
// expect-8: PTXDSL-C08 "writes"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::global_ptr<const f32, 16> from, px::global_ptr<f32, 16> to, px::reg<u32> n) {
    const auto row = k.smem_array<f32, 16>(256, "row");
    const auto stages = k.smem<px::tile<px::bf16, 64, 64>>(2, "stages");
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
#if PTXDSL_CASE == 1
        k.mbarrier_arrive_expect_tx(bar[0], 2048u);
        k.cp_async_bulk(row, from, 2048u, bar[0]);  // here-1
#elif PTXDSL_CASE == 5
        k.mbarrier_arrive_expect_tx(bar[0], n);
        k.cp_async_bulk(row, from, n, bar[0]);
#else
        k.mbarrier_arrive_expect_tx(bar[0], 1024u);
        k.cp_async_bulk(row, from, 1024u, bar[0]);
#endif
    });
    k.wait(bar[0], 0u);
    const auto x = k.ld(row + tid);
#if PTXDSL_CASE == 2
    k.st((row + 254).assume_aligned<16>().as<px::packet<f32, 4>>(), px::vec{x, x, x, x});  // here-2
#elif PTXDSL_CASE == 3
    k.st(to + tid, k.ld(row + 256));  // here-3
#endif
#if PTXDSL_CASE == 6
    k.at(tid >= 128u).st(row + 256, x);
    k.at(tid == 200u).st(row + 256, x);
    k.if_(tid < 128u, [&] { k.st(row + tid, x); }).else_([&] { k.st(row + 256, x); });
    k.if_(k.mov<u32>(4u) > 4u, [&] { k.if_(n == 0u, [&] { k.st(row + 256, x); }); });
#elif PTXDSL_CASE == 7
    k.at(tid >= 127u).st(row + 256, x);  // here-7
#elif PTXDSL_CASE == 8
    k.if_(k.mov<u32>(4u) >= 4u, [&] { k.if_(n == 0u, [&] { k.st(row + 256, x); }); });  // here-8
#endif
    k.fence_proxy_async_shared_cta();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
#if PTXDSL_CASE == 4
        k.cp_async_bulk(to, row, 1040u);  // here-4
#else
        k.cp_async_bulk(to, row, 1024u);
#endif
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group<0>();
    });
    k.st(to + tid, x);
    static_cast<void>(stages);
    static_cast<void>(n);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
