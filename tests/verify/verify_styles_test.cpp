// SPDX-License-Identifier: Apache-2.0
// Right kernels in the styles of synchronisation that other libraries use: waits by one thread, one warp or all,
// parities from counters and bit masks, phases that are skipped, turns between warpgroups, blocks of a cluster that
// help each other. No rule may refuse them. (tests/parse/verified/styles.ptx has more, as texts.)
#include "findings.hpp"

#include <type_traits>

using namespace ptxdsl_test;

namespace {

using reg = px::reg<u32>;
using source = px::global_ptr<const f32, 16>;
using out = px::global_ptr<f32, 16>;
using tile = px::tile<bf16, 64, 64>;
using map = px::tma_map<tile>;
constexpr px::attributes block(u32 threads, u32 cluster = 0) { return {.reqntid = {threads}, .cluster = {cluster}}; }
constexpr u32 bytes = 4096;

/// 16 KiB that copies fill, and barriers for four quarters of them.
struct quarters {
    px::ptr<px::space::shared, f32, 16> s;
    px::mbarrier_ring<px::ring<"full">> full;
    reg tid;
    explicit quarters(builder& k)
        : s(k.smem_array<f32, 16>(4096, "s")),
          full(k.make_mbarrier_ring<"full">(4, px::arrivals<1>)),
          tid(k.mov(px::tid.x)) {
        k.single_thread(tid == 0u, [&] {
            for (int i = 0; i < 4; ++i) k.mbarrier_init(full[i]);
        });
        k.fence_mbarrier_init();
        k.bar_sync();
    }
    [[nodiscard]] auto part(int i) const { return (s + 1024 * i).assume_aligned<16>(); }
    void load(builder& k, const source& g, int i) const {
        k.mbarrier_arrive_expect_tx(full[i], bytes);
        k.cp_async_bulk(part(i), g, bytes, full[i]);
    }
};
template <class Body>
std::string styled(const Body& body, const px::attributes& attributes = block(128)) {
    return ids(
        [body](builder& k, source g, out o, reg n) {
            const quarters q(k);
            body(k, q, g, o, n);
        },
        attributes);
}

}  // namespace

TEST_CASE("who waits for a copy") {
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // a warp waits, the others meet it
              k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
              k.if_(q.tid < 32u, [&] { k.wait(q.full[0], 0u); });
              k.bar_sync();
              k.st(o + q.tid, k.ld(q.s + q.tid));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // one lane waits for its warp
              k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
              k.if_(k.and_(q.tid, 31u) == 0u, [&] { k.wait(q.full[0], 0u); });
              k.bar_warp_sync();
              k.st(o + q.tid, k.ld(q.s + q.tid));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // the waiter tells by a flag
              const auto flag = k.smem_array<u32>(1, "flag");
              k.single_thread(q.tid == 0u, [&] { k.st(flag, 0u); });
              k.bar_sync();
              k.single_thread(q.tid == 0u, [&] {
                  q.load(k, g, 0);
                  k.wait(q.full[0], 0u);
                  k.st<px::release, px::cta>(flag, 1u);
              });
              k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(flag) == 1u); });
              k.st(o + q.tid, k.ld(q.s + q.tid));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // try once, else wait
              k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
              const auto there = k.mbarrier_try_wait_parity(q.full[0], 0u);
              k.if_(!there, [&] { k.wait(q.full[0], 0u); });
              k.st(o + q.tid, k.ld(q.s + q.tid));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // one part read, the next under way
              k.single_thread(q.tid == 0u, [&] {
                  for (int i = 0; i < 4; ++i) q.load(k, g, i);
              });
              for (int i = 0; i < 4; ++i) {
                  k.wait(q.full[i], 0u);
                  k.st(o + q.tid, k.ld(q.part(i) + q.tid));
              }
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {  // another part is read meanwhile
              k.st(q.part(3) + q.tid, 1.0f);
              k.bar_sync();
              k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
              k.st(o + q.tid, k.ld(q.part(3) + k.xor_(q.tid, 1u)));
              k.wait(q.full[0], 0u);
          }) == "");
}

TEST_CASE("copies that begin in some cases") {
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto& n) {  // the last one is read again
              auto parity = k.mov<u32>(0u);
              const auto load = [&] {
                  k.mbarrier_arrive_expect_tx(q.full[0], 4 * bytes);
                  k.cp_async_bulk(q.s, g, 4 * bytes, q.full[0]);
              };
              k.single_thread(q.tid == 0u, load);
              k.for_(n, [&](reg i) {
                  k.wait(q.full[0], parity);
                  parity = k.xor_(parity, 1u);
                  k.st(o + q.tid, k.ld(q.s + q.tid));
                  k.bar_sync();
                  k.if_(k.add(i, 1u) < n, [&] { k.single_thread(q.tid == 0u, load); });
              });
              k.st(o + q.tid, k.ld(q.s + k.xor_(q.tid, 1u)));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto& n) {  // wait and copy under one condition
              const auto has_bias = n != 0u;
              k.if_(has_bias, [&] { k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); }); });
              k.if_(has_bias, [&] { k.wait(q.full[0], 0u); });
              k.st(o + q.tid, k.ld(q.part(0) + q.tid));
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto& n) {  // a break between copy and wait
              auto parity = k.mov<u32>(0u);
              k.loop([&](px::loop_handle l) {
                  k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
                  k.wait(q.full[0], parity);
                  const auto x = k.ld(q.part(0) + q.tid);
                  l.break_if(k.cvt<u32, px::rzi>(x) == n);
                  parity = k.xor_(parity, 1u);
                  k.bar_sync();
              });
              k.st(o + q.tid, k.ld(q.part(0)));
          }) == "");
}

