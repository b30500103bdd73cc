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

#elif PTXDSL_CASE == 6
// control-6: all threads have left the wait before the barrier goes

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.mbarrier_arrive(bar.stage(0));
    k.wait(bar.stage(0), 0u);
    k.bar_sync();
    k.single_thread(tid == 0u, [&] { k.mbarrier_inval(bar.stage(0)); });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-E12 "others may still"

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.mbarrier_arrive(bar.stage(0));
    k.wait(bar.stage(0), 0u);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_inval(bar.stage(0));  // here-4
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-E12 "after it was"

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_init(bar.stage(1));
        k.mbarrier_inval(bar.stage(1));
        k.mbarrier_arrive(bar.stage(0));
        k.mbarrier_arrive(bar.stage(1));  // here-5
    });
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-E12 "128 threads initialise"

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    k.mbarrier_init(bar.stage(0));  // here-7
    k.bar_sync();
    k.mbarrier_arrive(bar.stage(0));
    k.wait(bar.stage(0), 0u);
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-E12 "64 threads initialise"

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    k.if_(k.mov(px::tid.x) < 64u, [&] {
        k.mbarrier_init(bar.stage(0));  // here-8
    });
    k.bar_sync();
    k.mbarrier_arrive(bar.stage(0));
    k.wait(bar.stage(0), 0u);
}

#elif PTXDSL_CASE == 9
// control-9: one thread, found by its index, by election in the first warp, or under a guard; a barrier for each thread

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(3, px::arrivals<128>);
    const auto own = k.make_mbarrier_ring<"own">(128, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.if_(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.if_(tid < 32u, [&] { k.if_(k.elect_sync(), [&] { k.mbarrier_init(bar.stage(1)); }); });
    k.at(tid == 5u).mbarrier_init(bar.stage(2));
    k.mbarrier_init(own[tid]);
    k.bar_sync();
    for (int i = 0; i < 3; ++i) k.mbarrier_arrive(bar.stage(i)), k.wait(bar.stage(i), 0u);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
