// SPDX-License-Identifier: Apache-2.0
// A wait on the barrier of another block, or with the state of an arrive there.
//
// expect-1: PTXDSL-E10
// expect-2: PTXDSL-E10
// expect-3: PTXDSL-E10
// expect-4: PTXDSL-E10
// expect-5: PTXDSL-E10
// expect-6: PTXDSL-E10

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;

constexpr void body(px::builder<px::sm_90a>& k, px::reg<u32> n) {
    const auto bars = k.make_mbarrier_ring<"bars">(2, px::arrivals<1>);
    const auto far = k.mapa(bars[0], n);
    static_cast<void>(far);
#if PTXDSL_CASE == 0
    k.mbarrier_arrive(far);
    k.mbarrier_arrive<px::release, px::cluster>(far, 2);
    k.mbarrier_arrive_expect_tx(far, 16);
    k.wait(bars[0], 0);
#elif PTXDSL_CASE == 1  // a wait
    k.wait(far, 0);  // here-1
#elif PTXDSL_CASE == 2  // try_wait
    static_cast<void>(k.mbarrier_try_wait_parity(far, 0));  // here-2
#elif PTXDSL_CASE == 3  // test_wait
    static_cast<void>(k.mbarrier_test_wait_parity(far, n));  // here-3
#elif PTXDSL_CASE == 4  // the state of a remote arrive
    const auto token = k.mbarrier_arrive(far);
    static_cast<void>(k.mbarrier_try_wait(bars[0], token));  // here-4
#elif PTXDSL_CASE == 5  // its pending count
    const auto token = k.mbarrier_arrive_drop(far);
    static_cast<void>(k.mbarrier_pending_count(token));  // here-5
#elif PTXDSL_CASE == 6  // arrive.noComplete
    k.mbarrier_arrive_noComplete(far, 1);  // here-6
#endif
}
