// SPDX-License-Identifier: Apache-2.0
// Right kernels with roles, flags, named barriers and tensor memory in ways of their own. No rule may refuse them;
// `ptxas` 13.0 assembled all when they were written.
#include "unusual.hpp"

using namespace unusual;

// Readers told by a flag that they may be overwritten.
TEST_CASE("flag refill") {
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

// Tile written generically, handed over by a flag, stored by TMA from another thread.
TEST_CASE("flag store") {
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

// The leader frees a slot when others have counted themselves out.
TEST_CASE("flag release") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto count = k.smem_array<u32>(1, "count");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.init(pipe);
                      k.st(count, 0u);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid == 0u, [&] {
                      k.single_thread(tid == 0u, [&] {
                          const auto at = k.producer_state(pipe);
                          k.for_(n, [&](reg) {
                              k.wait_empty(pipe, at);
                              k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                              k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                              k.advance(at);
                          });
                      });
                  });
                  k.if_(tid >= 32u, [&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          const auto old = k.atom_add<px::acq_rel, px::cta>(count, 1u);
                          k.if_(k.and_(old, 31u) == 31u, [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(64)) == "");
}

// Barrier id in a register, groups.
TEST_CASE("numbered groups") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto g = k.shr(tid, 6u);
                  k.bar_sync(k.add(g, 1u), 64u);
                  k.st(o + tid, g);
                  k.bar_sync(k.add(k.shr(tid, 7u), 5u), 128u);
                  k.st(o + tid, g);
              },
              block(256)) == "");
}

// Ping-pong order of two warpgroups by named barriers, first one primed.
TEST_CASE("order barriers") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto wg = k.shr(tid, 7u);
                  k.if_(wg == 0u, [&] { k.bar_arrive(1u, 256u); });
                  k.for_(n, [&](reg i) {
                      k.bar_sync(k.add(wg, 1u), 256u);
                      k.st(o + tid, i);
                      k.bar_arrive(k.sub(k.mov<u32>(2u), wg), 256u);
                  });
                  k.if_(wg == 1u, [&] { k.bar_sync(1u, 256u); });
              },
              block(256)) == "");
}

TEST_CASE("order two") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 128u, [&] {
                       k.for_(n, [&](reg i) {
                           k.bar_sync<1, 256>();
                           k.st(o + tid, i);
                           k.bar_arrive<2, 256>();
                       });
                   }).else_([&] {
                      k.bar_arrive<1, 256>();
                      k.for_(n, [&](reg i) {
                          k.bar_sync<2, 256>();
                          k.st(o + tid, i);
                          k.if_(k.add(i, 1u) < n, [&] { k.bar_arrive<1, 256>(); });
                      });
                  });
              },
              block(256)) == "");
}

// A group that waits twice for two parts of another.
TEST_CASE("waits twice") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 64u, [&] {
                       k.st(box + tid, 1u);
                       k.bar_arrive<1, 128>();
                   }).else_([&] {
                      k.if_(tid < 128u, [&] {
                           k.st(box + tid, 2u);
                           k.bar_arrive<2, 128>();
                       }).else_([&] {
                          k.bar_sync<1, 128>();
                          k.bar_sync<2, 128>();
                          k.st(o + tid, k.ld(box + (tid - 64u)));
                      });
                  });
              },
              block(192)) == "");
}

// Three roles and one barrier with a count of two of them, then of all.
TEST_CASE("same id two counts") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 64u, [&] {
                      k.bar_sync<4, 64>();
                      k.st(o + tid, 1u);
                  });
                  k.bar_sync<4, 96>();
                  k.st(o + tid, 2u);
                  k.if_(tid >= 32u, [&] {
                      k.bar_sync<4, 64>();
                      k.st(o + tid, 3u);
                  });
              },
              block(96)) == "");
}

// Setmaxnreg down for all, up for some, and back.
TEST_CASE("regs updown") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 128u, [&] {
                       k.setmaxnreg_dec<80>();
                       k.st(o + tid, 1u);
                       k.bar_sync<1, 256>();
                   }).else_([&] {
                      k.bar_sync<1, 256>();
                      k.st(o + tid, 2u);
                  });
              },
              px::attributes{.reqntid = {256}, .minnctapersm = 1}) == "");
}

