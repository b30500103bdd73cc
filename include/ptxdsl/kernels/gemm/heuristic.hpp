// SPDX-License-Identifier: Apache-2.0
// Which configuration for which product: the list, and the choice by the cost model. docs/kernels/gemm.md has the
// measurements.
#pragma once

#include <ptxdsl/kernels/gemm/cost_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ptxdsl::kernels {

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
    large_160,         ///< 128 x 160, single blocks
    tall_144,          ///< 192 x 144, single blocks
    // Few tokens again, and more of them: tiles of so many tokens that little of the last one is empty.
    tokens_48_split,       ///< up to 48, two blocks share K
    tokens_48_even,        ///< up to 48, cut along K (needs a workspace)
    tokens_80_split,       ///< up to 80, two blocks share K
    tokens_80,             ///< tiles of 80, a block each
    tokens_88,             ///< tiles of 88
    tokens_112,            ///< tiles of 112
    tokens_144,            ///< tiles of 144
    turned_80_pair,        ///< 128 of the weights' rows, tiles of 80 tokens of which two share them
    turned_104_pair,       ///< the same with 104
    turned_144,            ///< 128 of the weights' rows, tiles of 144 tokens
    turned_152,            ///< with 152
    turned_144_pair_even,  ///< two tiles of 144 tokens share the weights, cut along K (needs a workspace)
    // Clusters and tiles that a sweep asked for: p so many tiles of tokens share the weights, q so many of the weights'
    // rows the tokens, k so many blocks K.
    rows_128x96,          ///< 128 tokens x 96
    rows_128x144,         ///< 128 tokens x 144
    rows_64x96_p2,        ///< 64 tokens x 96, 2 share the weights
    turned_64x32_k4,      ///< 64 of the weights' rows x 32 tokens, 4 share K
    turned_128x208_q2,    ///< 128 of the weights' rows x 208 tokens, 2 share the tokens
    rows_128x80_p2,       ///< 128 tokens x 80, 2 share the weights
    turned_64x160_k2,     ///< 64 of the weights' rows x 160 tokens, 2 share K
    rows_192x112,         ///< 192 tokens x 112
    turned_192x112,       ///< 192 of the weights' rows x 112 tokens
    rows_64x224,          ///< 64 tokens x 224
    rows_64x96,           ///< 64 tokens x 96
    turned_128x112,       ///< 128 of the weights' rows x 112 tokens
    rows_128x208,         ///< 128 tokens x 208
    turned_64x176,        ///< 64 of the weights' rows x 176 tokens
    rows_192x128,         ///< 192 tokens x 128
    turned_128x192_even,  ///< 128 of the weights' rows x 192 tokens, cut along K (needs a workspace)
    rows_192x160,         ///< 192 tokens x 160
    turned_64x64_k4,      ///< 64 of the weights' rows x 64 tokens, 4 share K
    rows_128x112,         ///< 128 tokens x 112
    turned_128x176,       ///< 128 of the weights' rows x 176 tokens
    turned_64x224_k2,     ///< 64 of the weights' rows x 224 tokens, 2 share K
    turned_64x88_q4,      ///< 64 of the weights' rows x 88 tokens, 4 share the tokens
    turned_64x192_k2,     ///< 64 of the weights' rows x 192 tokens, 2 share K
    turned_64x56_q4,      ///< 64 of the weights' rows x 56 tokens, 4 share the tokens
    rows_64x128_k4,       ///< 64 tokens x 128, 4 share K
    rows_128x80_q4,       ///< 128 tokens x 80, 4 share the tokens
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
/// `rows` of the weights' rows and tiles of `n` tokens, `pair` of which share the weights.
[[nodiscard]] constexpr gemm_config turned(u32 rows, u32 n, u32 stages, u32 pair = 1, bool even = false) noexcept {
    return {.bm = rows,
            .bn = n,
            .stages = stages,
            .cluster = 1,
            .cluster_n = pair,
            .stream_k = even,
            .store = store_mode::transposed};
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
    gemm_config{.bn = 160, .stages = 5, .cluster = 1},
    gemm_config{.bm = 192, .bn = 144, .stages = 4, .cluster = 1},
    tokens_split(48, 16),
    tokens_even(48, 16),
    tokens_split(80, 12),
    turned(64, 80, 12),
    turned(64, 88, 11),
    turned(64, 112, 10),
    turned(64, 144, 8),
    turned(128, 80, 8, 2),
    turned(128, 104, 7, 2),
    turned(128, 144, 6),
    turned(128, 152, 6),
    turned(128, 144, 6, 2, true),
    gemm_config{.bm = 128, .bn = 96, .stages = 6, .cluster = 1},
    gemm_config{.bm = 128, .bn = 144, .stages = 5, .cluster = 1},
    gemm_config{.bm = 64, .bn = 96, .stages = 10, .cluster = 2},
    gemm_config{.bm = 64, .bn = 32, .stages = 16, .cluster = 1, .split_k = 4, .store = store_mode::transposed},
    gemm_config{.bm = 128, .bn = 208, .stages = 5, .cluster = 2, .store = store_mode::transposed},
    gemm_config{.bm = 128, .bn = 80, .stages = 7, .cluster = 2},
    gemm_config{.bm = 64, .bn = 160, .stages = 8, .cluster = 1, .split_k = 2, .store = store_mode::transposed},
    gemm_config{.bm = 192, .bn = 112, .stages = 4, .cluster = 1},
    gemm_config{.bm = 192, .bn = 112, .stages = 5, .cluster = 1, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 224, .stages = 5, .cluster = 1},
    gemm_config{.bm = 64, .bn = 96, .stages = 10, .cluster = 1},
    gemm_config{.bm = 128, .bn = 112, .stages = 7, .cluster = 1, .store = store_mode::transposed},
    gemm_config{.bm = 128, .bn = 208, .stages = 4, .cluster = 1},
    gemm_config{.bm = 64, .bn = 176, .stages = 7, .cluster = 1, .store = store_mode::transposed},
    gemm_config{.bm = 192, .bn = 128, .stages = 4, .cluster = 1},
    gemm_config{.bm = 128, .bn = 192, .stages = 5, .cluster = 1, .stream_k = true, .store = store_mode::transposed},
    gemm_config{.bm = 192, .bn = 160, .stages = 4, .cluster = 1},
    gemm_config{.bm = 64, .bn = 64, .stages = 14, .cluster = 1, .split_k = 4, .store = store_mode::transposed},
    gemm_config{.bm = 128, .bn = 112, .stages = 6, .cluster = 1},
    gemm_config{.bm = 128, .bn = 176, .stages = 5, .cluster = 1, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 224, .stages = 6, .cluster = 1, .split_k = 2, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 88, .stages = 11, .cluster = 4, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 192, .stages = 7, .cluster = 1, .split_k = 2, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 56, .stages = 14, .cluster = 4, .store = store_mode::transposed},
    gemm_config{.bm = 64, .bn = 128, .stages = 9, .cluster = 1, .split_k = 4, .store = store_mode::pairs},
    gemm_config{.bm = 128, .bn = 80, .stages = 7, .cluster = 1, .cluster_n = 4},
};
[[nodiscard]] constexpr const gemm_config& config_of(gemm_choice c) noexcept {
    return gemm_configs[static_cast<std::size_t>(c)];
}

