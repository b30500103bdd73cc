// SPDX-License-Identifier: Apache-2.0
// The threads of a block meet by the cluster barrier only. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: cluster barrier for block") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(256, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg i) {
                      k.st(box + tid, i);
                      meet(k);
                      k.st(o + tid, k.ld(box + k.xor_(tid, 128u)));
                      meet(k);
                  });
              },
              block(256, 2)) == "");
}
