// SPDX-License-Identifier: Apache-2.0
// I13: pairs of blocks in a cluster that has none, commit masks that miss a block.
//
// expect-1: PTXDSL-I13 "cluster of 3"
// expect-2: PTXDSL-I13 "outside"
// expect-3: PTXDSL-I13 "leaves out"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::e4m3, px::f16, px::f32, px::s32, px::s8, px::u32;
using blackwell = px::builder<px::sm_100a>;

#if PTXDSL_CASE == 1
constexpr u32 blocks = 3;
#else
constexpr u32 blocks = 4;
#endif
constexpr void body(blackwell& k) {
    const auto slot = k.tcgen05.make_slot<64, px::cta_group_2>();
    k.tcgen05.alloc(slot);  // here-1
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(done[0]); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();
    const auto memory = k.tcgen05.load(slot);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
#if PTXDSL_CASE == 0
        k.tcgen05.commit_multicast<px::cta_group_2>(done[0], 0b1100);
        k.tcgen05.commit_multicast<px::cta_group_2>(done[0], 0b1111);
#elif PTXDSL_CASE == 2
        k.tcgen05.commit_multicast<px::cta_group_2>(done[0], 0b110000);  // here-2
#elif PTXDSL_CASE == 3  // one block of the pair
        k.tcgen05.commit_multicast<px::cta_group_2>(done[0], 0b0001);  // here-3
#endif
    });
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();
    k.tcgen05.dealloc(memory);
    k.tcgen05.relinquish_alloc_permit(slot);
}
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}, .cluster = {blocks}}>>();
