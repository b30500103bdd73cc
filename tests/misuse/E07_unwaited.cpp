// SPDX-License-Identifier: Apache-2.0
// E07: slots of a pipeline are filled and used, and nothing waits until they are.
#include "ring.hpp"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    const auto fill = [&](const slots& s, const auto& at, const px::reg<u32>& i) {
        k.wait_empty(s.pipe, at);
        k.mbarrier_arrive_expect_tx(s.pipe.full(at), s.a);  // here-1
        k.cp_async_bulk_tensor(s.a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), s.pipe.full(at));
    };
#if PTXDSL_CASE == 0
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
    });
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E07
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        multiply();
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
    });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
