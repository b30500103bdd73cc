// SPDX-License-Identifier: Apache-2.0
// A flag tells the readers that their data may be overwritten. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: flag refill") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg) {
                  const auto count = k.smem_array<u32>(1, "count");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.st(count, 0u);
                      k.mbarrier_init(full[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto p = (k.smem_array<f32, 128>(1024, "x")).assume_aligned<16>();
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.cp_async_bulk(p, g, chunk, full[0]);
                  });
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(p + tid));
                  k.red_add<px::release, px::cta>(count, 1u);
                  k.single_thread(tid == 0u, [&] {
                      k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(count) == 96u); });
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.cp_async_bulk(p, g, chunk, full[0]);
                  });
                  k.wait(full[0], 1u);
                  k.st(o + tid, k.ld(p + tid));
              },
              block(96)) == "");
}
