// SPDX-License-Identifier: Apache-2.0
// A01: operands of different scalar type or width in one instruction.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f16x2, px::f32, px::f64, px::s32, px::u16, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u32> i, px::reg<s32> s, px::reg<u64> w, px::reg<f32> f) {
    static_cast<void>(k.mul_wide(i, i) + k.mad_wide(i, 3u, w));  // twice as wide by name
    static_cast<void>((w << i) + k.shr(w, 5u));  // 32-bit shift counts and bit positions on 64-bit values
    static_cast<void>(k.bfe(w, i, 8u) + k.bfi(w, w, 0u, i));
    static_cast<void>(k.dp4a(i, s, s) + k.dp2a_lo(s, i, 0));  // u x s
    static_cast<void>(k.slct(f, f, s));
    static_cast<void>(k.cvt<f32>(k.cvt<f16, px::rn>(f)) + f * 2.0f);
    static_cast<void>(i.as<px::b32>());
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// control-1: sm_100a adds, subtracts and multiplies halves into f32

constexpr void control(px::builder<px::sm_100a>& k, px::reg<f16> h, px::reg<bf16> b, px::reg<f32> f) {
    static_cast<void>(k.add<px::rn>(h, f) + k.sub(b, f) + k.fma_rn(b, b, f));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> a, px::reg<s32> b) {
    static_cast<void>(a + b);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<f32> b, px::reg<f64> c) {
    static_cast<void>(k.fma_rn(a, b, c));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> a, px::reg<u64> b) {
    static_cast<void>(k.add(a, b));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> a, px::reg<s32> b) {
    static_cast<void>(k.setp<px::lt>(a, b));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a, px::reg<u32> b) {
    px::reg<f32> c = a;
    c += b;  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u64> a, px::reg<u64> n) {
    static_cast<void>(a << n);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p, px::reg<u32> x) {
    k.st(p, x);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> a, px::reg<u32> b, px::reg<u32> c) {
    static_cast<void>(k.mad_wide(a, b, c));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p, px::reg<f32> i) {
    static_cast<void>(k.ld(p + i));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(x.as<u32>());  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    k.inst<"add.f32">(k.new_reg<f32>(), x, k.mov<u32>(1));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u64> x) {
    static_cast<void>(k.shfl_sync_bfly(x, 1u, 31u, px::full_mask));  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f16x2> x, px::reg<u16> y) {
    static_cast<void>(k.mov_pack<px::b32>(y, x));  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.mov_b64<px::b64>(x));  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A01

constexpr void wrong(hopper&, px::reg<u32> i, px::reg<f32> f) {
    i = f;  // here-16
}

#endif
