// SPDX-License-Identifier: Apache-2.0
// A14, A16 of video instructions (an opt-in header): parts of words, signs, and how many operands a form has.
#include <ptxdsl/dsl/video.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::s32, px::u32;
using hopper = px::builder<px::sm_90a, px::video_calls>;

constexpr void body([[maybe_unused]] hopper& k, px::reg<s32> x, px::reg<u32> y) {
    static_cast<void>(x), static_cast<void>(y);
#if PTXDSL_CASE == 0
    static_cast<void>(k.vadd<s32>(x, y));
    static_cast<void>(k.vadd<s32, px::sat, px::tok::add>(px::part<"b0">(x), px::part<"h1">(y), x));
    static_cast<void>(k.vadd_into<"h1", s32>(x, y, x));
    static_cast<void>(k.vmad<s32>(px::minus(x), y, x));
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-A16
    static_cast<void>(k.vmin<s32, px::tok::max>(x, y));  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-A16
    static_cast<void>(k.vadd<s32, px::tok::add>(x, y));  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-A14
    static_cast<void>(k.vadd<s32>(x, 3));  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-A14
    static_cast<void>(k.vadd<s32>(px::minus(x), y));  // here-4
#elif PTXDSL_CASE == 5
    // expect-5: PTXDSL-A14
    static_cast<void>(px::part<"x7">(x));  // here-5
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-A14
    static_cast<void>(px::part<"h0">(px::part<"b0">(x)));  // here-6
#elif PTXDSL_CASE == 7
    // expect-7: PTXDSL-A14
    static_cast<void>(px::part<"b0">(3));  // here-7
#elif PTXDSL_CASE == 8
    // expect-8: PTXDSL-A14
    static_cast<void>(px::minus(3));  // here-8
#elif PTXDSL_CASE == 9
    // expect-9: PTXDSL-A14
    static_cast<void>(k.vadd<s32>(px::part<"h10">(x), y));  // here-9
#endif
}
#if PTXDSL_CASE == 0  // the others are refused as they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
