// SPDX-License-Identifier: Apache-2.0
// D08: no wgmma.fence before the first wgmma, after a write to D or register A, or before another shape on the same D.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void finish(hopper& k) {
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> steps) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    for (u32 i = 0; i < acc.size; ++i) k.inst<"mov.f32">(acc[i], 0.0f);
    k.for_(steps, [&](px::reg<u32>) {
        k.wgmma.fence();
        for (u32 i = 0; i < 4; ++i)
            k.wgmma.mma_async(acc, d.k_slice(i), d.k_slice(i));  // a chain of one shape needs none between
        finish(k);
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D08 "no wgmma.fence"

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.mma_async(acc, d, d, false);  // here-1
    finish(k);
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-D08

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    finish(k);
    k.inst<"mov.f32">(acc[0], 0.0f);
    k.wgmma.mma_async(acc, d, d);  // here-2
    finish(k);
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-D08

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    auto a = k.wgmma.make_a_fragment<bf16>();
    k.wgmma.fence();
    for (u32 i = 0; i < 4; ++i) k.inst<"mov.b32">(a[i], 0u);
    k.wgmma.mma_async(acc, a, d, false);  // here-3
    finish(k);
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-D08 "shape"

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto q = k.wgmma.descriptor(k.smem<px::tile<px::e4m3, 64, 64, px::k_major, px::swizzle_64b>>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    k.wgmma.mma_async(acc, q, q);  // here-4
    finish(k);
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-D08

constexpr void body(hopper& k, px::reg<u32> steps) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.for_(steps, [&](px::reg<u32>) {
        k.wgmma.mma_async(acc, d, d, false);  // here-5
        finish(k);
        k.inst<"mov.f32">(acc[0], 0.0f);  // seen by the next iteration
    });
}

#elif PTXDSL_CASE == 6
// warn-6: PTXDSL-D08 "was read"

constexpr void body(hopper& k, px::global_ptr<f32> out) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    finish(k);
    k.st(out, acc[0]);
    k.wgmma.mma_async(acc, d, d);  // here-6
    finish(k);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
