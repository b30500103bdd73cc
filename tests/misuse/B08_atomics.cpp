// SPDX-License-Identifier: Apache-2.0
// B08: atomic operation and type pair that does not exist.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::bf16, px::bf16x2, px::f16, px::f16x2, px::f32, px::f64, px::s32, px::s64, px::u16, px::u32, px::u64, px::u8;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<u64, 16> p, px::shared_ptr<u32> s, px::reg<f32> f, px::reg<f16x2> h) {
    static_cast<void>(k.atom_add(p, 1ull));
    static_cast<void>(k.atom_min(p.as<s64>(), k.mov<s64>(-1)));
    static_cast<void>(k.atom_add(p.as<f32>(), f));
    k.red_add(p.as<f16x2>(), h);  // .noftz comes by itself
    k.red_add<px::v2>(p.as<f32>(), px::vec{f, f});
    static_cast<void>(k.atom_inc(s, 7u));
    static_cast<void>(k.atom_cas(p.as<u16>(), k.mov<u16>(0), k.mov<u16>(1)));
    k.inst<"red.global.add.noftz.bf16x2">(p.as<bf16x2>(), k.mov<bf16x2>(0));
}
constexpr void launch(hopper& k, px::global_ptr<u64, 16> p, px::reg<f32> f, px::reg<f16x2> h) {
    control(k, p, px::as_ptr<px::space::shared, u32>(k.mov<u32>(0u)), f, h);
}
constexpr auto ptx = px::assemble<px::kernel<"control", launch>>();
static_assert(ptx.text().find("red.global.add.noftz.f16x2") != std::string_view::npos);

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<s64> p, px::reg<s64> v) {
    static_cast<void>(k.atom_add(p, v));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.atom_min(p, 1.0f));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> p, px::reg<f32> x) {
    k.red_add<px::v2>(p, px::vec{x, x});  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f64> p) {
    k.red_max(p, 1.0);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u64> p) {
    k.red_inc(p, 1ull);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u16> p, px::reg<u16> v) {
    static_cast<void>(k.atom_add(p, v));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u16> p, px::reg<u16> v) {
    static_cast<void>(k.atom_exch(p, v));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u8> p, px::reg<u8> v) {
    static_cast<void>(k.atom_or(p, v));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f16> p, px::reg<f16> v) {
    static_cast<void>(k.atom_min(p, v));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-B08

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> p) {
    k.red_add<px::acquire, px::gpu>(p, 1u);  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A15

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f16x2> p, px::reg<f16x2> v) {
    k.inst<"red.global.add.f16x2">(p, v);  // here-11
}

#endif
