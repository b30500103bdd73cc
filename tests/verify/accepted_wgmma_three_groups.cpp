// SPDX-License-Identifier: Apache-2.0
// Three wgmma groups are under way; the oldest is read. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: wgmma three groups") {
    CHECK(ids(
              [](builder& k, map m, floats o, reg) {
                  const auto a = k.smem<tile>(4, "a");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                      k.fence_mbarrier_init();
                      for (int i = 0; i < 4; ++i) {
                          k.mbarrier_arrive_expect_tx(full[i], a);
                          k.cp_async_bulk_tensor(a[i], m, px::coords(64u * u32(i), 0u), full[i]);
                      }
                  });
                  k.bar_sync();
                  const auto x = k.wgmma.make_accumulator<f32, 64>(), y = k.wgmma.make_accumulator<f32, 64>(),
                             z = k.wgmma.make_accumulator<f32, 64>();
                  const auto d = k.wgmma.descriptor(a);
                  for (int i = 0; i < 4; ++i) k.wait(full[i], 0u);
                  k.wgmma.fence();
                  k.wgmma.mma_async(x, d[0].k_slice(0), d[1].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.mma_async(y, d[1].k_slice(0), d[2].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.mma_async(z, d[2].k_slice(0), d[3].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.wait_group<2>();
                  k.st(o + tid, x[0]);
                  k.wgmma.wait_group<1>();
                  k.st(o + tid, y[0]);
                  k.wgmma.fence();
                  k.wgmma.mma_async(x, d[0].k_slice(1), d[1].k_slice(1), true);
                  k.wgmma.commit_group();
                  k.wgmma.wait_group<1>();
                  k.st(o + tid, z[0]);
                  k.wgmma.wait_group<0>();
                  k.st(o + tid, x[1]);
              },
              block(128)) == "");
}
