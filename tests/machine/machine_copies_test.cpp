// SPDX-License-Identifier: Apache-2.0
// What ends later: wgmma and the tiles it reads, bulk stores and the proxies, cp.async.
#include "played.hpp"

using namespace machine_test;

namespace {

/// One tile, multiplied and loaded again.
auto product(int how) {
    return [how](builder& k, load_map map, floats out) {
        const auto a = k.smem<tile>(1, "a");
        const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
        const auto tid = k.mov(px::tid.x);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]); });
        k.fence_mbarrier_init();
        k.bar_sync();
        const auto acc = k.wgmma.make_accumulator<f32, 64>();
        const auto d = k.wgmma.descriptor(a);
        for (u32 round = 0; round < 2; ++round) {
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_arrive_expect_tx(full[0], a);
                k.cp_async_bulk_tensor(a[0], map, px::coords(0, 0), full[0]);
            });
            if (how != 1) k.wait(full[0], round);
            k.wgmma.fence();
            k.wgmma.mma_async(acc, d.k_slice(0), d.k_slice(0), false);
            k.wgmma.commit_group();
            if (how == 2)
                k.wgmma.wait_group<1>();
            else
                k.wgmma.wait_group<0>();
            if (how != 3) k.bar_sync();
        }
        k.wgmma.wait_group<0>();
        k.st(out + tid, acc[0]);
    };
}

/// All threads write a row of words, one thread stores it with a bulk copy, twice.
auto bulk_store(int how) {
    return [how](builder& k, words out) {
        const auto c = k.smem_array<u32>(128, "c");
        const auto tid = k.mov(px::tid.x);
        for (u32 round = 0; round < 2; ++round) {
            k.st(c + tid, round);
            if (how != 1) k.fence_proxy_async_shared_cta();
            if (how != 2) k.bar_sync();
            k.single_thread(tid == 0u, [&] {
                k.cp_async_bulk(out.assume_aligned<16>(), c, 512u);
                if (how != 3) k.cp_async_bulk_commit_group();
                if (how != 4) k.cp_async_bulk_wait_group_read<0>();
            });
            if (how != 5) k.bar_sync();
        }
        k.single_thread(tid == 0u, [&] { k.cp_async_bulk_wait_group<0>(); });
    };
}

/// The last row of a tile is written, the tile stored through a map, and the row written again.
auto tensor_store(bool waits) {
    return [waits](builder& k, store_map out) {
        const auto c = k.smem<tile>(1, "c");
        const auto tid = k.mov(px::tid.x);
        for (u32 round = 0; round < 2; ++round) {
            k.st(k.tile_element(c[0], 63u, tid), k.mov<bf16>(1.0f));
            k.fence_proxy_async_shared_cta();
            k.bar_sync();
            k.single_thread(tid == 0u, [&] {
                k.cp_async_bulk_tensor(out, px::coords(0, 0), c[0]);
                k.cp_async_bulk_commit_group();
                if (waits) k.cp_async_bulk_wait_group_read<0>();
            });
            k.bar_sync();
        }
        k.single_thread(tid == 0u, [&] { k.cp_async_bulk_wait_group<0>(); });
    };
}

/// Every thread copies 16 bytes, all read their neighbour's.
auto thread_copies(int how) {
    return [how](builder& k, px::global_ptr<const f32, 16> in, floats out) {
        const auto c = k.smem_array<f32, 16>(512, "c");
        const auto tid = k.mov(px::tid.x);
        const auto at = k.shl(tid, 2u);
        k.cp_async<px::cg, 16>((c + at).assume_aligned<16>(), (in + at).assume_aligned<16>());
        if (how != 1) k.cp_async_commit_group();
        k.cp_async_wait_group<0>();
        if (how == 2) k.cp_async<px::cg, 16>((c + at).assume_aligned<16>(), (in + at).assume_aligned<16>());
        if (how != 3) k.bar_sync();
        k.st(out + tid, k.ld(c + k.xor_(at, 256u)));
        k.cp_async_wait_all();
    };
}

}  // namespace

TEST_CASE("wgmma reads its tiles until it is waited for") {
    CHECK(played(product(0), block(128)) == "");
    CHECK(has(played(product(1), block(128)), "copy in flight"));
    CHECK(has(played(product(2), block(128)), "overwritten while read asynchronously"));
    CHECK(played(product(3), block(128)) == "");  // the warps of a warpgroup end a product together
}

TEST_CASE("bulk stores read shared memory through the async proxy") {
    CHECK(played(bulk_store(0), block(128)) == "");
    CHECK(played(bulk_store(1), block(128)) == "proxy fence");
    CHECK(has(played(bulk_store(2), block(128)), "race"));
    CHECK(has(played(bulk_store(3), block(128)), "overwritten while read asynchronously"));
    CHECK(has(played(bulk_store(4), block(128)), "overwritten while read asynchronously"));
    CHECK(has(played(bulk_store(5), block(128)), "overwritten while read asynchronously"));
}

TEST_CASE("a tensor store reads the whole tile") {
    CHECK(played(tensor_store(true), block(64)) == "");
    CHECK(has(played(tensor_store(false), block(64)), "overwritten while read asynchronously"));
}

TEST_CASE("cp.async: groups, and other threads' copies") {
    CHECK(played(thread_copies(0), block(128)) == "");
    CHECK(played(thread_copies(1), block(128)) == "copy in flight");
    CHECK(has(played(thread_copies(2), block(128)), "copy in flight"));
    CHECK(has(played(thread_copies(3), block(128)), "copy in flight"));
}
