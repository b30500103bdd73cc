// SPDX-License-Identifier: Apache-2.0
// Barriers are invalidated and made anew each round. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: barriers made anew") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg) {
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_init(full[0]);
                          k.fence_mbarrier_init();
                      });
                      k.bar_sync();
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_arrive_expect_tx(full[0], chunk);
                          k.cp_async_bulk(s, g, chunk, full[0]);
                      });
                      k.wait(full[0], 0u);
                      k.st(o + tid, k.ld(s + tid));
                      k.bar_sync();
                      k.single_thread(tid == 0u, [&] { k.mbarrier_inval(full[0]); });
                  });
              },
              block(64)) == "");
}
