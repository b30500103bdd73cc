// SPDX-License-Identifier: Apache-2.0
// The producer fills both slots in one iteration, and an odd last one by itself. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: odd tail") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           const auto at = k.producer_state(pipe);
                           const auto fill = [&] {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                               k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                               k.advance(at);
                           };
                           k.for_(k.shr(n, 1u), [&](reg) {
                               fill();
                               fill();
                           });
                           k.if_(k.and_(n, 1u) != 0u, [&] { fill(); });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          k.bar_warp_sync();
                          k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(64)) == "");
}
