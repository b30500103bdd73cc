// SPDX-License-Identifier: Apache-2.0
// The number of coordinates differs from the rank of the map.
//
// expect-1: PTXDSL-F01
// expect-2: PTXDSL-F01
// expect-3: PTXDSL-F01
// expect-4: PTXDSL-F01
// expect-5: PTXDSL-F01
// expect-6: PTXDSL-F01

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<tile> map, px::tma_map<tile, 3> deep,
                    px::tma_map_out<tile> out, px::reg<u32> n, px::reg<px::u64> wide) {
    const auto t = k.smem<tile>(2);
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    static_cast<void>(t), static_cast<void>(bar), static_cast<void>(map), static_cast<void>(n);
    static_cast<void>(deep), static_cast<void>(out), static_cast<void>(wide);
#if PTXDSL_CASE == 0
    k.cp_async_bulk_tensor(t[0], map, px::coords(0, n), bar);
    k.cp_async_bulk_tensor(t[0], deep, px::coords(0, n, 3), bar);
    k.cp_async_bulk_prefetch_tensor(deep, px::coords(0, n, n));
    k.cp_async_bulk_tensor(out, px::coords(0, n), t[0]);
#elif PTXDSL_CASE == 1  // one too few
    k.cp_async_bulk_tensor(t[0], map, px::coords(0), bar);  // here-1
#elif PTXDSL_CASE == 2  // one too many
    k.cp_async_bulk_tensor(t[0], map, px::coords(0, n, 1), bar);  // here-2
#elif PTXDSL_CASE == 3  // a store
    k.cp_async_bulk_tensor(out, px::coords(0, n, 1), t[0]);  // here-3
#elif PTXDSL_CASE == 4  // a prefetch
    k.cp_async_bulk_prefetch_tensor(deep, px::coords(0, n));  // here-4
#elif PTXDSL_CASE == 5  // a float coordinate
    k.cp_async_bulk_tensor(t[0], map, px::coords(0.5f, n), bar);  // here-5
#elif PTXDSL_CASE == 6  // a 64-bit coordinate
    k.cp_async_bulk_tensor(t[0], map, px::coords(wide, n), bar);  // here-6
#endif
}