TEST_CASE("parities") {
    const auto rounds = [](const auto& parity_of) {
        return styled([parity_of](builder& k, const quarters& q, auto& g, auto& o, auto& n) {
            k.for_(n, [&](reg i) {
                const auto slot = k.and_(i, 3u);
                k.single_thread(q.tid == 0u, [&] {
                    k.mbarrier_arrive_expect_tx(q.full[slot], bytes);
                    k.cp_async_bulk((q.s + slot * 1024u).template assume_aligned<16>(), g, bytes, q.full[slot]);
                });
                k.wait(q.full[slot], parity_of(k, i));
                k.st(o + q.tid, k.ld(q.s + k.mad_lo(slot, 1024u, q.tid)));
                k.bar_sync();
            });
        });
    };
    CHECK(rounds([](builder& k, const reg& i) { return k.and_(k.shr(i, 2u), 1u); }) == "");
    CHECK(rounds([](builder& k, const reg& i) { return k.bfe(i, 2u, 1u); }) == "");
    CHECK(rounds([](builder& k, const reg& i) { return k.rem(k.div(i, 4u), 2u); }) == "");
    CHECK(rounds([](builder& k, const reg& i) {
              return k.selp(k.mov<u32>(1u), k.mov<u32>(0u), k.and_(i, 4u) != 0u);
          }) == "");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto& n) {  // a word with a bit for each stage
              auto bits = k.mov<u32>(0u);
              k.for_(n, [&](reg i) {
                  const auto slot = k.and_(i, 3u);
                  k.single_thread(q.tid == 0u, [&] {
                      k.mbarrier_arrive_expect_tx(q.full[slot], bytes);
                      k.cp_async_bulk((q.s + slot * 1024u).template assume_aligned<16>(), g, bytes, q.full[slot]);
                  });
                  k.wait(q.full[slot], k.and_(k.shr(bits, slot), 1u));
                  bits = k.xor_(bits, k.shl(k.mov<u32>(1u), slot));
                  k.st(o + q.tid, k.ld(q.s + k.mad_lo(slot, 1024u, q.tid)));
                  k.bar_sync();
              });
          }) == "");
}

TEST_CASE("arrivals") {
    const auto counted = [](auto count, const auto& arrive) {
        return ids(
            [arrive](builder& k, reg n) {
                const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<decltype(count)::value>);
                const auto tid = k.mov(px::tid.x);
                k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
                k.fence_mbarrier_init();
                k.bar_sync();
                arrive(k, bar, tid, n);
            },
            block(128));
    };
    constexpr std::integral_constant<u32, 128> all;
    constexpr std::integral_constant<u32, 4> warps;
    CHECK(counted(all, [](builder& k, auto& bar, auto&, auto&) {  // arrive, work, wait with the token
              const auto token = k.mbarrier_arrive(bar[0]);
              k.nanosleep(20u);
              k.loop([&](px::loop_handle l) { l.break_if(k.mbarrier_try_wait(bar[0], token)); });
          }) == "");
    CHECK(counted(all, [](builder& k, auto& bar, auto& tid, auto&) {  // a leader arrives for its warp
              k.bar_warp_sync();
              k.if_(k.and_(tid, 31u) == 0u, [&] { static_cast<void>(k.mbarrier_arrive(bar[0], 32u)); });
              k.wait(bar[0], 0u);
          }) == "");
    CHECK(counted(warps, [](builder& k, auto& bar, auto&, auto&) {
              k.bar_warp_sync();
              k.single_thread(k.elect_sync(), [&] { static_cast<void>(k.mbarrier_arrive(bar[0])); });
              k.wait(bar[0], 0u);
          }) == "");
    CHECK(counted(all, [](builder& k, auto& bar, auto&, auto& n) {  // the first round has nothing to wait for
              auto parity = k.mov<u32>(0u);
              k.for_(n, [&](reg i) {
                  k.if_(i != 0u, [&] {
                      k.wait(bar[0], parity);
                      parity = k.xor_(parity, 1u);
                  });
                  static_cast<void>(k.mbarrier_arrive(bar[0]));
              });
              k.wait(bar[0], parity);
          }) == "");
    CHECK(counted(all, [](builder& k, auto& bar, auto&, auto& n) {  // two phases a round
              k.for_(n, [&](reg) {
                  static_cast<void>(k.mbarrier_arrive(bar[0]));
                  k.wait(bar[0], 0u);
                  static_cast<void>(k.mbarrier_arrive(bar[0]));
                  k.wait(bar[0], 1u);
              });
          }) == "");
    CHECK(counted(all, [](builder& k, auto& bar, auto& tid, auto&) {  // begun anew for fewer threads
              static_cast<void>(k.mbarrier_arrive(bar[0]));
              k.wait(bar[0], 0u);
              k.bar_sync();
              k.single_thread(tid == 0u, [&] {
                  k.mbarrier_inval(bar[0]);
                  k.mbarrier_init(bar[0]);
              });
              k.fence_mbarrier_init();
              k.bar_sync();
              static_cast<void>(k.mbarrier_arrive(bar[0]));
              k.wait(bar[0], 0u);
          }) == "");
    CHECK(counted(all, [](builder& k, auto& bar, auto& tid, auto&) {  // threads that stop take no part any more
              auto parity = k.mov<u32>(0u);
              k.for_(tid, [&](reg) {
                  static_cast<void>(k.mbarrier_arrive(bar[0]));
                  k.wait(bar[0], parity);
                  parity = k.xor_(parity, 1u);
              });
              static_cast<void>(k.mbarrier_arrive_drop(bar[0]));
          }) == "");
}

