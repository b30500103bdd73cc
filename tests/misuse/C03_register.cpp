// SPDX-License-Identifier: Apache-2.0
// C03: a stage in a register whose value is known, outside of the tile or the ring.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void load(hopper& k, const px::tma_map<tile>& map, u32 stage, u32 barrier) {
    const auto full = k.make_mbarrier_ring<"full">(3, px::arrivals<1>);
    const auto a = k.smem<tile>(3, "a");
    const auto s = k.mov<u32>(stage), b = k.mov<u32>(barrier);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        for (int i = 0; i < 3; ++i) k.mbarrier_init(full[i]);
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full[b], a);                         // here-2
        k.cp_async_bulk_tensor(a[s], map, px::coords(0u, 0u), full[b]);  // here-1
    });
}

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::tma_map<tile> map) { load(k, map, 2, 2); }
#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-C03 "stage 3"
constexpr void body(hopper& k, px::tma_map<tile> map) { load(k, map, 3, 2); }
#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-C03 "stage 3"
constexpr void body(hopper& k, px::tma_map<tile> map) { load(k, map, 2, 3); }
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
