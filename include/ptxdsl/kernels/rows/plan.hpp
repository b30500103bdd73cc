// SPDX-License-Identifier: Apache-2.0
// How a row, or elements, are spread over threads: constants of the kernels.
//
//   a warp      rows of up to 32 x 32 values; four rows a block
//   a block     up to 32 Ki values: each thread keeps at most 32 in registers, memory is read once
//   a cluster   2, 4 or 8 blocks, up to 256 Ki values, the same
//   reread      longer rows: a cluster of 8 reads the row again for each pass, mostly from L2
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <compare>
#include <cstdint>

namespace ptxdsl::kernels {

/// How far ahead blocks prefetch their input into L2, in bytes: somewhat less than what the loads of a full H200 have
/// under way, 132 x 2048 threads x 32 bytes. docs/kernels/rows.md says why.
inline constexpr u32 l2_prefetch_distance = 6u << 20;
/// Norms of up to so many bytes of input prefetch less far ahead, and leave their results in L2.
inline constexpr std::uint64_t small_input = 64u << 20;
inline constexpr u32 small_prefetch_distance = 4u << 20;
/// `prefetch_distance` in rows, or blocks, of `bytes` each.
[[nodiscard]] constexpr u32 prefetch_distance_in(std::uint64_t bytes,
                                                 u32 prefetch_distance = l2_prefetch_distance) noexcept {
    return bytes == 0 || bytes >= prefetch_distance ? 1 : static_cast<u32>(prefetch_distance / bytes);
}

/// How a row is spread over threads: constants of the kernel.
struct row_plan {
    u32 width = 1;           ///< values of one access; its bytes are 2 to 16
    u32 threads = 32;        ///< of a block that work on one row, a multiple of 32
    u32 rows_per_block = 1;  ///< rows a block works on at once; more than one only with 32 threads a row
    u32 accesses = 1;        ///< of each thread to its row, all but the last inside it for every thread
    bool exact = false;      ///< the last one too
    u32 cluster = 1;         ///< blocks that share a row
    bool held = false;    ///< 16-bit values wait in registers as they came, two in each, and are widened for each pass
    bool reread = false;  ///< the row does not fit: `accesses` are those in flight, and each pass loads it again
    u32 resident = 0;     ///< blocks a multiprocessor should hold, 0: as ptxas decides
    bool evict_first = true;  ///< results leave L2 before other data does

