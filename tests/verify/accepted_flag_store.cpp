// SPDX-License-Identifier: Apache-2.0
// A tile written by ordinary stores, handed over by a flag and stored by TMA from another thread. No rule may refuse
// it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: flag store") {
    CHECK(ids(
              [](builder& k, map_out m) {
                  const auto c = k.smem<tile>(1, "c");
                  const auto count = k.smem_array<u32>(1, "count");
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.st(count, 0u); });
                  k.bar_sync();
                  k.if_(tid >= 32u, [&] {
                       k.st(k.tile_element(c[0], tid - 32u, 1u), k.mov<bf16>(1.0f));
                       k.fence_proxy_async_shared_cta();
                       k.red_add<px::release, px::cta>(count, 1u);
                   }).else_([&] {
                      k.single_thread(tid == 0u, [&] {
                          k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(count) == 64u); });
                          k.cp_async_bulk_tensor(m, px::coords(0u, 0u), c[0]);
                          k.cp_async_bulk_commit_group();
                          k.cp_async_bulk_wait_group<0>();
                      });
                  });
              },
              block(96)) == "");
}
