// SPDX-License-Identifier: Apache-2.0
// The matrix product for Hopper, one source for all configurations (docs/kernels/gemm.md draws the pipeline).
//
//   warpgroup 0    one thread walks the tiles and feeds a ring of shared-memory stages through TMA
//   the others     wait for a stage, multiply 64 rows each, free the stage; the result is converted to 16 bits in
//   registers
//                  and stored while the tensor cores already work on the next tile
//
// The grid is persistent (without `split_k`): a cluster takes every (number of clusters)-th tile.
#pragma once

#include <ptxdsl/kernels/gemm_config.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <numbers>
#include <type_traits>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels::detail {

using k_t = builder<sm_90a>;
using reg32 = reg<u32>;

/// Element type of a bias: that of 16-bit operands, else that of the result, or bf16 next to f32 results.
template <class In, class Out>
using bias_of = std::conditional_t<sizeof(In) == 2, In, std::conditional_t<sizeof(Out) == 2, Out, bf16>>;

/// Everything that is fixed when the kernel is written. `InB` differs from `In` where e4m3 meets e5m2.
template <gemm_config C, class In, class Out, gemm_epilogue E, class InB = In>
struct gemm_spec {
    static_assert(C.valid(), "PTXDSL-kernels: this gemm_config cannot be built; see gemm_config::valid");
    static constexpr gemm_config config = C;
    static constexpr gemm_epilogue epilogue = E;
    static_assert(!C.block_scaled || sizeof(In) == 1, "PTXDSL-kernels: block scales are for 8-bit operands");
    static_assert(sizeof(In) == sizeof(InB), "PTXDSL-kernels: both operands have elements of one size");
    using out = Out;
    using sum = std::conditional_t<std::is_same_v<In, s8>, s32, f32>;
    using bias = bias_of<In, Out>;
    static constexpr u32 bk = C.bk * 2 / sizeof(In);  ///< elements of K in a stage
    using a = tile<In, C.bm, bk, C.a>;
    using b = tile<InB, C.bn, bk, C.b>;
    using a_part = tile<In, C.bm / C.cluster_n, bk, C.a>;  ///< what one block loads of A
    using b_part = tile<InB, C.bn / C.cluster, bk, C.b>;   ///< what one block loads of B
    static constexpr u32 out_columns = E.gated ? C.bn / 2 : C.bn;
    /// Columns of a staging tile: one warp's 16 rows of 128 bytes, or of the half or quarter that divides the tile.
    static constexpr u32 chunk = C.store_chunk(E.gated) * 2 / sizeof(Out);
    using c = tile<Out, 16, chunk>;
    using map_a = tma_map<a_part, 3>;
    using map_b = tma_map<b_part, 3>;
    using map_c = tma_map_out<c, 3>;
    using packed = std::conditional_t<std::is_same_v<Out, f16>, f16x2, bf16x2>;
    static_assert(C.store != store_mode::tma || (sizeof(Out) == 2 && out_columns % chunk == 0 && !E.beta),
                  "PTXDSL-kernels: store_mode::tma is for 16-bit results of 16 columns at least, without beta");
    static_assert(!E.gated || C.takes_gates(),
                  "PTXDSL-kernels: blocks of a gated product store groups of 16 columns: bn is a multiple of 16");
    static_assert(C.store != store_mode::transposed || (sizeof(Out) == 2 && !E.beta),
                  "PTXDSL-kernels: store_mode::transposed is for 16-bit results, without beta");
};

/// The kernel's parameters, as registers.
struct gemm_arguments {
    reg<u32> m, n, depth, batches;
    reg<u32> ldc;           ///< elements from one row of C to the next
    reg<u64> batch_stride;  ///< elements from one C to the next
    reg<f32> alpha, beta;
    reg<u64> a_scale_row, a_scale_k, b_scale_col, b_scale_k;  ///< block scales: elements from one to the next
};

/// The kernel's parameters that are no numbers.
template <class S>
struct gemm_pointers {
    typename S::map_a a;
    typename S::map_b b;
    typename S::map_c c_map;
    global_ptr<typename S::out> c;
    global_ptr<const typename S::bias> bias;
    global_ptr<f32, 16> partials;
    global_ptr<u32> flags;
    global_ptr<const f32> a_scale, b_scale;
};

/// Where a block stands in its cluster. Blocks are counted down the columns of the cluster.
template <class S>
struct cluster_place {
    static constexpr gemm_config C = S::config;
    reg<u32> rank, row, col;

