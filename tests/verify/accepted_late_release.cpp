// SPDX-License-Identifier: Apache-2.0
// The slot of the iteration before is released. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: late release") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(3072, "s");
                  const auto pipe = k.make_pipeline<"pipe">(3, px::arrivals<1>, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           const auto at = k.producer_state(pipe);
                           k.for_(n, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                               k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                               k.advance(at);
                           });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe), behind = k.consumer_state(pipe);
                      k.for_(n, [&](reg i) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          k.advance(at);
                          k.if_(i != 0u, [&] {
                              k.mbarrier_arrive(pipe.empty(behind));
                              k.advance(behind);
                          });
                      });
                      k.if_(n != 0u, [&] { k.mbarrier_arrive(pipe.empty(behind)); });
                  });
              },
              block(64)) == "");
}
