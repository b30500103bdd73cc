// SPDX-License-Identifier: Apache-2.0
// Slot and phase come from dividing a counter. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: phase by division") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(3072, "s");
                  const auto full = k.make_mbarrier_ring<"full">(3, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(3, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 3; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           k.for_(n, [&](reg i) {
                               const auto round = k.div(i, 3u);
                               const auto slot = k.sub(i, k.mul_lo(round, 3u));
                               k.wait(empty[slot], k.xor_(k.and_(round, 1u), 1u));
                               k.mbarrier_arrive_expect_tx(full[slot], chunk);
                               k.cp_async_bulk(part(s, slot), g, chunk, full[slot]);
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg i) {
                          const auto round = k.div(i, 3u);
                          const auto slot = k.rem(i, 3u);
                          k.wait(full[slot], k.and_(round, 1u));
                          k.st(o + tid, k.ld(s + slot * 1024u + (tid - 32u)));
                          k.mbarrier_arrive(empty[slot]);
                      });
                  });
              },
              block(160)) == "");
}
