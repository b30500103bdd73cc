// SPDX-License-Identifier: Apache-2.0
// The leader is found by a ballot. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: leader by ballot") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), lane = k.mov(px::laneid), warp = k.shr(tid, 5u);
                  k.if_(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(full[1]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto mask = k.vote_sync_ballot(k.and_(tid, n) == 0u, 0xffffffffu);
                  const auto leader = k.bfind(mask);
                  k.if_(lane == k.cvt<u32>(leader), [&] {
                      k.mbarrier_arrive_expect_tx(full[warp], chunk);
                      k.cp_async_bulk(part(s, warp), g, chunk, full[warp]);
                  });
                  k.wait(full[warp], 0u);
                  k.st(o + tid, k.ld(s + warp * 1024u + lane));
              },
              block(64)) == "");
}
