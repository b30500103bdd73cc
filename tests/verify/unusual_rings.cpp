// SPDX-License-Identifier: Apache-2.0
// Right kernels that keep rings, phases and clusters in step in ways of their own. No rule may refuse them; `ptxas`
// 13.0 assembled all when they were written.
#include "unusual.hpp"

using namespace unusual;

// Persistent, two rings of different length, warp roles by tid.
TEST_CASE("two rings") {
    CHECK(ids(
              [](builder& k, map am, map bm, words out, reg tiles, reg steps) {
                  const auto a = k.smem<tile>(4, "a"), b = k.smem<tile>(3, "b");
                  const auto ap = k.make_pipeline<"ap">(4, px::arrivals<1>, px::arrivals<128>);
                  const auto bp = k.make_pipeline<"bp">(3, px::arrivals<1>, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.init(ap);
                      k.init(bp);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                      k.single_thread(tid == 0u, [&] {
                          const auto at = k.producer_state(ap);
                          k.for_(tiles, [&](reg t) {
                              k.for_(steps, [&](reg i) {
                                  k.wait_empty(ap, at);
                                  k.mbarrier_arrive_expect_tx(ap.full(at), a);
                                  k.cp_async_bulk_tensor(a[at.slot()], am, px::coords(k.shl(i, 6u), t), ap.full(at));
                                  k.advance(at);
                              });
                          });
                      });
                  });
                  k.if_(tid >= 32u && tid < 64u, [&] {
                      k.role(32, [&] {
                          k.single_thread(k.elect_sync(), [&] {
                              const auto at = k.producer_state(bp);
                              k.for_(tiles, [&](reg t) {
                                  k.for_(steps, [&](reg i) {
                                      k.wait_empty(bp, at);
                                      k.mbarrier_arrive_expect_tx(bp.full(at), b);
                                      k.cp_async_bulk_tensor(b[at.slot()], bm, px::coords(k.shl(i, 6u), t),
                                                             bp.full(at));
                                      k.advance(at);
                                  });
                              });
                          });
                      });
                  });
                  k.if_(tid >= 64u, [&] {
                      const auto x = k.consumer_state(ap);
                      const auto y = k.consumer_state(bp);
                      auto s = k.mov<u32>(0u);
                      k.for_(tiles, [&](reg) {
                          k.for_(steps, [&](reg) {
                              k.wait_full(ap, x);
                              k.wait_full(bp, y);
                              s = s + k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[x.slot()], 3u, 4u))));
                              s = s + k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(b[y.slot()], 3u, 4u))));
                              k.mbarrier_arrive(ap.empty(x));
                              k.mbarrier_arrive(bp.empty(y));
                              k.advance(x);
                              k.advance(y);
                          });
                          k.st(out + tid, s);
                      });
                  });
              },
              block(192)) == "");
}

// Phases in a bit mask.
TEST_CASE("phase mask") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4096, "s");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  auto mask = k.mov<u32>(0u);
                  k.for_(n, [&](reg) {
                      for (int i = 0; i < 4; ++i) {
                          k.single_thread(tid == 0u, [&] {
                              k.mbarrier_arrive_expect_tx(full[i], chunk);
                              k.cp_async_bulk((s + 1024 * i).assume_aligned<16>(), g, chunk, full[i]);
                          });
                          k.wait(full[i], k.and_(k.shr(mask, u32(i)), 1u));
                          mask = k.xor_(mask, 1u << i);
                          k.st(o + tid, k.ld((s + 1024 * i) + tid));
                          k.bar_sync();
                      }
                  });
              },
              block(128)) == "");
}

