// SPDX-License-Identifier: Apache-2.0
// G08: a non-coherent load behind the wait for the kernel ahead.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32;
using px::u32;
using hopper = px::builder<px::sm_90a>;
using input = px::global_ptr<const f32>;
using output = px::global_ptr<f32>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.griddepcontrol_wait();
    k.st(y + i, k.ld(x + i));
}

#elif PTXDSL_CASE == 1
// control-1: constants are loaded before the wait

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    const auto scale = k.ld<px::nc>(x);
    k.griddepcontrol_wait();
    k.st(y + i, k.mul<px::rn>(k.ld(y + i), scale));
}

#elif PTXDSL_CASE == 2
// control-2: the threads that load have not waited

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.if_(i < 32u, [&] {
         k.griddepcontrol_wait();
         k.st(y + i, k.ld(x + i));
     }).else_([&] { k.st(y + i, k.ld<px::nc>(x + i)); });
    k.if_(i == 64u, [&] { k.st(y, k.ld<px::nc>(x)); });
}

#elif PTXDSL_CASE == 3
// control-3: a kernel that waits for nobody

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.griddepcontrol_launch_dependents();
    k.st(y + i, k.ld<px::nc>(x + i));
}

#elif PTXDSL_CASE == 4
// warn-4: PTXDSL-G08 "follows griddepcontrol.wait"

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.griddepcontrol_wait();
    k.st(y + i, k.ld<px::nc>(x + i));  // here-4
}

#elif PTXDSL_CASE == 5
// warn-5: PTXDSL-G08 "follows griddepcontrol.wait"

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.if_(i < 32u, [&] { k.st(y, k.ld<px::nc>(x)); }).else_([&] {
        k.griddepcontrol_wait();
        k.if_(i < 64u, [&] {
            const auto pair = k.ld<px::nc>((x + 2u * i).as<px::packet<f32, 2>>().assume_aligned<8>());  // here-5
            k.st(y + i, k.add<px::rn>(pair[0], pair[1]));
        });
    });
}

#elif PTXDSL_CASE == 6
// warn-6: PTXDSL-G08 "stored before"

constexpr void body(hopper& k, output p) {
    const auto i = k.mov(px::tid.x);
    k.st(p + i, k.ld(p + i));
    k.st(p + i, k.ld<px::nc>(p + i));  // here-6
}

#elif PTXDSL_CASE == 7
// control-7: another buffer, other elements, and a plain load

constexpr void body(hopper& k, input x, output y) {
    const auto i = k.mov(px::tid.x);
    k.st(y + i, k.ld<px::nc>(x + i));
    k.st(y + (i + 128u), k.ld<px::nc>(x + i));
    k.st(y + i, k.ld(y + i));
    k.st(y + i, k.ld<px::nc>(y + (i + 1024u)));
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
