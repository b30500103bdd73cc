// SPDX-License-Identifier: Apache-2.0
// A persistent kernel with two rings of different length; the roles are ranges of tid.x. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: two rings") {
    CHECK(ids(
              [](builder& k, map am, map bm, words out, reg tiles, reg steps) {
                  const auto a = k.smem<tile>(4, "a"), b = k.smem<tile>(3, "b");
                  const auto ap = k.make_pipeline<"ap">(4, px::arrivals<1>, px::arrivals<128>);
                  const auto bp = k.make_pipeline<"bp">(3, px::arrivals<1>, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.init(ap);
                      k.init(bp);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                      k.single_thread(tid == 0u, [&] {
                          const auto at = k.producer_state(ap);
                          k.for_(tiles, [&](reg t) {
                              k.for_(steps, [&](reg i) {
                                  k.wait_empty(ap, at);
                                  k.mbarrier_arrive_expect_tx(ap.full(at), a);
                                  k.cp_async_bulk_tensor(a[at.slot()], am, px::coords(k.shl(i, 6u), t), ap.full(at));
                                  k.advance(at);
                              });
                          });
                      });
                  });
                  k.if_(tid >= 32u && tid < 64u, [&] {
                      k.role(32, [&] {
                          k.single_thread(k.elect_sync(), [&] {
                              const auto at = k.producer_state(bp);
                              k.for_(tiles, [&](reg t) {
                                  k.for_(steps, [&](reg i) {
                                      k.wait_empty(bp, at);
                                      k.mbarrier_arrive_expect_tx(bp.full(at), b);
                                      k.cp_async_bulk_tensor(b[at.slot()], bm, px::coords(k.shl(i, 6u), t),
                                                             bp.full(at));
                                      k.advance(at);
                                  });
                              });
                          });
                      });
                  });
                  k.if_(tid >= 64u, [&] {
                      const auto x = k.consumer_state(ap);
                      const auto y = k.consumer_state(bp);
                      auto s = k.mov<u32>(0u);
                      k.for_(tiles, [&](reg) {
                          k.for_(steps, [&](reg) {
                              k.wait_full(ap, x);
                              k.wait_full(bp, y);
                              s = s + k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[x.slot()], 3u, 4u))));
                              s = s + k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(b[y.slot()], 3u, 4u))));
                              k.mbarrier_arrive(ap.empty(x));
                              k.mbarrier_arrive(bp.empty(y));
                              k.advance(x);
                              k.advance(y);
                          });
                          k.st(out + tid, s);
                      });
                  });
              },
              block(192)) == "");
}
