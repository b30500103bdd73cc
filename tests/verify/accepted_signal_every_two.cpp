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
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(done[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(0u);
                           k.for_(n, [&](reg) {
                               k.for_(4u, [&](reg) {
                                   k.mbarrier_arrive_expect_tx(full[0], chunk);
                                   k.cp_async_bulk(s, g, chunk, full[0]);
                                   k.wait(full[0], p);
                                   p = k.xor_(p, 1u);
                                   k.mbarrier_arrive(done[0]);
                               });
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg) {
                          for (u32 j = 0; j < 2; ++j) {
                              k.wait(done[0], j);
                              k.st(o + tid, 1.0f);
                          }
                      });
                  });
              },
              block(64)) == "");
}