TEST_CASE("regs maxnreg") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto wg = k.shr(tid, 7u);
                  k.if_(wg == 1u, [&] {
                       k.setmaxnreg_dec<40>();
                       k.st(o + tid, 1u);
                   }).else_([&] {
                      k.setmaxnreg_inc<232>();
                      k.st(o + tid, 2u);
                  });
              },
              px::attributes{.reqntid = {384}, .maxnreg = 168}) == "");
}

// Barriers made anew each round.
TEST_CASE("inval rounds") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg) {
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_init(full[0]);
                          k.fence_mbarrier_init();
                      });
                      k.bar_sync();
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_arrive_expect_tx(full[0], chunk);
                          k.cp_async_bulk(s, g, chunk, full[0]);
                      });
                      k.wait(full[0], 0u);
                      k.st(o + tid, k.ld(s + tid));
                      k.bar_sync();
                      k.single_thread(tid == 0u, [&] { k.mbarrier_inval(full[0]); });
                  });
              },
              block(64)) == "");
}

// Bytes by the reader, copy by another warp of the same count.
TEST_CASE("expect elsewhere") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<33>);
                  const auto go = k.make_mbarrier_ring<"go">(1, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(go[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           k.for_(n, [&](reg) {
                               k.wait(go[0], p);
                               p = k.xor_(p, 1u);
                               k.cp_async_bulk(s, g, chunk, full[0]);
                               k.mbarrier_arrive(full[0]);
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg) {
                          k.mbarrier_arrive_expect_tx(full[0], 128u);
                          k.mbarrier_arrive(go[0]);
                          k.wait(full[0], p);
                          p = k.xor_(p, 1u);
                          k.st(o + tid, k.ld(s + tid));
                      });
                  });
              },
              block(64)) == "");
}

// Every thread copies its own row.
TEST_CASE("row gather") {
    CHECK(ids(
              [](builder& k, px::global_ptr<const u32> idx, source g, floats o) {
                  const auto s = k.smem_array<f32, 16>(64 * 16, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.mbarrier_arrive_expect_tx(full[0], 64u);
                  k.cp_async_bulk((s + tid * 16u).assume_aligned<16>(),
                                  (g + k.ld(idx + tid) * 16u).assume_aligned<16>(), 64u, full[0]);
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + k.xor_(tid, 1u) * 16u));
              },
              block(64)) == "");
}

// Multicast by turns: block r sends in round r.
TEST_CASE("sender turns") {
    CHECK(ids(
              [](builder& k, map m, words o, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           k.for_(n, [&](reg i) {
                               const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                               k.wait<px::acquire, px::cluster>(empty[slot], k.xor_(p, 1u));
                               k.mbarrier_arrive_expect_tx(full[slot], a);
                               k.if_(slot == rank, [&] {
                                   k.cp_async_bulk_tensor_multicast(a[slot], m, px::coords(k.shl(i, 6u), 0u),
                                                                    full[slot], px::u16(3));
                               });
                           });
                       });
                   }).else_([&] {
                      const auto t = k.and_(tid, 31u);
                      k.for_(n, [&](reg i) {
                          const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                          k.wait(full[slot], p);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_warp_sync();
                          k.at(t < 2u).mbarrier_arrive(k.mapa(empty[slot], t));
                      });
                  });
                  meet(k);
              },
              block(64, 2)) == "");
}

// One block of the cluster has left the others work alone: handshake by mbarrier only.
TEST_CASE("peer handshake") {
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

// Remote atomics.
TEST_CASE("remote atomics") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto bins = k.smem_array<u32>(64, "bins");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(bins + tid, 0u);
                  meet(k);
                  k.for_(4u, [&](reg r) { k.red_add(k.mapa(bins + tid, k.and_(k.add(r, rank), 3u)), 1u); });
                  meet(k);
                  k.st(o + tid, k.ld(bins + tid));
              },
              block(64, 4)) == "");
}