TEST_CASE("cp.async") {
    const auto staged = [](const auto& body) {
        return ids(
            [body](builder& k, source g, out o, reg n) {
                const auto s = k.smem_array<f32, 16>(4096, "s");
                const auto tid = k.mov(px::tid.x);
                body(k, (s + tid * 4u).assume_aligned<16>(), (g + tid * 4u).assume_aligned<16>(), o + tid, n);
            },
            block(128));
    };
    CHECK(staged([](builder& k, const auto& s, const auto& g, const auto& o, const reg& n) {  // a group ahead
              k.cp_async<px::cg, 16>(s, g);
              k.cp_async_commit_group();
              k.for_(n, [&](reg) {
                  k.cp_async<px::cg, 16>((s + 512).template assume_aligned<16>(), g);
                  k.cp_async_commit_group();
                  k.cp_async_wait_group<1>();
                  k.bar_sync();
                  k.st(o, k.ld(s));
                  k.bar_sync();
              });
          }) == "");
    CHECK(staged([](builder& k, const auto& s, const auto& g, const auto& o, const reg&) {  // counted by an mbarrier
              const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
              k.single_thread(k.mov(px::tid.x) == 0u, [&] { k.mbarrier_init(bar[0]); });
              k.fence_mbarrier_init();
              k.bar_sync();
              k.cp_async<px::ca, 16>(s, g);
              k.cp_async_mbarrier_arrive_noinc(bar[0]);
              k.wait(bar[0], 0u);
              k.st(o, k.ld(s));
          }) == "");
    CHECK(staged([](builder& k, const auto& s, const auto& g, const auto& o, const reg& n) {  // in some cases
              k.if_(n != 0u, [&] {
                   k.cp_async<px::ca, 16>(s, g);
                   k.cp_async_commit_group();
                   k.cp_async_wait_group<0>();
               }).else_([&] { k.st(s.template as<f32>(), 0.0f); });
              k.bar_sync();
              k.st(o, k.ld(s));
          }) == "");
}

TEST_CASE("turns and roles") {
    CHECK(ids(
              [](builder& k, reg n) {  // two warpgroups take turns at named barriers
                  const auto group = k.shr(k.mov(px::tid.x), 7u);
                  k.if_(group == 1u, [&] { k.bar_arrive(2u, 256u); });
                  k.for_(n, [&](reg) {
                      k.bar_sync(k.add(group, 2u), 256u);
                      k.bar_arrive(k.sub(k.mov<u32>(3u), group), 256u);
                  });
              },
              block(256)) == "");
    CHECK(ids(
              [](builder& k, out o) {  // a group leaves, the others go on by themselves
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 128u, [&] {
                      k.role(128, [&] {
                          k.setmaxnreg_dec<40>();
                          k.ret();
                      });
                  });
                  k.role(256, [&] {
                      k.setmaxnreg_inc<232>();
                      k.bar_sync(1u, 256u);
                      k.st(o + tid, 1.0f);
                  });
              },
              {.reqntid = {384}, .minnctapersm = 1}) == "");
    CHECK(ids(
              [](builder& k, source g, out o, reg n) {  // elected in nested ifs, persistent, with a break
                  const quarters q(k);
                  const auto warp = k.shr(q.tid, 5u);
                  auto parity = k.mov<u32>(0u);
                  k.loop([&](px::loop_handle l) {
                      l.break_if(n == 0u);
                      k.if_(warp == 0u, [&] {
                          k.if_(n != 3u, [&] { k.single_thread(k.elect_sync(), [&] { q.load(k, g, 0); }); }).else_([&] {
                              k.single_thread(k.elect_sync(), [&] { q.load(k, g, 0); });
                          });
                      });
                      k.wait(q.full[0], parity);
                      k.st(o + q.tid, k.ld(q.part(0) + q.tid));
                      parity = k.xor_(parity, 1u);
                      k.bar_sync();
                      k.inst<"sub.u32">(n, n, 1u);
                  });
              },
              block(128)) == "");
}

