// SPDX-License-Identifier: Apache-2.0
// red.async into block 0. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: red async root") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto sum = k.smem_array<u32>(128, "sum");
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(sum + tid, 0u);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.single_thread(tid == 0u && rank == 0u, [&] { k.mbarrier_arrive_expect_tx(done[0], 3u * 512u); });
                  k.if_(rank != 0u, [&] {
                      k.red_async<px::tok::add>(k.mapa(sum + tid, 0u), k.add(tid, rank), k.mapa(done[0], 0u));
                  });
                  k.if_(rank == 0u, [&] {
                      k.wait<px::acquire, px::cluster>(done[0], 0u);
                      k.st(o + tid, k.ld(sum + tid));
                  });
                  meet(k);
              },
              block(128, 4)) == "");
}
