// SPDX-License-Identifier: Apache-2.0
// Named barriers order two warpgroups, ping-pong; the first is primed. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: ping pong") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto wg = k.shr(tid, 7u);
                  k.if_(wg == 0u, [&] { k.bar_arrive(1u, 256u); });
                  k.for_(n, [&](reg i) {
                      k.bar_sync(k.add(wg, 1u), 256u);
                      k.st(o + tid, i);
                      k.bar_arrive(k.sub(k.mov<u32>(2u), wg), 256u);
                  });
                  k.if_(wg == 1u, [&] { k.bar_sync(1u, 256u); });
              },
              block(256)) == "");
}
