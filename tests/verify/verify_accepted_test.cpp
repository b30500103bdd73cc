// SPDX-License-Identifier: Apache-2.0
// Right kernels written in unusual ways: conditions that go together, loops that run zero times, threads that leave
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
                  k.for_(k.selp(n, k.mov<u32>(0), b.tid == 0u), [&](reg) {
                      b.expect_and_copy(k, g);
                      k.wait(b.bar[0], 0);
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

/// Consumers of a ring of tiles: `loop` has the loop over `n` slots, a producer fills them.
template <class Loop>
auto consumers(const Loop& loop) {
    return [loop](builder& k, map a_map, reg n) {
        const auto a = k.smem<tile>(4, "a");
        const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<1>, px::arrivals<1>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
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
                  k.for_(n, [&](reg i) {
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
            k.bar_sync();
            k.tcgen05.fence_after_thread_sync();
            const auto memory = k.tcgen05.load(slot);
            const auto sums = memory.accumulator<f32, 128, 64, 0, 2>();
            const auto mine = k.tcgen05.quarter(memory, warp).template accumulator<f32, 128, 64, 0, 2>();
            const auto a_desc = k.tcgen05.descriptor(a);
            const auto b_desc = k.tcgen05.descriptor(b);
            for (u32 i = 0; i < 2; ++i) {
                k.single_thread(k.elect_sync(), [&] {
                    k.tcgen05.multiply(sums[i], a_desc, b_desc, false);
                    k.tcgen05.commit(done[static_cast<int>(i)]);
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
