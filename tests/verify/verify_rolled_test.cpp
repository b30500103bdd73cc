// SPDX-License-Identifier: Apache-2.0
// Loops of a known number of rounds: what is said of straight-line code is said of the same code in such a loop. Every
// kernel is written both ways, and with the bounds of the loop in registers.
#include "findings.hpp"

#include <sstream>
#include <type_traits>

using namespace ptxdsl_test;

namespace {

using reg = px::reg<u32>;
using source = px::global_ptr<const f32, 16>;
using words = px::global_ptr<u32>;
using tile = px::tile<bf16, 64, 64>;
using map = px::tma_map<tile>;
using map_out = px::tma_map_out<tile>;
constexpr u32 chunk = 4096;
constexpr px::attributes block(u32 threads) { return {.reqntid = {threads}}; }

enum class form { straight, literals, registers };
using enum form;

/// `body(i)` for `i` in [first, bound).
template <class Body>
void rounds(builder& k, form how, u32 first, u32 bound, const Body& body) {
    if (how == straight) {
        for (u32 i = first; i < bound; ++i) body(i);
    } else if (how == literals) {
        k.for_(first, bound, 1u, [&](const reg& i) { body(i); });
    } else {
        k.for_(k.mov<u32>(first), k.mov<u32>(bound), k.mov<u32>(1), [&](const reg& i) { body(i); });
    }
}
/// `body` where the number of the round is `n`.
template <class Body>
void when(builder&, u32 i, u32 n, const Body& body) {
    if (i == n) body();
}
template <class Body>
void when(builder& k, const reg& i, u32 n, const Body& body) {
    k.if_(i == n, [&] { body(); });
}

/// Each id once: a loop says once what straight-line code says of each copy.
std::string distinct(const std::string& all) {
    std::string some;
    std::istringstream list(all);
    for (std::string id; list >> id;)
        if ((' ' + some + ' ').find(' ' + id + ' ') == std::string::npos) some += (some.empty() ? "" : " ") + id;
    return some;
}
/// What is found in `kernel(how)`, the same three times; else all three.
template <class Kernel>
std::string ids_of_all(const Kernel& kernel, const px::attributes& attributes) {
    const std::string a = distinct(ids(kernel(straight), attributes)), b = distinct(ids(kernel(literals), attributes)),
                      c = distinct(ids(kernel(registers), attributes));
    return a == b && b == c ? a : "straight [" + a + "] literals [" + b + "] registers [" + c + "]";
}

// ---- pipelines
// --------------------------------------------------------------------------------------------------------------

struct mistakes {
    bool frees = true, waits = true;
    u32 last = 4;
};
/// A producer, and 128 threads that take a slot in each of four rounds, as far as there are some.
template <u32 Count>
auto stores_between(const mistakes& m) {
    return [m](form how) {
        return [m, how](builder& k, map in, words out, reg tiles, reg n) {
            const auto a = k.smem<tile>(4, "a");
            const auto pipe = k.make_pipeline<"pipe">(4, px::arrivals<1>, px::arrivals<Count>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.if_(tid >= 128u, [&] {
                 k.single_thread(tid == 128u, [&] {
                     const auto at = k.producer_state(pipe);
                     k.for_(k.mul_lo(tiles, k.min(n, m.last)), [&](reg i) {  // as many as are taken
                         k.wait_empty(pipe, at);
                         k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                         k.cp_async_bulk_tensor(a[at.slot()], in, px::coords(k.shl(i, 6u), 0), pipe.full(at));
                         k.advance(at);
                     });
                 });
             }).else_([&] {
                const auto at = k.consumer_state(pipe);
                auto done = k.mov<u32>(0);
                const auto take = [&] {
                    if (m.waits) k.wait_full(pipe, at);
                    k.st(out + tid, k.cvt<u32>(k.mov_b16<px::u16>(k.ld(k.tile_element(a[at.slot()], 3u, 4u)))));
                    if (m.frees) k.mbarrier_arrive(pipe.empty(at));
                    k.advance(at);
                };
                k.for_(tiles, [&](reg t) {
                    done = k.mov<u32>(0);
                    rounds(k, how, 0, m.last, [&](const auto& i) {
                        k.if_(done < n, [&] {
                            take();
                            done = k.add(done, 1u);
                        });
                        when(k, i, 1, [&] { k.st(out + t, 1u); });
                        when(k, i, 2, [&] { k.st(out + t, 2u); });
                    });
                });
            });
        };
    };
}

}  // namespace

TEST_CASE("E01, E07: a pipeline whose slots are taken in rounds") {
    CHECK(ids_of_all(stores_between<128>({}), block(256)) == "");
    CHECK(ids_of_all(stores_between<128>({.last = 1}), block(256)) == "");
    CHECK(ids_of_all(stores_between<127>({}), block(256)) == "E01");
    CHECK(ids_of_all(stores_between<129>({}), block(256)) == "E01");
    CHECK(ids_of_all(stores_between<128>({.frees = false}), block(256)) == "E01");
    CHECK(ids_of_all(stores_between<128>({.waits = false}), block(256)) == "E07");
}

// ---- one barrier, or a ring whose stages the counter chooses
// --------------------------------------------------------------------------------------------------------------

TEST_CASE("E01: rounds that each arrive") {
    const auto kernel = [](u32 count, u32 n, u32 but) {
        return [=](form how) {
            return [=](builder& k) {
                const auto write = [&](auto bar) {
                    const auto tid = k.mov(px::tid.x);
                    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                    k.bar_sync();
                    rounds(k, how, 0, n, [&](const auto& i) {
                        when(k, i, but, [&] { k.nanosleep(10u); });
                        k.mbarrier_arrive(bar[0]);
                    });
                    k.wait(bar[0], 0);
                };
                if (count == 256) write(k.make_mbarrier_ring<"bar">(1, px::arrivals<256>));
                if (count == 384) write(k.make_mbarrier_ring<"bar">(1, px::arrivals<384>));
                if (count == 511) write(k.make_mbarrier_ring<"bar">(1, px::arrivals<511>));
                if (count == 512) write(k.make_mbarrier_ring<"bar">(1, px::arrivals<512>));
            };
        };
    };
    CHECK(ids_of_all(kernel(512, 4, 2), block(128)) == "");
    CHECK(ids_of_all(kernel(512, 4, 7), block(128)) == "");  // no such round
    CHECK(ids_of_all(kernel(511, 4, 2), block(128)) == "E01");
    CHECK(ids_of_all(kernel(512, 3, 2), block(128)) == "E01");
    CHECK(ids_of_all(kernel(384, 3, 2), block(128)) == "");
}
TEST_CASE("E01: only some rounds arrive") {
    const auto kernel = [](u32 which) {
        return [=](form how) {
            return [=](builder& k) {
                const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<256>);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                k.bar_sync();
                rounds(k, how, 0, 3, [&](const auto& i) {
                    when(k, i, 0, [&] { k.mbarrier_arrive(bar[0]); });
                    when(k, i, which, [&] { k.mbarrier_arrive(bar[0]); });
                });
                k.wait(bar[0], 0);
            };
        };
    };
    CHECK(ids_of_all(kernel(2), block(128)) == "");
    CHECK(ids_of_all(kernel(3), block(128)) == "E01");
}
TEST_CASE("E01: a wait inside the rounds for what all of them bring") {
    const auto kernel = [](u32 where) {
        return [=](form how) {
            return [=](builder& k) {
                const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<256>);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                k.bar_sync();
                rounds(k, how, 0, 2, [&](const auto& i) {
                    k.mbarrier_arrive(bar[0]);
                    when(k, i, where, [&] { k.wait(bar[0], 0); });
                });
            };
        };
    };
    CHECK(ids_of_all(kernel(1), block(128)) == "");
    CHECK(ids_of_all(kernel(0), block(128)) == "E01");
}
TEST_CASE("E03, E12, C03: rounds that initialise the stages") {
    const auto kernel = [](u32 first, u32 bound, u32 again) {
        return [=](form how) {
            return [=](builder& k) {
                const auto bar = k.make_mbarrier_ring<"bar">(4, px::arrivals<128>);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] {
                    rounds(k, how, first, bound, [&](const auto& i) { k.mbarrier_init(bar[i]); });
                    if (again < 4) k.mbarrier_init(bar[static_cast<int>(again)]);
                });
                k.bar_sync();
                rounds(k, how, 0, 4, [&](const auto& i) {
                    k.mbarrier_arrive(bar[i]);
                    k.wait(bar[i], 0);
                });
            };
        };
    };
    CHECK(ids_of_all(kernel(0, 4, 4), block(128)) == "");
    CHECK(ids_of_all(kernel(1, 4, 0), block(128)) == "");
    CHECK(ids_of_all(kernel(0, 3, 4), block(128)) == "E03");
    CHECK(ids_of_all(kernel(1, 4, 4), block(128)) == "E03");
    CHECK(ids_of_all(kernel(0, 4, 2), block(128)) == "E12");
}
TEST_CASE("C03: a round past the last stage") {
    const auto kernel = [](builder& k) {
        const auto bar = k.make_mbarrier_ring<"bar">(4, px::arrivals<128>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.for_(5u, [&](const reg& i) { k.mbarrier_init(bar[i]); }); });
    };
    CHECK(ids(kernel, block(128)) == "C03");
}
TEST_CASE("E04: the bytes that rounds bring") {
    const auto kernel = [](u32 expected, u32 n) {
        return [=](form how) {
            return [=](builder& k, source g) {
                const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
                const auto s = k.smem_array<f32, 16>(4096, "s");
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                k.fence_mbarrier_init();
                k.bar_sync();
                k.single_thread(tid == 0u, [&] {
                    k.mbarrier_arrive_expect_tx(bar[0], expected);
                    rounds(k, how, 0, n, [&](const auto& i) {
                        k.cp_async_bulk((s + i * 1024u).template assume_aligned<16>(),
                                        (g + i * 1024u).template assume_aligned<16>(), chunk, bar[0]);
                    });
                });
                k.wait(bar[0], 0);
            };
        };
    };
    CHECK(ids_of_all(kernel(4 * chunk, 4), block(128)) == "");
    CHECK(ids_of_all(kernel(4 * chunk, 3), block(128)) == "E04");
    CHECK(ids_of_all(kernel(3 * chunk, 4), block(128)) == "E04");
}
TEST_CASE("E08: the same parity in all rounds") {
    const auto kernel = [](bool flips) {
        return [=](builder& k, words out) {
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
            const auto back = k.make_mbarrier_ring<"back">(1, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_init(bar[0]);
                k.mbarrier_init(back[0]);
            });
            k.bar_sync();
            k.if_(tid >= 128u, [&] {
                 k.single_thread(tid == 128u, [&] {
                     auto p = k.mov<u32>(0);
                     k.for_(4u, [&](const reg&) {
                         k.mbarrier_arrive(bar[0]);
                         k.wait(back[0], p);
                         p = k.xor_(p, 1u);
                     });
                 });
             }).else_([&] {
                auto p = k.mov<u32>(0);
                k.for_(4u, [&](const reg&) {
                    if (flips)
                        k.wait(bar[0], p);
                    else
                        k.wait(bar[0], 0);
                    p = k.xor_(p, 1u);
                    k.st(out + tid, p);
                    k.mbarrier_arrive(back[0]);
                });
            });
        };
    };
    CHECK(ids(kernel(true), block(256)) == "");
    CHECK(ids(kernel(false), block(256)) == "E08");
}
TEST_CASE("E01: rounds inside rounds") {
    const auto kernel = [](u32 n) {
        return [=](form how) {
            return [=](builder& k) {
                const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<512>);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                k.bar_sync();
                rounds(k, how, 0, 2, [&](const auto& i) {
                    rounds(k, how, 0, n, [&](const auto& j) {
                        when(k, i, 1, [&] { when(k, j, 1, [&] { k.nanosleep(10u); }); });
                        k.mbarrier_arrive(bar[0]);
                    });
                });
                k.wait(bar[0], 0);
            };
        };
    };
    CHECK(ids_of_all(kernel(2), block(128)) == "");
    CHECK(ids_of_all(kernel(1), block(128)) == "E01");
}

