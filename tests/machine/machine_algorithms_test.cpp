// SPDX-License-Identifier: Apache-2.0
// Whole algorithms that the machine was not fitted on, each right as it is, and wrong in the ways its authors get it
// wrong: attention with rings of their own for K and V, a sum over the blocks of a cluster, a Blackwell GEMM with two
// accumulators, a pipeline of cp.async.
#include "played.hpp"

using namespace machine_test;

namespace {

/// S = Q K, O += P V for two warpgroups, each with its own rows of Q; K and V in rings of two.
enum class attention {
    right,
    q_not_waited,
    k_freed_early,
    v_other_parity,
    v_not_freed,
    half_bytes,
    one_frees,
    late_store
};
auto attend(attention how) {
    return [how](builder& k, load_map qm, load_map km, load_map vm, store_map om, reg n) {
        using enum attention;
        const auto q = k.smem<tile>(2, "q"), ks = k.smem<tile>(2, "k"), vs = k.smem<tile>(2, "v");
        const auto o = k.smem<tile>(2, "o");
        const auto q_full = k.make_mbarrier_ring<"q_full">(1, px::arrivals<1>);
        const auto kp = k.make_pipeline<"kp">(2, px::arrivals<1>, px::arrivals<2>);
        const auto vp = k.make_pipeline<"vp">(2, px::arrivals<1>, px::arrivals<2>);
        const auto tid = k.mov(px::tid.x), group = k.shr(tid, 7u);
        k.single_thread(tid == 0u, [&] { k.init(kp), k.init(vp), k.mbarrier_init(q_full[0]); });
        k.fence_mbarrier_init();
        k.bar_sync();
        k.if_(group == 0u, [&] {
             k.single_thread(tid == 0u, [&] {
                 k.mbarrier_arrive_expect_tx(q_full[0], 2 * q.bytes());
                 for (u32 w = 0; w < 2; ++w) k.cp_async_bulk_tensor(q[w], qm, px::coords(0u, 64 * w), q_full[0]);
                 const auto kat = k.producer_state(kp);
                 const auto vat = k.producer_state(vp);
                 k.for_(n, [&](const reg& i) {
                     k.wait_empty(kp, kat);
                     k.mbarrier_arrive_expect_tx(kp.full(kat), how == half_bytes ? ks.bytes() / 2 : ks.bytes());
                     k.cp_async_bulk_tensor(ks[kat.slot()], km, px::coords(0u, k.shl(i, 6u)), kp.full(kat));
                     k.advance(kat);
                     k.wait_empty(vp, vat);
                     k.mbarrier_arrive_expect_tx(vp.full(vat), vs);
                     k.cp_async_bulk_tensor(vs[vat.slot()], vm, px::coords(0u, k.shl(i, 6u)), vp.full(vat));
                     k.advance(vat);
                 });
             });
         }).else_([&] {
            const auto me = k.sub(group, 1u), lane = k.and_(tid, 127u);
            const auto s = k.wgmma.make_accumulator<f32, 64>(), acc = k.wgmma.make_accumulator<f32, 64>();
            for (u32 e = 0; e < 32; ++e) acc[e] = 0.0f;
            const auto dq = k.wgmma.descriptor(q), dk = k.wgmma.descriptor(ks), dv = k.wgmma.descriptor(vs);
            const auto kat = k.consumer_state(kp);
            const auto vat = k.consumer_state(vp);
            const auto leads = lane == 0u;
            if (how != q_not_waited) k.wait(q_full[0], 0u);
            k.for_(n, [&](const reg&) {
                k.wait_full(kp, kat);
                k.wgmma.fence();
                for (u32 j = 0; j < 4; ++j) k.wgmma.mma_async(s, dq[me].k_slice(j), dk[kat.slot()].k_slice(j), j != 0);
                k.wgmma.commit_group();
                if (how == k_freed_early) k.at(leads).mbarrier_arrive(kp.empty(kat));
                k.wgmma.wait_group<0>();
                if (how == one_frees)
                    k.at(tid == 128u).mbarrier_arrive(kp.empty(kat));
                else if (how != k_freed_early)
                    k.at(leads).mbarrier_arrive(kp.empty(kat));
                k.advance(kat);
                if (how == v_other_parity)
                    k.wait(vp.full(vat), k.xor_(vat.parity(), 1u));
                else
                    k.wait_full(vp, vat);
                k.wgmma.fence();
                for (u32 j = 0; j < 4; ++j) k.wgmma.mma_async(acc, dq[me].k_slice(j), dv[vat.slot()].k_slice(j), true);
                k.wgmma.commit_group();
                k.wgmma.wait_group<0>();
                if (how != v_not_freed) k.at(leads).mbarrier_arrive(vp.empty(vat));
                k.advance(vat);
            });
            k.st(k.tile_element(o[me], k.and_(lane, 63u), k.shr(lane, 6u)), k.cvt<bf16, px::rn>(acc[0]));
            k.fence_proxy_async_shared_cta();
            if (how != late_store) k.bar_sync(group, 128u);
            k.single_thread(leads, [&] {
                k.cp_async_bulk_tensor(om, px::coords(0u, k.shl(me, 6u)), o[me]);
                k.cp_async_bulk_commit_group();
                k.cp_async_bulk_wait_group<0>();
            });
        });
    };
}

/// Each block of a cluster sums up its part; the first one adds the others' to its own.
enum class split { right, no_meeting, relaxed, leaves_early, own_barrier, reads_neighbour };
auto split_k(split how) {
    return [how](builder& k, floats in, floats out, reg n) {
        using enum split;
        const auto part = k.smem_array<f32>(128, "part");
        const auto tid = k.mov(px::tid.x), rank = k.mov(px::cluster_ctarank);
        auto sum = k.mov<f32>(0.0f);
        k.for_(n, [&](const reg& i) { sum = k.add(sum, k.ld(in + k.mad_lo(i, 128u, tid))); });
        k.st(part + tid, sum);
        if (how == own_barrier) {
            k.bar_sync();
        } else if (how != no_meeting) {
            if (how == relaxed)
                k.barrier_cluster_arrive<px::relaxed>();
            else
                k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
        }
        k.if_(rank == 0u, [&] {
            for (u32 other = 1; other < 4; ++other) sum = k.add(sum, k.ld(k.mapa(part + tid, other)));
            k.st(out + tid, sum);
        });
        if (how == leaves_early) return;
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
        if (how == reads_neighbour) k.st(out + tid, k.ld(k.mapa(part + tid, k.xor_(rank, 1u))));
    };
}

/// A warp loads, a warp multiplies into one of two accumulators, four warps store the other one.
enum class blackwell_gemm {
    right,
    acc_not_waited,
    acc_not_freed,
    no_wait_ld,
    wrong_half,
    commit_missing,
    slots_by_arrive,
    freed_late
};
auto gemm(blackwell_gemm how) {
    return [how](blackwell& k, px::tma_map<px::tile<bf16, 128, 64>> am, load_map bm, floats out, reg n, reg tiles) {
        using enum blackwell_gemm;
        const auto a = k.smem<px::tile<bf16, 128, 64>>(3, "a");
        const auto b = k.smem<tile>(3, "b");
        const auto load = k.make_pipeline<"load">(3, px::arrivals<1>, px::arrivals<1>);
        const auto acc = k.make_pipeline<"acc">(2, px::arrivals<1>, px::arrivals<128>);
        const auto slot = k.tcgen05.make_slot<128>();
        const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
        k.single_thread(tid == 0u, [&] { k.init(load), k.init(acc); });
        k.fence_mbarrier_init();
        k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot); });
        k.tcgen05.fence_before_thread_sync();
        k.bar_sync();
        k.tcgen05.fence_after_thread_sync();
        const auto memory = k.tcgen05.load(slot);
        const auto sums = memory.accumulator<f32, 128, 64, 0, 2>();
        k.if_(warp == 4u, [&] {
            k.single_thread(k.elect_sync(), [&] {
                const auto at = k.producer_state(load);
                k.for_(k.mul_lo(n, tiles), [&](const reg& i) {
                    k.wait_empty(load, at);
                    k.mbarrier_arrive_expect_tx(load.full(at), a, b);
                    k.cp_async_bulk_tensor(a[at.slot()], am, px::coords(k.shl(i, 6u), 0u), load.full(at));
                    k.cp_async_bulk_tensor(b[at.slot()], bm, px::coords(k.shl(i, 6u), 0u), load.full(at));
                    k.advance(at);
                });
            });
        });
        k.if_(warp == 5u, [&] {
            k.single_thread(k.elect_sync(), [&] {
                const auto at = k.consumer_state(load);
                const auto to = k.producer_state(acc);
                const auto da = k.tcgen05.descriptor(a);
                const auto db = k.tcgen05.descriptor(b);
                k.for_(tiles, [&](const reg&) {
                    if (how != acc_not_waited) k.wait_empty(acc, to);
                    k.tcgen05.fence_after_thread_sync();
                    k.for_(n, [&](const reg& i) {
                        k.wait_full(load, at);
                        k.tcgen05.fence_after_thread_sync();
                        k.tcgen05.multiply(sums[to.slot()], da[at.slot()], db[at.slot()], i != 0u);
                        if (how == slots_by_arrive)
                            k.mbarrier_arrive(load.empty(at));
                        else
                            k.tcgen05.commit(load.empty(at));
                        k.advance(at);
                    });
                    if (how == commit_missing)
                        k.mbarrier_arrive(acc.full(to));
                    else
                        k.tcgen05.commit(acc.full(to));
                    k.advance(to);
                });
            });
        });
        k.if_(warp < 4u, [&] {
            const auto from = k.consumer_state(acc);
            const auto mine = k.tcgen05.quarter(memory, warp).template accumulator<f32, 128, 64, 0, 2>();
            k.for_(tiles, [&](const reg& t) {
                k.wait_full(acc, from);
                k.tcgen05.fence_after_thread_sync();
                const auto which = how == wrong_half ? k.xor_(from.slot(), 1u) : k.add(from.slot(), 0u);
                const auto x = k.tcgen05.ld<px::shape_32x32b, px::x32>(mine[which]);
                if (how == freed_late) k.mbarrier_arrive(acc.empty(from));
                if (how != no_wait_ld) k.tcgen05.wait_ld();
                k.tcgen05.fence_before_thread_sync();
                if (how != acc_not_freed && how != freed_late) k.mbarrier_arrive(acc.empty(from));
                k.advance(from);
                if (how == no_wait_ld) k.tcgen05.wait_ld();
                k.st(out + k.mad_lo(t, 128u, tid), x[0]);
            });
        });
        k.tcgen05.fence_before_thread_sync();
        k.bar_sync();
        k.tcgen05.fence_after_thread_sync();
        k.if_(warp == 0u, [&] { k.tcgen05.dealloc(memory); });
    };
}

