// SPDX-License-Identifier: Apache-2.0
// A and B of wgmma swapped, or extents that make no m64nNkK.
//
// expect-1: PTXDSL-D01
// expect-2: PTXDSL-D01
// expect-3: PTXDSL-D01
// expect-4: PTXDSL-D01
// expect-5: PTXDSL-D01
// control-6: sparse: half of B
// expect-7: PTXDSL-D01

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::u32;

constexpr void body(px::builder<px::sm_90a>& k, px::reg<u32> n) {
    const auto a = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto acc = k.wgmma.make_accumulator<f32, 128>();
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(acc);
    static_cast<void>(n);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(acc, a, b);
    const auto tall = k.wgmma.descriptor(k.smem<px::tile<bf16, 192, 64>>());
    k.wgmma.mma_async(acc, tall.row_slice(64), b);
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), a, b.row_slice(64));
#elif PTXDSL_CASE == 1  // swapped
    k.wgmma.mma_async(acc, b, a);  // here-1
#elif PTXDSL_CASE == 2  // another K
    const auto c = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 128>>());
    k.wgmma.mma_async(acc, a, c);  // here-2
#elif PTXDSL_CASE == 3  // A of 32 rows
    const auto c = k.wgmma.descriptor(k.smem<px::tile<bf16, 32, 64>>());
    k.wgmma.mma_async(acc, c, b);  // here-3
#elif PTXDSL_CASE == 4  // an accumulator wider than B
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 256>(), a, b);  // here-4
#elif PTXDSL_CASE == 5  // sparse: A is not half of B
    k.wgmma.mma_async_sp<0>(acc, a, b, n);  // here-5
#elif PTXDSL_CASE == 6
    const auto half = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 32, px::k_major, px::swizzle_64b>>());
    k.wgmma.mma_async_sp<0>(acc, half, b, n);
#elif PTXDSL_CASE == 7  // mma.sync with another K
    k.mma_sync(k.make_fragment<px::mma_acc<f32>>(), k.make_fragment<px::mma_a<f16, 16, 16>>(),
               k.make_fragment<px::mma_b<f16, 8>>(), k.make_fragment<px::mma_acc<f32>>());  // here-7
#endif
}
