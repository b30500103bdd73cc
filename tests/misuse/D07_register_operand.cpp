// SPDX-License-Identifier: Apache-2.0
// A of wgmma or mma.sync in a fragment of another shape.
//
// expect-1: PTXDSL-D07
// expect-2: PTXDSL-D07
// expect-3: PTXDSL-D07
// expect-4: PTXDSL-D07
// expect-5: PTXDSL-D07

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::u32;

constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<u32, 16> out, px::reg<u32> n) {
    const auto a = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto acc = k.wgmma.make_accumulator<f32, 128>();
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(acc);
    const auto rows = k.smem_array<px::b16>(1024).assume_aligned<16>();
    static_cast<void>(out), static_cast<void>(n), static_cast<void>(rows);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(acc, k.wgmma.make_a_fragment<bf16>(), b);
    k.wgmma.mma_async(acc, px::a_fragment<bf16>(k.ldmatrix<px::x4>(rows)), b);
    const auto f = k.make_fragment<px::mma_a<bf16, 16, 16>>();
    k.ldmatrix(f, rows);
#elif PTXDSL_CASE == 1  // the fragment of mma.sync
    k.wgmma.mma_async(acc, k.make_fragment<px::mma_a<bf16, 16, 16>>(), b);  // here-1
#elif PTXDSL_CASE == 2  // a fragment of B
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sync(c, k.make_fragment<px::mma_b<f16, 16>>(), k.make_fragment<px::mma_b<f16, 16>>(), c);  // here-2
#elif PTXDSL_CASE == 3  // a dense A where mma.sp takes a compressed one
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sp_sync<0>(c, k.make_fragment<px::mma_a<f16, 16, 16>>(), k.make_fragment<px::mma_b<f16, 16>>(), c,
                     n);  // here-3
#elif PTXDSL_CASE == 4  // a register past the end
    k.st(out, k.wgmma.make_a_fragment<bf16>()[4].as<u32>());  // here-4
#elif PTXDSL_CASE == 5  // a sparsity selector the shape has not
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sp_sync<2>(c, k.make_fragment<px::mma_sparse_a<f16, 16, 32>>(), k.make_fragment<px::mma_b<f16, 32>>(), c,
                     n);  // here-5
#endif
}
#if PTXDSL_CASE == 4
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body>>();
#endif
