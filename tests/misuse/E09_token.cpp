// SPDX-License-Identifier: Apache-2.0
// The arrival token of one barrier waited on at another.
//
// expect-1: PTXDSL-E09
// expect-2: PTXDSL-E09

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k) {
    const auto a = k.make_mbarrier_ring<"a">(1, px::arrivals<1>);
    const auto b = k.make_mbarrier_ring<"b">(1, px::arrivals<1>);
#if PTXDSL_CASE == 0
    const auto token = k.mbarrier_arrive(a[0]);
    static_cast<void>(k.mbarrier_try_wait(a[0], token));
    static_cast<void>(k.mbarrier_test_wait(a[0], token));
    k.mbarrier_arrive(b[0]);
#elif PTXDSL_CASE == 1  // try_wait
    const auto token = k.mbarrier_arrive(a[0]);
    static_cast<void>(k.mbarrier_try_wait(b[0], token));  // here-1
#elif PTXDSL_CASE == 2  // test_wait
    const auto token = k.mbarrier_arrive_expect_tx_state(a[0], 64);
    static_cast<void>(k.mbarrier_test_wait(b[0], token));  // here-2
#endif
}
