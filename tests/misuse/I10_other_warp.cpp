// SPDX-License-Identifier: Apache-2.0
// I10: the lanes of another warp. I07: an accumulator in columns of another one. I05: rows of A that nobody multiplies.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using blackwell = px::builder<px::sm_100a>;
using tile = px::tile<bf16, 128, 64>;

/// One product of two tiles and what `load` does with the sums; `multiply` gets the memory and both descriptors.
template <class Multiply, class Load>
constexpr void product(blackwell& k, px::tma_map<tile> am, px::tma_map<tile> bm, Multiply multiply, Load load) {
    const auto a = k.smem<tile>(1, "a"), b = k.smem<tile>(1, "b");
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto slot = k.tcgen05.make_slot<256>("slot");
    const auto tid = k.mov(px::tid.x);
    const auto warp = tid >> 5u;
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(full[0]), k.mbarrier_init(done[0]); });
    k.fence_mbarrier_init();
    k.if_(warp == 0u, [&] { k.tcgen05.alloc(slot), k.tcgen05.relinquish_alloc_permit(slot); });
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.tcgen05.fence_after_thread_sync();
    const auto memory = k.tcgen05.load(slot);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive_expect_tx(full[0], a, b);
        k.cp_async_bulk_tensor(a[0], am, px::coords(0u, 0u), full[0]);
        k.cp_async_bulk_tensor(b[0], bm, px::coords(0u, 0u), full[0]);
        k.wait(full[0], 0u);
        multiply(memory, k.tcgen05.descriptor(a), k.tcgen05.descriptor(b));
        k.tcgen05.commit(done[0]);
    });
    k.tcgen05.wait(done[0], 0u);
    load(memory, warp, tid);
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.if_(warp == 0u, [&] { k.tcgen05.fence_after_thread_sync(), k.tcgen05.dealloc(memory); });
}
constexpr void load_one(blackwell& k, const auto& mine, px::global_ptr<f32> out) {
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x1>(mine.template accumulator<f32, 128, 128>());
    k.tcgen05.wait_ld();
    k.st(out, v[0].template as<f32>());
}

constexpr void body(blackwell& k, px::tma_map<tile> am, px::tma_map<tile> bm, px::global_ptr<f32> out) {
    const auto multiply = [&](const auto& memory, const auto& a, const auto& b) {
#if PTXDSL_CASE == 4
        // expect-4: PTXDSL-I07 "columns 64 to 191" "columns 0 to 127"
        k.tcgen05.multiply(memory.template accumulator<f32, 128, 128>(), a, b, false);
        k.tcgen05.multiply(memory.template accumulator<f32, 128, 128, 64>(), a, b, false);  // here-4
#elif PTXDSL_CASE == 5
        // warn-5: PTXDSL-I05 "tile 'a' has 128 rows, of which 64 are multiplied"
        k.tcgen05.multiply(memory.template accumulator<f32, 64, 128>(), a, b, false);  // here-5
#else
        k.tcgen05.multiply(memory.template accumulator<f32, 128, 128>(), a, b, false);
        k.tcgen05.multiply(memory.template accumulator<f32, 128, 128, 128>(), a, b, false);
        k.tcgen05.multiply(memory.template accumulator<f32, 128, 128>(), a, b, true);
#endif
    };
    product(k, am, bm, multiply, [&](const auto& memory, const auto& warp, const auto& tid) {
        k.if_(warp >= 2u, [&] {
#if PTXDSL_CASE == 1
            // expect-1: PTXDSL-I10 "warp 2 uses lanes 96 to 127"
            load_one(k, k.tcgen05.quarter(memory, k.add(warp, 1u)), out + tid);  // here-1
#elif PTXDSL_CASE == 2
            // expect-2: PTXDSL-I10 "warp 2 uses lanes 0 to 31"
            load_one(k, k.tcgen05.quarter(memory, k.sub(warp, 2u)), out + tid);  // here-2
#elif PTXDSL_CASE == 3
            // expect-3: PTXDSL-I10 "warp 2 uses lanes 32 to 63"
            k.if_(warp == 2u, [&] { load_one(k, k.tcgen05.quarter(memory, 1u), out + tid); });  // here-3
#else
            load_one(k, k.tcgen05.quarter(memory, warp), out + tid);
#endif
        });
    });
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {192}}>>();
