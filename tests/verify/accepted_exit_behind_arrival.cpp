// SPDX-License-Identifier: Apache-2.0
// Threads exit early, behind their arrival. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: exit behind arrival") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.fence_mbarrier_init();
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.cp_async_bulk(s, g, chunk, full[0]);
                  });
                  k.bar_sync();
                  k.if_(tid >= n, [&] { k.exit(); });
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + tid));
              },
              block(128)) == "");
}
