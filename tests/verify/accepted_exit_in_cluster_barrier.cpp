// SPDX-License-Identifier: Apache-2.0
// Whole warps exit between arrive and wait of the cluster barrier. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: exit in cluster barrier") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(box + tid, tid);
                  meet(k);
                  const auto x = k.ld(k.mapa(box + tid, k.xor_(rank, 1u)));
                  k.barrier_cluster_arrive();
                  k.st(o + tid, x);
                  k.barrier_cluster_wait();
                  k.if_(tid >= 32u, [&] { k.exit(); });
                  k.st(o + tid, k.ld(box));
              },
              block(128, 2)) == "");
}
