// SPDX-License-Identifier: Apache-2.0
// The main loop of a block-scaled GEMM on Blackwell (sm_100a), nvfp4: A (M x K) and B (N x K) are e2m1, two to a byte,
// with one ue4m3 scale for each 16 elements of a row; C = A * B^T is M x N, f32.
//
// Scales come in the blocked layout of cuBLASLt and CUTLASS: 128 rows by 4 scales (64 elements of K) are one block of
// 512 bytes, in which row r has its 4 bytes at (r % 32) * 16 + r / 32 * 4. Blocks of one row tile follow each other
// along K. A block is 32 rows of 16 bytes, what `tcgen05.cp.32x128b.warpx4` takes to tensor memory: one word of scales
// a row.
//
//   warp 0        one thread feeds a ring of stages: A, B, and both scales, on one barrier
//   warp 1        one thread copies the scales of a stage to tensor memory and issues four K steps of 64 elements
//   warps 2 to 5  load the accumulator and store it
//
// One tile of 128 x 128 a block. M, N are multiples of 128 and K of 256. This kernel is verified and assembled, and has
// not run: the GPU at hand is not a Blackwell.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace nvfp4 {

namespace px = ptxdsl;
using px::f32;
using px::u32;
using px::ue4m3;

inline constexpr u32 rows = 128, bn = 128;
inline constexpr u32 bk = 256;  ///< elements of K in a stage: 128 bytes of a row
inline constexpr u32 stages = 4;
inline constexpr u32 k_steps = bk / 64;  ///< of one instruction each, with one block of scales
inline constexpr u32 threads = 192;

using operand_tile = px::tile<px::e2m1x2, rows, bk / 2>;  ///< pairs of elements
/// The scales of one row tile and stage: 32 rows of 16 bytes for each K step.
using scale_tile = px::tile<ue4m3, 32 * k_steps, 16, px::k_major, px::core_matrices>;

using operand_map = px::tma_map<operand_tile>;
using scale_map = px::tma_map<scale_tile>;

inline constexpr px::attributes attributes{.reqntid = {threads}, .minnctapersm = 1};
using k_t = px::builder<px::sm_100a>;
using reg32 = px::reg<u32>;

// Columns of tensor memory: the accumulator, then scales of A and of B, four columns for each K step.
inline constexpr u32 columns = 256, column_a = bn, column_b = bn + 4 * k_steps;

