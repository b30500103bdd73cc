// SPDX-License-Identifier: Apache-2.0
// F13: slots that others still read are filled again; the release of the slot is not waited for.
#include "ring.hpp"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    const auto use = [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
    };
#if PTXDSL_CASE == 0
    ring_kernel(
        k, steps,
        [&](const slots& s, const auto& at, const px::reg<u32>& i) {
            k.wait_empty(s.pipe, at);
            k.mbarrier_arrive_expect_tx(s.pipe.full(at), s.a);
            k.cp_async_bulk_tensor(s.a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), s.pipe.full(at));
        },
        use);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-F13
    ring_kernel(
        k, steps,
        [&](const slots& s, const auto& at, const px::reg<u32>& i) {
            k.mbarrier_arrive_expect_tx(s.pipe.full(at), s.a);  // here-1
            k.cp_async_bulk_tensor(s.a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), s.pipe.full(at));
        },
        use);
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
