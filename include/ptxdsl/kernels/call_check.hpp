// SPDX-License-Identifier: Apache-2.0
// What is no call of the kernel library: refused with a sentence in place of "no matching function".
#pragma once

#include <ptxdsl/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels::detail {

/// The rank of a view; 0 of anything else.
template <class T>
inline constexpr std::size_t rank_of_view = 0;
template <class T, std::size_t Rank>
inline constexpr std::size_t rank_of_view<tensor_view<T, Rank>> = Rank;

/// Whether `Given` is passed for `Wanted`, which follows the views.
template <class Wanted, class Given>
inline constexpr bool passes_for = std::is_convertible_v<const Given&, Wanted>;

/// Options of a call whose operands do not say their type.
template <class T>
inline constexpr bool is_any_option = false;

/// Ranks of the views of a call. 0: 2 or 3, the same for all of them.
template <std::size_t... Rank>
struct ranks {};

/// How the arguments `A` of a call fail to be a stream, views of these ranks, and perhaps some of `More`: the position
/// of the first that fails, from 1; 0: none.
template <class Ranks, class More, class... A>
struct call_arguments;

template <std::size_t... Rank, class... More, class... A>
struct call_arguments<ranks<Rank...>, std::tuple<More...>, A...> {
    static constexpr std::size_t views = sizeof...(Rank), given = sizeof...(A);
    /// Options that stand where a view should: a view is missing.
    static constexpr bool options_early = [] {
        if constexpr (given < 2 || given > views + 1) {
            return false;
        } else {
            using last = std::tuple_element_t<given - 1, std::tuple<A...>>;
            return (std::is_same_v<last, More> || ...) || is_any_option<last>;
        }
    }();
    static constexpr bool as_many = views < given && given <= views + 1 + sizeof...(More) && !options_early;
    static constexpr bool on_stream = [] {
        if constexpr (given == 0)
            return false;
        else
            return std::is_convertible_v<const std::tuple_element_t<0, std::tuple<A...>>&, const stream&>;
    }();
    static constexpr std::size_t no_view = [] {
        constexpr std::size_t rank[] = {rank_of_view<A>..., 0};
        for (std::size_t i = 1; i <= views && i < given; ++i)
            if (rank[i] == 0) return i + 1;
        return std::size_t{0};
    }();
    static constexpr std::size_t other_rank = [] {
        constexpr std::size_t rank[] = {rank_of_view<A>..., 0}, wanted[] = {0, Rank...};
        for (std::size_t i = 1; i <= views && i < given; ++i)
            if (wanted[i] == 0 ? (rank[i] != 2 && rank[i] != 3) || rank[i] != rank[1] : rank[i] != wanted[i])
                return i + 1;
        return std::size_t{0};
    }();
    static constexpr std::size_t no_option = [] {
        if constexpr (as_many)
            return []<std::size_t... Index>(std::index_sequence<Index...>) {
                std::size_t found = 0;
                ((passes_for<std::tuple_element_t<Index, std::tuple<More...>>,
                             std::tuple_element_t<views + 1 + Index, std::tuple<A...>>> ||
                  (found = found == 0 ? views + 2 + Index : found)),
                 ...);
                return found;
            }(std::make_index_sequence<given - views - 1>{});
        else
            return std::size_t{0};
    }();
    static constexpr bool fit = as_many && on_stream && no_view == 0 && other_rank == 0 && no_option == 0;
};

/// A result's elements are written.
template <class T>
inline constexpr bool is_result = !std::is_const_v<T>;

}  // namespace ptxdsl::kernels::detail

// Overloads of `NAME` for arguments that are none: they win where the call itself is no candidate. `PARAMETERS<A...>`
// is a `call_arguments`, `SIGNATURE` what it takes, in words; behind `OPTIONS` stand template parameters, each with a
// comma. Options in braces have no type, so there is one overload for each number of arguments in front of them. The
// assertions stand in their bodies, where the author's line comes soon after the sentence.
// clang-format off: a macro's use is a line, and so is its note
#define PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, ...)                                                          \
    {                                                                                                                    \
        using C = PARAMETERS<__VA_ARGS__>;                                                                               \
        static_assert(C::as_many, "PTXDSL-J09: another number of arguments than " SIGNATURE);                            \
        static_assert(!C::as_many || C::on_stream, "PTXDSL-J09: the first argument of a kernel's call is the stream it runs on: px::stream::create(context), px::stream::borrow(context, handle)"); \
        static_assert(!C::as_many || C::no_view == 0, "PTXDSL-J09: an argument of a kernel's call is no tensor_view: pass px::tensor_view{pointer, rows, columns} (px::check takes a px::result's value)"); \
        static_assert(!C::as_many || C::no_view != 0 || C::other_rank == 0, "PTXDSL-J09: a view of a kernel's call has another rank than its parameter: a matrix has rank 2 (px::tensor_view{p, rows, columns}), a vector of weights, biases, positions or scales of rows rank 1, a batch of matrices or of heads rank 3, attention's views rank 4 and packed ones 3; A, B and C of a gemm have the same"); \
        static_assert(!C::as_many || C::no_option == 0, "PTXDSL-J09: what follows the views of a kernel's call is of another type than its options: {.member = value, ...}, as its declaration says"); \
        return {};                                                                                                       \
    }
#define PTXDSL_KERNELS_REFUSE(NAME, SIGNATURE, PARAMETERS, OPTIONS, ...)                                                 \
    template <__VA_ARGS__ class... A> requires(!PARAMETERS<A...>::fit)                                                   \
    result<void> NAME(const A&...)                                                                                       \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, A...) \
    template <__VA_ARGS__ class P, class Q> requires(!PARAMETERS<P, Q, OPTIONS>::fit)                                \
    result<void> NAME(const P&, const Q&, const OPTIONS&)                                                                \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, P, Q, OPTIONS) \
    template <__VA_ARGS__ class P, class Q, class R> requires(!PARAMETERS<P, Q, R, OPTIONS>::fit)                                \
    result<void> NAME(const P&, const Q&, const R&, const OPTIONS&)                                                                \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, P, Q, R, OPTIONS) \
    template <__VA_ARGS__ class P, class Q, class R, class S> requires(!PARAMETERS<P, Q, R, S, OPTIONS>::fit)                                \
    result<void> NAME(const P&, const Q&, const R&, const S&, const OPTIONS&)                                                                \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, P, Q, R, S, OPTIONS) \
    template <__VA_ARGS__ class P, class Q, class R, class S, class T> requires(!PARAMETERS<P, Q, R, S, T, OPTIONS>::fit)                                \
    result<void> NAME(const P&, const Q&, const R&, const S&, const T&, const OPTIONS&)                                                                \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, P, Q, R, S, T, OPTIONS) \
    template <__VA_ARGS__ class P, class Q, class R, class S, class T, class U> requires(!PARAMETERS<P, Q, R, S, T, U, OPTIONS>::fit)                                \
    result<void> NAME(const P&, const Q&, const R&, const S&, const T&, const U&, const OPTIONS&)                                                                \
    PTXDSL_KERNELS_REFUSED_BODY(PARAMETERS, SIGNATURE, P, Q, R, S, T, U, OPTIONS)
// clang-format on
