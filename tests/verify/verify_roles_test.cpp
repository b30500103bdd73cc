// SPDX-License-Identifier: Apache-2.0
// Warps and blocks that do different things: turns at named barriers (H02), initialisation that a role has not met
// (E03), flags in memory (E14), slots filled early (E08, E15), arrivals that depend on the block (E01, E04). Each rule
// with the right kernels beside it.
#include "findings.hpp"

using namespace ptxdsl_test;

namespace {

using reg = px::reg<u32>;
using tile = px::tile<bf16, 64, 64>;
using map = px::tma_map<tile>;
constexpr px::attributes block(u32 threads, u32 cluster = 0) { return {.reqntid = {threads}, .cluster = {cluster}}; }

/// Two warpgroups by turns, each with a barrier of its own; the first warps of the block do something else.
struct turns {
    u32 first = 256, wait = 256, pass = 256;  ///< counts; 0: left out
    bool one_number = false;
};
std::string taken(const turns& t) {
    return ids(
        [t](builder& k, reg n) {
            const auto tid = k.mov(px::tid.x);
            k.if_(tid >= 128u, [&] {
                k.role(256, [&] {
                    const auto index = k.shfl_sync_idx(k.sub(k.shr(tid, 7u), 1u), 0u, 31u, 0xffffffffu);
                    const auto own = k.add(index, 1u);
                    const auto other = t.one_number ? own : px::reg<u32>(k.sub(2u, index));
                    if (t.first != 0) k.if_(index != 0u, [&] { k.bar_arrive(other, t.first); });
                    auto item = k.add(index, k.mov(px::ctaid.x));
                    k.while_([&] { return item < n; },
                             [&] {
                                 if (t.wait != 0) k.bar_sync(own, t.wait);
                                 item = k.add(item, 1u);
                                 if (t.pass != 0) k.at(item < n).bar_arrive(other, t.pass);
                                 item = k.add(item, 1u);
                             });
                });
            });
        },
        block(384));
}

}  // namespace

TEST_CASE("H02: turns of two warpgroups") {
    CHECK(taken({}) == "");
    CHECK(taken({.first = 0}) == "H02");
    CHECK(taken({.pass = 0}) == "H02");
    CHECK(taken({.first = 288}) == "H02");
    CHECK(taken({.first = 224}) == "H02");
    CHECK(taken({.wait = 288}) == "H02");
    CHECK(taken({.wait = 224}) == "H02");
    CHECK(taken({.pass = 224}) == "H02");
    CHECK(taken({.wait = 0}) == "");                           // arrivals alone: nobody waits
    CHECK(taken({.first = 0, .wait = 128, .pass = 0}) == "");  // each for itself
}

TEST_CASE("H02: a wait in front of the arrival that would end it") {
    const auto kernel = [](bool crossed, bool all) {
        return [=](builder& k) {
            k.if_(k.mov(px::tid.x) < 128u, [&] {
                 k.role(128, [&] {
                     k.bar_sync<1, 256>();
                     k.bar_arrive<2, 256>();
                 });
             }).else_([&] {
                k.role(128, [&] {
                    if (!crossed) k.bar_arrive<1, 256>();
                    k.bar_sync<2, 256>();
                    if (crossed) k.bar_arrive<1, 256>();
                });
            });
            if (all) k.bar_sync();
        };
    };
    CHECK(ids(kernel(false, false), block(256)) == "");
    CHECK(ids(kernel(true, false), block(256)) == "H02");
    CHECK(ids(kernel(true, true), block(256)) == "H02");
}

