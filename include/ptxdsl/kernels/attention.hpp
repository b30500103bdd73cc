// SPDX-License-Identifier: Apache-2.0
// Attention as a call: `px::kernels::attention(stream, q, k, v, out)`. Kernels are assembled and loaded on first use,
// once for each context; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/attention/problem.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/attention/decode_kernels.hpp>
#include <ptxdsl/kernels/attention/kernels.hpp>
#endif

#include <type_traits>

namespace ptxdsl::kernels {

PTXDSL_KERNELS_BEGIN

/// out = softmax(scale * q k^T) v, for every head of every sequence: q is batch x queries x heads x head size, k and v
/// are batch x keys x key heads x head size, out is as q with the head size of v. bf16 or f16 with f32 sums.
///
/// Heads of queries share those of keys evenly. Head sizes: 64, 96, 128, 256, and 192 with values of 128. The elements
/// of a head are contiguous, all other strides multiples of 8 elements, addresses of 16 bytes. Any lengths: a query
/// that sees no key gives 0, no queries are a no-op. Errors: `bad_argument` when shapes or options do not fit together,
/// `not_supported` for other head sizes, then those of loading and launching.
template <class Q, class K, class V, class Out>
result<void> attention(const stream& s, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                       const tensor_view<V, 4>& v, const tensor_view<Out, 4>& out, const attention_options& o = {}) {
    const detail::attention_problem p = detail::attention_problem_of(q, k, v, out, o);
    return detail::run<std::remove_const_t<Q>>(s, p);
}

/// The same of packed sequences: q is queries x heads x head size, k and v are keys x key heads x head size, and what
/// belongs to which sequence is in memory. Rows of no sequence are neither read into a result nor written.
template <class Q, class K, class V, class Out>
result<void> attention(const stream& s, const tensor_view<Q, 3>& q, const tensor_view<K, 3>& k,
                       const tensor_view<V, 3>& v, const tensor_view<Out, 3>& out, const packed_sequences& sequences,
                       const attention_options& o = {}) {
    detail::attention_problem p = detail::attention_problem_of(q, k, v, out, o);
    p.packed = true;
    p.sequences = sequences;
    return detail::run<std::remove_const_t<Q>>(s, p);
}

/// The same over keys and values in pages, for few queries of a sequence (decoding, also of several tokens): q is
/// batch x queries x heads x head size, k and v are pages x keys of a page x key heads x head size. Head sizes: 64,
/// 128, 256. Every query stands at a key, the last one at the sequence's last key; a sequence without keys gives 0.
template <class Q, class K, class V, class Out>
result<void> attention(const stream& s, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                       const tensor_view<V, 4>& v, const tensor_view<Out, 4>& out, const paged_keys& keys,
                       const attention_options& o = {}) {
    return detail::run<std::remove_const_t<Q>>(s, detail::paged_problem_of(q, k, v, out, keys, o));
}

// clang-format off
PTXDSL_KERNELS_REFUSE(attention, "attention takes: stream, q, k, v, out, options with views of rank 4 (keys in pages: stream, q, k, v, out, pages, options); of packed sequences, with views of rank 3: stream, q, k, v, out, sequences, options", detail::attention_views, attention_options, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
