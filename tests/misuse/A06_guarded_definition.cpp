// SPDX-License-Identifier: Apache-2.0
// A06: a register that is written under a guard on the thread's index, and stored by all threads.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void body(hopper& k, px::global_ptr<f32> in, px::global_ptr<f32> out, px::reg<u32> n) {
    const auto tid = k.mov(px::tid.x);
    static_cast<void>(in), static_cast<void>(n);
#if PTXDSL_CASE == 0
    const auto first = tid == 0u;
    const auto x = k.at(first).ld(in);
    k.at(first).st(out, x);                   // under the same guard
    k.if_(first, [&] { k.st(out, x); });      // where it holds
    k.st(out + tid, k.selp(x, 0.0f, first));  // chosen by it
    const auto y = k.at(n == 0u).ld(in);      // of data nothing is known
    k.st(out + tid, y);
    const auto z = k.mov<f32>(0.0f);
    k.at(first).inst<"ld.global.f32">(z, in);  // had a value before
    k.st(out + tid, z);
    const auto all = k.at(tid < 128u).ld(in);  // holds for all
    k.st(out + tid, all);
    const auto w = k.new_reg<f32>("w");
    k.at(first).inst<"mov.f32">(w, 1.0f);
    k.at(px::unless(first)).inst<"mov.f32">(w, 2.0f);  // one of the two
    k.st(out + tid, w);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-A06 "read"
    const auto x = k.at(tid == 0u).ld(in);
    k.st(out + tid, x);  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-A06 "read"
    const auto x = k.at(k.mov(px::laneid) < 8u).mov<f32>(1.0f);
    k.red_add(out, x);  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-A06 "read"
    const auto x = k.at(px::unless(tid < 64u)).mov<f32>(1.0f);
    k.st(out + tid, x);  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-A06 "read"
    const auto i = k.at(tid >= 32u).mov<u32>(1);
    k.if_(i == 1u, [&] { k.st(out, 1.0f); });
    k.st(out, k.cvt<f32, px::rn>(i));
    k.red_add(px::global_ptr<u32>(k.program(), out.base()), i);  // here-4
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