TEST_CASE("H02: who comes is not known") {
    CHECK(ids(  // one warp of each pair, by a value from memory
              [](builder& k, px::global_ptr<const u32> g) {
                  k.if_(k.ld(g + k.shr(k.mov(px::tid.x), 5u)) == 0u, [&] { k.bar_sync<1, 64>(); });
              },
              block(128)) == "");
    CHECK(ids(  // pairs of warps: each has its number, the others leave by their index
              [](builder& k, reg n) {
                  const auto warp = k.shr(k.mov(px::tid.x), 5u);
                  auto i = k.mov<u32>(0);
                  k.loop([&](auto loop) {
                      loop.break_if(k.mul_lo(warp, 3u) > 6u);
                      k.bar_sync(k.add(k.shr(warp, 1u), 1u), 32u);
                      i = k.add(i, 1u);
                      loop.break_if(i >= n);
                  });
              },
              block(256)) == "");
    CHECK(ids(  // the same number with and without a count
              [](builder& k) {
                  k.if_(k.mov(px::tid.x) < 64u, [&] { k.bar_arrive<0, 128>(); }).else_([&] { k.bar_sync<0, 128>(); });
                  k.bar_sync();
              },
              block(128)) == "");
    CHECK(ids(  // the wait is in one case only
              [](builder& k, reg n) {
                  const auto tid = k.mov(px::tid.x);
                  k.if_(tid < 64u, [&] {
                       k.if_(n != 0u, [&] { k.bar_sync<1, 128>(); });
                       k.bar_arrive<2, 128>();
                   }).else_([&] {
                      k.bar_sync<2, 128>();
                      k.if_(n != 0u, [&] { k.bar_arrive<1, 128>(); });
                  });
              },
              block(128)) == "");
}

TEST_CASE("E03: a barrier of a role that has not met who initialised") {
    const auto kernel = [](auto meet) {
        return [meet](builder& k) {
            const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
            meet(k, tid, bar);
            k.if_(tid >= 128u, [&] { k.role(128, [&] { k.mbarrier_arrive(bar.stage(0)); }); });
        };
    };
    const auto own = [](builder& k, const auto& tid, const auto&) {
        k.if_(tid >= 128u, [&] { k.role(128, [&] { k.bar_sync<1, 128>(); }); });
    };
    CHECK(ids(kernel(own), block(256)) == "E03");
    CHECK(ids(kernel([](builder& k, const auto&, const auto&) { k.bar_sync(); }), block(256)) == "");
    CHECK(ids(kernel([own](builder& k, const auto& tid, const auto& bar) {  // one warp of the role has met it
                  k.if_(tid < 32u, [&] { k.bar_arrive<2, 64>(); });
                  k.if_(k.shr(tid, 5u) == 4u, [&] { k.bar_sync<2, 64>(); });
                  own(k, tid, bar);
              }),
              block(256)) == "");
    CHECK(ids(kernel([own](builder& k, const auto& tid, const auto& bar) {  // the barrier is the initialiser's as well
                  k.if_(tid < 128u, [&] { k.role(128, [&] { k.bar_arrive<1, 256>(); }); });
                  k.if_(tid >= 128u, [&] { k.role(128, [&] { k.bar_sync<1, 256>(); }); });
                  own(k, tid, bar);
              }),
              block(256)) == "");
}

TEST_CASE("E14: a flag is set back before all have seen it") {
    const auto kernel = [](bool meets, bool each, bool own_flag) {
        return [=](builder& k, px::global_ptr<u32> flags) {
            const auto tid = k.mov(px::tid.x);
            const auto group = k.shr(tid, 7u);
            const auto flag = flags + (own_flag ? px::reg<u32>(k.mov(tid)) : group);
            k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
            if (meets) k.bar_sync(k.add(group, 1u), 128u);
            if (each)
                k.st<px::relaxed, px::gpu>(flag, 0u);
            else
                k.at(k.and_(tid, 127u) == 0u).st<px::relaxed, px::gpu>(flag, 0u);
        };
    };
    CHECK(ids(kernel(false, false, false), block(256)) == "E14");
    CHECK(ids(kernel(true, false, false), block(256)) == "");
    CHECK(ids(kernel(false, false, true), block(256)) == "");
    CHECK(ids(kernel(false, true, true), block(256)) == "");
    CHECK(ids(
              [](builder& k, px::global_ptr<u32> flag) {  // it says the same once more
                  k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
                  k.at(k.mov(px::tid.x) == 0u).st<px::relaxed, px::gpu>(flag, 1u);
              },
              block(128)) == "");
    CHECK(ids(
              [](builder& k, px::global_ptr<u32> flag) {  // one thread looks
                  k.single_thread(k.mov(px::tid.x) == 0u, [&] {
                      k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
                      k.st<px::relaxed, px::gpu>(flag, 0u);
                  });
              },
              block(128)) == "");
}

