// SPDX-License-Identifier: Apache-2.0
// D12: wgmma by threads that are no whole number of warpgroups.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

constexpr void multiply(hopper& k) {
    const auto d = k.wgmma.descriptor(k.smem<tile>(1));
    const auto acc = k.wgmma.make_accumulator<f32, 64>();
    k.wgmma.fence();
    k.wgmma.mma_async(acc, d, d, false);  // here-1 here-2 here-3 here-4 here-5 here-6
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {  // one producer warp, two warpgroups
    k.if_(k.mov(px::tid.x) < 256u, [&] { k.role(256, [&] { multiply(k); }); });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {288}}>>();

constexpr void behind(hopper& k) {  // a producer warpgroup first
    k.if_(k.mov(px::tid.x) >= 128u, [&] { multiply(k); });
}
[[maybe_unused]] constexpr auto second = px::assemble<px::kernel<"test", behind, px::attributes{.reqntid = {384}}>>();
[[maybe_unused]] constexpr auto unknown = px::assemble<px::kernel<"test", multiply>>();  // the launch chooses the block

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-D12 "96"

constexpr auto ptx = px::assemble<px::kernel<"test", multiply, px::attributes{.reqntid = {96}}>>();

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-D12 "160"

constexpr void body(hopper& k) {
    k.if_(k.mov(px::tid.x) >= 32u, [&] { k.role(160, [&] { multiply(k); }); });
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {192}}>>();

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-D12 "one thread"

constexpr void body(hopper& k) {
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { multiply(k); });
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-D12 "thread 32"

constexpr void body(hopper& k) {  // a producer warp first: no warpgroup is left
    k.if_(k.mov(px::tid.x) >= 32u, [&] { k.role(256, [&] { multiply(k); }); });
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {288}}>>();

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-D12 "thread 64"

constexpr void body(hopper& k) {
    k.if_(k.mov(px::tid.x) < 64u, [&] {}).else_([&] { multiply(k); });
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {192}}>>();

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-D12 "thread 32"

constexpr void body(hopper& k) {
    k.if_(px::unless(k.mov(px::tid.x) < 32u), [&] { multiply(k); });
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {160}}>>();

#endif
