// SPDX-License-Identifier: Apache-2.0
// mbarriers (E01, E02, E04 to E06, E12), warps and clusters (H01, H02, H04, H05, H07, G03): every rule with its legal
// neighbours.
#include "findings.hpp"

#include <type_traits>

using namespace ptxdsl_test;

namespace {

using tile_a = px::tile<bf16, 64, 64>;
using map_a = px::tma_map<tile_a>;
constexpr px::attributes block(u32 threads) { return {.reqntid = {threads}}; }

// ---- E01
// --------------------------------------------------------------------------------------------------------------

/// A barrier of `Count` arrivals, initialised by one thread; `arrive` says who arrives, everybody waits.
template <u32 Count, class Arrive>
auto with_barrier(const Arrive& arrive) {
    return [arrive](builder& k, px::reg<u32> n) {
        auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<Count>);
        auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
        k.fence_mbarrier_init();
        k.bar_sync();
        arrive(k, bar, tid, n);
        k.wait(bar.stage(0), 0u);
    };
}
const auto one_arrives = [](builder& k, auto& bar, auto& tid, auto&) {
    k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(bar.stage(0)); });
};
const auto all_arrive = [](builder& k, auto& bar, auto&, auto&) { k.mbarrier_arrive(bar.stage(0)); };

TEST_CASE("E01: arrivals against the count") {
    CHECK(ids(with_barrier<128>(one_arrives), block(128)) == "E01");
    CHECK_THAT(texts(with_barrier<128>(one_arrives), block(128)),
               Catch::Matchers::ContainsSubstring(
                   "mbarrier 'full' stage 0 expects 128 arrivals per phase, but its code provides 1: init with 1 "
                   "or let all 128 threads arrive"));
    CHECK(ids(with_barrier<1>(all_arrive), block(128)) == "E01");
    CHECK(ids(with_barrier<1>(one_arrives), block(128)) == "");
    CHECK(ids(with_barrier<128>(all_arrive), block(128)) == "");
    CHECK(ids(with_barrier<4>(one_arrives), block(128)) == "E01");
    const auto one_of_each_warp = [](builder& k, auto& bar, auto& tid, auto&) {
        k.single_thread(k.and_(tid, 31u) == 0u, [&] { k.mbarrier_arrive(bar.stage(0)); });
    };
    CHECK(ids(with_barrier<4>(one_of_each_warp), block(128)) == "");
    CHECK(ids(with_barrier<64>(all_arrive)) == "");  // block size unknown
    CHECK(ids(with_barrier<64>(all_arrive), {.maxntid = {128}}) == "");
}

TEST_CASE("E01: counted arrivals, loops, guards, statements") {
    CHECK(ids(with_barrier<256>([](builder& k, auto& bar, auto&, auto&) { k.mbarrier_arrive(bar.stage(0), 2u); }),
              block(128)) == "");
    CHECK(ids(with_barrier<128>([](builder& k, auto& bar, auto&, auto&) { k.mbarrier_arrive(bar.stage(0), 2u); }),
              block(128)) == "E01");
    // In a loop without a wait a thread may arrive any number of times.
    CHECK(ids(with_barrier<512>([](builder& k, auto& bar, auto&, auto& n) {
                  k.for_(n, [&](px::reg<u32>) { k.mbarrier_arrive(bar.stage(0)); });
              }),
              block(128)) == "");
    // A loop that waits passes one phase an iteration.
    CHECK(ids(with_barrier<512>([](builder& k, auto& bar, auto&, auto& n) {
                  k.for_(n, [&](px::reg<u32> i) {
                      k.mbarrier_arrive(bar.stage(0));
                      k.wait(bar.stage(0), k.and_(i, 1u));
                  });
              }),
              block(128)) == "E01");
    CHECK(ids(with_barrier<7>(
                  [](builder& k, auto& bar, auto& tid, auto&) { k.at(tid < 7u).mbarrier_arrive(bar.stage(0)); }),
              block(128)) == "");
    CHECK(ids(with_barrier<7>([](builder& k, auto& bar, auto& tid, auto&) {
                  k.if_(tid < 7u, [&] { k.mbarrier_arrive(bar.stage(0)); });
              }),
              block(128)) == "");
    CHECK(ids(with_barrier<7>([](builder& k, auto& bar, auto& tid, auto& n) {
                  k.assume_arrivals(bar);
                  one_arrives(k, bar, tid, n);
              }),
              block(128)) == "");
}

