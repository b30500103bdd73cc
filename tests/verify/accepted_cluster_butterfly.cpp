// SPDX-License-Identifier: Apache-2.0
// A butterfly reduction through distributed shared memory. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: cluster butterfly") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(3 * 32, "box");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  auto v = k.add(tid, rank);
                  meet(k);
                  for (u32 s = 0; s < 3; ++s) {
                      k.st(k.mapa(box + static_cast<int>(32 * s) + tid, k.xor_(rank, 1u << s)), v);
                      meet(k);
                      v = v + k.ld(box + static_cast<int>(32 * s) + tid);
                  }
                  k.st(o + tid, v);
              },
              block(32, 8)) == "");
}