// Phase by division of a counter.
TEST_CASE("phase by count") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(3072, "s");
                  const auto full = k.make_mbarrier_ring<"full">(3, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(3, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 3; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           k.for_(n, [&](reg i) {
                               const auto round = k.div(i, 3u);
                               const auto slot = k.sub(i, k.mul_lo(round, 3u));
                               k.wait(empty[slot], k.xor_(k.and_(round, 1u), 1u));
                               k.mbarrier_arrive_expect_tx(full[slot], chunk);
                               k.cp_async_bulk(part(s, slot), g, chunk, full[slot]);
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg i) {
                          const auto round = k.div(i, 3u);
                          const auto slot = k.rem(i, 3u);
                          k.wait(full[slot], k.and_(round, 1u));
                          k.st(o + tid, k.ld(s + slot * 1024u + (tid - 32u)));
                          k.mbarrier_arrive(empty[slot]);
                      });
                  });
              },
              block(160)) == "");
}

// Named barriers of different counts.
TEST_CASE("named counts") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(256, "box");
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 32u, [&] {
                       k.for_(n, [&](reg i) {
                           k.bar_sync<2, 96>();
                           k.st(box + tid, i);
                           k.bar_arrive<1, 96>();
                       });
                   }).else_([&] {
                      k.if_(tid < 96u, [&] {
                           k.role(64, [&] {
                               k.bar_arrive<2, 96>();
                               k.for_(n, [&](reg i) {
                                   k.bar_sync<1, 96>();
                                   k.st(o + tid, k.ld(box + k.and_(tid, 31u)));
                                   k.if_(k.add(i, 1u) < n, [&] { k.bar_arrive<2, 96>(); });
                               });
                           });
                       }).else_([&] {
                          k.role(64, [&] {
                              k.bar_sync<3, 64>();
                              k.st(o + tid, tid);
                              k.bar_sync<3, 64>();
                          });
                      });
                  });
              },
              block(160)) == "");
}

// Setmaxnreg, consumers first, producer last.
TEST_CASE("regs last") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<8>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 256u, [&] {
                       k.setmaxnreg_inc<232>();
                       const auto at = k.consumer_state(pipe);
                       k.for_(n, [&](reg) {
                           k.wait_full(pipe, at);
                           k.st(o + tid, k.ld(s + at.slot() * 1024u + tid));
                           k.bar_warp_sync();
                           k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(pipe.empty(at)); });
                           k.advance(at);
                       });
                   }).else_([&] {
                      k.setmaxnreg_dec<40>();
                      k.if_(k.shr(tid, 5u) == 11u, [&] {
                          k.single_thread(k.elect_sync(), [&] {
                              const auto at = k.producer_state(pipe);
                              k.for_(n, [&](reg) {
                                  k.wait_empty(pipe, at);
                                  k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                                  k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                                  k.advance(at);
                              });
                          });
                      });
                  });
              },
              px::attributes{.reqntid = {384}, .minnctapersm = 1}) == "");
}

// Setmaxnreg, four groups.
TEST_CASE("regs four") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto tid = k.mov(px::tid.x);
                  const auto group = k.shr(tid, 7u);
                  k.if_(group == 3u, [&] {
                       k.role(128, [&] {
                           k.setmaxnreg_dec<24>();
                           k.st(o + tid, 1u);
                       });
                   }).else_([&] {
                      k.role(384, [&] {
                          k.setmaxnreg_inc<152>();
                          k.st(o + tid, 2u);
                          k.bar_sync<1, 384>();
                      });
                  });
              },
              px::attributes{.reqntid = {512}, .minnctapersm = 1}) == "");
}

