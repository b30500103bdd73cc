// SPDX-License-Identifier: Apache-2.0
// A descriptor made for another tile, or no descriptor at all.
//
// expect-1: PTXDSL-D06
// expect-2: PTXDSL-D06
// expect-3: PTXDSL-D06
// expect-4: PTXDSL-D06
// expect-5: PTXDSL-D06
// expect-6: PTXDSL-D06

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;

constexpr void body(px::builder<px::sm_90a>& k, px::reg<px::u64> bits) {
    const auto a = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto acc = k.wgmma.make_accumulator<f32, 128>();
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(acc);
    static_cast<void>(bits);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(acc, a, b);
    k.wgmma.mma_async(acc, k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>>(bits), b);
    k.wgmma.mma_async(acc, k.wgmma.make_a_fragment<bf16>(), b);
#elif PTXDSL_CASE == 1  // the descriptor of another swizzle
    const px::matrix_descriptor<px::tile<bf16, 64, 32, px::k_major, px::swizzle_64b>> d = a;  // here-1
    static_cast<void>(d);
#elif PTXDSL_CASE == 2  // the descriptor of another major
    const px::matrix_descriptor<px::tile<bf16, 64, 64, px::mn_major>> d = a;  // here-2
    static_cast<void>(d);
#elif PTXDSL_CASE == 3  // bits that say nothing of a tile
    k.wgmma.mma_async(acc, bits, b);  // here-3
#elif PTXDSL_CASE == 4  // a tile without its descriptor
    k.wgmma.mma_async(acc, k.smem<px::tile<bf16, 64, 64>>()[0], b);  // here-4
#elif PTXDSL_CASE == 5  // another swizzle than the tile
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>, px::k_major, px::swizzle_64b>(bits));  // here-5
#elif PTXDSL_CASE == 6  // 32 bits
    static_cast<void>(k.wgmma.raw_descriptor<px::tile<bf16, 64, 64>>(k.mov<u32>(0)));  // here-6
#endif
}
