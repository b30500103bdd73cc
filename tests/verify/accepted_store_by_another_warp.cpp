// SPDX-License-Identifier: Apache-2.0
// A warpgroup writes a staging tile; one thread of another warp stores it. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: store by another warp") {
    CHECK(ids(
              [](builder& k, map_out m, reg n) {
                  const auto c = k.smem<tile>(2, "c");
                  const auto tid = k.mov(px::tid.x);
                  const auto filled = k.make_mbarrier_ring<"filled">(2, px::arrivals<128>);
                  const auto drained = k.make_mbarrier_ring<"drained">(2, px::arrivals<1>);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(filled[i]);
                          k.mbarrier_init(drained[i]);
                      }
                  });
                  k.bar_sync();
                  k.if_(tid < 128u, [&] {
                       k.for_(n, [&](reg i) {
                           const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                           k.wait(drained[slot], k.xor_(p, 1u));
                           k.st(k.tile_element(c[slot], k.and_(tid, 63u), k.shr(tid, 6u)), k.mov<bf16>(1.0f));
                           k.fence_proxy_async_shared_cta();
                           k.mbarrier_arrive(filled[slot]);
                       });
                   }).else_([&] {
                      k.single_thread(k.elect_sync(), [&] {
                          k.for_(n, [&](reg i) {
                              const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                              k.wait(filled[slot], p);
                              k.cp_async_bulk_tensor(m, px::coords(k.shl(i, 6u), 0u), c[slot]);
                              k.cp_async_bulk_commit_group();
                              k.cp_async_bulk_wait_group_read<1>();
                              k.if_(i != 0u, [&] { k.mbarrier_arrive(drained[k.xor_(slot, 1u)]); });
                          });
                          k.cp_async_bulk_wait_group<0>();
                      });
                  });
              },
              block(160)) == "");
}