// ---- wgmma, bulk stores, barriers of threads
// --------------------------------------------------------------------------------------------------------------

/// Products of one A tile after the other, and a copy that overwrites one of them behind.
auto products(bool fences, u32 allowed, u32 stage) {
    return [=](form how) {
        return [=](builder& k, map in, words out) {
            const auto a = k.smem<tile>(4, "a"), b = k.smem<tile>(1, "b");
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
            const auto tid = k.mov(px::tid.x);
            const auto acc = k.wgmma.make_accumulator<f32, 64>();
            const auto rows = k.wgmma.descriptor(a);
            const auto columns = k.wgmma.descriptor(b);
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.wgmma.fence();
            k.wgmma.mma_async(acc, rows.stage(0), columns, false);
            k.wgmma.commit_group();
            rounds(k, how, 1, 4, [&](const auto& i) {
                if (!fences) k.inst<"mov.f32">(acc[0], 0.0f);
                if (fences) k.wgmma.fence();
                if constexpr (std::is_same_v<std::decay_t<decltype(i)>, u32>)
                    k.wgmma.mma_async(acc, rows.stage(i), columns, true);
                else
                    k.wgmma.mma_async(acc, rows[i], columns, true);
                k.wgmma.commit_group();
                k.wgmma.wait_group<1>();
                when(k, i, 3, [&] { k.st(out, 1u); });
            });
            if (allowed == 0) k.wgmma.wait_group<0>();
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_arrive_expect_tx(bar[0], a);
                k.cp_async_bulk_tensor(a[static_cast<int>(stage)], in, px::coords(0, 0), bar[0]);
            });
            k.wait(bar[0], 0);
            k.wgmma.wait_group<0>();
            k.st(out + tid, k.mov_b32<u32>(acc[0]));
        };
    };
}
TEST_CASE("D09, D14: products in rounds") {
    CHECK(ids_of_all(products(true, 1, 2), block(128)) == "");  // the one before the last is done
    CHECK(ids_of_all(products(true, 1, 3), block(128)) == "D14");
    CHECK(ids_of_all(products(true, 0, 3), block(128)) == "D10w");
    CHECK(ids_of_all(products(false, 1, 2), block(128)) == "D09 D08");
}

