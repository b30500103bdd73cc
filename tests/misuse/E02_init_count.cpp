// SPDX-License-Identifier: Apache-2.0
// An mbarrier that expects 0 arrivals or more than 2^20 - 1, or lies at an odd place.
//
// expect-1: PTXDSL-E02
// expect-2: PTXDSL-E02
// expect-3: PTXDSL-E02
// expect-4: PTXDSL-E02
// expect-5: PTXDSL-E02

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k) {
#if PTXDSL_CASE == 0
    k.mbarrier_init(k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0]);
    k.mbarrier_init(k.make_mbarrier_ring<"most">(1, px::arrivals<1048575>)[0]);
    k.mbarrier_init(k.make_mbarrier_ring_at<"placed">(64, 1, px::arrivals_of(2))[0]);
#elif PTXDSL_CASE == 1  // none
    k.mbarrier_init(k.make_mbarrier_ring<"bar">(1, px::arrivals<0>)[0]);  // here-1
#elif PTXDSL_CASE == 2  // too many
    k.mbarrier_init(k.make_mbarrier_ring<"bar">(1, px::arrivals<1048576>)[0]);  // here-2
#elif PTXDSL_CASE == 3  // none, counted when the kernel is assembled
    k.mbarrier_init(k.make_mbarrier_ring<"bar">(1, px::arrivals_of(0))[0]);  // here-3
#elif PTXDSL_CASE == 4  // a pipeline without consumers
    k.init(k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals_of(0)));  // here-4
#elif PTXDSL_CASE == 5  // not 8-byte aligned
    k.mbarrier_init(k.make_mbarrier_ring_at<"placed">(12, 1, px::arrivals<1>)[0]);  // here-5
#endif
}
#if PTXDSL_CASE >= 3
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body>>();
#endif
