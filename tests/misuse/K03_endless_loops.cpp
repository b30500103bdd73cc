// SPDX-License-Identifier: Apache-2.0
// K03: a loop that never ends and has no break, return, exit or trap; a step that never reaches its bound.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::s32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n, px::reg<s32> m, px::reg<u32> step) {
    const auto nothing = [&](auto) { k.nanosleep(1u); };
    k.loop([&](px::loop_handle l) { l.break_if(n == 0u); });
    k.loop([&] { k.at(n == 1u).ret(); });
    k.loop([&] { k.at(n == 2u).trap(); });
    k.loop([&](px::loop_handle outer) { k.loop([&] { outer.break_if(n == 3u); }); });
    k.while_([&] { return n == 4u; }, [&] { k.nanosleep(1u); });
    k.for_(0u, n, step, nothing);
    k.for_(0, m, 2, nothing);
    k.for_(0u, n, 0u, [&](px::reg<u32>, px::loop_handle l) { l.break_if(n == 5u); });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K03

constexpr void body(hopper& k) {
    k.loop([&] { k.nanosleep(1u); });  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K03 "step of 0"

constexpr void body(hopper& k, px::reg<u32> n) {
    k.for_(0u, n, 0u, [&](px::reg<u32>) { k.nanosleep(1u); });  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-K03 "step of -1"

constexpr void body(hopper& k, px::reg<s32> n) {
    k.for_(0, n, -1, [&](px::reg<s32>) { k.nanosleep(1u); });  // here-3
}

#elif PTXDSL_CASE == 4
// warn-4: PTXDSL-K03 "zero times"

constexpr void body(hopper& k) {
    k.for_(10u, 10u, 1u, [&](px::reg<u32>) { k.nanosleep(1u); });  // here-4
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
