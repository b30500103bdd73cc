// SPDX-License-Identifier: Apache-2.0
// An accumulator of the wrong number, order or type of registers.
//
// expect-1: PTXDSL-D03
// expect-2: PTXDSL-D03
// expect-3: PTXDSL-D03
// expect-4: PTXDSL-D03
// expect-5: PTXDSL-D03
// expect-6: PTXDSL-D03

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32;

constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<f32, 16> out, px::reg<f32> x) {
    const auto a = k.wgmma.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    const auto b = k.wgmma.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    const auto acc = k.wgmma.make_accumulator<f32, 128>();
    static_cast<void>(a), static_cast<void>(b), static_cast<void>(acc);
    static_cast<void>(out), static_cast<void>(x);
#if PTXDSL_CASE == 0
    k.wgmma.mma_async(acc, a, b);
    static_cast<void>(acc[63]);
    const auto packed = k.wgmma.make_accumulator<f16, 8>();
    const px::reg<px::f16x2> pair = packed[1];
    static_cast<void>(pair);
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sync(c, k.make_fragment<px::mma_a<f16, 16, 16>>(), k.make_fragment<px::mma_b<f16, 16>>(), c);
#elif PTXDSL_CASE == 1  // the fragment of mma.sync
    k.wgmma.mma_async(k.make_fragment<px::mma_acc<f32>>(), a, b);  // here-1
#elif PTXDSL_CASE == 2  // a vector
    k.wgmma.mma_async(px::vec{x, x, x, x}, a, b);  // here-2
#elif PTXDSL_CASE == 3  // a register that is not there
    const auto small = k.wgmma.make_accumulator<f32, 8>();
    k.st(out, small[4]);  // here-3
#elif PTXDSL_CASE == 4  // f16 accumulators are packed pairs: half as many registers
    const auto small = k.wgmma.make_accumulator<f16, 8>();
    k.st(out.as<px::f16x2>(), small[2]);  // here-4
#elif PTXDSL_CASE == 5  // mma.sync: C is an operand fragment
    k.mma_sync(k.make_fragment<px::mma_acc<f32>>(), k.make_fragment<px::mma_a<f16, 16, 16>>(),
               k.make_fragment<px::mma_b<f16, 16>>(), k.make_fragment<px::mma_b<f16, 16>>());  // here-5
#elif PTXDSL_CASE == 6  // mma.sync: an accumulator of other rows
    const auto c = k.make_fragment<px::mma_acc<px::f64, 8>>();
    k.mma_sync(c, k.make_fragment<px::mma_a<px::f64, 16, 4>>(), k.make_fragment<px::mma_b<px::f64, 4>>(), c);  // here-6
#endif
}
#if PTXDSL_CASE == 3 || PTXDSL_CASE == 4
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body>>();
#endif
