// SPDX-License-Identifier: Apache-2.0
// Two threads of different warps copy in turns. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: copies in turns") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
                  k.if_(warp == 0u, [&] {
                      k.single_thread(k.elect_sync(), [&] {
                          k.mbarrier_init(full[0]);
                          k.mbarrier_init(full[1]);
                          k.fence_mbarrier_init();
                      });
                  });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg) {
                      k.single_thread(k.elect_sync(), [&] {
                          k.mbarrier_arrive_expect_tx(full[warp], chunk);
                          k.cp_async_bulk(part(s, warp), g, chunk, full[warp]);
                      });
                      k.wait(full[0], p);
                      k.wait(full[1], p);
                      p = k.xor_(p, 1u);
                      k.st(o + tid, k.ld(s + tid) + k.ld(s + 1024 + tid));
                      k.bar_sync();
                  });
              },
              block(64)) == "");
}
