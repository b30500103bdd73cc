// SPDX-License-Identifier: Apache-2.0
// What only shows when somebody is late: phases that end twice before one is looked at, slots freed in another's name,
// threads that look at memory again and again. Each wrong kernel here once passed for a right one.
#include "played.hpp"

using namespace machine_test;

namespace {

/// A ring of four tiles; the consumers free the slot they have read, or the next one.
auto freed(bool next) {
    return [next](builder& k, load_map map, floats out, reg n) {
        const auto a = k.smem<tile>(4, "a");
        const auto pipe = k.make_pipeline<"ring">(4, px::arrivals<1>, px::arrivals<128>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        k.bar_sync();
        k.if_(tid < 128u, [&] {
             k.single_thread(tid == 0u, [&] {
                 const auto at = k.producer_state(pipe);
                 k.for_(n, [&](const reg& i) {
                     k.wait_empty(pipe, at);
                     k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                     k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(i, 0u), pipe.full(at));
                     k.advance(at);
                 });
             });
         }).else_([&] {
            const auto at = k.consumer_state(pipe);
            k.for_(n, [&](const reg&) {
                k.wait_full(pipe, at);
                k.st(out + tid, k.cvt<f32>(k.ld(k.tile_element(a[at.slot()], 1u, 2u))));
                if (next) k.advance(at);
                k.mbarrier_arrive(pipe.empty(at));
                if (!next) k.advance(at);
            });
        });
    };
}

/// Two groups of consumers take every other run of `n` slots. Who waits for slots that the other group has before it
/// must not come early: a parity looks the same two phases later.
auto turns(bool ordered) {
    return [ordered](builder& k, load_map map, floats out, reg n, reg runs) {
        const auto a = k.smem<tile>(4, "a");
        const auto pipe = k.make_pipeline<"ab">(4, px::arrivals<1>, px::arrivals<128>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        k.bar_sync();
        const auto group = k.shr(tid, 7u);
        k.if_(group == 0u, [&] {
             k.single_thread(tid == 0u, [&] {
                 const auto at = k.producer_state(pipe);
                 k.for_(k.mul_lo(n, k.shl(runs, 1u)), [&](const reg& i) {
                     k.wait_empty(pipe, at);
                     k.mbarrier_arrive_expect_tx(pipe.full(at), a);
                     k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(i, 0u), pipe.full(at));
                     k.advance(at);
                 });
             });
         }).else_([&] {
            const auto me = k.sub(group, 1u), other = k.xor_(me, 1u);
            const auto at = k.consumer_state(pipe);
            k.if_(me == 1u, [&] {
                k.advance(at, n);
                if (ordered) k.bar_arrive(1u, 256u);  // the first turn is the other group's
            });
            k.for_(runs, [&](const reg&) {
                if (ordered) k.bar_sync(k.add(me, 1u), 256u);
                k.for_(n, [&](const reg&) {
                    k.wait_full(pipe, at);
                    k.st(out + tid, k.cvt<f32>(k.ld(k.tile_element(a[at.slot()], 1u, 2u))));
                    k.mbarrier_arrive(pipe.empty(at));
                    k.advance(at);
                });
                if (ordered) k.bar_arrive(k.add(other, 1u), 256u);
                k.advance(at, n);
            });
            if (ordered) k.if_(me == 0u, [&] { k.bar_sync(1u, 256u); });
        });
    };
}

/// One thread tells 32 others of two rounds, `done` after each; they answer or do not.
auto signals(bool answered) {
    return [answered](builder& k, words out, reg n) {
        const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
        const auto seen = k.make_mbarrier_ring<"seen">(1, px::arrivals<32>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]), k.mbarrier_init(seen[0]); });
        k.bar_sync();
        k.if_(tid < 32u, [&] {
             k.single_thread(tid == 0u, [&] {
                 k.for_(n, [&](const reg& i) {
                     if (answered) k.wait(seen[0], k.xor_(k.and_(i, 1u), 1u));
                     k.mbarrier_arrive(done[0]);
                 });
             });
         }).else_([&] {
            k.for_(n, [&](const reg& i) {
                k.wait(done[0], k.and_(i, 1u));
                if (answered) k.mbarrier_arrive(seen[0]);
                k.st(out + tid, i);
            });
        });
    };
}

/// Four warps count themselves in by a word of shared memory and look at it until all are there.
auto counted_in(bool released) {
    return [released](builder& k, words out) {
        const auto box = k.smem_array<u32>(4, "box"), count = k.smem_array<u32>(1, "count");
        const auto tid = k.mov(px::tid.x), lane = k.and_(tid, 31u), warp = k.shr(tid, 5u);
        k.single_thread(tid == 0u, [&] { k.st(count, 0u); });
        k.bar_sync();
        k.if_(lane == 0u, [&] {
            if (released) k.st(box + warp, tid);
            k.red_add<px::release, px::cta>(count, 1u);
            if (!released) k.st(box + warp, tid);
        });
        k.loop([&](px::loop_handle l) { l.break_if(k.ld<px::acquire, px::cta>(count) == 4u); });
        k.st(out + tid, k.ld(box + k.and_(tid, 3u)));
    };
}