// 2x2 cluster, masks computed.
TEST_CASE("masks 2x2") {
    CHECK(ids(
              [](builder& k, map am, map bm, words o, reg n) {
                  const auto a = k.smem<tile>(2, "a"), b = k.smem<tile>(2, "b");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(2, px::arrivals<3>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  const auto col = k.and_(rank, 1u), row = k.shr(rank, 1u);
                  const auto rows = k.cvt<px::u16>(k.shl(k.mov<u32>(3u), k.shl(row, 1u))),
                             cols = k.cvt<px::u16>(k.shl(k.mov<u32>(5u), col));
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           auto slot = k.mov<u32>(0u), parity = k.mov<u32>(1u);
                           k.for_(n, [&](reg i) {
                               k.wait<px::acquire, px::cluster>(empty[slot], parity);
                               k.mbarrier_arrive_expect_tx(full[slot], 16384u);
                               k.if_(col == 0u, [&] {
                                   k.cp_async_bulk_tensor_multicast(a[slot], am, px::coords(k.shl(i, 6u), row),
                                                                    full[slot], rows);
                               });
                               k.if_(row == 0u, [&] {
                                   k.cp_async_bulk_tensor_multicast(b[slot], bm, px::coords(k.shl(i, 6u), col),
                                                                    full[slot], cols);
                               });
                               slot = k.xor_(slot, 1u);
                               k.at(slot == 0u).inst<"xor.b32">(parity, parity, 1u);
                           });
                       });
                   }).else_([&] {
                      auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                      const auto t = tid - 32u;
                      const auto target = k.selp(k.and_(rank, 2u), k.selp(k.and_(rank, 1u), rank, t == 1u), t == 0u);
                      k.for_(n, [&](reg) {
                          k.wait(full[slot], parity);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_sync<1, 128>();
                          k.at(t < 3u).mbarrier_arrive(k.mapa(empty[slot], target));
                          slot = k.xor_(slot, 1u);
                          k.at(slot == 0u).inst<"xor.b32">(parity, parity, 1u);
                      });
                  });
                  meet(k);
              },
              px::attributes{.reqntid = {160}, .cluster = {4}}) == "");
}

// St.async between a pair.
TEST_CASE("st async pair") {
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

// Red.async into block 0.
TEST_CASE("red async root") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto sum = k.smem_array<u32>(128, "sum");
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(sum + tid, 0u);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.single_thread(tid == 0u && rank == 0u, [&] { k.mbarrier_arrive_expect_tx(done[0], 3u * 512u); });
                  k.if_(rank != 0u, [&] {
                      k.red_async<px::tok::add>(k.mapa(sum + tid, 0u), k.add(tid, rank), k.mapa(done[0], 0u));
                  });
                  k.if_(rank == 0u, [&] {
                      k.wait<px::acquire, px::cluster>(done[0], 0u);
                      k.st(o + tid, k.ld(sum + tid));
                  });
                  meet(k);
              },
              block(128, 4)) == "");
}

// Butterfly through distributed shared memory.
TEST_CASE("butterfly") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(3 * 32, "box");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  auto v = k.add(tid, rank);
                  meet(k);
                  for (u32 s = 0; s < 3; ++s) {
                      k.st(k.mapa(box + static_cast<int>(32 * s) + tid, k.xor_(rank, 1u << s)), v);
                      meet(k);
                      v = v + k.ld(box + static_cast<int>(32 * s) + tid);
                  }
                  k.st(o + tid, v);
              },
              block(32, 8)) == "");
}

// Early exits behind the arrival.
TEST_CASE("early exit") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.fence_mbarrier_init();
                      k.mbarrier_arrive_expect_tx(full[0], chunk);
                      k.cp_async_bulk(s, g, chunk, full[0]);
                  });
                  k.bar_sync();
                  k.if_(tid >= n, [&] { k.exit(); });
                  k.wait(full[0], 0u);
                  k.st(o + tid, k.ld(s + tid));
              },
              block(128)) == "");
}

// Arrivals of threads that exit behind them.
TEST_CASE("arrive and leave") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(96, "box");
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<96>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
                  k.bar_sync();
                  k.if_(tid >= 32u, [&] {
                      k.st(box + (tid - 32u), tid);
                      k.mbarrier_arrive(done[0]);
                      k.exit();
                  });
                  k.wait(done[0], 0u);
                  k.st(o + tid, k.ld(box + tid) + k.ld(box + 32 + tid) + k.ld(box + 64 + tid));
              },
              block(128)) == "");
}

