// SPDX-License-Identifier: Apache-2.0
// F17: a tensor copy whose innermost coordinate does not fall on 16 bytes.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;
using wide = px::tile<f32, 64, 32>;
using bytes = px::tile<px::e4m3, 64, 128>;

/// One thread loads a box of a map.
template <class Tile, class... C>
constexpr void load(hopper& k, const px::tma_map<Tile>& map, C... at) {
    const auto a = k.smem<Tile>(1, "a");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(full.stage(0)); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(at...), full.stage(0));  // here-2
    });
    k.wait(full.stage(0), 0u);
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::tma_map<tile> map, px::tma_map<wide> f, px::tma_map<bytes> b, px::reg<u32> x) {
    load(k, map, 8u, 3u);  // 16 bytes; other dimensions begin anywhere
    load(k, map, -8, -1);  // before the tensor: zeros
    load(k, map, x, 0u);   // not known here
    load(k, f, 4u, 1u);
    load(k, b, 16u, 1u);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F17 "multiple of 16 bytes"

constexpr void body(hopper& k, px::tma_map_out<tile> map) {
    const auto a = k.smem<tile>(1, "a");
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.cp_async_bulk_tensor(map, px::coords(4u, 0u), a.stage(0));  // here-1
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group<0>();
    });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F17 "17"

constexpr void body(hopper& k, px::tma_map<wide> map) { load(k, map, 17u, 0u); }

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F17

constexpr void body(hopper& k, px::tma_map<tile> map) { load(k, map, -1, 0); }

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F17

constexpr void body(hopper& k, px::tma_map<bytes> map) { load(k, map, 8u, 0u); }

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
