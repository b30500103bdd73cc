// SPDX-License-Identifier: Apache-2.0
// Two accumulators in turns; the warp of tcgen05.mma is one tile ahead. No rule may refuse it.
#include "accepted.hpp"

using namespace accepted;

TEST_CASE("accepted: accumulators in turns") {
    CHECK(ids(
              [](blackwell& k, px::tma_map<px::tile<bf16, 128, 64>> am, px::tma_map<tile> bm, px::global_ptr<f32> o,
                 reg n) {
                  const auto a = k.smem<px::tile<bf16, 128, 64>>(2, "a");
                  const auto b = k.smem<tile>(2, "b");
                  const auto load = k.make_pipeline<"load">(2, px::arrivals<1>, px::arrivals<1>);
                  const auto sums = k.make_pipeline<"sums">(2, px::arrivals<1>, px::arrivals<128>);
                  const auto slot = k.tcgen05.make_slot<128>("slot");
                  const auto tid = k.mov(px::tid.x);
                  const auto warp = k.shr(tid, 5u);
                  k.single_thread(tid == 0u, [&] {
                      k.init(load);
                      k.init(sums);
                  });
                  k.fence_mbarrier_init();
                  k.if_(warp == 5u, [&] {
                      k.tcgen05.alloc(slot);
                      k.tcgen05.relinquish_alloc_permit(slot);
                  });
                  k.tcgen05.fence_before_thread_sync();
                  k.bar_sync();
                  k.tcgen05.fence_after_thread_sync();
                  const auto mem = k.tcgen05.load(slot);
                  k.if_(warp == 4u, [&] {
                      k.role(32, [&] {
                          k.single_thread(k.elect_sync(), [&] {
                              const auto at = k.producer_state(load);
                              k.for_(n, [&](reg i) {
                                  k.wait_empty(load, at);
                                  k.mbarrier_arrive_expect_tx(load.full(at), a, b);
                                  k.cp_async_bulk_tensor(a[at.slot()], am, px::coords(k.shl(i, 6u), 0u), load.full(at));
                                  k.cp_async_bulk_tensor(b[at.slot()], bm, px::coords(k.shl(i, 6u), 0u), load.full(at));
                                  k.advance(at);
                              });
                          });
                      });
                  });
                  k.if_(warp == 5u, [&] {
                      k.role(32, [&] {
                          k.single_thread(k.elect_sync(), [&] {
                              const auto at = k.consumer_state(load);
                              const auto to = k.producer_state(sums);
                              const auto d = mem.accumulator<f32, 128, 64, 0, 2>();
                              const auto ad = k.tcgen05.descriptor(a);
                              const auto bd = k.tcgen05.descriptor(b);
                              k.for_(n, [&](reg) {
                                  k.wait_empty(sums, to);
                                  k.tcgen05.fence_after_thread_sync();
                                  k.wait_full(load, at);
                                  k.tcgen05.fence_after_thread_sync();
                                  k.tcgen05.multiply(d[to.slot()], ad[at.slot()], bd[at.slot()], false);
                                  k.tcgen05.commit(load.empty(at));
                                  k.tcgen05.commit(sums.full(to));
                                  k.advance(at);
                                  k.advance(to);
                              });
                          });
                      });
                  });
                  k.if_(warp < 4u, [&] {
                      k.role(128, [&] {
                          const auto at = k.consumer_state(sums);
                          const auto d = k.tcgen05.quarter(mem, warp).accumulator<f32, 128, 64, 0, 2>();
                          k.for_(n, [&](reg) {
                              k.tcgen05.wait(sums.full(at), at.parity());
                              const auto v = k.tcgen05.ld<px::shape_32x32b, px::x64>(d[at.slot()]);
                              k.tcgen05.wait_ld();
                              k.tcgen05.fence_before_thread_sync();
                              k.mbarrier_arrive(sums.empty(at));
                              k.advance(at);
                              k.st(o + tid, v[0] + v[63]);
                          });
                          k.tcgen05.fence_before_thread_sync();
                      });
                  });
                  k.bar_sync();
                  k.if_(warp == 5u, [&] {
                      k.tcgen05.fence_after_thread_sync();
                      k.tcgen05.dealloc(mem);
                  });
              },
              block(192)) == "");
}
