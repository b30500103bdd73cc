// SPDX-License-Identifier: Apache-2.0
// Right kernels written in their own ways: conditions that go together, loops that run zero times, threads that leave
// early, one thread of each warp. No rule may refuse them. Where a wrong kernel stands close, it is checked as well.
#include "findings.hpp"

using namespace ptxdsl_test;

namespace {

using reg = px::reg<u32>;
using source = px::global_ptr<const f32, 16>;
using map = px::tma_map<px::tile<bf16, 64, 64>>;
using tile = px::tile<bf16, 64, 64>;
constexpr px::attributes block(u32 threads, u32 cluster = 0) { return {.reqntid = {threads}, .cluster = {cluster}}; }
constexpr u32 bytes = 4096;

/// Reserves a barrier that thread 0 initialises, and 16 KiB that copies fill.
template <u32 Count>
struct with_barrier {
    px::mbarrier_ring<px::ring<"bar">> bar;
    px::ptr<px::space::shared, f32, 16> s;
    reg tid;
    explicit with_barrier(builder& k)
        : bar(k.make_mbarrier_ring<"bar">(1, px::arrivals<Count>)),
          s(k.smem_array<f32, 16>(4096)),
          tid(k.mov(px::tid.x)) {
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
        k.fence_mbarrier_init();
        k.bar_sync();
    }
    void expect_and_copy(builder& k, const source& g) {
        k.mbarrier_arrive_expect_tx(bar[0], bytes);
        k.cp_async_bulk(s, g, bytes, bar[0]);
    }
    /// Part `i` of the 16 KiB.
    void copy(builder& k, const source& g, const reg& i) {
        k.cp_async_bulk((s + i * 1024u).assume_aligned<16>(), (g + i * 1024u).assume_aligned<16>(), bytes, bar[0]);
    }
};

// ---- who runs it
// ------------------------------------------------------------------------------------------------------

TEST_CASE("F07: the other threads have left") {
    const auto copy_alone = [](const auto& leave) {
        return [leave](builder& k, source g) {
            with_barrier<1> b(k);
            leave(k, b.tid);
            b.expect_and_copy(k, g);
            k.wait(b.bar[0], 0);
        };
    };
    CHECK(ids(copy_alone([](builder& k, const reg& tid) { k.if_(tid != 0u, [&] { k.ret(); }); }), block(128)) == "");
    CHECK(ids(copy_alone([](builder& k, const reg& tid) { k.at(tid != 0u).exit(); }), block(128)) == "");
    CHECK(ids(copy_alone([](builder& k, const reg& tid) {
                  k.if_(tid == 0u, [&] { k.nanosleep(1u); }).else_([&] { k.ret(); });
              }),
              block(128)) == "");
    CHECK(ids(copy_alone([](builder& k, const reg& tid) { k.if_(tid != 0u, [&] { k.nanosleep(1u); }); }), block(128)) ==
          "F07 E01");
}

TEST_CASE("F07, E01: a loop that some threads leave") {
    CHECK(ids(
              [](builder& k, source g, reg n) {
                  with_barrier<1> b(k);
                  k.for_(k.selp(n, k.mov<u32>(0), b.tid == 0u), [&](reg i) {
                      b.expect_and_copy(k, g);
                      k.wait(b.bar[0], k.and_(i, 1u));  // parity 0 in every round would not wait in the second
                  });
              },
              block(128)) == "");
    const auto half_arrives = [](const auto& leave) {
        return [leave](builder& k) {
            with_barrier<64> b(k);
            k.loop([&](px::loop_handle l) {
                leave(k, l, b.tid);
                k.mbarrier_arrive(b.bar[0]);
                k.wait(b.bar[0], 0);
                l.break_();
            });
        };
    };
    CHECK(ids(half_arrives([](builder&, px::loop_handle l, const reg& tid) { l.break_if(tid >= 64u); }), block(128)) ==
          "");
    CHECK(
        ids(half_arrives([](builder& k, px::loop_handle l, const reg& tid) { k.if_(tid >= 64u, [&] { l.break_(); }); }),
            block(128)) == "");
    CHECK(ids(half_arrives([](builder&, px::loop_handle, const reg&) {}), block(128)) == "E01");
}

TEST_CASE("H05: a role that has left does not count at barrier 0") {
    const auto kernel = [](bool leaves) {
        return [leaves](builder& k, px::global_ptr<f32> out) {
            const auto tid = k.mov(px::tid.x);
            k.if_(tid < 32u, [&] {
                 k.st(out, 0.0f);
                 if (leaves) k.ret();
             }).else_([&] { k.bar_sync(); });
            k.bar_sync();
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK(ids(kernel(false), block(128)) == "H05");
}

TEST_CASE("E01: a mask may have bits above the lane") {
    const auto kernel = [](u32 mask) {
        return [mask](builder& k) {
            with_barrier<64> b(k);
            const auto part = k.and_(k.mov(px::laneid), mask);
            k.at(part == 0u).mbarrier_arrive(b.bar[0]);
            k.wait(b.bar[0], 0);
        };
    };
    CHECK(ids(kernel(48), block(128)) == "");     // lane & 16
    CHECK(ids(kernel(63), block(128)) == "E01");  // the whole lane: 4 threads
}

// ---- bytes and arrivals
// -----------------------------------------------------------------------------------------------

TEST_CASE("E01: a barrier that counts the steps of a loop") {
    const auto kernel = [](bool waits_inside) {
        return [waits_inside](builder& k) {
            with_barrier<512> b(k);
            const auto steps = k.make_mbarrier_ring<"steps">(4, px::arrivals<128>);
            k.single_thread(b.tid == 0u, [&] {
                for (int i = 0; i < 4; ++i) k.mbarrier_init(steps[i]);
            });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.for_(4u, [&](reg i) {
                k.mbarrier_arrive(steps[i]);
                k.wait(steps[i], 0);
                k.mbarrier_arrive(b.bar[0]);
                if (waits_inside) k.wait(b.bar[0], 0);
            });
            k.wait(b.bar[0], 0);
        };
    };
    CHECK(ids(kernel(false), block(128)) == "");
    CHECK(ids(kernel(true), block(128)) == "E01");
}

TEST_CASE("E01: a wait in some iterations only") {
    const auto kernel = [](bool always) {
        return [always](builder& k, reg n) {
            with_barrier<512> b(k);
            k.for_(n, [&](const reg& i) {
                const auto parity = k.bfe(i, 2u, 1u);
                k.mbarrier_arrive(b.bar[0]);
                if (always)
                    k.wait(b.bar[0], parity);
                else
                    k.if_((i & 3u) == 3u, [&] { k.wait(b.bar[0], parity); });
            });
        };
    };
    CHECK(ids(kernel(false), block(128)) == "");
    CHECK(ids(kernel(true), block(128)) == "E01");
}

TEST_CASE("E04: bytes expected once for copies of a loop that waits for something else") {
    const auto kernel = [](u32 expected_by_one, bool stages) {
        return [=](builder& k, source g) {
            const auto s = k.smem_array<f32, 16>(4096);
            const auto full = k.make_mbarrier_ring<"full">(stages ? 4 : 1, px::arrivals<1>);
            const auto ready = k.make_mbarrier_ring<"ready">(4, px::arrivals<96>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                for (int i = 0; i < 4; ++i) k.mbarrier_init(ready[i]);
                for (int i = 0; i < (stages ? 4 : 1); ++i) {
                    k.mbarrier_init(full[i]);
                    k.mbarrier_arrive_expect_tx(full[i], expected_by_one);
                }
            });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.if_(tid < 32u, [&] {
                 k.single_thread(k.elect_sync(), [&] {
                     k.for_(4u, [&](reg i) {
                         k.wait(ready[i], 0);
                         k.cp_async_bulk((s + i * 1024u).assume_aligned<16>(), (g + i * 1024u).assume_aligned<16>(),
                                         bytes, stages ? full[i] : full[0]);
                     });
                 });
             }).else_([&] { k.for_(4u, [&](reg i) { k.mbarrier_arrive(ready[i]); }); });
            k.wait(full[0], 0);
        };
    };
    CHECK(ids(kernel(4 * bytes, false), block(128)) == "");
    CHECK(ids(kernel(bytes, true), block(128)) == "");
}

TEST_CASE("E04: one thread of each warp copies a part") {
    const auto kernel = [](u32 expected) {
        return [expected](builder& k, source g) {
            with_barrier<1> b(k);
            k.single_thread(b.tid == 0u, [&] { k.mbarrier_arrive_expect_tx(b.bar[0], expected); });
            k.single_thread(k.elect_sync(), [&] { b.copy(k, g, k.shr(b.tid, 5u)); });
            k.wait(b.bar[0], 0);
        };
    };
    CHECK(ids(kernel(4 * bytes), block(128)) == "");
    CHECK(ids(kernel(5 * bytes), block(128)) == "E04");
    CHECK(ids(kernel(bytes / 2), block(128)) == "E04");
}

TEST_CASE("E12: two leaders of which each block has one") {
    CHECK(ids(
              [](builder& k) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
                  const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
                  k.single_thread(tid == 0u && rank == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.single_thread(tid == 32u && rank != 0u, [&] { k.mbarrier_init(bar[0]); });
              },
              block(128, 2)) == "");
}

// ---- loops that may run zero times, conditions that go together
// ------------------------------------------------------

TEST_CASE("D09, D10: no step of the loop, no wgmma") {
    const auto product = [](const auto& end) {
        return [end](builder& k, px::global_ptr<f32> out, reg n) {
            const auto a = k.smem<tile>(1, "a");
            const auto acc = k.wgmma.make_accumulator<f32, 64>();
            const auto d = k.wgmma.descriptor(a);
            k.for_(n, [&](reg i) {
                k.wgmma.fence();
                k.wgmma.mma_async(acc, d.k_slice(0), d.k_slice(0), i != 0u);
                k.wgmma.commit_group();
            });
            end(k, acc, n);
            k.st(out, acc[0]);
        };
    };
    CHECK(ids(product([](builder& k, auto&, const reg& n) {
                  k.if_(n == 0u, [&] { k.ret(); });
                  k.wgmma.wait_group<0>();
              }),
              block(128)) == "");
    CHECK(ids(product([](builder& k, auto& acc, const reg& n) {
                  k.if_(n == 0u, [&] { k.inst<"mov.f32">(acc[0], 0.0f); }).else_([&] { k.wgmma.wait_group<0>(); });
              }),
              block(128)) == "");
    CHECK(ids(product([](builder&, auto&, const reg&) {}), block(128)) == "D09");
    CHECK(ids(product([](builder& k, auto& acc, const reg&) { k.inst<"mov.f32">(acc[0], 0.0f); }), block(128)) ==
          "D09");
}

TEST_CASE("F05: writes and fence are in loops of the same count") {
    const auto kernel = [](bool writes_in_loop) {
        return [writes_in_loop](builder& k, px::tma_map_out<tile> out, reg n) {
            const auto a = k.smem<tile>(1, "a");
            const auto tid = k.mov(px::tid.x);
            const auto write = [&](const auto& i) { k.st(k.tile_element(a[0], tid, i), k.mov<bf16>(1.0f)); };
            if (writes_in_loop)
                k.for_(n, [&](reg i) { write(i); });
            else
                write(tid);
            k.for_(n, [&](reg) { k.fence_proxy_async_shared_cta(); });
            k.bar_sync();
            k.single_thread(tid == 0u, [&] {
                k.cp_async_bulk_tensor(out, px::coords(0, 0), a[0]);
                k.cp_async_bulk_commit_group();
                k.cp_async_bulk_wait_group<0>();
            });
        };
    };
    CHECK(ids(kernel(true), block(64)) == "");
    CHECK(ids(kernel(false), block(64)) == "F05");
}

// ---- pipelines
// --------------------------------------------------------------------------------------------------------

TEST_CASE("F13: every slot is filled once") {
    const auto kernel = [](int fills) {
        return [fills](builder& k, source g) {
            const auto s = k.smem_array<f32, 16>(4096);
            const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<1>, px::arrivals<96>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.if_(tid < 32u, [&] {
                 k.single_thread(k.elect_sync(), [&] {
                     for (int i = 0; i < fills; ++i) {
                         const auto full = pipe.full()[i % 4];
                         k.mbarrier_arrive_expect_tx(full, bytes);
                         k.cp_async_bulk((s + 1024 * (i % 4)).assume_aligned<16>(), g, bytes, full);
                     }
                 });
             }).else_([&] {
                const auto st = k.consumer_state(pipe);
                k.for_(static_cast<u32>(fills), [&](reg) {
                    k.wait_full(pipe, st);
                    k.mbarrier_arrive(pipe.empty(st));
                    k.advance(st);
                });
            });
        };
    };
    CHECK(ids(kernel(4), block(128)) == "");
    CHECK(ids(kernel(8), block(128)) == "F13");
}

/// A ring of tiles: thread 0 fills, the threads from 32 on read and free. Each gets `(k, pipe, fill or read, n)`.
template <u32 Stages, u32 Releases, class Producer, class Consumer>
auto ring(const Producer& producer, const Consumer& consumer) {
    return [producer, consumer](builder& k, map a_map, px::global_ptr<bf16> out, reg n) {
        const auto a = k.smem<tile>(Stages, "a");
        const auto pipe = k.make_pipeline<"pipe">(Stages, px::arrivals<1>, px::arrivals<Releases>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        k.bar_sync();
        const auto fill = [&](const auto& slot, const reg& i) {
            const auto full = pipe.full()[slot];
            k.mbarrier_arrive_expect_tx(full, a);
            k.cp_async_bulk_tensor(a[slot], a_map, px::coords(i, 0u), full);
        };
        const auto read = [&](const auto& slot) {
            k.st(out + tid, k.ld(k.tile_element(a[slot], 0u, k.and_(tid, 63u))));
        };
        k.if_(tid < 32u, [&] { k.single_thread(tid == 0u, [&] { producer(k, pipe, fill, n); }); }).else_([&] {
            consumer(k, pipe, read, n, tid);
        });
    };
}
void next(builder& k, const reg& slot, const reg& parity, u32 stages) {
    k.inst<"add.u32">(slot, slot, 1u);
    const auto wraps = slot == stages;
    k.at(wraps).inst<"mov.u32">(slot, 0u);
    k.at(wraps).inst<"xor.b32">(parity, parity, 1u);
}
const auto consume = [](builder& k, const auto& pipe, const auto& read, const reg& n, const reg&) {
    const auto st = k.consumer_state(pipe);
    k.for_(n, [&](reg) {
        k.wait_full(pipe, st);
        read(st.slot());
        k.mbarrier_arrive(pipe.empty(st));
        k.advance(st);
    });
};

TEST_CASE("E01, E08: a ring of one slot, named by a literal") {
    const auto kernel = [](bool toggles) {
        return ring<1, 32>(
            [](builder& k, const auto& pipe, const auto& fill, const reg& n) {
                auto parity = k.mov<u32>(1);
                k.for_(n, [&](reg i) {
                    k.wait(pipe.empty()[0], parity);
                    fill(0, i);
                    parity = k.xor_(parity, 1u);
                });
            },
            [toggles](builder& k, const auto& pipe, const auto& read, const reg& n, const reg&) {
                auto parity = k.mov<u32>(0);
                k.for_(n, [&](reg) {
                    k.wait(pipe.full()[0], parity);
                    read(0);
                    k.mbarrier_arrive(pipe.empty()[0]);
                    if (toggles) parity = k.xor_(parity, 1u);
                });
            });
    };
    CHECK(ids(kernel(true), block(64)) == "");
    CHECK(ids(kernel(false), block(64)) == "E08 E08");
}

TEST_CASE("E01: each group of threads has a slot of its own") {
    const auto kernel = [](u32 groups) {
        return ring<4, 32>(
            [](builder& k, const auto& pipe, const auto& fill, const reg& n) {
                auto parity = k.mov<u32>(1);
                k.for_(n, [&](reg i) {
                    for (int s = 0; s < 4; ++s) {
                        k.wait(pipe.empty()[s], parity);
                        fill(s, i);
                    }
                    parity = k.xor_(parity, 1u);
                });
            },
            [groups](builder& k, const auto& pipe, const auto& read, const reg& n, const reg& tid) {
                const auto mine = groups == 1 ? k.and_(n, 3u) : k.and_(k.shr(tid, 5u), 3u);
                auto parity = k.mov<u32>(0);
                k.for_(n, [&](reg) {
                    k.wait(pipe.full()[mine], parity);
                    read(mine);
                    k.mbarrier_arrive(pipe.empty()[mine]);
                    parity = k.xor_(parity, 1u);
                });
            });
    };
    CHECK(ids(kernel(4), block(160)) == "");
    CHECK(ids(kernel(1), block(160)) == "E01");  // 128 threads arrive at one slot
}

TEST_CASE("E15: the first slots are known to be free") {
    const auto parity_0 = [](u32 filled_before) {
        return ring<4, 96>(
            [filled_before](builder& k, const auto& pipe, const auto& fill, const reg& n) {
                for (u32 i = 0; i < filled_before; ++i) fill(static_cast<int>(i), k.mov<u32>(i));
                auto slot = k.mov<u32>(0), parity = k.mov<u32>(0);
                k.for_(filled_before, n, 1u, [&](reg i) {
                    k.wait(pipe.empty()[slot], parity);
                    fill(slot, i);
                    next(k, slot, parity, 4);
                });
            },
            consume);
    };
    CHECK(ids(parity_0(4), block(128)) == "");
    CHECK(ids(parity_0(0), block(128)) == "E15");
    CHECK(ids(ring<4, 96>(
                  [](builder& k, const auto& pipe, const auto& fill, const reg& n) {
                      auto slot = k.mov<u32>(0), parity = k.mov<u32>(0);
                      k.for_(n, [&](reg i) {
                          k.if_(i >= 4u, [&] { k.wait(pipe.empty()[slot], parity); });
                          fill(slot, i);
                          slot = slot + 1u;
                          k.if_(slot == 4u, [&] {
                              slot = k.mov<u32>(0);
                              k.if_(i >= 4u, [&] { parity = k.xor_(parity, 1u); });
                          });
                      });
                  },
                  consume),
              block(128)) == "");
}

TEST_CASE("E15: the wait that stands first is not the first one") {
    const auto turns = [](const auto& body) {
        return [body](builder& k, map a_map, reg n) {
            const auto a = k.smem<tile>(1, "a");
            const auto pipe = k.make_pipeline<"pipe">(1, px::arrivals<1>, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.bar_sync();
            const auto fill = [&] {
                k.mbarrier_arrive_expect_tx(pipe.full()[0], a);
                k.cp_async_bulk_tensor(a[0], a_map, px::coords(0u, 0u), pipe.full()[0]);
            };
            body(k, pipe, fill, tid, n);
        };
    };
    CHECK(ids(turns([](builder& k, const auto& pipe, const auto& fill, const reg& tid, const reg& n) {
                  k.for_(n, [&](reg i) {  // the odd rounds stand first
                      const auto odd = k.and_(i, 1u) != 0u;
                      k.single_thread(tid == 0u, [&] {
                          k.if_(odd, [&] { k.wait(pipe.empty()[0], 0); }).else_([&] { k.wait(pipe.empty()[0], 1); });
                          fill();
                      });
                      k.if_(odd, [&] { k.wait(pipe.full()[0], 1); }).else_([&] { k.wait(pipe.full()[0], 0); });
                      k.mbarrier_arrive(pipe.empty()[0]);
                  });
              }),
              block(128)) == "");
    const auto round_before = [&](bool skips_the_first) {
        return turns([skips_the_first](builder& k, const auto& pipe, const auto& fill, const reg& tid, const reg& n) {
            auto parity = k.mov<u32>(1);
            k.for_(n, [&](reg i) {
                const auto take = [&] {
                    k.wait(pipe.full()[0], parity);
                    k.mbarrier_arrive(pipe.empty()[0]);
                    k.wait(pipe.empty()[0], parity);
                };
                if (skips_the_first)
                    k.if_(i != 0u, take);
                else
                    take();
                k.single_thread(tid == 0u, fill);
                parity = k.xor_(parity, 1u);
            });
        });
    };
    CHECK(ids(round_before(true), block(128)) == "");
    CHECK(ids(round_before(false), block(128)) == "E15");
    const auto passes = [](u32 parity) {  // roles meet between two passes and stand twice in the text
        return [parity](builder& k, map a_map) {
            const auto a = k.smem<tile>(1, "a");
            const auto pipe = k.make_pipeline<"pipe">(1, px::arrivals<1>, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            for (u32 pass = 0; pass < 3; ++pass) {
                k.fence_mbarrier_init();
                k.bar_sync();
                k.if_(tid < 32u, [&] {
                     k.single_thread(tid == 0u, [&] {
                         k.wait(pipe.empty()[0], (pass + 1) % 2);
                         k.mbarrier_arrive_expect_tx(pipe.full()[0], a);
                         k.cp_async_bulk_tensor(a[0], a_map, px::coords(0u, 0u), pipe.full()[0]);
                     });
                 }).else_([&] {
                    k.wait(pipe.full()[0], (pass + parity) % 2);
                    k.mbarrier_arrive(pipe.empty()[0]);
                });
            }
        };
    };
    CHECK(ids(passes(0), block(160)) == "");
    CHECK(ids(passes(1), block(160)) == "E15");
}

TEST_CASE("E08, F13: barriers that begin anew") {
    const auto kernel = [](bool anew) {
        return [anew](builder& k, map a_map, reg n) {
            const auto a = k.smem<tile>(1, "a");
            const auto pipe = k.make_pipeline<"pipe">(1, px::arrivals<1>, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            const auto init = [&] {
                k.single_thread(tid == 0u, [&] { k.init(pipe); });
                k.fence_mbarrier_init();
                k.bar_sync();
            };
            if (!anew) init();
            k.for_(n, [&](reg i) {
                if (anew) init();
                k.single_thread(tid == 0u, [&] {
                    k.mbarrier_arrive_expect_tx(pipe.full()[0], a);
                    k.cp_async_bulk_tensor(a[0], a_map, px::coords(i, 0u), pipe.full()[0]);
                });
                k.wait(pipe.full()[0], 0);
                k.mbarrier_arrive(pipe.empty()[0]);
                k.bar_sync();
                if (!anew) return;
                k.single_thread(tid == 0u, [&] {
                    k.mbarrier_inval(pipe.full()[0]);
                    k.mbarrier_inval(pipe.empty()[0]);
                });
                k.bar_sync();
            });
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK_THAT(ids(kernel(false), block(128)), Catch::Matchers::StartsWith("E08 F13"));
}

TEST_CASE("H02: others may take part through a register") {
    const auto kernel = [](const auto& wait) {
        return [wait](builder& k, reg id, reg threads) {
            k.if_(k.mov(px::tid.x) < 128u, [&] { wait(k, id, threads); }).else_([&] { k.bar_arrive<1, 256>(); });
        };
    };
    CHECK(ids(kernel([](builder& k, const reg& id, const reg&) { k.bar_sync(id, 256u); }), block(256)) == "");
    CHECK(ids(kernel([](builder& k, const reg&, const reg& threads) { k.bar_sync(1u, threads); }), block(256)) == "");
    CHECK(ids(kernel([](builder& k, const reg& id, const reg&) { k.bar_sync(id, 128u); }), block(256)) == "H02");
}

TEST_CASE("E13: fewer slots in the second pass, on both sides") {
    const auto kernel = [](u32 filled, u32 read_) {
        return ring<4, 96>(
            [filled](builder& k, const auto& pipe, const auto& fill, const reg& n) {
                for (const u32 stages : {4u, filled}) {
                    auto slot = k.mov<u32>(0), parity = k.mov<u32>(1);
                    k.for_(k.shl(n, 3u), [&](reg i) {
                        k.wait(pipe.empty()[slot], parity);
                        fill(slot, i);
                        next(k, slot, parity, stages);
                    });
                }
            },
            [read_](builder& k, const auto& pipe, const auto& read, const reg& n, const reg&) {
                for (const u32 stages : {4u, read_}) {
                    auto slot = k.mov<u32>(0), parity = k.mov<u32>(0);
                    k.for_(k.shl(n, 3u), [&](reg) {
                        k.wait(pipe.full()[slot], parity);
                        read(slot);
                        k.mbarrier_arrive(pipe.empty()[slot]);
                        next(k, slot, parity, stages);
                    });
                }
            });
    };
    CHECK(ids(kernel(2, 2), block(128)) == "");
    CHECK(ids(kernel(2, 3), block(128)) == "E13");
    CHECK(ids(kernel(2, 4), block(128)) == "E13");
}

TEST_CASE("E01: several slots are freed at once, or a number of arrivals is not known") {
    const auto kernel = [](u32 together, bool frees_each) {
        return [together, frees_each](builder& k, map a_map, reg n) {
            const auto a = k.smem<tile>(8, "a");
            const auto full = k.make_mbarrier_ring<"full">(8, px::arrivals<1>);
            const auto empty = k.make_mbarrier_ring<"empty">(8 / together, px::arrivals<4>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                for (int i = 0; i < 8; ++i) k.mbarrier_init(full[i]);
                for (u32 i = 0; i < 8 / together; ++i) k.mbarrier_init(empty[static_cast<int>(i)]);
            });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.if_(tid < 32u, [&] {
                 k.single_thread(tid == 0u, [&] {
                     auto group = k.mov<u32>(0), parity = k.mov<u32>(1);
                     k.for_(n, [&](reg i) {
                         k.wait(empty[group], parity);
                         for (u32 j = 0; j < together; ++j) {
                             const auto slot = k.mad_lo(group, together, j);
                             k.mbarrier_arrive_expect_tx(full[slot], a);
                             k.cp_async_bulk_tensor(a[slot], a_map, px::coords(i, 0u), full[slot]);
                         }
                         next(k, group, parity, 8 / together);
                     });
                 });
             }).else_([&] {
                auto slot = k.mov<u32>(0), parity = k.mov<u32>(0);
                k.for_(k.mul_lo(n, together), [&](reg) {
                    k.wait(full[slot], parity);
                    k.bar_warp_sync();
                    k.single_thread(tid == 32u, [&] {
                        if (frees_each)
                            k.mbarrier_arrive(empty[slot]);
                        else
                            k.mbarrier_arrive(empty[k.shr(slot, 2u)]);
                    });
                    next(k, slot, parity, 8);
                });
            });
        };
    };
    CHECK(ids(kernel(4, false), block(64)) == "");
    CHECK(ids(kernel(1, true), block(64)) == "E01");  // each slot for itself gets one
    CHECK(ids(
              [](builder& k, reg many) {
                  with_barrier<128> b(k);
                  k.single_thread(b.tid == 0u, [&] { k.mbarrier_arrive(b.bar[0], many); });
                  k.wait(b.bar[0], 0);
              },
              block(128)) == "");
}

/// Consumers of a ring of tiles: `loop` has the loop over `n` slots, a producer fills them.
template <class Loop>
auto consumers(const Loop& loop) {
    return [loop](builder& k, map a_map, reg n) {
        const auto a = k.smem<tile>(4, "a");
        const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<1>, px::arrivals<1>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        k.bar_sync();
        k.if_(tid < 128u, [&] {
             const auto acc = k.wgmma.make_accumulator<f32, 64>();
             const auto d = k.wgmma.descriptor(a);
             const auto multiply = [&](const auto& slot, auto&& accumulate) {
                 k.wgmma.fence();
                 k.wgmma.mma_async(acc, d[slot].k_slice(0), d[slot].k_slice(0), accumulate);
                 k.wgmma.commit_group();
             };
             loop(k, pipe, multiply, tid, n);
         }).else_([&] {
            k.single_thread(k.elect_sync(), [&] {
                const auto st = k.producer_state(pipe);
                k.for_(n, [&](reg i) {
                    k.wait_empty(pipe, st);
                    k.mbarrier_arrive_expect_tx(pipe.full(st), a);
                    k.cp_async_bulk_tensor(a[st.slot()], a_map, px::coords(i, 0u), pipe.full(st));
                    k.advance(st);
                });
            });
        });
    };
}

TEST_CASE("D14: the slot before is released from the second step on") {
    const auto kernel = [](const auto& release) {
        return consumers([release](builder& k, auto& pipe, auto& multiply, const reg& tid, const reg& n) {
            const auto rd = k.consumer_state(pipe), freed = k.consumer_state(pipe);
            k.for_(n, [&](reg i) {
                k.wait_full(pipe, rd);
                multiply(rd.slot(), i != 0u);
                k.advance(rd);
                k.wgmma.wait_group<1>();
                release(k, pipe, freed, tid, i);
            });
            k.wgmma.wait_group<0>();
            k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(pipe.empty(freed)); });
        });
    };
    CHECK(ids(kernel([](builder& k, auto& pipe, auto& freed, const reg& tid, const reg& i) {
                  k.if_(i != 0u, [&] {
                      k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(pipe.empty(freed)); });
                      k.advance(freed);
                  });
              }),
              block(160)) == "");
    CHECK(ids(kernel([](builder& k, auto& pipe, auto& freed, const reg& tid, const reg& i) {
                  k.single_thread(tid == 0u && i != 0u, [&] { k.mbarrier_arrive(pipe.empty(freed)); });
                  k.if_(i != 0u, [&] { k.advance(freed); });
              }),
              block(160)) == "");
    CHECK(ids(kernel([](builder& k, auto& pipe, auto& freed, const reg& tid, const reg& i) {
                  k.at(tid == 0u && i != 0u).mbarrier_arrive(pipe.empty(freed));
                  k.if_(i != 0u, [&] { k.advance(freed); });
              }),
              block(160)) == "");
    CHECK(ids(kernel([](builder& k, auto& pipe, auto& freed, const reg& tid, const reg&) {
                  k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(pipe.empty(freed)); });
                  k.advance(freed);
              }),
              block(160)) == "D14");
}

TEST_CASE("D14: a loop that waits for two slots") {
    CHECK(ids(consumers([](builder& k, auto& pipe, auto& multiply, const reg& tid, const reg& n) {
                  const auto filled = k.consumer_state(pipe), rd = k.consumer_state(pipe),
                             freed = k.consumer_state(pipe);
                  const auto release = [&] {
                      k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(pipe.empty(freed)); });
                      k.advance(freed);
                  };
                  k.for_(k.shr(n, 1u), [&](reg i) {  // the producer fills n slots, a round takes two
                      k.for_(2u, [&](reg) {
                          k.wait_full(pipe, filled);
                          k.advance(filled);
                      });
                      multiply(rd.slot(), i != 0u);
                      k.advance(rd);
                      multiply(rd.slot(), true);
                      k.advance(rd);
                      k.wgmma.wait_group<1>();
                      release();
                      k.wgmma.wait_group<0>();
                      release();
                  });
              }),
              block(160)) == "");
}

