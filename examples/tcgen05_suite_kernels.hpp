// SPDX-License-Identifier: Apache-2.0
// Thirteen probes of tensor memory and tcgen05.mma (sm_100a), each as small as its question: does it allocate,
// multiply, load; what do accumulation and commits add up to; which register of which thread has which element; where
// do rows, columns and K steps of a product go. One block of 128 threads each.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace tcgen05_suite {

namespace px = ptxdsl;
using px::b32;
using px::bf16;
using px::f32;
using px::u32;

using k_t = px::builder<px::sm_100a>;
inline constexpr px::attributes attributes{.reqntid = {128}};
inline constexpr u32 m = 128, n = 64, k_max = 64;
using tile_a = px::tile<bf16, m, k_max>;
using tile_b = px::tile<bf16, n, k_max>;

/// Allocates, gives `body(memory, tid)` the memory, and frees.
template <u32 Columns, class Body>
constexpr void with_memory(k_t& k, Body body) {
    const auto slot = k.tcgen05.make_slot<Columns>("tmem_slot");
    const auto tid = k.mov(px::tid.x).named("tid");
    const auto first_warp = tid < 32u;
    k.if_(first_warp, [&] {
        k.tcgen05.alloc(slot);
        k.tcgen05.relinquish_alloc_permit(slot);
    });
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.tcgen05.fence_after_thread_sync();
    const auto memory = k.tcgen05.load(slot);
    body(memory, tid);
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.if_(first_warp, [&] {
        k.tcgen05.fence_after_thread_sync();
        k.tcgen05.dealloc(memory);
    });
}

/// Probe 1: allocation and release. out[t] = 1.
constexpr void alloc(k_t& k, px::global_ptr<u32> out) {
    with_memory<32>(k, [&](const auto&, const auto& tid) { k.st(out + tid, 1u); });
}

/// Probe 3: a load completes. out[t] = 1, out[128 + t] = what the column held.
constexpr void ld(k_t& k, px::global_ptr<u32> out) {
    with_memory<32>(k, [&](const auto& memory, const auto& tid) {
        const auto mine = k.tcgen05.quarter(memory, k.shr(tid, 5u)).template slice<u32, 32>();
        const auto v = k.tcgen05.template ld<px::shape_32x32b, px::x1>(mine);
        k.tcgen05.wait_ld();
        const auto at = out + tid;
        k.st(at, 1u);
        k.st(at + 128, v[0]);
    });
}

/// Probe 2: a multiplication completes, of whatever shared memory holds. out[t] = 1.
constexpr void mma(k_t& k, px::global_ptr<u32> out) {
    const auto a = k.smem<tile_a>(1, "a");
    const auto b = k.smem<tile_b>(1, "b");
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    with_memory<64>(k, [&](const auto& memory, const auto& tid) {
        k.single_thread(tid == 0u, [&] {
            k.mbarrier_init(done[0]);
            k.fence_mbarrier_init();
            k.tcgen05.mma(memory.template accumulator<f32, m, n>(), k.tcgen05.descriptor(a), k.tcgen05.descriptor(b),
                          false);
            k.tcgen05.commit(done[0]);
        });
        k.bar_sync();
        k.tcgen05.wait(done[0], 0u);
        k.st(out + tid, 1u);
    });
}

/// Rows of a tile from global memory, one a thread, past the swizzle.
template <class Tile>
constexpr void fill(k_t& k, const px::shared_tile<Tile>& t, px::global_ptr<const bf16, 16> from,
                    const px::reg<u32>& row) {
    const auto line = k.tile_line(t[0], row);
    const auto source = (from + k.mul_lo(row, k_max)).template assume_aligned<16>();
    for (u32 i = 0; i < k_max / 8; ++i) {
        const auto words =
            k.ld((source + static_cast<int>(8 * i)).template assume_aligned<16>().template as<px::packet<b32, 4>>());
        k.st(line.chunk(i).template as<px::packet<b32, 4>>(), words);
    }
}

