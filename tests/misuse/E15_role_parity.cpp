// SPDX-License-Identifier: Apache-2.0
// A pipeline state of the wrong role, which starts on the other parity.
//
// expect-1: PTXDSL-E15
// expect-2: PTXDSL-E15
// expect-3: PTXDSL-E15 "parity 1"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k) {
    const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
    [[maybe_unused]] const auto in = k.producer_state(pipe);
    [[maybe_unused]] const auto out = k.consumer_state(pipe);
#if PTXDSL_CASE == 0
    k.wait_empty(pipe, in);
    k.advance(in);
    k.wait_full(pipe, out);
    k.advance(out);
#elif PTXDSL_CASE == 1  // a consumer waits for an empty slot
    k.wait_empty(pipe, out);  // here-1
#elif PTXDSL_CASE == 2  // a producer waits for a full slot
    k.wait_full(pipe, in);  // here-2
#endif
}

// The same with a barrier of one's own.
using tile = px::tile<px::bf16, 64, 64>;
constexpr void product(px::builder<px::sm_90a>& k, px::tma_map<tile> map, px::global_ptr<px::f32> out) {
    const auto a = k.smem<tile>(1, "a");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    const auto acc = k.wgmma.make_accumulator<px::f32, 64>();
    const auto operand = k.wgmma.descriptor(a);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive_expect_tx(full[0], a);
        k.cp_async_bulk_tensor(a[0], map, px::coords(0, 0), full[0]);
    });
#if PTXDSL_CASE == 3     // the phase before the first: nobody waits
    k.wait(full[0], 1);  // here-3
#else
    k.wait(full[0], 0);
#endif
    k.wgmma.fence();
    k.wgmma.mma_async(acc, operand, operand, false);
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
    k.st(out + tid, acc[0]);
}
[[maybe_unused]] constexpr auto one_tile =
    px::assemble<px::kernel<"product", product, px::attributes{.reqntid = {128}}>>();
