// SPDX-License-Identifier: Apache-2.0
// E11: the predicate of try_wait or test_wait is never read.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.mbarrier_arrive(bar.stage(0));
    k.wait(bar.stage(0), 0u);
    const auto early = k.mbarrier_test_wait_parity(bar.stage(0), 1u);
    k.if_(px::unless(early), [&] { k.wait(bar.stage(0), 1u); });
    const auto peek = k.new_reg<px::pred>();  // read at the top of the next iteration
    k.inst<"setp.ne.u32">(peek, n, 0u);
    k.for_(n, [&](px::reg<u32>) {
        k.if_(px::unless(peek), [&] { k.wait(bar.stage(0), 0u); });
        k.inst<"mbarrier.try_wait.parity.shared::cta.b64">(peek, k.shared_pointer<px::u64>(bar.stage(0).address()), 1u);
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E11

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    static_cast<void>(k.mbarrier_try_wait_parity(bar.stage(0), 0u));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E11

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
    static_cast<void>(k.mbarrier_test_wait_parity(bar.stage(0), 0u));  // here-2
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
