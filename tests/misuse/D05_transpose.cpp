// SPDX-License-Identifier: Apache-2.0
// A transpose flag for a type that has none, or one that contradicts the tile.
//
// expect-1: PTXDSL-D05
// expect-2: PTXDSL-D05
// expect-3: PTXDSL-D05

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::tf32;

constexpr void body(px::builder<px::sm_90a>& k, px::reg<px::u64> bits) {
    static_cast<void>(bits);
#if PTXDSL_CASE == 0
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<bf16, 64, 64, px::mn_major>>(bits));
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<e4m3, 64, 128>>(bits));
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>, px::k_major>(bits));
#elif PTXDSL_CASE == 1  // an MN-major fp8 operand
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<e4m3, 128, 64, px::mn_major>>(bits));  // here-1
#elif PTXDSL_CASE == 2  // an MN-major tf32 operand
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<tf32, 64, 32, px::mn_major>>(bits));  // here-2
#elif PTXDSL_CASE == 3  // K-major tile, MN-major descriptor
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>, px::mn_major>(bits));  // here-3
#endif
}
