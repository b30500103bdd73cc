// SPDX-License-Identifier: Apache-2.0
// The number of a named barrier is in a register, one for each group. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: barrier number in register") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto g = k.shr(tid, 6u);
                  k.bar_sync(k.add(g, 1u), 64u);
                  k.st(o + tid, g);
                  k.bar_sync(k.add(k.shr(tid, 7u), 5u), 128u);
                  k.st(o + tid, g);
              },
              block(256)) == "");
}
