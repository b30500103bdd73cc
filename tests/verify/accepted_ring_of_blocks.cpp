// SPDX-License-Identifier: Apache-2.0
// Each block of a cluster passes data to its neighbour in a ring. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: ring of blocks") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(64, "box");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
                  const auto empty = k.make_mbarrier_ring<"empty">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(empty[0]);
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  const auto next = k.and_(k.add(rank, 1u), 3u), before = k.and_(k.add(rank, 3u), 3u);
                  const auto there = k.mapa(box + tid, next);
                  const auto there_full = k.mapa(full[0], next);
                  const auto back = k.mapa(empty[0], before);
                  auto v = k.mov(rank), p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.wait<px::acquire, px::cluster>(empty[0], k.xor_(p, 1u));
                      k.st(there, v);
                      k.mbarrier_arrive<px::release, px::cluster>(there_full);
                      k.wait<px::acquire, px::cluster>(full[0], p);
                      v = k.add(k.ld(box + tid), i);
                      k.mbarrier_arrive<px::release, px::cluster>(back);
                      p = k.xor_(p, 1u);
                  });
                  k.st(o + tid, v);
                  meet(k);
              },
              block(64, 4)) == "");
}
