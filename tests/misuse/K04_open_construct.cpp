// SPDX-License-Identifier: Apache-2.0
// K04: a C++ return in the body of a construct, which cannot leave the construct.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    k.if_(n == 0u, [&] {
        if (k.attributes().threads() == 0) return;  // decided while the kernel is written: nothing is emitted
        k.nanosleep(1u);
    });
    k.if_(n == 1u, [&] { k.ret(); });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K04

constexpr void body(hopper& k, px::reg<u32> n) {
    k.if_(n == 0u, [&] { return n; });  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K04

constexpr void body(hopper& k, px::reg<u32> n) {
    k.for_(n, [&](px::reg<u32> i) { return i; });  // here-2
}

#elif PTXDSL_CASE == 3
// warn-3: PTXDSL-K04 "nothing"

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    k.if_(n == 0u, [&] {
        k.ret();
        k.st(out, n);  // a store that no thread comes to
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 4
// control-4: some threads leave, others go on; and a body that ends with it

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    k.at(n == 1u).ret();
    k.if_(n == 0u, [&] { k.ret(); }).else_([&] { k.st(out, n); });
    k.exit();
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#endif
