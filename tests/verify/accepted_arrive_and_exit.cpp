// SPDX-License-Identifier: Apache-2.0
// Arrivals of threads that exit right behind them. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: arrive and exit") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(96, "box");
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<96>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.bar_sync();
                  k.if_(tid >= 32u, [&] {
                      k.st(box + (tid - 32u), tid);
                      k.mbarrier_arrive(done[0]);
                      k.exit();
                  });
                  k.wait(done[0], 0u);
                  k.st(o + tid, k.ld(box + tid) + k.ld(box + 32 + tid) + k.ld(box + 64 + tid));
              },
              block(128)) == "");
}