    constexpr cluster_place(k_t& k, const reg32& cta_rank) : rank(cta_rank) {
        if constexpr (C.cluster_n == 1 || C.cluster == 1) {
            row = C.cluster_n == 1 ? rank : k.mov<u32>(0);
            col = C.cluster_n == 1 ? k.mov<u32>(0) : rank;
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
struct tile_position {
    reg<u32> row, col, batch;
};

/// The tiles in the order of the walk: column by column inside groups of rows, so that concurrent clusters share
/// operands in L2.
template <class S>
struct tile_order {
    static constexpr gemm_config C = S::config;
    reg<u32> row_tiles, col_tiles, per_batch, total;
    cluster_place<S> block;

    constexpr tile_order(k_t& k, const gemm_arguments& p, const cluster_place<S>& place)
        : row_tiles(k.div(k.add(p.m, C.cluster_rows() - 1), C.cluster_rows())),
          col_tiles(k.div(k.add(p.n, C.cluster_columns() - 1), C.cluster_columns())),
          per_batch(k.mul_lo(row_tiles, col_tiles)),
          total(k.mul_lo(per_batch, p.batches)),
          block(place) {}

    /// Tile `t`; the row is the first of this block.
    constexpr tile_position at(k_t& k, const reg32& t) const {
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
        return {k.mul_lo(block_row, C.bm), k.mul_lo(block_col, C.bn), batch};
    }
};

/// A cluster's walk over its work. An item is a tile, or with `stream_k` the steps [first, last) of one.
///
/// Stream-K: if the tiles do not divide by the number of clusters, whole tiles are dealt out until between one and two
/// waves are left (or all, if there are fewer); the steps of those are cut into one equal range for each cluster. A
/// tile whose steps several clusters have is finished by the one with its first steps, which comes to them last; each
/// of the others comes to its part first and leaves the sums in memory.
template <class S>
class tile_walk {
    static constexpr gemm_config C = S::config;

public:
    reg<u32> tile, first, last;  ///< `first` with `stream_k` only; else 0

    constexpr tile_walk(k_t& k, const tile_order<S>& order, const reg32& steps, const reg32& cluster,
                        const reg32& clusters)
        : order_(order), steps_(steps), step_(clusters) {
        if constexpr (C.stream_k) {
            cut(k, cluster, clusters);
        } else {
            tile = k.mov(cluster).named("tile");
            last = steps;
        }
    }
    [[nodiscard]] constexpr tile_position position(k_t& k) const { return order_.at(k, tile); }
    /// There is such a tile; `skip` goes to the next one (not with `stream_k`).
    [[nodiscard]] constexpr reg<pred> inside() const { return tile < order_.total; }
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
            return tile >= order_.total;
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
        const auto waves = k.div(order_.total, clusters);
        const auto rest = k.sub(order_.total, k.mul_lo(waves, clusters));
        const auto before = k.mul_lo(k.sub(k.max(waves, 1u), 1u), clusters);
        dealt_ = k.selp(before, order_.total, rest != 0u);
        loose_ = k.mul_lo(k.sub(order_.total, dealt_), steps_);
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
    tile_order<S> order_;
    reg<u32> steps_, step_, dealt_, loose_, base_, begin_, end_;
};

/// What a consumer warpgroup's thread knows about itself.
struct gemm_consumer {
    reg<u32> index;  ///< its warpgroup: rows 64 * index of the block's tile
    reg<u32> t;      ///< thread of the warpgroup
    reg<u32> lane, warp;
    reg<u32> row;  ///< its first accumulator row inside 64: 16 * warp + lane / 4 (the second is 8 below)
    reg<u32> col;  ///< its first column of each group of 8: 2 * (lane % 4)

    constexpr gemm_consumer(k_t& k, const reg32& tid)
        // Uniform in a warp, which ptxas only knows of a shuffle: descriptors then stay in uniform registers.
        : index(k.shfl_sync_idx(k.sub(k.shr(tid, 7u), 1u), 0u, 31u, full_mask).named("consumer")),
          t(k.and_(tid, 127u).named("t")),
          lane(k.and_(tid, 31u)),
          warp(k.shr(t, 5u)),
          row(k.mad_lo(warp, 16u, k.shr(lane, 2u))),
          col(k.shl(k.and_(lane, 3u), 1u)) {}
};

// ---- arithmetic of the epilogue -------------------------------------------------------------------------------------

/// x * sigmoid(x).
constexpr reg<f32> silu(k_t& k, const reg<f32>& x) {
    const auto e = k.ex2<approx, ftz>(k.mul<rn>(x, -std::numbers::log2e_v<float>));
    return k.mul<rn>(x, k.rcp<approx, ftz>(k.add<rn>(e, 1.0f)));
}
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
constexpr reg<f32> gelu(k_t& k, const reg<f32>& x) {
    const auto square = k.mul<rn>(x, x);
    const auto inner = k.mul<rn>(x, k.fma<rn>(square, 0.0356774081363001f, 0.7978845608028654f));
    const auto half = k.mul<rn>(x, 0.5f);
    return k.fma<rn>(half, k.tanh<approx>(inner), half);
}
constexpr reg<f32> apply(k_t& k, activation act, const reg<f32>& x) {
    switch (act) {
        case activation::relu: return k.max(x, 0.0f);
        case activation::gelu: return gelu(k, x);
        case activation::silu: return silu(k, x);
        case activation::none: break;
    }
    return x;
}

/// The bias of one thread's two columns of a group of 8.
struct bias_pair {
    reg<f32> v[2];
};

/// Turns accumulators into results. `source(i)` is accumulator register `i`.
template <class S>
class gemm_math {
    static constexpr gemm_epilogue E = S::epilogue;

public:
    /// Loads scales, so it comes after the wait for the kernel ahead of this one.
    constexpr gemm_math(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) : p_(p), bias_(g.bias) {
        if constexpr (E.tensor_scales) {
            const auto scales = k.template mul<rn>(k.ld(g.a_scale), k.ld(g.b_scale));
            alpha_ = k.template mul<rn>(scales, p.alpha).named("alpha");
        } else {
            alpha_ = p.alpha;
        }
    }

    /// Bias of group `block`, columns clamped into N.
    constexpr bias_pair load_bias(k_t& k, const reg32& col, u32 block) const {
        bias_pair b;
        if constexpr (E.bias && S::config.store == store_mode::elements) {
            for (u32 i = 0; i < 2; ++i) {
                const auto c = k.min(k.add(col, block * 8 + i), k.sub(p_.n, 1u));
                b.v[i] = k.template cvt<f32>(k.ld(bias_ + c));
            }
        } else if constexpr (E.bias) {  // N is even, so a pair is inside or outside as a whole
            const auto c = k.min(k.add(col, block * 8), k.sub(p_.n, 2u));
            const auto at = (bias_ + c).template as<packet<typename S::bias, 2>>().template assume_aligned<4>();
            const auto v = k.ld(at);
            for (u32 i = 0; i < 2; ++i) b.v[i] = k.template cvt<f32>(v[i]);
        }
        return b;
    }
    /// Result register `j` (of the layout of a 64 x out_columns accumulator) for a thread whose first column is `col`.
    template <class Source>
    constexpr void group(k_t& k, const Source& source, const reg32& col, u32 block,
                         reg<typename S::sum> (&out)[4]) const {
        if constexpr (std::is_same_v<typename S::sum, s32>) {
            for (u32 i = 0; i < 4; ++i) out[i] = source(4 * block + i);
        } else if constexpr (E.gated) {
            const bias_pair g = load_bias(k, col, 2 * block), v = load_bias(k, col, 2 * block + 1);
            for (u32 i = 0; i < 4; ++i) {
                const auto gate = apply(k, E.act, linear(k, source(8 * block + i), g.v[i % 2]));
                out[i] = k.template mul<rn>(gate, linear(k, source(8 * block + 4 + i), v.v[i % 2]));
            }
        } else {
            const bias_pair b = load_bias(k, col, block);
            for (u32 i = 0; i < 4; ++i) out[i] = apply(k, E.act, linear(k, source(4 * block + i), b.v[i % 2]));
        }
    }

    /// Bias of a thread's two rows of a product whose rows are C's columns; `row` is the first of them.
    constexpr bias_pair load_row_bias(k_t& k, const reg32& row) const {
        bias_pair b;
        if constexpr (E.bias)
            for (u32 i = 0; i < 2; ++i) {
                const auto at = k.min(k.add(row, 8 * i), k.sub(p_.m, 1u));
                b.v[i] = k.template cvt<f32>(k.ld(bias_ + at));
            }
        return b;
    }
    /// Results of group `block` of such a product, rows `up` and 8 below; of a gated one, whose groups of 16 rows are 8
    /// of the gate and 8 of the value, the first two only.
    template <class Source>
    constexpr void turned_group(k_t& k, const Source& source, const bias_pair& b, u32 block, reg<f32> (&out)[4]) const {
        for (u32 i = 0; i < 4; ++i) out[i] = linear(k, source(4 * block + i), b.v[i / 2]);
        for (u32 i = 0; i < (E.gated ? 2 : 4); ++i) out[i] = apply(k, E.act, out[i]);
        if constexpr (E.gated)
            for (u32 i = 0; i < 2; ++i) out[i] = k.template mul<rn>(out[i], out[i + 2]);
    }

private:
    constexpr reg<f32> linear(k_t& k, const reg<f32>& x, const reg<f32>& bias) const {
        if constexpr (E.alpha && E.bias)
            return k.fma<rn>(x, alpha_, bias);
        else if constexpr (E.alpha)
            return k.mul<rn>(x, alpha_);
        else if constexpr (E.bias)
            return k.add<rn>(x, bias);
        else
            return x;
    }
    gemm_arguments p_;
    reg<f32> alpha_;
    global_ptr<const typename S::bias> bias_;
};

// ---- stores
// -----------------------------------------------------------------------------------------------------------

/// Results as pairs of 16 bits in registers, stored through one warp's own staging tiles: 16 rows of 128 bytes, two of
/// them in turn, no barrier beyond the warp.
template <class S>
class store_packed {
    static constexpr u32 groups = S::out_columns / 8;
    static constexpr u32 per_chunk = S::chunk / 8;
    static constexpr u32 buffers = S::config.store_buffers();

public:
    constexpr store_packed(k_t& k, const typename S::map_c& map, const gemm_consumer& me)
        : map_(map),
          tiles_(k.smem<typename S::c>(S::config.consumers() * 4 * buffers, "c")),
          first_(k.mul_lo(k.mad_lo(me.index, 4u, me.warp), buffers).named("staging")),
          warp_(me.warp),
          leader_(me.lane == 0u),
          line_(k.tile_line(tiles_[first_], k.and_(me.lane, 15u)).from(k.shr(me.lane, 4u))) {}

    /// Converts a tile: `source(i)` is accumulator register `i`.
    template <class Source>
    constexpr void pack(k_t& k, const gemm_math<S>& math, const Source& source, const reg32& col) {
        for (u32 c = 0; c < chunks; ++c) pack(k, math, source, col, c);
    }
    /// Chunk `c` of it.
    template <class Source>
    constexpr void pack(k_t& k, const gemm_math<S>& math, const Source& source, const reg32& col, u32 c) {
        for (u32 g = c * per_chunk; g < (c + 1) * per_chunk; ++g) {
            reg<f32> v[4];
            math.group(k, source, col, g, v);
            packed_[2 * g] = k.template cvt<typename S::packed, rn>(hi(v[1]), lo(v[0]));
            packed_[2 * g + 1] = k.template cvt<typename S::packed, rn>(hi(v[3]), lo(v[2]));
        }
    }
    static constexpr u32 chunks = groups / per_chunk;
    /// Gives the registers a value where a loop names them before the first tile is packed. `any` differs between
    /// threads, as results do.
    constexpr void reserve(k_t& k, const reg32& any) {
        for (auto& p : packed_) p = k.mov(any).template as<typename S::packed>();
    }
    /// Stores chunk `c` of what was packed. No barrier beyond the warp: a warp's rows are its own.
    constexpr void store(k_t& k, const tile_position& pos, u32 c) const {
        constexpr std::int32_t next_tile = S::c::layout.stage_stride();
        // Where the chunks of a tile are no multiple of the buffers, the first takes that of one shortly before it.
        if (c == 0 && (chunks % buffers != 0 || chunks == buffers))
            k.at(leader_).template cp_async_bulk_wait_group_read<0>();
        else if (chunks > buffers)
            k.at(leader_).template cp_async_bulk_wait_group_read<buffers - 1>();
        k.bar_warp_sync();
        for (u32 p = 0; p < per_chunk / 2; ++p) {
            const u32 i = 2 * (c * per_chunk + 2 * p);
            const auto to = line_.chunk(2 * p).template byte_offset<16>(c % buffers * next_tile);
            k.stmatrix(to, packed_[i], packed_[i + 1], packed_[i + 2], packed_[i + 3]);
        }
        const auto row = k.mad_lo(warp_, 16u, pos.row);
        const auto col = S::epilogue.gated ? k.shr(pos.col, 1u) : pos.col;
        const auto stage = tiles_[k.add(first_, c % buffers)];
        k.fence_proxy_async_shared_cta();
        k.bar_warp_sync();
        k.at(leader_).cp_async_bulk_tensor(map_, coords(k.add(col, c * S::chunk), row, pos.batch), stage);
        k.at(leader_).cp_async_bulk_commit_group();
    }
    constexpr void finish(k_t& k) const { k.at(leader_).template cp_async_bulk_wait_group<0>(); }

private:
    typename S::map_c map_;
    shared_tile<typename S::c> tiles_;
    reg<u32> first_, warp_;
    reg<pred> leader_;
    tile_line<typename S::c> line_;  ///< where this lane writes in the first of its warp's tiles
    reg<typename S::packed> packed_[2 * groups];
};

/// Stores from registers with bounds checks, pairs or single elements; adds beta * C where the epilogue has it.
template <class S>
class store_direct {
    using Out = typename S::out;
    using value = reg<typename S::sum>;
    static constexpr bool pairs = S::config.store == store_mode::pairs;
    static constexpr bool beta = S::epilogue.beta;

public:
    constexpr store_direct(global_ptr<Out> c, const gemm_arguments& p) : c_(c), p_(p) {}

    /// Groups [0, count) of 8 columns from column `col`: `source(i)` is accumulator register `i` of them.
    template <class Source>
    constexpr void store(k_t& k, const gemm_consumer& me, const gemm_math<S>& math, const Source& source,
                         const tile_position& pos, u32 count) const {
        const auto col = k.add(pos.col, me.col);
        const auto out_col = S::epilogue.gated ? k.add(k.shr(pos.col, 1u), me.col) : col;
        const auto width = S::epilogue.gated ? k.shr(p_.n, 1u) : p_.n;
        const auto base = c_ + k.mul_lo(k.template cvt<u64>(pos.batch), p_.batch_stride);
        const auto row = k.add(pos.row, me.row);
        const auto low = k.add(row, 8u);
        const line up{base + k.mul_wide(row, p_.ldc), row < p_.m}, down{base + k.mul_wide(low, p_.ldc), low < p_.m};
        for (u32 g = 0; g < count; ++g) {
            reg<typename S::sum> v[4];
            math.group(k, source, col, g, v);
            const auto x = k.add(out_col, g * 8);
            put(k, up, x, width, v[0], v[1]);
            put(k, down, x, width, v[2], v[3]);
        }
    }

private:
    struct line {
        global_ptr<Out> start;
        reg<pred> inside;
    };
    constexpr value with_old(k_t& k, const global_ptr<Out>& at, const reg<pred>& inside, const value& v) const {
        if constexpr (!beta) {
            return v;
        } else {
            auto old = k.template mov<f32>(0.0f);  // beta of 0 means that C is not read: it may hold NaN
            k.if_(inside && p_.beta != 0.0f, [&] {
                if constexpr (std::is_same_v<Out, f32>)
                    old = k.ld(at);
                else
                    old = k.template cvt<f32>(k.ld(at));
            });
            return k.template fma<rn>(old, p_.beta, v);
        }
    }
    constexpr void put(k_t& k, const line& to, const reg32& x, const reg32& width, const value& a,
                       const value& b) const {
        const auto at = to.start + x;
        const auto in_a = x < width && to.inside;
        const auto in_b = pairs ? in_a : k.add(x, 1u) < width && to.inside;
        const auto va = with_old(k, at, in_a, a), vb = with_old(k, at + 1, in_b, b);
        if constexpr (pairs && sizeof(Out) == 2) {
            k.at(in_a).st(at.template as<typename S::packed>().template assume_aligned<4>(),
                          k.template cvt<typename S::packed, rn>(hi(vb), lo(va)));
        } else if constexpr (pairs) {
            k.at(in_a).st(at.template as<packet<Out, 2>>().template assume_aligned<8>(), vec<Out, 2>(va, vb));
        } else {
            const auto [first, second] = halves(k, va, vb);
            k.at(in_a).st(at, first);
            k.at(in_b).st(at + 1, second);
        }
    }
    /// Both results as `Out`, 16-bit ones converted together: a conversion under each store's guard makes ptxas
    /// serialise the products (C7514).
    static constexpr vec<Out, 2> halves(k_t& k, const value& a, const value& b) {
        if constexpr (sizeof(Out) == 4)
            return vec<Out, 2>(a, b);
        else
            return k.template mov_unpack<Out>(k.template cvt<typename S::packed, rn>(hi(b), lo(a)));
    }
    global_ptr<Out> c_;
    gemm_arguments p_;
};

/// Stores C^T: a warp turns 8 x 8 blocks, after which four threads hold 16 bytes of a row of C.
template <class S>
class store_transposed {
    static constexpr bool gated = S::epilogue.gated;
    using Out = typename S::out;

public:
    constexpr store_transposed(global_ptr<Out> c, const gemm_arguments& p) : c_(c), p_(p) {}

    /// Groups [0, count) of 8 columns (tokens) from column `pos.col`: `source(i)` is accumulator register `i` of them.
    template <class Source>
    constexpr void store(k_t& k, const gemm_consumer& me, const gemm_math<S>& math, const Source& source,
                         const tile_position& pos, u32 count) const {
        const bias_pair bias = math.load_row_bias(k, k.add(pos.row, me.row));
        const auto half = [&](const reg32& x) { return gated ? reg32(k.shr(x, 1u)) : x; };
        // Of the turned block this thread has token lane / 4 and two neighbours of the weights' rows.
        const auto x = k.add(k.add(half(pos.row), k.mul_lo(me.warp, gated ? 8u : 16u)), me.col);
        const auto width = half(p_.m);
        const auto token = k.add(pos.col, k.shr(me.lane, 2u));
        const auto start = c_ + k.mul_lo(k.template cvt<u64>(pos.batch), p_.batch_stride) +
                           k.mad_wide(token, p_.ldc, k.template cvt<u64>(x));
        const auto in_up = x < width, in_down = k.add(x, 8u) < width;
        for (u32 g = 0; g < count; ++g) {
            reg<f32> v[4];
            math.turned_group(k, source, bias, g, v);
            const auto at = start + k.mul_wide(k.mov(p_.ldc), 8 * g);
            const auto inside = k.add(token, 8 * g) < p_.n;
            put(k, at, inside && in_up, v[0], v[1]);
            if constexpr (!gated) put(k, at + 8, inside && in_down, v[2], v[3]);
        }
    }

private:
    constexpr void put(k_t& k, const global_ptr<Out>& at, const reg<pred>& inside, const reg<f32>& a,
                       const reg<f32>& b) const {
        const auto turned = k.movmatrix(k.template cvt<typename S::packed, rn>(hi(b), lo(a)));
        k.at(inside).st(at.template as<typename S::packed>().template assume_aligned<4>(), turned);
    }
    global_ptr<Out> c_;
    gemm_arguments p_;
};

/// What stores from registers.
template <class S>
using store_registers = std::conditional_t<S::config.swaps_operands(), store_transposed<S>, store_direct<S>>;

// ---- the pipeline
// ------------------------------------------------------------------------------------------------------

/// The ring of stages, as both sides see it.
template <class S>
struct gemm_ring {
    static constexpr gemm_config C = S::config;
    using pipe_t = pipeline<"load">;
    shared_tile<typename S::a> a;
    shared_tile<typename S::b> b;
    pipe_t pipe;

    constexpr explicit gemm_ring(k_t& k)
        : a(k.smem<typename S::a>(C.stages, "a")),
          b(k.smem<typename S::b>(C.stages, "b")),
          pipe(k.make_pipeline<"load">(C.stages, arrivals<1>, arrivals<std::uint64_t{C.readers()} * C.sharers()>)) {}

    /// One thread initialises the barriers; afterwards every block of the cluster may use them.
    constexpr void start(k_t& k, const reg32& tid) const {
        k.single_thread(tid == 0u, [&] { k.init(pipe); });
        k.fence_mbarrier_init();
        if constexpr (C.cluster_blocks() > 1) {
            k.barrier_cluster_arrive();
            k.barrier_cluster_wait();
        } else {
            k.bar_sync();
        }
    }
};

/// The cache policy of an operand, made once; unbound without one.
constexpr reg<b64> make_policy(k_t& k, l2_hint hint) {
    switch (hint) {
        case l2_hint::evict_first: return k.createpolicy_fractional<L2::evict_first>();
        case l2_hint::evict_last: return k.createpolicy_fractional<L2::evict_last>();
        case l2_hint::normal: break;
    }
    return {};
}

/// How one block loads its part of an operand's tile: which part, for whom, with which policy.
template <class Tile, class Part, class Map, u32 Shares, l2_hint Hint>
class operand_loader {
public:
    constexpr operand_loader(k_t& k, const Map& map, const reg32& part)
        : map_(map), part_(part), policy_(make_policy(k, Hint)) {}
    constexpr void multicast_to(const reg<u16>& mask) { mask_ = mask; }

    /// First row of this block's part of the tile that starts at `row`.
    [[nodiscard]] constexpr reg32 first_row(k_t& k, const reg32& row) const {
        if constexpr (Shares > 1)
            return k.mad_lo(part_, Part::rows, row);
        else
            return row;
    }
    template <class Barrier>
    constexpr void load(k_t& k, const tile_stage<Tile>& stage, const reg32& x, const reg32& row, const reg32& batch,
                        const Barrier& full) const {
        if constexpr (Shares > 1)
            panels(k, stage.template part<Part>(part_), x, row, batch, full);
        else
            panels(k, stage, x, row, batch, full);
    }

private:
    template <class T, class Barrier>
    constexpr void panels(k_t& k, const tile_stage<T>& to, const reg32& x, const reg32& row, const reg32& batch,
                          const Barrier& full) const {
        for (u32 p = 0; p < T::layout.panels(); ++p) {
            const u32 step = T::layout.panel(p).inner_coordinate;
            if constexpr (T::layout.order == k_major)
                copy(k, to.panel(p), coords(k.add(x, step), row, batch), full);
            else
                copy(k, to.panel(p), coords(k.add(row, step), x, batch), full);
        }
    }
    template <class T, class Where, class Barrier>
    constexpr void copy(k_t& k, const T& to, const Where& where, const Barrier& full) const {
        if constexpr (Shares > 1 && Hint != l2_hint::normal)
            k.cp_async_bulk_tensor_multicast(to, map_, where, full, mask_, policy_);
        else if constexpr (Shares > 1)
            k.cp_async_bulk_tensor_multicast(to, map_, where, full, mask_);
        else if constexpr (Hint != l2_hint::normal)
            k.cp_async_bulk_tensor(to, map_, where, full, policy_);
        else
            k.cp_async_bulk_tensor(to, map_, where, full);
    }
    Map map_;
    reg<u32> part_;
    reg<u16> mask_;
    reg<b64> policy_;
};

/// The producer: one thread that fills the ring with the steps [first, last) of the tile at `pos`.
template <class S>
class gemm_producer {
    static constexpr gemm_config C = S::config;

public:
    constexpr gemm_producer(k_t& k, const gemm_ring<S>& ring, const typename S::map_a& a, const typename S::map_b& b,
                            const cluster_place<S>& block)
        : ring_(ring), a_(k, a, block.col), b_(k, b, block.row), at_(k.producer_state(ring.pipe)) {
        if constexpr (C.to_and_fro) backwards_ = k.mov<u32>(0).named("backwards");
        if constexpr (C.cluster_n > 1) a_.multicast_to(block.row_mask(k));
        if constexpr (C.cluster > 1) b_.multicast_to(block.column_mask(k));
    }

    constexpr void fill(k_t& k, const tile_position& pos, const reg32& first, const reg32& last) const {
        const auto a_row = a_.first_row(k, pos.row), b_row = b_.first_row(k, pos.col);
        k.for_(first, last, 1u, [&](reg32 i) {
            const auto x = k.mul_lo(step_of(k, i, first, last), S::bk);
            k.wait_empty(ring_.pipe, at_);
            const auto full = ring_.pipe.full(at_);
            k.mbarrier_arrive_expect_tx(full, ring_.a, ring_.b);
            a_.load(k, ring_.a[at_.slot()], x, a_row, pos.batch, full);
            b_.load(k, ring_.b[at_.slot()], x, b_row, pos.batch, full);
            k.advance(at_);
        });
        if constexpr (C.to_and_fro) {
            auto back = backwards();
            back = k.xor_(back, 1u);
        }
    }
    /// The same for the first item of a kernel that may start before the one ahead of it has ended: the weights' parts
    /// of the first stages are under way before the wait, the other operand's after it. The ring is empty, so nobody
    /// has to free a slot.
    constexpr void fill_early(k_t& k, const tile_position& pos, const reg32& first, const reg32& last) const {
        const auto a_row = a_.first_row(k, pos.row), b_row = b_.first_row(k, pos.col);
        const auto head = k.min(k.sub(last, first), C.stages);
        const auto load_a = [&](const reg32& i) {
            a_.load(k, ring_.a[i], k.mul_lo(k.add(first, i), S::bk), a_row, pos.batch, ring_.pipe.full()[i]);
        };
        const auto load_b = [&](const reg32& i) {
            b_.load(k, ring_.b[i], k.mul_lo(k.add(first, i), S::bk), b_row, pos.batch, ring_.pipe.full()[i]);
        };
        k.for_(head, [&](reg32 i) {
            k.mbarrier_arrive_expect_tx(ring_.pipe.full()[i], ring_.a, ring_.b);
            if constexpr (C.swaps_operands())
                load_a(i);
            else
                load_b(i);
        });
        k.griddepcontrol_wait();
        k.for_(head, [&](reg32 i) {
            if constexpr (C.swaps_operands())
                load_b(i);
            else
                load_a(i);
            k.advance(at_);
        });
        fill(k, pos, k.add(first, head), last);
    }

private:
    /// What the `i`-th of the steps [first, last) loads.
    constexpr reg32 step_of(k_t& k, const reg32& i, const reg32& first, const reg32& last) const {
        if constexpr (C.to_and_fro)
            return k.selp(k.sub(k.sub(k.add(first, last), 1u), i), i, backwards() != 0u);
        else
            return i;
    }
    [[nodiscard]] constexpr reg32 backwards() const { return backwards_; }

    reg32 backwards_;  ///< 1 in every other item
    gemm_ring<S> ring_;
    operand_loader<typename S::a, typename S::a_part, typename S::map_a, C.cluster_n, C.a_hint> a_;
    operand_loader<typename S::b, typename S::b_part, typename S::map_b, C.cluster, C.b_hint> b_;
    typename gemm_ring<S>::pipe_t::producer_state at_;
};

/// A consumer warpgroup's place in the ring.
template <class S>
class stage_reader {
    static constexpr gemm_config C = S::config;

public:
    constexpr stage_reader(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me, const cluster_place<S>& block)
        : ring_(ring),
          at_(k.consumer_state(ring.pipe)),
          releases_(me.t < C.sharers()),
          free_(k.mapa(ring.pipe.empty(), release_rank(k, me, block))) {}

    constexpr void wait(k_t& k) const { k.wait_full(ring_.pipe, at_); }
    [[nodiscard]] constexpr const reg32& slot() const { return at_.slot(); }
    constexpr void advance(k_t& k) const { k.advance(at_); }
    /// Leaves `steps` stages to another warpgroup.
    constexpr void skip(k_t& k, const reg32& steps) const { k.advance(at_, steps); }
    constexpr void free(k_t& k, const reg32& slot) const { k.at(releases_).mbarrier_arrive(free_[slot]); }

private:
    /// Thread i of a warpgroup frees the slot in the i-th block that shares it.
    static constexpr reg32 release_rank(k_t& k, const gemm_consumer& me, const cluster_place<S>& block) {
        if constexpr (C.split_k > 1)
            return block.rank;
        else
            return block.sharer(k, me.t);
    }
    gemm_ring<S> ring_;
    typename gemm_ring<S>::pipe_t::consumer_state at_;
    reg<pred> releases_;
    remote_mbarrier_ring<typename gemm_ring<S>::pipe_t::empty_ring> free_;
};

/// A consumer warpgroup's main loop. `begin` issues the first step of an item and returns at once; `rest` issues all
/// others, each time freeing the slot of the step before, and runs `then` behind each; `drain` waits for the last.
template <class S>
class gemm_multiplier {
    static constexpr gemm_config C = S::config;

    using sums_t = accumulator<typename S::sum, C.bn>;

public:
    sums_t acc;

    constexpr gemm_multiplier(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me, const cluster_place<S>& block)
        : acc(k.wgmma.make_accumulator<typename S::sum, C.bn>()),
          lower_(make_lower(k, acc)),
          stages_(k, ring, me, block),
          a_(first_rows(k, ring, me)),
          b_(k.wgmma.descriptor(ring.b)),
          previous_(k.mov<u32>(0).named("previous")),
          step_(k.mov<u32>(0).named("step")) {}

    constexpr void begin(k_t& k, const reg32& first) {
        multiply(k, true);
        previous_ = stages_.slot();
        stages_.advance(k);
        step_ = k.add(first, 1u);
    }
    /// One step more, if there is one.
    constexpr void more(k_t& k, const reg32& last) {
        k.if_(step_ < last, [&] {
            next(k);
            step_ = k.add(step_, 1u);
        });
    }
    template <class Then>
    constexpr void rest(k_t& k, const reg32& last, const Then& then) {
        k.for_(step_, last, 1u, [&](reg32) {
            next(k);
            then();
        });
    }
    constexpr void rest(k_t& k, const reg32& last) {
        rest(k, last, [] {});
    }
    constexpr void drain(k_t& k) const {
        k.wgmma.template wait_group<0>();
        release(k);
    }
    /// The sums of rows 64 * `block` of the warpgroup's on.
    [[nodiscard]] constexpr const sums_t& rows(u32 block) const { return block == 0 ? acc : lower_; }
    /// Leaves `steps` stages to the other warpgroup.
    constexpr void skip(k_t& k, const reg32& steps) { stages_.skip(k, steps); }

private:
    static constexpr sums_t make_lower(k_t& k, const sums_t& acc) {
        if constexpr (C.row_blocks() > 1)
            return k.wgmma.template make_accumulator<typename S::sum, C.bn>("lower");
        else
            return acc;
    }
    static constexpr matrix_descriptor<typename S::a> first_rows(k_t& k, const gemm_ring<S>& ring,
                                                                 const gemm_consumer& me) {
        if constexpr (C.ping_pong())
            return k.wgmma.descriptor(ring.a);
        else
            return k.wgmma.descriptor(ring.a).rows_at(me.index, 64);
    }
    constexpr void next(k_t& k) {
        multiply(k, false);
        k.wgmma.template wait_group<1>();  // the step before this one has read its slot
        release(k);
        previous_ = stages_.slot();
        stages_.advance(k);
    }
    constexpr void multiply(k_t& k, bool start) const {
        stages_.wait(k);
        const auto a = a_[stages_.slot()];
        const auto b = b_[stages_.slot()];
        k.wgmma.fence();
        for (u32 s = 0; s < C.bk / 16; ++s) {
            const auto b_step = b.k_slice(s);
            k.wgmma.mma_async(acc, a.k_slice(s), b_step, !(start && s == 0));
            if constexpr (C.row_blocks() > 1)
                k.wgmma.mma_async(lower_, a.row_slice(64).k_slice(s), b_step, !(start && s == 0));
        }
        k.wgmma.commit_group();
    }
    constexpr void release(k_t& k) const { stages_.free(k, previous_); }

    sums_t lower_;  ///< of the second 64 rows, where a warpgroup has them
    stage_reader<S> stages_;
    matrix_descriptor<typename S::a> a_;
    matrix_descriptor<typename S::b> b_;
    reg<u32> previous_, step_;
};

// ---- tiles with several owners
// -----------------------------------------------------------------------------------------

/// Stream-K's hand-over: one slot a cluster, block and warpgroup, in global memory. A slot holds the sums as the
/// threads have them, 16 bytes a thread at a time; its flag is 1 while it is full, and is 0 again after the kernel.
template <class S>
class stream_k_slots {
    static constexpr gemm_config C = S::config;
    static constexpr u32 vectors = C.bn / 8;
    using four = packet<f32, 4>;

public:
    constexpr stream_k_slots(global_ptr<f32, 16> partials, global_ptr<u32> flags)
        : partials_(partials), flags_(flags) {}

    /// Leaves the sums in the slot of `cluster`; `announce` says so once they are there. `sums[i]` is what accumulator
    /// register `i` has or would have.
    template <class Sums>
    constexpr void give(k_t& k, const gemm_consumer& me, const Sums& sums, const reg32& cluster,
                        const reg32& rank) const {
        const auto to = place(k, me, index(k, me, cluster, rank));
        for (u32 v = 0; v < vectors; ++v)
            k.st(to + 128 * v,
                 vec<f32, 4>(sums[at(4 * v)], sums[at(4 * v + 1)], sums[at(4 * v + 2)], sums[at(4 * v + 3)]));
    }
    constexpr void announce(k_t& k, const gemm_consumer& me, const reg32& cluster, const reg32& rank) const {
        k.template membar<gl>();
        k.bar_sync(barrier(k, me), 128u);
        k.at(me.t == 0u).template st<release, gpu>(flags_ + index(k, me, cluster, rank), 1u);
    }
    /// Waits for the slot of `cluster` and returns where this thread's part is.
    constexpr global_ptr<four, 16> take(k_t& k, const gemm_consumer& me, const reg32& cluster,
                                        const reg32& rank) const {
        const auto slot = index(k, me, cluster, rank);
        const auto flag = flags_ + slot;
        k.do_while([&] { return k.template ld<acquire, gpu>(flag) == 0u; });
        k.bar_sync(barrier(k, me), 128u);
        k.at(me.t == 0u).template st<relaxed, gpu>(flag, 0u);
        return place(k, me, slot);
    }
    /// Adds the parts of a tile that the clusters after this one have left.
    template <class Sums>
    constexpr void complete(k_t& k, const gemm_consumer& me, const tile_walk<S>& walk, const reg32& cluster,
                            const reg32& rank, const Sums& sums) const {
        auto owner = k.add(cluster, 1u).named("owner");
        const auto end = walk.tile_end(k);
        k.do_while([&] {
            const auto rest = take(k, me, owner, rank);
            for (u32 v = 0; v < C.bn / 8; ++v) {
                const auto part = k.ld(rest + 128 * v);
                for (u32 i = 0; i < 4; ++i) {
                    auto sum = sums[at(4 * v + i)];
                    sum = k.template add<rn>(sum, part[i]);
                }
            }
            owner = k.add(owner, 1u);
            return walk.start_of(k, owner) < end;
        });
    }

private:
    /// Which sum is the `i`-th of a thread. Those of a store of 16 bytes have registers in a row, the first one even.
    /// `scaled_consumer` adds products of even registers (of accumulators) to sums of odd ones and the other way round,
    /// or both come from one bank of the register file: so sums of one row change places there.
    static constexpr u32 at(u32 i) { return C.block_scaled ? i ^ 1u : i; }
    static constexpr reg32 barrier(k_t& k, const gemm_consumer& me) { return k.add(me.index, 1u); }
    static constexpr reg32 index(k_t& k, const gemm_consumer& me, const reg32& cluster, const reg32& rank) {
        return k.mad_lo(k.mad_lo(cluster, C.cluster_blocks(), rank), C.consumers(), me.index);
    }
    constexpr global_ptr<four, 16> place(k_t& k, const gemm_consumer& me, const reg32& slot) const {
        return (partials_.template as<four>() + k.mad_lo(slot, 128 * vectors, me.t)).template assume_aligned<16>();
    }
    global_ptr<f32, 16> partials_;
    global_ptr<u32> flags_;
};

/// Split-K inside a cluster: every block leaves the columns of block `d` in the shared memory of block `d`, which adds
/// them up in the order of the blocks, so that the result does not depend on timing. The stages of the pipeline serve
/// as buffer.
template <class S>
class cluster_sum {
    static constexpr gemm_config C = S::config;
    static constexpr u32 ways = C.split_k, columns = C.bn / ways, registers = columns / 2, vectors = registers / 4;
    static constexpr u32 threads = 128 * C.consumers();
    static constexpr u32 slot_bytes = registers * 4 * threads;
    using four = packet<f32, 4>;

public:
    constexpr cluster_sum(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me)
        : mine_(k.mad_lo(k.mad_lo(me.index, 128u, me.t), 16u, k.mov(ring.a[0].address()))) {}

    constexpr void send(k_t& k, const accumulator<f32, C.bn>& acc, const reg32& rank) const {
        const auto slot = k.mad_lo(rank, slot_bytes, mine_);
        for (u32 d = 0; d < ways; ++d) {
            const auto to = k.mapa(k.template shared_pointer<four, 16>(slot), d);
            for (u32 v = 0; v < vectors; ++v) {
                const u32 r = d * registers + 4 * v;
                k.st(to.template byte_offset<16>(static_cast<std::int32_t>(v * threads * 16)),
                     vec<f32, 4>(acc[r], acc[r + 1], acc[r + 2], acc[r + 3]));
            }
        }
    }
    /// The sums of this block's columns.
    constexpr void receive(k_t& k, reg<f32> (&sum)[registers]) const {
        for (u32 v = 0; v < vectors; ++v) {
            for (u32 s = 0; s < ways; ++s) {
                const auto part = k.ld(k.template shared_pointer<four, 16>(mine_, s * slot_bytes + v * threads * 16));
                for (u32 i = 0; i < 4; ++i)
                    sum[4 * v + i] = s == 0 ? part[i] : k.template add<rn>(sum[4 * v + i], part[i]);
            }
        }
    }
    static constexpr u32 sum_size = registers;
    static constexpr u32 sum_columns = columns;

private:
    reg<u32> mine_;
};

// ---- the roles
// -----------------------------------------------------------------------------------------------------------

/// What all roles know.
template <class S>
struct gemm_place {
    reg<u32> tid;
    cluster_place<S> block;
    reg<u32> cluster, clusters, steps;

    constexpr gemm_place(k_t& k, const gemm_arguments& p)
        : tid(k.mov(ptxdsl::tid.x).named("tid")),
          block(k, k.mov(cluster_ctarank).named("rank")),
          cluster(k.mov(clusterid.x)),
          clusters(k.mov(nclusterid.x)),
          steps(k.div(k.add(p.depth, S::bk - 1), S::bk).named("k_steps")) {}
};

/// Registers each thread may keep: the producer hands its own to the consumers where the accumulators need them.
/// Together they are at most what the block starts with (168 a thread for three warpgroups, 128 for four, 96 for five):
/// `setmaxnreg.inc` waits for registers that somebody gave back, without end if nobody has enough.
template <class S>
struct register_plan {
    static constexpr u32 consumers = S::config.consumers();
    static constexpr bool moves =
        S::config.blocks_per_sm == 1 &&
        ((consumers == 2 && (S::config.bn * S::config.row_blocks() > 128 || S::config.block_scaled)) || consumers > 2);
    static constexpr u32 producer = consumers == 3 ? 32 : 24;
    static constexpr u32 consumer = consumers == 2 ? 240 : consumers == 3 ? 160 : 112;
};

/// The consumer of a persistent kernel whose results are packed: the store of a tile overlaps the first products of the
/// next, a chunk behind each step. The chunks have no steps of their own: ptxas needs a twentieth of its time for each
/// copy of a product next to results that wait in registers (docs/kernels/gemm.md).
template <class S>
class overlapped_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 chunks = store_packed<S>::chunks;

public:
    constexpr overlapped_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(k, g.c_map, me), math_(k, g, p), slots_(g.partials, g.flags) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_walk<S>& walk) {
        gemm_multiplier<S> product(k, ring, me, here.block);
        out_.reserve(k, me.lane);
        if constexpr (chunks > 8)
            store_in_line(k, here, me, walk, product);
        else
            store_in_loop(k, here, me, walk, product);
        for (u32 c = 0; c < chunks; ++c) out_.store(k, pos_, c);
        announce(k, here, me);
        out_.finish(k);
    }

private:
    /// The steps of a tile are one loop, and each stores the next chunk of the tile before: ptxas has two copies of a
    /// product instead of one for each chunk, and is done in half the time.
    constexpr void store_in_loop(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, tile_walk<S>& walk,
                                 gemm_multiplier<S>& product) {
        stored_ = k.mov<u32>(chunks).named("stored");  // in front of the first tile nothing waits
        if constexpr (C.stream_k) gave_ = stored_ == 0u;
        const auto start = position(k, me, walk);
        pos_ = {k.mov(start.row), k.mov(start.col), k.mov(start.batch)};
        const auto store = [&] { store_next(k, here, me, walk); };
        k.loop([&](loop_handle loop) {
            product.begin(k, C.stream_k ? walk.first : k.mov<u32>(0));
            store();
            product.rest(k, walk.last, store);
            product.drain(k);
            k.while_([&] { return stored_ < chunks; }, store);  // K was too short for them
            finish(k, here, me, walk, product.acc);
            stored_ = k.mov<u32>(0);
            loop.break_if(walk.next(k));
        });
    }
    /// A step between two chunks, written out. Of many narrow chunks the loop above costs 5 % (128 x 176).
    constexpr void store_in_line(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, tile_walk<S>& walk,
                                 gemm_multiplier<S>& product) {
        const auto begin = [&] { product.begin(k, C.stream_k ? walk.first : k.mov<u32>(0)); };
        begin();
        pos_ = position(k, me, walk);
        k.loop([&](loop_handle loop) {
            product.rest(k, walk.last);
            product.drain(k);
            finish(k, here, me, walk, product.acc);
            loop.break_if(walk.next(k));
            begin();
            for (u32 c = 0; c < chunks; ++c) {
                out_.store(k, pos_, c);
                if (c + 1 < chunks) product.more(k, walk.last);
            }
            announce(k, here, me);
            const auto now = position(k, me, walk);
            pos_.row = now.row, pos_.col = now.col, pos_.batch = now.batch;
        });
    }
    /// Stores the next chunk of the tile before this one, if there is one; behind the last, `pos_` is this tile's.
    constexpr void store_next(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_walk<S>& walk) {
        k.if_(stored_ < chunks, [&] {
            for (u32 c = 0; c < chunks; ++c) k.if_(stored_ == c, [&] { out_.store(k, pos_, c); });
            stored_ = k.add(stored_, 1u);
            k.if_(stored_ == chunks, [&] {
                announce(k, here, me);
                const auto now = position(k, me, walk);
                pos_.row = now.row, pos_.col = now.col, pos_.batch = now.batch;
            });
        });
    }
    static constexpr tile_position position(k_t& k, const gemm_consumer& me, const tile_walk<S>& walk) {
        const auto pos = walk.position(k);
        return {k.mad_lo(me.index, 64u, pos.row), pos.col, pos.batch};
    }
    /// Says that this warpgroup's part of a tile is in memory, if `finish` left one there.
    constexpr void announce(k_t& k, const gemm_place<S>& here, const gemm_consumer& me) {
        if constexpr (C.stream_k) {
            k.if_(gave_, [&] { slots_.announce(k, me, here.cluster, here.block.rank); });
        }
    }
    /// Packs the tile, or for an item that is a part of one hands it over or completes it.
    constexpr void finish(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_walk<S>& walk,
                          const accumulator<f32, C.bn>& acc) {
        const auto col = k.add(pos_.col, me.col);
        const auto own = [&](u32 i) { return acc[i]; };
        if constexpr (!C.stream_k) {
            out_.pack(k, math_, own, col);
        } else {
            gave_ = walk.first != 0u;
            k.if_(walk.first == 0u, [&] {
                 k.if_(walk.last != here.steps,
                       [&] { slots_.complete(k, me, walk, here.cluster, here.block.rank, acc); });
                 out_.pack(k, math_, own, col);
             }).else_([&] {
                slots_.give(k, me, acc, here.cluster, here.block.rank);
                pos_.row = k.mov<u32>(0x70000000u);  // nothing of this item is inside C
            });
        }
    }
    store_packed<S> out_;
    gemm_math<S> math_;
    stream_k_slots<S> slots_;
    reg<u32> stored_;    ///< chunks of the tile before this one that are stored
    tile_position pos_;  ///< of the tile that is stored, then of this one
    reg<pred> gave_;     ///< the item before this one was handed over
};

/// The consumer of a persistent kernel that stores from registers. Where it computes C^T, tiles are small: while one is
/// stored, the ring fills.
template <class S>
class direct_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 groups = (C.swaps_operands() ? C.bn : S::out_columns) / 8;

public:
    constexpr direct_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer&)
        : out_(g.c, p), math_(k, g, p), slots_(g.partials, g.flags) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_walk<S>& walk) {
        gemm_multiplier<S> product(k, ring, me, here.block);
        k.loop([&](loop_handle loop) {
            product.begin(k, C.stream_k ? walk.first : k.mov<u32>(0));
            product.rest(k, walk.last);
            product.drain(k);
            finish(k, here, me, walk, product.acc);
            loop.break_if(walk.next(k));
        });
    }

