// SPDX-License-Identifier: Apache-2.0
// A03: float literal for an integer operand, integer for a float one, integer outside [-2^(w-1), 2^w - 1].
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b32, px::bf16, px::f16, px::f32, px::f64, px::s32, px::u16, px::u32, px::u64, px::u8;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u16> h, px::reg<u32> i, px::reg<s32> s, px::reg<u64> w, px::reg<f32> f,
                       px::reg<f64> d) {
    static_cast<void>(h + 65535);  // every bit pattern of the width, as signed or unsigned
    static_cast<void>(h - 32768);
    static_cast<void>(i + 0xffffffffu);
    static_cast<void>(k.and_(s, 0x80000000u));
    static_cast<void>(w * 0xffffffffffffffffull);
    static_cast<void>(f * 2.0f + 0.5);  // a double literal becomes the nearest f32
    static_cast<void>(d * 2.0);
    static_cast<void>(k.mov<bf16>(1.0f));
    static_cast<void>(k.mov<f16>(65504.0f));
    static_cast<void>(k.mov<px::f16x2>(0x3C003C00u));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    static_cast<void>(f + 1);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    static_cast<void>(i + 1.0f);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f64> d) {
    static_cast<void>(k.fma_rn(d, d, 2));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<s32> s) {
    static_cast<void>(k.setp<px::lt>(s, 0.5));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A03 "A03_literals.cpp:" "literal"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u16> h) {
    static_cast<void>(h + 70000);  // here-5
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A03 "A03_literals.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    static_cast<void>(k.mul_lo(i, -2147483649LL));  // here-6
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A03 "A03_literals.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u8> p) {
    k.st(p, 256);  // here-7
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.mov<bf16>(1));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A03 "A03_literals.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.mov<f16>(70000.0f));  // here-9
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st(p, 0);  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A03

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<b32> a) {
    static_cast<void>(k.lop3<256>(a, a, a));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A03 "A03_literals.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u16> d) {
    k.inst<"add.u16">(d, d, 70000);  // here-12
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A03 "k.mov<px::u32>(7)"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st(p, k.mov(0.0f));  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A03

constexpr void wrong(hopper&, px::reg<f32> sum) {
    sum = 0;  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A03 "A03_literals.cpp:"

constexpr void wrong(hopper&, px::reg<u16> n) {
    n = 70000;  // here-15
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#endif
