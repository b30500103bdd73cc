// SPDX-License-Identifier: Apache-2.0
// K01: else without its if, break or continue outside a loop, label placed twice or never.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    k.if_(n == 0u, [&] { k.nanosleep(1u); }).else_([&] { k.nanosleep(2u); });
    k.loop([&](px::loop_handle outer) {
        k.for_(n, [&](px::reg<u32> i, px::loop_handle inner) {
            inner.continue_if(i == 3u);
            outer.break_if(i == 5u);
        });
    });
    const auto end = k.new_label("end"), unused = k.new_label("unused");
    k.at(n == 1u).bra(end);
    k.place(end);
    static_cast<void>(unused);  // declared, never named by a branch
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K01

constexpr void body(hopper& k, px::reg<u32> n) {
    auto branch = k.if_(n == 0u, [&] { k.nanosleep(1u); });
    k.nanosleep(3u);
    branch.else_([&] { k.nanosleep(2u); });  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K01

constexpr void body(hopper& k, px::reg<u32> n) {
    const px::loop_handle* left = nullptr;
    px::loop_handle kept(k.program(), {});
    k.loop([&](px::loop_handle l) {
        l.break_if(n == 0u);
        kept = l;
        left = &kept;
    });
    left->break_();  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-K01

constexpr void body(hopper& k) {
    const auto l = k.new_label("again");
    k.place(l);
    k.place(l);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-K01

constexpr void body(hopper& k) {
    const auto l = k.new_label("nowhere");  // here-4
    k.bra(l);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
