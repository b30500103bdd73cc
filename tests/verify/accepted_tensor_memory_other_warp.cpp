// SPDX-License-Identifier: Apache-2.0
// Another warp gives tensor memory back than took it. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: tensor memory other warp") {
    CHECK(ids(
              [](blackwell& k, words o) {
                  const auto slot = k.tcgen05.make_slot<128>("slot");
                  const auto tid = k.mov(px::tid.x);
                  const auto warp = k.shr(tid, 5u);
                  k.if_(warp == 2u, [&] {
                      k.tcgen05.alloc(slot);
                      k.tcgen05.relinquish_alloc_permit(slot);
                  });
                  k.tcgen05.fence_before_thread_sync();
                  k.bar_sync();
                  k.tcgen05.fence_after_thread_sync();
                  const auto mem = k.tcgen05.load(slot);
                  k.st(o + tid, 1u);
                  k.bar_sync();
                  k.if_(warp == 3u, [&] { k.tcgen05.dealloc(mem); });
              },
              block(128)) == "");
}
