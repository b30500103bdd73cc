// SPDX-License-Identifier: Apache-2.0
// A15, A16: words PTX does not put together, or another number of operands.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::s32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<s32> s, px::reg<f32> f) {
    static_cast<void>(k.add<px::sat>(s, s));
    static_cast<void>(k.div<px::approx, px::ftz>(f, f));
    const auto d = k.new_reg<f32>("d");
    k.inst<"fma.rn.ftz.sat.f32">(d, f, 2.0f, f);
    k.inst<"membar.gl">();
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.add<px::sat>(u, u));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.mul(u, u));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    static_cast<void>(k.div(f, f));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    static_cast<void>(k.add<px::ftz, px::rn>(f, f));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<bf16> b) {
    static_cast<void>(b / b);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.neg(u));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.inst<"fmadd.rn.f32">(f, f, f, f);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.inst<"add.ftz.rn.f32">(f, f, f);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.inst<"add.f32">(f, f);  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.inst<"add.f32">(f, f, f, f);  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u, px::reg<px::pred> p) {
    static_cast<void>(k.setp<px::lt>(u, u, p));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.setp<px::lt, px::and_>(u, u));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.mov(f, 0.0f);  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A16

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    k.mov(f, f);  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A15

constexpr void wrong(hopper&, px::reg<u32> u) {
    ++u;  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A15

constexpr void wrong(hopper&, px::reg<u32> u) {
    u--;  // here-16
}

#endif
