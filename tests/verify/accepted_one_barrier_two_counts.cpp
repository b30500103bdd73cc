// SPDX-License-Identifier: Apache-2.0
// Three roles share one named barrier: first two of them meet, then all. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: one barrier two counts") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 64u, [&] {
                      k.bar_sync<4, 64>();
                      k.st(o + tid, 1u);
                  });
                  // The third role must not come to barrier 4 while the others are there with their own count.
                  k.bar_sync<5, 96>();
                  k.bar_sync<4, 96>();
                  k.st(o + tid, 2u);
                  k.if_(tid >= 32u, [&] {
                      k.bar_sync<4, 64>();
                      k.st(o + tid, 3u);
                  });
              },
              block(96)) == "");
}
