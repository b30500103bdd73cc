// SPDX-License-Identifier: Apache-2.0
// From accumulators to results in memory: scales, bias and activation, then the stores.
#pragma once

#include <ptxdsl/kernels/gemm/tile_scheduler.hpp>

#include <cstdint>
#include <numbers>
#include <type_traits>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

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
class epilogue_op {
public:
    /// Loads scales, so it comes after the wait for the kernel ahead of this one.
    constexpr epilogue_op(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p) : p_(p), bias_(g.bias) {
        if (p.epilogue.tensor_scales) {
            const auto scales = k.template mul<rn>(k.ld(g.a_scale), k.ld(g.b_scale));
            alpha_ = k.template mul<rn>(scales, p.alpha).named("alpha");
        } else {
            alpha_ = p.alpha.same();
        }
    }

    /// Bias of group `block`, columns clamped into N.
    constexpr bias_pair load_bias(k_t& k, const reg32& col, u32 block) const {
        bias_pair b;
        if (!p_.epilogue.bias) return b;
        if constexpr (S::config.store == store_mode::elements) {
            for (u32 i = 0; i < 2; ++i) {
                const auto c = k.min(k.add(col, block * 8 + i), k.sub(p_.n, 1u));
                b.v[i] = k.template cvt<f32>(k.ld(bias_ + c));
            }
        } else {  // N is even, so a pair is inside or outside as a whole
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
            for (u32 i = 0; i < 4; ++i) out[i] = source(4 * block + i).same();
        } else if constexpr (S::gated) {
            const bias_pair g = load_bias(k, col, 2 * block), v = load_bias(k, col, 2 * block + 1);
            for (u32 i = 0; i < 4; ++i) {
                const auto gate = apply(k, p_.epilogue.act, linear(k, source(8 * block + i), g.v[i % 2]));
                out[i] = k.template mul<rn>(gate, linear(k, source(8 * block + 4 + i), v.v[i % 2]));
            }
        } else {
            const bias_pair b = load_bias(k, col, block);
            for (u32 i = 0; i < 4; ++i)
                out[i] = apply(k, p_.epilogue.act, linear(k, source(4 * block + i), b.v[i % 2])).same();
        }
    }

    /// Bias of a thread's two rows of a product whose rows are C's columns; `row` is the first of them.
    constexpr bias_pair load_row_bias(k_t& k, const reg32& row) const {
        bias_pair b;
        if (p_.epilogue.bias)
            for (u32 i = 0; i < 2; ++i) {
                const auto at = k.min(k.add(row, 8 * i), k.sub(p_.m, 1u));
                b.v[i] = k.template cvt<f32>(k.ld(bias_ + at));
            }
        return b;
    }
    /// Results of group `block` of such a product, rows `up` and 8 below; of a gated one, whose groups of 16 rows are 8
    /// of the gate and 8 of the value, the first two only.
    template <class Source>
    constexpr void transposed_group(k_t& k, const Source& source, const bias_pair& b, u32 block,
                                    reg<f32> (&out)[4]) const {
        for (u32 i = 0; i < 4; ++i) out[i] = linear(k, source(4 * block + i), b.v[i / 2]).same();
        for (u32 i = 0; i < (S::gated ? 2 : 4); ++i) out[i] = apply(k, p_.epilogue.act, out[i]);
        if constexpr (S::gated)
            for (u32 i = 0; i < 2; ++i) out[i] = k.template mul<rn>(out[i], out[i + 2]);
    }

private:
    constexpr reg<f32> linear(k_t& k, const reg<f32>& x, const reg<f32>& bias) const {
        const gemm_epilogue& e = p_.epilogue;
        if (e.alpha && e.bias) return k.fma<rn>(x, alpha_, bias);
        if (e.alpha) return k.mul<rn>(x, alpha_);
        if (e.bias) return k.add<rn>(x, bias);
        return x;
    }
    gemm_arguments p_;
    reg<f32> alpha_;
    global_ptr<const typename S::bias> bias_;
};

// ---- stores ---------------------------------------------------------------------------------------------------------

