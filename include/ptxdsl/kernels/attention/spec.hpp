// SPDX-License-Identifier: Apache-2.0
// What the parts of an attention kernel share: everything that is fixed when it is written, and its parameters.
#pragma once

#include <ptxdsl/kernels/attention/config.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace ptxdsl::kernels::detail {

using k_t = builder<sm_90a>;
using reg32 = reg<u32>;
using regf32 = reg<f32>;

/// The swizzle of rows of `n` 16-bit elements: the widest whose span divides them.
[[nodiscard]] constexpr swizzle_mode head_swizzle(u32 n) noexcept { return n % 64 == 0 ? swizzle_128b : swizzle_64b; }

/// Everything that is fixed when the kernel is written. `T` is bf16 or f16.
template <attention_config C, class T>
struct attention_spec {
    static_assert(C.valid(), "PTXDSL-J09: this attention_config cannot be built; see attention_config::valid");
    static constexpr attention_config config = C;
    using element = T;
    using packed = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
    using q = tile<T, C.bm, C.d, k_major, head_swizzle(C.d)>;
    using k = tile<T, C.bn, C.d, k_major, head_swizzle(C.d)>;
    /// The second product is P V with the keys as K: V lies with contiguous head elements, its N.
    using v = tile<T, C.dv, C.bn, mn_major, head_swizzle(C.dv)>;
    using map_q = tma_map<q, 4>;
    using map_k = tma_map<k, 4>;
    using map_v = tma_map<v, 4>;
};

/// The kernel's parameters that are numbers.
struct attention_arguments {
    attention_form form;
    reg<s32> q_len, k_len;  ///< rows of a sequence; with lengths in memory an upper bound
    reg<u32> heads, group;  ///< of the queries; how many share one head of the keys
    reg<u32> pairs;         ///< heads of all sequences
    reg<u32> row_tiles;     ///< tiles of queries of the longest sequence
    reg<f32> factor;        ///< what logits are multiplied by to be powers of 2
    reg<f32> cap;           ///< with `softcap` what the products are multiplied by before: 2 log2(e) scale / softcap
    reg<s32> left, right;   ///< keys a query sees in front of its place and behind it
    reg<u64> o_row, o_head, o_batch, lse_head, lse_batch;  ///< strides, elements
};

/// Those that are none.
template <class S>
struct attention_pointers {
    typename S::map_q q;
    typename S::map_k k;
    typename S::map_v v;
    global_ptr<typename S::element, 16> out;
    global_ptr<f32> lse;
    global_ptr<const s32> q_starts, k_starts, k_used;  ///< where sequences start; how many keys of one count
};

}  // namespace ptxdsl::kernels::detail
