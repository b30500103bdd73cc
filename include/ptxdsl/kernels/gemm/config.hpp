// SPDX-License-Identifier: Apache-2.0
// What a matrix product is made of: tile shape, pipeline, cluster, how the work is spread, and the epilogue. Plain
// values; each distinct one is one kernel.
#pragma once

#include <ptxdsl/dsl/tile.hpp>

#include <compare>
#include <type_traits>

namespace ptxdsl::kernels {

/// What is applied to each element before it is stored. `gelu` is the tanh form; `silu` is x * sigmoid(x).
enum class activation : u8 { none, relu, gelu, silu };

/// How the result reaches memory.
///  - `tma`: through shared memory and TMA, hidden behind the next tile's products; rows of C are multiples of 16
///  bytes.
///  - `pairs`: two neighbours at a time from registers; N and the row stride are even.
///  - `elements`: one at a time; any N and row stride.
///  - `transposed`: the kernel's product is C^T = B A^T, with the weights as its A ("swap AB"): few tokens are then the
///  N of wgmma, which may be 16, instead of an M that is 64 at least. The result is turned in shared memory, and
///  stored as `tma` does behind the next tile's products; rows of C are multiples of 16 bytes.
enum class store_mode : u8 { tma, pairs, elements, transposed };

/// How the consumer warpgroups share the work.
///  - `cooperative`: all on one tile, 64 of its rows each.
///  - `ping_pong`: two warpgroups with tiles of their own, by turns: while one stores, the other multiplies. A tile is
///  no higher than one warpgroup's registers hold, so that more bytes are loaded a product; for tiles whose K is short.
enum class gemm_schedule : u8 { cooperative, ping_pong };

/// Cache policy of an operand's loads.
enum class l2_hint : u8 { normal, evict_first, evict_last };

/// One kernel's shape. `valid()` says whether the library can build it.
struct gemm_config {
    u32 bm = 128;  ///< rows of a tile: 64 for each consumer warpgroup, with `ping_pong` 64 or 128 of one
    u32 bn = 256;  ///< columns of a block's tile, up to 256: a multiple of 16 with `tma`, of 8 stored from registers
    u32 bk = 64;   ///< depth of one pipeline stage in 16-bit elements; of 8-bit ones it holds twice as many
    u32 stages = 4;
    u32 cluster = 2;    ///< blocks of a cluster on top of each other: they share each B tile by multicast
    u32 cluster_n = 1;  ///< blocks of a cluster side by side: they share each A tile by multicast
    u32 split_k = 1;    ///< blocks of a cluster that share one tile, each taking a part of K (then it has no others)
    u32 group = 8;      ///< rows of cluster tiles that are worked on together, for L2 reuse
    u32 blocks_per_sm = 1;
    bool stream_k = false;  ///< the last one to two waves are cut along K, so that every cluster works equally long
    bool block_scaled =
        false;  ///< fp8: a scale for 1 x 128 of A and for 128 x 128 of B, applied to the sum of each stage
    gemm_schedule schedule = gemm_schedule::cooperative;
    store_mode store = store_mode::tma;
    /// Every other tile of a cluster walks K from its end: the L2 still holds what the tile before it loaded last.
    bool serpentine = false;
    l2_hint a_hint = l2_hint::normal, b_hint = l2_hint::normal;  ///< what the L2 should keep
    major a = k_major;                                           ///< A as M x K rows (`k_major`) or as K x M rows
    major b = k_major;                                           ///< B as N x K rows (`k_major`, "NT") or as K x N rows

    constexpr bool operator==(const gemm_config&) const = default;

