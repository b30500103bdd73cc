// SPDX-License-Identifier: Apache-2.0
// A sum in global memory by bulk reductions from two staging halves. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: bulk reduction") {
    CHECK(ids(
              [](builder& k, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2 * 64, "s");
                  const auto tid = k.mov(px::tid.x);
                  auto v = k.mov<f32>(1.0f);
                  k.for_(n, [&](reg i) {
                      const auto half = k.and_(i, 1u);
                      k.at(tid == 0u).cp_async_bulk_wait_group_read<1>();
                      k.bar_sync();
                      k.st(s + half * 64u + tid, v);
                      k.fence_proxy_async_shared_cta();
                      k.bar_sync();
                      k.single_thread(tid == 0u, [&] {
                          k.cp_reduce_async_bulk<px::tok::add>(o, (s + half * 64u).assume_aligned<16>(), 256u);
                          k.cp_async_bulk_commit_group();
                      });
                  });
                  k.at(tid == 0u).cp_async_bulk_wait_group<0>();
              },
              block(64)) == "");
}
