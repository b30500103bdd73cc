// SPDX-License-Identifier: Apache-2.0
// Every thread copies its own row. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: row gather") {
    CHECK(ids(
              [](builder& k, px::global_ptr<const u32> idx, source g, floats o) {
                  const auto s = k.smem_array<f32, 16>(64 * 16, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.mbarrier_arrive_expect_tx(full[0], 64u);
                  k.cp_async_bulk((s + tid * 16u).assume_aligned<16>(),
                                  (g + k.ld(idx + tid) * 16u).assume_aligned<16>(), 64u, full[0]);
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + k.xor_(tid, 1u) * 16u));
              },
              block(64)) == "");
}
