// SPDX-License-Identifier: Apache-2.0
// Attention of few queries over keys in pages: what is fixed when the kernel is written, its parameters, and which part
// of the work is a block's.
#pragma once

#include <ptxdsl/kernels/attention/spec.hpp>

#include <type_traits>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// One kernel's shape. The queries of all heads that share one of the keys are the rows of a tile: 64.
struct decode_config {
    u32 d = 128;     ///< elements of a query and of a key
    u32 dv = 128;    ///< elements of a value and of a result
    u32 box = 64;    ///< keys of a copy: pages have a multiple of it
    u32 bn = 64;     ///< keys of a step
    u32 stages = 3;  ///< steps of keys, and of values, that shared memory holds

    constexpr bool operator==(const decode_config&) const = default;

    static constexpr u32 bm = 64;
    static constexpr u32 threads = 160;  ///< a consumer warpgroup and the producer's warp
    [[nodiscard]] constexpr u32 shared_bytes() const noexcept {
        return 2 * (bm * d + stages * bn * (d + dv)) + 32 * stages;
    }
    /// Blocks that shared memory lets a multiprocessor have at once.
    [[nodiscard]] constexpr u32 blocks() const noexcept { return 2 * (shared_bytes() + 2048) <= 228 * 1024 ? 2 : 1; }
    [[nodiscard]] constexpr bool valid() const noexcept {
        return d % 64 == 0 && dv % 64 == 0 && d >= 64 && dv >= 64 && d <= 256 && dv <= 256 && bn % box == 0 &&
               box % 16 == 0 && bn <= 128 && stages >= 2 && shared_bytes() <= 227 * 1024;
    }
};

namespace detail {

/// Everything that is fixed when the kernel is written. `T` is bf16 or f16.
template <decode_config C, class T>
struct decode_spec {
    static_assert(C.valid(), "PTXDSL-J09: this decode_config cannot be built; see decode_config::valid");
    static constexpr decode_config config = C;
    using element = T;
    using packed = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
    using q = tile<T, C.bm, C.d, k_major, swizzle_128b>;
    using k = tile<T, C.bn, C.d, k_major, swizzle_128b>;
    using v = tile<T, C.dv, C.bn, mn_major, swizzle_128b>;
    using panel = tile<T, C.bn, 64, k_major, swizzle_128b>;  ///< of either, as rows
    using part = tile<T, C.box, 64, k_major, swizzle_128b>;  ///< what a copy fills of it
    using map = tma_map<part, 4>;                            ///< element, token of the page, head, page
};

/// The kernel's parameters that are numbers.
struct decode_arguments {
    attention_form form;
    reg<u32> q_len, heads, group, kv_heads;  ///< queries of a sequence; heads; how many share one; of the keys
    reg<u32> row_tiles;                      ///< tiles of the rows of one head of the keys
    reg<u32> rows;                           ///< queries of all heads and sequences
    reg<u32> page, most_pages;               ///< keys of a page; pages of a sequence's row in the table
    reg<u32> split_steps, splits;            ///< steps of a block; blocks of the longest sequence
    reg<f32> factor, cap;                    ///< as `attention_arguments`
    reg<s32> left, right;
    reg<u64> q_row, q_head, q_batch, o_row, o_head, o_batch;  ///< strides, elements
};

template <class S>
struct decode_pointers {
    typename S::map k, v;
    global_ptr<const typename S::element, 16> q;
    global_ptr<typename S::element, 16> out;
    global_ptr<f32> lse;
    global_ptr<const s32> pages, used;
    global_ptr<f32> partial_sums, partial_logs;  ///< of a split: results and their logarithms, row by row
};

/// How many keys a sequence has, and how many blocks share them. The cut depends on nothing else, so neither do the
/// bits of its results.
struct decode_sequence {
    reg<s32> k_len;
    reg<u32> steps, splits;

    constexpr decode_sequence(k_t& k, const global_ptr<const s32>& used, const reg32& sequence, const reg32& most,
                              const reg32& split_steps, u32 bn)
        : k_len(k.min(k.max(k.ld(used + sequence), 0), most.template as<s32>()).named("k_len")),
          steps(k.div(k.add(k_len.template as<u32>(), bn - 1), bn).named("steps")),
          splits(k.div(k.sub(k.add(steps, split_steps), 1u), split_steps).named("splits")) {}
};

/// The block's part: rows of one head of the keys of one sequence, and the steps [begin, end) of its keys.
template <class S>
struct decode_work {
    static constexpr decode_config C = S::config;
    reg<u32> batch, split, kv_head, first_row;
    decode_sequence sequence;
    reg<u32> begin, end;

    constexpr decode_work(k_t& k, const decode_pointers<S>& g, const decode_arguments& p)
        : decode_work(k, g, p, k.mov(ctaid.x), k.mul_lo(p.kv_heads, p.row_tiles), 0) {}

private:
    // Blocks next to each other read the heads of the same keys, which mostly lie next to each other.
    constexpr decode_work(k_t& k, const decode_pointers<S>& g, const decode_arguments& p, const reg32& block,
                          const reg32& of_part, int)
        : decode_work(k, g, p, block, of_part, k.div(block, of_part)) {}
    constexpr decode_work(k_t& k, const decode_pointers<S>& g, const decode_arguments& p, const reg32& block,
                          const reg32& of_part, const reg32& part)
        : decode_work(k, g, p, part, k.sub(block, k.mul_lo(part, of_part))) {}
    constexpr decode_work(k_t& k, const decode_pointers<S>& g, const decode_arguments& p, const reg32& part,
                          const reg32& rest)
        : batch(k.div(part, p.splits).named("batch")),
          split(k.sub(part, k.mul_lo(batch, p.splits)).named("split")),
          kv_head(k.div(rest, p.row_tiles).named("kv_head")),
          first_row(k.mul_lo(k.sub(rest, k.mul_lo(kv_head, p.row_tiles)), C.bm).named("first_row")),
          sequence(k, g.used, batch, k.mul_lo(p.page, p.most_pages), p.split_steps, C.bn),
          begin(k.min(k.mul_lo(split, p.split_steps), sequence.steps).named("begin")),
          end(k.min(k.add(begin, p.split_steps), sequence.steps).named("end")) {
        if (!p.form.left) return;
        // What the first query does not see any more, nobody does.
        const auto first = k.max(k.sub(k.sub(sequence.k_len, p.q_len.template as<s32>()), p.left), 0);
        begin = k.max(begin, k.min(k.div(first.template as<u32>(), C.bn), end));
    }
};

}  // namespace detail

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
