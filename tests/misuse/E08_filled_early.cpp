// SPDX-License-Identifier: Apache-2.0
// E08: the first slots are filled without a wait, and the state that waits afterwards does not stand behind them.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

/// One thread fills slots, 128 free them; `behind(state, head)` moves the state behind the first `head` of them.
template <class Behind>
constexpr void stream(hopper& k, const px::tma_map<tile>& map, const px::reg<u32>& steps, Behind behind) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto fill = [&](const px::reg<u32>& slot) {
                 k.mbarrier_arrive_expect_tx(pipe.full()[slot], a);
                 k.cp_async_bulk_tensor(a[slot], map, px::coords(0u, 0u), pipe.full()[slot]);
             };
             const auto at = k.producer_state(pipe);
             const auto head = k.min(steps, 4u);
             k.for_(head, [&](px::reg<u32> i) { fill(i); });
             behind(at, head);
             k.for_(head, steps, 1u, [&](px::reg<u32>) {
                 k.wait_empty(pipe, at);  // here-1
                 fill(at.slot());
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.role(128, [&] {
            const auto at = k.consumer_state(pipe);
            k.for_(steps, [&](px::reg<u32>) {
                k.wait_full(pipe, at);
                k.mbarrier_arrive(pipe.empty(at));
                k.advance(at);
            });
        });
    });
}

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> steps) {
#if PTXDSL_CASE == 0
    stream(k, map, steps,
           [&](const auto& at, const auto& head) { k.for_(head, [&](px::reg<u32>) { k.advance(at); }); });
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E08 "slot"
    stream(k, map, steps, [](const auto&, const auto&) {});
#elif PTXDSL_CASE == 2
    // control-2: as many slots on at once
    stream(k, map, steps, [&](const auto& at, const auto& head) { k.advance(at, head); });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
