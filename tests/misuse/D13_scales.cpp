// SPDX-License-Identifier: Apache-2.0
// Scale or negate immediates outside their values.
//
// expect-1: PTXDSL-D13
// expect-2: PTXDSL-D13
// expect-3: PTXDSL-D13

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::s32, px::s8;

constexpr void body(px::builder<px::sm_90a>& k, px::reg<px::pred> go) {
    const auto a = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto acc = k.wgmma.make_accumulator<f32, 128>();
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(acc);
    static_cast<void>(go);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async<-1, 1>(acc, a, b);
    k.wgmma.mma_async<-1, -1>(acc, a, b, false);
    k.wgmma.mma_async(acc, a, b, px::unless(go));
#elif PTXDSL_CASE == 1  // scale-a of 2
    k.wgmma.mma_async<2, 1>(acc, a, b);  // here-1
#elif PTXDSL_CASE == 2  // scale-b of 0
    k.wgmma.mma_async<1, 0>(acc, a, b);  // here-2
#elif PTXDSL_CASE == 3  // integers have none
    const auto i = k.wgmma.descriptor(k.smem<px::tile<s8, 64, 128>>());
    k.wgmma.mma_async<-1, 1>(k.wgmma.make_accumulator<s32, 64>(), i, i);  // here-3
#endif
}
