// SPDX-License-Identifier: Apache-2.0
// C = A * B^T on Hopper: A is M x K, B is N x K, both row-major bf16; C is M x N, f32 or bf16.
//
//   warpgroup 0      one thread walks the tiles and feeds a ring of shared-memory stages through TMA
//   warpgroups 1, 2  wait for a stage, multiply (64 rows each), free the stage; then store through shared memory and
//   TMA
//
// Two blocks of a cluster work on two row tiles above one column tile: each loads half of the B tile and multicasts it
// to both. The grid is persistent: a cluster takes every (number of clusters)-th tile.
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
    u32 cluster = 2;  ///< blocks that share a B tile, 1 or 2
    u32 group = 8;    ///< row tiles (of a cluster) that are walked together, for L2 reuse
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

/// Walks the tiles column by column inside groups of `C.group` row tiles, so that concurrent clusters share A and B in
/// L2.
template <config C>
struct schedule {
    px::reg<u32> row_tiles, col_tiles, total, rank;

    constexpr schedule(k_t& k, const reg32& m, const reg32& n, const reg32& cta_rank)
        : row_tiles(k.div(k.add(m, C.bm * C.cluster - 1), C.bm * C.cluster)),
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

/// What a consumer warpgroup knows about itself.
struct consumer {
    px::reg<u32> index;    ///< 0 or 1: rows 64 * index of the block's tile
    px::reg<u32> barrier;  ///< its named barrier
    px::reg<u32> t;        ///< thread in the warpgroup
    px::reg<px::pred> leader;
    px::reg<u32> lane;
    px::reg<u32> warp;
};

/// Staging tiles in shared memory, two a warpgroup: 64 rows of 128 bytes (64 bf16 or 32 f32 columns), 128-byte swizzle.
template <config C, class Out>
class staging {
public:
    using tile = typename tiles<C, Out>::c;
    static constexpr u32 columns = tiles<C, Out>::chunk;
    static constexpr u32 chunks = C.bn / columns;

    constexpr explicit staging(k_t& k) : tiles_(k.smem<tile>(2 * consumers, "c")) {}

    /// Addresses this lane writes, computed once.
    constexpr void prepare(k_t& k, const consumer& me) {
        first_ = k.mul_lo(me.index, 2u);
        const auto base = k.mad_lo(me.index, 2 * tile::layout.stage_stride(), tiles_[0].address());
        if constexpr (sizeof(Out) == 2) {  // stmatrix: lane i addresses row i % 16, and the left or right 8 columns
            row_base_ = k.mad_lo(k.mad_lo(me.warp, 16u, k.and_(me.lane, 15u)), 128u, base);
            half_ = k.shr(me.lane, 4u);
            swizzle_ = k.and_(me.lane, 7u);
        } else {  // st.v2: lane i holds columns 2 (i % 4) of row i / 4
            const auto row = k.mad_lo(me.warp, 16u, k.shr(me.lane, 2u));
            row_base_ = k.mad_lo(row, 128u, k.mad_lo(k.and_(me.lane, 1u), 8u, base));
            half_ = k.and_(k.shr(me.lane, 1u), 1u);
            swizzle_ = k.shr(me.lane, 2u);
        }
        row_base_.named("c_row");
    }
    /// Writes columns `chunk * columns` … of the accumulator to staging tile `buffer` of this warpgroup.
    constexpr void fill(k_t& k, const px::accumulator<f32, C.bn>& acc, u32 chunk, u32 buffer) const {
        for (u32 p = 0; p < 4; ++p) fill_quarter(k, acc, chunk, p, buffer);
    }
    [[nodiscard]] constexpr px::tile_stage<tile> operator()(k_t& k, u32 buffer) const {
        return tiles_[k.add(first_, buffer)];
    }

private:
    /// 16 columns of bf16 or 8 of f32.
    constexpr void fill_quarter(k_t& k, const px::accumulator<f32, C.bn>& acc, u32 chunk, u32 p, u32 buffer) const {
        const auto x = k.shl(k.xor_(k.add(half_, 2 * p), swizzle_), 4u);
        const auto at = k.shared_pointer<Out, 16>(k.add(row_base_, x), buffer * tile::layout.stage_stride());
        if constexpr (sizeof(Out) == 2) {
            const u32 j = chunk * 32 + p * 8;
            const auto r0 = k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 1]), px::lo(acc[j]));
            const auto r1 = k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 3]), px::lo(acc[j + 2]));
            const auto r2 = k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 5]), px::lo(acc[j + 4]));
            const auto r3 = k.cvt<px::bf16x2, px::rn>(px::hi(acc[j + 7]), px::lo(acc[j + 6]));
            k.stmatrix(at, r0, r1, r2, r3);
        } else {
            const u32 j = chunk * 16 + p * 4;
            const auto pair = at.template as<px::packet<f32, 2>>();
            k.st(pair, px::vec<f32, 2>(acc[j], acc[j + 1]));
            k.st(pair.template byte_offset<8>(8 * 128), px::vec<f32, 2>(acc[j + 2], acc[j + 3]));
        }
    }

    px::shared_tile<tile> tiles_;
    px::reg<u32> first_, row_base_, half_, swizzle_;
};

