// SPDX-License-Identifier: Apache-2.0
// E12: a barrier initialised twice without inval between.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(3, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_inval(bar.stage(0));
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_init(bar.stage(1));
        k.if_(n == 0u, [&] { k.mbarrier_init(bar.stage(2)); }).else_([&] {
            k.mbarrier_init(bar.stage(2));
        });  // one or the other
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E12

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.single_thread(tid == 32u, [&] {
        k.mbarrier_init(bar.stage(0));  // here-1
    });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E12

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    k.for_(n, [&](px::reg<u32>) {
        k.mbarrier_init(bar.stage(0));  // here-2
    });
}

#elif PTXDSL_CASE == 3
// control-3: two threads of which one exists in each block

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    const auto rank = k.mov(px::cluster_ctarank);
    k.single_thread(tid == 0u && rank == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.single_thread(tid == 32u && rank != 0u, [&] { k.mbarrier_init(bar.stage(0)); });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {64}}>>();
