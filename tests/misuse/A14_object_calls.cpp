// SPDX-License-Identifier: Apache-2.0
// A14: calls on barriers, tiles, pipelines, maps and tensor memory that are given something else say in a sentence what
// they take, where C++ would list candidates.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using blackwell = px::builder<px::sm_100a>;
using tile = px::tile<bf16, 64, 64>;

constexpr void on_hopper(hopper& k, px::tma_map<tile> map, px::tma_map_out<tile> out, px::global_ptr<f32> p,
                         px::reg<u32> n) {
    const auto a = k.smem<tile>(2, "a");
    const auto s = k.smem_array<f32>(64);
    const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
    const auto load = k.make_pipeline<"load">(2, px::arrivals<1>, px::arrivals<1>);
    const auto at = k.producer_state(load);
    const auto d = k.wgmma.descriptor(a);
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    static_cast<void>(a), static_cast<void>(s), static_cast<void>(full), static_cast<void>(at), static_cast<void>(d),
        static_cast<void>(acc), static_cast<void>(map), static_cast<void>(out), static_cast<void>(p),
        static_cast<void>(n);
#if PTXDSL_CASE == 0
    k.wait(full[0], n & 1u);
    k.if_(n < 4u, [] {}), k.single_thread(n == 0u, [] {});
    k.mbarrier_arrive(full[n]);
    k.mbarrier_arrive_expect_tx(full[0], a);
    k.cp_async_bulk_tensor(a[0], map, px::coords(0u, n), full[0]);
    k.cp_async_bulk_tensor(out, px::coords(0u, n), a[0]);
    k.cp_async_bulk(s, p.assume_aligned<16>(), 64u, full[0]);
    k.wait_empty(load, at), k.advance(at), k.advance(at, n);
    static_cast<void>(k.tile_element(a[n], n, 0u));
    k.wgmma.mma_async(acc, d, d, n != 0u);
    static_cast<void>(k.mapa(full[0], n));
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-A14 "k.wait(full[i], parity)"
    k.wait(n, 0);  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-A14 "px::coords"
    k.cp_async_bulk_tensor(map, a[0], px::coords(0u, 0u), full[0]);  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-A14 "k.mbarrier_arrive(empty[i])"
    k.mbarrier_arrive(a[0]);  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-A14 "all stages, a, not a[i]"
    k.mbarrier_arrive_expect_tx(full[0], a[0]);  // here-4
#elif PTXDSL_CASE == 5
    // expect-5: PTXDSL-A14 "k.if_(x < n"
    k.if_(full[0], [] {});  // here-5
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-A14 "a predicate register that is true in one thread"
    k.single_thread(n, [] {});  // here-6
#elif PTXDSL_CASE == 7
    // expect-7: PTXDSL-A14 "byte_pointer"
    k.cp_async_bulk(a[0], p, 128u, full[0]);  // here-7
#elif PTXDSL_CASE == 8
    // expect-8: PTXDSL-A14 "k.wait_full(load, state)"
    k.wait_full(load, n);  // here-8
#elif PTXDSL_CASE == 9
    // expect-9: PTXDSL-A14 "k.tile_element(a[i], row, col)"
    static_cast<void>(k.tile_element(n, a[0], 0u));  // here-9
#elif PTXDSL_CASE == 10
    // expect-10: PTXDSL-A14 "true, false or a predicate"
    k.wgmma.mma_async(acc, d, d, n);  // here-10
#elif PTXDSL_CASE == 11
    // expect-11: PTXDSL-A14 "px::arrivals<1>"
    static_cast<void>(k.make_pipeline<"other">(2, 1, 1));  // here-11
#elif PTXDSL_CASE == 12
    // expect-12: PTXDSL-A14 "k.wgmma.descriptor(a[i])"
    static_cast<void>(k.wgmma.descriptor(s));  // here-12
#elif PTXDSL_CASE == 13
    // expect-13: PTXDSL-A02 "k.at(x != 0)"
    k.at(p).st(p, 1.0f);  // here-13
#elif PTXDSL_CASE == 14
    // expect-14: PTXDSL-A14 "k.mapa(full[i], rank)"
    static_cast<void>(k.mapa(0u, full[0]));  // here-14
#endif
}
constexpr void on_blackwell(blackwell& k, px::reg<u32> n) {
    const auto slot = k.tcgen05.make_slot<128>("slot");
    const auto memory = k.tcgen05.load(slot);
    const auto a = k.smem<tile>(1, "a");
    const auto d = k.tcgen05.descriptor(a);
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    static_cast<void>(memory), static_cast<void>(d), static_cast<void>(done), static_cast<void>(n);
#if PTXDSL_CASE == 0
    k.tcgen05.multiply(memory.accumulator<f32, 64, 64>(), d, d, n != 0u);
    k.tcgen05.commit(done[0]);
    k.tcgen05.dealloc(memory);
#elif PTXDSL_CASE == 15
    // expect-15: PTXDSL-A14 "k.tcgen05.commit(done[0])"
    k.tcgen05.commit(done);  // here-15
#elif PTXDSL_CASE == 16
    // expect-16: PTXDSL-A14 "k.tcgen05.dealloc(memory)"
    k.tcgen05.dealloc(slot);  // here-16
#elif PTXDSL_CASE == 17
    // expect-17: PTXDSL-A14 "whether the first step accumulates"
    k.tcgen05.multiply(memory.accumulator<f32, 64, 64>(), d, d, n);  // here-17
#elif PTXDSL_CASE == 18
    // expect-18: PTXDSL-A14 "k.tcgen05.quarter(memory, warp)"
    static_cast<void>(k.tcgen05.quarter(n, memory));  // here-18
#endif
}