// A staging tile written by a warpgroup, stored by one thread of another warp.
TEST_CASE("store by other") {
    CHECK(ids(
              [](builder& k, map_out m, reg n) {
                  const auto c = k.smem<tile>(2, "c");
                  const auto tid = k.mov(px::tid.x);
                  const auto filled = k.make_mbarrier_ring<"filled">(2, px::arrivals<128>);
                  const auto drained = k.make_mbarrier_ring<"drained">(2, px::arrivals<1>);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(filled[i]);
                          k.mbarrier_init(drained[i]);
                      }
                  });
                  k.bar_sync();
                  k.if_(tid < 128u, [&] {
                       k.for_(n, [&](reg i) {
                           const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                           k.wait(drained[slot], k.xor_(p, 1u));
                           k.st(k.tile_element(c[slot], k.and_(tid, 63u), k.shr(tid, 6u)), k.mov<bf16>(1.0f));
                           k.fence_proxy_async_shared_cta();
                           k.mbarrier_arrive(filled[slot]);
                       });
                   }).else_([&] {
                      k.single_thread(k.elect_sync(), [&] {
                          k.for_(n, [&](reg i) {
                              const auto slot = k.and_(i, 1u), p = k.and_(k.shr(i, 1u), 1u);
                              k.wait(filled[slot], p);
                              k.cp_async_bulk_tensor(m, px::coords(k.shl(i, 6u), 0u), c[slot]);
                              k.cp_async_bulk_commit_group();
                              k.cp_async_bulk_wait_group_read<1>();
                              k.if_(i != 0u, [&] { k.mbarrier_arrive(drained[k.xor_(slot, 1u)]); });
                          });
                          k.cp_async_bulk_wait_group<0>();
                      });
                  });
              },
              block(160)) == "");
}

// Tensor memory: taken and given back in a loop.
TEST_CASE("tmem loop") {
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

// Another warp gives it back.
TEST_CASE("tmem other warp") {
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

// Tile reuse: accumulators in turns, mma warp ahead by one.
TEST_CASE("tmem turns") {
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

TEST_CASE("by try wait") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto go = k.make_mbarrier_ring<"go">(1, px::arrivals<64>);
                  const auto won = k.make_mbarrier_ring<"won">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(go[0]);
                      k.mbarrier_init(won[0]);
                  });
                  k.bar_sync();
                  k.mbarrier_arrive(go[0]);
                  const auto p = k.mbarrier_test_wait_parity(go[0], 0u);
                  k.if_(p, [&] { k.mbarrier_arrive(won[0]); }).else_([&] {
                      k.wait(go[0], 0u);
                      k.mbarrier_arrive(won[0]);
                  });
                  k.wait(won[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(64)) == "");
}

TEST_CASE("by mma") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto found = k.make_mbarrier_ring<"found">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(found[0]); });
                  k.bar_sync();
                  const auto v = k.redux_sync_max(n, 0xffffffffu);
                  k.if_(v == tid, [&] { k.mbarrier_arrive(found[0]); });
                  k.wait(found[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(32)) == "");
}

// Leader found by ballot.
TEST_CASE("by ballot") {
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

// A loop that all leave at different times, arrivals outside.
TEST_CASE("ragged") {
    CHECK(ids(
              [](builder& k, px::global_ptr<const u32> len, words o) {
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.bar_sync();
                  const auto n = k.ld(len + tid);
                  auto sum = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) { sum = sum + i; });
                  k.mbarrier_arrive(done[0]);
                  k.wait(done[0], 0u);
                  k.st(o + tid, sum);
              },
              block(64)) == "");
}

// Threads leave for good inside a loop; the count is what stays.
TEST_CASE("thinning") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<64>);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(bar[0]);
                      k.mbarrier_init(bar[1]);
                  });
                  k.bar_sync();
                  k.if_(tid >= 64u, [&] {
                      k.st(o + tid, 0u);
                      k.ret();
                  });
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.mbarrier_arrive(bar[0]);
                      k.wait(bar[0], p);
                      k.st(o + tid, i);
                      k.mbarrier_arrive(bar[1]);
                      k.wait(bar[1], p);
                      p = k.xor_(p, 1u);
                  });
              },
              block(128)) == "");
}

// Count in two arrivals of one thread.
TEST_CASE("count argument") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<40>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  k.if_(tid < 32u, [&] { k.mbarrier_arrive(bar[0]); }).else_([&] {
                      k.single_thread(tid == 32u, [&] { k.mbarrier_arrive(bar[0], 8); });
                  });
                  k.wait(bar[0], 0u);
                  k.st(o + tid, 1u);
              },
              block(64)) == "");
}

