// SPDX-License-Identifier: Apache-2.0
// One buffer that a tensor copy fills and one barrier that says when; the tests say who does what.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using out_t = px::global_ptr<bf16>;
using hopper = px::builder<px::sm_90a>;
constexpr px::attributes block{.reqntid = {128}};

template <class Ring>
struct buffer {
    hopper& k;
    px::shared_tile<tile> a;
    Ring full;
    px::reg<u32> tid;
    map_t map;

    constexpr void load() const {
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_arrive_expect_tx(full.stage(0), a);
            k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), full.stage(0));  // load
        });
    }
    constexpr void wait(u32 parity) const { k.wait(full.stage(0), parity); }
    [[nodiscard]] constexpr px::reg<bf16> read() const { return k.ld(k.tile_element(a.stage(0), 0u, tid)); }
};
template <class Use>
constexpr void with_buffer(hopper& k, const map_t& map, const Use& use) {
    const buffer b{k, k.smem<tile>(1, "a"), k.make_mbarrier_ring<"full">(1, px::arrivals<1>), k.mov(px::tid.x), map};
    k.single_thread(b.tid == 0u, [&] { k.mbarrier_init(b.full.stage(0)); });
    k.fence_mbarrier_init();
    k.bar_sync();
    use(b);
}
