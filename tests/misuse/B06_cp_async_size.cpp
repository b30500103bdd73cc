// SPDX-License-Identifier: Apache-2.0
// B06: cp.async of another size than 4, 8 or 16 bytes, or .cg with another than 16.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::ca, 4>(s, g);
    k.cp_async<px::ca, 8>(s, g);
    k.cp_async<px::ca, 16>(s, g);
    k.cp_async<px::cg, 16>(s, g);
    k.cp_async_commit_group();
    k.cp_async_wait_group<0>();
}
constexpr void launch(hopper& k, px::global_ptr<const f32, 16> g) {
    control(k, px::as_ptr<px::space::shared, f32, 16>(k.mov<u32>(0u)), g);
}
constexpr auto ptx = px::assemble<px::kernel<"control", launch>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B06

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::ca, 2>(s, g);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B06

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::cg, 8>(s, g);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B06

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::cg, 4>(s, g);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B06

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::ca, 32>(s, g);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B06

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32, 16> s, px::global_ptr<const f32, 16> g) {
    k.cp_async<px::ca, 12>(s, g);  // here-5
}

#endif
