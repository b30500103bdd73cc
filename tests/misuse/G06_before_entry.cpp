// SPDX-License-Identifier: Apache-2.0
// G06: an access to another block before the cluster has entered.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

constexpr void meet(hopper& k) {
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> x) {
    const auto own = k.smem_array<u32>(32, "box");
    const auto peer = k.mapa(own, 1u);  // computing the address is no access
    k.st(own, x);
    meet(k);
    k.st(peer, x);
    static_cast<void>(k.ld(peer));
    meet(k);
}

#elif PTXDSL_CASE == 1
// control-1: own shared memory through the cluster's window

constexpr void body(hopper& k, px::reg<u32> x) {
    const auto own = k.smem_array<u32>(32, "box");
    k.st(own, x);
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-G06 "may not have started"

constexpr void body(hopper& k, px::reg<u32> x) {
    const auto own = k.smem_array<u32>(32, "box");
    k.st(k.mapa(own, 1u), x);  // here-2
    meet(k);
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-G06

constexpr void body(hopper& k) {
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(done.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive(k.mapa(done.stage(0), 1u));  // here-3
    });
    meet(k);
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-G06

constexpr void body(hopper& k, map_t map) {
    const auto a = k.smem<tile>(1, "a");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        k.cp_async_bulk_tensor_multicast(a.stage(0), map, px::coords(0u, 0u), full.stage(0), u16{3});  // here-4
    });
    meet(k);
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-G06

constexpr void body(hopper& k, px::reg<u32> steps) {
    const auto own = k.smem_array<u32>(32, "box");
    const auto peer = k.mapa(own, 1u);
    k.for_(steps, [&](px::reg<u32> i) {
        k.st(peer, i);  // here-5
        meet(k);
    });
}

#elif PTXDSL_CASE == 6
// control-6: a block's own rank, and a copy to the block itself

constexpr void body(hopper& k, map_t map) {
    const auto a = k.smem<tile>(1, "a");
    const auto box = k.smem_array<u32>(32, "box");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto rank = k.mov(px::cluster_ctarank);
    k.st(k.mapa(box, rank), 1u);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        const auto itself = k.cvt<u16>(k.shl(k.mov<u32>(1u), rank));
        k.cp_async_bulk_tensor_multicast(a.stage(0), map, px::coords(0u, 0u), full.stage(0), itself);
    });
    meet(k);
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-G06

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    const auto next = k.and_(k.mov(px::cluster_ctarank) + 1u, 1u);
    k.st(k.mapa(box, next), 1u);  // here-7
    meet(k);
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-G06
// The launch gives the cluster, and the block maps another one whatever its size is.

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    k.st(k.mapa(box, k.mov(px::cluster_ctarank) ^ 1u), 7u);  // here-8
    meet(k);
}

#elif PTXDSL_CASE == 9
// control-9: in a cluster of one block, which the launch may give, this is the own one

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto box = k.smem_array<u32>(32, "box");
    k.st(k.mapa(box, 0u), 7u);
    k.st(k.mapa(box, n), 7u);
    k.st(k.mapa(box, k.rem(k.mov(px::cluster_ctarank) + 1u, k.mov(px::cluster_nctarank))), 7u);
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {PTXDSL_CASE < 8 ? 2 : 0}}>>();