TEST_CASE("E01: threads that have left do not arrive") {
    CHECK(ids(with_barrier<96>([](builder& k, auto& bar, auto& tid, auto&) {
                  k.at(tid >= 96u).exit();
                  k.mbarrier_arrive(bar.stage(0));
              }),
              block(128)) == "");
    CHECK(ids(with_barrier<96>([](builder& k, auto& bar, auto& tid, auto&) {
                  k.if_(tid >= 96u, [&] { k.role(32, [&] { k.exit(); }); });
                  k.mbarrier_arrive(bar.stage(0));
              }),
              block(128)) == "");
    CHECK(ids(with_barrier<96>([](builder& k, auto& bar, auto& tid, auto&) {  // an abort is no way on
                  k.at(tid >= 96u).trap();
                  k.mbarrier_arrive(bar.stage(0));
              }),
              block(128)) == "E01");
}

TEST_CASE("E01: roles add up, or take turns") {
    const auto roles = [](builder& k, auto& bar, auto& tid, auto&) {
        k.if_(tid < 128u, [&] { k.role(128, [&] { k.mbarrier_arrive(bar.stage(0)); }); }).else_([&] {
            k.role(32, [&] { k.mbarrier_arrive(bar.stage(0)); });
        });
    };
    CHECK(ids(with_barrier<160>(roles), block(160)) == "");
    CHECK(ids(with_barrier<128>(roles), block(160)) == "");  // ping-pong: one role a phase
    CHECK(ids(with_barrier<2>(roles), block(160)) == "E01");
    CHECK(ids(with_barrier<96>(roles), block(160)) == "E01");
}

TEST_CASE("E01: expect_tx is no arrival") {
    CHECK(ids(
              [](builder& k, map_a map) {
                  auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
                  auto a = k.smem<tile_a>(1);
                  auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] {
                      k.mbarrier_init(bar.stage(0));
                      k.fence_mbarrier_init();
                      k.mbarrier_expect_tx(bar.stage(0), 8192u);
                      k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), bar.stage(0));
                  });
                  k.bar_sync();
                  k.wait(bar.stage(0), 0u);
              },
              block(128)) == "E01");
}

TEST_CASE("E02: counts of hand-written inits") {
    const auto body = [](builder& k) {
        auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
        k.mbarrier_init(bar.stage(0));
    };
    CHECK(ids(body) == "");
    const auto set_count = [](u32 n) {
        return [n](px::ir::program& p) {
            for (u32 at = 0; at < p.words.size(); at += p.words[at] & 0xffffu) {
                const px::ir::cursor c{p.words.data() + at};
                if (c.kind() == px::ir::record::note && c.code() == static_cast<u32>(px::ir::note::barrier_init))
                    p.words[at + 5] = n;
            }
        };
    };
    CHECK(ids_after(body, set_count(0)) == "E02");
    CHECK(ids_after(body, set_count(1u << 20)) == "E02");
    CHECK(ids_after(body, set_count((1u << 20) - 1)) == "");
    CHECK(ids([](builder& k) {  // through the escape hatch, without a note
              auto x = k.smem_array<px::u64>(1);
              k.inst<"mbarrier.init.shared::cta.b64">(x, 0u);
          }) == "E02");
}

// ---- E04, E05, E06
// -----------------------------------------------------------------------------------------------------

template <class Body>
auto with_copy(const Body& body) {
    return [body](builder& k, map_a map, px::reg<u32> n) {
        auto bar = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
        auto other = k.make_mbarrier_ring<"other">(1, px::arrivals<1>);
        auto a = k.smem<tile_a>(2, "a");
        auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_init(bar.stage(0));
            k.mbarrier_init(bar.stage(1));
            k.mbarrier_init(other.stage(0));
            k.fence_mbarrier_init();
            body(k, bar, other, a, map, n);
        });
    };
}
const auto load = [](builder& k, auto& bar, int barrier_stage, auto& a, int stage, auto& map) {
    k.cp_async_bulk_tensor(a.stage(stage), map, px::coords(0u, 0u), bar.stage(barrier_stage));
};

