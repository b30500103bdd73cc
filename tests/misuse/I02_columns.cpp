// SPDX-License-Identifier: Apache-2.0
// I02: tensor memory in a number of columns that cannot be allocated.
//
// expect-1: PTXDSL-I02
// expect-2: PTXDSL-I02
// expect-3: PTXDSL-I02

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
#if PTXDSL_CASE == 0
    k.tcgen05.alloc(k.tcgen05.make_slot<32>());
    k.tcgen05.alloc(k.tcgen05.make_slot<512, px::cta_group_1>());
#elif PTXDSL_CASE == 1  // not a power of two
    k.tcgen05.alloc(k.tcgen05.make_slot<96>());  // here-1
#elif PTXDSL_CASE == 2  // less than the unit
    k.tcgen05.alloc(k.tcgen05.make_slot<16>());  // here-2
#elif PTXDSL_CASE == 3  // more than there is
    k.tcgen05.alloc(k.tcgen05.make_slot<1024>());  // here-3
#endif
}
