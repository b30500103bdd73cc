// SPDX-License-Identifier: Apache-2.0
// K02: branch into another function or into a scope.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto after = k.new_label("after"), inside = k.new_label("inside");
    k.scope([&] {
        k.at(n == 0u).bra(after);                     // out of a scope
        k.scope([&] { k.at(n == 1u).bra(inside); });  // out of an inner one
        k.place(inside);
    });
    k.place(after);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K02

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto inside = k.new_label("inside");
    k.at(n == 0u).bra(inside);  // here-1
    k.scope([&] { k.place(inside); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K02

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto inside = k.new_label("inside");
    k.scope([&] { k.place(inside); });
    k.scope([&] {
        k.at(n == 0u).bra(inside);  // here-2
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