/// `depth` counts elements. `c` is aligned to 16 bytes.
constexpr void gemm(k_t& k, operand_map a_map, operand_map b_map, scale_map a_scales, scale_map b_scales,
                    px::global_ptr<f32, 16> c, reg32 n, reg32 depth) {
    const auto a = k.smem<operand_tile>(stages, "a"), b = k.smem<operand_tile>(stages, "b");
    const auto sa = k.smem<scale_tile>(stages, "scales_a"), sb = k.smem<scale_tile>(stages, "scales_b");
    const auto pipe = k.make_pipeline<"load">(stages, px::arrivals<1>, px::arrivals<1>);
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto slot = k.tcgen05.make_slot<columns>("tmem_slot");

    const auto tid = k.mov(px::tid.x).named("tid");
    const auto warp = k.shr(tid, 5u).named("warp");
    k.single_thread(tid == 0u, [&] {
        k.init(pipe);
        k.mbarrier_init(done[0]);
    });
    k.fence_mbarrier_init();
    k.if_(warp == 1u, [&] {
        k.tcgen05.alloc(slot);
        k.tcgen05.relinquish_alloc_permit(slot);
    });
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.tcgen05.fence_after_thread_sync();
    const auto memory = k.tcgen05.load(slot);

    const auto row = k.mul_lo(k.mov(px::ctaid.x), rows).named("row");
    const auto col = k.mul_lo(k.mov(px::ctaid.y), bn).named("col");
    const auto steps = k.div(depth, bk).named("stages_of_k");

    k.if_(warp == 0u, [&] {
        k.role(32, [&] {
            k.single_thread(tid == 0u, [&] {
                const auto at = k.producer_state(pipe);
                // Lines of scales before this tile's: a row tile has depth / 64 blocks of 32.
                const auto per_tile = k.shr(depth, 1u);
                const auto line_a = k.mul_lo(k.mov(px::ctaid.x), per_tile),
                           line_b = k.mul_lo(k.mov(px::ctaid.y), per_tile);
                k.for_(steps, [&](reg32 i) {
                    const auto x = k.mul_lo(i, bk / 2);
                    const auto line = k.mul_lo(i, 32 * k_steps);
                    k.wait_empty(pipe, at);
                    const auto full = pipe.full(at);
                    k.mbarrier_arrive_expect_tx(full, a, b, sa, sb);
                    k.cp_async_bulk_tensor(a[at.slot()], a_map, px::coords(x, row), full);
                    k.cp_async_bulk_tensor(b[at.slot()], b_map, px::coords(x, col), full);
                    k.cp_async_bulk_tensor(sa[at.slot()], a_scales, px::coords(0, k.add(line_a, line)), full);
                    k.cp_async_bulk_tensor(sb[at.slot()], b_scales, px::coords(0, k.add(line_b, line)), full);
                    k.advance(at);
                });
            });
        });
    });

    k.if_(warp == 1u, [&] {
        k.role(32, [&] {
            k.single_thread(tid == 32u, [&] {
                const auto at = k.consumer_state(pipe);
                const auto acc = memory.accumulator<f32, rows, bn>();
                const auto scales_a = memory.scales<ue4m3, rows, column_a, k_steps>();
                const auto scales_b = memory.scales<ue4m3, bn, column_b, k_steps>();
                const auto a_desc = k.tcgen05.descriptor(a), b_desc = k.tcgen05.descriptor(b);
                const auto sa_desc = k.tcgen05.descriptor(sa), sb_desc = k.tcgen05.descriptor(sb);
                k.for_(steps, [&](reg32 i) {
                    k.wait_full(pipe, at);
                    k.tcgen05.fence_after_thread_sync();
                    const auto da = a_desc[at.slot()], db = b_desc[at.slot()];
                    const auto from_a = sa_desc[at.slot()], from_b = sb_desc[at.slot()];
                    // Copies and multiplications of one thread are executed in order: no wait between them.
                    for (u32 s = 0; s < k_steps; ++s) {
                        k.tcgen05.cp<px::shape_32x128b, px::warpx4>(scales_a[s], from_a.row_slice(32 * s));
                        k.tcgen05.cp<px::shape_32x128b, px::warpx4>(scales_b[s], from_b.row_slice(32 * s));
                    }
                    const auto later = i != 0u;
                    for (u32 s = 0; s < k_steps; ++s) {
                        if (s == 0)
                            k.tcgen05.mma(acc, da.k_slice(s), db.k_slice(s), scales_a[s], scales_b[s], later);
                        else
                            k.tcgen05.mma(acc, da.k_slice(s), db.k_slice(s), scales_a[s], scales_b[s], true);
                    }
                    k.tcgen05.commit(pipe.empty(at));
                    k.advance(at);
                });
                k.tcgen05.commit(done[0]);
            });
        });
    });

    k.if_(warp >= 2u, [&] {
        k.role(128, [&] {
            const auto sum = k.tcgen05.quarter(memory, warp).accumulator<f32, rows, bn>();
            const auto lane_row = k.mad_lo(k.and_(warp, 3u), 32u, k.and_(tid, 31u));
            const auto line = (c + k.mul_wide(k.add(row, lane_row), n)) + col;
            k.tcgen05.wait(done[0], 0u);
            for (u32 chunk = 0; chunk < bn / 32; ++chunk) {
                const auto v = k.tcgen05.ld<px::shape_32x32b, px::x32>(sum, chunk * 32);
                k.tcgen05.wait_ld();
                for (u32 j = 0; j < 32; j += 4)
                    k.st((line + static_cast<int>(chunk * 32 + j)).assume_aligned<16>().as<px::packet<f32, 4>>(),
                         px::vec{v[j], v[j + 1], v[j + 2], v[j + 3]});
            }
            k.tcgen05.fence_before_thread_sync();
        });
    });

    k.bar_sync();
    k.if_(warp == 1u, [&] {
        k.tcgen05.fence_after_thread_sync();
        k.tcgen05.dealloc(memory);
    });
}

}  // namespace nvfp4
