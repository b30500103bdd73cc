// SPDX-License-Identifier: Apache-2.0
// I07: views wider than the allocation, accesses outside a view.
//
// expect-1: PTXDSL-I07
// expect-2: PTXDSL-I07
// expect-3: PTXDSL-I07
// expect-4: PTXDSL-I07 "60 to 67"
// expect-5: PTXDSL-I07

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto slot = k.tcgen05.make_slot<256>();
    k.tcgen05.alloc(slot);
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    const auto rows = k.tcgen05.quarter(memory, k.shr(k.mov(px::tid.x), 5u));
    static_cast<void>(rows);
#if PTXDSL_CASE == 0
    static_cast<void>(memory.accumulator<f32, 128, 128, 0, 2>());
    static_cast<void>(memory.accumulator<f32, 128, 64, 192>());
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x8>(rows.accumulator<f32, 128, 64>(), 56);
    k.tcgen05.wait_ld();
    static_cast<void>(v);
#elif PTXDSL_CASE == 1
    static_cast<void>(memory.accumulator<f32, 128, 128, 0, 3>());  // here-1
#elif PTXDSL_CASE == 2
    static_cast<void>(memory.accumulator<f32, 128, 64, 200>());  // here-2
#elif PTXDSL_CASE == 3  // a copy wider than its view
    const auto from = k.tcgen05.descriptor(k.smem<px::tile<px::u8, 128, 16, px::k_major, px::core_matrices>>());
    k.tcgen05.cp<px::shape_128x256b>(memory.slice<px::b32, 4>(), from);  // here-3
#elif PTXDSL_CASE == 4
    static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x8>(rows.accumulator<f32, 128, 64>(), 60));  // here-4
    k.tcgen05.wait_ld();
#elif PTXDSL_CASE == 5  // registers instead of tensor memory
    const auto t = k.tcgen05.descriptor(k.smem<px::tile<bf16, 128, 64>>());
    k.tcgen05.mma(k.mov<u32>(0u), t, t, false);  // here-5
#endif
    k.bar_sync();
    k.tcgen05.dealloc(memory);
    k.tcgen05.relinquish_alloc_permit(slot);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}}>>();