/// A set of choices, one bit each.
using gemm_choices = std::uint64_t;
static_assert(gemm_configs.size() <= 64);
inline constexpr gemm_choices all_gemm_choices = ~gemm_choices{0} >> (64 - gemm_configs.size());
[[nodiscard]] constexpr bool has(gemm_choices set, gemm_choice c) noexcept {
    return (set >> static_cast<unsigned>(c) & 1) != 0;
}

/// The configuration to take for a product on a device of `sms` multiprocessors: of those in `allowed` the one for
/// which the cost model predicts the least time. `may_even`: there is a workspace.
[[nodiscard]] constexpr gemm_choice choose_gemm_config(const gemm_shape& s, std::uint64_t sms, bool may_even,
                                                       gemm_choices allowed = all_gemm_choices) noexcept {
    gemm_choice best = gemm_choice::medium;
    double least = 1e300;
    for (std::size_t i = 0; i < gemm_configs.size(); ++i) {
        const gemm_config& c = gemm_configs[i];
        const auto choice = static_cast<gemm_choice>(i);
        if (!has(allowed, choice) || (c.stream_k && !may_even) || detail::ceil_div(s.k, c.bk) < c.split_k) continue;
        const double us = detail::predict(c, gemm_costs[i], s, sms);
        if (us < least) best = choice, least = us;
    }
    return best;
}

