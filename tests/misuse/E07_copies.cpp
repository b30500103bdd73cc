// SPDX-License-Identifier: Apache-2.0
// E07: what a bulk copy or a cp.async brings is read before it is there.
//
// expect-1: PTXDSL-E07 "mbarrier"
// expect-2: PTXDSL-E07 "reads"
// expect-3: PTXDSL-E07 "reads"
// expect-4: PTXDSL-E07 "nothing"
// expect-5: PTXDSL-E07 "copy"
// expect-8: PTXDSL-E07 "nothing"
// control-6: one thread waits, the others meet it
// control-7: the copy begins in a case, and is waited for in it
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::global_ptr<const f32, 16> from, px::global_ptr<f32, 16> to, px::reg<u32> n) {
    const auto row = k.smem_array<f32, 16>(256, "row");
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
    k.fence_mbarrier_init();
    k.bar_sync();
    const auto copy = [&] {
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_arrive_expect_tx(bar[0], 1024u);
            k.cp_async_bulk(row, from, 1024u, bar[0]);
        });
    };
#if PTXDSL_CASE == 0
    copy();
    k.wait(bar[0], 0u);
    const auto x = k.ld(row + tid);
#elif PTXDSL_CASE == 1
    copy();
    k.bar_sync();
    const auto x = k.ld(row + tid);  // here-1
#elif PTXDSL_CASE == 2
    copy();
    const auto x = k.ld(row + tid);  // here-2
    k.wait(bar[0], 0u);
#elif PTXDSL_CASE == 3
    const auto mine = (row + tid * 2u).assume_aligned<8>();
    k.cp_async<px::ca, 8>(mine, (from + tid * 2u).assume_aligned<8>());
    k.cp_async_commit_group();
    const auto x = k.ld(mine);  // here-3
    k.cp_async_wait_group<0>();
#elif PTXDSL_CASE == 4
    k.cp_async<px::ca, 8>((row + tid * 2u).assume_aligned<8>(), (from + tid * 2u).assume_aligned<8>());
    k.cp_async_commit_group();
    k.bar_sync();
    const auto x = k.ld(row + tid);  // here-4
#elif PTXDSL_CASE == 5
    copy();
    k.single_thread(tid == 0u, [&] {
        k.cp_async_bulk(to, row, 1024u);  // here-5
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group<0>();
    });
    k.wait(bar[0], 0u);
    const auto x = k.ld(row + tid);
#elif PTXDSL_CASE == 6
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive_expect_tx(bar[0], 1024u);
        k.cp_async_bulk(row, from, 1024u, bar[0]);
        k.wait(bar[0], 0u);
    });
    k.bar_sync();
    const auto x = k.ld(row + tid);
#elif PTXDSL_CASE == 7
    k.if_(n != 0u, copy);
    k.if_(n != 0u, [&] { k.wait(bar[0], 0u); });
    const auto x = k.ld(row + tid);
#elif PTXDSL_CASE == 8
    const auto other = k.smem_array<f32, 16>(256, "other");
    const auto second = k.make_mbarrier_ring<"second">(1, px::arrivals<1>);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_init(second[0]);
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(second[0], 1024u);
        k.cp_async_bulk(other, from, 1024u, second[0]);
    });
    copy();
    k.wait(bar[0], 0u);
    const auto x = k.ld(other + tid);  // here-8
#endif
    k.st(to + tid, x);
    static_cast<void>(n);
    static_cast<void>(copy);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
