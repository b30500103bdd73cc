// SPDX-License-Identifier: Apache-2.0
// tcgen05: products behind commits, loads behind waits, tensor memory taken, freed and shared by warps.
#include "played.hpp"

using namespace machine_test;

namespace {

using operand_tile = px::tile<bf16, 128, 64>;
using operand_map = px::tma_map<operand_tile>;

/// One tile times itself, twice, into one accumulator that all warps load.
auto product(int how) {
    return [how](blackwell& k, operand_map map, floats out) {
        const auto a = k.smem<operand_tile>(1, "a");
        const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
        const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
        const auto slot = k.tcgen05.make_slot<128>();
        const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]), k.mbarrier_init(done[0]); });
        k.fence_mbarrier_init();
        k.bar_sync();
        k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot); });
        k.tcgen05.fence_before_thread_sync();
        if (how != 1) k.bar_sync();
        k.tcgen05.fence_after_thread_sync();
        const auto memory = k.tcgen05.load(slot);
        const auto sum = memory.accumulator<f32, 128, 128>();
        const auto d = k.tcgen05.descriptor(a);
        const auto mine = k.tcgen05.quarter(memory, how == 4 ? k.xor_(warp, 1u) : warp);
        for (u32 round = 0; round < 2; ++round) {
            k.single_thread(tid == 0u, [&] {
                k.mbarrier_arrive_expect_tx(full[0], a);
                k.cp_async_bulk_tensor(a[0], map, px::coords(0, 0), full[0]);
                if (how != 2) k.tcgen05.wait(full[0], round);
                k.tcgen05.multiply(sum, d, d, false);
                k.tcgen05.commit(done[0]);
            });
            if (how != 3) k.tcgen05.wait(done[0], round);
            const auto x = k.tcgen05.ld<px::shape_32x32b, px::x8>(mine.template accumulator<f32, 128, 128>());
            k.tcgen05.wait_ld();
            k.st(out + tid, x[0]);
            k.tcgen05.fence_before_thread_sync();
            if (how != 5) k.bar_sync();
            k.tcgen05.fence_after_thread_sync();
        }
        if (how != 6) k.if_(warp == 0u, [&] { k.tcgen05.dealloc(memory); });
    };
}

/// The warps write their quarter and load it again, each other warp's work in between.
auto stored(bool waits) {
    return [waits](blackwell& k, words out) {
        const auto slot = k.tcgen05.make_slot<32>();
        const auto tid = k.mov(px::tid.x), warp = k.shr(tid, 5u);
        k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot); });
        k.bar_sync();
        const auto memory = k.tcgen05.load(slot);
        const auto mine = k.tcgen05.quarter(memory, warp).template accumulator<f32, 128, 32>();
        const auto x = k.tcgen05.ld<px::shape_32x32b, px::x2>(mine);
        k.tcgen05.wait_ld();
        k.tcgen05.st<px::shape_32x32b, px::x2>(mine, x);
        if (waits) k.tcgen05.wait_st();
        const auto y = k.tcgen05.ld<px::shape_32x32b, px::x2>(mine);
        k.tcgen05.wait_ld();
        k.tcgen05.wait_st();
        k.st(out + tid, k.cvt<u32, px::rzi>(y[0]));
        k.bar_sync();
        k.if_(warp == 0u, [&] { k.tcgen05.dealloc(memory); });
    };
}

}  // namespace

TEST_CASE("tcgen05.mma ends with its commit") {
    CHECK(played(product(0), block(128)) == "");
    CHECK(has(played(product(1), block(128)), "race"));
    CHECK(has(played(product(2), block(128)), "copy in flight"));
    CHECK(has(played(product(3), block(128)), "tensor memory"));
    CHECK(has(played(product(4), block(128)), "no tensor memory there"));
    CHECK(has(played(product(5), block(128)), "tensor memory"));
    CHECK(played(product(6), block(128)) == "tensor memory kept");
}

TEST_CASE("tcgen05.st ends with its wait") {
    CHECK(played(stored(true), block(128)) == "");
    CHECK(played(stored(false), block(128)) == "tensor memory");
}
