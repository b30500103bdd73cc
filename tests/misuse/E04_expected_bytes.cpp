// SPDX-License-Identifier: Apache-2.0
// E04: expected bytes differ from those of the copies that complete on the barrier.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using tile = px::tile<px::bf16, 64, 64>;  // 8192 bytes
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

template <class Body>
constexpr void in_one_thread(hopper& k, const map_t& map, const Body& body) {
    const auto bar = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
    const auto a = k.smem<tile>(2, "a"), b = k.smem<tile>(2, "b");
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(bar.stage(0));
        k.mbarrier_init(bar.stage(1));
        k.fence_mbarrier_init();
        body(bar, a, b, [&](const auto& t, int stage) {
            k.cp_async_bulk_tensor(t.stage(stage), map, px::coords(0u, 0u), bar.stage(stage));
        });
    });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto& b, const auto& load) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), a, b);
        load(a, 0), load(b, 0);
        k.mbarrier_expect_tx(bar.stage(1), 8192u);  // split, and after the copy
        load(a, 1), load(b, 1);
        k.mbarrier_arrive_expect_tx(bar.stage(1), 8192u);
    });
}

#elif PTXDSL_CASE == 1
// control-1: multicast from both blocks of a cluster counts at each receiver

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto&, const auto&) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), 16384u);
        k.cp_async_bulk_tensor_multicast(a.stage(0), map, px::coords(0u, 0u), bar.stage(0), px::u16{3});
    });
}

#elif PTXDSL_CASE == 2
// control-2: a number of bytes that is not constant

constexpr void body(hopper& k, map_t map, px::reg<u32> bytes) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto&, const auto& load) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), bytes);
        load(a, 0);
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-E04

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto& b, const auto& load) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), 8192u);  // here-3
        load(a, 0), load(b, 0);
    });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-E04

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto&, const auto& load) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), 16384u);  // here-4
        load(a, 0);
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-E04

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    in_one_thread(k, map, [&](const auto& bar, const auto& a, const auto&, const auto&) {
        k.for_(n, [&](px::reg<u32> i) {
            const auto slot = k.and_(i, 1u);
            k.wait(bar[slot], 0u);
            k.mbarrier_arrive_expect_tx(bar[slot], 4096u);  // here-5
            k.cp_async_bulk_tensor(a[slot], map, px::coords(0u, 0u), bar[slot]);
        });
    });
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {2}}>>();
