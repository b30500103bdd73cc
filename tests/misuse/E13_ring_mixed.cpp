// SPDX-License-Identifier: Apache-2.0
// The barrier of one pipeline indexed by the state of another; full and empty swapped.
//
// expect-1: PTXDSL-E13
// expect-2: PTXDSL-E13
// expect-3: PTXDSL-E13
// expect-4: PTXDSL-E13
// expect-5: PTXDSL-E13

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<tile> map, px::reg<u32> n) {
    const auto t = k.smem<tile>(2);
    const auto a = k.make_pipeline<"a">(2, px::arrivals<1>, px::arrivals<1>);
    const auto b = k.make_pipeline<"b">(2, px::arrivals<1>, px::arrivals<1>);
    const auto in = k.producer_state(a);
    const auto out = k.consumer_state(a);
    static_cast<void>(t), static_cast<void>(b), static_cast<void>(in), static_cast<void>(out), static_cast<void>(map),
        static_cast<void>(n);
#if PTXDSL_CASE == 0
    k.wait_empty(a, in);
    k.mbarrier_arrive_expect_tx(a.full(in), t);
    k.cp_async_bulk_tensor(t[in.slot()], map, px::coords(0, n), a.full(in));
    k.advance(in);
    k.wait_full(a, out);
    k.mbarrier_arrive(a.empty(out));
#elif PTXDSL_CASE == 1  // the state of another pipeline in a wait
    k.wait_empty(a, k.producer_state(b));  // here-1
#elif PTXDSL_CASE == 2  // in a consumer wait
    k.wait_full(b, out);  // here-2
#elif PTXDSL_CASE == 3  // in a barrier
    static_cast<void>(a.full(k.producer_state(b)));  // here-3
#elif PTXDSL_CASE == 4  // bytes expected on the empty barrier
    k.mbarrier_arrive_expect_tx(a.empty(in), t);  // here-4
#elif PTXDSL_CASE == 5  // a copy that completes on the empty barrier
    k.cp_async_bulk_tensor(t[in.slot()], map, px::coords(0, n), a.empty(in));  // here-5
#endif
}
