// SPDX-License-Identifier: Apache-2.0
// H02: arrive + sync totals on a named barrier that never complete its count.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

template <class A, class B>
constexpr void two_roles(hopper& k, const A& a, const B& b) {
    k.if_(k.mov(px::tid.x) < 128u, [&] { k.role(128, a); }).else_([&] { k.role(128, b); });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    two_roles(k, [&] { k.bar_sync<1, 256>(); }, [&] { k.bar_arrive<1, 256>(); });
    two_roles(k, [&] { k.bar_sync<2, 128>(); }, [&] { k.bar_sync<3, 128>(); });
    k.if_(n != 0u, [&] { k.bar_sync<4, 64>(); });  // who comes is unknown
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-H02 "256"

constexpr void body(hopper& k) {
    two_roles(
        k,
        [&] {
            k.bar_sync<1, 256>();  // here-1
        },
        [&] { k.bar_sync<2, 128>(); });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