/// Three stages filled by cp.async of all threads, two of them ahead.
enum class stages { right, too_many_pending, no_meeting, no_second_meeting, read_ahead, no_commit };
auto multistage(stages how) {
    return [how](builder& k, px::global_ptr<const u32, 16> in, words out, reg n) {
        using enum stages;
        const auto s = k.smem_array<u32, 128>(3 * 512, "s");
        const auto tid = k.mov(px::tid.x), mine = k.shl(tid, 2u);
        const auto fill = [&](const auto& slot, const auto& i) {
            k.cp_async<px::cg, 16>((s + k.mad_lo(slot, 512u, mine)).template assume_aligned<16>(),
                                   (in + k.mad_lo(i, 512u, mine)).template assume_aligned<16>());
        };
        for (u32 stage = 0; stage < 2; ++stage) {
            fill(k.mov<u32>(stage), k.mov<u32>(stage));
            k.cp_async_commit_group();
        }
        auto slot = k.mov<u32>(0u), next = k.mov<u32>(2u), sum = k.mov<u32>(0u);
        const auto step = [&](auto& x) {
            k.inst<"add.u32">(x, x, 1u);
            k.at(x == 3u).template inst<"mov.u32">(x, 0u);
        };
        k.for_(n, [&](const reg& i) {
            if (how == too_many_pending)
                k.cp_async_wait_group<2>();
            else
                k.cp_async_wait_group<1>();
            if (how != no_meeting) k.bar_sync();
            sum = k.add(sum, k.ld(s + k.mad_lo(how == read_ahead ? next : slot, 512u, k.xor_(mine, 256u))));
            if (how == no_second_meeting) {
                fill(slot, k.add(i, 2u));
            } else {
                fill(next, k.add(i, 2u));
            }
            if (how != no_commit) k.cp_async_commit_group();
            step(slot);
            step(next);
        });
        k.cp_async_wait_all();
        k.st(out + tid, sum);
    };
}

}  // namespace

