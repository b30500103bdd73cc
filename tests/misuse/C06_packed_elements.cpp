// SPDX-License-Identifier: Apache-2.0
// C06 on sm_100a: packed 4-bit elements are read K-major only; 8- and 16-bit types may be MN-major.
//
// expect-1: PTXDSL-C06
// expect-2: PTXDSL-C06

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e2m1, px::e4m3, px::f32, px::s32, px::s8, px::ue4m3;

template <class T, px::u32 Cols>
using across = px::tile<T, 128, Cols, px::mn_major>;

constexpr void body(px::builder<px::sm_100a>& k) {
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<256>());
#if PTXDSL_CASE == 0
    const auto half = k.tcgen05.descriptor(k.smem<across<bf16, 64>>());
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), half, half, false);
    const auto byte = k.tcgen05.descriptor(k.smem<across<e4m3, 64>>());
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), byte, byte, false);
    const auto integer = k.tcgen05.descriptor(k.smem<across<s8, 64>>());
    k.tcgen05.mma(memory.accumulator<s32, 128, 128>(), integer, integer, false);
#else
    const auto scales = memory.scales<ue4m3, 128, 128>();
    const auto straight = k.tcgen05.descriptor(k.smem<px::tile<e2m1, 128, 256>>());
    const auto turned = k.tcgen05.descriptor(k.smem<px::tile<e2m1, 256, 256, px::mn_major>>());
#if PTXDSL_CASE == 1
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), turned, straight, scales, scales, false);  // here-1
#elif PTXDSL_CASE == 2
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), straight, turned, scales, scales, false);  // here-2
#endif
#endif
}
