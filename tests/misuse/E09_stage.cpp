// SPDX-License-Identifier: Apache-2.0
// E09: the state of an arrival at one stage of a ring, waited for at another stage.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<128>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_init(bar.stage(1));
    });
    k.bar_sync();
    const auto first = k.mbarrier_arrive(bar.stage(0));
    const auto second = k.mbarrier_arrive(bar.stage(1));
    static_cast<void>(second);
#if PTXDSL_CASE == 0
    k.do_while([&] { return !k.mbarrier_try_wait(bar.stage(0), first); });
    k.do_while([&] { return !k.mbarrier_try_wait(bar.stage(1), second); });
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E09
    k.do_while([&] { return !k.mbarrier_try_wait(bar.stage(1), first); });  // here-1
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
