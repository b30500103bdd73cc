// SPDX-License-Identifier: Apache-2.0
// How long a configuration takes for a product, from a few constants of each: what the choice compares. The constants
// are fitted to a sweep over random shapes by bench/fit_gemm_model.py, whose features() and model() are the same in
// Python.
#pragma once

#include <ptxdsl/kernels/gemm/config.hpp>

#include <cstdint>

namespace ptxdsl::kernels {

/// A product's extents: `batch` products of m x k by k x n. `k` counts 16-bit elements, two 8-bit ones are one.
struct gemm_shape {
    std::uint64_t m = 0, n = 0, k = 0, batch = 1;
    constexpr bool operator==(const gemm_shape&) const = default;
};

/// One configuration's constants, in microseconds.
struct gemm_cost {
    double start;    ///< a launch that does nothing
    double step;     ///< a stage's products
    double dense;    ///< the way of a stage's bytes out of L2 when all multiprocessors load
    double empty;    ///< what a tile without a row inside A takes longer, as a part of its steps
    double tile;     ///< the end of a tile that nothing hides
    double byte;     ///< a megabyte from memory
    double overlap;  ///< how much of products and memory, whichever takes less, is not hidden by the other
    double share;    ///< cut along K: handing over one part of a tile and adding it up
    double cut;      ///< cut along K: how much of the operands that several clusters share is read again
    double reach;    ///< how fast one multiprocessor reads memory, next to an even share of the whole rate
    double port;     ///< a stage's bytes into one multiprocessor of two
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }
[[nodiscard]] constexpr double larger(double a, double b) noexcept { return a > b ? a : b; }
[[nodiscard]] constexpr double smaller(double a, double b) noexcept { return a < b ? a : b; }

/// Of a stage's products and its way into a multiprocessor, what the longer does not hide of the shorter.
inline constexpr double cost_blend = 0.15;
/// Two multiprocessors share a way to L2 and memory. Where the other one has nothing to do, a stage's bytes take so
/// much of their time, and memory is read so much faster: 64 tiles of 64 x 80 come at 62 bytes a nanosecond each, 80
/// at 37.
inline constexpr double cost_alone_port = 0.62, cost_alone_reach = 1.75;
/// Behind whole waves memory is read so much faster: clusters do not end together, and what is left begins earlier.
inline constexpr double cost_early = 2.2;
/// Megabytes of operands that L2 keeps until a cluster at another step of K comes by.
inline constexpr double cost_l2 = 40.0;
/// Megabytes up to which a launch that repeats the one before it finds all of its operands in L2, and from which
/// nothing.
inline constexpr double cost_found = 20.0, cost_lost = 50.0;

/// A product as a configuration cuts it up.
struct gemm_work {
    double all_busy = 0;   ///< steps of a cluster while all clusters work
    double part_busy = 0;  ///< and while only `part` of them do
    double part = 0, items = 0;
    double late = 0;     ///< which part of the tiles is worked on then
    double spread = 0;   ///< and by which part of the multiprocessors
    bool alone = false;  ///< of two that share a way, one at most
    double parts = 0;    ///< cut along K: clusters a tile
    double again = 0;    ///< and megabytes that clusters at different steps read again
};

[[nodiscard]] constexpr gemm_work work_of(const gemm_config& c, const gemm_shape& s, std::uint64_t sms) noexcept {
    const std::uint64_t rows = c.swaps_operands() ? s.n : s.m, columns = c.swaps_operands() ? s.m : s.n;
    const std::uint64_t tiles = ceil_div(rows, c.cluster_rows()) * ceil_div(columns, c.cluster_columns()) * s.batch;
    // Blocks of a cluster lie in one GPC: of more than two some multiprocessors are left over (30 of 4 blocks on 132).
    const std::uint64_t blocks = c.cluster_blocks(), usable = blocks <= 2 ? sms : sms * 10 / 11;
    const std::uint64_t fit = usable * c.blocks_per_sm / blocks, clusters = fit == 0 ? 1 : fit;
    const std::uint64_t full = tiles / clusters, rest = tiles % clusters;
    const double steps = static_cast<double>(ceil_div(s.k, c.bk)) / c.split_k;
    const auto of_clusters = static_cast<double>(clusters), of_tiles = static_cast<double>(tiles);
    gemm_work w;
    if (c.stream_k && rest != 0) {  // the steps of the last one to two waves are dealt out evenly
        const std::uint64_t dealt = full == 0 ? 0 : full - 1;
        const auto left = static_cast<double>(tiles - dealt * clusters);
        w.all_busy = static_cast<double>(dealt) * steps + left * steps / of_clusters;
        w.items = of_tiles / of_clusters, w.parts = of_clusters / left;
        const double operands = 2e-6 * static_cast<double>(s.k * (s.m + s.n) * s.batch);
        const double sharing = left / of_tiles * larger(0, 1 - cost_l2 / operands);
        const std::uint64_t token_tiles = ceil_div(s.m, c.swaps_operands() ? c.bn : c.bm);
        w.again = 2e-6 * sharing * static_cast<double>(s.k * s.n * s.batch * (token_tiles - 1));
    } else {
        w.all_busy = static_cast<double>(full) * steps, w.part_busy = rest != 0 ? steps : 0;
        w.part = static_cast<double>(rest) / of_clusters;
        w.items = static_cast<double>(full + (rest != 0 ? 1 : 0));
        w.late = static_cast<double>(rest) / of_tiles;
        w.spread = smaller(1, static_cast<double>(rest * blocks) / static_cast<double>(sms));
        w.alone = w.spread <= (blocks == 1 ? 0.5 : 0.45);  // blocks of a cluster may sit side by side
    }
    return w;
}

/// How much of the tiles on a cluster's way has no row inside A: TMA fills those with zeros, which takes longer than to
/// load them. The last tile in the order of tokens has them, where there are any.
[[nodiscard]] constexpr double empty_part(const gemm_config& c, std::uint64_t m, double items) noexcept {
    if (c.even_columns()) return 0;
    if (c.moves_last_rows()) return larger(0, 1 - static_cast<double>(m) / c.bm);
    const std::uint64_t tile = c.swaps_operands() ? c.bn : c.bm, side = c.swaps_operands() ? c.cluster_n : c.cluster;
    const std::uint64_t tiles = ceil_div(m, tile), whole = ceil_div(m, tile * side) * side;
    const double empty =
        static_cast<double>(tiles * tile - m) / static_cast<double>(tile) + static_cast<double>(whole - tiles);
    return smaller(empty, 1) / smaller(larger(items, 1), static_cast<double>(whole));
}

/// Of a stage's bytes those that are loaded: `even_columns` tiles have no more tokens than there are.
[[nodiscard]] constexpr double loaded_part(const gemm_config& c, std::uint64_t m) noexcept {
    if (!c.even_columns()) return 1;
    const double weights = static_cast<double>(c.bm) / c.cluster_n;
    return (weights + static_cast<double>(c.loaded_columns(m))) / (weights + static_cast<double>(c.bn) / c.cluster);
}

/// Microseconds of configuration `c` with constants `cost` for product `s` on `sms` multiprocessors: the mean of a
/// launch that reads its operands from memory and of one that repeats the one before it.
[[nodiscard]] constexpr double predict(const gemm_config& c, const gemm_cost& cost, const gemm_shape& s,
                                       std::uint64_t sms) noexcept {
    const gemm_work w = work_of(c, s, sms);
    const double loaded = loaded_part(c, s.m), dense = cost.dense * loaded, port = cost.port * loaded;
    const double empty = 1 + cost.empty * empty_part(c, s.m, w.items);
    const auto stage = [&](double way) {
        return (larger(cost.step, way) + cost_blend * smaller(cost.step, way)) * empty;
    };
    const double all = w.all_busy * stage(larger(dense, port));
    const double part = w.part_busy * stage(larger(dense * w.part, w.alone ? port * cost_alone_port : port));
    const auto both = [&](double products, double memory) {
        return larger(products, memory) + cost.overlap * smaller(products, memory);
    };
    const double megabytes =
        2e-6 * static_cast<double>(s.batch) * static_cast<double>(s.n * s.k + s.m * s.k + s.m * s.n);
    const double faster = (w.alone ? cost_alone_reach : 1) * (w.all_busy > 0 ? cost_early : 1);
    const double reach = smaller(1, cost.reach * w.spread * faster);
    const auto main = [&](double read) {
        const double memory = megabytes * cost.byte * read;
        return both(all, memory * (1 - w.late)) + (w.late > 0 ? both(part, memory * w.late / reach) : 0.0);
    };
    const double lost = smaller(1, larger(0, (megabytes - cost_found) / (cost_lost - cost_found)));
    return cost.start + (main(1) + main(lost)) / 2 + cost.tile * w.items + cost.share * w.parts +
           cost.cut * w.again * cost.byte;
}

}  // namespace detail

}  // namespace ptxdsl::kernels
