// SPDX-License-Identifier: Apache-2.0
// A loop that every thread leaves at a different time; the arrivals stand outside. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: ragged loop") {
    CHECK(ids(
              [](builder& k, px::global_ptr<const u32> len, words o) {
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.bar_sync();
                  const auto n = k.ld(len + tid);
                  auto sum = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) { sum = sum + i; });
                  k.mbarrier_arrive(done[0]);
                  k.wait(done[0], 0u);
                  k.st(o + tid, sum);
              },
              block(64)) == "");
}