private:
    constexpr void finish(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_walk<S>& walk,
                          const accumulator<typename S::sum, C.bn>& acc) const {
        const auto store = [&] {
            auto pos = walk.position(k);
            pos.row = k.mad_lo(me.index, 64u, pos.row);
            out_.store(k, me, math_, [&](u32 i) { return acc[i]; }, pos, groups);
        };
        if constexpr (!C.stream_k) {
            store();
        } else {
            k.if_(walk.first == 0u, [&] {
                 k.if_(walk.last != here.steps,
                       [&] { slots_.complete(k, me, walk, here.cluster, here.block.rank, acc); });
                 store();
             }).else_([&] {
                slots_.give(k, me, acc, here.cluster, here.block.rank);
                slots_.announce(k, me, here.cluster, here.block.rank);
            });
        }
    }
    store_registers<S> out_;
    gemm_math<S> math_;
    stream_k_slots<S> slots_;
};

/// One tile a cluster, each block a part of K; the blocks add up through shared memory and each stores a part of the
/// columns.
template <class S>
class split_consumer {
    static constexpr gemm_config C = S::config;

public:
    constexpr split_consumer(const gemm_pointers<S>& g, const gemm_arguments& p) : out_(g.c, p), pointers_(g), p_(p) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_ring<S>& ring, const reg32& first,
                       const reg32& last, const tile_position& at) const {
        const gemm_consumer me(k, here.tid);
        gemm_multiplier<S> product(k, ring, me, here.block);
        product.begin(k, first);
        product.rest(k, last);
        product.drain(k);
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();  // every block has read its stages
        const cluster_sum<S> exchange(k, ring, me);
        exchange.send(k, product.acc, here.block.rank);
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
        reg<f32> sum[cluster_sum<S>::sum_size];
        exchange.receive(k, sum);
        const gemm_math<S> math(k, pointers_, p_);
        const tile_position pos{k.mad_lo(me.index, 64u, at.row),
                                k.mad_lo(here.block.rank, cluster_sum<S>::sum_columns, at.col), at.batch};
        constexpr bool halved = S::epilogue.gated && !C.swaps_operands();
        out_.store(k, me, math, [&](u32 i) { return sum[i]; }, pos, cluster_sum<S>::sum_columns / (halved ? 16 : 8));
    }