TEST_CASE("E03: barriers that are not ready") {
    const auto kernel = [](int stages, bool meet, bool same_thread) {
        return [=](builder& k) {
            auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<1>);
            auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                for (int i = 0; i < stages; ++i) k.mbarrier_init(bar.stage(i));
                k.mbarrier_arrive(bar.stage(0));  // program order suffices for the thread itself
            });
            if (meet) k.bar_sync();
            if (same_thread)
                k.single_thread(tid == 0u, [&] { k.wait(bar.stage(1), 1u); });
            else
                k.wait(bar.stage(1), 1u);
        };
    };
    CHECK(ids(kernel(2, true, false), block(128)) == "");
    CHECK(ids(kernel(2, false, false), block(128)) == "E03");
    CHECK(ids(kernel(2, false, true), block(128)) == "");
    CHECK(ids(kernel(1, true, false), block(128)) == "E03");
    CHECK_THAT(texts(kernel(1, true, false), block(128)),
               Catch::Matchers::ContainsSubstring("'bar' stage 1 is used here, but never initialised"));
    CHECK(ids(
              [](builder& k, px::reg<u32> n) {  // initialised in a loop: all of them, as far as anyone can tell
                  auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<128>);
                  k.single_thread(k.mov(px::tid.x) == 0u,
                                  [&] { k.for_(2u, [&](px::reg<u32> i) { k.mbarrier_init(bar[i]); }); });
                  k.fence_mbarrier_init();
                  k.bar_sync();
                  k.mbarrier_arrive(bar[n]);
              },
              block(128)) == "");
}

TEST_CASE("E04: expected bytes against the copies") {
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), 8192u);
              load(k, bar, 0, a, 0, map);
          })) == "");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), 4096u);
              load(k, bar, 0, a, 0, map);
          })) == "E04");
    CHECK_THAT(
        texts(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
            k.mbarrier_arrive_expect_tx(bar.stage(0), 16384u);
            load(k, bar, 0, a, 0, map);
        })),
        Catch::Matchers::ContainsSubstring(
            "'full' stage 0 expects 16384 bytes a phase, but the copies on it bring 8192: the phase never ends"));
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {  // split, and after the copy
              k.mbarrier_expect_tx(bar.stage(0), 4096u);
              load(k, bar, 0, a, 0, map);
              k.mbarrier_arrive_expect_tx(bar.stage(0), 4096u);
          })) == "");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto& n) {  // ring, stage in a register
              k.for_(n, [&](px::reg<u32> i) {
                  auto full = bar[k.and_(i, 1u)];
                  k.wait(full, 0u);
                  k.mbarrier_arrive_expect_tx(full, a);
                  k.cp_async_bulk_tensor(a[k.and_(i, 1u)], map, px::coords(0u, 0u), full);
              });
          })) == "");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto& n) {
              k.for_(n, [&](px::reg<u32> i) {
                  auto full = bar[k.and_(i, 1u)];
                  k.wait(full, 0u);
                  k.mbarrier_arrive_expect_tx(full, 2 * 8192u);
                  k.cp_async_bulk_tensor(a[k.and_(i, 1u)], map, px::coords(0u, 0u), full);
              });
          })) == "E04");
}

TEST_CASE("E04: what is not constant is not counted") {
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto& n) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), n);
              load(k, bar, 0, a, 0, map);
          })) == "");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto& n) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), 4096u);
              k.if_(n != 0u, [&] { k.mbarrier_expect_tx(bar.stage(0), 4096u); });
              load(k, bar, 0, a, 0, map);
          })) == "");
}

TEST_CASE("E04: multicast counts at each receiver") {
    const auto kernel = [](u32 expected) {
        return with_copy([expected](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            k.mbarrier_arrive_expect_tx(bar.stage(0), expected);
            k.cp_async_bulk_tensor_multicast(a.stage(0), map, px::coords(0u, 0u), bar.stage(0), px::u16{3});
        });
    };
    const px::attributes pair{.cluster = {2}};
    CHECK(ids(kernel(16384), pair) == "");  // both blocks send
    CHECK(ids(kernel(8192), pair) == "");   // too few for both, and nobody waits
    CHECK(ids(kernel(4096), pair) == "E04");
    CHECK(ids(kernel(32768), pair) == "E04");
}