    constexpr auto operator<=>(const row_plan&) const = default;
    [[nodiscard]] constexpr u32 block() const noexcept { return threads * rows_per_block; }
    [[nodiscard]] constexpr u32 stride() const noexcept { return threads * cluster; }
    [[nodiscard]] constexpr attributes launch() const noexcept {
        return {.reqntid = {block()}, .minnctapersm = resident, .cluster = {cluster > 1 ? cluster : 0}};
    }
};

inline constexpr u32 row_values = 32;    ///< values a thread keeps in registers
inline constexpr u32 held_values = 64;   ///< and of 16 bits, if the plan is `held`
inline constexpr u32 row_accesses = 16;  ///< and the most accesses they come in

/// The plan of `threads` and `cluster` for rows of `units` accesses.
[[nodiscard]] constexpr row_plan make_row_plan(u32 units, u32 width, u32 threads, u32 cluster = 1) noexcept {
    row_plan p{.width = width, .threads = threads, .cluster = cluster};
    p.accesses = (units + p.stride() - 1) / p.stride();
    p.exact = units % p.stride() == 0;
    return p;
}

/// Chooses the plan for rows of `units` accesses of `width` values. `first`: accesses a thread takes before more
/// threads do. `may_hold`: rows of 16-bit values that need more than a block may be `held`. docs/kernels/rows.md has
/// the measurements.
[[nodiscard]] constexpr row_plan plan_rows(u32 units, u32 width, u32 first = 2, u32 limit = 1024,
                                           bool may_hold = false) noexcept {
    const u32 most = row_values / width < row_accesses ? row_values / width : row_accesses;
    const auto up = [](u32 a, u32 b) { return a / b + (a % b != 0 ? 1u : 0u); };
    if (units <= 32 * (most < 8 ? most : 8)) {
        row_plan p = make_row_plan(units, width, 32);
        p.rows_per_block = 4;
        return p;
    }
    const auto in_block = [&](u32 threads_limit) {
        for (u32 a = first < most ? first : most; a <= most; a *= 2) {
            const u32 threads = up(up(units, a), 32) * 32;
            if (threads <= threads_limit) return make_row_plan(units, width, threads);
        }
        return row_plan{.accesses = 0};
    };
    row_plan p = in_block(limit);
    if (p.accesses == 0 && limit < 512) p = in_block(512);
    if (p.accesses == 0) p = in_block(1024);
    // More than a block. Of held rows as few blocks as hold them, of 1024 threads; else clusters of 512 threads, two
    // blocks of which share a multiprocessor if they keep to 64 registers.
    for (u32 cluster = 1; may_hold && width == 8 && cluster <= 8 && p.accesses == 0; cluster *= 2) {
        const u32 a = up(units, 1024 * cluster);
        if (a > held_values / width) continue;
        p = make_row_plan(units, width, up(up(units, a * cluster), 32) * 32, cluster);
        p.held = true;
    }
    for (u32 cluster = 2; cluster <= 8 && p.accesses == 0; cluster *= 2) {
        for (u32 a = first < most ? first : most; a <= most && p.accesses == 0; a *= 2) {
            const u32 threads = up(up(units, a * cluster), 32) * 32;
            if (threads <= 512) p = make_row_plan(units, width, threads, cluster), p.resident = 2;
        }
    }
    if (p.accesses == 0 && up(units, 8 * most) <= 1024)
        p = make_row_plan(units, width, up(up(units, 8 * most), 32) * 32, 8);
    // Left alone, ptxas takes 40 registers and more, and a third block does not fit.
    if (limit > 512 && p.threads > 256 && p.threads <= 512 && p.accesses * width == row_values / 2) p.resident = 3;
    if (p.accesses != 0) return p;
    return {.width = width,
            .threads = limit < 512 ? 512 : limit,
            .accesses = row_values / 2 / width < 4 ? row_values / 2 / width : 4,
            .cluster = 8,
            .reread = true};
}

/// The `limit` for layer norms of `width` values an access: their weights and biases want registers too.
[[nodiscard]] constexpr u32 layer_norm_threads(u32 width) noexcept { return width == 8 ? 256 : 512; }

/// What a norm does beyond x / sqrt(mean(x^2) + eps).
struct norm_form {
    bool centred = false;   ///< layer norm: the mean is subtracted first
    bool residual = false;  ///< x + residual is stored, and normalised as stored
    bool weight = true, bias = false;
    constexpr auto operator<=>(const norm_form&) const = default;
};

/// How elements are spread over threads: constants of the kernel.
struct element_plan {
    u32 width = 1;     ///< values of one access
    u32 accesses = 2;  ///< of a thread, `threads` apart
    u32 threads = 256;
    bool flat = false;  ///< all matrices are without gaps: they are one row
    constexpr auto operator<=>(const element_plan&) const = default;
    [[nodiscard]] constexpr attributes launch() const noexcept { return {.reqntid = {threads}}; }
};

/// Columns (and rows, where a square shares a scale) of a block of quantised values.
inline constexpr u32 scale_block = 128;

/// The plan of `swiglu` for `units` accesses. On an H200 one access of each input a thread beats more, and large blocks
/// beat smaller ones where there are very many.
[[nodiscard]] constexpr element_plan plan_swiglu(u32 width, u32 units) noexcept {
    return {.width = width, .accesses = 1, .threads = units >= 1u << 23 ? 1024u : 256u};
}

/// The plan of `quantize_blocks`. On an H200 the loads of two blocks under way beat those of one, three and four.
[[nodiscard]] constexpr element_plan plan_blocks(u32 width) noexcept {
    return {.width = width, .accesses = 2, .threads = 512};
}

/// Which elements of a head are rotated together.
enum class rope_pairs : u8 {
    halves,       ///< i and i + rotated / 2 (Llama, NeoX)
    interleaved,  ///< 2 i and 2 i + 1 (GPT-J)
};

/// Extents and strides of a rotary embedding, in elements.
struct rope_plan {
    u32 width = 1;  ///< pairs of one access
    rope_pairs pairs = rope_pairs::halves;
    bool partial = false;  ///< some elements of a head are not rotated, only copied
    bool apart = false;    ///< interleaved pairs that are not aligned to their size: one access an element
    u32 threads = 128;
    u32 heads = 1;  ///< of a token that a thread rotates by the angles it has loaded; divides their number
    constexpr auto operator<=>(const rope_plan&) const = default;
    [[nodiscard]] constexpr attributes launch() const noexcept { return {.reqntid = {threads}}; }
};

}  // namespace ptxdsl::kernels