private:
    store_registers<S> out_;
    gemm_pointers<S> pointers_;
    gemm_arguments p_;
};

/// Stores a tile's sums as the configuration says, with nothing of another tile between the pieces.
template <class S>
class tile_writer {
    static constexpr bool packed = S::config.store == store_mode::tma;
    using store_t = std::conditional_t<packed, store_packed<S>, store_direct<S>>;

public:
    constexpr tile_writer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(make(k, g, p, me)), math_(k, g, p) {}

    /// `source(i)` is accumulator register `i` of the 64 rows from `pos.row` on.
    template <class Source>
    constexpr void write(k_t& k, const gemm_consumer& me, const Source& source, const tile_position& pos) {
        if constexpr (packed) {
            const auto col = k.add(pos.col, me.col);
            for (u32 c = 0; c < out_.chunks; ++c) {
                out_.pack(k, math_, source, col, c);
                out_.store(k, pos, c);
            }
        } else {
            out_.store(k, me, math_, source, pos, S::out_columns / 8);
        }
    }
    constexpr void finish(k_t& k) const {
        if constexpr (packed) out_.finish(k);
    }

private:
    static constexpr store_t make(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me) {
        if constexpr (packed)
            return store_t(k, g.c_map, me);
        else
            return store_t(g.c, p);
    }
    store_t out_;
    gemm_math<S> math_;
};

