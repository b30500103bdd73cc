// SPDX-License-Identifier: Apache-2.0
// Named barriers of different thread counts. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: named barrier counts") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(256, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 32u, [&] {
                       k.for_(n, [&](reg i) {
                           k.bar_sync<2, 96>();
                           k.st(box + tid, i);
                           k.bar_arrive<1, 96>();
                       });
                   }).else_([&] {
                      k.if_(tid < 96u, [&] {
                           k.role(64, [&] {
                               k.bar_arrive<2, 96>();
                               k.for_(n, [&](reg i) {
                                   k.bar_sync<1, 96>();
                                   k.st(o + tid, k.ld(box + k.and_(tid, 31u)));
                                   k.if_(k.add(i, 1u) < n, [&] { k.bar_arrive<2, 96>(); });
                               });
                           });
                       }).else_([&] {
                          k.role(64, [&] {
                              k.bar_sync<3, 64>();
                              k.st(o + tid, tid);
                              k.bar_sync<3, 64>();
                          });
                      });
                  });
              },
              block(160)) == "");
}