    /// The call's B, the weights, is the kernel's A.
    [[nodiscard]] constexpr bool swaps_operands() const noexcept { return store == store_mode::transposed; }
    /// What a swapped product has turned is stored behind the next tile's products. Not where blocks share weights of
    /// two warpgroups: one that stores keeps the others' stages, and that costs 4 % (H200, 128 x 104 in pairs).
    [[nodiscard]] constexpr bool turns_behind() const noexcept {
        return swaps_operands() && (cluster_n == 1 || bm == 64);
    }
    [[nodiscard]] constexpr bool ping_pong() const noexcept { return schedule == gemm_schedule::ping_pong; }
    [[nodiscard]] constexpr u32 consumers() const noexcept { return ping_pong() ? 2 : bm / 64; }
    /// Blocks of 64 rows that one warpgroup sums up at a time.
    [[nodiscard]] constexpr u32 row_blocks() const noexcept { return ping_pong() ? bm / 64 : 1; }
    /// Warpgroups of a block that read a stage.
    [[nodiscard]] constexpr u32 readers() const noexcept { return ping_pong() ? 1 : consumers(); }
    [[nodiscard]] constexpr u32 threads() const noexcept { return 128 * (1 + consumers()); }
    [[nodiscard]] constexpr u32 cluster_blocks() const noexcept { return cluster * cluster_n * split_k; }
    /// Rows and columns of C a cluster works on at once.
    [[nodiscard]] constexpr u32 cluster_rows() const noexcept { return bm * cluster; }
    [[nodiscard]] constexpr u32 cluster_columns() const noexcept { return bn * cluster_n; }
    /// Blocks that wait for a block's consumers: those it shares a tile with, and itself.
    [[nodiscard]] constexpr u32 sharers() const noexcept { return cluster + cluster_n - 1; }
    /// Tokens are the kernel's columns, and its tiles have as many of them each: TMA takes longer over rows outside of
    /// a matrix, which it fills with zeros, than over others. What follows a tile's own in shared memory is multiplied
    /// and not stored.
    [[nodiscard]] constexpr bool even_columns() const noexcept { return swaps_operands() && b == k_major; }
    /// Columns that a block's tile has of a product with `n`, 1 at least.
    [[nodiscard]] constexpr u64 tile_columns(u64 n) const noexcept {
        if (!even_columns()) return bn;
        const u64 tiles = (n + cluster_columns() - 1) / cluster_columns() * cluster_n;
        return (n + tiles - 1) / tiles;
    }
    /// Rows of B that each of the blocks that share such a tile loads.
    [[nodiscard]] constexpr u64 loaded_columns(u64 n) const noexcept {
        return (tile_columns(n) + cluster - 1) / cluster;
    }
    /// A tile that reaches past the last row of A starts as many rows higher, in steps of a warp's 16, and stores its
    /// own only: for the same reason. Not the largest tiles, of which few reach past it.
    [[nodiscard]] constexpr bool moves_last_rows() const noexcept {
        return store == store_mode::tma && !ping_pong() && !block_scaled && a == k_major && bm * bn < 128 * 224;
    }
    [[nodiscard]] constexpr u32 stage_bytes() const noexcept { return (bm + bn) * bk * 2; }
    /// Columns of 16-bit results that one TMA store of a warp takes.
    [[nodiscard]] constexpr u32 store_chunk(bool gated) const noexcept {
        const u32 columns = gated ? bn / 2 : bn;
        return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : 16;
    }
    /// Staging tiles of a warp: two in turn, or one for each of the few chunks of a block-scaled tile; where operands
    /// are swapped, as many patches of 512 bytes, or one if there is no room for two.
    [[nodiscard]] constexpr u32 store_buffers() const noexcept {
        if (swaps_operands())
            return (stages * stage_bytes() + consumers() * 4 * 2 * 512 + 16 * stages + 1024) * blocks_per_sm <=
                           228 * 1024
                       ? 2
                       : 1;
        return block_scaled && bn == 192 ? 3 : 2;
    }
    /// Shared memory of a block: stages, staging of the store, barriers.
    [[nodiscard]] constexpr u32 shared_bytes() const noexcept {
        const u32 tile = store == store_mode::tma ? 2048 : swaps_operands() ? 512 : 0;
        const u32 staging = consumers() * 4 * store_buffers() * tile;
        return stages * stage_bytes() + staging + 16 * stages;
    }
    /// Each block stores whole groups of 16 columns, 8 of a gate and 8 of its value (`gemm_epilogue::gated`).
    [[nodiscard]] constexpr bool takes_gates() const noexcept { return swaps_operands() || bn % (16 * split_k) == 0; }
    [[nodiscard]] constexpr bool valid() const noexcept {
        if (group == 0 || blocks_per_sm == 0) return false;
        const u32 columns = store == store_mode::tma ? 16 : 8;
        const bool tile = bm % 64 == 0 && bm >= 64 && bm <= 256 && bn % columns == 0 && bn >= columns && bn <= 256 &&
                          bk == 64 && bm * bn <= 128 * 256;
        const bool blocks = cluster >= 1 && cluster_n >= 1 && split_k >= 1 &&
                            (cluster * cluster_n == 1 || split_k == 1) && cluster_blocks() <= 8 &&
                            bn % (8 * split_k) == 0 && bn % cluster == 0 &&
                            (even_columns() || bn / cluster % (b == k_major ? 8 : 64) == 0) && bm % cluster_n == 0 &&
                            bm / cluster_n % (a == k_major ? 8 : 64) == 0;
        const bool modes = !(stream_k && split_k > 1) && (split_k == 1 || store != store_mode::tma) && stages >= 2;
        const bool fits = shared_bytes() * blocks_per_sm + 1024 * blocks_per_sm <= 228 * 1024 &&
                          (split_k == 1 || stages * stage_bytes() >= bm * bn * 4);
        // Accumulators, and while a store is pending the packed results; ptxas refuses a wgmma without room (C7602).
        const bool registers =
            65536 / (threads() * blocks_per_sm) >= bn / 2 + 24 || (blocks_per_sm == 1 && consumers() > 1);
        // A stage is as deep as a block of scales, and 64 columns have one scale of B (`block_scaled_consumer`).
        const bool scales = !block_scaled || ((bn == 128 || bn == 192 || bn == 256) && consumers() == 2 &&
                                              blocks_per_sm == 1 && split_k == 1 && !swaps_operands());
        const bool forth = !serpentine || (split_k == 1 && !block_scaled);  // scales are read in the order of K
        const bool turns = !ping_pong() || (bn * row_blocks() <= 256 && blocks_per_sm == 1 && !stream_k &&
                                            split_k == 1 && !block_scaled && !swaps_operands());
        return tile && blocks && modes && fits && registers && scales && forth && turns;
    }
};

/// What follows the product: C = act(alpha * A B + beta * C + bias).
struct gemm_epilogue {
    bool alpha = false;          ///< the product is scaled by a run-time factor
    bool beta = false;           ///< the old C is scaled and added (with `pairs` and `elements`)
    bool tensor_scales = false;  ///< alpha is multiplied by two factors from memory, the scales of A and B
    bool bias = false;           ///< a vector of N elements is added to every row
    activation act = activation::none;
    /// Columns come in groups of 16, 8 of a gate and 8 of a value: C has half as many, act(gate) * value.
    bool gated = false;
    constexpr auto operator<=>(const gemm_epilogue&) const = default;
};

/// What is chosen when a kernel of some configuration is written; none of it is part of a type.
struct gemm_variant {
    gemm_epilogue epilogue{};
    /// The weights (B of the call) are not written by the kernel before this one: their first loads do not wait for it.
    bool early_b = false;
    constexpr auto operator<=>(const gemm_variant&) const = default;
};

/// The scales of fp8 operands: none, one an operand, or one for 1 x 128 of A and 128 x 128 of B.
enum class plain_scales : u8 { none, tensor, blocks };

/// What is chosen when the plain kernel is written.
struct gemm_plain_form {
    activation act = activation::none;
    bool gated = false;  ///< as `gemm_epilogue::gated`
    plain_scales scales = plain_scales::none;
    constexpr auto operator<=>(const gemm_plain_form&) const = default;
};

namespace detail {
/// Element type of a bias: that of 16-bit operands, else that of the result, or bf16 next to f32 results.
template <class In, class Out>
using bias_of = std::conditional_t<sizeof(In) == 2, In, std::conditional_t<sizeof(Out) == 2, Out, bf16>>;
}  // namespace detail

}  // namespace ptxdsl::kernels