namespace {

/// One thread fills slots, a warpgroup frees them; the first slots are filled before the loop that waits.
struct early {
    bool advances = true, toggles = true;
    u32 parity = 1;
};
std::string filled(const early& e) {
    return ids(
        [e](builder& k, map m, reg steps) {
            const auto a = k.smem<tile>(4, "a");
            const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrivals<128>);
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.bar_sync();
            const auto fill = [&](const reg& slot) {
                k.mbarrier_arrive_expect_tx(pipe.full()[slot], a);
                k.cp_async_bulk_tensor(a[slot], m, px::coords(0u, 0u), pipe.full()[slot]);
            };
            k.if_(tid < 128u, [&] {
                 k.single_thread(tid == 0u, [&] {
                     const auto slot = k.mov<u32>(0), parity = k.mov<u32>(e.parity);
                     const auto next = [&](bool toggles) {
                         k.inst<"add.u32">(slot, slot, 1u);
                         const auto wrap = slot == 4u;
                         k.at(wrap).inst<"mov.u32">(slot, 0u);
                         if (toggles) k.at(wrap).inst<"xor.b32">(parity, parity, 1u);
                     };
                     const auto head = k.min(steps, 4u);
                     k.for_(head, [&](reg i) { fill(i); });
                     if (e.advances) k.for_(head, [&](reg) { next(e.toggles); });
                     k.for_(head, steps, 1u, [&](reg) {
                         k.wait(pipe.empty()[slot], parity);
                         fill(slot);
                         next(true);
                     });
                 });
             }).else_([&] {
                k.role(128, [&] {
                    const auto at = k.consumer_state(pipe);
                    k.for_(steps, [&](reg) {
                        k.wait_full(pipe, at);
                        k.mbarrier_arrive(pipe.empty(at));
                        k.advance(at);
                    });
                });
            });
        },
        block(256));
}

}  // namespace

TEST_CASE("E08: slots that were filled before the loop that waits for free ones") {
    CHECK(filled({}) == "");
    CHECK(filled({.advances = false}) == "E08");
    CHECK(filled({.toggles = false}) == "E08");
    CHECK(filled({.advances = false, .parity = 0}) == "");  // all four were filled: the first is free after one round
}

TEST_CASE("E01: a slot that is freed once, by one of two statements") {
    const auto kernel = [](u32 count, auto use) {
        return [count, use](builder& k, map m, reg steps) {
            const auto a = k.smem<tile>(4, "a");
            const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrival_count{128 * count});
            const auto tid = k.mov(px::tid.x);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.bar_sync();
            k.if_(tid < 128u, [&] {
                 k.single_thread(tid == 0u, [&] {
                     const auto at = k.producer_state(pipe);
                     k.for_(steps, [&](reg) {
                         k.wait_empty(pipe, at);
                         k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                         k.cp_async_bulk_tensor(a[at.slot()], m, px::coords(0u, 0u), pipe.full(at));
                         k.advance(at);
                     });
                 });
             }).else_([&] { k.role(128, [&] { use(k, pipe, k.consumer_state(pipe), steps); }); });
        };
    };
    const auto late = [](builder& k, const auto& pipe, const auto& at, const reg& steps) {
        auto before = k.mov<u32>(0);
        k.wait_full(pipe, at);
        before = at.slot();
        k.advance(at);
        k.for_(1u, steps, 1u, [&](reg) {
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty()[before]);
            before = at.slot();
            k.advance(at);
        });
        k.mbarrier_arrive(pipe.empty()[before]);
    };
    const auto twice = [](builder& k, const auto& pipe, const auto& at, const reg& steps) {
        k.for_(steps, [&](reg) {
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty(at));
            k.wait_full(pipe, at);
            k.mbarrier_arrive(pipe.empty(at));
            k.advance(at);
        });
    };
    const auto uneven = [](builder& k, const auto& pipe, const auto& at, const reg& steps) {  // two waits ahead
        const auto behind = k.consumer_state(pipe);
        for (int i = 0; i < 3; ++i) k.wait_full(pipe, at), k.advance(at);
        k.for_(steps, [&](reg) {
            k.mbarrier_arrive(pipe.empty(behind));
            k.mbarrier_arrive(pipe.empty(behind));
            k.advance(behind);
            k.wait_full(pipe, at);
            k.advance(at);
        });
    };
    CHECK(ids(kernel(1, late), block(256)) == "");
    CHECK(ids(kernel(2, late), block(256)) == "E01");
    CHECK(ids(kernel(2, twice), block(256)) == "");
    CHECK(ids(kernel(2, uneven), block(256)) == "");
}

