// SPDX-License-Identifier: Apache-2.0
// Two warpgroups take turns by named barriers, round after round; the second primes the first. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: ping pong in loop") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 128u, [&] {
                       k.for_(n, [&](reg i) {
                           k.bar_sync<1, 256>();
                           k.st(o + tid, i);
                           k.bar_arrive<2, 256>();
                       });
                   }).else_([&] {
                      k.bar_arrive<1, 256>();
                      k.for_(n, [&](reg i) {
                          k.bar_sync<2, 256>();
                          k.st(o + tid, i);
                          k.if_(k.add(i, 1u) < n, [&] { k.bar_arrive<1, 256>(); });
                      });
                  });
              },
              block(256)) == "");
}
