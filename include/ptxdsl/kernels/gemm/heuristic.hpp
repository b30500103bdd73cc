// SPDX-License-Identifier: Apache-2.0
// Which configuration for which product. The list and every number here come from runs on an H200, interleaved with
// cuBLAS; docs/kernels/gemm.md has the measurements.
#pragma once

#include <ptxdsl/kernels/gemm/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptxdsl::kernels {

/// A product's extents: `batch` products of m x k by k x n.
struct gemm_shape {
    std::uint64_t m = 0, n = 0, k = 0, batch = 1;
    constexpr bool operator==(const gemm_shape&) const = default;
};

/// The configurations the library compiles in, by their index.
enum class gemm_choice : u8 {
    large,           ///< 128 x 256, pairs of blocks share B
    large_even,      ///< the same, last waves cut along K so that all end together (needs a workspace)
    large_single,    ///< 128 x 256, single blocks
    medium,          ///< 128 x 128
    few_rows,        ///< 64 x 128
    few_columns,     ///< 128 x 64
    few_rows_split,  ///< 64 x 128, two blocks share K
    medium_split,    ///< 128 x 128, two blocks share K
    medium_even,     ///< 128 x 128, all work cut along K so that all blocks end together (needs a workspace)
    large_192,       ///< 128 x 192, single blocks
    // Few tokens: they are the N of wgmma, and 64 of the weights' rows its M (`store_mode::transposed`).
    tokens_16_split,   ///< up to 16 tokens, two blocks share K, two blocks a multiprocessor
    tokens_16_even,    ///< up to 16, all work cut along K so that all blocks end together (needs a workspace)
    tokens_32_split,   ///< up to 32, two blocks share K
    tokens_32_even,    ///< up to 32, cut along K (needs a workspace)
    tokens_64_split,   ///< up to 64, two blocks share K
    tokens_64_even,    ///< up to 64, cut along K (needs a workspace)
    tokens_128_split,  ///< up to 128, two blocks share K
    ping_pong,         ///< 128 x 128 for each of two warpgroups by turns: K is short, or tiles are few and many waves
    narrow,            ///< 128 x 48: as many tiles as multiprocessors where 64 columns leave a quarter of them idle
    few_columns_pair,  ///< 128 x 64, pairs of blocks share B
    large_224,         ///< 128 x 224, single blocks
    large_176_pair,    ///< 128 x 176, pairs of blocks side by side share A
    few_rows_pair,     ///< 64 x 128, pairs of blocks share B
    narrow_64,         ///< 64 x 48: what `narrow` is, for up to 64 rows
    count
};
/// 64 of the weights' rows and up to `n` tokens. The stages of the first two of `tokens_split` are few enough for two
/// blocks a multiprocessor: the next kernel then loads its weights while this one ends.
[[nodiscard]] constexpr gemm_config tokens_split(u32 n, u32 stages) noexcept {
    return {.bm = 64, .bn = n, .stages = stages, .cluster = 1, .split_k = 2, .store = store_mode::transposed};
}
[[nodiscard]] constexpr gemm_config tokens_even(u32 n, u32 stages) noexcept {
    return {.bm = 64, .bn = n, .stages = stages, .cluster = 1, .stream_k = true, .store = store_mode::transposed};
}
/// Two warpgroups with tiles of their own.
[[nodiscard]] constexpr gemm_config ping_pong_config(u32 m, u32 n, u32 stages, u32 cluster = 1) noexcept {
    return {.bm = m, .bn = n, .stages = stages, .cluster = cluster, .schedule = gemm_schedule::ping_pong};
}
/// Those for `gemm_with` that the library does not choose: an H200 had 128 x 128 ahead of them at every shape tried.
inline constexpr gemm_config ping_pong_configs[] = {ping_pong_config(64, 128, 8), ping_pong_config(64, 192, 6),
                                                    ping_pong_config(64, 256, 4), ping_pong_config(64, 256, 4, 2),
                                                    ping_pong_config(128, 128, 6, 2)};
inline constexpr std::array<gemm_config, static_cast<std::size_t>(gemm_choice::count)> gemm_configs = {
    gemm_config{.serpentine = true},
    gemm_config{.stream_k = true, .serpentine = true},
    gemm_config{.cluster = 1, .group = 16, .serpentine = true},
    gemm_config{.bm = 128, .bn = 128, .stages = 6, .cluster = 1},
    gemm_config{.bm = 64, .bn = 128, .stages = 8, .cluster = 1},
    gemm_config{.bm = 128, .bn = 64, .stages = 8, .cluster = 1},
    gemm_config{.bm = 64, .bn = 128, .stages = 9, .cluster = 1, .split_k = 2, .store = store_mode::pairs},
    gemm_config{.bm = 128, .bn = 128, .stages = 7, .cluster = 1, .split_k = 2, .store = store_mode::pairs},
    gemm_config{.bm = 128, .bn = 128, .stages = 6, .cluster = 1, .stream_k = true},
    gemm_config{.bn = 192, .cluster = 1, .group = 16, .serpentine = true},
    tokens_split(16, 10),
    tokens_even(16, 20),
    tokens_split(32, 8),
    tokens_even(32, 16),
    tokens_split(64, 12),
    tokens_even(64, 12),
    tokens_split(128, 9),
    ping_pong_config(128, 128, 6),
    gemm_config{.bm = 128, .bn = 48, .stages = 10, .cluster = 1, .store = store_mode::pairs},
    gemm_config{.bm = 128, .bn = 64, .stages = 8, .cluster = 2},
    gemm_config{.bn = 224, .cluster = 1, .group = 16, .serpentine = true},
    gemm_config{.bn = 176, .stages = 5, .cluster = 1, .cluster_n = 2, .serpentine = true},
    gemm_config{.bm = 64, .bn = 128, .stages = 8, .cluster = 2},
    gemm_config{.bm = 64, .bn = 48, .stages = 15, .cluster = 1, .store = store_mode::pairs},
};
[[nodiscard]] constexpr const gemm_config& config_of(gemm_choice c) noexcept {
    return gemm_configs[static_cast<std::size_t>(c)];
}

