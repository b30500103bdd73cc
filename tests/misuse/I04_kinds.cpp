// SPDX-License-Identifier: Apache-2.0
// I04: element types that no kind of tcgen05.mma multiplies, accumulators it does not have, missing block scales.
//
// expect-1: PTXDSL-I04
// expect-2: PTXDSL-I04
// expect-3: PTXDSL-I04
// expect-4: PTXDSL-I04
// expect-5: PTXDSL-I04
// expect-6: PTXDSL-I04
// expect-7: PTXDSL-I04
// expect-8: PTXDSL-I04

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

template <class A, class B, class D>
constexpr void multiply(blackwell& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<128>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<A, 128, 1024 / px::tile<A, 8, 64>::layout.element_bits>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<B, 64, 1024 / px::tile<B, 8, 64>::layout.element_bits>>());
    k.tcgen05.mma(memory.accumulator<D, 128, 64>(), a, b, false);
}
constexpr void body(blackwell& k) {
#if PTXDSL_CASE == 0
    multiply<bf16, bf16, f32>(k), multiply<f16, f16, f16>(k), multiply<e4m3, px::e5m2, f16>(k),
        multiply<s8, px::u8, s32>(k);
    multiply<px::in_bytes<px::e2m1>, px::e3m2, f32>(k), multiply<f32, f32, f32>(k);
#elif PTXDSL_CASE == 1  // f16 with bf16
    multiply<f16, bf16, f32>(k);
#elif PTXDSL_CASE == 2  // a float with an integer
    multiply<e4m3, s8, f32>(k);
#elif PTXDSL_CASE == 3  // integers into floats
    multiply<s8, s8, f32>(k);
#elif PTXDSL_CASE == 4  // bf16 into f16
    multiply<bf16, bf16, f16>(k);
#elif PTXDSL_CASE == 5  // packed 4-bit elements without scales
    multiply<px::e2m1, px::e2m1, f32>(k);
#elif PTXDSL_CASE == 6  // a scale type the kind has not
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<128>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 128, 128>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 64, 128>>());
    const auto scales = memory.scales<px::ue4m3, 128, 64>();
    k.tcgen05.mma(memory.accumulator<f32, 128, 64>(), a, b, scales, scales, false);  // here-6
#elif PTXDSL_CASE == 7  // fewer scales than rows
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<256>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<e4m3, 128, 128>>());
    const auto scales = memory.scales<px::ue8m0, 64, 128>();
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), a, a, scales, scales, false);  // here-7
#elif PTXDSL_CASE == 8  // a tile instead of its descriptor
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<128>());
    const auto a = k.smem<px::tile<bf16, 128, 64>>();
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), a, a, false);  // here-8
#endif
}
