// SPDX-License-Identifier: Apache-2.0
// Which tiles a cluster works on, and in which order: persistent, and with stream-K the steps of each.
#pragma once

#include <ptxdsl/kernels/gemm/spec.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// Where a block stands in its cluster. Blocks are counted down the columns of the cluster.
template <class S>
struct block_in_cluster {
    static constexpr gemm_config C = S::config;
    reg<u32> rank, row, col;

    constexpr block_in_cluster(k_t& k, const reg32& cta_rank) : rank(cta_rank) {
        if constexpr (C.cluster_n == 1 || C.cluster == 1) {
            row = (C.cluster_n == 1 ? rank : k.mov<u32>(0)).same();
            col = (C.cluster_n == 1 ? k.mov<u32>(0) : rank).same();
        } else {
            row = k.rem(rank, C.cluster);
            col = k.div(rank, C.cluster);
        }
    }
    /// Blocks that get this block's part of A: those in its row.
    [[nodiscard]] constexpr reg<u16> row_mask(k_t& k) const {
        u32 first = 0;
        for (u32 c = 0; c < C.cluster_n; ++c) first |= 1u << (c * C.cluster);
        return k.cvt<u16>(k.shl(k.mov<u32>(first), row));
    }
    /// Blocks that get its part of B: those in its column.
    [[nodiscard]] constexpr reg<u16> column_mask(k_t& k) const {
        return k.cvt<u16>(k.shl(k.mov<u32>((1u << C.cluster) - 1), k.mul_lo(col, C.cluster)));
    }
    /// The `i`-th block that shares a tile with this one, itself included: its column, then the rest of its row.
    [[nodiscard]] constexpr reg32 sharer(k_t& k, const reg32& i) const {
        auto down = k.mad_lo(col, C.cluster, i);
        if constexpr (C.cluster_n == 1) return down;
        const auto j = k.sub(i, C.cluster);
        const auto other = k.selp(k.add(j, 1u), j, j >= col);
        return k.selp(down, k.mad_lo(other, C.cluster, row), i < C.cluster);
    }
};

/// Where a tile's results go: first row (of this warpgroup), first column, batch.
struct tile_coord {
    reg<u32> row, col, batch;
    reg<u32> col_end{};  ///< behind the last column; of `even_columns` only
    reg<u32> row_end{};  ///< behind the last row; of grouped products only

    /// From here on these names stand for the registers of `o`; no instruction.
    constexpr void name(const tile_coord& o) { row = o.row.same(), col = o.col.same(), batch = o.batch.same(); }
};

/// The tiles in the order they are worked on: column by column inside groups of rows, so that concurrent clusters share
/// operands in L2.
template <class S>
struct tile_raster {
    static constexpr gemm_config C = S::config;
    reg<u32> row_tiles, col_tiles, per_batch, total;
    reg<u32> columns;  ///< of a tile, `gemm_config::tile_columns`; of `even_columns` only
    block_in_cluster<S> block;

    constexpr tile_raster(k_t& k, const gemm_arguments& p, const block_in_cluster<S>& place)
        : row_tiles(k.div(k.add(p.m, C.cluster_rows() - 1), C.cluster_rows())),
          col_tiles(k.div(k.add(p.n, C.cluster_columns() - 1), C.cluster_columns())),
          per_batch(k.mul_lo(row_tiles, col_tiles)),
          total(k.mul_lo(per_batch, p.batches)),
          block(place),
          n_(p.n) {
        if constexpr (C.moves_last_rows())
            last_row_ = k.and_(k.add(k.sub(k.max(p.m, C.bm), C.bm), 15u), ~15u).named("last_row");
        if constexpr (C.even_columns()) {
            const auto tiles = C.cluster_n > 1 ? k.mul_lo(col_tiles, C.cluster_n) : col_tiles;
            columns = k.div(k.add(p.n, k.sub(tiles, 1u)), tiles).named("tile_columns");
        }
    }

    /// Tile `t`; the row is the first of this block.
    constexpr tile_coord at(k_t& k, const reg32& t) const {
        const auto batch = k.div(t, per_batch);
        const auto in_batch = k.sub(t, k.mul_lo(batch, per_batch));
        const auto per_group = k.mul_lo(col_tiles, C.group);
        const auto g = k.div(in_batch, per_group);
        const auto first = k.mul_lo(g, C.group);
        const auto height = k.min(k.sub(row_tiles, first), C.group);
        const auto inside = k.sub(in_batch, k.mul_lo(g, per_group));
        const auto col = k.div(inside, height);
        const auto row = k.add(first, k.sub(inside, k.mul_lo(col, height)));
        const auto block_row = C.cluster > 1 ? k.mad_lo(row, C.cluster, block.row) : row;
        const auto block_col = C.cluster_n > 1 ? k.mad_lo(col, C.cluster_n, block.col) : col;
        if constexpr (C.even_columns()) {
            const auto first_col = k.mul_lo(block_col, columns);
            return {k.mul_lo(block_row, C.bm), first_col, batch, k.min(n_, k.add(first_col, columns))};
        } else {
            return {k.mul_lo(block_row, C.bm), k.mul_lo(block_col, C.bn), batch};
        }
    }

