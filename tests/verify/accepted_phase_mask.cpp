// SPDX-License-Identifier: Apache-2.0
// The phases of four barriers are the bits of one register. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: phase mask") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4096, "s");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  auto mask = k.mov<u32>(0u);
                  k.for_(n, [&](reg) {
                      for (int i = 0; i < 4; ++i) {
                          k.single_thread(tid == 0u, [&] {
                              k.mbarrier_arrive_expect_tx(full[i], chunk);
                              k.cp_async_bulk((s + 1024 * i).assume_aligned<16>(), g, chunk, full[i]);
                          });
                          k.wait(full[i], k.and_(k.shr(mask, u32(i)), 1u));
                          mask = k.xor_(mask, 1u << i);
                          k.st(o + tid, k.ld((s + 1024 * i) + tid));
                          k.bar_sync();
                      }
                  });
              },
              block(128)) == "");
}