/// Results as pairs of 16 bits in registers, stored through one warp's own staging tiles: 16 rows of 128 bytes, two of
/// them in turn, no barrier beyond the warp.
template <class S>
class epilogue_tma {
    static constexpr u32 groups = S::out_columns / 8;
    static constexpr u32 per_chunk = S::chunk / 8;
    static constexpr u32 buffers = S::config.store_buffers();

public:
    constexpr epilogue_tma(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : map_(g.c_map),
          c_(g.c),
          p_(p),
          tiles_(k.smem<typename S::c>(S::config.consumers() * 4 * buffers, "c")),
          first_(k.mul_lo(k.mad_lo(me.index, 4u, me.warp), buffers).named("staging")),
          warp_(me.warp),
          lane_(me.lane),
          leader_(me.lane == 0u),
          line_(k.tile_line(tiles_[first_], k.and_(me.lane, 15u)).from(k.shr(me.lane, 4u))) {}

    /// Converts a tile: `source(i)` is accumulator register `i`.
    template <class Source>
    constexpr void pack(k_t& k, const epilogue_op<S>& op, const Source& source, const gemm_consumer& me,
                        const tile_coord& pos) {
        const auto col = k.add(pos.col, me.col);
        for (u32 c = 0; c < chunks; ++c) pack(k, op, source, col, c);
    }
    /// Chunk `c` of it.
    template <class Source>
    constexpr void pack(k_t& k, const epilogue_op<S>& op, const Source& source, const reg32& col, u32 c) {
        for (u32 g = c * per_chunk; g < (c + 1) * per_chunk; ++g) {
            reg<f32> v[4];
            op.group(k, source, col, g, v);
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
    constexpr void store(k_t& k, const tile_coord& pos, u32 c) const {
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
        const auto col = S::gated ? k.shr(pos.col, 1u) : pos.col;
        const auto stage = tiles_[k.add(first_, c % buffers)];
        k.fence_proxy_async_shared_cta();
        k.bar_warp_sync();
        const auto by_tma = [&] {
            k.at(leader_).cp_async_bulk_tensor(map_, coords(k.add(col, c * S::chunk), row, pos.batch), stage);
        };
        if constexpr (S::grouped)
            k.if_(k.add(row, 16u) <= pos.row_end, by_tma).else_([&] {
                store_rows(k, stage, row, k.add(col, c * S::chunk), pos);
            });
        else
            by_tma();
        k.at(leader_).cp_async_bulk_commit_group();  // an empty one too: the waits count groups
    }
    /// What was staged has been read; the end of the grid waits for the writes.
    constexpr void finish(k_t& k) const { k.at(leader_).template cp_async_bulk_wait_group_read<0>(); }

private:
    /// The staged rows [row, row + 16) of which some are another group's: those of this one, 16 bytes a thread.
    constexpr void store_rows(k_t& k, const tile_stage<typename S::c>& stage, const reg32& row, const reg32& col,
                              const tile_coord& pos) const {
        constexpr u32 chunks_of_row = S::chunk / 8, rows_at_once = 32 / chunks_of_row;
        const auto own = k.div(lane_, chunks_of_row), chunk = k.and_(lane_, chunks_of_row - 1);
        const auto x = k.mad_lo(chunk, 8u, col);
        const auto width = S::gated ? k.shr(p_.n, 1u) : p_.n;
        const auto start = c_ + k.mul_lo(k.template cvt<u64>(pos.batch), p_.batch_stride);
        for (u32 pass = 0; pass < 16 / rows_at_once; ++pass) {
            const auto r = k.add(own, pass * rows_at_once);
            const auto to = k.add(row, r);
            k.if_(to < pos.row_end && x < width, [&] {
                const auto v = k.ld(k.tile_line(stage, r).chunk(chunk).template as<packet<u32, 4>>());
                const auto line = start + k.mad_wide(to, p_.ldc, k.template cvt<u64>(x));
                k.st(line.template as<packet<u32, 4>>().template assume_aligned<16>(), v);
            });
        }
    }
    typename S::map_c map_;
    global_ptr<typename S::out> c_;
    gemm_arguments p_;
    shared_tile<typename S::c> tiles_;
    reg<u32> first_, warp_, lane_;
    reg<pred> leader_;
    tile_line<typename S::c> line_;  ///< where this lane writes in the first of its warp's tiles
    reg<typename S::packed> packed_[2 * groups];
};

/// Stores from registers with bounds checks, pairs or single elements; adds beta * C where the epilogue has it.
template <class S>
class epilogue_direct {
    using Out = typename S::out;
    using value = reg<typename S::sum>;
    static constexpr bool pairs = S::config.store == store_mode::pairs;

public:
    constexpr epilogue_direct(global_ptr<Out> c, const gemm_arguments& p) : c_(c), p_(p) {}

    /// Groups [0, count) of 8 columns from column `col`: `source(i)` is accumulator register `i` of them.
    template <class Source>
    constexpr void store(k_t& k, const gemm_consumer& me, const epilogue_op<S>& op, const Source& source,
                         const tile_coord& pos, u32 count) const {
        const auto col = k.add(pos.col, me.col);
        const auto out_col = S::gated ? k.add(k.shr(pos.col, 1u), me.col) : col;
        const auto width = S::gated ? k.shr(p_.n, 1u) : p_.n;
        const auto base = c_ + k.mul_lo(k.template cvt<u64>(pos.batch), p_.batch_stride);
        const auto row = k.add(pos.row, me.row);
        const auto low = k.add(row, 8u);
        const line up{base + k.mul_wide(row, p_.ldc), row < p_.m}, down{base + k.mul_wide(low, p_.ldc), low < p_.m};
        for (u32 g = 0; g < count; ++g) {
            reg<typename S::sum> v[4];
            op.group(k, source, col, g, v);
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
        if constexpr (std::is_same_v<typename S::sum, s32>) {
            return v;  // sums as they are
        } else {
            if (!p_.epilogue.beta) return v;
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

/// Stores C^T. A warp has 16 of the weights' rows, or 8 results of a gated product: it turns patches of 16 x 16 (8 x
/// 32) through shared memory of its own (`stmatrix.trans`), after which two threads (one) store a whole sector of 32
/// (16) bytes of a row of C. Results are packed first, so that the sums can belong to another tile when they are
/// stored.
template <class S>
class epilogue_turned {
    static constexpr bool gated = S::gated;
    static constexpr gemm_config C = S::config;
    static constexpr u32 groups = C.bn / C.split_k / 8;  ///< of 8 tokens
    static constexpr u32 per_patch = gated ? 4 : 2;      ///< groups of a patch
    static constexpr u32 patches = (groups + per_patch - 1) / per_patch;
    static constexpr u32 buffers = C.store_buffers();
    static constexpr u32 of_group = gated ? 1 : 2;  ///< registers
    using Out = typename S::out;
    using four = packet<u32, 4>;

public:
    static constexpr u32 chunks = (patches + 1) / 2;

    constexpr epilogue_turned(k_t& k, global_ptr<Out> c, const gemm_arguments& p, const gemm_consumer& me)
        : c_(c),
          p_(p),
          tiles_(k.smem<typename S::patch>(C.consumers() * 4 * buffers, "c")),
          first_(k.mul_lo(k.mad_lo(me.index, 4u, me.warp), buffers).named("staging")),
          write_(k.tile_line(tiles_[first_], k.and_(me.lane, 15u)).from(k.shr(me.lane, 4u))),
          read_(k.tile_line(tiles_[first_], k.shr(me.lane, 1u)).from(k.and_(me.lane, 1u))),
          token_(gated ? k.mad_lo(k.and_(me.lane, 1u), 16u, k.shr(me.lane, 1u)) : reg32(k.shr(me.lane, 1u))),
          x_(gated ? k.shl(me.warp, 3u) : reg32(k.mad_lo(me.warp, 16u, k.shl(k.and_(me.lane, 1u), 3u)))) {}

    /// Converts a tile: `source(i)` is accumulator register `i`.
    template <class Source>
    constexpr void pack(k_t& k, const epilogue_op<S>& op, const Source& source, const gemm_consumer& me,
                        const tile_coord& pos) {
        const bias_pair bias = op.load_row_bias(k, k.add(pos.row, me.row));
        for (u32 g = 0; g < groups; ++g) {
            reg<f32> v[4];
            op.transposed_group(k, source, bias, g, v);
            for (u32 i = 0; i < of_group; ++i)
                packed_[of_group * g + i] = k.template cvt<typename S::packed, rn>(hi(v[2 * i + 1]), lo(v[2 * i]));
        }
    }
    /// Gives the registers a value where a loop names them before the first tile is packed.
    constexpr void reserve(k_t& k, const reg32& any) {
        for (auto& p : packed_) p = k.mov(any).template as<typename S::packed>();
    }
    /// Stores chunk `c` of what was packed, two patches. No barrier beyond the warp: a warp's patches are its own.
    constexpr void store(k_t& k, const tile_coord& pos, u32 c) const {
        const u32 end = 2 * c + 2 < patches ? 2 * c + 2 : patches;
        const auto to = target_of(k, pos);
        for (u32 p = 2 * c; p < end; p += buffers) {
            const u32 n = end - p < buffers ? end - p : buffers;
            k.bar_warp_sync();  // what was here before has been read
            for (u32 i = 0; i < n; ++i) turn(k, p + i, i);
            k.bar_warp_sync();
            for (u32 i = 0; i < n; ++i) put(k, to, p + i, i);
        }
    }
    constexpr void finish(k_t&) const {}

private:
    static constexpr u32 patch_tokens = 8 * per_patch;
    static constexpr std::int32_t next_patch = S::patch::layout.stage_stride();

    /// Where a thread's 16 bytes of a tile go.
    struct target {
        global_ptr<Out> start;  ///< of the first patch
        reg32 token, end;       ///< the first token, and the one behind the last of the tile
        reg<pred> inside;       ///< a row of C has them
    };
    constexpr target target_of(k_t& k, const tile_coord& pos) const {
        const auto half = [&](const reg32& v) { return gated ? reg32(k.shr(v, 1u)) : v; };
        const auto x = k.add(half(pos.row), x_);
        const auto inside = x < half(p_.m);
        const auto token = k.add(pos.col, token_);
        auto end = (C.even_columns() ? pos.col_end : p_.n).same();
        if constexpr (groups % per_patch != 0) end = k.min(end, k.add(pos.col, 8 * groups));
        const auto start = c_ + k.mul_lo(k.template cvt<u64>(pos.batch), p_.batch_stride) +
                           k.mad_wide(token, p_.ldc, k.template cvt<u64>(x));
        return {start, token, end, inside};
    }
    /// Writes patch `p` to the warp's `buffer`. What a last patch does not have is written twice and not stored.
    constexpr void turn(k_t& k, u32 p, u32 buffer) const {
        const auto matrix = [&](u32 i) -> const reg<typename S::packed>& {
            const u32 g = per_patch * p + (gated ? i : i % 2), last = groups - 1;
            return packed_[of_group * (g < last ? g : last) + (gated ? 0 : i / 2)];
        };
        const auto to = write_.chunk(0).template byte_offset<16>(static_cast<std::int32_t>(buffer) * next_patch);
        k.template stmatrix<trans>(to, matrix(0), matrix(1), matrix(2), matrix(3));
    }
    /// Stores patch `p` from `buffer`.
    constexpr void put(k_t& k, const target& t, u32 p, u32 buffer) const {
        const auto inside = k.add(t.token, patch_tokens * p) < t.end;
        const auto from = read_.chunk(0).template byte_offset<16>(static_cast<std::int32_t>(buffer) * next_patch);
        const auto v = k.ld(from.template as<four>());
        const auto at = t.start + k.mul_wide(k.mov(p_.ldc), patch_tokens * p);
        k.at(inside && t.inside).st(at.template as<four>().template assume_aligned<16>(), v);
    }
    global_ptr<Out> c_;
    gemm_arguments p_;
    shared_tile<typename S::patch> tiles_;
    reg32 first_;
    tile_line<typename S::patch> write_, read_;  ///< where this lane's row of a matrix is, and what it stores
    reg32 token_, x_;                            ///< of what this lane stores, from the warp's first
    reg<typename S::packed> packed_[of_group * groups];
};

/// Stores a tile's sums as the configuration says, with nothing of another tile between the pieces.
template <class S>
class tile_epilogue {
    static constexpr bool packed = S::config.store == store_mode::tma;
    using store_t = std::conditional_t<packed, epilogue_tma<S>, epilogue_direct<S>>;

public:
    constexpr tile_epilogue(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(make(k, g, p, me)), op_(k, g, p) {}

    /// `source(i)` is accumulator register `i` of the 64 rows from `pos.row` on.
    template <class Source>
    constexpr void write(k_t& k, const gemm_consumer& me, const Source& source, const tile_coord& pos) {
        if constexpr (packed) {
            const auto col = k.add(pos.col, me.col);
            for (u32 c = 0; c < out_.chunks; ++c) {
                out_.pack(k, op_, source, col, c);
                out_.store(k, pos, c);
            }
        } else {
            out_.store(k, me, op_, source, pos, S::out_columns / 8);
        }
    }
    constexpr void finish(k_t& k) const {
        if constexpr (packed) out_.finish(k);
    }

private:
    static constexpr store_t make(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me) {
        if constexpr (packed)
            return store_t(k, g, p, me);
        else
            return store_t(g.c, p);
    }
    store_t out_;
    epilogue_op<S> op_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
