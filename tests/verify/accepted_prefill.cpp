// SPDX-License-Identifier: Apache-2.0
// The slots are filled ahead, then refilled one by one. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: prefill") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4096, "s");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  const auto fill = [&](const auto& slot) {
                      k.mbarrier_arrive_expect_tx(full[slot], chunk);
                      k.cp_async_bulk(part(s, slot), g, chunk, full[slot]);
                  };
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.single_thread(tid == 0u, [&] { k.for_(k.min(n, 4u), [&](reg i) { fill(i); }); });
                  k.for_(n, [&](reg i) {
                      const auto slot = k.and_(i, 3u);
                      k.wait(full[slot], k.and_(k.shr(i, 2u), 1u));
                      k.st(o + tid, k.ld(s + slot * 1024u + tid));
                      k.bar_sync();
                      k.single_thread(tid == 0u && k.add(i, 4u) < n, [&] { fill(slot); });
                  });
              },
              block(128)) == "");
}