namespace detail {

[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

/// Tiles of a configuration over the multiprocessors.
[[nodiscard]] constexpr double waves_of(const gemm_config& c, const gemm_shape& s, std::uint64_t sms) noexcept {
    const std::uint64_t tiles = ceil_div(s.m, c.cluster_rows()) * ceil_div(s.n, c.cluster_columns()) * s.batch;
    const std::uint64_t clusters = sms / c.cluster_blocks();
    return static_cast<double>(tiles) / static_cast<double>(clusters == 0 ? 1 : clusters);
}
[[nodiscard]] constexpr double whole(double waves) noexcept {
    const auto n = static_cast<double>(static_cast<std::uint64_t>(waves));
    return n < waves ? n + 1 : n;
}

/// What cutting the last waves along K costs, in waves: the hand-over, and operands that no longer meet in L2.
/// Measured: 0.15 to 0.30 up to K = 8192 (6144 x 6144 x 6144 gains 2 % by it), 0.47 to 0.61 from K = 14336 on.
[[nodiscard]] constexpr double even_cost(std::uint64_t k) noexcept { return k <= 8192 ? 0.25 : 0.6; }

/// How much of the device `tiles` keep busy, from the first block's start to the last one's end.
[[nodiscard]] constexpr double busy(std::uint64_t tiles, std::uint64_t sms) noexcept {
    return static_cast<double>(tiles) / static_cast<double>(ceil_div(tiles, sms) * sms);
}

/// Up to 32 rows (tokens): pairs of blocks that share K while all pairs are resident at once, else an even cut.
[[nodiscard]] constexpr gemm_choice choose_few_tokens(const gemm_shape& s, std::uint64_t sms, bool may_even) noexcept {
    using enum gemm_choice;
    const std::uint64_t blocks = 2 * ceil_div(s.n, 64) * s.batch;
    const bool even = may_even && (blocks > 2 * sms || (blocks > sms && s.k > 8192));
    if (s.m <= 16) return even ? tokens_16_even : tokens_16_split;
    return even ? tokens_32_even : tokens_32_split;
}

/// Up to 128 rows: the weights stream from memory once, so that all that counts is how evenly they are spread.
[[nodiscard]] constexpr gemm_choice choose_memory_bound(const gemm_shape& s, std::uint64_t sms,
                                                        bool may_even) noexcept {
    using enum gemm_choice;
    const std::uint64_t columns = ceil_div(s.n, 128) * s.batch, steps = ceil_div(s.k, 64);
    const bool half_tiles = 2 * ceil_div(s.n, 64) * s.batch <= sms;  // pairs of blocks of 64 of the weights' rows
    if (steps >= 8 && s.m <= 32) return choose_few_tokens(s, sms, may_even);
    if (s.m <= 64) {
        if (steps < 8) return few_rows;
        if (half_tiles && s.k > 4096) return tokens_64_split;
        const std::uint64_t slim = ceil_div(s.n, 48) * s.batch;
        if (!half_tiles && slim <= sms && busy(slim, sms) >= 0.8) return narrow_64;
        const bool pairs_fit = 2 * columns <= sms;
        if (pairs_fit && (half_tiles || busy(2 * columns, sms) >= 0.8)) return few_rows_split;
        if (may_even && steps >= 64) return tokens_64_even;
        const bool one_wave = columns <= sms && busy(columns, sms) < 0.8;
        return pairs_fit || one_wave || s.k > 4096 ? few_rows_split : few_rows;
    }
    if (half_tiles && steps >= 8) return tokens_128_split;
    const std::uint64_t wide = ceil_div(s.n, 224) * s.batch;  // one or two waves of few, wide tiles
    if (columns > sms && steps >= 64 && wide <= 2 * sms && busy(wide, sms) >= 0.95) return large_224;
    if (2 * columns > sms) return may_even && steps >= 64 && busy(columns, sms) < 0.87 ? medium_even : medium;
    return s.k <= 8192 && ceil_div(s.n, 48) * s.batch <= sms ? narrow : few_rows_pair;
}

/// The time of 128 x 128 tiles by turns, in that of as many waves of larger ones: stores are hidden, which pays where K
/// is short, and twice the bytes are loaded, which costs where it is long.
[[nodiscard]] constexpr double turns_cost(std::uint64_t k) noexcept {
    return k <= 1024 ? 0.92 : k <= 2048 ? 0.98 : k <= 4096 ? 1.025 : 1e30;
}

/// More rows: estimated time in waves of 128 x 256 tiles. Smaller tiles load more bytes a product and pay for it; a
/// single wave of large tiles has no next tile to hide its store behind.
[[nodiscard]] constexpr gemm_choice choose_compute_bound(const gemm_shape& s, std::uint64_t sms,
                                                         bool may_even) noexcept {
    using enum gemm_choice;
    const double large_waves = waves_of(config_of(large), s, sms);
    const double single = whole(waves_of(config_of(large_single), s, sms));
    const double middle = whole(waves_of(config_of(large_192), s, sms));
    const double wide = whole(waves_of(config_of(large_224), s, sms));
    const double pairs = whole(waves_of(config_of(large_176_pair), s, sms));
    const double turns = waves_of(config_of(ping_pong), s, sms);
    struct candidate {
        gemm_choice choice;
        double waves;
    };
    const candidate list[] = {
        {large_single, single > 1 ? single : 1.06},
        {large_even, may_even && large_waves > 3 ? large_waves + even_cost(s.k) : 1e30},
        {large_192, middle * 0.75 *
                        (middle > 4   ? 1.04
                         : middle > 1 ? 1.01
                                      : 1.06)},
        {large_224, wide * 0.875 *
                        (wide > 2   ? 1.04
                         : wide > 1 ? 1.01
                                    : 1.06)},
        {large_176_pair, pairs > 3 ? pairs * 0.6875 * 1.03 : 1e30},
        {medium, whole(waves_of(config_of(medium), s, sms)) * 0.5 * (large_waves < 4 ? 1.03 : 1.07)},
        {few_rows, whole(waves_of(config_of(few_rows), s, sms)) * 0.25 * 1.18},
        {few_columns, s.m <= 1024 && waves_of(config_of(few_columns), s, sms) <= 1 ? 0.25 * 1.1 : 1e30},
        {few_columns_pair,
         s.k >= 2048 && s.m <= 256 && waves_of(config_of(few_columns_pair), s, sms) <= 1 ? 0.25 * 1.06 : 1e30},
        {ping_pong, turns > 2 ? whole(turns) * 0.5 * turns_cost(s.k) : 1e30},
    };
    candidate best = list[0];
    for (const candidate& c : list)
        if (c.waves < best.waves) best = c;
    return best.choice;
}

}  // namespace detail

/// The configuration to take for a product on a device of `sms` multiprocessors. `may_even`: there is a workspace.
[[nodiscard]] constexpr gemm_choice choose_gemm_config(const gemm_shape& s, std::uint64_t sms, bool may_even) noexcept {
    return s.m <= 128 ? detail::choose_memory_bound(s, sms, may_even) : detail::choose_compute_bound(s, sms, may_even);
}

/// The configurations of block-scaled products: tiles of 128 rows and so many columns; `even`: the last waves are cut
/// along K so that all blocks end together (needs a workspace).
[[nodiscard]] constexpr gemm_config block_scaled_tile(u32 columns, u32 stages, bool even = false) noexcept {
    return {
        .bm = 128, .bn = columns, .stages = stages, .cluster = 1, .group = 16, .stream_k = even, .block_scaled = true};
}
inline constexpr gemm_config block_scaled_configs[] = {block_scaled_tile(128, 6), block_scaled_tile(192, 4),
                                                       block_scaled_tile(256, 4), block_scaled_tile(256, 4, true)};

namespace detail {
/// What cutting the last waves along K costs, in waves. Measured: 0.54 at K = 2048, 0.2 to 0.4 at 4096 to 8192, 0.74 at
/// 11008.
[[nodiscard]] constexpr double block_scaled_even_cost(std::uint64_t k) noexcept {
    return k < 4096 ? 0.6 : k <= 8192 ? 0.35 : 0.75;
}
}  // namespace detail

/// Which of them: waves times columns, those of 128 and 192 weighted with what they took on an H200 next to 256. Those
/// of 128 load and read more bytes a product and are for few tiles. `may_even`: there is a workspace.
[[nodiscard]] constexpr std::size_t choose_block_scaled(std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                                        std::uint64_t sms, bool may_even) noexcept {
    std::size_t best = 0;
    double least = 1e30;
    for (std::size_t i = 0; i < std::size(block_scaled_configs); ++i) {
        const gemm_config& c = block_scaled_configs[i];
        const double weight = c.bn == 128 ? 1.09 : c.bn == 192 ? 1.02 : 1.0;
        const double tiles = detail::waves_of(c, {m, n, 1, 1}, sms);
        if (c.stream_k && (!may_even || tiles <= 3)) continue;
        const double waves = c.stream_k ? tiles + detail::block_scaled_even_cost(k) : detail::whole(tiles);
        if (waves * c.bn * weight < least) best = i, least = waves * c.bn * weight;
    }
    return best;
}

}  // namespace ptxdsl::kernels