/// Two accumulators, the second `distance` columns behind the first, both read after both were summed up.
auto accumulators(int distance) {
    return [distance](blackwell& k, px::tma_map<px::tile<bf16, 128, 64>> map, floats out) {
        const auto a = k.smem<px::tile<bf16, 128, 64>>(1, "a");
        const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
        const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
        const auto slot = k.tcgen05.make_slot<256>();
        const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]), k.mbarrier_init(done[0]); });
        k.fence_mbarrier_init();
        k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot); });
        k.tcgen05.fence_before_thread_sync();
        k.bar_sync();
        k.tcgen05.fence_after_thread_sync();
        const auto memory = k.tcgen05.load(slot);
        const auto mine = k.tcgen05.quarter(memory, warp);
        const auto both = [&](const auto& first, const auto& second, const auto& mine_first, const auto& mine_second) {
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_arrive_expect_tx(full[0], a);
                k.cp_async_bulk_tensor(a[0], map, px::coords(0, 0), full[0]);
                k.tcgen05.wait(full[0], 0u);
                const auto d = k.tcgen05.descriptor(a);
                k.tcgen05.multiply(first, d, d, false);
                k.tcgen05.multiply(second, d, d, false);
                k.tcgen05.commit(done[0]);
            });
            k.tcgen05.wait(done[0], 0u);
            const auto x = k.tcgen05.ld<px::shape_32x32b, px::x8>(mine_first),
                       y = k.tcgen05.ld<px::shape_32x32b, px::x8>(mine_second);
            k.tcgen05.wait_ld();
            k.st(out + tid, k.add(x[0], y[0]));
        };
        if (distance == 64)
            both(memory.accumulator<f32, 128, 128>(), memory.accumulator<f32, 128, 128, 64>(),
                 mine.accumulator<f32, 128, 128>(), mine.accumulator<f32, 128, 128, 64>());
        else
            both(memory.accumulator<f32, 128, 128>(), memory.accumulator<f32, 128, 128, 128>(),
                 mine.accumulator<f32, 128, 128>(), mine.accumulator<f32, 128, 128, 128>());
        k.tcgen05.fence_before_thread_sync();
        k.bar_sync();
        k.tcgen05.fence_after_thread_sync();
        k.if_(warp == 0u, [&] { k.tcgen05.dealloc(memory); });
    };
}

/// A block takes the work of others that have not been launched; one thread asks, all read the response.
auto taken_over(int how) {
    return [how](blackwell& k, words out) {
        const auto response = k.smem_array<px::b128>(2, "response");
        const auto clc = k.make_pipeline<"clc">(2, px::arrivals<1>, px::arrivals<64>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.init(clc); });
        k.fence_mbarrier_init();
        k.bar_sync();
        auto x = k.mov(px::ctaid.x);
        const auto asks = k.producer_state(clc);
        const auto reads = k.consumer_state(clc);
        k.loop([&](px::loop_handle l) {
            k.single_thread(tid == 0u, [&] {
                if (how != 1) k.wait_empty(clc, asks);
                k.mbarrier_arrive_expect_tx(clc.full(asks), how == 2 ? 32u : 16u);
                k.clusterlaunchcontrol_try_cancel((response + asks.slot()).assume_aligned<16>(), clc.full(asks));
            });
            k.advance(asks);
            k.st(out + x, tid);
            if (how != 3) k.wait_full(clc, reads);
            const auto v = k.ld((response + reads.slot()).assume_aligned<16>());
            const auto more = k.clusterlaunchcontrol_query_cancel_is_canceled(v);
            x = k.clusterlaunchcontrol_query_cancel_get_first_ctaid_x(v);
            k.fence_proxy_async_shared_cta();
            if (how != 4) k.mbarrier_arrive(clc.empty(reads));
            k.advance(reads);
            l.break_if(!more);
        });
    };
}

}  // namespace

TEST_CASE("the next slot is freed instead of the one read") {
    CHECK(played(freed(false), block(256)) == "");
    CHECK(played(freed(true), block(256)) == "deadlock");
}

TEST_CASE("two groups take turns") {
    CHECK(played(turns(true), block(384)) == "");
    CHECK(played(turns(false), block(384)) != "");
}

TEST_CASE("signals nobody answers") {
    CHECK(played(signals(true), block(64)) == "");
    CHECK(played(signals(false), block(64)) == "deadlock");
}

TEST_CASE("threads look at a word until all are counted in") {
    CHECK(played(counted_in(true), block(128)) == "");
    CHECK(played(counted_in(false), block(128)) == "race");
}

TEST_CASE("an accumulator in the middle of another") {
    CHECK(played(accumulators(128), block(128)) == "");
    CHECK(played(accumulators(64), block(128), true) == "accumulator overwritten");
}

TEST_CASE("work of blocks that have not been launched") {
    CHECK(played(taken_over(0), block(64)) == "");
    for (int how = 1; how <= 4; ++how) {
        CAPTURE(how);
        CHECK(played(taken_over(how), block(64)) != "");
    }
}
