// SPDX-License-Identifier: Apache-2.0
// I10: a warp that reaches for tensor-memory lanes outside its quarter.
//
// expect-1: PTXDSL-I10
// expect-2: PTXDSL-I10
// expect-3: PTXDSL-I10
// expect-4: PTXDSL-I10
// expect-5: PTXDSL-I10 "128 threads"
// expect-6: PTXDSL-I10 "128 threads"
// control-7: one warp names its quarter by a constant

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<64>());
    const auto rows = k.tcgen05.quarter(memory, k.shr(k.mov(px::tid.x), 5u));
    static_cast<void>(rows);
#if PTXDSL_CASE == 0
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x4>(rows.accumulator<f32, 128, 64>());
    k.tcgen05.wait_ld();
    k.tcgen05.st<px::shape_32x32b, px::x4>(rows.slice<f32, 4>(), v);
    k.tcgen05.wait_st();
#elif PTXDSL_CASE == 1  // a load through the allocation: every warp would read lanes 0 to 31
    static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x4>(memory.accumulator<f32, 128, 64>()));  // here-1
#elif PTXDSL_CASE == 2
    k.tcgen05.st<px::shape_32x32b, px::x4>(memory.slice<f32, 4>(), k.tcgen05.make_registers<f32, 4>());  // here-2
#elif PTXDSL_CASE == 3  // an mma into one quarter
    const auto t = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    k.tcgen05.mma(rows.accumulator<f32, 128, 64>(), t, b, false);  // here-3
#elif PTXDSL_CASE == 4
    k.tcgen05.shift(rows.slice<f32, 4>());  // here-4
#elif PTXDSL_CASE == 5  // all four warps with the lanes of the first
    const auto first = k.tcgen05.quarter(memory, 0u);
    static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x4>(first.accumulator<f32, 128, 64>()));  // here-5
    k.tcgen05.wait_ld();
#elif PTXDSL_CASE == 6
    const auto zero = k.tcgen05.make_registers<f32, 4>("zero");
    for (u32 i = 0; i < 4; ++i) zero[i] = k.mov<f32>(0.0f);
    k.tcgen05.st<px::shape_32x32b, px::x4>(k.tcgen05.quarter(memory, 2u).slice<f32, 4>(), zero);  // here-6
    k.tcgen05.wait_st();
#elif PTXDSL_CASE == 7
    k.if_(k.mov(px::tid.x) < 32u, [&] {
        const auto first = k.tcgen05.quarter(memory, 0u);
        static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x4>(first.accumulator<f32, 128, 64>()));
        k.tcgen05.wait_ld();
    });
#endif
}
#if PTXDSL_CASE == 0 || PTXDSL_CASE >= 5
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
#endif
