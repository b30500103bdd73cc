// SPDX-License-Identifier: Apache-2.0
// A cluster of 2x2 blocks that computes its multicast masks. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: multicast masks 2x2") {
    CHECK(ids(
              [](builder& k, map am, map bm, words o, reg n) {
                  const auto a = k.smem<tile>(2, "a"), b = k.smem<tile>(2, "b");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<4>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  const auto col = k.and_(rank, 1u), row = k.shr(rank, 1u);
                  const auto rows = k.cvt<px::u16>(k.shl(k.mov<u32>(3u), k.shl(row, 1u))),
                             cols = k.cvt<px::u16>(k.shl(k.mov<u32>(5u), col));
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           auto slot = k.mov<u32>(0u), parity = k.mov<u32>(1u);
                           k.for_(n, [&](reg i) {
                               k.wait<px::acquire, px::cluster>(empty[slot], parity);
                               k.mbarrier_arrive_expect_tx(full[slot], 16384u);
                               k.if_(col == 0u, [&] {
                                   k.cp_async_bulk_tensor_multicast(a[slot], am, px::coords(k.shl(i, 6u), row),
                                                                    full[slot], rows);
                               });
                               k.if_(row == 0u, [&] {
                                   k.cp_async_bulk_tensor_multicast(b[slot], bm, px::coords(k.shl(i, 6u), col),
                                                                    full[slot], cols);
                               });
                               slot = k.xor_(slot, 1u);
                               k.at(slot == 0u).inst<"xor.b32">(parity, parity, 1u);
                           });
                       });
                   }).else_([&] {
                      auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                      const auto t = tid - 32u;
                      // Every block hears from every block, whoever copies to whom: as many arrivals for each.
                      k.for_(n, [&](reg) {
                          k.wait(full[slot], parity);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_sync<1, 128>();
                          k.at(t < 4u).mbarrier_arrive(k.mapa(empty[slot], k.and_(t, 3u)));
                          slot = k.xor_(slot, 1u);
                          k.at(slot == 0u).inst<"xor.b32">(parity, parity, 1u);
                      });
                  });
                  meet(k);
              },
              px::attributes{.reqntid = {160}, .cluster = {4}}) == "");
}