TEST_CASE("attention") {
    using enum attention;
    CHECK(played(attend(right), block(384)) == "");
    for (const attention how :
         {q_not_waited, k_freed_early, v_other_parity, v_not_freed, half_bytes, one_frees, late_store}) {
        CAPTURE(how);
        CHECK(played(attend(how), block(384)) != "");
    }
}

TEST_CASE("a sum over the blocks of a cluster") {
    using enum split;
    CHECK(played(split_k(right), block(128, 4)) == "");
    for (const split how : {no_meeting, relaxed, leaves_early, own_barrier, reads_neighbour}) {
        CAPTURE(how);
        CHECK(played(split_k(how), block(128, 4)) != "");
    }
}

TEST_CASE("a Blackwell GEMM with two accumulators") {
    using enum blackwell_gemm;
    CHECK(played(gemm(right), block(192)) == "");
    for (const blackwell_gemm how :
         {acc_not_waited, acc_not_freed, no_wait_ld, wrong_half, commit_missing, slots_by_arrive, freed_late}) {
        CAPTURE(how);
        CHECK(played(gemm(how), block(192)) != "");
    }
}

TEST_CASE("three stages of cp.async") {
    using enum stages;
    CHECK(played(multistage(right), block(128)) == "");
    for (const stages how : {too_many_pending, no_meeting, no_second_meeting, read_ahead, no_commit}) {
        CAPTURE(how);
        CHECK(played(multistage(how), block(128)) != "");
    }
}
