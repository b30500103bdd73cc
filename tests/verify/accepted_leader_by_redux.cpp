// SPDX-License-Identifier: Apache-2.0
// The leader is found by redux.sync. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: leader by redux") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto found = k.make_mbarrier_ring<"found">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(found[0]); });
                  k.bar_sync();
                  const auto v = k.redux_sync_max(n, 0xffffffffu);
                  k.if_(v == tid, [&] { k.mbarrier_arrive(found[0]); });
                  k.wait(found[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(32)) == "");
}
