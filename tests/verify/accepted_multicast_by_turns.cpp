// SPDX-License-Identifier: Apache-2.0
// Block r multicasts in round r. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: multicast by turns") {
    CHECK(ids(
              [](builder& k, map m, words o, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           k.for_(n, [&](reg i) {
                               const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                               k.wait<px::acquire, px::cluster>(empty[slot], k.xor_(p, 1u));
                               k.mbarrier_arrive_expect_tx(full[slot], a);
                               k.if_(slot == rank, [&] {
                                   k.cp_async_bulk_tensor_multicast(a[slot], m, px::coords(k.shl(i, 6u), 0u),
                                                                    full[slot], px::u16(3));
                               });
                           });
                       });
                   }).else_([&] {
                      const auto t = k.and_(tid, 31u);
                      k.for_(n, [&](reg i) {
                          const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                          k.wait(full[slot], p);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_warp_sync();
                          k.at(t < 2u).mbarrier_arrive(k.mapa(empty[slot], t));
                      });
                  });
                  meet(k);
              },
              block(64, 2)) == "");
}
