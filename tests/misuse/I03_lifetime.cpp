// SPDX-License-Identifier: Apache-2.0
// I03: tensor memory that is never freed, freed twice, allocated after the permit was given up; two groups in one
// kernel (I01), more than 512 live columns (I02).
//
// expect-1: PTXDSL-I03 "never freed"
// expect-2: PTXDSL-I03 "second time"
// expect-3: PTXDSL-I03 "after relinquish"
// expect-4: PTXDSL-I02 "640 columns"
// expect-5: PTXDSL-I01 "cta_group::2"
// expect-6: PTXDSL-I03
// control-7: two allocations, freed in turn, by one of four warps
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto slot = k.tcgen05.make_slot<512>();
    const auto small = k.tcgen05.make_slot<128>("small");
    static_cast<void>(small);
#if PTXDSL_CASE == 7
    const auto first_warp = k.mov(px::tid.x) < 32u;
    k.if_(first_warp, [&] { k.tcgen05.alloc(slot); });
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    k.bar_sync();
    k.if_(first_warp, [&] {
        k.tcgen05.dealloc(memory);
        k.tcgen05.alloc(small);
        k.tcgen05.relinquish_alloc_permit(small);
    });
    k.bar_sync();
    const auto second = k.tcgen05.load(small);
    k.if_(first_warp, [&] { k.tcgen05.dealloc(second); });
#else
#if PTXDSL_CASE == 3
    k.tcgen05.relinquish_alloc_permit(slot);
#endif
    k.tcgen05.alloc(slot);  // here-3
#if PTXDSL_CASE == 4
    k.tcgen05.alloc(small);  // here-4
#endif
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
#if PTXDSL_CASE == 1  // nobody frees it
#else
    k.tcgen05.dealloc(memory);
#endif
#if PTXDSL_CASE == 2
    k.tcgen05.dealloc(memory);  // here-2
#elif PTXDSL_CASE == 5
    k.tcgen05.relinquish_alloc_permit(k.tcgen05.make_slot<512, px::cta_group_2>());  // here-5
#elif PTXDSL_CASE == 6
    k.tcgen05.dealloc(k.tcgen05.quarter(memory, 0u));  // here-6
#elif PTXDSL_CASE != 3
    k.tcgen05.relinquish_alloc_permit(slot);
#endif
#endif
}
#if PTXDSL_CASE == 7
constexpr px::attributes attributes{.reqntid = {128}};
#else
constexpr px::attributes attributes{.reqntid = {32}};
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, attributes>>();