TEST_CASE("E05: copies and expectations on different barriers") {
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
              k.mbarrier_arrive(bar.stage(0));
              load(k, bar, 0, a, 0, map);
          })) == "E05");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto& other, auto& a, auto& map, auto&) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), 8192u);
              load(k, other, 0, a, 0, map);
          })) == "E05 E05");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {  // the other stage
              k.mbarrier_arrive_expect_tx(bar.stage(0), 8192u);
              load(k, bar, 1, a, 1, map);
          })) == "E05 E05");
    CHECK(ids(with_copy([](builder& k, auto& bar, auto&, auto&, auto&, auto&) {
              k.mbarrier_arrive_expect_tx(bar.stage(0), 0u);
          })) == "");
}

TEST_CASE("E06: more bytes than a phase counts") {
    const auto body = with_copy([](builder& k, auto& bar, auto&, auto& a, auto& map, auto&) {
        k.mbarrier_arrive_expect_tx(bar.stage(0), 8192u);
        load(k, bar, 0, a, 0, map);
    });
    CHECK(ids_after(body, [](px::ir::program& p) {
              for (u32 at = 0; at < p.words.size(); at += p.words[at] & 0xffffu) {
                  const px::ir::cursor c{p.words.data() + at};
                  if (c.kind() == px::ir::record::note && c.code() == static_cast<u32>(px::ir::note::barrier_expect))
                      p.words[at + 4] = 1u << 20;
              }
          }) == "E06 E04");
}

TEST_CASE("E12: initialised twice") {
    const auto kernel = [](bool inval, int second) {
        return [inval, second](builder& k) {
            auto bar = k.make_mbarrier_ring<"bar">(2, px::arrivals<1>);
            auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_init(bar.stage(0));
                if (inval) k.mbarrier_inval(bar.stage(0));
            });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(second)); });
        };
    };
    CHECK(ids(kernel(false, 0)) == "E12");
    CHECK(ids(kernel(true, 0)) == "");
    CHECK(ids(kernel(false, 1)) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {  // either or
              auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
              k.if_(n == 0u, [&] { k.mbarrier_init(bar.stage(0)); }).else_([&] { k.mbarrier_init(bar.stage(0)); });
          }) == "");
    CHECK(ids([](builder& k, px::reg<u32> n) {
              auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
              k.for_(n, [&](px::reg<u32>) { k.mbarrier_init(bar.stage(0)); });
          }) == "E12");
}

// ---- warps
// --------------------------------------------------------------------------------------------------------------

TEST_CASE("H01: named barriers") {
    CHECK(ids([](builder& k) { k.bar_sync<1, 64>(); }, block(64)) == "");
    CHECK(ids([](builder& k) { k.bar_sync<1, 256>(); }, block(128)) == "H01 H02");
    CHECK(ids([](builder& k) { k.bar_sync(k.mov<u32>(16), 64u); }, block(64)) == "H01");
    CHECK(ids([](builder& k) { k.bar_sync(1u, k.mov<u32>(48)); }, block(64)) == "H01");
    CHECK(ids([](builder& k, px::reg<u32> id) { k.bar_sync(id, 64u); }, block(64)) == "");
}

TEST_CASE("H02: totals that never complete") {
    const auto kernel = [](u32 count, bool arrives) {
        return [count, arrives](builder& k) {
            auto tid = k.mov(px::tid.x);
            k.if_(tid < 128u, [&] { k.role(128, [&] { k.bar_sync(1u, count); }); }).else_([&] {
                if (arrives) k.role(128, [&] { k.bar_arrive(1u, count); });
            });
        };
    };
    CHECK(ids(kernel(256, true), block(256)) == "");
    CHECK(ids(kernel(256, false), block(256)) == "H02");
    CHECK(ids(kernel(128, false), block(256)) == "");
    CHECK_THAT(texts(kernel(256, false), block(256)),
               Catch::Matchers::ContainsSubstring("counts 256 threads, but at most 128"));
    CHECK(ids([](builder& k, px::reg<u32> n) { k.if_(n != 0u, [&] { k.bar_sync<1, 64>(); }); }, block(256)) ==
          "");  // who is unknown
}

