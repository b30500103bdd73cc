// SPDX-License-Identifier: Apache-2.0
// I05: M, N or K that the kind, the form and the cta_group do not have.
//
// expect-1: PTXDSL-I05
// expect-2: PTXDSL-I05
// expect-3: PTXDSL-I05
// expect-4: PTXDSL-I05
// expect-5: PTXDSL-I05
// expect-6: PTXDSL-I05
// expect-7: PTXDSL-I05
// expect-8: PTXDSL-I05
// expect-9: PTXDSL-I05
// control-10: an N that sources give differently, vouched for by the author
// expect-11: PTXDSL-I05

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

template <class T, u32 M, u32 N, px::tok Group = px::cta_group_1, u32 RowsA = M, u32 RowsB = N, u32 Columns = 64>
constexpr void multiply(blackwell& k) {
    constexpr u32 pair = Group == px::cta_group_2 ? 2 : 1;
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<256, Group>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<T, RowsA / pair, 64, px::k_major, px::swizzle_64b>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<T, RowsB / pair, Columns, px::k_major, px::swizzle_64b>>());
    k.tcgen05.mma(memory.template accumulator<f32, M, N>(), a, b, false);
}
template <class T, u32 N>
constexpr void integers(blackwell& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<256>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<T, 64, 128>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<T, N, 128>>());
    k.tcgen05.mma(memory.accumulator<s32, 64, N>(), a, b, false);
}
constexpr void body(blackwell& k) {
#if PTXDSL_CASE == 0
    multiply<bf16, 64, 8>(k), multiply<bf16, 64, 248>(k), multiply<bf16, 128, 240>(k),
        multiply<bf16, 128, 16, px::cta_group_2>(k);
    multiply<bf16, 256, 208, px::cta_group_2>(k), integers<s8, 8>(k), integers<s8, 48>(k);
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<64>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<bf16, 32, 64>>());
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, 256, 64>>());
    k.tcgen05.mma_ws(memory.ws_accumulator<f32, 32, 256>(), a, b, false);
#elif PTXDSL_CASE == 1  // M of another group
    multiply<bf16, 256, 64>(k);
#elif PTXDSL_CASE == 2  // N no multiple of 16 with M 128
    multiply<bf16, 128, 24>(k);
#elif PTXDSL_CASE == 3  // int8 with N = 24
    integers<s8, 24>(k);
#elif PTXDSL_CASE == 4  // M 64 of a pair
    multiply<bf16, 64, 64, px::cta_group_2>(k);
#elif PTXDSL_CASE == 5  // the rows of A are not the M of the accumulator
    multiply<bf16, 128, 64, px::cta_group_1, 64, 64>(k);
#elif PTXDSL_CASE == 6  // A and B swapped
    multiply<bf16, 128, 64, px::cta_group_1, 64, 128>(k);
#elif PTXDSL_CASE == 7  // different K
    multiply<bf16, 128, 64, px::cta_group_1, 128, 64, 32>(k);
#elif PTXDSL_CASE == 8  // N of the weight-stationary form
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<64>());
    const auto t = k.tcgen05.descriptor(k.smem<px::tile<bf16, 32, 64>>());
    k.tcgen05.mma_ws(memory.ws_accumulator<f32, 32, 32>(), t, t, false);  // here-8
#elif PTXDSL_CASE == 9  // an accumulator of the other form
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<64>());
    const auto t = k.tcgen05.descriptor(k.smem<px::tile<bf16, 64, 64>>());
    k.tcgen05.mma_ws(memory.accumulator<f32, 64, 64>(), t, t, false);  // here-9
#elif PTXDSL_CASE == 10 || PTXDSL_CASE == 11
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<512>());
    const auto a = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    constexpr u32 n = PTXDSL_CASE == 10 ? 24 : 264;  // 264: no instruction descriptor holds it, whoever vouches
    const auto b = k.tcgen05.descriptor(k.smem<px::tile<bf16, n, 64>>());
    const auto acc = memory.accumulator<f32, 128, n>().assume_shape();
    k.tcgen05.mma(acc, a, b, false);
#endif
}
