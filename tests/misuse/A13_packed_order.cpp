// SPDX-License-Identifier: Apache-2.0
// A13: packed conversion with high and low swapped.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::bf16x2, px::e4m3x2, px::f16, px::f16x2, px::f32, px::s32, px::u8;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<f32> a, px::reg<f32> b, px::reg<s32> i, px::global_ptr<bf16x2> out) {
    k.st(out, k.cvt<bf16x2, px::rn>(px::hi(a), px::lo(b)));
    k.st(out.as<e4m3x2>(), k.cvt<e4m3x2, px::rn, px::satfinite>(px::hi(a), px::lo(0.0f)));
    k.st(out.as<px::u32>(), k.cvt_pack<u8>(px::hi(i), px::lo(i), 0u));
    k.st(out.as<f16x2>(),
         k.mov_pack<f16x2>(k.cvt<f16, px::rn>(b), k.cvt<f16, px::rn>(a)));  // mov takes the low half first
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(ptx.text().find("cvt.rn.bf16x2.f32 %r1, %f0, %f1;") != std::string_view::npos);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<f32> b) {
    static_cast<void>(k.cvt<bf16x2, px::rn>(a, b));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<f32> b) {
    static_cast<void>(k.cvt<bf16x2, px::rn>(px::lo(a), px::hi(b)));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<f32> b) {
    static_cast<void>(k.cvt<f16x2, px::rn>(px::hi(a), b));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<f32> b) {
    static_cast<void>(k.cvt<e4m3x2, px::rn, px::satfinite>(a, px::lo(b)));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> a, px::reg<s32> b) {
    static_cast<void>(k.cvt_pack<u8>(a, b, 0u));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A13

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> a, px::reg<s32> b) {
    static_cast<void>(k.cvt_pack<px::u16>(px::lo(a), px::hi(b)));  // here-6
}

#endif
