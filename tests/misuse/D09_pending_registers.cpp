// SPDX-License-Identifier: Apache-2.0
// D09: accumulator or register A touched between mma_async and the wait_group that covers it.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;
using out_t = px::global_ptr<f32>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, out_t out) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto x = k.wgmma.make_accumulator<f32, 64>("x"), y = k.wgmma.make_accumulator<f32, 64>("y");
    k.wgmma.fence();
    k.wgmma.mma_async(x, d, d, false);
    k.wgmma.commit_group();
    k.wgmma.mma_async(y, d, d, false);
    k.wgmma.commit_group();
    k.wgmma.wait_group<1>();
    k.st(out, x[0]);  // the older group is done
    k.wgmma.wait_group<0>();
    k.st(out, y[0]);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D09

constexpr void body(hopper& k, out_t out) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    k.wgmma.commit_group();
    k.st(out, acc[3]);  // here-1
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-D09

constexpr void body(hopper& k, out_t out) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    k.wgmma.commit_group();
    k.wgmma.wait_group<1>();
    k.st(out, acc[3]);  // here-2
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-D09 "A operand"

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    auto a = k.wgmma.make_a_fragment<bf16>();
    for (u32 i = 0; i < 4; ++i) k.inst<"mov.b32">(a[i], 0u);
    k.wgmma.fence();
    k.wgmma.mma_async(acc, a, d, false);
    k.wgmma.commit_group();
    k.inst<"mov.b32">(a[0], 1u);  // here-3
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-D09

constexpr void body(hopper& k, out_t out, px::reg<u32> steps) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.for_(steps, [&](px::reg<u32>) {
        k.wgmma.fence();
        k.wgmma.mma_async(acc, d, d, false);
        k.wgmma.commit_group();
    });
    k.st(out, acc[3]);  // here-4
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 5
// control-5: register A may be read while it is in flight

constexpr void body(hopper& k, px::global_ptr<px::b32> out) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    auto a = k.wgmma.make_a_fragment<bf16>();
    for (u32 i = 0; i < 4; ++i) k.inst<"mov.b32">(a[i], 0u);
    k.wgmma.fence();
    k.wgmma.mma_async(acc, a, d, false);
    k.wgmma.commit_group();
    k.st(out, a[0]);
    k.wgmma.wait_group<0>();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
