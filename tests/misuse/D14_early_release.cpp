// SPDX-License-Identifier: Apache-2.0
// D14: a slot of a pipeline is freed while a wgmma that reads it may still be pending.
#include "ring.hpp"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    const auto fill = [&](const slots& s, const auto& at, const px::reg<u32>& i) {
        k.wait_empty(s.pipe, at);
        k.mbarrier_arrive_expect_tx(s.pipe.full(at), s.a);
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
    // control-1: one slot behind, while the latest group still runs
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
        k.advance(at);
        k.wait_full(s.pipe, at);
        const auto first = k.mov(at.slot());
        multiply();
        k.advance(at);
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<1>();
        k.mbarrier_arrive(s.pipe.empty()[first]);
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
    });
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-D14 "frees a slot"
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.mbarrier_arrive(s.pipe.empty(at));  // here-2
    });
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-D14 "frees a slot"
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<1>();
        k.mbarrier_arrive(s.pipe.empty(at));  // here-3
    });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
