// SPDX-License-Identifier: Apache-2.0
// E03: no fence between the initialisation of an mbarrier and the first copy that completes on it.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using tile = px::tile<px::bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::tma_map<tile> map) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto a = k.smem<tile>(1, "a");
    const auto elected = k.mov(px::tid.x) == 0u;
    k.single_thread(elected, [&] { k.mbarrier_init(full[0]); });
#if PTXDSL_CASE == 0
    k.fence_mbarrier_init();  // copies see the initialisation, too
#elif PTXDSL_CASE == 1
    // control-1: any fence for the async proxy does
    k.fence_proxy_async_shared_cta();
#endif
    k.bar_sync();
    k.single_thread(elected, [&] {
        k.mbarrier_arrive_expect_tx(full[0], a);
        k.cp_async_bulk_tensor(a[0], map, px::coords(0u, 0u), full[0]);
        // warn-2: PTXDSL-E03 "fence"
    });
    k.wait(full[0], 0u);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
#if PTXDSL_CASE == 2
static_assert(ptx.warnings() == 1);
#endif
