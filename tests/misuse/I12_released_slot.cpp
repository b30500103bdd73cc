// SPDX-License-Identifier: Apache-2.0
// I12: a shared-memory slot freed by a plain arrive while the tcgen05.mma that reads it may be in flight.
//
// expect-1: PTXDSL-I12 "commit"
// control-2: a commit of its own barrier, waited for before the plain arrive
// expect-3: PTXDSL-I12 "slot"
// control-4: the slot of the step before, whose mma a wait has seen the end of
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using blackwell = px::builder<px::sm_100a>;
using tile = px::tile<bf16, 128, 64>;

constexpr void body(blackwell& k, px::tma_map<tile> a_map, px::tma_map<tile> b_map) {
    const auto a = k.smem<tile>(2, "a"), b = k.smem<tile>(2, "b");
    const auto pipe = k.make_pipeline<"load">(2, px::arrivals<1>, px::arrivals<1>);
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto slot = k.tcgen05.make_slot<128>();
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.init(pipe), k.mbarrier_init(done[0]); });
    k.if_(tid < 32u, [&] { k.tcgen05.alloc(slot); });
    k.fence_mbarrier_init();
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    const auto acc = memory.accumulator<f32, 128, 128>();
    const auto warp = k.shr(tid, 5u);
    k.if_(warp == 0u, [&] {
        k.single_thread(tid == 0u, [&] {
            const auto at = k.producer_state(pipe);
            k.for_(8u, [&](px::reg<u32> i) {
                const auto x = k.mul_lo(i, 64u);
                k.wait_empty(pipe, at);
                k.mbarrier_arrive_expect_tx(pipe.full(at), a, b);
                k.cp_async_bulk_tensor(a[at.slot()], a_map, px::coords(x, 0), pipe.full(at));
                k.cp_async_bulk_tensor(b[at.slot()], b_map, px::coords(x, 0), pipe.full(at));
                k.advance(at);
            });
        });
    });
    k.if_(warp == 1u, [&] {
        k.single_thread(tid == 32u, [&] {
            const auto at = k.consumer_state(pipe);
            const auto da = k.tcgen05.descriptor(a), db = k.tcgen05.descriptor(b);
            [[maybe_unused]] auto parity = k.mov<u32>(0u);
            [[maybe_unused]] const auto before = k.mov<u32>(0u);
            k.for_(8u, [&](px::reg<u32> i) {
                k.wait_full(pipe, at);
                k.tcgen05.multiply(acc, da[at.slot()], db[at.slot()], i != 0u);
#if PTXDSL_CASE == 0
                k.tcgen05.commit(pipe.empty(at));
#elif PTXDSL_CASE == 1
                k.mbarrier_arrive(pipe.empty(at));  // here-1
#elif PTXDSL_CASE == 2
                k.tcgen05.commit(done[0]);
                k.wait(done[0], parity);
                k.mbarrier_arrive(pipe.empty(at));
                parity = k.xor_(parity, 1u);
#elif PTXDSL_CASE == 3
                k.tcgen05.commit(done[0]);
                k.mbarrier_arrive(pipe.empty(at));  // here-3
                k.wait(done[0], parity);  // too late for the slot
                parity = k.xor_(parity, 1u);
#elif PTXDSL_CASE == 4
                k.tcgen05.commit(done[0]);
                k.if_(i != 0u, [&] {
                    k.mbarrier_arrive(pipe.empty()[before]);
                });
                k.inst<"mov.u32">(before, at.slot());
                k.wait(done[0], parity);
                parity = k.xor_(parity, 1u);
#endif
                k.advance(at);
            });
        });
    });
    k.bar_sync();
    k.if_(warp == 0u, [&] {
        k.tcgen05.dealloc(memory);
        k.tcgen05.relinquish_alloc_permit(slot);
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
