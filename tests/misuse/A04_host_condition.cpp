// SPDX-License-Identifier: Apache-2.0
// A04: a run-time comparison used as a condition of the C++ program.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u32> i, px::global_ptr<f32> out) {
    constexpr bool unrolled = true;
    if (unrolled)
        k.if_(i == 2u, [&] { k.st(out, 1.0f); });  // the C++ condition is the host's, the register's is the kernel's
    for (u32 n = 0; n < 4; ++n) k.st(out + n, 0.0f);
    k.while_([&] { return i < 4u; }, [&](px::loop_handle l) { l.break_(); });
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::global_ptr<f32> out) {
    if (i == 2u) k.st(out, 1.0f);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x, px::global_ptr<f32> out) {
    while (x < 1.0f) k.st(out, x);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::generic_ptr<f32> out) {
    k.st(k.cvta_to<px::space::global>(out), i != 0u ? 1.0f : 0.0f);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::global_ptr<f32> out) {
    if (i) k.st(out, 1.0f);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A04

constexpr void wrong_by_option([[maybe_unused]] hopper& k, px::reg<u32> i, bool debug, px::global_ptr<f32> out) {
    if (debug && i > 3u) k.st(out, 1.0f);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::global_ptr<f32> out) {
    for (u32 n = 0; i > 3u; ++n) k.st(out + n, 1.0f);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i, px::global_ptr<f32> out) {
    k.st(out, out[i]);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> out) {
    *out = 1.0f;  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A04

constexpr void wrong([[maybe_unused]] hopper& k) {
    static_cast<void>(k.smem_array<f32>(4, "s")[2]);  // here-9
}

#endif