// ---- tensor memory
// ----------------------------------------------------------------------------------------------------

TEST_CASE("I11: the accumulator before is loaded while the next is summed up") {
    using blackwell = px::builder<px::sm_100a>;
    const auto kernel = [](bool waits_first) {
        return [waits_first](blackwell& k) {
            const auto a = k.smem<px::tile<bf16, 128, 64>>(1, "a");
            const auto b = k.smem<px::tile<bf16, 64, 64>>(1, "b");
            const auto done = k.make_mbarrier_ring<"done">(2, px::arrivals<1>);
            const auto slot = k.tcgen05.make_slot<128>("slot");
            const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
            k.single_thread(tid == 0u, [&] {
                for (int i = 0; i < 2; ++i) k.mbarrier_init(done[i]);
            });
            k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot); });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.tcgen05.fence_after_thread_sync();
            const auto memory = k.tcgen05.load(slot);
            const auto sums = memory.accumulator<f32, 128, 64, 0, 2>();
            const auto mine = k.tcgen05.quarter(memory, warp).template accumulator<f32, 128, 64, 0, 2>();
            const auto a_desc = k.tcgen05.descriptor(a);
            const auto b_desc = k.tcgen05.descriptor(b);
            for (u32 i = 0; i < 2; ++i) {
                k.if_(warp == 0u, [&] {  // one thread multiplies, not one of each warp
                    k.single_thread(k.elect_sync(), [&] {
                        k.tcgen05.multiply(sums[i], a_desc, b_desc, false);
                        k.tcgen05.commit(done[static_cast<int>(i)]);
                    });
                });
                if (i == 0 && waits_first) k.tcgen05.wait(done[0], 0);
            }
            static_cast<void>(k.tcgen05.ld<px::shape_32x32b, px::x32>(mine[0u], 0));
            k.tcgen05.wait_ld();
            k.tcgen05.wait(done[1], 0);
            k.bar_sync();
            k.if_(warp == 0u, [&] { k.tcgen05.dealloc(memory); });
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK(ids(kernel(false), block(128)) == "I11");
}

}  // namespace