// Two consumers of one slot, of which one reads twice as slowly.
TEST_CASE("two speeds") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(1u);
                           k.for_(n, [&](reg) {
                               for (int i = 0; i < 2; ++i) {
                                   k.wait(empty[i], p);
                                   k.mbarrier_arrive_expect_tx(full[i], chunk);
                                   k.cp_async_bulk((s + 1024 * i).assume_aligned<16>(), g, chunk, full[i]);
                               }
                               p = k.xor_(p, 1u);
                           });
                       });
                   }).else_([&] {
                      k.if_(tid < 64u, [&] {
                           auto p = k.mov<u32>(0u);
                           k.for_(n, [&](reg) {
                               for (int i = 0; i < 2; ++i) {
                                   k.wait(full[i], p);
                                   k.st(o + tid, k.ld(s + 1024 * i + tid));
                                   k.mbarrier_arrive(empty[i]);
                               }
                               p = k.xor_(p, 1u);
                           });
                       }).else_([&] {
                          auto p = k.mov<u32>(0u);
                          k.for_(n, [&](reg) {
                              k.wait(full[0], p);
                              k.wait(full[1], p);
                              k.st(o + tid, k.ld(s + tid) + k.ld(s + 1024 + tid));
                              k.mbarrier_arrive(empty[0]);
                              k.mbarrier_arrive(empty[1]);
                              p = k.xor_(p, 1u);
                          });
                      });
                  });
              },
              block(96)) == "");
}

// The producer fills both slots in one iteration and the tail by itself.
TEST_CASE("odd tail") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           const auto at = k.producer_state(pipe);
                           const auto fill = [&] {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                               k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                               k.advance(at);
                           };
                           k.for_(k.shr(n, 1u), [&](reg) {
                               fill();
                               fill();
                           });
                           k.if_(k.and_(n, 1u) != 0u, [&] { fill(); });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          k.bar_warp_sync();
                          k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(64)) == "");
}

// A late release: the slot before is freed.
TEST_CASE("late release") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(3072, "s");
                  const auto pipe = k.make_pipeline<"pipe">(3, px::arrivals<1>, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           const auto at = k.producer_state(pipe);
                           k.for_(n, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                               k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                               k.advance(at);
                           });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe), behind = k.consumer_state(pipe);
                      k.for_(n, [&](reg i) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                          k.advance(at);
                          k.if_(i != 0u, [&] {
                              k.mbarrier_arrive(pipe.empty(behind));
                              k.advance(behind);
                          });
                      });
                      k.if_(n != 0u, [&] { k.mbarrier_arrive(pipe.empty(behind)); });
                  });
              },
              block(64)) == "");
}

// Bulk store from a slot the consumer then frees when the store has read it.
TEST_CASE("through") {
    CHECK(ids(
              [](builder& k, map in, map_out out, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(full[1]);
                      k.fence_mbarrier_init();
                      k.fence_proxy_async();
                      auto p = k.mov<u32>(0u);
                      k.for_(n, [&](reg i) {
                          for (int b = 0; b < 2; ++b) {
                              k.cp_async_bulk_wait_group_read<1>();
                              k.mbarrier_arrive_expect_tx(full[b], a);
                              k.cp_async_bulk_tensor(a[b], in, px::coords(k.shl(i, 6u), 0u), full[b]);
                              k.wait(full[b], p);
                              k.cp_async_bulk_tensor(out, px::coords(k.shl(i, 6u), 0u), a[b]);
                              k.cp_async_bulk_commit_group();
                          }
                          p = k.xor_(p, 1u);
                      });
                      k.cp_async_bulk_wait_group<0>();
                  });
              },
              block(32)) == "");
}

// Reduce through bulk reduction.
TEST_CASE("bulk reduce") {
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

// Cluster of one block of two roles meeting by cluster barrier only.
TEST_CASE("cluster as block") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(256, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg i) {
                      k.st(box + tid, i);
                      meet(k);
                      k.st(o + tid, k.ld(box + k.xor_(tid, 128u)));
                      meet(k);
                  });
              },
              block(256, 2)) == "");
}

// Multicast to everyone but the sender reads its own by hand.
TEST_CASE("mask without self") {
    CHECK(ids(
              [](builder& k, source g, floats o) {
                  const auto s = k.smem_array<f32, 128>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.if_(rank == 0u, [&] {
                          k.cp_async_bulk_multicast(s, g, chunk, full[0], px::u16(14));
                          k.cp_async_bulk(s, g, chunk, full[0]);
                      });
                  });
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + tid));
                  meet(k);
              },
              block(64, 4)) == "");
}
