// SPDX-License-Identifier: Apache-2.0
// One signal for every two chunks. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: signal every two") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<2>);
                  const auto seen = k.make_mbarrier_ring<"seen">(1, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(done[0]);
                      k.mbarrier_init(seen[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(0u), q = k.mov<u32>(1u);
                           k.for_(n, [&](reg) {
                               k.for_(4u, [&](reg h) {
                                   k.mbarrier_arrive_expect_tx(full[0], chunk);
                                   k.cp_async_bulk(s, g, chunk, full[0]);
                                   k.wait(full[0], p);
                                   p = k.xor_(p, 1u);
                                   // A phase may end only when all have seen the one before: who is two behind waits
                                   // for a parity that has gone by.
                                   k.if_(k.and_(h, 1u) == 1u, [&] {
                                       k.wait(seen[0], q);
                                       q = k.xor_(q, 1u);
                                   });
                                   k.mbarrier_arrive(done[0]);
                               });
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg) {
                          for (u32 j = 0; j < 2; ++j) {
                              k.wait(done[0], j);
                              k.mbarrier_arrive(seen[0]);
                              k.st(o + tid, 1.0f);
                          }
                      });
                  });
              },
              block(64)) == "");
}