/// Two warpgroups with every other tile each. A named barrier apiece says whose products go to the tensor cores: it is
/// passed on when the last one of a tile is issued, so that the other's follow without a gap and this one stores beside
/// them. Nobody arrives for a tile that does not exist, so that each arrival is met.
template <class S>
class ping_pong_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 threads = 256;  ///< one warpgroup waits, one arrives

public:
    constexpr ping_pong_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(k, g, p, me) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_walk<S>& walk) {
        gemm_multiplier<S> product(k, ring, me, here.block);
        const auto own = k.add(me.index, 1u).named("own_turn");
        const auto other = k.sub(2u, me.index).named("other_turn");
        k.if_(me.index != 0u, [&] {  // the first turn is the first warpgroup's
            k.bar_arrive(other, threads);
            product.skip(k, here.steps);
            walk.skip(k);
        });
        k.while_([&] { return walk.inside(); },
                 [&] {
                     k.bar_sync(own, threads);
                     product.begin(k, k.mov<u32>(0));
                     product.rest(k, walk.last);
                     const auto pos = walk.position(k);
                     walk.skip(k);
                     k.at(walk.inside()).bar_arrive(other, threads);
                     product.drain(k);
                     write(k, me, product, pos);
                     product.skip(k, here.steps);
                     walk.skip(k);
                 });
        out_.finish(k);
    }

