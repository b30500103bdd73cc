// SPDX-License-Identifier: Apache-2.0
// A constant stage, part, panel or element outside its tile.
//
// expect-1: PTXDSL-C03
// expect-2: PTXDSL-C03
// expect-3: PTXDSL-C03
// expect-4: PTXDSL-C03
// expect-5: PTXDSL-C03
// expect-6: PTXDSL-C03
// expect-7: PTXDSL-C03
// expect-8: PTXDSL-C03 "ring"
// expect-9: PTXDSL-C03 "ring"
// expect-10: PTXDSL-C03 "ring"
// expect-11: PTXDSL-C03 "ring"
// expect-12: PTXDSL-C03 "ring"
// expect-13: PTXDSL-C03 "ring"
// expect-14: PTXDSL-C03 "ring"
// expect-15: PTXDSL-C03 "ring"
// expect-16: PTXDSL-C03 "ring"
// expect-17: PTXDSL-C03 "ring"
// expect-18: PTXDSL-C03 "ring"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using full = px::tile<bf16, 64, 64>;
using half = px::tile<bf16, 32, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<full> map, px::reg<u32> n) {
    const auto t = k.smem<full>(3, "t");
    const auto bars = k.make_mbarrier_ring<"bars">(2, px::arrivals<1>);
    static_cast<void>(t), static_cast<void>(bars), static_cast<void>(n), static_cast<void>(map);
#if PTXDSL_CASE == 0
    static_cast<void>(t[2]), static_cast<void>(t[n]), static_cast<void>(t[0].at(63, 63)),
        static_cast<void>(t[1].part<half>(1));
#elif PTXDSL_CASE == 1  // stage 3 of 3
    static_cast<void>(t[3]);  // here-1
#elif PTXDSL_CASE == 2  // a negative stage
    static_cast<void>(t[-1]);  // here-2
#elif PTXDSL_CASE == 3  // barrier 2 of 2
    static_cast<void>(bars[2]);  // here-3
#elif PTXDSL_CASE == 4  // part 2 of 2
    static_cast<void>(t[0].part<half>(2));  // here-4
#elif PTXDSL_CASE == 5  // row 64 of 64
    static_cast<void>(t[0].at(64, 0));  // here-5
#elif PTXDSL_CASE == 6  // panel 1 of 1
    static_cast<void>(t[0].panel(1));  // here-6
#elif PTXDSL_CASE == 7  // descriptor of stage 3
    static_cast<void>(k.wgmma.descriptor(t).stage(3));  // here-7
#elif PTXDSL_CASE == 8  // a ring where one of its stages belongs
    k.mbarrier_init(bars);  // here-8
#elif PTXDSL_CASE == 9
    k.wait(bars, 0);  // here-9
#elif PTXDSL_CASE == 10
    k.mbarrier_arrive(bars);  // here-10
#elif PTXDSL_CASE == 11
    k.mbarrier_arrive_expect_tx(bars, t);  // here-11
#elif PTXDSL_CASE == 12
    static_cast<void>(k.mbarrier_try_wait_parity(bars, 0));  // here-12
#elif PTXDSL_CASE == 13
    k.cp_async_bulk_tensor(t, map, px::coords(0, 0), bars[0]);  // here-13
#elif PTXDSL_CASE == 14
    k.cp_async_bulk_tensor(t[0], map, px::coords(0, 0), bars);  // here-14
#elif PTXDSL_CASE == 15
    k.load_tile(t[0], map, px::coords(0, 0), bars);  // here-15
#elif PTXDSL_CASE == 16
    k.cp_async_bulk_tensor_multicast(t, map, px::coords(0, 0), bars[0], px::u16{3});  // here-16
#elif PTXDSL_CASE == 17
    static_cast<void>(k.tile_line(t, n));  // here-17
#elif PTXDSL_CASE == 18
    static_cast<void>(k.tile_element(t, n, n));  // here-18
#endif
}
#if PTXDSL_CASE < 8  // the others are refused as they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body>>();
#endif
