// SPDX-License-Identifier: Apache-2.0
// F06: multicast mask of 0, or wider than the cluster.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u16, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

template <class Mask>
constexpr void load(hopper& k, const map_t& map, Mask&& mask) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto a = k.smem<tile>(1, "a");
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full.stage(0), a);
        const auto at = px::coords(0u, 0u);
        k.cp_async_bulk_tensor_multicast(a.stage(0), map, at, full.stage(0), mask);  // here-1
    });
}
constexpr px::attributes pair{.reqntid = {128}, .cluster = {2}};

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map, px::reg<u16> mask) {
    load(k, map, u16{3});
    load(k, map, k.mov<u16>(2));
    load(k, map, mask);
    load(k, map, k.cluster_mask());
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, pair>>();

// The launch says how large the cluster is.
constexpr void of_launch(hopper& k, map_t map) { load(k, map, u16{7}); }
[[maybe_unused]] constexpr auto open_ptx =
    px::assemble<px::kernel<"test", of_launch, px::attributes{.reqntid = {128}}>>();
static_assert(open_ptx.resources().least_cluster == 3);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F06

constexpr void body(hopper& k, map_t map) { load(k, map, u16{0}); }
constexpr auto ptx = px::assemble<px::kernel<"test", body, pair>>();

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F06

constexpr void body(hopper& k, map_t map) { load(k, map, u16{7}); }
constexpr auto ptx = px::assemble<px::kernel<"test", body, pair>>();

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F06

constexpr void body(hopper& k, map_t map) { load(k, map, k.mov<u16>(4)); }
constexpr auto ptx = px::assemble<px::kernel<"test", body, pair>>();

#elif PTXDSL_CASE == 4
// warn-4: PTXDSL-F06 "k.cluster_mask()" "declares no cluster"

constexpr void body(hopper& k, map_t map) {
    load(k, map, k.cluster_mask());  // here-4
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();

#endif
