// SPDX-License-Identifier: Apache-2.0
// I01: cta_group differs between the parts of one kernel.
//
// expect-1: PTXDSL-I01
// expect-2: PTXDSL-I01
// expect-3: PTXDSL-I01

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto pair = k.tcgen05.load(k.tcgen05.make_slot<256, px::cta_group_2>("pair"));
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 128, 128>>(1, "a"));
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 64, 128>>(1, "b"));
    const auto acc = pair.accumulator<f32, 256, 128>();
    static_cast<void>(a), static_cast<void>(acc);
#if PTXDSL_CASE == 0
    k.tcgen05.mma(acc, a, b, false);
    k.tcgen05.mma(acc, pair.a_operand<e4m3, 128, 128, 128>(), b, true);
#elif PTXDSL_CASE == 1  // A of another group
    const auto own = k.tcgen05.load(k.tcgen05.make_slot<256>("own"));
    k.tcgen05.mma(acc, own.a_operand<e4m3, 128, 128>(), b, false);  // here-1
#elif PTXDSL_CASE == 2  // scales of another group
    const auto own = k.tcgen05.load(k.tcgen05.make_slot<256>("own"));
    const auto scales = own.scales<px::ue8m0, 128, 0>();
    k.tcgen05.mma(acc, a, b, scales, scales, false);  // here-2
#elif PTXDSL_CASE == 3  // no group at all
    static_cast<void>(k.tcgen05.make_slot<256, px::tok::cta>());  // here-3
#endif
}
