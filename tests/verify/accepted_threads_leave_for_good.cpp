// SPDX-License-Identifier: Apache-2.0
// Threads leave for good; the barriers count those that stay. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: threads leave for good") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<64>);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(bar[0]);
                      k.mbarrier_init(bar[1]);
                  });
                  k.bar_sync();
                  k.if_(tid >= 64u, [&] {
                      k.st(o + tid, 0u);
                      k.ret();
                  });
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.mbarrier_arrive(bar[0]);
                      k.wait(bar[0], p);
                      k.st(o + tid, i);
                      k.mbarrier_arrive(bar[1]);
                      k.wait(bar[1], p);
                      p = k.xor_(p, 1u);
                  });
              },
              block(128)) == "");
}