TEST_CASE("clusters") {
    const auto pair = [](const auto& body) {
        return ids(
            [body](builder& k, source g, out o, reg n) {
                const quarters q(k);
                k.barrier_cluster_arrive();
                k.barrier_cluster_wait();
                body(k, q, g, o, n, k.mov(px::cluster_ctarank));
                k.barrier_cluster_arrive();
                k.barrier_cluster_wait();
            },
            block(128, 2));
    };
    CHECK(pair([](builder& k, const quarters& q, auto& g, auto& o, auto&, const reg& rank) {  // one block sends to both
              k.single_thread(q.tid == 0u, [&] {
                  k.mbarrier_arrive_expect_tx(q.full[0], bytes);
                  k.if_(rank == 0u,
                        [&] { k.cp_async_bulk_multicast(q.part(0), g, bytes, q.full[0], k.mov<px::u16>(3)); });
              });
              k.wait(q.full[0], 0u);
              k.st(o + q.tid, k.ld(q.part(0) + q.tid));
          }) == "");
    CHECK(pair([](builder& k, const quarters& q, auto&, auto& o, auto&, const reg& rank) {  // sums through the peer
              const auto sums = k.smem_array<f32>(128, "sums");
              k.st(k.mapa(sums + q.tid, k.xor_(rank, 1u)), 1.0f);
              k.barrier_cluster_arrive();
              k.barrier_cluster_wait();
              k.st(o + q.tid, k.ld(sums + q.tid));
          }) == "");
    CHECK(pair([](builder& k, const quarters& q, auto& g, auto& o, auto&, const reg& rank) {  // each block by itself
              k.single_thread(q.tid == 0u,
                              [&] { k.if_(rank == 0u, [&] { q.load(k, g, 0); }).else_([&] { q.load(k, g, 0); }); });
              k.wait(q.full[0], 0u);
              k.st(o + q.tid, k.ld(q.part(0) + q.tid));
          }) == "");
    CHECK(
        pair([](builder& k, const quarters& q, auto& g, auto& o, auto&, const reg& rank) {  // phases of one block only
            auto parity = k.mov<u32>(0u);
            k.if_(rank == 0u, [&] {
                k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
                k.wait(q.full[0], parity);
                parity = k.mov<u32>(1u);
                k.bar_sync();
            });
            k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
            k.wait(q.full[0], parity);
            k.st(o + q.tid, k.ld(q.part(0) + q.tid));
        }) == "");
}

namespace {

/// Blocks of a pair store where `peer(k, rank, tid)` says, without having met.
template <class Peer>
std::string stored(const Peer& peer) {
    return ids(
        [peer](builder& k) {
            const auto box = k.smem_array<u32>(128, "box");
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            k.st(k.mapa(box + tid, peer(k, rank, tid)), 1u);
        },
        block(128, 2));
}
/// They store into block `to` under a condition that `body(k, store, rank)` writes.
template <class Body>
std::string stored_if(u32 to, const Body& body) {
    return ids(
        [to, body](builder& k) {
            const auto box = k.smem_array<u32>(128, "box");
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            const auto there = k.mapa(box + tid, to);
            body(k, [&] { k.st(there, 1u); }, rank);
        },
        block(128, 2));
}
const std::string unmet = "G06 G04";

}  // namespace

TEST_CASE("G04, G06: a rank that is the own one") {
    CHECK(stored([](builder&, const reg& rank, const reg&) { return rank; }) == "");
    CHECK(stored([](builder& k, const reg&, const reg&) { return k.mov(px::cluster_ctarank); }) == "");
    CHECK(stored([](builder& k, const reg&, const reg&) { return k.mov(px::cluster_ctaid.x); }) == "");
    CHECK(stored([](builder& k, const reg& rank, const reg&) { return k.and_(rank, 1u); }) == "");
    CHECK(stored([](builder& k, const reg& rank, const reg&) { return k.xor_(k.xor_(rank, 1u), 1u); }) == "");
    CHECK(stored([](builder& k, const reg&, const reg&) { return k.and_(k.mov(px::ctaid.x), 1u); }) == "");
    CHECK(stored([](builder& k, const reg& rank, const reg&) { return k.xor_(rank, 1u); }) == unmet);
    CHECK(stored([](builder& k, const reg& rank, const reg&) { return k.sub(k.mov<u32>(1u), rank); }) == unmet);
    CHECK(stored([](builder& k, const reg& rank, const reg&) { return k.and_(k.add(rank, 1u), 1u); }) == unmet);
    CHECK(stored([](builder& k, const reg&, const reg&) { return k.mov<u32>(1u); }) == unmet);
    CHECK(stored([](builder& k, const reg&, const reg& tid) { return k.and_(tid, 1u); }) == unmet);
}

TEST_CASE("G04, G06: conditions that keep a block at home") {
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) { k.if_(rank == 0u, store); }) == "");
    CHECK(stored_if(1, [](builder& k, auto store, const reg& rank) { k.if_(rank == 0u, [] {}).else_(store); }) == "");
    CHECK(stored_if(1, [](builder& k, auto store, const reg& rank) { k.if_(k.xor_(rank, 1u) == 0u, store); }) == "");
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) {
              k.if_(rank != 0u, [&] { k.exit(); });
              store();
          }) == "");
    CHECK(stored_if(0, [](builder& k, auto store, const reg&) {  // not known
              k.if_(k.and_(k.mov(px::ctaid.x), 1u) == 0u, store);
          }) == "");
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) {
              k.if_(k.and_(rank == 0u, k.mov(px::tid.x) < 5u), store);
          }) == "");
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) {
              k.if_(k.or_(rank != 0u, k.mov(px::tid.x) >= 5u), [] {}).else_(store);
          }) == "");
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) { k.if_(rank != 0u, store); }) == unmet);
    CHECK(stored_if(1, [](builder& k, auto store, const reg& rank) { k.if_(rank == 0u, store); }) == unmet);
    CHECK(stored_if(1, [](builder&, auto store, const reg&) { store(); }) == unmet);
    CHECK(stored_if(0, [](builder& k, auto store, const reg&) { k.if_(k.mov(px::tid.x) < 5u, store); }) == unmet);
    CHECK(stored_if(0, [](builder& k, auto store, const reg& rank) {
              k.if_(k.or_(rank == 0u, k.mov(px::tid.x) >= 5u), [] {}).else_(store);
          }) == unmet);
}

