// SPDX-License-Identifier: Apache-2.0
// E03: a role whose threads have met each other, and not the one that initialised the barrier.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
#if PTXDSL_CASE == 0
    k.bar_sync();
#elif PTXDSL_CASE == 2
    // control-2: the warp of the initialiser takes part
    k.if_(tid < 32u, [&] { k.bar_arrive<1, 160>(); });
#endif
    k.if_(tid >= 128u, [&] {
        k.role(128, [&] {
#if PTXDSL_CASE == 1
            // expect-1: PTXDSL-E03
            k.bar_sync<1, 128>();             // threads 128 to 255: thread 0 is not among them
            k.mbarrier_arrive(bar.stage(0));  // here-1
#elif PTXDSL_CASE == 2
            k.bar_sync<1, 160>();
            k.mbarrier_arrive(bar.stage(0));
#else
            k.mbarrier_arrive(bar.stage(0));
#endif
        });
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
