// SPDX-License-Identifier: Apache-2.0
// st.async between the two blocks of a pair. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: st async pair") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32, 16>(64, "box");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), peer = k.xor_(k.mov(px::cluster_ctarank), 1u);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
                  k.fence_mbarrier_init();
                  meet(k);
                  const auto far = k.mapa(box + tid, peer);
                  const auto far_bar = k.mapa(full[0], peer);
                  auto parity = k.mov<u32>(0u);
                  auto v = k.mov(tid);
                  k.for_(n, [&](reg) {
                      k.single_thread(tid == 0u, [&] { k.mbarrier_arrive_expect_tx(full[0], 256u); });
                      k.st_async(far, v, far_bar);
                      k.wait<px::acquire, px::cluster>(full[0], parity);
                      v = v + k.ld(box + tid);
                      parity = k.xor_(parity, 1u);
                      meet(k);
                  });
                  k.st(o + tid, v);
              },
              block(64, 2)) == "");
}