private:
    constexpr void write(k_t& k, const gemm_consumer& me, const gemm_multiplier<S>& product, const tile_position& pos) {
        for (u32 b = 0; b < C.row_blocks(); ++b) {
            const auto row = b == 0 ? pos.row : reg32(k.add(pos.row, 64 * b));
            out_.write(k, me, [&](u32 i) { return product.rows(b)[i]; }, {row, pos.col, pos.batch});
        }
    }
    tile_writer<S> out_;
};

/// Block scales: one set of sums for up to 192 columns, next to those of the tile. A warpgroup adds a set to the tile's
/// while the other one multiplies; 256 columns are two halves.
///
///   warpgroup 1   issue half 0 | wait, add it | issue half 1 | wait, add it | issue half 0 of the next step | ...
///   warpgroup 2                | issue half 0 | wait, add it | issue half 1 | wait, add it                  | ...
///
/// The first products of a tile are issued before the one ahead of it is stored.
template <class S>
class scaled_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 width = C.bn == 256 ? 128 : C.bn, slices = C.bn / width, registers = width / 2;
    static constexpr u32 k_steps = C.bk / 16, scale_blocks = (C.bn + 127) / 128;
    /// Steps whose scales are on their way: one is not enough beside the loads of tiles.
    static constexpr u32 depth = 2;
    using sums_t = accumulator<f32, width>;

