// SPDX-License-Identifier: Apache-2.0
// E03: a barrier used by other threads with no barrier of any kind after its init, or never initialised.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_init(bar.stage(1));
        k.mbarrier_arrive(bar.stage(0));  // the same thread: program order
    });
    k.bar_sync();
    k.wait(bar[n], 0u);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.mbarrier_arrive(bar.stage(0));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.wait(bar.stage(1), 1u);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-E03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    k.wait(bar.stage(0), 0u);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-E03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    k.mbarrier_arrive(bar.stage(0));  // here-4
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
