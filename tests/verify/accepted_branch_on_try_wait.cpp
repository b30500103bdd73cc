// SPDX-License-Identifier: Apache-2.0
// A branch on what try_wait returned. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: branch on try wait") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto go = k.make_mbarrier_ring<"go">(1, px::arrivals<64>);
                  const auto won = k.make_mbarrier_ring<"won">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(go[0]);
                      k.mbarrier_init(won[0]);
                  });
                  k.bar_sync();
                  k.mbarrier_arrive(go[0]);
                  const auto p = k.mbarrier_test_wait_parity(go[0], 0u);
                  k.if_(p, [&] { k.mbarrier_arrive(won[0]); }).else_([&] {
                      k.wait(go[0], 0u);
                      k.mbarrier_arrive(won[0]);
                  });
                  k.wait(won[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(64)) == "");
}