TEST_CASE("code that nothing runs") {
    const auto dead = [](auto body) {
        return ids(
            [body](builder& k, reg n) {
                const auto box = k.smem_array<u32>(128, "box");
                body(k, [&] { k.st(box + 128, n); }, k.mov(px::tid.x), k.mov(px::cluster_ctarank), n);
            },
            block(128, 2));
    };
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) { k.if_(t >= 128u, wrong); }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) {
              k.if_(t < 128u, [] {}).else_(wrong);
          }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) {
              k.if_(k.shr(t, 5u) == 4u, wrong);
          }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) {
              k.if_(k.and_(t, 31u) == 32u, wrong);
          }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg& rank, const reg&) { k.if_(rank == 2u, wrong); }) ==
          "");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg& rank, const reg&) {
              k.if_(rank == 0u, [&] { k.if_(rank == 1u, wrong); });
          }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg&, const reg& n) {
              k.if_(k.mov<u32>(2u) < 2u, [&] { k.for_(n, [&](reg) { wrong(); }); });
          }) == "");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg&, const reg&) {
              k.for_(3u, 3u, 1u, [&](reg) { wrong(); });
          }) == "K03w");
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) { k.if_(t >= 127u, wrong); }) == "C08");
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) {
              k.if_(t < 127u, [] {}).else_(wrong);
          }) == "C08");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg& rank, const reg&) { k.if_(rank == 1u, wrong); }) ==
          "C08");
    CHECK(dead([](builder& k, auto wrong, const reg&, const reg&, const reg& n) { k.if_(n > 2u, wrong); }) == "C08");
    // A loop that nothing runs, and what stands behind the dead arm.
    CHECK(dead([](builder& k, auto wrong, const reg& t, const reg&, const reg&) {
              k.if_(t >= 128u, [&] { k.loop([&](px::loop_handle l) { l.break_(); }); });
              wrong();
          }) == "C08");
}

TEST_CASE("H02, H05: barrier 0 with the count of the block is barrier 0") {
    const auto halves = [](auto other) {
        return ids(
            [other](builder& k, px::global_ptr<u32> to) {
                const auto tid = k.mov(px::tid.x);
                k.if_(tid < 128u, [&] { k.bar_sync(); }).else_([&] { other(k); });
                k.bar_sync();
                k.st(to + tid, 1u);
            },
            block(256));
    };
    CHECK(halves([](builder& k) { k.bar_sync(0u, 256u); }) == "");
    // Who only arrives leaves: coming to barrier 0 again could count the same threads twice.
    CHECK(halves([](builder& k) {
              k.bar_arrive(0u, 256u);
              k.ret();
          }) == "");
    CHECK(halves([](builder& k) { k.barrier_cta_sync(0u, 256u); }) == "");
    CHECK(halves([](builder& k) { k.bar_sync(1u, 128u); }) == "H05");
    CHECK(halves([](builder& k) { k.bar_sync(0u, 192u); }) == "H02 H05");
}

TEST_CASE("H01, H02: a block whose last warp is not full") {
    const auto kernel = [](u32 count) {
        return [count](builder& k, px::global_ptr<u32> to) {
            k.bar_sync(1u, count);
            k.st(to + k.mov(px::tid.x), 1u);
        };
    };
    CHECK(ids(kernel(64), block(48)) == "");
    CHECK(ids(kernel(96), block(48)) == "H01 H02");
}

TEST_CASE("H02: one lane arrives for its warp") {
    const auto kernel = [](u32 count) {
        return [count](builder& k, px::global_ptr<u32> to) {
            const auto tid = k.mov(px::tid.x);
            k.if_(tid < 32u, [&] { k.if_(tid == 0u, [&] { k.barrier_cta_arrive(1u, count); }); }).else_([&] {
                k.barrier_cta_sync(1u, count);
                k.st(to + tid, 1u);
            });
        };
    };
    CHECK(ids(kernel(64), block(64)) == "");
    CHECK(ids(kernel(96), block(96)) == "");
    CHECK(ids(kernel(96), block(128)) == "");
    const auto four = [](builder& k, px::global_ptr<u32> to) {  // a lane of each of four warps
        const auto tid = k.mov(px::tid.x);
        k.if_(tid < 128u, [&] { k.if_(k.and_(tid, 31u) == 0u, [&] { k.barrier_cta_arrive(1u, 160u); }); }).else_([&] {
            k.barrier_cta_sync(1u, 160u);
            k.st(to + tid, 1u);
        });
    };
    CHECK(ids(four, block(160)) == "");
}