/// Stores through TMA, one staging tile filling while the other drains. Needs rows of C that are multiples of 16 bytes.
template <config C, class Out>
class store_tma {
public:
    constexpr store_tma(k_t& k, const map_c<C, Out>& map) : map_(map), staging_(k) {}
    constexpr void prepare(k_t& k, const consumer& me) { staging_.prepare(k, me); }

    constexpr void operator()(k_t& k, const consumer& me, const px::accumulator<f32, C.bn>& acc,
                              const tile_position& pos) const {
        for (u32 chunk = 0; chunk < staging_.chunks; ++chunk) {
            const u32 buffer = chunk % 2;
            k.at(me.leader).cp_async_bulk_wait_group_read<1>();
            k.bar_sync(me.barrier, 128u);
            staging_.fill(k, acc, chunk, buffer);
            k.fence_proxy_async_shared_cta();
            k.bar_sync(me.barrier, 128u);
            k.single_thread(me.leader, [&] {
                k.cp_async_bulk_tensor(map_, px::coords(k.add(pos.col, chunk * staging_.columns), pos.row),
                                       staging_(k, buffer));
                k.cp_async_bulk_commit_group();
            });
        }
    }
    constexpr void finish(k_t& k, const consumer& me) const { k.at(me.leader).cp_async_bulk_wait_group<0>(); }

private:
    map_c<C, Out> map_;
    staging<C, Out> staging_;
};

/// Stores element by element with bounds checks, 128 consecutive elements at a time: for rows of C that TMA cannot
/// address.
template <config C, class Out>
class store_any {
public:
    constexpr store_any(k_t& k, px::global_ptr<Out> c, const reg32& m, const reg32& n)
        : c_(c), m_(m), n_(n), staging_(k) {}
    constexpr void prepare(k_t& k, const consumer& me) { staging_.prepare(k, me); }

    constexpr void operator()(k_t& k, const consumer& me, const px::accumulator<f32, C.bn>& acc,
                              const tile_position& pos) const {
        constexpr u32 columns = staging<C, Out>::columns, rows_at_once = 128 / columns;
        const auto x = k.and_(me.t, columns - 1);
        const auto y = k.div(me.t, columns);
        for (u32 chunk = 0; chunk < staging_.chunks; ++chunk) {
            k.bar_sync(me.barrier, 128u);
            staging_.fill(k, acc, chunk, 0);
            k.bar_sync(me.barrier, 128u);
            const auto col = k.add(pos.col, k.add(x, chunk * columns));
            const auto col_inside = col < n_;
            const auto tile = staging_(k, 0);
            k.for_(0u, 64u / rows_at_once, 1u, [&](reg32 i) {
                const auto r = k.mad_lo(i, rows_at_once, y);
                const auto row = k.add(pos.row, r);
                const auto inside = row < m_ && col_inside;
                const auto v = k.ld(k.tile_element(tile, r, x));
                const auto to = c_ + k.mul_wide(row, n_);
                k.at(inside).st(to + col, v);
            });
        }
    }
    constexpr void finish(k_t&, const consumer&) const {}

private:
    px::global_ptr<Out> c_;
    px::reg<u32> m_, n_;
    staging<C, Out> staging_;
};

