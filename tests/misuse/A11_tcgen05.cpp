// SPDX-License-Identifier: Apache-2.0
// A11: tensor memory, tcgen05 and clusterlaunchcontrol on a target without; loads with reduction, which belong to other
// targets.
//
// expect-1: PTXDSL-A11
// expect-2: PTXDSL-A11
// expect-3: PTXDSL-A11
// expect-4: PTXDSL-A11
// expect-5: PTXDSL-A11
// expect-6: PTXDSL-A11
// expect-7: PTXDSL-A11
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b128, px::bf16, px::f32, px::u32;
using tile = px::tile<bf16, 128, 64>;
#if PTXDSL_CASE == 0 || PTXDSL_CASE >= 6
using builder = px::builder<px::sm_100a>;
#else
using builder = px::builder<px::sm_90a>;
#endif

constexpr void body(builder& k) {
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    static_cast<void>(done);
#if PTXDSL_CASE == 0
    const auto memory = k.tcgen05.load(k.tcgen05.make_slot<128>());
    const auto d = k.tcgen05.descriptor(k.smem<tile>());
    k.tcgen05.mma(memory.accumulator<f32, 128, 128>(), d, d, false);
    k.tcgen05.commit(done[0]);
    k.clusterlaunchcontrol_try_cancel(k.smem_array<b128>(1), done[0]);
#elif PTXDSL_CASE == 1
    static_cast<void>(k.tcgen05.make_slot<128>());  // here-1
#elif PTXDSL_CASE == 2
    static_cast<void>(k.tcgen05.descriptor(k.smem<tile>()));  // here-2
#elif PTXDSL_CASE == 3
    k.tcgen05.commit(done[0]);  // here-3
#elif PTXDSL_CASE == 4
    k.tcgen05.fence_after_thread_sync();  // here-4
#elif PTXDSL_CASE == 5
    k.clusterlaunchcontrol_try_cancel(k.smem_array<b128>(1), done[0]);  // here-5
#elif PTXDSL_CASE == 6  // sm_103a and sm_110a have it
    const auto x = k.new_reg<f32>(), y = k.new_reg<f32>();
    k.inst<"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32">(px::vec{x, y}, k.new_reg<f32>(),
                                                            k.shared_pointer<u32>(k.mov<u32>(0u)));  // here-6
#elif PTXDSL_CASE == 7  // sm_120a has it
    const auto a = k.make_fragment<px::mma_a<px::e4m3, 16, 32>>();
    static_cast<void>(a);
    const auto f = k.new_reg<f32>();
    const auto w = k.new_reg<px::b32>();
    k.inst<"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32">(
        px::vec{f, f, f, f}, px::vec{w, w, w, w}, px::vec{w, w}, px::vec{f, f, f, f});  // here-7
#endif
}
