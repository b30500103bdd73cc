// SPDX-License-Identifier: Apache-2.0
// A07: vector arity or element type that does not match; vectors longer than the hardware has.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::f64, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<f32, 16> p, px::global_ptr<u64, 16> q, px::global_ptr<bf16, 8> h) {
    const auto four = k.ld(p.as<px::packet<f32, 4>>());
    k.st<px::v2>(p, px::vec{four[3], four[0]});
    k.st(q.as<px::packet<u64, 2>>(), k.ld<px::v2>(q));
    k.st(h.as<px::packet<bf16, 4>>(), k.ld<px::v4>(h));
    const auto [lo, hi] = k.mov_unpack(k.ld(q));
    k.st(q, k.mov_pack<u64>(hi, lo));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// control-1: 256-bit vectors of global memory on sm_100a

constexpr void control(px::builder<px::sm_100a>& k, px::global_ptr<f32, 32> p, px::global_ptr<f64, 32> q) {
    k.st<px::v8>(p, k.ld<px::v8>(p));
    k.st<px::v4>(q, k.ld<px::v4>(q));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p, px::reg<f32> x) {
    k.st<px::v4>(p, px::vec{x, x, x});  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<px::packet<f32, 4>, 16> p, px::reg<u32> x) {
    k.st(p, px::vec{x, x, x, x});  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<px::packet<f32, 2>, 8> p, px::reg<f32> x) {
    k.st(p, x);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p, px::reg<f32> x) {
    k.st(p, px::vec{x, x});  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 32> p) {
    static_cast<void>(k.ld<px::v8>(p));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f64, 32> p) {
    static_cast<void>(k.ld<px::v4>(p));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f16, 16> p) {
    static_cast<void>(k.ld<px::v8>(p));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A07

constexpr void wrong([[maybe_unused]] px::builder<px::sm_100a>& k, px::shared_ptr<f32, 32> p) {
    static_cast<void>(k.ld<px::v8>(p));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<px::packet<f32, 2>, 16> p) {
    static_cast<void>(k.ld<px::v2>(p));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> x) {
    static_cast<void>(k.mov_pack<px::b128>(x, x, x));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A07

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> d, px::reg<f32> e, px::global_ptr<f32, 16> p) {
    k.inst<"ld.global.v4.f32">(px::vec{d, e}, p);  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A07 "A07_vectors.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<px::packet<f32, 2>, 8> p) {
    static_cast<void>(k.ld(p)[2]);  // here-13
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#endif