/// The kernel without its last step: `store` takes each finished tile.
template <config C, class Out, class Store>
constexpr void gemm_body(k_t& k, const map_a<C, Out>& a_map, const map_b<C, Out>& b_map, Store& store, const reg32& m,
                         const reg32& n, const reg32& depth) {
    using T = tiles<C, Out>;
    const auto a = k.smem<typename T::a>(C.stages, "a");
    const auto b = k.smem<typename T::b>(C.stages, "b");
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
         k.role(128, [&] {
             k.setmaxnreg_dec<24>();  // 24 * 128 + 240 * 256 registers fit the 168 * 384 the block starts with; 32
                                      // would not
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
                             k.cp_async_bulk_tensor_multicast(b[at.slot()].template part<typename T::b_part>(rank),
                                                              b_map, px::coords(x, b_row), full,
                                                              px::u16((1u << C.cluster) - 1));
                         else
                             k.cp_async_bulk_tensor(b[at.slot()], b_map, px::coords(x, b_row), full);
                         k.advance(at);
                     });
                 });
             });
         });
     }).else_([&] {
        k.role(128 * consumers, [&] {
            k.setmaxnreg_inc<240>();
            const auto t = k.and_(tid, 127u).named("t");
            const consumer me{
                k.sub(warpgroup, 1u).named("consumer"), warpgroup, t, t == 0u, k.and_(tid, 31u), k.shr(t, 5u)};
            store.prepare(k, me);
            const auto acc = k.wgmma.template make_accumulator<f32, C.bn>();
            const auto at = k.consumer_state(pipe);
            const auto releases = t < C.cluster;  // thread i frees the slot in block i of the cluster
            const auto free = k.mapa(pipe.empty(), t);
            const auto release = [&](const reg32& slot) { k.at(releases).mbarrier_arrive(free[slot]); };

            const auto a_desc = k.wgmma.descriptor(a).rows_at(me.index, 64);
            const auto b_desc = k.wgmma.descriptor(b);
            const auto multiply = [&](bool start) {
                k.wait_full(pipe, at);
                const auto da = a_desc[at.slot()];
                const auto db = b_desc[at.slot()];
                k.wgmma.fence();
                for (u32 s = 0; s < C.bk / 16; ++s)
                    k.wgmma.mma_async(acc, da.k_slice(s), db.k_slice(s), !(start && s == 0));
                k.wgmma.commit_group();
            };

            k.for_(first, order.total, step, [&](reg32 tile) {
                multiply(true);
                auto previous = k.mov(at.slot()).named("previous");
                k.advance(at);
                k.for_(1u, steps, 1u, [&](reg32) {
                    multiply(false);
                    k.wgmma.template wait_group<1>();  // the step before this one has read its slot
                    release(previous);
                    previous = at.slot();
                    k.advance(at);
                });
                k.wgmma.template wait_group<0>();
                release(previous);
                auto pos = order.at(k, tile);
                pos.row = k.mad_lo(me.index, 64u, pos.row);
                store(k, me, acc, pos);
            });
            store.finish(k, me);
        });
    });
    if constexpr (C.cluster > 1) {  // no block leaves while its peer may still multicast to it or free its slots
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
}

/// C through TMA: `ldc * sizeof(Out)` is a multiple of 16.
template <config C, class Out>
constexpr void gemm(k_t& k, map_a<C, Out> a_map, map_b<C, Out> b_map, map_c<C, Out> c_map, reg32 m, reg32 n,
                    reg32 depth) {
    store_tma<C, Out> store(k, c_map);
    gemm_body<C, Out>(k, a_map, b_map, store, m, n, depth);
}
/// C of any width.
template <config C, class Out>
constexpr void gemm_any_n(k_t& k, map_a<C, Out> a_map, map_b<C, Out> b_map, px::global_ptr<Out> c, reg32 m, reg32 n,
                          reg32 depth) {
    store_any<C, Out> store(k, c, m, n);
    gemm_body<C, Out>(k, a_map, b_map, store, m, n, depth);
}

}  // namespace gemm_hopper
