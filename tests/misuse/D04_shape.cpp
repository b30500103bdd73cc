// SPDX-License-Identifier: Apache-2.0
// An N or K the type does not have.
//
// expect-1: PTXDSL-D04
// expect-2: PTXDSL-D04
// expect-3: PTXDSL-D04
// expect-4: PTXDSL-D04
// expect-5: PTXDSL-D04
// expect-6: PTXDSL-D04

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::s32, px::s8;

constexpr void body(px::builder<px::sm_90a>& k) {
    const auto i = k.wgmma.descriptor(k.smem<px::tile<s8, 64, 128>>());
    static_cast<void>(i);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 24>(), i, k.wgmma.descriptor(k.smem<px::tile<s8, 24, 128>>()));
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 48>(), i, k.wgmma.descriptor(k.smem<px::tile<s8, 48, 128>>()));
    static_cast<void>(k.wgmma.make_accumulator<f32, 248>());
#elif PTXDSL_CASE == 1  // N over 256
    static_cast<void>(k.wgmma.make_accumulator<f32, 264>());  // here-1
#elif PTXDSL_CASE == 2  // N no multiple of 8
    static_cast<void>(k.wgmma.make_accumulator<f32, 12>());  // here-2
#elif PTXDSL_CASE == 3  // int8 with N = 40
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 40>(), i,
                      k.wgmma.descriptor(k.smem<px::tile<s8, 40, 128>>()));  // here-3
#elif PTXDSL_CASE == 4  // K of 8 for bf16
    const auto t = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 8, px::k_major, px::core_matrices>>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), t, t);  // here-4
#elif PTXDSL_CASE == 5  // mma.sync m16n8k32 for f16
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sync(c, k.make_fragment<px::mma_a<f16, 16, 32>>(), k.make_fragment<px::mma_b<f16, 32>>(), c);  // here-5
#elif PTXDSL_CASE == 6  // mma.sync f16 accumulator for bf16
    const auto c = k.make_fragment<px::mma_acc<f16>>();
    k.mma_sync(c, k.make_fragment<px::mma_a<bf16, 16, 16>>(), k.make_fragment<px::mma_b<bf16, 16>>(), c);  // here-6
#endif
}
