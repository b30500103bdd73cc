// SPDX-License-Identifier: Apache-2.0
// I11: an accumulator read before a commit has arrived; I14: the first K step accumulates.
//
// expect-1: PTXDSL-I11 "not there"
// expect-2: PTXDSL-I11 "never commits"
// expect-3: PTXDSL-I14 "starts at zero"
// expect-4: PTXDSL-I11 "tcgen05.fence"
// control-5: the first step is decided at run time
// control-6: columns that stores have filled
// expect-7: PTXDSL-I14 "starts at zero"
// control-8: a condition that is known, and false
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto a = k.smem<px::tile<bf16, 128, 64>>(1, "a"), b = k.smem<px::tile<bf16, 128, 64>>(1, "b");
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto slot = k.tcgen05.make_slot<128>();
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 32u, [&] { k.tcgen05.alloc(slot); });
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    const auto acc = memory.accumulator<f32, 128, 128>();
    const auto da = k.tcgen05.descriptor(a), db = k.tcgen05.descriptor(b);
    const auto rows = k.tcgen05.quarter(memory, k.shr(tid, 5u));
#if PTXDSL_CASE == 6
    k.tcgen05.st<px::shape_32x32b, px::x1>(rows.slice<u32, 1>(), [&] {
        const auto zero = k.tcgen05.make_registers<u32, 1>("zero");
        zero[0] = k.mov<u32>(0u);
        return zero;
    }());
    k.tcgen05.wait_st();
    k.bar_sync();
#endif
#if PTXDSL_CASE == 1
    k.tcgen05.multiply(acc, da, db, false);
    k.tcgen05.commit(done[0]);
    const auto early = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows.accumulator<f32, 128, 128>());  // here-1
    static_cast<void>(early);
#endif
    k.single_thread(tid == 0u, [&] {
#if PTXDSL_CASE == 3
        k.tcgen05.multiply(acc, da, db, true);  // here-3
#elif PTXDSL_CASE == 5
        k.for_(4u, [&](px::reg<u32> i) { k.tcgen05.multiply(acc, da, db, i != 0u); });
#elif PTXDSL_CASE == 6
        k.tcgen05.multiply(acc, da, db, true);
#elif PTXDSL_CASE == 7
        k.tcgen05.multiply(acc, da, db, k.mov<u32>(1u) != 0u);  // here-7
#elif PTXDSL_CASE == 8
        k.tcgen05.multiply(acc, da, db, k.mov<u32>(0u) != 0u);
#else
        k.tcgen05.multiply(acc, da, db, false);
#endif
#if PTXDSL_CASE != 2
        k.tcgen05.commit(done[0]);
#endif
    });
#if PTXDSL_CASE == 2
    k.bar_sync();
    k.tcgen05.fence_after_thread_sync();
#elif PTXDSL_CASE == 4
    k.wait(done[0], 0u);
#else
    k.tcgen05.wait(done[0], 0u);
#endif
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x1>(rows.accumulator<f32, 128, 128>());  // here-2
    k.tcgen05.wait_ld();
    k.st(k.smem_array<f32>(1, "out"), v[0]);
    k.bar_sync();
    k.if_(tid < 32u, [&] {
        k.tcgen05.dealloc(memory);
        k.tcgen05.relinquish_alloc_permit(slot);
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
