// SPDX-License-Identifier: Apache-2.0
// F04: a bulk store whose source is reused, or whose block exits, before commit + wait_group(.read).
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map_out<tile>;
using hopper = px::builder<px::sm_90a>;

/// All threads write `c`, then meet.
constexpr void fill(hopper& k, const px::shared_tile<tile>& c, const px::reg<u32>& tid) {
    k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, c.stage(0).address())), k.mov<f32>(1.0f));  // here-3 here-4
    k.fence_proxy_async_shared_cta();
    k.bar_sync();
}
constexpr void store(hopper& k, const map_t& map, const px::shared_tile<tile>& c) {
    k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0));  // here-1 here-2
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    const auto leader = tid == 0u;
    k.for_(n, [&](px::reg<u32>) {
        k.at(leader).cp_async_bulk_wait_group_read<0>();  // before the tile is written again
        k.bar_sync();
        fill(k, c, tid);
        k.single_thread(leader, [&] {
            store(k, map, c);
            k.cp_async_bulk_commit_group();
        });
    });
    k.at(leader).cp_async_bulk_wait_group<0>();  // before the block exits
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F04

constexpr void body(hopper& k, map_t map) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    fill(k, c, tid);
    k.single_thread(tid == 0u, [&] { store(k, map, c); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F04

constexpr void body(hopper& k, map_t map) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    fill(k, c, tid);
    k.single_thread(tid == 0u, [&] {
        store(k, map, c);
        k.cp_async_bulk_commit_group();
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F04

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    k.for_(n, [&](px::reg<u32>) {
        fill(k, c, tid);
        k.single_thread(tid == 0u, [&] {
            store(k, map, c);
            k.cp_async_bulk_commit_group();
        });
    });
    k.at(tid == 0u).cp_async_bulk_wait_group<0>();
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F14

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    k.for_(n, [&](px::reg<u32>) {
        k.at(tid == 0u).cp_async_bulk_wait_group_read<1>();  // one too high: the only tile is still being read
        k.bar_sync();
        fill(k, c, tid);
        k.single_thread(tid == 0u, [&] {
            store(k, map, c);
            k.cp_async_bulk_commit_group();
        });
    });
    k.at(tid == 0u).cp_async_bulk_wait_group<0>();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
