// SPDX-License-Identifier: Apache-2.0
// The leader frees a slot once the others have counted themselves out. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: flag release") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto count = k.smem_array<u32>(1, "count");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.init(pipe);
                      k.st(count, 0u);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid == 0u, [&] {
                      k.single_thread(tid == 0u, [&] {
                          const auto at = k.producer_state(pipe);
                          k.for_(n, [&](reg) {
                              k.wait_empty(pipe, at);
                              k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                              k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                              k.advance(at);
                          });
                      });
                  });
                  k.if_(tid >= 32u, [&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          const auto old = k.atom_add<px::acq_rel, px::cta>(count, 1u);
                          k.if_(k.and_(old, 31u) == 31u, [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(64)) == "");
}