TEST_CASE("D10: a wait that has something to do in later rounds only") {
    const auto kernel = [](form how) {
        return [=](builder& k, words out) {
            const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
            const auto acc = k.wgmma.make_accumulator<f32, 64>();
            const auto rows = k.wgmma.descriptor(a), columns = k.wgmma.descriptor(b);
            rounds(k, how, 0, 3, [&](const auto& i) {
                k.wgmma.wait_group<0>();
                k.wgmma.fence();
                k.wgmma.mma_async(acc, rows, columns, false);
                k.wgmma.commit_group();
                when(k, i, 1, [&] { k.st(out, 1u); });
            });
            k.wgmma.wait_group<0>();
            k.st(out, k.mov_b32<u32>(acc[0]));
        };
    };
    CHECK(ids(kernel(literals), block(128)) == "");
    CHECK(ids(kernel(registers), block(128)) == "");
    CHECK(ids(kernel(straight), block(128)) == "D10w");  // its first one is a statement of its own
}

TEST_CASE("F04, F05, F14: staging tiles in rounds") {
    const auto kernel = [](u32 buffers, u32 allowed, bool fences) {
        return [=](form how) {
            return [=](builder& k, map_out out) {
                const auto c = k.smem<tile>(buffers, "c");
                const auto tid = k.mov(px::tid.x);
                rounds(k, how, 0, 4, [&](const auto& i) {
                    const auto store = [&](int to) {
                        k.single_thread(tid == 0u, [&] {
                            if (allowed == 0) k.cp_async_bulk_wait_group_read<0>();
                            if (allowed == 1) k.cp_async_bulk_wait_group_read<1>();
                        });
                        k.bar_sync();
                        k.st(k.tile_element(c[to], 0u, 0u), k.mov_b16<bf16>(k.cvt<px::u16>(tid)));
                        if (fences) k.fence_proxy_async_shared_cta();
                        k.bar_sync();
                        k.single_thread(tid == 0u, [&] {
                            k.cp_async_bulk_tensor(out, px::coords(0, 0), c[to]);
                            k.cp_async_bulk_commit_group();
                        });
                    };
                    when(k, i, 0, [&] { store(0); });
                    when(k, i, 1, [&] { store(1); });
                    when(k, i, 2, [&] { store(0); });
                    when(k, i, 3, [&] { store(1); });
                });
                k.single_thread(tid == 0u, [&] { k.cp_async_bulk_wait_group_read<0>(); });
            };
        };
    };
    CHECK(ids_of_all(kernel(2, 1, true), block(128)) == "");
    CHECK(ids_of_all(kernel(2, 0, true), block(128)) == "");
    CHECK(ids_of_all(kernel(2, 2, true), block(128)) == "F04");
    CHECK(ids_of_all(kernel(2, 1, false), block(128)) == "F05");
}

