// SPDX-License-Identifier: Apache-2.0
// One thread arrives for several. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: arrival with count") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<40>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  k.if_(tid < 32u, [&] { k.mbarrier_arrive(bar[0]); }).else_([&] {
                      k.single_thread(tid == 32u, [&] { k.mbarrier_arrive(bar[0], 8); });
                  });
                  k.wait(bar[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(64)) == "");
}
