// SPDX-License-Identifier: Apache-2.0
// A block reads its peer's memory and tells the peer so by an arrival on its mbarrier; nobody meets at the end. No rule
// may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: peer handshake") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(32, "box");
                  const auto got = k.make_mbarrier_ring<"got">(1, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(got[0]); });
                  k.fence_mbarrier_init();
                  k.st(box + tid, k.add(tid, rank));
                  meet(k);
                  const auto x = k.ld(k.mapa(box + tid, k.xor_(rank, 1u)));
                  k.mbarrier_arrive<px::release, px::cluster>(k.mapa(got[0], k.xor_(rank, 1u)));
                  k.st(o + tid, x);
                  k.wait<px::acquire, px::cluster>(got[0], 0u);
              },
              block(32, 2)) == "");
}
