// SPDX-License-Identifier: Apache-2.0
// K01, K02: lists of branch targets and the cases of switch_table.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto a = k.new_label("a"), b = k.new_label("b");
    k.at(n < 2u).brx_idx(n, {a, b});
    const auto both = k.branch_targets({b, a, b});
    k.at(n < 3u).brx_idx_uni(n, both);
    k.place(a);
    k.place(b);
    k.switch_table(n, px::case_<2>([&] { k.nanosleep(2u); }), px::default_([&] { k.nanosleep(1u); }));
    k.switch_table(n & 1u, px::case_<1>([&] { k.nanosleep(2u); }), px::case_<0>([&] {}));
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K01 "empty"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.brx_idx(n, {});  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K01 "nowhere"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto a = k.new_label("a"), nowhere = k.new_label("nowhere");  // here-2
    k.place(a);
    k.brx_idx(n, {a, nowhere});
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-K01 "same value"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, px::case_<0>([&] {}), px::case_<1>([&] {}), px::case_<1>([&] {}));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-K01 "px::default_"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, px::case_<0>([&] {}), px::case_<2>([&] {}));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-K01 "1023"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, px::case_<5000>([&] {}), px::default_([&] {}));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-K01 "at most one"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, px::case_<0>([&] {}), px::default_([&] {}), px::default_([&] {}));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-K01 "at most one"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, [&] {}, [&] {});  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-K01 "without cases"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n, px::default_([&] {}));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-K02 "inside"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto inside = k.new_label("inside"), after = k.new_label("after");
    k.brx_idx(n, {after, inside});  // here-9
    k.scope([&] { k.place(inside); });
    k.place(after);
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-K02 "another kernel"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    px::ir::program other;
    const auto mine = k.new_label("mine"), theirs = hopper(other).new_label("theirs");
    k.place(mine);
    k.brx_idx(n, {mine, theirs});  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-K02 "another kernel"

constexpr void wrong(hopper& k) {
    px::ir::program other;
    k.bra(hopper(other).new_label("theirs"));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-K02 "table"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto a = k.new_label("a"), b = k.new_label("b");
    k.place(a);
    k.place(b);
    px::branch_table inside = k.branch_targets({a, b}, "unused");
    k.scope([&] { inside = k.branch_targets({a, b}); });
    k.brx_idx(n, inside);  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A01 "px::u32"

constexpr void wrong(hopper& k, px::reg<px::u64> n) {
    const auto a = k.new_label("a");
    k.place(a);
    k.brx_idx(n, {a});  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A02

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto a = k.new_label("a");
    k.place(a);
    k.brx_idx(n != 0u, {a});  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A14

constexpr void wrong(hopper& k, px::reg<u32>) {
    const auto a = k.new_label("a");
    k.place(a);
    k.brx_idx(0u, {a});  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A14 "special register"

constexpr void wrong(hopper& k, px::reg<u32>) {
    k.switch_table(px::tid.x, px::case_<0>([&] {}));  // here-16
}

#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-A01 "px::u32"

constexpr void wrong(hopper& k, px::reg<px::s32> n) {
    k.switch_table(n, px::case_<0>([&] {}));  // here-17
}

#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-A02

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.switch_table(n == 0u, px::case_<0>([&] {}));  // here-18
}

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-A06

constexpr void wrong(hopper& k) {
    const px::reg<u32> n = k.new_reg<u32>();
    k.switch_table(n, px::case_<0>([&] {}), px::case_<1>([&] {}));  // here-19
}

#elif PTXDSL_CASE == 20
// expect-20: PTXDSL-A06 "%x"

constexpr void wrong(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    px::reg<u32> x = k.new_reg<u32>("x");
    k.switch_table(n, px::case_<0>([&] { k.inst<"mov.u32">(x, 1); }), px::case_<1>([&] { k.st(out, x); }));  // here-20
}

#elif PTXDSL_CASE == 21
// control-21: a branch may skip what its targets need, when another path has done it

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    const px::reg<u32> x = k.new_reg<u32>("x");
    k.for_(n, [&](px::reg<u32> i) {
        k.switch_table(i & 1u, px::case_<0>([&] { k.inst<"mov.u32">(x, 1); }), px::case_<1>([&] { k.st(out, x); }));
    });
}

#endif
#if PTXDSL_CASE == 0 || PTXDSL_CASE == 21
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