// Cp.async pipeline with noinc arrivals.
TEST_CASE("cp async noinc") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4 * 512, "s");
                  const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<128>, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.bar_sync();
                  k.if_(tid < 128u, [&] {
                       const auto at = k.producer_state(pipe);
                       k.for_(n, [&](reg i) {
                           k.wait_empty(pipe, at);
                           k.cp_async<px::cg, 16>((s + at.slot() * 512u + tid * 4u).assume_aligned<16>(),
                                                  (g + i * 512u + tid * 4u).assume_aligned<16>());
                           k.cp_async_mbarrier_arrive_noinc(pipe.full(at));
                           k.advance(at);
                       });
                       k.cp_async_wait_all();
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, k.ld(s + at.slot() * 512u + (tid - 128u)));
                          k.bar_warp_sync();
                          k.single_thread(tid == 128u, [&] { k.mbarrier_arrive(pipe.empty(at)); });
                          k.advance(at);
                      });
                  });
              },
              block(160)) == "");
}

// Three staging buffers in turn.
TEST_CASE("staging three") {
    CHECK(ids(
              [](builder& k, map_out m, reg n) {
                  const auto c = k.smem<tile>(3, "c");
                  const auto tid = k.mov(px::tid.x);
                  k.for_(n, [&](reg i) {
                      for (int b = 0; b < 3; ++b) {
                          k.at(tid == 0u).cp_async_bulk_wait_group_read<2>();
                          k.bar_sync();
                          for (u32 j = 0; j < 4; ++j)
                              k.st(k.tile_element(c[b], k.and_(tid, 63u), j), k.mov<bf16>(1.0f));
                          k.fence_proxy_async_shared_cta();
                          k.bar_sync();
                          k.single_thread(tid == 0u, [&] {
                              k.cp_async_bulk_tensor(m, px::coords(k.mul_lo(i, 64u), 0u), c[b]);
                              k.cp_async_bulk_commit_group();
                          });
                      }
                  });
                  k.at(tid == 0u).cp_async_bulk_wait_group<0>();
              },
              block(128)) == "");
}

// Neighbours in a ring of blocks.
TEST_CASE("ring pass") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(64, "box");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
                  const auto empty = k.make_mbarrier_ring<"empty">(1, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(empty[0]);
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  const auto next = k.and_(k.add(rank, 1u), 3u), before = k.and_(k.add(rank, 3u), 3u);
                  const auto there = k.mapa(box + tid, next);
                  const auto there_full = k.mapa(full[0], next);
                  const auto back = k.mapa(empty[0], before);
                  auto v = k.mov(rank), p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.wait<px::acquire, px::cluster>(empty[0], k.xor_(p, 1u));
                      k.st(there, v);
                      k.mbarrier_arrive<px::release, px::cluster>(there_full);
                      k.wait<px::acquire, px::cluster>(full[0], p);
                      v = k.add(k.ld(box + tid), i);
                      k.mbarrier_arrive<px::release, px::cluster>(back);
                      p = k.xor_(p, 1u);
                  });
                  k.st(o + tid, v);
                  meet(k);
              },
              block(64, 4)) == "");
}

// Leader block feeds the pair, the others only consume.
TEST_CASE("leader feeds") {
    CHECK(ids(
              [](builder& k, map m, words o, reg n) {
                  const auto a = k.smem<tile>(3, "a");
                  const auto full = k.make_mbarrier_ring<"full">(3, px::arrivals<1>);
                  const auto empty = k.make_mbarrier_ring<"empty">(3, px::arrivals<8>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 3; ++i) {
                          k.mbarrier_init(full[i]);
                          k.mbarrier_init(empty[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                           k.for_(n, [&](reg i) {
                               k.mbarrier_arrive_expect_tx(full[slot], a);
                               k.if_(rank == 0u, [&] {
                                    k.wait<px::acquire, px::cluster>(empty[slot], k.xor_(parity, 1u));
                                    k.cp_async_bulk_tensor_multicast(a[slot], m, px::coords(k.shl(i, 6u), 0u),
                                                                     full[slot], px::u16(3));
                                }).else_([&] { k.wait(full[slot], parity); });
                               k.inst<"add.u32">(slot, slot, 1u);
                               const auto w = slot == 3u;
                               k.at(w).inst<"xor.b32">(parity, parity, 1u);
                               k.at(w).inst<"mov.u32">(slot, 0u);
                           });
                       });
                   }).else_([&] {
                      auto slot = k.mov<u32>(0u), parity = k.mov<u32>(0u);
                      const auto free = k.mapa(empty, 0u);
                      k.for_(n, [&](reg) {
                          k.wait(full[slot], parity);
                          k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[slot], 1u, 1u)))));
                          k.bar_warp_sync();
                          k.at((tid & 31u) == 0u).mbarrier_arrive(free[slot]);
                          k.inst<"add.u32">(slot, slot, 1u);
                          const auto w = slot == 3u;
                          k.at(w).inst<"xor.b32">(parity, parity, 1u);
                          k.at(w).inst<"mov.u32">(slot, 0u);
                      });
                  });
                  meet(k);
              },
              block(160, 2)) == "");
}

