// SPDX-License-Identifier: Apache-2.0
// Threads that are done leave the barrier with arrive_drop. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: arrive drop") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.loop([&](px::loop_handle l) {
                      k.if_(p >= tid, [&] {
                          k.mbarrier_arrive_drop(bar[0]);
                          l.break_();
                      });
                      k.mbarrier_arrive(bar[0]);
                      k.wait(bar[0], k.and_(p, 1u));
                      p = k.add(p, 1u);
                  });
                  k.st(o + tid, p);
              },
              block(128)) == "");
}
