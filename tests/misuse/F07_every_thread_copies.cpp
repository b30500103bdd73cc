// SPDX-License-Identifier: Apache-2.0
// F07: a bulk copy issued by every thread with operands that do not depend on the thread.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

template <class Body>
constexpr void with_ring(hopper& k, const Body& body) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    k.assume_arrivals(full);
    const auto a = k.smem<tile>(1, "a");
    body(full, a);
}
constexpr void load(hopper& k, const auto& full, const auto& a, const map_t& map, const px::reg<u32>& row) {
    k.mbarrier_arrive_expect_tx(full.stage(0), a);
    k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, row), full.stage(0));  // here-1 here-2
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map, px::reg<u32> row) {
    with_ring(k, [&](const auto& full, const auto& a) {
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { load(k, full, a, map, row); });
        k.if_(k.elect_sync(), [&] { load(k, full, a, map, row); });
        load(k, full, a, map, tid);  // a row for each thread
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F07

constexpr void body(hopper& k, map_t map, px::reg<u32> row) {
    with_ring(k, [&](const auto& full, const auto& a) { load(k, full, a, map, row); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F07

constexpr void body(hopper& k, map_t map, px::reg<u32> row) {
    with_ring(k, [&](const auto& full, const auto& a) {
        k.if_(k.mov(px::ctaid.x) == 0u,
              [&] { load(k, full, a, map, k.add(row, k.mov(px::ctaid.y))); });  // all threads of that block
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
