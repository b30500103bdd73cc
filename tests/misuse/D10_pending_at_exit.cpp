// SPDX-License-Identifier: Apache-2.0
// D10: wgmma group pending at exit.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.if_(n == 0u, [&] { k.exit(); });  // before anything is pending
    k.if_(n != 1u, [&] {                // empty on some path: legal
        k.wgmma.fence();
        k.wgmma.mma_async(acc, d, d, false);
    });
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D10

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-D10

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);  // here-2
    k.wgmma.commit_group();
    k.wgmma.wait_group<1>();
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-D10

constexpr void body(hopper& k, px::reg<u32> n) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);  // here-3
    k.wgmma.commit_group();
    k.if_(n == 0u, [&] { k.exit(); });
    k.wgmma.wait_group<0>();
}

#elif PTXDSL_CASE == 4
// warn-4: PTXDSL-D10 "waits for nothing"

constexpr void body(hopper& k) {
    auto d = k.wgmma.descriptor(k.smem<tile>(1));
    auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
    k.wgmma.wait_group<0>();  // here-4
}

#elif PTXDSL_CASE == 5
// warn-5: PTXDSL-D10 "commits"

constexpr void body(hopper& k) {
    k.wgmma.commit_group();  // here-5
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
