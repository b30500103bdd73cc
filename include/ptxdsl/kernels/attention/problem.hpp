// SPDX-License-Identifier: Apache-2.0
// A call of attention without its types: what the typed front writes, and the library reads.
#pragma once

#include <ptxdsl/kernels/attention/options.hpp>
#include <ptxdsl/kernels/call_check.hpp>
#include <ptxdsl/kernels/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels::detail {

/// Rows of heads: [batch][row][head][size], of packed sequences without the batch.
struct heads_view {
    std::uint64_t address = 0, batch = 1, rows = 0, heads = 0, size = 0;
    std::uint64_t batch_stride = 0, row_stride = 0, head_stride = 0, size_stride = 1;  ///< elements
    [[nodiscard]] std::uint64_t count() const noexcept { return batch * rows * heads * size; }
};

template <class T, std::size_t Rank>
[[nodiscard]] heads_view heads_of(const tensor_view<T, Rank>& t) noexcept {
    heads_view v;
    v.address = t.data().address;
    v.rows = t.size(Rank - 3), v.heads = t.size(Rank - 2), v.size = t.size(Rank - 1);
    v.row_stride = t.stride(Rank - 3), v.head_stride = t.stride(Rank - 2), v.size_stride = t.stride(Rank - 1);
    if constexpr (Rank == 4) v.batch = t.size(0), v.batch_stride = t.stride(0);
    return v;
}

/// A call. Addresses of what it does not use are 0.
struct attention_problem {
    isa::scalar type = isa::scalar::none;
    heads_view q, k, v, out;
    bool packed = false;
    packed_sequences sequences{};  ///< with `packed`
    attention_options options{};
};

/// A call over pages: `k` and `v` have pages as their batch.
struct paged_problem {
    isa::scalar type = isa::scalar::none;
    heads_view q, k, v, out;
    paged_keys keys{};
    attention_options options{};
};

/// The call, with the kernels of the library. Errors: as `attention`.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const attention_problem& p);
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const paged_problem& p);

/// Refuses types where the call stands.
template <class Q, class K, class V, class Out>
constexpr void check_attention_types() {
    static_assert(!std::is_const_v<Out>,
                  "PTXDSL-B02: the result of attention is a view of const elements; pass a mutable one");
    using T = std::remove_const_t<Q>;
    static_assert(std::is_same_v<T, bf16> || std::is_same_v<T, f16>, "PTXDSL-J09: attention takes bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<K>> && std::is_same_v<T, std::remove_const_t<V>> &&
                      std::is_same_v<T, std::remove_const_t<Out>>,
                  "PTXDSL-J09: queries, keys, values and results of attention have one element type");
}

template <class Q, class K, class V, class Out, std::size_t Rank>
[[nodiscard]] attention_problem attention_problem_of(const tensor_view<Q, Rank>& q, const tensor_view<K, Rank>& k,
                                                     const tensor_view<V, Rank>& v, const tensor_view<Out, Rank>& out,
                                                     const attention_options& o) {
    check_attention_types<Q, K, V, Out>();
    attention_problem p;
    p.type = scalar_of<std::remove_const_t<Q>>;
    p.q = heads_of(q), p.k = heads_of(k), p.v = heads_of(v), p.out = heads_of(out);
    p.options = o;
    return p;
}

template <class Q, class K, class V, class Out>
[[nodiscard]] paged_problem paged_problem_of(const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                                             const tensor_view<V, 4>& v, const tensor_view<Out, 4>& out,
                                             const paged_keys& keys, const attention_options& o) {
    check_attention_types<Q, K, V, Out>();
    return {.type = scalar_of<std::remove_const_t<Q>>,
            .q = heads_of(q),
            .k = heads_of(k),
            .v = heads_of(v),
            .out = heads_of(out),
            .keys = keys,
            .options = o};
}

/// What a call takes: four views of rank 4 and perhaps where the pages of the keys are, or four of rank 3 and where
/// their sequences start.
template <class... A>
struct attention_views : call_arguments<ranks<4, 4, 4, 4>, std::tuple<attention_options>, A...> {};
template <class S, class Q, class K, class V, class Out, class Keys, class... More>
    requires std::is_convertible_v<const Keys&, paged_keys>
struct attention_views<S, Q, K, V, Out, Keys, More...>
    : call_arguments<ranks<4, 4, 4, 4>, std::tuple<paged_keys, attention_options>, S, Q, K, V, Out, Keys, More...> {};
template <class S, class Q, class... More>
    requires(rank_of_view<Q> == 3)
struct attention_views<S, Q, More...>
    : call_arguments<ranks<3, 3, 3, 3>, std::tuple<packed_sequences, attention_options>, S, Q, More...> {
    using checked = call_arguments<ranks<3, 3, 3, 3>, std::tuple<packed_sequences, attention_options>, S, Q, More...>;
    static constexpr bool as_many = checked::as_many && sizeof...(More) > 3;
    static constexpr bool fit = checked::fit && as_many;
};

}  // namespace ptxdsl::kernels::detail
