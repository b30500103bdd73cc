// SPDX-License-Identifier: Apache-2.0
// A14: immediate where a register is wanted, register where an immediate is; special register outside mov.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16x2, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u32> u, px::reg<bf16> b, px::reg<f16x2> h) {
    const auto t = k.mov(px::tid.x) + u;
    static_cast<void>(b * k.mov<bf16>(2.0f));
    static_cast<void>(k.fma_rn(h, h, k.mov<f16x2>(0x3C003C00u)));
    static_cast<void>(k.lop3<0xE8>(t, u, 3u));
    k.pmevent<3>();
    k.inst<"mov.u32">(k.new_reg<u32>(), px::laneid);
    k.inst<"pmevent">(15);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.add(u, px::tid.x));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(px::ctaid.x * u);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(px::tid.x < u);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(px::tid.x == 0);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.setp<px::eq>(px::laneid, 0u));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> p) {
    k.st(p, px::smid);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<bf16> b) {
    static_cast<void>(b * 2.0f);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f16x2> h) {
    static_cast<void>(k.fma_rn(h, h, 1.0f));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.add(1u, 2u));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    static_cast<void>(k.lop3(u, u, u, u));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    k.pmevent(u);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.popc(7u));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> d) {
    k.inst<"add.u32">(d, d, px::tid.x);  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A14 "A14_operand_kinds.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.inst<"pmevent">(16);  // here-14
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> u) {
    px::reg<u32> w = u;
    w += px::tid.x;  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A14

constexpr void wrong(hopper&, px::reg<u32> u) {
    u = px::tid.x;  // here-16
}

#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.wgmma.wait_group(0);  // here-17
}

#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.cp_async_wait_group(0);  // here-18
}

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.cp_async_bulk_wait_group(0);  // here-19
}

#elif PTXDSL_CASE == 20
// expect-20: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.cp_async_bulk_wait_group_read(0);  // here-20
}

#elif PTXDSL_CASE == 21
// expect-21: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.setmaxnreg_inc(232);  // here-21
}

#elif PTXDSL_CASE == 22
// expect-22: PTXDSL-A14

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.setmaxnreg_dec(40);  // here-22
}

#endif