TEST_CASE("H02: a named barrier in rounds") {
    const auto kernel = [](u32 count) {
        return [=](form how) {
            return [=](builder& k, words out) {
                const auto tid = k.mov(px::tid.x);
                k.if_(tid < 64u, [&] {
                    rounds(k, how, 0, 3, [&](const auto& i) {
                        k.bar_sync(1u, count);
                        when(k, i, 2, [&] { k.st(out, 1u); });
                    });
                });
            };
        };
    };
    CHECK(ids_of_all(kernel(64), block(128)) == "");
    CHECK(ids_of_all(kernel(96), block(128)) == "H02");
}

// ---- registers
// --------------------------------------------------------------------------------------------------------------

TEST_CASE("A06: registers that live from round to round") {
    const auto kernel = [](bool starts) {
        return [=](builder& k, words out) {
            const auto tid = k.mov(px::tid.x);
            reg kept;
            if (starts) kept = k.mov<u32>(0);
            k.for_(4u, [&](const reg& i) {
                k.if_(i == 0u, [&] { kept = k.add(tid, 7u); });
                const auto twice = k.add(kept, kept);
                k.st(out + tid, twice);
                k.bar_sync();
            });
            k.st(out + tid, kept);
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK(ids(kernel(false), block(128)) == "");
}
TEST_CASE("the counter behind its loop, and what the last round has left") {
    CHECK(ids(
              [](builder& k) {
                  const auto bar = k.make_mbarrier_ring<"bar">(4, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  reg last;
                  reg behind;
                  k.single_thread(tid == 0u, [&] {
                      for (int i = 0; i < 4; ++i) k.mbarrier_init(bar[i]);
                  });
                  k.bar_sync();
                  k.for_(3u, [&](const reg& i) {
                      k.bar_sync();
                      last = i;
                      behind = k.add(i, 1u);
                  });
                  k.mbarrier_arrive(bar[last]);
                  k.wait(bar[last], 0);
                  k.mbarrier_arrive(bar[behind]);
                  k.wait(bar[behind], 0);
              },
              block(128)) == "");
}
TEST_CASE("K03: a loop that never runs") {
    CHECK(ids([](builder& k) { k.for_(4u, 4u, 1u, [&](const reg&) { k.bar_sync(); }); }, block(128)) == "K03w");
    CHECK(ids(
              [](builder& k) {
                  const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
                  const auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                  k.bar_sync();
                  k.mbarrier_arrive(bar[0]);
                  k.for_(k.mov<u32>(4), k.mov<u32>(4), 1u, [&](const reg&) {
                      k.mbarrier_arrive(bar[0]);
                      k.wait(bar[0], 1);
                  });
                  k.wait(bar[0], 0);
              },
              block(128)) == "");
}
TEST_CASE("loops that others leave, or whose counter the author moves, stay loops") {
    const auto kernel = [](u32 how) {
        return [=](builder& k, words out, reg n) {
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<512>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
            k.bar_sync();
            k.for_(0u, 4u, 1u, [&](const reg& i, px::loop_handle l) {
                if (how == 0) l.break_if(n == i);
                if (how == 1) l.continue_if(n == i);
                if (how == 2) k.inst<"add.u32">(i, i, 1u);
                k.mbarrier_arrive(bar[0]);
                k.st(out + tid, i);
            });
            if (how == 3) k.wait(bar[0], 0);
        };
    };
    for (u32 how = 0; how < 4; ++how) CHECK(ids(kernel(how), block(128)) == "");
}