TEST_CASE("H04: registers at entry are those of whole quarters of warps") {
    const auto kernel = [](auto change) {
        return [change](builder& k, px::global_ptr<u32> to) {
            const auto tid = k.mov(px::tid.x);
            k.if_(tid < 128u, [&] { change(k); });
            k.st(to + tid, 1u);
        };
    };
    // 65536 registers for 12 warps where there are 9: 168, as ptxas says.
    const px::attributes nine{.reqntid = {288}, .minnctapersm = 1}, twice{.reqntid = {160}, .minnctapersm = 2};
    for (const px::attributes& a : {nine, twice}) {
        CHECK(ids(kernel([](builder& k) { k.setmaxnreg_inc<168>(); }), a) == "");
        CHECK(ids(kernel([](builder& k) { k.setmaxnreg_inc<160>(); }), a) == "H04");
        CHECK(ids(kernel([](builder& k) { k.setmaxnreg_dec<168>(); }), a) == "");
        CHECK(ids(kernel([](builder& k) { k.setmaxnreg_dec<176>(); }), a) == "H04");
    }
}

TEST_CASE("E15: the first wait for a barrier of copies") {
    enum first { parity_0, parity_1, register_1 };
    enum twist {
        plain,
        in_a_loop,
        guarded_read,
        under_a_condition,
        filled_before,
        phase_ended,
        waited_for_before,
        other_array
    };
    const auto kernel = [](first waits, twist how) {
        return [=](builder& k, source g, out o, reg n) {
            const auto s = k.smem_array<f32, 16>(1024, "s"), other = k.smem_array<f32, 16>(1024, "other");
            const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
            if (how == filled_before) k.st(s + tid, 0.0f);
            k.st(other + tid, 0.0f);
            if (how == phase_ended) k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(full[0]); });
            k.fence_mbarrier_init();
            k.fence_proxy_async();
            k.bar_sync();
            k.if_(tid >= 128u, [&] {
                 k.single_thread(tid == 128u, [&] {
                     if (how == waited_for_before) k.wait(full[0], 0);
                     k.mbarrier_arrive_expect_tx(full[0], 4096u);
                     k.cp_async_bulk(s, g, 4096u, full[0]);
                 });
             }).else_([&] {
                auto p = k.mov<u32>(1);
                const auto body = [&] {
                    if (waits == parity_0) k.wait(full[0], 0);
                    if (waits == parity_1) k.wait(full[0], 1);
                    if (waits == register_1) k.wait(full[0], p);
                    p = k.xor_(p, 1u);
                    const auto read = [&] { k.st(o + tid, k.ld((how == other_array ? other : s) + tid)); };
                    if (how == under_a_condition)
                        k.if_(n != 0u, read);
                    else if (how == guarded_read)
                        k.at(n != 0u).st(o + tid, 1.0f);
                    else
                        read();
                };
                if (how == in_a_loop)
                    k.for_(n, [&](const reg&) { body(); });
                else
                    body();
            });
        };
    };
    CHECK(ids(kernel(parity_0, plain), block(256)) == "");
    CHECK(ids(kernel(parity_1, plain), block(256)) == "E15");
    CHECK(ids(kernel(register_1, plain), block(256)) == "E15");
    CHECK(ids(kernel(register_1, in_a_loop), block(256)) == "E15");
    for (const twist how :
         {guarded_read, under_a_condition, filled_before, phase_ended, waited_for_before, other_array}) {
        CAPTURE(how);
        CHECK(ids(kernel(register_1, how), block(256)).find("E15") == std::string::npos);
    }
}

TEST_CASE("E07: partial results of warps, read by one of them") {
    enum writing { guarded, in_an_if, in_one_thread };
    enum reading { all, warp_0, role_0, some_lanes, one_of_each, own, another_warp };
    const auto kernel = [](writing writes, reading reads, bool meets, u32 threads) {
        return [=](builder& k, px::global_ptr<u32> out) {
            const auto part = k.smem_array<u32>(32, "part");
            const auto tid = k.mov(px::tid.x), lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
            const auto sum = k.redux_sync_add(tid, 0xffffffffu);
            const auto write = [&] { k.st(part + warp, sum); };
            if (writes == guarded) k.at(lane == 0u).st(part + warp, sum);
            if (writes == in_an_if) k.if_(lane == 0u, write);
            if (writes == in_one_thread) k.single_thread(lane == 0u, write);
            k.bar_warp_sync();
            if (meets) k.bar_sync();
            const auto read = [&](const reg& i) { k.st(out + tid, k.ld(part + i)); };
            if (reads == all) read(lane);
            if (reads == warp_0) k.if_(warp == 0u, [&] { read(lane); });
            if (reads == role_0) k.if_(tid < 32u, [&] { k.role(32, [&] { read(tid); }); });
            if (reads == some_lanes) k.if_(tid < threads / 32, [&] { read(lane); });
            if (reads == one_of_each) k.at(lane == 0u).st(out + tid, k.ld(part + warp));
            if (reads == own) k.if_(warp == 0u, [&] { k.st(out + tid, k.ld(part + warp)); });
            if (reads == another_warp) k.if_(tid < 32u, [&] {}).else_([&] { read(lane); });
        };
    };
    for (const writing w : {guarded, in_an_if, in_one_thread})
        for (const reading r : {all, warp_0, role_0, some_lanes, another_warp}) {
            CAPTURE(w, r);
            CHECK(ids(kernel(w, r, true, 128), block(128)) == "");
            CHECK(ids(kernel(w, r, false, 128), block(128)) == "E07");
        }
    for (const writing w : {guarded, in_an_if, in_one_thread})
        for (const reading r : {one_of_each, own}) CHECK(ids(kernel(w, r, false, 128), block(128)) == "");
    CHECK(ids(kernel(guarded, warp_0, false, 32), block(32)) == "");       // there are no others
    CHECK(ids(kernel(in_an_if, some_lanes, false, 32), block(32)) == "");  // lane 0 takes its own
}

