// SPDX-License-Identifier: Apache-2.0
// Pipeline states are made anew for the second loop. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: states made anew") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto rounds = k.mul_lo(n, 4u);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           for (int l = 0; l < 2; ++l) {
                               const auto at = k.producer_state(pipe);
                               k.for_(rounds, [&](reg) {
                                   k.wait_empty(pipe, at);
                                   k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                                   k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                                   k.advance(at);
                               });
                           }
                       });
                   }).else_([&] {
                      for (int l = 0; l < 2; ++l) {
                          const auto at = k.consumer_state(pipe);
                          k.for_(rounds, [&](reg) {
                              k.wait_full(pipe, at);
                              k.st(o + tid, k.ld(s + at.slot() * 1024u + (tid - 32u)));
                              k.mbarrier_arrive(pipe.empty(at));
                              k.advance(at);
                          });
                      }
                  });
              },
              block(64)) == "");
}
