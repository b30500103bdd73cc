// SPDX-License-Identifier: Apache-2.0
// E01: two statements free slots, one in the loop and one behind it, and the count is that of both together.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using hopper = px::builder<px::sm_90a>;

/// One thread fills slots, 128 use them; `use(pipe, state)`.
template <u32 Arrivals, class Use>
constexpr void stream(hopper& k, const px::tma_map<tile>& map, const px::reg<u32>& steps, Use use) {
    const auto a = k.smem<tile>(4, "a");
    const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<Arrivals>);
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
                 k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(0u, 0u), pipe.full(at));
                 k.advance(at);
             });
         });
     }).else_([&] { k.role(128, [&] { use(pipe, k.consumer_state(pipe)); }); });
}

constexpr void body(hopper& k, px::tma_map<tile> map, px::reg<u32> steps) {
    // Each slot is freed a step after it was waited for.
    [[maybe_unused]] const auto a_step_later = [&](const auto& pipe, const auto& at) {
        auto before = k.mov<u32>(0);
        k.wait_full(pipe, at);
        before = at.slot();
        k.advance(at);
        k.for_(1u, steps, 1u, [&](px::reg<u32>) {
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty()[before]);
            before = at.slot();
            k.advance(at);
        });
        k.mbarrier_arrive(pipe.empty()[before]);  // here-1
    };
#if PTXDSL_CASE == 0
    stream<128>(k, map, steps, a_step_later);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-E01 "freed once"
    stream<256>(k, map, steps, a_step_later);
#elif PTXDSL_CASE == 2
    // control-2: each slot is waited for and freed twice
    stream<256>(k, map, steps, [&](const auto& pipe, const auto& at) {
        k.for_(steps, [&](px::reg<u32>) {
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty(at));
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty(at));
            k.advance(at);
        });
    });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
