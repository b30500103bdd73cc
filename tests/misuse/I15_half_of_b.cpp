// SPDX-License-Identifier: Apache-2.0
// I15: under cta_group::2 each block loads half of B.
//
// expect-1: PTXDSL-I15

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<256, px::cta_group_2>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>(1, "a"));
    const auto acc = memory.accumulator<f32, 256, 256>();
#if PTXDSL_CASE == 0
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>(1, "b"));  // 128 of 256 rows
    k.tcgen05.mma(acc, a, b, false);
#elif PTXDSL_CASE == 1
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 256, 64>>(1, "b"));
    k.tcgen05.mma(acc, a, b, false);  // here-1
#endif
}
