// SPDX-License-Identifier: Apache-2.0
// H01: named barrier id over 15, count not a multiple of 32 or over the block.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> id) {
    k.bar_sync<15, 128>();
    k.bar_sync(id, 128u);
    k.bar_sync(k.mov<u32>(3), k.mov<u32>(128));
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-H01

constexpr void body(hopper& k) {
    k.bar_sync<16, 128>();  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H01

constexpr void body(hopper& k) {
    k.bar_sync<1, 100>();  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-H01

constexpr void body(hopper& k) {
    k.bar_sync<1, 256>();  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-H01

constexpr void body(hopper& k) {
    const auto id = k.mov<u32>(16);
    k.bar_sync(id, 128u);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-H01

constexpr void body(hopper& k) {
    k.bar_sync(1u, 100u);  // here-5
}

#endif
#if PTXDSL_CASE != 1 && PTXDSL_CASE != 2  // those are refused where they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
#endif