// ---- each phase at a place of its own
// ------------------------------------------------------------------------------------------------------

/// Thread 0 ends the phases of a barrier one by one, and waits for some of them.
template <u32 Count, class Body>
auto phases(const Body& body) {
    return [body](builder& k) {
        with_barrier<Count> b(k);
        body(k, b);
    };
}
TEST_CASE("E01, E08: phases in a row") {
    const auto one = [](builder& k, const with_barrier<1>& b, u32 parity) {
        k.single_thread(b.tid == 0u, [&] { static_cast<void>(k.mbarrier_arrive(b.bar[0])); });
        k.wait(b.bar[0], parity);
        k.bar_sync();  // nobody may be two phases behind: the parity would be that of the next but one
    };
    CHECK(ids(phases<1>([&](builder& k, const auto& b) { one(k, b, 0), one(k, b, 1), one(k, b, 0); }), block(128)) ==
          "");
    CHECK(ids(phases<1>([&](builder& k, const auto& b) { one(k, b, 0), one(k, b, 0); }), block(128)) == "E08");
    // A second wait for a phase that has ended is no mistake.
    CHECK(ids(phases<1>([&](builder& k, const auto& b) { one(k, b, 0), k.wait(b.bar[0], 0u); }), block(128)) == "");
    // Two arrivals make one phase, so the second wait is for ever; for the same phase it is not.
    const auto both = [](u32 second) {
        return phases<2>([second](builder& k, const auto& b) {
            k.single_thread(b.tid == 0u, [&] {
                static_cast<void>(k.mbarrier_arrive(b.bar[0]));
                static_cast<void>(k.mbarrier_arrive(b.bar[0]));
            });
            k.wait(b.bar[0], 0u);
            k.wait(b.bar[0], second);
        });
    };
    CHECK(ids(both(0), block(128)) == "");
    CHECK(ids(both(1), block(128)) == "E01");
    // All others come to the second phase when they have met the thread that waited for the first.
    const auto late = [](bool meet) {
        return phases<1>([meet](builder& k, const auto& b) {
            k.single_thread(b.tid == 0u, [&] {
                static_cast<void>(k.mbarrier_arrive(b.bar[0]));
                k.wait(b.bar[0], 0u);
                static_cast<void>(k.mbarrier_arrive(b.bar[0]));
            });
            if (meet) k.bar_sync();
            k.wait(b.bar[0], 1u);
        });
    };
    CHECK(ids(late(true), block(128)) == "");
    CHECK(ids(late(false), block(128)) == "E08");
}

