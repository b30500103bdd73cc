// SPDX-License-Identifier: Apache-2.0
// Atomics on another block's shared memory. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: remote atomics") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto bins = k.smem_array<u32>(64, "bins");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(bins + tid, 0u);
                  meet(k);
                  k.for_(4u, [&](reg r) { k.red_add(k.mapa(bins + tid, k.and_(k.add(r, rank), 3u)), 1u); });
                  meet(k);
                  k.st(o + tid, k.ld(bins + tid));
              },
              block(64, 4)) == "");
}
