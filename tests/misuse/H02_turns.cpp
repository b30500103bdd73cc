// SPDX-License-Identifier: Apache-2.0
// H02: turns of two warpgroups at two named barriers, whose numbers are in registers.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

/// A barrier apiece says whose turn it is; the first turn is the first warpgroup's.
constexpr void take_turns(hopper& k, u32 given, u32 waited) {
    const auto group = k.shr(k.mov(px::tid.x), 7u);
    const auto own = k.add(group, 1u), other = k.sub(2u, group);
    if (given != 0) k.if_(group == 1u, [&] { k.bar_arrive(other, given); });
    k.for_(8u, [&](px::reg<u32>) {
        k.bar_sync(own, waited);  // here-1 here-2
        k.bar_arrive(other, 256u);
    });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) { take_turns(k, 256, 256); }

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-H02 "named"

constexpr void body(hopper& k) {
    take_turns(k, 0, 256);  // nobody gives the first turn
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H02 "224"

constexpr void body(hopper& k) {
    take_turns(k, 256, 224);  // those who arrive count 256
}

#elif PTXDSL_CASE == 3
// control-3: each warpgroup for itself, and arrivals at what nobody waits for

constexpr void body(hopper& k) {
    const auto group = k.shr(k.mov(px::tid.x), 7u);
    k.for_(8u, [&](px::reg<u32>) {
        k.bar_sync(k.add(group, 1u), 128u);
        k.bar_arrive(k.add(group, 3u), 256u);
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
