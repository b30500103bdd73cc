// SPDX-License-Identifier: Apache-2.0
// The bytes of a whole are expected; its halves are copied when their sources are ready. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: copies of halves") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n, reg steps) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto half = k.make_mbarrier_ring<"half">(2, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(half[0]);
                      k.mbarrier_init(half[1]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(1u);
                           k.for_(n, [&](reg) {
                               k.for_(steps, [&](reg) {
                                   // The phase before has ended where its readers say so: an arrival ahead of them
                                   // would be the second one of that phase.
                                   k.wait(half[0], p);
                                   k.mbarrier_arrive_expect_tx(full[0], 2 * chunk);
                                   k.for_(2u, [&](reg h) {
                                       k.wait(half[h], p);
                                       k.cp_async_bulk(part(s, h), g, chunk, full[0]);
                                   });
                                   p = k.xor_(p, 1u);
                               });
                           });
                       });
                   }).else_([&] {
                      auto p = k.mov<u32>(0u);
                      k.for_(n, [&](reg) {
                          k.for_(steps, [&](reg) {
                              k.wait(full[0], p);
                              p = k.xor_(p, 1u);
                              k.st(o + tid, k.ld(s + (tid - 32u)));
                              k.mbarrier_arrive(half[0]);
                              k.st(o + tid, k.ld(s + 1024 + (tid - 32u)));
                              k.mbarrier_arrive(half[1]);
                          });
                      });
                  });
              },
              block(96)) == "");
}
