// SPDX-License-Identifier: Apache-2.0
// A02: a predicate used as data, or data as a guard.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u32> i, px::reg<f32> f, px::global_ptr<f32> out) {
    const auto p = i < 4u && !(f == 0.0f);
    k.if_(p, [&] { k.st(out, k.selp(f, 1.0f, px::unless(p))); });
    k.at(p).st(out, f);
    k.at(px::unless(p)).st(out, 0.0f);
    k.st(out + k.vote_sync_ballot(p ^ (i != 1u), px::full_mask), f);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p, px::reg<u32> i) {
    static_cast<void>(k.add(i, p));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p, px::reg<u32> i) {
    static_cast<void>(p + i);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p, px::reg<px::pred> q) {
    static_cast<void>(p + q);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    k.if_(i, [] {});  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::global_ptr<u32> p) {
    k.at(i).st(p, i);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::reg<f32> f) {
    static_cast<void>(k.selp(f, f, i));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p, px::global_ptr<u32> out) {
    k.st(out, p);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::reg<px::pred> p) {
    static_cast<void>(p && i);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    static_cast<void>(k.vote_sync_all(i, px::full_mask));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p) {
    static_cast<void>(k.popc(p));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::pred> p, px::reg<u32> d) {
    k.inst<"add.u32">(d, d, p);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A02

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.if_(true, [&] { k.trap(); });  // here-12
}

#endif