TEST_CASE("E07: shared memory is told of by a flag") {
    const auto kernel = [](bool listens) {
        return [listens](builder& k, px::global_ptr<u32> to) {
            const auto box = k.smem_array<u32>(32, "box"), flag = k.smem_array<u32>(1, "flag");
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.st(flag, 0u); });
            k.bar_sync();
            k.single_thread(tid == 0u, [&] {
                k.st(box + 3, 7u);
                k.st<px::release, px::cta>(flag, 1u);
            });
            if (listens) k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(flag) == 1u); });
            k.st(to + tid, k.ld(box + 3));
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK(ids(kernel(false), block(128)) == "E07");
}

TEST_CASE("E07: peers tell by an mbarrier while the cluster barrier is open") {
    const auto kernel = [](bool waits) {
        return [waits](builder& k, px::global_ptr<u32> to) {
            const auto box = k.smem_array<u32>(64, "box");
            const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
            const auto tid = k.mov(px::tid.x), peer = k.xor_(k.mov(px::cluster_ctarank), 1u);
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
            k.fence_mbarrier_init();
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            k.st(k.mapa(box + tid, peer), tid);
            k.mbarrier_arrive<px::release, px::cluster>(k.mapa(full[0], peer));
            k.barrier_cluster_arrive();  // early: it only keeps the blocks alive
            if (waits) k.wait<px::acquire, px::cluster>(full[0], 0u);
            k.st(to + tid, k.ld(box + tid));
            k.barrier_cluster_wait();
        };
    };
    CHECK(ids(kernel(true), block(64, 2)) == "");
    CHECK(ids(kernel(false), block(64, 2)) == "E07");
}

TEST_CASE("E01: two rounds make a phase") {
    const auto kernel = [](auto count) {
        return [count](builder& k, px::global_ptr<u32> to, reg n) {
            const auto tick = k.make_mbarrier_ring<"tick">(1, px::arrivals<32>);
            const auto ack = k.make_mbarrier_ring<"ack">(1, px::arrivals<32>);
            const auto done = k.make_mbarrier_ring<"done">(1, count);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u,
                            [&] { k.mbarrier_init(tick[0]), k.mbarrier_init(ack[0]), k.mbarrier_init(done[0]); });
            k.bar_sync();
            k.if_(tid < 32u, [&] {
                 k.for_(n, [&](reg) {
                     k.for_(4u, [&](reg j) {
                         k.wait(tick[0], k.and_(j, 1u));
                         k.mbarrier_arrive(ack[0]);
                         k.mbarrier_arrive(done[0]);
                     });
                 });
             }).else_([&] {
                k.for_(n, [&](reg) {
                    k.for_(2u, [&](reg j) {
                        for (u32 i = 0; i < 2; ++i) {
                            k.mbarrier_arrive(tick[0]);
                            k.wait(ack[0], i);
                        }
                        k.wait(done[0], k.and_(j, 1u));
                        k.st(to + tid, j);
                    });
                });
            });
        };
    };
    CHECK(ids(kernel(px::arrivals<64>), block(64)) == "");
    CHECK(ids(kernel(px::arrivals<48>), block(64)) == "E01");
}

TEST_CASE("E01: an element of a product decides who arrives") {
    const auto kernel = [](bool decides) {
        return [decides](builder& k, map from, px::global_ptr<u32> to) {
            const auto a = k.smem<tile>(1, "a");
            const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
            const auto found = k.make_mbarrier_ring<"found">(1, px::arrivals<1>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_init(full[0]), k.mbarrier_init(found[0]);
                k.fence_mbarrier_init();
                k.mbarrier_arrive_expect_tx(full[0], a);
                k.cp_async_bulk_tensor(a[0], from, px::coords(0u, 0u), full[0]);
            });
            k.bar_sync();
            k.wait(full[0], 0u);
            const auto sum = k.wgmma.make_accumulator<f32, 64>();
            const auto d = k.wgmma.descriptor(a);
            k.wgmma.fence();
            k.wgmma.mma_async(sum, d[0].k_slice(0), d[0].k_slice(0), false);
            k.wgmma.commit_group();
            k.wgmma.wait_group<0>();
            const auto one = decides ? sum[0] == 7.0f : k.mov<u32>(7u) == 7u;
            k.if_(one, [&] { k.mbarrier_arrive(found[0]); });
            k.wait(found[0], 0u);
            k.st(to + tid, 1u);
        };
    };
    CHECK(ids(kernel(true), block(128)) == "");
    CHECK(ids(kernel(false), block(128)) == "E01");
}

TEST_CASE("F09: a number shifted by a register is no constant") {
    const auto shifted = [](auto by) {
        return styled([by](builder& k, const quarters& q, auto& g, auto&, const reg& n) {
            k.single_thread(q.tid == 0u, [&] {
                const auto size = k.shl(k.mov<u32>(8u), by(k, n));
                k.mbarrier_arrive_expect_tx(q.full[0], size);
                k.cp_async_bulk(q.part(0), g, size, q.full[0]);
            });
            k.wait(q.full[0], 0u);
        });
    };
    CHECK(shifted([](builder&, const reg& n) { return n; }) == "");
    CHECK(shifted([](builder& k, const reg&) { return k.mov<u32>(1u); }) == "");
    CHECK(shifted([](builder& k, const reg&) { return k.mov<u32>(0u); }) == "F09");
}

