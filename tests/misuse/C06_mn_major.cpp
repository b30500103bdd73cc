// SPDX-License-Identifier: Apache-2.0
// An MN-major operand tile of a type the tensor core reads K-major only.
//
// expect-1: PTXDSL-C06
// expect-2: PTXDSL-C06
// expect-3: PTXDSL-C06
// expect-4: PTXDSL-C06

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f32, px::s32, px::s8, px::tf32;

constexpr void body(px::builder<px::sm_90a>& k) {
#if PTXDSL_CASE == 0
    using a = px::tile<bf16, 64, 64, px::mn_major>;
    const auto d = k.wgmma.descriptor(k.smem<a>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), d, d);
#elif PTXDSL_CASE == 1  // fp8
    using a = px::tile<e4m3, 128, 64, px::mn_major>;
    const auto d = k.wgmma.descriptor(k.smem<a>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 128>(), d, d);  // here-1
#elif PTXDSL_CASE == 2  // int8
    using a = px::tile<s8, 128, 64, px::mn_major>;
    const auto d = k.wgmma.descriptor(k.smem<a>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<s32, 128>(), d, d);  // here-2
#elif PTXDSL_CASE == 3  // tf32
    using a = px::tile<tf32, 64, 32, px::mn_major>;
    const auto d = k.wgmma.descriptor(k.smem<a>());
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), d, d);  // here-3
#elif PTXDSL_CASE == 4  // B of the register form
    using b = px::tile<e4m3, 128, 64, px::mn_major>;
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 128>(), k.wgmma.make_a_fragment<e4m3>(),
                      k.wgmma.descriptor(k.smem<b>()));  // here-4
#endif
}