TEST_CASE("H02: sums that differ from thread to thread matter where they decide something") {
    const auto kernel = [](u32 count, bool decides) {
        return [count, decides](builder& k, px::reg<u32> id, px::reg<u32> n) {
            const auto own = k.cvt<f32, px::rn>(k.mov(px::tid.x));
            auto sum = k.mov<f32>(0.0f);
            k.for_(n, [&](px::reg<u32>) {
                k.if_(decides ? sum < 100.0f : n != 7u, [&] { k.if_(n != 0u, [&] { k.bar_sync(id, count); }); });
                sum = k.add<px::rn>(sum, own);
            });
        };
    };
    CHECK(ids(kernel(128, false), block(256)) == "");
    CHECK(ids(kernel(160, false), block(256)) == "H02");
    CHECK(ids(kernel(160, true), block(256)) == "");  // after a round some threads come and others do not
}

TEST_CASE("H04, H07: the register budget") {
    const px::attributes three{.reqntid = {384}, .minnctapersm = 1};
    const auto kernel = [](auto producer, auto consumer) {
        return [=](builder& k) {
            auto tid = k.mov(px::tid.x);
            k.if_(tid < 128u, [&] { k.role(128, [&] { k.setmaxnreg_dec<decltype(producer)::value>(); }); }).else_([&] {
                k.role(256, [&] { k.setmaxnreg_inc<decltype(consumer)::value>(); });
            });
        };
    };
    using c40 = std::integral_constant<unsigned, 40>;
    using c232 = std::integral_constant<unsigned, 232>;
    using c240 = std::integral_constant<unsigned, 240>;
    using c24 = std::integral_constant<unsigned, 24>;
    using c176 = std::integral_constant<unsigned, 176>;
    using c160 = std::integral_constant<unsigned, 160>;
    CHECK(ids(kernel(c40(), c232()), three) == "");
    CHECK(ids(kernel(c24(), c240()), three) == "");
    CHECK(ids(kernel(c40(), c240()), three) == "H04");   // 66560 of 64512
    CHECK(ids(kernel(c176(), c176()), three) == "H04");  // dec above the 168 at entry
    CHECK(ids(kernel(c40(), c160()), three) == "H04");   // inc below them
    CHECK(ids(kernel(c40(), c232()), {.reqntid = {384}}) == "H07 H07");
    CHECK(ids(kernel(c40(), c232()), {.reqntid = {384}, .maxnreg = 168}) == "");
    CHECK(ids(kernel(c40(), c232()), {.maxntid = {384}, .minnctapersm = 1}) == "");
    CHECK_THAT(texts(kernel(c40(), c240()), three),
               Catch::Matchers::ContainsSubstring("66560 registers (128 x 40 + 256 x 240), it has 64512"));
    CHECK(ids(
              [](builder& k, px::reg<u32> n) {  // who they are is unknown
                  k.if_(n == 0u, [&] { k.setmaxnreg_dec<40>(); }).else_([&] { k.setmaxnreg_inc<240>(); });
              },
              three) == "");
}

TEST_CASE("H05: barrier 0 that some warps never reach") {
    CHECK(ids(
              [](builder& k) {
                  auto tid = k.mov(px::tid.x);
                  k.single_thread(tid == 0u, [&] { k.bar_sync(); });
              },
              block(128)) == "H05");
    const auto kernel = [](bool other, bool common) {
        return [other, common](builder& k) {
            auto tid = k.mov(px::tid.x);
            k.if_(tid < 128u, [&] { k.role(128, [&] { k.bar_sync(); }); }).else_([&] {
                k.role(32, [&] {
                    if (other) k.bar_sync();
                });
            });
            if (common) k.bar_sync();
        };
    };
    CHECK(ids(kernel(false, true), block(160)) == "H05");
    CHECK(ids(kernel(true, true), block(160)) == "");    // both arms have one
    CHECK(ids(kernel(false, false), block(160)) == "");  // the others exit: only live warps count
}

TEST_CASE("G03: peer ranks") {
    const auto kernel = [](u32 rank) {
        return [rank](builder& k) {
            auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
            static_cast<void>(k.mapa(bar.stage(0), rank));
        };
    };
    CHECK(ids(kernel(1), {.cluster = {2}}) == "");
    CHECK(ids(kernel(2), {.cluster = {2}}) == "G03");
    CHECK(ids(kernel(2)) == "");  // the cluster is the launch's business
    CHECK(ids(
              [](builder& k, px::reg<u32> rank) {
                  auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
                  static_cast<void>(k.mapa(bar.stage(0), rank));
              },
              {.cluster = {2}}) == "");
}

}  // namespace
