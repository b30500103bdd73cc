// SPDX-License-Identifier: Apache-2.0
// Arrive and wait of the cluster stand under the same condition. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: cluster barrier conditional") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto p = n > 3u;
                  k.if_(p, [&] { k.barrier_cluster_arrive(); });
                  k.st(o + tid, 1u);
                  k.if_(p, [&] { k.barrier_cluster_wait(); });
                  k.barrier_cluster_arrive();
                  k.for_(n, [&](reg i) {
                      k.barrier_cluster_wait();
                      k.st(o + tid, i);
                      k.barrier_cluster_arrive();
                  });
                  k.barrier_cluster_wait();
              },
              block(64, 2)) == "");
}
