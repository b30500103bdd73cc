// SPDX-License-Identifier: Apache-2.0
// C = A * B^T on Blackwell (sm_100a): A is M x K, B is N x K, both row-major bf16; C is M x N, f32 or bf16.
//
//   warp 0        one thread walks the tiles and feeds a ring of shared-memory stages through TMA
//   warp 1        allocates tensor memory; one thread waits for a stage, issues tcgen05.mma, and frees the stage with a
//   commit warps 2 to 5  wait for an accumulator, load it from tensor memory, free it, and store through shared memory
//   and TMA
//
// Two accumulators take turns in tensor memory, so that one is stored while the next is summed up. With `pair` = 2 two
// blocks of a cluster work on one tile of twice the rows (cta_group::2): each loads its half of A and of B, the first
// (the leader) issues for both. The grid is persistent.
//
// This kernel is verified and assembled, and has not run: the GPU at hand is not a Blackwell.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace gemm_blackwell {

namespace px = ptxdsl;
using px::bf16;
using px::f32;
using px::u32;

struct config {
    u32 pair = 1;           ///< blocks that work on one tile: cta_group::1 or ::2
    u32 bn = 256, bk = 64;  ///< columns of a tile, depth of a stage; a block has 128 rows
    u32 stages = 4;         ///< of A and B
    constexpr bool operator==(const config&) const = default;
};
inline constexpr u32 rows = 128;  ///< of a tile, in one block

/// Tiles that follow from a configuration.
template <config C, class Out>
struct tiles {
    using a = px::tile<bf16, rows, C.bk>;
    using b = px::tile<bf16, C.bn / C.pair, C.bk>;
    static constexpr u32 chunk = 128 / sizeof(Out);  ///< columns of one 128-byte row of the staging tile
    using c = px::tile<Out, rows, chunk>;
    static constexpr px::tok group = C.pair == 2 ? px::cta_group_2 : px::cta_group_1;
};
template <config C, class Out>
using map_a = px::tma_map<typename tiles<C, Out>::a>;
template <config C, class Out>
using map_b = px::tma_map<typename tiles<C, Out>::b>;
template <config C, class Out>
using map_c = px::tma_map_out<typename tiles<C, Out>::c>;

inline constexpr u32 threads = 192, storers = 128, accumulators = 2;

template <config C>
inline constexpr px::attributes attributes{.reqntid = {threads}, .minnctapersm = 1, .cluster = {C.pair == 2 ? 2u : 0u}};

using k_t = px::builder<px::sm_100a>;
using reg32 = px::reg<u32>;

/// Everybody of the block, or of the pair, meets.
template <config C>
constexpr void meet(k_t& k) {
    if constexpr (C.pair == 2) {
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    } else {
        k.bar_sync();
    }
}

/// Where the tiles are; neighbouring blocks share a column of B.
template <config C>
struct schedule {
    px::reg<u32> row_tiles, total, first, step, rank;

    constexpr schedule(k_t& k, const reg32& m, const reg32& n, const reg32& cta_rank)
        : row_tiles(k.div(k.add(m, rows * C.pair - 1), rows * C.pair)),
          total(k.mul_lo(row_tiles, k.div(k.add(n, C.bn - 1), C.bn))),
          first(k.div(k.mov(px::ctaid.x), C.pair)),
          step(k.div(k.mov(px::nctaid.x), C.pair)),
          rank(cta_rank) {}
    struct position {
        px::reg<u32> row, col;
    };
    constexpr position at(k_t& k, const reg32& t) const {
        const auto col = k.div(t, row_tiles);
        const auto row = k.sub(t, k.mul_lo(col, row_tiles));
        return {k.mul_lo(k.mad_lo(row, C.pair, rank), rows), k.mul_lo(col, C.bn)};
    }
};

