// SPDX-License-Identifier: Apache-2.0
// A and B complete on one barrier, C on another; the bytes are expected in two steps. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: split expect") {
    CHECK(ids(
              [](builder& k, map m, source g, words o) {
                  const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto ab = k.make_mbarrier_ring<"ab">(1, px::arrivals<1>);
                  const auto cc = k.make_mbarrier_ring<"cc">(1, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(ab[0]);
                      k.mbarrier_init(cc[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_expect_tx(ab[0], 8192u);
                      k.cp_async_bulk_tensor(a[0], m, px::coords(0u, 0u), ab[0]);
                      k.cp_async_bulk_tensor(b[0], m, px::coords(64u, 0u), ab[0]);
                      k.mbarrier_arrive_expect_tx(ab[0], 8192u);
                      k.mbarrier_arrive_expect_tx(cc[0], chunk);
                      k.cp_async_bulk(s, g, chunk, cc[0]);
                  });
                  k.single_thread(tid == 64u, [&] { k.mbarrier_arrive(cc[0]); });
                  k.wait(ab[0], 0u);
                  k.wait(cc[0], 0u);
                  k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[0], 1u, 1u)))));
              },
              block(128)) == "");
}
