// SPDX-License-Identifier: Apache-2.0
// F04, F05: a staging tile that each warpgroup chooses by its number, written, fenced, stored and written again.
//
// expect-1: PTXDSL-F04 "wait_group_read"
// expect-2: PTXDSL-F04 "by threads"
// expect-3: PTXDSL-F05 "ordinary"
// expect-4: PTXDSL-F05 "several"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<f32, 32, 32>;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::tma_map_out<tile> map, px::reg<u32> rounds) {
    const auto staging = k.smem<tile>(2, "staging");
    const auto tid = k.mov(px::tid.x);
    const auto group = k.shr(tid, 7u), t = k.and_(tid, 127u), barrier = k.add(group, 1u);
    const auto leader = t == 0u;
    const auto mine = staging[group];
    const auto line = k.tile_line(mine, k.and_(t, 31u));
    k.for_(rounds, [&](px::reg<u32> i) {
#if PTXDSL_CASE == 1
    // left out
#else
        k.at(leader).cp_async_bulk_wait_group_read<0>();
#endif
#if PTXDSL_CASE == 2
    // left out
#else
        k.bar_sync(barrier, 128u);
#endif
        k.st(line.chunk(1).as<f32>(), k.cvt<f32, px::rn>(i));  // here-1 here-2
#if PTXDSL_CASE == 3
        // left out
#else
        k.fence_proxy_async_shared_cta();
#endif
#if PTXDSL_CASE == 4
        // left out
#else
        k.bar_sync(barrier, 128u);
#endif
        k.single_thread(leader, [&] {
            k.cp_async_bulk_tensor(map, px::coords(i, 0u), mine);  // here-3 here-4
            k.cp_async_bulk_commit_group();
        });
    });
    k.at(leader).cp_async_bulk_wait_group<0>();
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
