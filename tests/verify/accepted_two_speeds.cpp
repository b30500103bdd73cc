// SPDX-License-Identifier: Apache-2.0
// Two consumers of one ring, of which one reads half as often. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: two speeds") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(1u);
                           k.for_(n, [&](reg) {
                               for (int i = 0; i < 2; ++i) {
                                   k.wait(empty[i], p);
                                   k.mbarrier_arrive_expect_tx(full[i], chunk);
                                   k.cp_async_bulk((s + 1024 * i).assume_aligned<16>(), g, chunk, full[i]);
                               }
                               p = k.xor_(p, 1u);
                           });
                       });
                   }).else_([&] {
                      k.if_(tid < 64u, [&] {
                           auto p = k.mov<u32>(0u);
                           k.for_(n, [&](reg) {
                               for (int i = 0; i < 2; ++i) {
                                   k.wait(full[i], p);
                                   k.st(o + tid, k.ld(s + 1024 * i + tid));
                                   k.mbarrier_arrive(empty[i]);
                               }
                               p = k.xor_(p, 1u);
                           });
                       }).else_([&] {
                          auto p = k.mov<u32>(0u);
                          k.for_(n, [&](reg) {
                              k.wait(full[0], p);
                              k.wait(full[1], p);
                              k.st(o + tid, k.ld(s + tid) + k.ld(s + 1024 + tid));
                              k.mbarrier_arrive(empty[0]);
                              k.mbarrier_arrive(empty[1]);
                              p = k.xor_(p, 1u);
                          });
                      });
                  });
              },
              block(96)) == "");
}
