// SPDX-License-Identifier: Apache-2.0
// Three staging tiles used in turn. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: three staging tiles") {
    CHECK(ids(
              [](builder& k, map_out m, reg n) {
                  const auto c = k.smem<tile>(3, "c");
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg i) {
                      for (int b = 0; b < 3; ++b) {
                          k.at(tid == 0u).cp_async_bulk_wait_group_read<2>();
                          k.bar_sync();
                          for (u32 j = 0; j < 4; ++j)
                              k.st(k.tile_element(c[b], k.and_(tid, 63u), j), k.mov<bf16>(1.0f));
                          k.fence_proxy_async_shared_cta();
                          k.bar_sync();
                          k.single_thread(tid == 0u, [&] {
                              k.cp_async_bulk_tensor(m, px::coords(k.mul_lo(i, 64u), 0u), c[b]);
                              k.cp_async_bulk_commit_group();
                          });
                      }
                  });
                  k.at(tid == 0u).cp_async_bulk_wait_group<0>();
              },
              block(128)) == "");
}
