// SPDX-License-Identifier: Apache-2.0
// A11: an instruction the target lacks.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f16, px::f32, px::f32x2, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<f32> f, px::reg<u32> u) {
    static_cast<void>(k.min(f, f));
    static_cast<void>(k.redux_sync_add(u, px::full_mask));
}
constexpr void control_blackwell(px::builder<px::sm_100a>& k, px::reg<f32x2> v, px::reg<f32> f, px::reg<f16> h) {
    static_cast<void>(k.add<px::rn>(v, v));
    static_cast<void>(k.min(f, f, f) + k.redux_sync_min(f, px::full_mask) + k.add(h, f));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());
constexpr auto ptx_blackwell = px::assemble<px::kernel<"control", control_blackwell>>();
static_assert(!ptx_blackwell.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A11

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32x2> v) {
    static_cast<void>(k.add<px::rn>(v, v));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A11

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    static_cast<void>(k.max(f, f, f));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A11

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f) {
    static_cast<void>(k.redux_sync_min(f, px::full_mask));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A11

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f16> h, px::reg<f32> f) {
    static_cast<void>(k.add<px::rn>(h, f));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A11

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> f, px::reg<u32> r) {
    static_cast<void>(k.cvt<px::f16x2, px::rs>(px::hi(f), px::lo(f), r));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A11

constexpr void wrong([[maybe_unused]] px::builder<px::sm_100a>& k) {
    k.inst<"wgmma.fence.sync.aligned">();  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A11

constexpr void wrong([[maybe_unused]] px::builder<px::sm_100a>& k) {
    k.wgmma.fence();  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A11

constexpr void wrong([[maybe_unused]] px::builder<px::sm_90>& k) {
    k.inst<"setmaxnreg.inc.sync.aligned.u32">(240);  // here-8
}

#endif