// Prefill, then steady state.
TEST_CASE("prefill") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(4096, "s");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  const auto fill = [&](const auto& slot) {
                      k.mbarrier_arrive_expect_tx(full[slot], chunk);
                      k.cp_async_bulk(part(s, slot), g, chunk, full[slot]);
                  };
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.single_thread(tid == 0u, [&] { k.for_(k.min(n, 4u), [&](reg i) { fill(i); }); });
                  k.for_(n, [&](reg i) {
                      const auto slot = k.and_(i, 3u);
                      k.wait(full[slot], k.and_(k.shr(i, 2u), 1u));
                      k.st(o + tid, k.ld(s + slot * 1024u + tid));
                      k.bar_sync();
                      k.single_thread(tid == 0u && k.add(i, 4u) < n, [&] { fill(slot); });
                  });
              },
              block(128)) == "");
}

// Warp specialised by shfl of the warp number.
TEST_CASE("by shfl") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(96, "box");
                  const auto tid = k.mov(px::tid.x);
                  const auto warp = k.shfl_sync_idx(k.shr(tid, 5u), 0u, 31u, 0xffffffffu);
                  const auto ready = k.make_mbarrier_ring<"ready">(2, px::arrivals<32>);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) k.mbarrier_init(ready[i]);
                  });
                  k.bar_sync();
                  k.if_(warp == 0u, [&] {
                       k.role(32, [&] {
                           k.st(box + tid, tid);
                           k.mbarrier_arrive(ready[0]);
                       });
                   }).else_([&] {
                      k.if_(warp == 1u, [&] {
                           k.role(32, [&] {
                               k.wait(ready[0], 0u);
                               k.st(box + tid, k.ld(box + (tid - 32u)));
                               k.mbarrier_arrive(ready[1]);
                           });
                       }).else_([&] {
                          k.role(32, [&] {
                              k.wait(ready[1], 0u);
                              k.st(o + tid, k.ld(box + (tid - 32u)));
                          });
                      });
                  });
              },
              block(96)) == "");
}

// One barrier counted by two groups of different size.
TEST_CASE("two groups one barrier") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128 + 4>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.if_(tid < 128u, [&] { k.mbarrier_arrive(bar[0]); }).else_([&] {
                          k.bar_warp_sync();
                          k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(bar[0]); });
                      });
                      k.wait(bar[0], p);
                      p = k.xor_(p, 1u);
                      k.st(o + tid, i);
                  });
              },
              block(256)) == "");
}

// Tokens.
TEST_CASE("tokens") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(bar[0]);
                      k.mbarrier_init(bar[1]);
                  });
                  k.bar_sync();
                  k.for_(n, [&](reg i) {
                      k.st(box + tid, i);
                      const auto t = k.mbarrier_arrive(bar[0]);
                      k.loop([&](px::loop_handle l) { l.break_if(k.mbarrier_try_wait(bar[0], t)); });
                      k.st(o + tid, k.ld(box + k.xor_(tid, 1u)));
                      const auto u = k.mbarrier_arrive(bar[1]);
                      k.loop([&](px::loop_handle l) { l.break_if(k.mbarrier_test_wait(bar[1], u)); });
                  });
              },
              block(128)) == "");
}