// ---- what the verifier cannot see
// ---------------------------------------------------------------------------------------------

namespace {

constexpr void waits_for_copies(builder& k, reg) { k.cp_async_wait_all(); }

/// A `cp.async` and a load of the same address, with `wait` between them.
template <class Wait>
auto own_copy(const Wait& wait) {
    return [wait](builder& k, source g, out o) {
        const auto tid = k.mov(px::tid.x);
        const auto mine = (k.smem_array<f32, 16>(256, "s") + tid * 4u).assume_aligned<16>();
        k.cp_async<px::cg, 16>(mine, g);
        wait(k, tid);
        k.st(o + tid, k.ld(mine));
    };
}
/// Two blocks of 64 threads: each thread stores into the other block, then `end`.
template <class End>
auto visit(const End& end) {
    return [end](builder& k, px::global_ptr<u32> flag) {
        const auto box = k.smem_array<u32>(64, "box");
        const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
        end(k, [&] { k.st(k.mapa(box + tid, k.xor_(rank, 1u)), 7u); }, tid, rank, flag);
    };
}
void spin(builder& k, const px::global_ptr<u32>& flag, u32 until) {
    k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::gpu>(flag) == until); });
}

}  // namespace

TEST_CASE("E07: the wait stands in raw text or in a device function") {
    CHECK(ids(own_copy([](builder& k, const reg&) { k.raw("cp.async.wait_all;"); }), block(64)) == "");
    CHECK(ids(own_copy([](builder& k, const reg& tid) { k.call<"wait", waits_for_copies>(tid); }), block(64)) == "");
    CHECK(ids(own_copy([](builder& k, const reg& tid) { k.call(k.address_of<"wait", waits_for_copies>(), tid); }),
              block(64)) == "");
    CHECK(ids(own_copy([](builder&, const reg&) {}), block(64)) == "E07 E07");
    CHECK(styled([](builder& k, const quarters& q, auto& g, auto& o, auto&) {
              k.single_thread(q.tid == 0u, [&] { q.load(k, g, 0); });
              k.raw("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%full0], 0; @!p bra again; }");
              k.st(o + q.tid, k.ld(q.s + q.tid));
          }) == "");
}

TEST_CASE("E03: a flag tells that the barrier is initialised") {
    const auto kernel = [](bool listens) {
        return [listens](builder& k, px::global_ptr<u32> flag) {
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
            k.single_thread(k.mov(px::tid.x) == 0u, [&] {
                k.mbarrier_init(bar[0]);
                k.mbarrier_arrive(bar[0]);
                k.st<px::release, px::gpu>(flag, 1u);
            });
            if (listens) spin(k, flag, 1);
            k.wait(bar[0], 0u);
        };
    };
    CHECK(ids(kernel(true), block(64)) == "");
    CHECK(ids(kernel(false), block(64)) == "E03");
}

TEST_CASE("G04: peers that stay for another reason than a cluster barrier of all threads") {
    CHECK(ids(visit([](builder& k, const auto& store, auto& tid, auto&, auto& flag) {  // a counter in global memory
                  store();
                  k.bar_sync();
                  k.single_thread(tid == 0u, [&] { k.red_add<px::release, px::gpu>(flag, 1u); });
                  spin(k, flag, 2);
              }),
              block(64, 2)) == "");
    CHECK(ids(visit([](builder& k, const auto& store, auto& tid, auto& rank, auto& flag) {  // one block waits
                  k.if_(rank == 1u, [&] {
                       store();
                       k.bar_sync();
                       k.single_thread(tid == 0u, [&] { k.st<px::release, px::gpu>(flag, 1u); });
                   }).else_([&] { spin(k, flag, 1); });
              }),
              block(64, 2)) == "");
    const auto warps = [](bool waits) {
        return visit(
            [waits](builder& k, const auto& store, auto& tid, auto&, auto&) {  // a warp leaves, the other waits
                store();
                if (waits) k.barrier_cluster_arrive();
                k.if_(tid >= 32u, [&] { k.exit(); });
                if (waits) k.barrier_cluster_wait();
            });
    };
    CHECK(ids(warps(true), block(64, 2)) == "");
    CHECK(ids(warps(false), block(64, 2)) == "G04");
    CHECK(ids(visit([](builder& k, const auto& store, auto&, auto&, auto&) {
                  store();
                  k.bar_sync();
              }),
              block(64, 2)) == "G04");
}

TEST_CASE("E07: a block reads its own part of what peers write to") {
    const auto kernel = [](bool own) {
        return [own](builder& k, px::global_ptr<u32> to) {
            const auto box = k.smem_array<u32>(2, "box");
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            if (own) k.single_thread(tid == 0u, [&] { k.st(box, 3u); });
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            k.single_thread(tid == 0u, [&] { k.st(k.mapa(box + 1, k.xor_(rank, 1u)), 7u); });
            k.barrier_cluster_arrive();
            const auto x = k.ld(box + (own ? 0 : 1));
            k.barrier_cluster_wait();
            k.st(to + tid, x + k.ld(box + 1));
        };
    };
    CHECK(ids(kernel(true), block(64, 2)) == "");
    CHECK(ids(kernel(false), block(64, 2)) == "E07");
}
