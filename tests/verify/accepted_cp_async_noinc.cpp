// SPDX-License-Identifier: Apache-2.0
// A cp.async pipeline whose arrivals are .noinc. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: cp async noinc") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4 * 512, "s");
                  const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<128>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.bar_sync();
                  k.if_(tid < 128u, [&] {
                       const auto at = k.producer_state(pipe);
                       k.for_(n, [&](reg i) {
                           k.wait_empty(pipe, at);
                           k.cp_async<px::cg, 16>((s + at.slot() * 512u + tid * 4u).assume_aligned<16>(),
                                                  (g + i * 512u + tid * 4u).assume_aligned<16>());
                           k.cp_async_mbarrier_arrive_noinc(pipe.full(at));
                           k.advance(at);
                       });
                       k.cp_async_wait_all();
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 512u + (tid - 128u)));
                          k.bar_warp_sync();
                          k.single_thread(tid == 128u, [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(160)) == "");
}
