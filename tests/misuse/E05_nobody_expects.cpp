// SPDX-License-Identifier: Apache-2.0
// E05: a copy that completes on a barrier nobody expects on, or expected bytes with no copy.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

template <class Body>
constexpr void in_one_thread(hopper& k, const Body& body) {
    const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
    const auto a = k.smem<tile>(2, "a");
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.mbarrier_init(full.stage(1));
        k.fence_mbarrier_init();
        body(full, a);
    });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, [&](const auto& full, const auto& a) {
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), full.stage(0));
        k.mbarrier_arrive_expect_tx(full.stage(0), a);  // after the copy is legal
        k.mbarrier_arrive(full.stage(1));               // a barrier without bytes
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E05

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, [&](const auto& full, const auto& a) {
        k.mbarrier_arrive(full.stage(0));
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), full.stage(0));  // here-1
    });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-E05

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, [&](const auto& full, const auto& a) {
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        k.mbarrier_arrive_expect_tx(full.stage(1), 8192u);  // here-2
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), full.stage(0));
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-E05 "expects the bytes that a register counts"

constexpr void body(hopper& k, map_t map) {
    in_one_thread(k, [&](const auto& full, const auto& a) {
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        k.mbarrier_arrive_expect_tx(full.stage(1), k.mov(px::clock));  // here-3
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), full.stage(0));
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
