// SPDX-License-Identifier: Apache-2.0
// Waits for the token that an arrival returned. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: state tokens") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(bar[0]);
                      k.mbarrier_init(bar[1]);
                  });
                  k.bar_sync();
                  k.for_(n, [&](reg i) {
                      k.st(box + tid, i);
                      const auto t = k.mbarrier_arrive(bar[0]);
                      k.loop([&](px::loop_handle l) { l.break_if(k.mbarrier_try_wait(bar[0], t)); });
                      k.st(o + tid, k.ld(box + k.xor_(tid, 1u)));
                      const auto u = k.mbarrier_arrive(bar[1]);
                      k.loop([&](px::loop_handle l) { l.break_if(k.mbarrier_test_wait(bar[1], u)); });
                  });
              },
              block(128)) == "");
}