template <config C, class Out>
constexpr void gemm(k_t& k, map_a<C, Out> a_map, map_b<C, Out> b_map, map_c<C, Out> c_map, reg32 m, reg32 n,
                    reg32 depth) {
    using T = tiles<C, Out>;
    const auto a = k.smem<typename T::a>(C.stages, "a");
    const auto b = k.smem<typename T::b>(C.stages, "b");
    const auto c = k.smem<typename T::c>(2, "c");
    const auto load = k.make_pipeline<"load">(C.stages, px::arrivals<1>, px::arrivals<1>);
    const auto sums = k.make_pipeline<"sums">(accumulators, px::arrivals<1>, px::arrivals<storers * C.pair>);
    const auto slot = k.tcgen05.make_slot<accumulators * C.bn, T::group>("tmem_slot");

    const auto tid = k.mov(px::tid.x).named("tid");
    const auto warp = k.shr(tid, 5u).named("warp");
    const auto rank = (C.pair == 2 ? k.mov(px::cluster_ctarank) : k.mov<u32>(0u)).named("rank");
    k.single_thread(tid == 0u, [&] {
        k.init(load);
        k.init(sums);
    });
    k.fence_mbarrier_init();
    meet<C>(k);
    k.if_(warp == 1u, [&] {
        k.tcgen05.alloc(slot);
        k.tcgen05.relinquish_alloc_permit(slot);
    });
    k.tcgen05.fence_before_thread_sync();
    k.bar_sync();
    k.tcgen05.fence_after_thread_sync();
    const auto memory = k.tcgen05.load(slot);

    const schedule<C> order(k, m, n, rank);
    const auto steps = k.div(k.add(depth, C.bk - 1), C.bk).named("k_steps");

    k.if_(warp == 0u, [&] {
        k.role(32, [&] {
            k.single_thread(tid == 0u, [&] {
                const auto at = k.producer_state(load);
                const auto leader_full = k.mapa(load.full(), 0u);  // a pair's bytes are counted by its leader
                k.prefetch_tensormap(a_map);
                k.prefetch_tensormap(b_map);
                k.for_(order.first, order.total, order.step, [&](reg32 t) {
                    const auto pos = order.at(k, t);
                    const auto b_row = k.mad_lo(rank, C.bn / C.pair, pos.col);
                    k.for_(steps, [&](reg32 i) {
                        const auto x = k.mul_lo(i, C.bk);
                        k.wait_empty(load, at);
                        if constexpr (C.pair == 2) {
                            k.if_(rank == 0u,
                                  [&] { k.mbarrier_arrive_expect_tx(load.full(at), 2 * (a.bytes() + b.bytes())); });
                            k.template cp_async_bulk_tensor<px::cta_group_2>(
                                a[at.slot()], a_map, px::coords(x, pos.row), leader_full[at.slot()]);
                            k.template cp_async_bulk_tensor<px::cta_group_2>(b[at.slot()], b_map, px::coords(x, b_row),
                                                                             leader_full[at.slot()]);
                        } else {
                            const auto full = load.full(at);
                            k.mbarrier_arrive_expect_tx(full, a, b);
                            k.cp_async_bulk_tensor(a[at.slot()], a_map, px::coords(x, pos.row), full);
                            k.cp_async_bulk_tensor(b[at.slot()], b_map, px::coords(x, b_row), full);
                        }
                        k.advance(at);
                    });
                });
            });
        });
    });

    k.if_(warp == 1u, [&] {
        k.role(32, [&] {
            k.single_thread(tid == 32u && rank == 0u, [&] {
                const auto at = k.consumer_state(load);
                const auto to = k.producer_state(sums);
                const auto d = memory.template accumulator<f32, rows * C.pair, C.bn, 0, accumulators>();
                const auto a_desc = k.tcgen05.descriptor(a);
                const auto b_desc = k.tcgen05.descriptor(b);
                const auto free = [&](const auto& barrier) {  // of both blocks, whose tiles the mma reads
                    if constexpr (C.pair == 2)
                        k.tcgen05.template commit_multicast<T::group>(barrier, 3);
                    else
                        k.tcgen05.template commit<T::group>(barrier);
                };
                k.for_(order.first, order.total, order.step, [&](reg32) {
                    k.wait_empty(sums, to);
                    k.tcgen05.fence_after_thread_sync();
                    const auto acc = d[to.slot()];
                    k.for_(steps, [&](reg32 i) {
                        k.wait_full(load, at);
                        k.tcgen05.fence_after_thread_sync();
                        k.tcgen05.multiply(acc, a_desc[at.slot()], b_desc[at.slot()], i != 0u);
                        free(load.empty(at));
                        k.advance(at);
                    });
                    free(sums.full(to));
                    k.advance(to);
                });
            });
        });
    });

    k.if_(warp >= 2u, [&] {
        k.role(storers, [&] {
            const auto at = k.consumer_state(sums);
            const auto lane_row = k.mad_lo(k.and_(warp, 3u), 32u, k.and_(tid, 31u)).named("lane_row");
            const auto d =
                k.tcgen05.quarter(memory, warp).template accumulator<f32, rows * C.pair, C.bn, 0, accumulators>();
            const auto leader_empty = k.mapa(sums.empty(), 0u);
            const auto stores = tid == 64u;
            const auto convert = [&](const auto& v, u32 j) {
                return k.template cvt<px::bf16x2, px::rn>(px::hi(v[j + 1]), px::lo(v[j]));
            };
            const auto out = k.tile_line(c[0], lane_row);
            k.for_(order.first, order.total, order.step, [&](reg32 t) {
                const auto pos = order.at(k, t);
                k.tcgen05.wait(sums.full(at), at.parity());
                const auto sum = d[at.slot()];
                constexpr u32 chunks = C.bn / T::chunk;
                for (u32 chunk = 0; chunk < chunks; ++chunk) {
                    const auto v = k.tcgen05.template ld < px::shape_32x32b,
                               sizeof(Out) == 2 ? px::x64 : px::x32 > (sum, chunk * T::chunk);
                    k.tcgen05.wait_ld();
                    if (chunk + 1 == chunks) {  // the accumulator is in registers: the next tile may be summed up
                        k.tcgen05.fence_before_thread_sync();
                        if constexpr (C.pair == 2)
                            k.mbarrier_arrive<px::release, px::cluster>(leader_empty[at.slot()]);
                        else
                            k.mbarrier_arrive(sums.empty(at));
                    }
                    const u32 buffer = chunk % 2;
                    k.at(stores).template cp_async_bulk_wait_group_read<1>();
                    k.bar_sync(1u, storers);
                    for (u32 piece = 0; piece < 8; ++piece) {
                        const auto to = out.chunk(piece).template byte_offset<16>(
                            static_cast<int>(buffer * T::c::layout.stage_stride()));
                        if constexpr (sizeof(Out) == 2) {
                            const u32 j = piece * 8;
                            const auto r0 = convert(v, j), r1 = convert(v, j + 2), r2 = convert(v, j + 4),
                                       r3 = convert(v, j + 6);
                            k.st(to.template as<px::packet<px::bf16x2, 4>>(), px::vec{r0, r1, r2, r3});
                        } else {
                            const u32 j = piece * 4;
                            k.st(to.template as<px::packet<f32, 4>>(), px::vec{v[j], v[j + 1], v[j + 2], v[j + 3]});
                        }
                    }
                    k.fence_proxy_async_shared_cta();
                    k.bar_sync(1u, storers);
                    k.single_thread(stores, [&] {
                        k.cp_async_bulk_tensor(c_map, px::coords(k.add(pos.col, chunk * T::chunk), pos.row),
                                               c.stage(static_cast<int>(buffer)));
                        k.cp_async_bulk_commit_group();
                    });
                }
                k.advance(at);
            });
            k.at(stores).template cp_async_bulk_wait_group<0>();
            k.tcgen05.fence_before_thread_sync();
        });
    });

    meet<C>(k);  // nobody uses the tensor memory any more, nor waits for the peer
    k.if_(warp == 1u, [&] {
        k.tcgen05.fence_after_thread_sync();
        k.tcgen05.dealloc(memory);
    });
}

}  // namespace gemm_blackwell
