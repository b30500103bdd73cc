// SPDX-License-Identifier: Apache-2.0
// Tensor memory is taken and given back in a loop. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: tensor memory in loop") {
    CHECK(ids(
              [](blackwell& k, words o, reg n) {
                  const auto slot = k.tcgen05.make_slot<64>("slot");
                  const auto tid = k.mov(px::tid.x);
                  const auto w0 = tid < 32u;
                  k.for_(n, [&](reg i) {
                      k.if_(w0, [&] { k.tcgen05.alloc(slot); });
                      k.tcgen05.fence_before_thread_sync();
                      k.bar_sync();
                      k.tcgen05.fence_after_thread_sync();
                      const auto mem = k.tcgen05.load(slot);
                      const auto mine = k.tcgen05.quarter(mem, k.shr(tid, 5u)).slice<u32, 32>();
                      const auto r = k.tcgen05.make_registers<u32, 1>("r");
                      r[0] = k.add(tid, i);
                      k.tcgen05.st<px::shape_32x32b, px::x1>(mine, r);
                      k.tcgen05.wait_st();
                      const auto v = k.tcgen05.ld<px::shape_32x32b, px::x1>(mine);
                      k.tcgen05.wait_ld();
                      k.st(o + tid, v[0]);
                      k.tcgen05.fence_before_thread_sync();
                      k.bar_sync();
                      k.if_(w0, [&] {
                          k.tcgen05.fence_after_thread_sync();
                          k.tcgen05.dealloc(mem);
                      });
                      k.bar_sync();
                  });
                  k.if_(w0, [&] { k.tcgen05.relinquish_alloc_permit(slot); });
              },
              block(128)) == "");
}
