// SPDX-License-Identifier: Apache-2.0
// E07, F13: warps that use the same bytes of shared memory and have not met; addresses that follow from the thread's
// index.
//
// expect-1: PTXDSL-E07 "'cell' is read here by warps that have not met"
// expect-2: PTXDSL-E07 "'part' is read here by warps"
// expect-3: PTXDSL-E07 "'tree' is read here by warps"
// expect-4: PTXDSL-E07 "'part' is written here while other warps may still read it"
// expect-5: PTXDSL-F13 "'part' is copied into here while other warps may still read"
// expect-6: PTXDSL-E07 "'part' is written here while other warps"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
constexpr px::attributes block_of_256{.reqntid = {256}};

/// One warp writes what all read.
constexpr void hand_out(hopper& k, px::global_ptr<u32> out) {
    const auto cell = k.smem_array<u32>(32, "cell");
    const auto tid = k.mov(px::tid.x);
    const auto lane = tid & 31u;
    k.if_(tid < 32u, [&] { k.st(cell + lane, tid); });
#if PTXDSL_CASE == 1
    k.bar_warp_sync();
#else
    k.bar_sync();
#endif
    const auto got = k.ld(cell + lane);  // here-1
    k.st(out + tid, got);
}
/// The lane that has a warp's sum hands it over, and the first warp reads under two conditions.
constexpr void sums(hopper& k, px::global_ptr<const f32> in, px::global_ptr<f32> out) {
    const auto part = k.smem_array<f32>(8, "part");
    const auto tid = k.mov(px::tid.x);
    const auto lane = tid & 31u, warp = k.shr(tid, 5u);
    const auto once = [&](u32 at) {
        const auto mine = k.ld(in + (tid + at));
        k.if_(lane == 31u, [&] {
            k.st(part + warp, mine);  // here-4
        });
#if PTXDSL_CASE == 2
        // left out
#else
        k.bar_sync();
#endif
        auto all = k.mov<f32>(0.0f);
        k.if_(warp == 0u, [&] {
            k.if_(lane < 8u, [&] {
                all = k.ld(part + lane);  // here-2
            });
            k.st(out + (tid + at), all);
        });
    };
    once(0);
#if PTXDSL_CASE == 4
    // left out
#else
    k.bar_sync();
#endif
    once(256);
}
/// A sum in shared memory, half of it at a time.
constexpr void halves(hopper& k, px::global_ptr<f32> out, px::reg<f32> x) {
    const auto tree = k.smem_array<f32>(256, "tree");
    const auto tid = k.mov(px::tid.x);
    k.st(tree + tid, x);
    k.bar_sync();
    for (u32 half = 128; half != 0; half /= 2) {
        k.if_(tid < half, [&] {
            const auto other = k.ld(tree + tid + half);  // here-3
            k.st(tree + tid, k.ld(tree + tid) + other);
        });
        if (PTXDSL_CASE == 3 && half == 128) continue;
        if (half <= 32)
            k.bar_warp_sync();  // one warp is left
        else
            k.bar_sync();
    }
    k.if_(tid == 0u, [&] { k.st(out, k.ld(tree)); });
}
/// Rounds over one buffer that copies fill, and over one that threads fill.
constexpr void rounds(hopper& k, px::global_ptr<const f32, 16> in, px::global_ptr<f32> out, px::reg<u32> n) {
    const auto part = k.smem_array<f32, 128>(256, "part");
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar[0]); });
    k.fence_mbarrier_init();
    k.bar_sync();
    auto sum = k.mov<f32>(0.0f);
    k.for_(n, [&](const px::reg<u32>& i) {
#if PTXDSL_CASE == 6
        k.st(part + tid, k.ld(in + (i * 256u + tid)));  // here-6
        k.bar_sync();
#else
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_arrive_expect_tx(bar[0], 1024u);
            k.cp_async_bulk(part, (in + i * 256u).assume_aligned<16>(), 1024u, bar[0]);  // here-5
        });
        k.wait(bar[0], i & 1u);
#endif
        sum = sum + k.ld(part + (tid ^ 32u));
#if PTXDSL_CASE == 5 || PTXDSL_CASE == 6
        // left out
#else
        k.bar_sync();
#endif
    });
    k.st(out + tid, sum);
}
[[maybe_unused]] constexpr auto assembled_hand_out = px::assemble<px::kernel<"hand_out", hand_out, block_of_256>>();
[[maybe_unused]] constexpr auto assembled_sums = px::assemble<px::kernel<"sums", sums, block_of_256>>();
[[maybe_unused]] constexpr auto assembled_halves = px::assemble<px::kernel<"halves", halves, block_of_256>>();
[[maybe_unused]] constexpr auto assembled_rounds = px::assemble<px::kernel<"rounds", rounds, block_of_256>>();
