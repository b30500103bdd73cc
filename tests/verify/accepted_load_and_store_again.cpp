// SPDX-License-Identifier: Apache-2.0
// A tile is loaded and stored again from the same slot, which is freed when the store has read it. No rule may refuse
// it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: load and store again") {
    CHECK(ids(
              [](builder& k, map in, map_out out, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(full[1]);
                      k.fence_mbarrier_init();
                      k.fence_proxy_async();
                      auto p = k.mov<u32>(0u);
                      k.for_(n, [&](reg i) {
                          for (int b = 0; b < 2; ++b) {
                              k.cp_async_bulk_wait_group_read<1>();
                              k.mbarrier_arrive_expect_tx(full[b], a);
                              k.cp_async_bulk_tensor(a[b], in, px::coords(k.shl(i, 6u), 0u), full[b]);
                              k.wait(full[b], p);
                              k.cp_async_bulk_tensor(out, px::coords(k.shl(i, 6u), 0u), a[b]);
                              k.cp_async_bulk_commit_group();
                          }
                          p = k.xor_(p, 1u);
                      });
                      k.cp_async_bulk_wait_group<0>();
                  });
              },
              block(32)) == "");
}
