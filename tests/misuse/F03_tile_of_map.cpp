// SPDX-License-Identifier: Apache-2.0
// A tile whose shape, type or swizzle differs from the map's box.
//
// expect-1: PTXDSL-F03
// expect-2: PTXDSL-F03
// expect-3: PTXDSL-F03
// expect-4: PTXDSL-F03
// expect-5: PTXDSL-F03
// expect-6: PTXDSL-F03

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::u32;
using tile = px::tile<bf16, 64, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<tile> map, px::tma_map_out<tile> out, px::reg<u32> n) {
    const auto t = k.smem<tile>(2);
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    static_cast<void>(t), static_cast<void>(bar), static_cast<void>(map), static_cast<void>(n);
    const auto tall = k.smem<px::tile<bf16, 128, 64>>();
    static_cast<void>(tall), static_cast<void>(out);
#if PTXDSL_CASE == 0
    k.cp_async_bulk_tensor(t[0], map, px::coords(0, n), bar);
    k.cp_async_bulk_tensor(tall[0].part<tile>(1), map, px::coords(0, n), bar);
    k.cp_async_bulk_tensor(tall[0].part<tile>(n), map, px::coords(0, n), bar);
#elif PTXDSL_CASE == 1  // another shape
    k.cp_async_bulk_tensor(tall[0], map, px::coords(0, n), bar);  // here-1
#elif PTXDSL_CASE == 2  // another element type
    k.cp_async_bulk_tensor(k.smem<px::tile<f16, 64, 64>>()[0], map, px::coords(0, n), bar);  // here-2
#elif PTXDSL_CASE == 3  // another swizzle
    k.cp_async_bulk_tensor(k.smem<px::tile<bf16, 64, 64, px::k_major, px::no_swizzle>>()[0], map, px::coords(0, n),
                           bar);  // here-3
#elif PTXDSL_CASE == 4  // another major
    k.cp_async_bulk_tensor(k.smem<px::tile<bf16, 64, 64, px::mn_major>>()[0], map, px::coords(0, n), bar);  // here-4
#elif PTXDSL_CASE == 5  // a store
    k.cp_async_bulk_tensor(out, px::coords(0, n), tall[0]);  // here-5
#elif PTXDSL_CASE == 6  // a part that is none
    static_cast<void>(tall[0].part<px::tile<bf16, 48, 64>>(0));  // here-6
#endif
}
