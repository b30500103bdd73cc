// SPDX-License-Identifier: Apache-2.0
// The reader expects the bytes; another warp of the same count issues the copy. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: expect elsewhere") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<33>);
                  const auto go = k.make_mbarrier_ring<"go">(1, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(go[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           k.for_(n, [&](reg) {
                               k.wait(go[0], p);
                               p = k.xor_(p, 1u);
                               k.cp_async_bulk(s, g, chunk, full[0]);
                               k.mbarrier_arrive(full[0]);
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg) {
                          k.mbarrier_arrive_expect_tx(full[0], 128u);
                          k.mbarrier_arrive(go[0]);
                          k.wait(full[0], p);
                          p = k.xor_(p, 1u);
                          k.st(o + tid, k.ld(s + tid));
                      });
                  });
              },
              block(64)) == "");
}
