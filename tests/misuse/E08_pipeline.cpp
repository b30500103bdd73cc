// SPDX-License-Identifier: Apache-2.0
// E08: the slots of a pipeline go round, and the parity of the wait stays; a first wait on the parity of the other side
// (E15), a slot counter of another length (E13).
//
// expect-1: PTXDSL-E08 "returned"
// expect-2: PTXDSL-E15 "first wait"
// expect-3: PTXDSL-E13 "5 slots"
#include "ring.hpp"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    const auto fill = [&](const slots& s, const auto& at, const px::reg<u32>& i) {
        k.wait_empty(s.pipe, at);
        k.mbarrier_arrive_expect_tx(s.pipe.full(at), s.a);
        k.cp_async_bulk_tensor(s.a[at.slot()], map, px::coords(k.mul_lo(i, 64u), 0u), s.pipe.full(at));
    };
    const auto slot = k.mov<u32>(0u);
#if PTXDSL_CASE == 2
    const auto parity = k.mov<u32>(1u);
#else
    const auto parity = k.mov<u32>(0u);
#endif
    const auto advance = [&](u32 slots, bool flips) {
        k.inst<"add.u32">(slot, slot, 1);
        const auto wraps = slot == slots;
        k.at(wraps).inst<"mov.u32">(slot, 0);
        if (flips) k.at(wraps).inst<"xor.b32">(parity, parity, 1);
    };
    ring_kernel(k, steps, fill, [&](const slots& s, const auto& at, auto multiply) {
        k.wait(s.pipe.full()[slot], parity);  // here-1 here-2 here-3
        multiply();
        k.wgmma.wait_group<0>();
        k.mbarrier_arrive(s.pipe.empty(at));
#if PTXDSL_CASE == 1
        advance(4, false);
#elif PTXDSL_CASE == 3
        advance(5, true);
#else
        advance(4, true);
#endif
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
