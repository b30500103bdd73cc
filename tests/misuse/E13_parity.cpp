// SPDX-License-Identifier: Apache-2.0
// E13: the parity of a state taken for its slot, and the slot for the parity.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

/// One thread fills the slots of a ring, 128 free them; `slot(state)` and `parity(state)` are what they take for those.
template <class Slot, class Parity>
constexpr void stream(hopper& k, const px::tma_map<tile>& map, const px::reg<u32>& steps, u32 stages, Slot slot,
                      Parity parity) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(stages, px::arrivals<1>, px::arrivals<128>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    k.bar_sync();
    k.if_(tid < 128u, [&] {
         k.single_thread(tid == 0u, [&] {
             const auto at = k.producer_state(pipe);
             k.for_(steps, [&](px::reg<u32>) {
                 k.wait_empty(pipe, at);
                 k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                 k.cp_async_bulk_tensor(a[slot(at)], map, px::coords(0u, 0u), pipe.full(at));  // here-1
                 k.advance(at);
             });
         });
     }).else_([&] {
        k.role(128, [&] {
            const auto at = k.consumer_state(pipe);
            k.for_(steps, [&](px::reg<u32>) {
                k.wait(pipe.full(at), parity(at));  // here-2
                k.mbarrier_arrive(pipe.empty(at));
                k.advance(at);
            });
        });
    });
}

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> steps) {
    [[maybe_unused]] const auto slot = [](const auto& at) { return at.slot(); };
    [[maybe_unused]] const auto parity = [](const auto& at) { return at.parity(); };
#if PTXDSL_CASE == 0
    stream(k, map, steps, 4, slot, parity);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E13 "slot"
    stream(k, map, steps, 4, parity, parity);
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-E13 "parity"
    stream(k, map, steps, 4, slot, slot);
#elif PTXDSL_CASE == 3
    // control-3: of two slots the number may be what a parity is
    stream(k, map, steps, 2, parity, parity);
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
