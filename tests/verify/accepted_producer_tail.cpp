// SPDX-License-Identifier: Apache-2.0
// The producer waits for all slots before it ends. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: producer tail") {
    CHECK(ids(
              [](builder& k, px::tma_map<px::tile<bf16, 32, 64>> m, words o, reg n) {
                  const auto a = k.smem<tile>(3, "a");
                  const auto pipe = k.make_pipeline<"pipe">(3, px::arrivals<1>, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           const auto at = k.producer_state(pipe);
                           k.for_(n, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                               k.cp_async_bulk_tensor_multicast(a[at.slot()].part<px::tile<bf16, 32, 64>>(rank), m,
                                                                px::coords(0u, 0u), pipe.full(at), px::u16(3));
                               k.advance(at);
                           });
                           k.for_(3u, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.advance(at);
                           });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      const auto t = k.and_(tid, 31u);
                      const auto free = k.mapa(pipe.empty(), t);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, at.slot());
                          k.bar_warp_sync();
                          k.at(t < 2u).mbarrier_arrive(free[at.slot()]);
                          k.advance(at);
                      });
                  });
              },
              block(64, 2)) == "");
}
