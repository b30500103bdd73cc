// SPDX-License-Identifier: Apache-2.0
// H02: a barrier whose number is in a register, with a count that does not divide the threads.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k) {
    const auto group = k.add(k.shr(k.mov(px::tid.x), 7u), 1u);
#if PTXDSL_CASE == 0
    k.bar_sync(group, 128u);  // each warpgroup has a barrier of its own
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-H02
    k.bar_sync(group, 160u);  // here-1
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
