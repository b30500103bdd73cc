// SPDX-License-Identifier: Apache-2.0
// C = A * B^T on Hopper: A is M x K, B is N x K, both row-major bf16; C is M x N, f32 or bf16.
//
//   warpgroup 0      one thread walks the tiles and feeds a ring of shared-memory stages through TMA
//   warpgroups 1, 2  wait for a stage, multiply (64 rows each), free the stage; then store through shared memory and TMA
//
// Two blocks of a cluster work on two row tiles above one column tile: each loads half of the B tile and multicasts it to
// both. The grid is persistent: a cluster takes every (number of clusters)-th tile.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace gemm_hopper {

namespace px = ptxdsl;
using px::bf16;
using px::f32;
using px::u32;

struct config {
    u32 bm = 128, bn = 256, bk = 64;  ///< block tile
    u32 stages = 4;
    u32 cluster = 2;                  ///< blocks that share a B tile, 1 or 2
    u32 group = 8;                    ///< row tiles (of a cluster) that are walked together, for L2 reuse
    constexpr bool operator==(const config&) const = default;
};

/// Tiles that follow from a configuration.
template <config C, class Out>
struct tiles {
    using a = px::tile<bf16, C.bm, C.bk>;
    using b = px::tile<bf16, C.bn, C.bk>;
    using b_part = px::tile<bf16, C.bn / C.cluster, C.bk>;  ///< what one block loads of B
    static constexpr u32 chunk = 128 / sizeof(Out);         ///< columns of one 128-byte row of the staging tile
    using c = px::tile<Out, 64, chunk>;
};

template <config C, class Out>
using map_a = px::tma_map<typename tiles<C, Out>::a>;
template <config C, class Out>
using map_b = px::tma_map<typename tiles<C, Out>::b_part>;
template <config C, class Out>
using map_c = px::tma_map_out<typename tiles<C, Out>::c>;

inline constexpr u32 consumers = 2;
inline constexpr u32 threads = 128 * (1 + consumers);

template <config C>
inline constexpr px::attributes attributes{.reqntid = {threads}, .minnctapersm = 1, .cluster = {C.cluster}};

using k_t = px::builder<px::sm_90a>;
using reg32 = px::reg<u32>;

/// Position of a cluster's tile: rows of this block, columns.
struct tile_position {
    px::reg<u32> row, col;
};

/// Walks the tiles column by column inside groups of `C.group` row tiles, so that concurrent clusters share A and B in L2.
template <config C>
struct schedule {
    px::reg<u32> row_tiles, col_tiles, total, rank;

    constexpr schedule(k_t& k, const reg32& m, const reg32& n, const reg32& cta_rank)
        : row_tiles(k.div(k.add(m, C.bm * C.cluster - 1), C.bm* C.cluster)),
          col_tiles(k.div(k.add(n, C.bn - 1), C.bn)),
          total(k.mul_lo(row_tiles, col_tiles)),
          rank(cta_rank) {}

    constexpr tile_position at(k_t& k, const reg32& t) const {
        const auto per_group = k.mul_lo(col_tiles, C.group);
        const auto g = k.div(t, per_group);
        const auto first = k.mul_lo(g, C.group);
        const auto height = k.min(k.sub(row_tiles, first), C.group);
        const auto inside = k.sub(t, k.mul_lo(g, per_group));
        const auto col = k.div(inside, height);
        const auto row = k.add(first, k.sub(inside, k.mul_lo(col, height)));
        return {k.mul_lo(k.mad_lo(row, C.cluster, rank), C.bm), k.mul_lo(col, C.bn)};
    }
};

