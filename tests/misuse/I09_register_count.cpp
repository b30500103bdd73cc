// SPDX-License-Identifier: Apache-2.0
// I09: another number of registers than the shape and its repeat have.
//
// expect-1: PTXDSL-I09
// expect-2: PTXDSL-I09
// expect-3: PTXDSL-I09

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<64>());
    const auto rows = k.tcgen05.quarter(memory, 0u).accumulator<f32, 128, 64>();
    static_cast<void>(rows);
#if PTXDSL_CASE == 0
    k.tcgen05.st<px::shape_32x32b, px::x16>(rows, k.tcgen05.make_registers<f32, 16>());
    k.tcgen05.st<px::shape_16x256b, px::x4>(rows, k.tcgen05.make_registers<f32, 16>());
    k.tcgen05.st<px::shape_16x128b, px::x8>(rows, k.tcgen05.ld<px::shape_16x128b, px::x8>(rows));
#elif PTXDSL_CASE == 1  // one register a repeat
    k.tcgen05.st<px::shape_32x32b, px::x8>(rows, k.tcgen05.make_registers<f32, 16>());  // here-1
#elif PTXDSL_CASE == 2  // four registers a repeat
    k.tcgen05.st<px::shape_16x256b, px::x16>(rows, k.tcgen05.make_registers<f32, 16>());  // here-2
#elif PTXDSL_CASE == 3  // the lane mask of one block, for a pair
    const auto pair = k.tcgen05.load(k.tcgen05.make_slot<64, px::cta_group_2>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 32, 64>>());
    const auto m = k.mov<px::b32>(0u);
    k.tcgen05.mma(pair.accumulator<f32, 256, 64>(), a, b, true, px::vec{m, m, m, m});  // here-3
#endif
}
