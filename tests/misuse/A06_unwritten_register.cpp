// SPDX-License-Identifier: Apache-2.0
// A06: a register whose unwritten value reaches a use.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using out_t = px::global_ptr<f32>;
using tile = px::tile<bf16, 64, 64>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, out_t out, px::reg<u32> n) {
    auto x = k.new_reg<f32>(), y = k.new_reg<f32>(), z = k.new_reg<f32>();
    k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); });  // written on one path: not provable
    k.st(out, x);
    const auto p = n > 5u;
    k.at(p).inst<"mov.f32">(y, 1.0f);  // definition and use under one guard
    k.at(p).st(out, y);
    k.for_(n, [&](px::reg<u32> i) {  // the loop's first iteration skips the use
        k.if_(i != 0u, [&] { k.st(out, z); });
        k.inst<"mov.f32">(z, 1.0f);
    });
}

#elif PTXDSL_CASE == 1
// control-1: D of a wgmma is not read when scale-d is the constant false, unknown when it is a register

constexpr void body(hopper& k, px::reg<u32> n) {
    auto a = k.smem<tile>(1);
    auto d = k.wgmma.descriptor(a);
    auto x = k.wgmma.make_accumulator<f32, 64>("x"), y = k.wgmma.make_accumulator<f32, 64>("y");
    k.wgmma.fence();
    k.wgmma.mma_async(x, d, d, false);
    k.wgmma.mma_async(y, d, d, n != 0u);
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A06 "register %x"

constexpr void body(hopper& k, out_t out) {
    auto x = k.new_reg<f32>("x");
    k.st(out, x);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A06

constexpr void body(hopper& k, out_t out, px::reg<u32> n) {
    auto x = k.new_reg<f32>("x");
    k.for_(n, [&](px::reg<u32>) {
        k.st(out, x);  // here-3
        k.inst<"mov.f32">(x, 1.0f);
    });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A06

constexpr void body(hopper& k, out_t out, px::reg<u32> n) {
    auto x = k.new_reg<f32>("x");
    k.if_(n > 3u, [&] { k.inst<"mov.f32">(x, 1.0f); }).else_([&] {
        k.st(out, x);  // here-4
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A06 "%acc"

constexpr void body(hopper& k) {
    auto a = k.smem<tile>(1);
    auto d = k.wgmma.descriptor(a);
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, true);  // here-5
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
