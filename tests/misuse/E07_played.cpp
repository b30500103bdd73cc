// SPDX-License-Identifier: Apache-2.0
// E07: found by playing the kernel, where its author asks for it.
//
// expect-1: PTXDSL-E07 "nothing makes the read of E07_played.cpp" "wait for that"
// expect-2: PTXDSL-E07 "nothing orders it behind the write of E07_played.cpp"
// control-3: the same as 1, not played
#include <ptxdsl/machine.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;

constexpr void exchange(px::builder<px::sm_90a>& k, px::global_ptr<u32> out) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
    const auto c = k.smem_array<u32>(64, "c");
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
    k.bar_sync();
#if PTXDSL_CASE == 2
    k.mbarrier_arrive(full[0]);
    k.st(c + tid, tid);
#else
    k.st(c + tid, tid);  // here-1
    k.mbarrier_arrive(full[0]);
#endif
#if PTXDSL_CASE == 1 || PTXDSL_CASE == 3
    k.wait(full[0], k.or_(k.and_(tid, 0u), 1u));  // the phase before the first: over at once
#else
    k.wait(full[0], 0u);
#endif
    auto other = k.mov<u32>(0u);  // written twice: no rule follows it
    other = k.xor_(tid, 32u);
    k.st(out + tid, k.ld(c + other));  // here-2
}

using kernel = px::kernel<"exchange", exchange, px::attributes{.reqntid = {64}}>;
#if PTXDSL_CASE == 3
[[maybe_unused]] constexpr auto assembled_text = px::assemble<kernel>();
#else
[[maybe_unused]] constexpr auto assembled_text = px::assemble<px::played<kernel>>();
#endif