public:
    constexpr scaled_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(k, g, p, me),
          slots_(g.partials, g.flags),
          g_(g),
          p_(p),
          part_(k.wgmma.template make_accumulator<f32, width>("part")) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_walk<S>& walk) {
        const stage_reader<S> stages(k, ring, me, here.block);
        const auto a = k.wgmma.descriptor(ring.a).rows_at(me.index, 64);
        const auto b = k.wgmma.descriptor(ring.b);
        const sources from{stages, a, b};
        auto pos = position(k, me, walk);
        scales_of(k, me, pos, walk);
        clear(k);
        issue(k, from, 0);
        k.loop([&](loop_handle loop) {
            add_step(k, from, 0);
            other_steps(k, from);
            share(k, here, me, walk, pos);
            loop.break_if(walk.next(k));
            issue(k, from, 0);
            const auto next = position(k, me, walk);
            const tile_position now{k.mov(pos.row), k.mov(pos.col), k.mov(pos.batch)};
            pos.row = next.row, pos.col = next.col, pos.batch = next.batch;
            scales_of(k, me, pos, walk);  // on their way while the tile is stored
            store(k, here, me, now);
            clear(k);
        });
        store(k, here, me, pos);
        out_.finish(k);
    }

private:
    struct sources {
        const stage_reader<S>& stages;
        const matrix_descriptor<typename S::a>& a;
        const matrix_descriptor<typename S::b>& b;
    };
    /// Scales of one step: of this thread's two rows of A, and of the tile's one or two blocks of columns.
    struct scales {
        reg<f32> up, down, b[scale_blocks];
    };

    static constexpr tile_position position(k_t& k, const gemm_consumer& me, const tile_walk<S>& walk) {
        const auto pos = walk.position(k);
        return {k.mad_lo(me.index, 64u, pos.row), pos.col, pos.batch};
    }
    constexpr void clear(k_t& k) {
        for (u32 i = 0; i < C.bn / 2; ++i) sum_[i] = k.template mov<f32>(0.0f);
    }
    /// Hands the sums of an item over that is not the first part of its tile, or completes the tile whose first part it
    /// is.
    constexpr void share(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_walk<S>& walk,
                         tile_position& pos) {
        if constexpr (C.stream_k) {
            gave_ = walk.first != 0u;
            k.if_(gave_, [&] {
                 slots_.give(k, me, sum_, here.cluster, here.block.rank);
                 pos.row = k.template mov<u32>(0x70000000u);  // nothing of this item is inside C
             }).else_([&] {
                k.if_(walk.last != here.steps,
                      [&] { slots_.complete(k, me, walk, here.cluster, here.block.rank, sum_); });
            });
        }
    }
    /// Stores a tile, or says that a part of one is in memory.
    constexpr void store(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_position& pos) {
        out_.write(k, me, [&](u32 i) { return sum_[i]; }, pos);
        if constexpr (C.stream_k) k.if_(gave_, [&] { slots_.announce(k, me, here.cluster, here.block.rank); });
    }

    /// Where the scales of an item begin, and those of its first steps. Rows and columns behind the last take its
    /// scales.
    constexpr void scales_of(k_t& k, const gemm_consumer& me, const tile_position& pos, const tile_walk<S>& walk) {
        const auto last = k.sub(p_.m, 1u), last_block = k.shr(k.sub(p_.n, 1u), 7u);
        const auto row = k.add(pos.row, me.row);
        const auto a_line = k.template cvt<u32>(p_.a_scale_row), b_line = k.template cvt<u32>(p_.b_scale_col);
        up_ = k.mul_lo(k.min(row, last), a_line);
        down_ = k.mul_lo(k.min(k.add(row, 8u), last), a_line);
        // Of this thread's columns: ptxas moves a scale that is the same for all threads to a uniform register as soon
        // as it is loaded, and waits there.
        const auto block = k.shr(k.add(pos.col, me.col), 7u);
        for (u32 i = 0; i < scale_blocks; ++i) b_[i] = k.mul_lo(k.min(k.add(block, i), last_block), b_line);
        if constexpr (C.bn % 128 != 0) middle_ = k.and_(pos.col, 64u);
        if constexpr (C.stream_k) {
            move(k.mul_lo(walk.first, k.template cvt<u32>(p_.a_scale_k)),
                 k.mul_lo(walk.first, k.template cvt<u32>(p_.b_scale_k)));
            left_ = k.sub(k.sub(walk.last, walk.first), 1u);
        } else {
            left_ = k.sub(walk.last, 1u);
        }
        to_load_ = k.mov(left_);
        load(k, 0);
        for (u32 i = 1; i < depth; ++i) load_next(k, i);
    }
    constexpr void move(const reg32& a, const reg32& b) {
        up_ = up_ + a, down_ = down_ + a;
        for (u32 i = 0; i < scale_blocks; ++i) b_[i] = b_[i] + b;
    }
    /// The scales of the step the offsets stand at. Not `.nc`, or ptxas moves the loads to where their values are
    /// needed.
    constexpr void load(k_t& k, u32 set) {
        scales& s = ahead_[set];
        s.up = k.ld(g_.a_scale + up_), s.down = k.ld(g_.a_scale + down_);
        for (u32 i = 0; i < scale_blocks; ++i) s.b[i] = k.ld(g_.b_scale + b_[i]);
    }
    /// Those of the step after the one loaded last; behind the last step of an item its own once more.
    constexpr void load_next(k_t& k, u32 set) {
        const auto more = to_load_ != 0u;
        const auto zero = k.template mov<u32>(0);
        const auto a = k.selp(k.template cvt<u32>(p_.a_scale_k), zero, more),
                   b = k.selp(k.template cvt<u32>(p_.b_scale_k), zero, more);
        to_load_ = k.sub(k.max(to_load_, 1u), 1u);
        move(a, b);
        load(k, set);
    }

    /// The steps after the first: the sets of scales take turns, each loaded where its last value was used.
    constexpr void other_steps(k_t& k, const sources& from) {
        const auto step = [&](u32 set) {
            issue(k, from, 0);
            add_step(k, from, set);
        };
        k.for_(k.template mov<u32>(0), k.shr(left_, 1u), 1u, [&](const reg32&) {
            for (u32 i = 1; i <= depth; ++i) step(i % depth);
        });
        // A loop, so that the verifier counts the stages it frees.
        k.for_(k.template mov<u32>(0), k.and_(left_, 1u), 1u, [&](const reg32&) { step(1); });
    }
    /// Waits for a stage with the first slice, and multiplies.
    constexpr void issue(k_t& k, const sources& from, u32 slice) {
        if (slice == 0) {
            from.stages.wait(k);
            slot_ = k.mov(from.stages.slot());
            from.stages.advance(k);
        }
        const auto a = from.a[slot_];
        const auto b = from.b[slot_].row_slice(width * slice);
        k.wgmma.fence();
        for (u32 s = 0; s < k_steps; ++s) k.wgmma.mma_async(part_, a.k_slice(s), b.k_slice(s), s != 0);
        k.wgmma.commit_group();
    }
    /// Adds a step whose first slice has been issued; set `set` holds its scales, then those of `depth` steps later.
    constexpr void add_step(k_t& k, const sources& from, u32 set) {
        for (u32 slice = 0; slice < slices; ++slice) {
            if (slice > 0) issue(k, from, slice);
            reg<f32> up[width / 64], down[width / 64];
            for (u32 i = 0; i < width / 64; ++i) {
                const reg<f32> b = scale_of_b(k, slice * width / 64 + i, set);
                up[i] = k.template mul<rn>(ahead_[set].up, b), down[i] = k.template mul<rn>(ahead_[set].down, b);
            }
            const bool last = slice + 1 == slices;
            if (last) load_next(k, set);
            k.wgmma.template wait_group<0>();
            if (last) from.stages.free(k, slot_);
            // All of one scale first: a register that the addition before it has read costs no second read.
            for (u32 half = 0; half < 2; ++half)
                for (u32 r = 0; r < registers; ++r)
                    if (r / 2 % 2 == half) {
                        reg<f32>& sum = sum_[slice * registers + r];
                        sum = k.template fma<rn>(part_[r], half == 0 ? up[r / 32] : down[r / 32], sum);
                    }
        }
    }
    /// Of 64 columns. A tile of 192 begins in the middle of a block of 128 or at its start; so belongs its middle.
    constexpr reg<f32> scale_of_b(k_t& k, u32 slice, u32 set) const {
        const auto& b = ahead_[set].b;
        if constexpr (C.bn % 128 == 0)
            return b[slice / 2];
        else
            return slice == 1 ? reg<f32>(k.selp(b[1], b[0], middle_ != 0u)) : b[slice / 2];
    }

    tile_writer<S> out_;
    stream_k_slots<S> slots_;
    gemm_pointers<S> g_;
    gemm_arguments p_;
    reg<pred> gave_;  ///< the item before this one was handed over
    sums_t part_;
    reg<f32> sum_[C.bn / 2];
    reg<u32> up_, down_, b_[scale_blocks];  ///< elements from the first scale, fewer than 2^32
    scales ahead_[depth];
    reg<u32> middle_, slot_, to_load_;
    reg<u32> left_;  ///< steps of the item after its first
};

