// SPDX-License-Identifier: Apache-2.0
// A group waits twice, for two parts of another. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: waits twice") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 64u, [&] {
                       k.st(box + tid, 1u);
                       k.bar_arrive<1, 128>();
                   }).else_([&] {
                      k.if_(tid < 128u, [&] {
                           k.st(box + tid, 2u);
                           k.bar_arrive<2, 128>();
                       }).else_([&] {
                          k.bar_sync<1, 128>();
                          k.bar_sync<2, 128>();
                          k.st(o + tid, k.ld(box + (tid - 64u)));
                      });
                  });
              },
              block(192)) == "");
}
