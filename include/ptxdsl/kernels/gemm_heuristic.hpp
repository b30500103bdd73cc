// SPDX-License-Identifier: Apache-2.0
// Which configuration for which product: a cost model of four measured rates, evaluated for every configuration of a short list.
// The rates and the list come from runs on an H200; docs/kernels/gemm.md has the measurements.
#pragma once

#include <ptxdsl/kernels/gemm_config.hpp>

#include <array>
#include <cstdint>

namespace ptxdsl::kernels {

/// A product's extents: `batch` products of m x k by k x n.
struct gemm_shape {
    std::uint64_t m = 0, n = 0, k = 0, batch = 1;
    constexpr bool operator==(const gemm_shape&) const = default;
};

/// The configurations the library compiles in, results through TMA or (the split ones) from registers.
inline constexpr std::array gemm_configs = {
    gemm_config{},                                                                                                           // 0: large
    gemm_config{.stream_k = true},                                                                                           // 1: large, last waves balanced
    gemm_config{.cluster = 1, .group = 16},                                                                                  // 2: large, one wave
    gemm_config{.bm = 128, .bn = 128, .stages = 6, .cluster = 1},                                                            // 3: medium
    gemm_config{.bm = 64, .bn = 128, .stages = 8, .cluster = 1},                                                             // 4: few rows
    gemm_config{.bm = 128, .bn = 64, .stages = 8, .cluster = 1},                                                             // 5: few columns
    gemm_config{.bm = 64, .bn = 128, .stages = 9, .cluster = 1, .split_k = 2, .store = store_mode::pairs},                   // 6: few rows, long K
    gemm_config{.bm = 64, .bn = 128, .stages = 9, .cluster = 1, .split_k = 4, .store = store_mode::pairs},                   // 7: the same, few columns
    gemm_config{.bm = 128, .bn = 128, .stages = 7, .cluster = 1, .split_k = 2, .store = store_mode::pairs},                  // 8: medium, long K
};

/// The rates of the model, for the device it is asked about. Cycles are those of a multiprocessor.
struct gemm_rates {
    double mma_per_cycle = 4096;        ///< multiply-adds of 16-bit elements a cycle and multiprocessor
    double fill_bytes_per_cycle = 44;   ///< L2 to shared memory, all multiprocessors loading
    double memory_bytes_per_cycle = 2300;  ///< device memory, whole chip
    double tile_cycles = 1300;          ///< between two tiles of a persistent block
    double launch_cycles = 5200;        ///< first loads, last store
    double fixup_cycles = 15000;        ///< what stream-K costs: hand-over, and operands that no longer meet in L2
    double exchange_cycles = 2200;      ///< sum over a cluster
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

/// Cycles of one pipeline step of a block.
[[nodiscard]] constexpr double step_cycles(const gemm_config& c, const gemm_rates& r) noexcept {
    const double multiply = static_cast<double>(c.bm) * c.bn * c.bk / r.mma_per_cycle * 2;
    const double fill = (static_cast<double>(c.bm) / c.cluster_n + static_cast<double>(c.bn) / c.cluster) * c.bk * 2 / r.fill_bytes_per_cycle;
    return multiply > fill ? multiply : fill;
}

}  // namespace detail

/// Estimated cycles of a product with configuration `c` on a device of `sms` multiprocessors.
[[nodiscard]] constexpr double estimate_gemm_cycles(const gemm_config& c, const gemm_shape& s, std::uint64_t sms, const gemm_rates& r = {}) noexcept {
    const std::uint64_t tiles = detail::ceil_div(s.m, c.cluster_rows()) * detail::ceil_div(s.n, c.cluster_columns()) * s.batch;
    const std::uint64_t steps = detail::ceil_div(s.k, c.bk);
    const std::uint64_t clusters = sms * c.blocks_per_sm / c.cluster_blocks();
    const double step = detail::step_cycles(c, r);
    const double tile = static_cast<double>(detail::ceil_div(steps, c.split_k)) * step + r.tile_cycles;
    const double whole_waves = static_cast<double>(detail::ceil_div(tiles, clusters));
    const double waves = c.stream_k && tiles > clusters ? static_cast<double>(tiles) / static_cast<double>(clusters) : whole_waves;
    double cycles = waves * tile + r.launch_cycles;
    if (c.stream_k) cycles += r.fixup_cycles;
    if (c.split_k > 1) cycles += r.exchange_cycles * whole_waves + 400.0 * c.split_k;
    const double bytes = 2.0 * static_cast<double>(s.batch) * static_cast<double>(s.m * s.k + s.n * s.k + s.m * s.n);
    // A memory-bound product needs its loads spread over the chip: idle multiprocessors load nothing.
    const double busy = static_cast<double>(tiles) / (whole_waves * static_cast<double>(clusters));
    const double memory = bytes / r.memory_bytes_per_cycle / (c.stream_k ? 1.0 : busy < 0.75 ? busy / 0.75 : 1.0) + r.launch_cycles;
    return cycles > memory ? cycles : memory + 0.05 * cycles;
}

/// The index in `gemm_configs` of the configuration with the least estimated time. `may_stream_k`: there is a workspace.
[[nodiscard]] constexpr std::size_t choose_gemm_config(const gemm_shape& s, std::uint64_t sms, bool may_stream_k) noexcept {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < gemm_configs.size(); ++i) {
        const gemm_config& c = gemm_configs[i];
        if ((c.stream_k && !may_stream_k) || detail::ceil_div(s.k, c.bk) < c.split_k) continue;
        const double t = estimate_gemm_cycles(c, s, sms);
        if (i == 0 || t < least) best = i, least = t;
    }
    return best;
}

}  // namespace ptxdsl::kernels