namespace {

/// Blocks of two rows and two columns: copies go to the row, slots are freed in the row and the column.
struct grid_of_blocks {
    u32 arrivals = 6, bytes = 2 * 8192;
    bool own_only = false;     ///< frees the slot of the own block three times
    bool even_blocks = false;  ///< only they load, for both
};
std::string shared_by(const grid_of_blocks& g) {
    return ids(
        [g](builder& k, map m, reg steps) {
            const auto a = k.smem<tile>(4, "a");
            const auto pipe = k.make_pipeline<"load">(4, px::arrivals<1>, px::arrival_count{g.arrivals});
            const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
            k.single_thread(tid == 0u, [&] { k.init(pipe); });
            k.fence_mbarrier_init();
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
            const auto row = k.rem(rank, 2u), col = k.div(rank, 2u);
            k.if_(tid < 128u, [&] {
                 k.single_thread(tid == 0u, [&] {
                     const auto at = k.producer_state(pipe);
                     const auto mask = k.cvt<px::u16>(k.shl(k.mov<u32>(0b0101), row));
                     k.for_(steps, [&](reg) {
                         k.wait_empty(pipe, at);
                         k.mbarrier_arrive_expect_tx(pipe.full(at), g.bytes);
                         const auto load = [&] {
                             k.cp_async_bulk_tensor_multicast(a[at.slot()], m, px::coords(0u, 0u), pipe.full(at), mask);
                         };
                         if (g.even_blocks)
                             k.if_(k.and_(col, 1u) == 0u, load);
                         else
                             load();
                         k.advance(at);
                     });
                 });
             }).else_([&] {
                k.role(256, [&] {
                    const auto t = k.and_(tid, 127u);
                    const auto acc = k.wgmma.make_accumulator<f32, 64>();
                    const auto d = k.wgmma.descriptor(a);
                    const auto other = k.sub(t, 2u);
                    const auto column = k.mad_lo(col, 2u, t);
                    const auto to =
                        k.selp(column, k.mad_lo(k.selp(k.add(other, 1u), other, other >= col), 2u, row), t < 2u);
                    const auto freed = k.mapa(pipe.empty(), g.own_only ? rank : to);
                    const auto at = k.consumer_state(pipe);
                    k.for_(steps, [&](reg) {
                        k.wait_full(pipe, at);
                        k.wgmma.fence();
                        k.wgmma.mma_async(acc, d[at.slot()], d[at.slot()], false);
                        k.wgmma.commit_group();
                        k.wgmma.wait_group<0>();
                        k.at(t < 3u).mbarrier_arrive(freed[at.slot()]);
                        k.advance(at);
                    });
                });
            });
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
        },
        block(384, 4));
}

}  // namespace

TEST_CASE("E01, E04: arrivals and bytes by the rank of the block") {
    CHECK(shared_by({}) == "");
    CHECK(shared_by({.arrivals = 5}) == "E01");
    CHECK(shared_by({.arrivals = 7}) == "E01");
    CHECK(shared_by({.bytes = 8192}) == "E04");
    CHECK(shared_by({.bytes = 3 * 8192}) == "E04");
    CHECK(shared_by({.bytes = 8192, .even_blocks = true}) == "");
    CHECK(shared_by({.own_only = true}) == "");
}
