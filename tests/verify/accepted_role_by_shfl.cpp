// SPDX-License-Identifier: Apache-2.0
// The warp's role comes from a shuffled warp number. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: role by shfl") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(96, "box");
                  const auto tid = k.mov(px::tid.x);
                  const auto warp = k.shfl_sync_idx(k.shr(tid, 5u), 0u, 31u, 0xffffffffu);
                  const auto ready = k.make_mbarrier_ring<"ready">(2, px::arrivals<32>);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) k.mbarrier_init(ready[i]);
                  });
                  k.bar_sync();
                  k.if_(warp == 0u, [&] {
                       k.role(32, [&] {
                           k.st(box + tid, tid);
                           k.mbarrier_arrive(ready[0]);
                       });
                   }).else_([&] {
                      k.if_(warp == 1u, [&] {
                           k.role(32, [&] {
                               k.wait(ready[0], 0u);
                               k.st(box + tid, k.ld(box + (tid - 32u)));
                               k.mbarrier_arrive(ready[1]);
                           });
                       }).else_([&] {
                          k.role(32, [&] {
                              k.wait(ready[1], 0u);
                              k.st(o + tid, k.ld(box + (tid - 32u)));
                          });
                      });
                  });
              },
              block(96)) == "");
}