namespace detail {

/// The choice as it is compiled for operands of these majors: three configurations where one is not K-major. A gated
/// product leaves half of its columns, of which a chunk that TMA stores needs 64.
[[nodiscard]] constexpr gemm_choice choice_for(gemm_choice c, major a, major b, bool gated) noexcept {
    using enum gemm_choice;
    const gemm_config& config = config_of(c);
    const bool by_k = a == k_major && b == k_major;
    if (gated && config.store == store_mode::tma && config.bn % 128 != 0)
        return config.bn > 128 ? (by_k ? large_single : large) : medium;
    if (by_k || c == large || c == medium || c == few_rows) return c;
    return config.swaps_operands() || config.bm == 64 ? few_rows : config.bn == 256 ? large : medium;
}

/// The choices that are compiled as they are: those the cost model is asked about.
[[nodiscard]] constexpr gemm_choices compiled_choices(major a, major b, bool gated) noexcept {
    gemm_choices set = 0;
    for (std::size_t i = 0; i < gemm_configs.size(); ++i)
        if (const auto c = static_cast<gemm_choice>(i); choice_for(c, a, b, gated) == c) set |= gemm_choices{1} << i;
    return set;
}

/// `choose_gemm_config`, which goes through all configurations, of the products a thread has asked for before; what
/// `measured()` returns (an optional choice) goes before it. `key`: what its answer depends on besides.
template <class Measured>
[[nodiscard]] gemm_choice remembered_choice(const gemm_shape& s, std::uint64_t sms, bool may_even, gemm_choices allowed,
                                            std::uint64_t key, const Measured& measured) {
    struct entry {
        gemm_shape shape;
        std::uint64_t sms = 0, key = 0;
        gemm_choices allowed = 0;
        bool may_even = false;
        gemm_choice choice = gemm_choice::medium;
    };
    constexpr std::size_t entries = 256;
    thread_local std::array<entry, entries> table{};
    const std::uint64_t mixed = (s.m * 0x9e3779b97f4a7c15u ^ s.n * 0xc2b2ae3d27d4eb4fu ^ s.k * 0x165667b19e3779f9u ^
                                 s.batch * 0x27d4eb2f165667c5u ^ allowed ^ key ^ (may_even ? 0x85ebca77u : 0u)) *
                                0x9e3779b97f4a7c15u;
    entry& e = table[mixed >> 56];
    if (e.shape == s && e.sms == sms && e.allowed == allowed && e.may_even == may_even && e.key == key) return e.choice;
    const auto found = measured();
    e = {s, sms, key, allowed, may_even, found ? *found : choose_gemm_config(s, sms, may_even, allowed)};
    return e.choice;
}
/// The same of the cost model alone.
[[nodiscard]] inline gemm_choice remembered_choice(const gemm_shape& s, std::uint64_t sms, bool may_even,
                                                   gemm_choices allowed) {
    return remembered_choice(s, sms, may_even, allowed, 0, [] { return std::optional<gemm_choice>(); });
}

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

}  // namespace detail

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