/// Makes the ring ready and lets the next grid be placed on multiprocessors that become free.
template <class S>
constexpr void enter(k_t& k, const gemm_ring<S>& ring, const gemm_place<S>& here, const gemm_pointers<S>& g) {
    k.single_thread(here.tid == 0u, [&] {
        k.prefetch_tensormap(g.a);
        k.prefetch_tensormap(g.b);
    });
    ring.start(k, here.tid);
    k.griddepcontrol_launch_dependents();
    if constexpr (!S::config.early_b)
        k.griddepcontrol_wait();  // the grid before this one may still write A, B or read C
}

/// The producer's walk over its items.
template <class S>
constexpr void produce_all(k_t& k, const gemm_producer<S>& producer, tile_walk<S>& walk) {
    const auto zero = k.mov<u32>(0);
    const auto first = [&] { return S::config.stream_k ? walk.first : zero; };
    if constexpr (S::config.early_b) {
        producer.fill_early(k, walk.position(k), first(), walk.last);
        const auto done = walk.next(k);
        k.if_(unless(done), [&] {
            k.do_while([&] {
                producer.fill(k, walk.position(k), first(), walk.last);
                return !walk.next(k);
            });
        });
    } else {
        k.do_while([&] {
            producer.fill(k, walk.position(k), first(), walk.last);
            return !walk.next(k);
        });
    }
}

template <class S>
constexpr void persistent_gemm(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) {
    using whole = std::conditional_t<S::config.store == store_mode::tma, overlapped_consumer<S>, direct_consumer<S>>;
    using one_tile = std::conditional_t<S::config.block_scaled, scaled_consumer<S>, whole>;
    using consumer = std::conditional_t<S::config.ping_pong(), ping_pong_consumer<S>, one_tile>;
    using plan = register_plan<S>;
    const gemm_ring<S> ring(k);
    const gemm_place<S> here(k, p);
    enter(k, ring, here, g);
    const tile_order<S> order(k, p, here.block);
    tile_walk<S> walk(k, order, here.steps, here.cluster, here.clusters);
    k.if_(here.tid < 128u, [&] {
         if constexpr (plan::moves) k.template setmaxnreg_dec<plan::producer>();
         k.single_thread(here.tid == 0u,
                         [&] { produce_all(k, gemm_producer<S>(k, ring, g.a, g.b, here.block), walk); });
     }).else_([&] {
        if constexpr (plan::moves) k.template setmaxnreg_inc<plan::consumer>();
        if constexpr (S::config.early_b) k.griddepcontrol_wait();
        const gemm_consumer me(k, here.tid);
        consumer(k, g, p, me).run(k, here, me, ring, walk);
    });
    if constexpr (S::config.cluster_blocks() >
                  1) {  // no block leaves while its peer may still multicast to it or free its slots
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
}

template <class S>
constexpr void split_gemm(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) {
    constexpr u32 ways = S::config.split_k;
    const gemm_ring<S> ring(k);
    const split_consumer<S> out(g, p);
    const gemm_place<S> here(k, p);
    enter(k, ring, here, g);
    const tile_order<S> order(k, p, here.block);
    const auto pos = order.at(k, here.cluster);
    const auto first = k.div(k.mul_lo(here.steps, here.block.rank), ways);
    const auto last = k.div(k.mul_lo(here.steps, k.add(here.block.rank, 1u)), ways);
    k.if_(here.tid < 128u, [&] {
         k.single_thread(here.tid == 0u, [&] {
             const gemm_producer<S> producer(k, ring, g.a, g.b, here.block);
             if constexpr (S::config.early_b)
                 producer.fill_early(k, pos, first, last);
             else
                 producer.fill(k, pos, first, last);
         });
         for (u32 i = 0; i < 2; ++i) {
             k.barrier_cluster_arrive();
             k.barrier_cluster_wait();
         }
     }).else_([&] {
        if constexpr (S::config.early_b) k.griddepcontrol_wait();
        out.run(k, here, ring, first, last, pos);
    });
}

}  // namespace ptxdsl::kernels::detail

namespace ptxdsl::kernels {

/// The kernel body of configuration `C`: C = A * B with A of `In`, B of `InB`, results of `Out`, f32 sums (s32 of s8).
///
/// `a_scale` and `b_scale` are one value each with `tensor_scales`, matrices with `block_scaled`, else not used.
/// `partials` and `flags` (zero) are used with `stream_k` only, `c` without `store_mode::tma`, `c_map` with it.
template <gemm_config C, class In, class Out, gemm_epilogue E, class InB = In>
constexpr void gemm_body(builder<sm_90a>& k, typename detail::gemm_spec<C, In, Out, E, InB>::map_a a,
                         typename detail::gemm_spec<C, In, Out, E, InB>::map_b b,
                         typename detail::gemm_spec<C, In, Out, E, InB>::map_c c_map, global_ptr<Out> c,
                         global_ptr<const detail::bias_of<In, Out>> bias, global_ptr<f32, 16> partials,
                         global_ptr<u32> flags, reg<u32> m, reg<u32> n, reg<u32> depth, reg<u32> batches, reg<u32> ldc,
                         reg<u64> batch_stride, reg<f32> alpha, reg<f32> beta, global_ptr<const f32> a_scale,
                         global_ptr<const f32> b_scale, reg<u64> a_scale_row, reg<u64> a_scale_k, reg<u64> b_scale_col,
                         reg<u64> b_scale_k) {
    using S = detail::gemm_spec<C, In, Out, E, InB>;
    const detail::gemm_pointers<S> g{a, b, c_map, c, bias, partials, flags, a_scale, b_scale};
    const detail::gemm_arguments p{m,     n,    depth,       batches,   ldc,         batch_stride,
                                   alpha, beta, a_scale_row, a_scale_k, b_scale_col, b_scale_k};
    if constexpr (C.split_k > 1)
        detail::split_gemm<S>(k, g, p);
    else
        detail::persistent_gemm<S>(k, g, p);
}

/// The launch attributes of configuration `C`.
template <gemm_config C>
inline constexpr attributes gemm_attributes{
    .reqntid = {C.threads()}, .minnctapersm = C.blocks_per_sm, .cluster = {C.cluster_blocks()}};

}  // namespace ptxdsl::kernels

#pragma pop_macro("max")
#pragma pop_macro("min")
