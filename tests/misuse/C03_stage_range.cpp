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

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using full = px::tile<bf16, 64, 64>;
using half = px::tile<bf16, 32, 64>;
constexpr void body(px::builder<px::sm_90a>& k, px::reg<u32> n) {
    const auto t = k.smem<full>(3, "t");
    const auto bars = k.make_mbarrier_ring<"bars">(2, px::arrivals<1>);
    static_cast<void>(t), static_cast<void>(bars), static_cast<void>(n);
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
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body>>();
