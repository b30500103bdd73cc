// SPDX-License-Identifier: Apache-2.0
// The leader block loads for the pair; the other one only consumes. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: leader feeds pair") {
    CHECK(ids(
              [](builder& k, map m, words o, reg n) {
                  const auto a = k.smem<tile>(3, "a");
                  const auto full = k.make_mbarrier_ring<"full">(3, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(3, px::arrivals<8>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 3; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                           k.for_(n, [&](reg i) {
                               // Who copies expects bytes once the slot is free: before, the barrier may still be in
                               // the phase of the last copy, which has had its arrival.
                               k.if_(rank == 0u, [&] {
                                    k.wait<px::acquire, px::cluster>(empty[slot], k.xor_(parity, 1u));
                                    k.mbarrier_arrive_expect_tx(full[slot], a);
                                    k.cp_async_bulk_tensor_multicast(a[slot], m, px::coords(k.shl(i, 6u), 0u),
                                                                     full[slot], px::u16(3));
                                }).else_([&] {
                                   k.mbarrier_arrive_expect_tx(full[slot], a);
                                   k.wait(full[slot], parity);
                               });
                               k.inst<"add.u32">(slot, slot, 1u);
                               const auto w = slot == 3u;
                               k.at(w).inst<"xor.b32">(parity, parity, 1u);
                               k.at(w).inst<"mov.u32">(slot, 0u);
                           });
                       });
                   }).else_([&] {
                      auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                      const auto free = k.mapa(empty, 0u);
                      k.for_(n, [&](reg) {
                          k.wait(full[slot], parity);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_warp_sync();
                          k.at((tid & 31u) == 0u).mbarrier_arrive(free[slot]);
                          k.inst<"add.u32">(slot, slot, 1u);
                          const auto w = slot == 3u;
                          k.at(w).inst<"xor.b32">(parity, parity, 1u);
                          k.at(w).inst<"mov.u32">(slot, 0u);
                      });
                  });
                  meet(k);
              },
              block(160, 2)) == "");
}
