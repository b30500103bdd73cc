// SPDX-License-Identifier: Apache-2.0
// A14: an operator that writes the register of a handle its author has made const.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    auto x = n + 1u;
    const auto y = n;
    x += y, x -= 1u, x *= y, x &= y, x |= 1u, x ^= y, x <<= 1u, x >>= y;
    k.st(out, x + y);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A14 "const"

constexpr void wrong(hopper&, px::reg<u32> n) {
    const auto x = n + 1u;
    x += n;  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A14 "const"

constexpr void wrong(hopper&, px::reg<u32> n) {
    const auto x = n + 1u;
    x ^= 1u;  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A14 "const"

constexpr void wrong(hopper& k, px::reg<f32> a) {
    const auto sum = k.add(a, 1.0f);
    k.for_(4u, [&](px::reg<u32>) { sum *= a; });  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A14 "const"

constexpr void wrong(hopper&, px::reg<u32> n) {
    const auto x = n + 1u;
    x <<= 2u;  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A14 "const"

constexpr void wrong(hopper&, px::reg<u32> n) {
    const auto x = n + 1u;
    x = n;  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A14 "const"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> a) {
    auto sum = k.add(a, 1.0f);
    k.for_(4u, [=](px::reg<u32>) { sum = sum + a; });  // here-6
}

#endif
