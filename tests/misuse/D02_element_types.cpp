// SPDX-License-Identifier: Apache-2.0
// Element types that are no legal wgmma pair, or an accumulator type that is not legal for the pair.
//
// expect-1: PTXDSL-D02
// expect-2: PTXDSL-D02
// expect-3: PTXDSL-D02
// expect-4: PTXDSL-D02
// expect-5: PTXDSL-D02
// expect-6: PTXDSL-D02
// expect-7: PTXDSL-D02
// expect-8: PTXDSL-D02

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::e5m2, px::f16, px::f32, px::s32, px::s8, px::u8;

constexpr void body(px::builder<px::sm_90a>& k) {
    const auto h = k.wgmma.descriptor(k.smem<px::tile<f16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto x = k.wgmma.descriptor(k.smem<px::tile<e4m3, 64, 128>>());
    const auto y = k.wgmma.descriptor(k.smem<px::tile<e5m2, 64, 128>>());
    const auto i = k.wgmma.descriptor(k.smem<px::tile<s8, 64, 128>>());
    const auto j = k.wgmma.descriptor(k.smem<px::tile<u8, 64, 128>>());
    static_cast<void>(h), static_cast<void>(b), static_cast<void>(x), static_cast<void>(y), static_cast<void>(i),
        static_cast<void>(j);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), x, y);
    k.wgmma.mma_async(k.wgmma.make_accumulator<f16, 64>(), y, x);
    k.wgmma.mma_async<px::satfinite>(k.wgmma.make_accumulator<s32, 64>(), i, j);
    k.wgmma.mma_async(k.wgmma.make_accumulator<f16, 64>(), h, h);
#elif PTXDSL_CASE == 1  // f16 with bf16
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), h, b);  // here-1
#elif PTXDSL_CASE == 2  // e4m3 with s8
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), x, i);  // here-2
#elif PTXDSL_CASE == 3  // bf16 into f16
    k.wgmma.mma_async(k.wgmma.make_accumulator<f16, 64>(), b, b);  // here-3
#elif PTXDSL_CASE == 4  // int8 into f32
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), i, j);  // here-4
#elif PTXDSL_CASE == 5  // f16 into s32
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 64>(), h, h);  // here-5
#elif PTXDSL_CASE == 6  // a bf16 accumulator
    static_cast<void>(k.wgmma.make_accumulator<bf16, 64>());  // here-6
#elif PTXDSL_CASE == 7  // .satfinite of floats
    k.wgmma.mma_async<px::satfinite>(k.wgmma.make_accumulator<f32, 64>(), h, h);  // here-7
#elif PTXDSL_CASE == 8  // an element type no tensor core has
    const auto q = k.wgmma.descriptor(k.smem<px::tile<px::u16, 64, 64>>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 64>(), q, q);  // here-8
#endif
}
