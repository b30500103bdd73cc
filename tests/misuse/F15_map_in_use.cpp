// SPDX-License-Identifier: Apache-2.0
// F15: a tensor map changed while copies read it, or used behind a fence that names another map.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;
using map_ptr = px::global_ptr<px::b8, 128>;

/// A tile, its barrier, and the one warp that works with them.
struct target {
    px::shared_tile<tile> a;
    px::mbarrier_ring<px::ring<"full">> full;
    px::reg<u32> lane;
};
constexpr target prepare(hopper& k) {
    const target t{k.smem<tile>(1, "a"), k.make_mbarrier_ring<"full">(1, px::arrivals<1>), k.mov(px::laneid)};
    k.single_thread(t.lane == 0u, [&] { k.mbarrier_init(t.full.stage(0)); });
    k.fence_mbarrier_init();
    k.bar_sync();
    return t;
}
/// For one thread.
constexpr void load(hopper& k, const target& t, const map_t& map) {
    k.mbarrier_arrive_expect_tx(t.full.stage(0), t.a);
    k.cp_async_bulk_tensor(t.a.stage(0), map, px::coords(0u, 0u), t.full.stage(0));
}
/// For the warp.
constexpr void load_and_wait(hopper& k, const target& t, const map_t& map, u32 parity) {
    k.single_thread(t.lane == 0u, [&] { load(k, t, map); });
    k.wait(t.full.stage(0), parity);
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_ptr p, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto map = k.map_in_memory<map_t>(p);
    k.fence_proxy_tensormap_acquire<px::gpu>(map);
    load_and_wait(k, t, map, 0u);  // the copy is over
    k.tensormap_replace<px::tok::global_dim, 1>(p, rows);
    k.fence_proxy_tensormap_release<px::gpu>();
    k.fence_proxy_tensormap_acquire<px::gpu>(map);
    load_and_wait(k, t, map, 1u);
}

#elif PTXDSL_CASE == 1
// control-1: two maps, each with a fence of its own; the other map's copy is no hindrance

constexpr void body(hopper& k, map_ptr p, map_ptr q, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto first = k.map_in_memory<map_t>(p), second = k.map_in_memory<map_t>(q);
    k.tensormap_replace<px::tok::global_dim, 1>(p, rows);
    k.fence_proxy_tensormap_release<px::gpu>();
    k.fence_proxy_tensormap_acquire<px::gpu>(first);
    k.single_thread(t.lane == 0u, [&] { load(k, t, first); });
    k.tensormap_replace<px::tok::global_dim, 1>(q, rows);
    k.fence_proxy_tensormap_release<px::gpu>();
    k.fence_proxy_tensormap_acquire<px::gpu>(second);
    k.wait(t.full.stage(0), 0u);
    load_and_wait(k, t, second, 1u);
}

#elif PTXDSL_CASE == 2
// control-2: on one of two paths only

constexpr void body(hopper& k, map_ptr p, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto map = k.map_in_memory<map_t>(p);
    k.if_(rows != 0u, [&] { load_and_wait(k, t, map, 0u); }).else_([&] {
        k.tensormap_replace<px::tok::global_dim, 1>(p, rows);
        k.fence_proxy_tensormap_release<px::gpu>();
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F15 "under way"

constexpr void body(hopper& k, map_ptr p, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto map = k.map_in_memory<map_t>(p);
    k.fence_proxy_tensormap_acquire<px::gpu>(map);
    k.single_thread(t.lane == 0u, [&] {
        load(k, t, map);
        k.tensormap_replace<px::tok::global_dim, 1>(p, rows);  // here-3
    });
    k.wait(t.full.stage(0), 0u);
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F15 "under way"

constexpr void body(hopper& k, map_ptr p, px::reg<u32> tiles) {
    const auto a = k.smem<tile>(1, "a");
    const auto scratch = k.smem_array<px::b8, 128>(128, "map");
    const auto map = k.map_in_memory<px::tma_map_out<tile>>(p);
    k.for_(tiles, [&](px::reg<u32> i) {
        k.tensormap_replace<px::tok::global_dim, 1>(scratch, i);
        k.tensormap_cp_fenceproxy<px::gpu>(p, scratch);  // here-4
        k.fence_proxy_tensormap_acquire<px::gpu>(map);
        k.cp_async_bulk_tensor(map, px::coords(k.mul_lo(k.mov(px::tid.x), 64u), 0u), a.stage(0));
        k.cp_async_bulk_commit_group();
    });
    k.cp_async_bulk_wait_group<0>();
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-F15 "was changed"

constexpr void body(hopper& k, map_ptr p, map_ptr q, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto first = k.map_in_memory<map_t>(p), second = k.map_in_memory<map_t>(q);
    k.tensormap_replace<px::tok::global_dim, 1>(p, rows);
    k.tensormap_replace<px::tok::global_dim, 1>(q, rows);
    k.fence_proxy_tensormap_release<px::gpu>();
    k.fence_proxy_tensormap_acquire<px::gpu>(first);
    load_and_wait(k, t, first, 0u);
    k.single_thread(t.lane == 0u, [&] {
        k.mbarrier_arrive_expect_tx(t.full.stage(0), t.a);
        k.cp_async_bulk_tensor(t.a.stage(0), second, px::coords(0u, 0u), t.full.stage(0));  // here-5
    });
    k.wait(t.full.stage(0), 1u);
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-F10 "was changed"

constexpr void body(hopper& k, map_ptr p, px::reg<u32> rows) {
    const auto t = prepare(k);
    const auto map = k.map_in_memory<map_t>(p);
    k.tensormap_replace<px::tok::global_dim, 1>(p, rows);
    k.single_thread(t.lane == 0u, [&] {
        k.mbarrier_arrive_expect_tx(t.full.stage(0), t.a);
        k.cp_async_bulk_tensor(t.a.stage(0), map, px::coords(0u, 0u), t.full.stage(0));  // here-6
    });
    k.wait(t.full.stage(0), 0u);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}}>>();
