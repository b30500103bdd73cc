// SPDX-License-Identifier: Apache-2.0
// D14: a shared tile overwritten while a wgmma that reads it is still pending.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void overwrite(hopper& k, const px::shared_tile<tile>& t) {
    k.st(k.shared_pointer<f32, 4>(k.mad_lo(k.mov(px::tid.x), 4u, t.stage(0).address())), k.mov<f32>(1.0f));  // here-1
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b"), other = k.smem<tile>(1, "other");
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, k.wgmma.descriptor(a), k.wgmma.descriptor(b), false);
    k.wgmma.commit_group();
    overwrite(k, other);  // another tile
    k.wgmma.wait_group<0>();
    overwrite(k, a);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D14 "written"

constexpr void body(hopper& k) {
    const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, k.wgmma.descriptor(a), k.wgmma.descriptor(b), false);
    k.wgmma.commit_group();
    overwrite(k, a);
    k.wgmma.wait_group<0>();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