/// Thread 0 of the first block (or of each) does something; `also` says what other blocks do.
TEST_CASE("code of one block of a cluster") {
    const auto ranks = [](const auto& first, const auto& second) {
        return [first, second](builder& k, source g) {
            with_barrier<1> b(k);
            k.barrier_cluster_arrive(), k.barrier_cluster_wait();
            const auto rank = k.mov(px::cluster_ctarank);
            k.single_thread(b.tid == 0u, [&] {
                k.if_(rank == 0u, [&] { first(k, b, g); });
                k.if_(rank == 1u, [&] { second(k, b, g); });
            });
            k.wait(b.bar[0], 0u);
        };
    };
    const auto copy = [](u32 expected) {
        return [expected](builder& k, auto& b, const source& g) {
            k.mbarrier_arrive_expect_tx(b.bar[0], expected);
            b.copy(k, g, k.mov(px::tid.x));
            if (expected == 2 * bytes) b.copy(k, g, k.mov(px::tid.x) + 1u);
        };
    };
    CHECK(ids(ranks(copy(bytes), copy(2 * bytes)), block(128, 2)) == "");  // each block has its own bytes
    const auto wait_first = [](builder& k, auto& b, const source&) {
        static_cast<void>(k.mbarrier_arrive(b.bar[0]));
        k.wait(b.bar[0], 0u);
        static_cast<void>(k.mbarrier_arrive(b.bar[0]));
        k.wait(b.bar[0], 1u);
        static_cast<void>(k.mbarrier_arrive(b.bar[0]));  // for those who come to their wait behind both phases
    };
    const auto once = [](builder& k, auto& b, const source&) { static_cast<void>(k.mbarrier_arrive(b.bar[0])); };
    CHECK(ids(ranks(wait_first, once), block(128, 2)) == "");
}
