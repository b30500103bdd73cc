// SPDX-License-Identifier: Apache-2.0
// A call of a grouped product without its types: what the typed front writes, and the library reads.
#pragma once

#include <ptxdsl/kernels/compiled.hpp>
#include <ptxdsl/kernels/gemm/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

/// What is fixed when the program is compiled.
struct grouped_form {
    activation act = activation::none;
    bool gated = false;  ///< see `gemm_epilogue::gated`; B has twice as many columns as C
    constexpr bool operator==(const grouped_form&) const = default;
};

/// What a call may say.
struct grouped_options {
    /// Rows a group is expected to have, from which tiles are chosen; results do not depend on it. Default: all rows
    /// shared evenly, of masked groups all they have room for.
    std::uint64_t expected_rows = 0;
    bool programmatic = true;  ///< may be placed on the device before the kernel ahead of it has ended
};

namespace detail {

/// A call.
struct grouped_problem {
    isa::scalar type = isa::scalar::none;
    bool masked = false;
    operand_view a, b, c;    ///< of groups one behind the other A and C are one matrix
    std::uint64_t rows = 0;  ///< address; `grouped_variant::masked` says of what
    grouped_form form{};
    grouped_options options{};
};

/// The call, with the kernels of the library. Errors: as `grouped_gemm`.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const grouped_problem& p);

/// Refuses types where the call stands.
template <class A, class B, class Out>
constexpr void check_grouped_types() {
    using T = std::remove_const_t<A>;
    static_assert(!std::is_const_v<Out>,
                  "PTXDSL-B02: the result of grouped_gemm is a view of const elements; pass a mutable one");
    static_assert(std::is_same_v<T, bf16> || std::is_same_v<T, f16>, "PTXDSL-J09: grouped_gemm multiplies bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<B>> && std::is_same_v<T, std::remove_const_t<Out>>,
                  "PTXDSL-J09: A, B and C of a grouped_gemm have one element type");
}

template <grouped_form F, class A, std::size_t Rank, class B, class Out>
[[nodiscard]] grouped_problem grouped_problem_of(const tensor_view<A, Rank>& a, const tensor_view<B, 3>& b,
                                                 const tensor_view<Out, Rank>& c, device_ptr<const s32> rows,
                                                 const grouped_options& o) {
    check_grouped_types<A, B, Out>();
    grouped_problem p;
    p.type = scalar_of<std::remove_const_t<A>>;
    p.masked = Rank == 3;
    p.a = view_of(a), p.b = view_of(b), p.c = view_of(c);
    p.rows = rows.address;
    p.form = F;
    p.options = o;
    return p;
}

// ---- calls that are none -------------------------------------------------------------------------------------------

/// The views of a call, then the numbers that say which rows are whose, which no call is without.
template <class Ranks, class... A>
struct grouped_arguments : call_arguments<Ranks, std::tuple<device_ptr<const s32>, grouped_options>, A...> {
    using all = call_arguments<Ranks, std::tuple<device_ptr<const s32>, grouped_options>, A...>;
    static constexpr bool as_many = all::as_many && sizeof...(A) > all::views + 1;
    static constexpr bool fit = all::fit && as_many;
};
template <class... A>
using grouped_views = grouped_arguments<ranks<2, 3, 2>, A...>;
template <class... A>
using masked_views = grouped_arguments<ranks<3, 3, 3>, A...>;

}  // namespace detail

}  // namespace ptxdsl::kernels
