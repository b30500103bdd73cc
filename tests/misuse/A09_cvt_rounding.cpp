// SPDX-License-Identifier: Apache-2.0
// A09: cvt without the rounding or saturation its type pair requires, or with one it forbids.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::bf16x2, px::e4m3x2, px::f16, px::f32, px::f64, px::s32, px::s8, px::tf32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<f32> f, px::reg<s32> s, px::reg<u32> u, px::reg<f64> d, px::reg<f16> h) {
    static_cast<void>(k.cvt<bf16, px::rn>(f));
    static_cast<void>(k.cvt<f32>(h));
    static_cast<void>(k.cvt<f32>(k.cvt<bf16, px::rn>(f)));
    static_cast<void>(k.cvt<s32, px::rzi>(f));
    static_cast<void>(k.cvt<f32, px::rn>(s));
    static_cast<void>(k.cvt<s8, px::sat>(s));
    static_cast<void>(k.cvt<u32>(s) + k.cvt<u32>(k.cvt<px::u64>(u)));
    static_cast<void>(k.cvt<f64>(f) + d);
    static_cast<void>(k.cvt<tf32, px::rna>(f));
    static_cast<void>(k.cvt<e4m3x2, px::rn, px::satfinite>(px::hi(f), px::lo(f)));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.cvt<bf16>(x));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.cvt<s32>(x));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> x) {
    static_cast<void>(k.cvt<f32>(x));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f16> x) {
    static_cast<void>(k.cvt<f32, px::rn>(x));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> x) {
    static_cast<void>(k.cvt<u32, px::rn>(x));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.cvt<s32, px::rn>(x));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.cvt<e4m3x2, px::rn>(px::hi(x), px::lo(x)));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.cvt<bf16x2, px::rm>(px::hi(x), px::lo(x)));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f64> x) {
    static_cast<void>(k.cvt<f32>(x));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A09

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> x) {
    static_cast<void>(k.cvt<s32, px::satfinite>(x));  // here-10
}

#endif
