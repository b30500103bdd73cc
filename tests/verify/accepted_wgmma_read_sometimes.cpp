// SPDX-License-Identifier: Apache-2.0
// wgmma in a loop; only some iterations read the accumulator. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: wgmma read sometimes") {
    CHECK(ids(
              [](builder& k, map m, floats o, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto x = k.wgmma.make_accumulator<f32, 64>();
                  const auto d = k.wgmma.descriptor(a);
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_arrive_expect_tx(full[0], a);
                          k.cp_async_bulk_tensor(a[0], m, px::coords(k.shl(i, 6u), 0u), full[0]);
                      });
                      k.wait(full[0], p);
                      p = k.xor_(p, 1u);
                      k.wgmma.fence();
                      for (u32 s = 0; s < 4; ++s) k.wgmma.mma_async(x, d[0].k_slice(s), d[0].k_slice(s), i != 0u);
                      k.wgmma.commit_group();
                      const auto last = k.and_(i, 7u) == 7u;
                      k.wgmma.wait_group<0>();
                      k.if_(last, [&] {
                          for (int j = 0; j < 4; ++j) {
                              k.st(o + tid, x[j]);
                              k.inst<"mov.f32">(x[j], 0.0f);
                          }
                      });
                      k.bar_sync();
                  });
              },
              block(128)) == "");
}
