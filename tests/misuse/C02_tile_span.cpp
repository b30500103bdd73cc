// SPDX-License-Identifier: Apache-2.0
// A tile whose contiguous row is no swizzle span; a tile of several panels copied at once.
//
// expect-1: PTXDSL-C02
// expect-2: PTXDSL-C02
// expect-3: PTXDSL-C02
// expect-4: PTXDSL-C02
// control-5: core matrices are the unswizzled layout wgmma reads

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;

constexpr void body(px::builder<px::sm_90a>& k, px::tma_map<px::tile<bf16, 64, 128>> map, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    static_cast<void>(bar), static_cast<void>(map), static_cast<void>(n);
#if PTXDSL_CASE == 0
    const auto t = k.smem<px::tile<bf16, 64, 64>>(2);
    const auto two_panels = k.smem<px::tile<bf16, 64, 128>>();
    const auto narrow = k.smem<px::tile<bf16, 64, 16>>();
    k.load_tile(two_panels[0], map, px::coords(0, n), bar);
    k.cp_async_bulk_tensor(two_panels[0].panel(1), map, px::coords(64, n), bar);
    static_cast<void>(t), static_cast<void>(narrow);
#elif PTXDSL_CASE == 1  // one and a half spans
    static_cast<void>(k.smem<px::tile<bf16, 64, 96>>());  // here-1
#elif PTXDSL_CASE == 2  // two panels, one copy
    const auto t = k.smem<px::tile<bf16, 64, 128>>();
    k.cp_async_bulk_tensor(t[0], map, px::coords(0, n), bar);  // here-2
#elif PTXDSL_CASE == 3  // an empty tile
    static_cast<void>(k.smem<px::tile<bf16, 0, 64>>());  // here-3
#elif PTXDSL_CASE == 4  // a plain tile as a wgmma operand
    const auto t = k.smem<px::tile<bf16, 64, 64, px::k_major, px::no_swizzle>>();
    const auto d = k.wgmma.descriptor(t);
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), d, d);  // here-4
#elif PTXDSL_CASE == 5
    const auto t = k.smem<px::tile<bf16, 64, 64, px::k_major, px::core_matrices>>();
    const auto d = k.wgmma.descriptor(t);
    k.wgmma.mma_async(k.wgmma.make_accumulator<f32, 64>(), d, d);
#endif
}