// Arrive_drop by threads that are done.
TEST_CASE("drop") {
    CHECK(ids(
              [](builder& k, words o, reg) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.loop([&](px::loop_handle l) {
                      k.if_(p >= tid, [&] {
                          k.mbarrier_arrive_drop(bar[0]);
                          l.break_();
                      });
                      k.mbarrier_arrive(bar[0]);
                      k.wait(bar[0], k.and_(p, 1u));
                      p = k.add(p, 1u);
                  });
                  k.st(o + tid, p);
              },
              block(128)) == "");
}

// A and B on one barrier, C on another; expect split in two.
TEST_CASE("split expect") {
    CHECK(ids(
              [](builder& k, map m, source g, words o) {
                  const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto ab = k.make_mbarrier_ring<"ab">(1, px::arrivals<1>);
                  const auto cc = k.make_mbarrier_ring<"cc">(1, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(ab[0]);
                      k.mbarrier_init(cc[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_expect_tx(ab[0], 8192u);
                      k.cp_async_bulk_tensor(a[0], m, px::coords(0u, 0u), ab[0]);
                      k.cp_async_bulk_tensor(b[0], m, px::coords(64u, 0u), ab[0]);
                      k.mbarrier_arrive_expect_tx(ab[0], 8192u);
                      k.mbarrier_arrive_expect_tx(cc[0], chunk);
                      k.cp_async_bulk(s, g, chunk, cc[0]);
                  });
                  k.single_thread(tid == 64u, [&] { k.mbarrier_arrive(cc[0]); });
                  k.wait(ab[0], 0u);
                  k.wait(cc[0], 0u);
                  k.st(o + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[0], 1u, 1u)))));
              },
              block(128)) == "");
}

// A signal every two chunks.
TEST_CASE("every two") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(1024, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(done[0]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(0u);
                           k.for_(n, [&](reg) {
                               k.for_(4u, [&](reg) {
                                   k.mbarrier_arrive_expect_tx(full[0], chunk);
                                   k.cp_async_bulk(s, g, chunk, full[0]);
                                   k.wait(full[0], p);
                                   p = k.xor_(p, 1u);
                                   k.mbarrier_arrive(done[0]);
                               });
                           });
                       });
                   }).else_([&] {
                      k.for_(n, [&](reg) {
                          for (u32 j = 0; j < 2; ++j) {
                              k.wait(done[0], j);
                              k.st(o + tid, 1.0f);
                          }
                      });
                  });
              },
              block(64)) == "");
}

// Expect for a whole, copies of halves that wait for their source.
TEST_CASE("halves") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n, reg steps) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  const auto half = k.make_mbarrier_ring<"half">(2, px::arrivals<64>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(full[0]);
                      k.mbarrier_init(half[0]);
                      k.mbarrier_init(half[1]);
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           auto p = k.mov<u32>(1u);
                           k.for_(n, [&](reg) {
                               k.for_(steps, [&](reg) {
                                   k.mbarrier_arrive_expect_tx(full[0], 2 * chunk);
                                   k.for_(2u, [&](reg h) {
                                       k.wait(half[h], p);
                                       k.cp_async_bulk(part(s, h), g, chunk, full[0]);
                                   });
                                   p = k.xor_(p, 1u);
                               });
                           });
                       });
                   }).else_([&] {
                      auto p = k.mov<u32>(0u);
                      k.for_(n, [&](reg) {
                          k.for_(steps, [&](reg) {
                              k.wait(full[0], p);
                              p = k.xor_(p, 1u);
                              k.st(o + tid, k.ld(s + (tid - 32u)));
                              k.mbarrier_arrive(half[0]);
                              k.st(o + tid, k.ld(s + 1024 + (tid - 32u)));
                              k.mbarrier_arrive(half[1]);
                          });
                      });
                  });
              },
              block(96)) == "");
}