template <config C, class Out>
constexpr void gemm(k_t& k, map_a<C, Out> a_map, map_b<C, Out> b_map, map_c<C, Out> c_map, reg32 m, reg32 n, reg32 depth) {
    using T = tiles<C, Out>;
    const auto a = k.smem<typename T::a>(C.stages, "a");
    const auto b = k.smem<typename T::b>(C.stages, "b");
    const auto c = k.smem<typename T::c>(2 * consumers, "c");
    const auto pipe = k.make_pipeline<"load">(C.stages, px::arrivals<1>, px::arrivals<consumers * C.cluster>);

    const auto tid = k.mov(px::tid.x).named("tid");
    const auto rank = k.mov(px::cluster_ctarank).named("rank");
    k.single_thread(tid == 0u, [&] { k.init(pipe); });
    k.fence_mbarrier_init();
    if constexpr (C.cluster > 1) {
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    } else {
        k.bar_sync();
    }

    const schedule<C> order(k, m, n, rank);
    const auto first = k.mov(px::clusterid.x).named("tile");
    const auto step = k.mov(px::nclusterid.x);
    const auto steps = k.div(k.add(depth, C.bk - 1), C.bk).named("k_steps");
    const auto warpgroup = k.shr(tid, 7u).named("wg");

    k.if_(warpgroup == 0u, [&] {
        k.setmaxnreg_dec<40>();
        k.single_thread(tid == 0u, [&] {
            const auto at = k.producer_state(pipe);
            k.prefetch_tensormap(a_map);
            k.prefetch_tensormap(b_map);
            k.for_(first, order.total, step, [&](reg32 t) {
                const auto pos = order.at(k, t);
                const auto b_row = k.mad_lo(rank, C.bn / C.cluster, pos.col);
                k.for_(steps, [&](reg32 i) {
                    const auto x = k.mul_lo(i, C.bk);
                    k.wait_empty(pipe, at);
                    const auto full = pipe.full(at);
                    k.mbarrier_arrive_expect_tx(full, a, b);
                    k.cp_async_bulk_tensor(a[at.slot()], a_map, px::coords(x, pos.row), full);
                    if constexpr (C.cluster > 1)
                        k.cp_async_bulk_tensor_multicast(b[at.slot()].template part<typename T::b_part>(rank), b_map,
                                                         px::coords(x, b_row), full, px::u16((1u << C.cluster) - 1));
                    else
                        k.cp_async_bulk_tensor(b[at.slot()], b_map, px::coords(x, b_row), full);
                    k.advance(at);
                });
            });
        });
    }).else_([&] {
        k.setmaxnreg_inc<232>();
        const auto acc = k.wgmma.template make_accumulator<f32, C.bn>();
        const auto me = k.sub(warpgroup, 1u).named("consumer");
        const auto lane_in_group = k.and_(tid, 127u).named("t");
        const auto leader = lane_in_group == 0u;
        const auto releases = lane_in_group < C.cluster;
        const auto at = k.consumer_state(pipe);
        const auto free = k.mapa(pipe.empty(), lane_in_group);
        const auto release = [&](const reg32& slot) { k.at(releases).mbarrier_arrive(free[slot]); };

        const auto a_desc = k.wgmma.descriptor(a).rows_at(me, 64);
        const auto b_desc = k.wgmma.descriptor(b);
        const auto multiply = [&](bool start) {
            k.wait_full(pipe, at);
            const auto da = a_desc[at.slot()];
            const auto db = b_desc[at.slot()];
            k.wgmma.fence();
            for (u32 s = 0; s < C.bk / 16; ++s) k.wgmma.mma_async(acc, da.k_slice(s), db.k_slice(s), !(start && s == 0));
            k.wgmma.commit_group();
        };

        // Rows and 16-byte chunks of the staging tile that this lane addresses for stmatrix (128-byte swizzle).
        const auto lane = k.and_(tid, 31u);
        const auto warp_row = k.shl(k.shr(lane_in_group, 5u), 4u);
        const auto row = k.add(warp_row, k.and_(lane, 15u)).named("row");
        const auto half = k.shr(lane, 4u);
        const auto swizzle = k.and_(lane, 7u);
        const auto row_base = k.mad_lo(row, 128u, k.mad_lo(me, 2 * T::c::bytes, c[0].address())).named("c_row");

        k.for_(first, order.total, step, [&](reg32 t) {
            multiply(true);
            auto previous = k.mov(at.slot()).named("previous");
            k.advance(at);
            k.for_(1u, steps, 1u, [&](reg32) {
                multiply(false);
                k.wgmma.template wait_group<1>();
                release(previous);
                previous = at.slot();
                k.advance(at);
            });
            k.wgmma.template wait_group<0>();
            release(previous);

            const auto pos = order.at(k, t);
            const auto out_row = k.mad_lo(me, 64u, pos.row);
            for (u32 chunk = 0; chunk < C.bn / T::chunk; ++chunk) {
                const u32 buffer = chunk % 2;
                k.at(leader).cp_async_bulk_wait_group_read<1>();
                k.bar_sync(warpgroup, 128u);
                for (u32 p = 0; p < 4; ++p) {
                    const auto x = k.shl(k.xor_(k.add(half, 2 * p), swizzle), 4u);
                    const auto to = px::shared_ptr<px::b32, 16>(k.program(), px::ir::head(px::ir::operand_kind::reg, k.add(row_base, x).id()),
                                                                static_cast<int>(buffer * T::c::bytes));
                    const u32 j = chunk * 32 + p * 8;
                    k.stmatrix(to, k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 1]), px::lo(acc[j])),
                               k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 3]), px::lo(acc[j + 2])),
                               k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 5]), px::lo(acc[j + 4])),
                               k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 7]), px::lo(acc[j + 6])));
                }
                k.fence_proxy_async_shared_cta();
                k.bar_sync(warpgroup, 128u);
                k.single_thread(leader, [&] {
                    k.cp_async_bulk_tensor(c_map, px::coords(k.add(pos.col, chunk * T::chunk), out_row),
                                           c[k.mad_lo(me, 2u, buffer)]);
                    k.cp_async_bulk_commit_group();
                });
            }
        });
        k.at(leader).cp_async_bulk_wait_group<0>();
    });
    if constexpr (C.cluster > 1) {
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
}

}  // namespace gemm_hopper
