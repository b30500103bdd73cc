// SPDX-License-Identifier: Apache-2.0
// One lane of each warp counts itself in by a flag in shared memory; then all read what the four wrote. No rule may
// refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: flag between warps") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(4, "box"), count = k.smem_array<u32>(1, "count");
                  const auto tid = k.mov(px::tid.x), lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
                  k.single_thread(tid == 0u, [&] { k.st(count, 0u); });
                  k.bar_sync();
                  k.if_(lane == 0u, [&] {
                      k.st(box + warp, tid);
                      k.red_add<px::release, px::cta>(count, 1u);
                  });
                  k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(count) == 4u); });
                  k.st(o + tid, k.ld(box + k.and_(tid, 3u)));
              },
              block(128)) == "");
}
