// SPDX-License-Identifier: Apache-2.0
// B04: qualifiers that do not go together.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<f32, 16> p, px::global_ptr<const f32, 16> in) {
    const auto s = px::as_ptr<px::space::shared, f32>(k.mov<u32>(0u));
    const auto policy = k.createpolicy_fractional<px::L2::evict_first>();
    k.st<px::release, px::gpu>(p, k.ld<px::acquire, px::sys>(p));
    k.st<px::wt>(p, k.ld<px::cg>(p));
    k.st<px::volatile_>(p, k.ld<px::volatile_>(s));
    k.st(p, k.ld<px::nc, px::L1::no_allocate, px::L2::_128B>(in, policy), policy);
    k.st<px::mmio, px::relaxed, px::sys>(p, k.ld<px::mmio, px::relaxed, px::sys>(p));
    k.fence<px::sc, px::cluster>();
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::acquire>(p));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::release, px::gpu>(p));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st<px::acquire, px::gpu>(p, 1.0f);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::volatile_, px::cg>(p));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st<px::nc>(p, 1.0f);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> p) {
    static_cast<void>(k.ld<px::nc>(p));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::mmio, px::acquire, px::gpu>(p));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::relaxed, px::gpu, px::nc>(p));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::wb>(p));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::L2::cache_hint>(p));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> p, px::reg<px::b64> policy) {
    static_cast<void>(k.ld(p, policy));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.ld<px::gpu>(p));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-B04

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.fence<px::relaxed, px::gpu>();  // here-13
}

#endif