/// Probes 4 to 6 and 10 to 13: c = a * b^T over the first 16 * `Steps` columns, without TMA. With `Split` each step has
/// a commit of its own and is waited for.
template <u32 Steps, bool Split>
constexpr void product(k_t& k, px::global_ptr<const bf16, 16> a_in, px::global_ptr<const bf16, 16> b_in,
                       px::global_ptr<f32, 16> c) {
    const auto a = k.smem<tile_a>(1, "a");
    const auto b = k.smem<tile_b>(1, "b");
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    with_memory<64>(k, [&](const auto& memory, const auto& tid) {
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(done[0]); });
        k.fence_mbarrier_init();
        fill(k, a, a_in, tid);
        k.if_(tid < n, [&] { fill(k, b, b_in, tid); });
        k.fence_proxy_async_shared_cta();  // stores of this thread, before the tensor core reads them
        k.bar_sync();
        k.single_thread(tid == 0u, [&] {
            const auto acc = memory.template accumulator<f32, m, n>();
            const auto a_desc = k.tcgen05.descriptor(a);
            const auto b_desc = k.tcgen05.descriptor(b);
            for (u32 s = 0; s < Steps; ++s) {
                k.tcgen05.mma(acc, a_desc.k_slice(s), b_desc.k_slice(s), s != 0);
                if (Split || s + 1 == Steps) k.tcgen05.commit(done[0]);
                if (Split && s + 1 != Steps) k.tcgen05.wait(done[0], s % 2);
            }
        });
        // With several phases the other threads come late: they wait for the last one, when the first thread has seen
        // the others.
        k.bar_sync();
        k.tcgen05.wait(done[0], Split ? (Steps - 1) % 2 : 0u);
        const auto rows = k.tcgen05.quarter(memory, k.shr(tid, 5u)).template accumulator<f32, m, n>();
        const auto v = k.tcgen05.template ld<px::shape_32x32b, px::x64>(rows);
        k.tcgen05.wait_ld();
        const auto line = (c + k.mul_lo(tid, n)).template assume_aligned<16>();
        for (u32 j = 0; j < n; j += 4)
            k.st((line + static_cast<int>(j)).template assume_aligned<16>().template as<px::packet<f32, 4>>(),
                 px::vec{v[j], v[j + 1], v[j + 2], v[j + 3]});
    });
}

/// Writes lane * 512 + column into the first `Columns` columns of this warp's lanes.
template <u32 Columns, class Rows>
constexpr void number_cells(k_t& k, const Rows& rows, const px::reg<u32>& tid) {
    const auto first = k.mul_lo(tid, 512u).named("first");
    for (u32 column = 0; column < Columns; ++column) {
        const auto cell = k.tcgen05.template make_registers<u32, 1>("cell");
        cell[0] = k.add(first, column);
        k.tcgen05.template st<px::shape_32x32b, px::x1>(rows, cell, column);
    }
    k.tcgen05.wait_st();
}

/// Probe 7: what is stored is loaded. out[t * 32 + j] = column j of lane t.
constexpr void roundtrip(k_t& k, px::global_ptr<u32> out) {
    with_memory<32>(k, [&](const auto& memory, const auto& tid) {
        const auto rows = k.tcgen05.quarter(memory, k.shr(tid, 5u)).template slice<u32, 32>();
        number_cells<32>(k, rows, tid);
        const auto v = k.tcgen05.template ld<px::shape_32x32b, px::x32>(rows);
        k.tcgen05.wait_ld();
        const auto line = out + k.mul_lo(tid, 32u);
        for (u32 j = 0; j < 32; ++j) k.st(line + static_cast<int>(j), v[j]);
    });
}

/// Probe 8: the registers of each load shape, of the first 16 lanes of each quarter. out[t * 8 + r]: 16x64b.x1 (r = 0),
/// 16x128b.x1 (r = 1, 2), 16x256b.x1 (r = 3 to 6).
constexpr void ld_registers(k_t& k, px::global_ptr<u32> out) {
    with_memory<32>(k, [&](const auto& memory, const auto& tid) {
        const auto rows = k.tcgen05.quarter(memory, k.shr(tid, 5u)).template slice<u32, 8>();
        number_cells<8>(k, rows, tid);
        const auto narrow = k.tcgen05.template ld<px::shape_16x64b, px::x1>(rows);
        const auto middle = k.tcgen05.template ld<px::shape_16x128b, px::x1>(rows);
        const auto wide = k.tcgen05.template ld<px::shape_16x256b, px::x1>(rows);
        k.tcgen05.wait_ld();
        const auto line = out + k.mul_lo(tid, 8u);
        k.st(line, narrow[0]);
        for (u32 r = 0; r < 2; ++r) k.st(line + static_cast<int>(1 + r), middle[r]);
        for (u32 r = 0; r < 4; ++r) k.st(line + static_cast<int>(3 + r), wide[r]);
    });
}

/// Probe 9: one load of 128 columns. out[t * 128 + j] = column j of lane t.
constexpr void ld_x128(k_t& k, px::global_ptr<u32> out) {
    with_memory<128>(k, [&](const auto& memory, const auto& tid) {
        const auto rows = k.tcgen05.quarter(memory, k.shr(tid, 5u)).template slice<u32, 128>();
        number_cells<128>(k, rows, tid);
        const auto v = k.tcgen05.template ld<px::shape_32x32b, px::x128>(rows);
        k.tcgen05.wait_ld();
        const auto line = out + k.mul_lo(tid, 128u);
        for (u32 j = 0; j < 128; ++j) k.st(line + static_cast<int>(j), v[j]);
    });
}

}  // namespace tcgen05_suite
