// SPDX-License-Identifier: Apache-2.0
// K01: a guard in front of what is more than one instruction. It would hold for none of them.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    const auto p = n == 0u;
    const auto end = k.new_label("end");
    k.if_(p, [&] { k.for_(n, [&](px::reg<u32> i) { k.at(i == 3u).st(out, i); }); });
    k.at(p).bra(end);
    k.at(p).trap();
    k.place(end);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    k.at(n == 0u).if_(n == 1u, [&] { k.st(out, n); });  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    k.at(n == 0u).for_(n, [&](px::reg<u32> i) { k.st(out, i); });  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    k.at(n == 0u).wait(bar.stage(0), 0u);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    const auto l = k.new_label("l");
    k.bra(l);
    k.at(n == 0u).place(l);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.at(n == 0u).switch_table(n, px::case_<0>([&] { k.nanosleep(1u); }));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.at(n == 0u).single_thread(n == 1u, [&] { k.nanosleep(1u); });  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-K01 "guards"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    k.at(n == 0u).scope([&] { k.nanosleep(1u); });  // here-7
}

#endif