    /// The first row that is loaded of the tile that starts at `row`.
    [[nodiscard]] constexpr reg32 loaded_row(k_t& k, const reg32& row) const {
        if constexpr (C.moves_last_rows())
            return k.min(row, last_row_);
        else
            return row;
    }

private:
    reg<u32> n_;
    reg<u32> last_row_;
};

/// A cluster's work, item by item. An item is a tile, or with `stream_k` the steps [first, last) of one.
///
/// Stream-K: if the tiles do not divide by the number of clusters, whole tiles are dealt out until between one and two
/// waves are left (or all, if there are fewer); the steps of those are cut into one equal range for each cluster. A
/// tile whose steps several clusters have is finished by the one with its first steps, which comes to them last; each
/// of the others comes to its part first and leaves the sums in memory.
template <class S>
class tile_scheduler {
    static constexpr gemm_config C = S::config;

public:
    reg<u32> tile, first, last;  ///< `first` with `stream_k` only; else 0

    constexpr tile_scheduler(k_t& k, const tile_raster<S>& raster, const reg32& steps, const reg32& cluster,
                             const reg32& clusters)
        : raster_(raster), steps_(steps), step_(clusters) {
        if constexpr (C.stream_k) {
            cut(k, cluster, clusters);
        } else {
            tile = k.mov(cluster).named("tile");
            last = steps.same();
        }
    }
    [[nodiscard]] constexpr tile_coord coord(k_t& k) const { return raster_.at(k, tile); }
    [[nodiscard]] constexpr const tile_raster<S>& raster() const { return raster_; }
    /// There is such a tile; `skip` goes to the next one (not with `stream_k`).
    [[nodiscard]] constexpr reg<pred> inside() const { return tile < raster_.total; }
    constexpr void skip(k_t& k) { tile = k.add(tile, step_); }

    /// Moves to the next item; true when there is none.
    constexpr reg<pred> next(k_t& k) {
        if constexpr (C.stream_k) {
            const auto end = k.mad_lo(tile, steps_, last);
            const auto whole = k.add(tile, step_);
            const auto stay = whole < dealt_;
            const auto begin = k.selp(begin_, end, tile < dealt_);
            part(k, begin, stay, whole);
            const auto out = begin >= end_;
            return out && !stay;
        } else {
            tile = k.add(tile, step_);
            return tile >= raster_.total;
        }
    }
    /// The first step of cluster `c`'s range, of all steps.
    [[nodiscard]] constexpr reg32 start_of(k_t& k, const reg32& c) const {
        return k.add(base_, k.div(k.mul_lo(loose_, c), step_));
    }
    /// The step after the last one of the present tile, of all steps.
    [[nodiscard]] constexpr reg32 tile_end(k_t& k) const { return k.mul_lo(k.add(tile, 1u), steps_); }

private:
    constexpr void cut(k_t& k, const reg32& cluster, const reg32& clusters) {
        const auto waves = k.div(raster_.total, clusters);
        const auto rest = k.sub(raster_.total, k.mul_lo(waves, clusters));
        const auto before = k.mul_lo(k.sub(k.max(waves, 1u), 1u), clusters);
        dealt_ = k.selp(before, raster_.total, rest != 0u);
        loose_ = k.mul_lo(k.sub(raster_.total, dealt_), steps_);
        base_ = k.mul_lo(dealt_, steps_);
        begin_ = start_of(k, cluster);
        end_ = start_of(k, k.add(cluster, 1u));
        tile = k.mov<u32>(0).named("tile");
        first = k.mov<u32>(0).named("first");
        last = k.mov<u32>(0).named("last");
        part(k, begin_, dealt_ != 0u, cluster);
    }
    /// The item that starts at step `begin` of all steps, or tile `whole` from end to end.
    constexpr void part(k_t& k, const reg32& begin, const reg<pred>& stay, const reg32& whole) {
        const auto t = k.div(begin, steps_);
        const auto from = k.sub(begin, k.mul_lo(t, steps_));
        const auto to = k.min(steps_, k.add(from, k.sub(end_, begin)));
        tile = k.selp(whole, t, stay);
        first = k.selp(k.mov<u32>(0), from, stay);
        last = k.selp(steps_, to, stay);
    }
    tile_raster<S> raster_;
    reg<u32> steps_, step_, dealt_, loose_, base_, begin_, end_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
