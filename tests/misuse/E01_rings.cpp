// SPDX-License-Identifier: Apache-2.0
// E01: the arrivals of a pipeline's barriers, counted through guards, roles and peers; sides of it that are missing.
#include "ring.hpp"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    [[maybe_unused]] const auto fill = [&](const slots& s, const auto& at, const px::reg<u32>& i) {
        k.wait_empty(s.pipe, at);  // here-1
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
    // expect-1: PTXDSL-E01 "frees any"
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
    });
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-E01 "slot"
    ring_kernel(
        k, steps, [&](const slots&, const auto&, const px::reg<u32>&) {},
        [&](const slots& s, const auto& at, auto multiply) {
            k.wait_full(s.pipe, at);  // here-2
            multiply();
            k.wgmma.wait_group<0>();
        });
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-E01 "128 arrivals"
    const auto leader = k.and_(k.mov(px::tid.x), 127u) == 0u;
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait_full(s.pipe, at);
        multiply();
        k.wgmma.wait_group<0>();
        k.at(leader).mbarrier_arrive(s.pipe.empty(at));  // here-3
    });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
