// SPDX-License-Identifier: Apache-2.0
// Two groups of different size arrive on one barrier. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: two groups one barrier") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128 + 4>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.if_(tid < 128u, [&] { k.mbarrier_arrive(bar[0]); }).else_([&] {
                          k.bar_warp_sync();
                          k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(bar[0]); });
                      });
                      k.wait(bar[0], p);
                      p = k.xor_(p, 1u);
                      k.st(o + tid, i);
                  });
              },
              block(256)) == "");
}
