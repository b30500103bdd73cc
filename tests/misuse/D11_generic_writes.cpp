// SPDX-License-Identifier: Apache-2.0
// D11: a wgmma after generic writes of its tile without fence.proxy.async by the writers and a rendezvous.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

/// All threads write the tile, then `publish`, then the warpgroup multiplies it.
template <class Publish>
constexpr void multiply_own(hopper& k, const Publish& publish) {
    const auto a = k.smem<tile>(1, "a");
    const auto d = k.wgmma.descriptor(a);
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.st(k.shared_pointer<f32, 4>(k.mad_lo(k.mov(px::tid.x), 4u, a.stage(0).address())), k.mov<f32>(1.0f));
    publish();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);  // here-1 here-2
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    multiply_own(k, [&] {
        k.fence_proxy_async_shared_cta();
        k.bar_sync();
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D11

constexpr void body(hopper& k) {
    multiply_own(k, [&] { k.bar_sync(); });  // orders threads, not proxies
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-D11

constexpr void body(hopper& k) {
    multiply_own(k, [&] { k.fence_proxy_async_shared_cta(); });  // the other threads' writes may come later
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