TEST_CASE("flag warps") {
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

// States made anew for the second loop.
TEST_CASE("two loops") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto pipe = k.make_pipeline<"pipe">(2, px::arrivals<1>, px::arrivals<32>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto rounds = k.mul_lo(n, 4u);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(tid == 0u, [&] {
                           for (int l = 0; l < 2; ++l) {
                               const auto at = k.producer_state(pipe);
                               k.for_(rounds, [&](reg) {
                                   k.wait_empty(pipe, at);
                                   k.mbarrier_arrive_expect_tx(pipe.full(at), chunk);
                                   k.cp_async_bulk(part(s, at.slot()), g, chunk, pipe.full(at));
                                   k.advance(at);
                               });
                           }
                       });
                   }).else_([&] {
                      for (int l = 0; l < 2; ++l) {
                          const auto at = k.consumer_state(pipe);
                          k.for_(rounds, [&](reg) {
                              k.wait_full(pipe, at);
                              k.st(o + tid, k.ld(s + at.slot() * 1024u + (tid - 32u)));
                              k.mbarrier_arrive(pipe.empty(at));
                              k.advance(at);
                          });
                      }
                  });
              },
              block(64)) == "");
}

// A producer that waits for all slots at its end.
TEST_CASE("producer tail") {
    CHECK(ids(
              [](builder& k, px::tma_map<px::tile<bf16, 32, 64>> m, words o, reg n) {
                  const auto a = k.smem<tile>(3, "a");
                  const auto pipe = k.make_pipeline<"pipe">(3, px::arrivals<1>, px::arrivals<2>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u, [&] { k.init(pipe); });
                  k.fence_mbarrier_init();
                  meet(k);
                  k.if_(tid < 32u, [&] {
                       k.single_thread(k.elect_sync(), [&] {
                           const auto at = k.producer_state(pipe);
                           k.for_(n, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                               k.cp_async_bulk_tensor_multicast(a[at.slot()].part<px::tile<bf16, 32, 64>>(rank), m,
                                                                px::coords(0u, 0u), pipe.full(at), px::u16(3));
                               k.advance(at);
                           });
                           k.for_(3u, [&](reg) {
                               k.wait_empty(pipe, at);
                               k.advance(at);
                           });
                       });
                   }).else_([&] {
                      const auto at = k.consumer_state(pipe);
                      const auto t = k.and_(tid, 31u);
                      const auto free = k.mapa(pipe.empty(), t);
                      k.for_(n, [&](reg) {
                          k.wait_full(pipe, at);
                          k.st(o + tid, at.slot());
                          k.bar_warp_sync();
                          k.at(t < 2u).mbarrier_arrive(free[at.slot()]);
                          k.advance(at);
                      });
                  });
              },
              block(64, 2)) == "");
}

// Wgmma: three groups under way, the oldest read.
TEST_CASE("wgmma three") {
    CHECK(ids(
              [](builder& k, map m, floats o, reg) {
                  const auto a = k.smem<tile>(4, "a");
                  const auto full = k.make_mbarrier_ring<"full">(4, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
                      k.fence_mbarrier_init();
                      for (int i = 0; i < 4; ++i) {
                          k.mbarrier_arrive_expect_tx(full[i], a);
                          k.cp_async_bulk_tensor(a[i], m, px::coords(64u * u32(i), 0u), full[i]);
                      }
                  });
                  k.bar_sync();
                  const auto x = k.wgmma.make_accumulator<f32, 64>(), y = k.wgmma.make_accumulator<f32, 64>(),
                             z = k.wgmma.make_accumulator<f32, 64>();
                  const auto d = k.wgmma.descriptor(a);
                  for (int i = 0; i < 4; ++i) k.wait(full[i], 0u);
                  k.wgmma.fence();
                  k.wgmma.mma_async(x, d[0].k_slice(0), d[1].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.mma_async(y, d[1].k_slice(0), d[2].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.mma_async(z, d[2].k_slice(0), d[3].k_slice(0), false);
                  k.wgmma.commit_group();
                  k.wgmma.wait_group<2>();
                  k.st(o + tid, x[0]);
                  k.wgmma.wait_group<1>();
                  k.st(o + tid, y[0]);
                  k.wgmma.fence();
                  k.wgmma.mma_async(x, d[0].k_slice(1), d[1].k_slice(1), true);
                  k.wgmma.commit_group();
                  k.wgmma.wait_group<1>();
                  k.st(o + tid, z[0]);
                  k.wgmma.wait_group<0>();
                  k.st(o + tid, x[1]);
              },
              block(128)) == "");
}

// Wgmma in a loop, the accumulator is read in some iterations.
TEST_CASE("wgmma sometimes") {
    CHECK(ids(
              [](builder& k, map m, floats o, reg n) {
                  const auto a = k.smem<tile>(2, "a");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 2; ++i) {
                          k.mbarrier_init(full[i]);
                      }
                  });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  const auto x = k.wgmma.make_accumulator<f32, 64>();
                  const auto d = k.wgmma.descriptor(a);
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg i) {
                      k.single_thread(tid == 0u, [&] {
                          k.mbarrier_arrive_expect_tx(full[0], a);
                          k.cp_async_bulk_tensor(a[0], m, px::coords(k.shl(i, 6u), 0u), full[0]);
                      });
                      k.wait(full[0], p);
                      p = k.xor_(p, 1u);
                      k.wgmma.fence();
                      for (u32 s = 0; s < 4; ++s) k.wgmma.mma_async(x, d[0].k_slice(s), d[0].k_slice(s), i != 0u);
                      k.wgmma.commit_group();
                      const auto last = k.and_(i, 7u) == 7u;
                      k.wgmma.wait_group<0>();
                      k.if_(last, [&] {
                          for (int j = 0; j < 4; ++j) {
                              k.st(o + tid, x[j]);
                              k.inst<"mov.f32">(x[j], 0.0f);
                          }
                      });
                      k.bar_sync();
                  });
              },
              block(128)) == "");
}

