// SPDX-License-Identifier: Apache-2.0
// B02: write through a pointer to const, or to the constant space.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<const f32> in, px::global_ptr<f32> out, px::const_ptr<f32> table) {
    k.st(out, k.ld(in) + k.ld(table) + k.ld<px::nc>(in));
    const px::global_ptr<const f32> view = out;  // a pointer to non-const reads, too
    k.st(out, k.ld(view));
    k.red_add(out, 1.0f);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const f32> p) {
    k.st(p, 1.0f);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::const_ptr<f32> p) {
    k.st(p, 1.0f);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const u32> p) {
    static_cast<void>(k.atom_add(p, 1u));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const u32> p) {
    k.red_or(p, 1u);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const f32, 16> p, px::reg<f32> x) {
    k.st<px::v2>(p, px::vec{x, x});  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const u32> p) {
    static_cast<void>(k.atom_cas(p, 0u, 1u));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<const u32, 128> p) {
    k.discard_L2(p);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<const f32> p) {
    k.st<px::relaxed, px::cta>(p, 1.0f);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-B02

constexpr void wrong([[maybe_unused]] hopper& k, px::const_ptr<u32> p) {
    static_cast<void>(k.atom_add(p, 1u));  // here-9
}

#endif
