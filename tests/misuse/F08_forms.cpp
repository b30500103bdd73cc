// SPDX-License-Identifier: Apache-2.0
// cta_group on a target without it, im2col offsets on a tiled map, gathers with a wrong index count.
//
// expect-1: PTXDSL-F08
// expect-2: PTXDSL-F08
// expect-3: PTXDSL-F08
// expect-4: PTXDSL-F08
// expect-5: PTXDSL-F08
// expect-6: PTXDSL-F08
// expect-7: PTXDSL-F08

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16;
using tile = px::tile<bf16, 64, 64>;
using four = px::tile<bf16, 4, 64>;
constexpr void body(px::builder<px::sm_100a>& k, px::builder<px::sm_90a>& hopper, px::tma_map<tile> tiled,
                    px::im2col_map<tile, 4> image, px::gather_map<four> rows, px::reg<px::u16> o) {
    static_cast<void>(k), static_cast<void>(hopper), static_cast<void>(tiled), static_cast<void>(image),
        static_cast<void>(rows), static_cast<void>(o);
#if PTXDSL_CASE == 0
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor(hopper.smem<tile>()[0], tiled, px::coords(0, 0), bar);
    hopper.cp_async_bulk_tensor(hopper.smem<tile>()[0], image, px::coords(0, 0, 0, 0), bar, px::offsets(o, o));
    const auto b = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    k.cp_async_bulk_tensor<px::cta_group_2>(k.smem<tile>()[0], tiled, px::coords(0, 0), b);
    k.cp_async_bulk_tensor(k.smem<four>()[0], rows, px::coords(0, 1, 5, 7, 9), b);
#elif PTXDSL_CASE == 1  // .cta_group::2 on sm_90a
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor<px::cta_group_2>(hopper.smem<tile>()[0], tiled, px::coords(0, 0), bar);  // here-1
#elif PTXDSL_CASE == 2  // offsets with a tiled map
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor(hopper.smem<tile>()[0], tiled, px::coords(0, 0), bar, px::offsets(o));  // here-2
#elif PTXDSL_CASE == 3  // an im2col map without offsets
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor(hopper.smem<tile>()[0], image, px::coords(0, 0, 0, 0), bar);  // here-3
#elif PTXDSL_CASE == 4  // one offset where the map has two
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor(hopper.smem<tile>()[0], image, px::coords(0, 0, 0, 0), bar, px::offsets(o));  // here-4
#elif PTXDSL_CASE == 5  // a gather of three rows
    const auto b = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    k.cp_async_bulk_tensor(k.smem<four>()[0], rows, px::coords(0, 1, 5, 7), b);  // here-5
#elif PTXDSL_CASE == 6  // a gather on sm_90a
    const auto bar = hopper.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    hopper.cp_async_bulk_tensor(hopper.smem<four>()[0], rows, px::coords(0, 1, 5, 7, 9), bar);  // here-6
#elif PTXDSL_CASE == 7  // a modifier that follows from the arguments
    const auto b = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    k.cp_async_bulk_tensor<px::tok::tile>(k.smem<tile>()[0], tiled, px::coords(0, 0), b);  // here-7
#endif
}