// An exit of whole warps between arrive and wait of the cluster.
TEST_CASE("cluster exit") {
    CHECK(ids(
              [](builder& k, words o) {
                  const auto box = k.smem_array<u32>(128, "box");
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.st(box + tid, tid);
                  meet(k);
                  const auto x = k.ld(k.mapa(box + tid, k.xor_(rank, 1u)));
                  k.barrier_cluster_arrive();
                  k.st(o + tid, x);
                  k.barrier_cluster_wait();
                  k.if_(tid >= 32u, [&] { k.exit(); });
                  k.st(o + tid, k.ld(box));
              },
              block(128, 2)) == "");
}

// Cluster arrive and wait under the same condition.
TEST_CASE("cluster if") {
    CHECK(ids(
              [](builder& k, words o, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  const auto p = n > 3u;
                  k.if_(p, [&] { k.barrier_cluster_arrive(); });
                  k.st(o + tid, 1u);
                  k.if_(p, [&] { k.barrier_cluster_wait(); });
                  k.barrier_cluster_arrive();
                  k.for_(n, [&](reg i) {
                      k.barrier_cluster_wait();
                      k.st(o + tid, i);
                      k.barrier_cluster_arrive();
                  });
                  k.barrier_cluster_wait();
              },
              block(64, 2)) == "");
}

// Copies in turns between two threads of different warps.
TEST_CASE("turns") {
    CHECK(ids(
              [](builder& k, source g, floats o, reg n) {
                  const auto s = k.smem_array<f32, 16>(2048, "s");
                  const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
                  k.if_(warp == 0u, [&] {
                      k.single_thread(k.elect_sync(), [&] {
                          k.mbarrier_init(full[0]);
                          k.mbarrier_init(full[1]);
                          k.fence_mbarrier_init();
                      });
                  });
                  k.bar_sync();
                  auto p = k.mov<u32>(0u);
                  k.for_(n, [&](reg) {
                      k.single_thread(k.elect_sync(), [&] {
                          k.mbarrier_arrive_expect_tx(full[warp], chunk);
                          k.cp_async_bulk(part(s, warp), g, chunk, full[warp]);
                      });
                      k.wait(full[0], p);
                      k.wait(full[1], p);
                      p = k.xor_(p, 1u);
                      k.st(o + tid, k.ld(s + tid) + k.ld(s + 1024 + tid));
                      k.bar_sync();
                  });
              },
              block(64)) == "");
}
