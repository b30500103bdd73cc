// SPDX-License-Identifier: Apache-2.0
// A multicast to all blocks but the sender's, which copies its own part. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: multicast without self") {
    CHECK(ids(
              [](builder& k, source g, floats o) {
                  const auto s = k.smem_array<f32, 128>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.if_(rank == 0u, [&] {
                          k.cp_async_bulk_multicast(s, g, chunk, full[0], px::u16(14));
                          k.cp_async_bulk(s, g, chunk, full[0]);
                      });
                  });
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + tid));
                  meet(k);
              },
              block(64, 4)) == "");
}
