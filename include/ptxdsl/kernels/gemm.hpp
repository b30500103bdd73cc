// SPDX-License-Identifier: Apache-2.0
// The matrix product as a call: `px::kernels::gemm(stream, A, B, C)`. Kernels are assembled and loaded on first use,
// once for each context; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/gemm/compiled.hpp>
#include <ptxdsl/kernels/gemm/problem.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/gemm/kernels.hpp>
#endif

#include <cstddef>
#include <type_traits>

namespace ptxdsl::kernels {

PTXDSL_KERNELS_BEGIN

/// C = act(alpha * A B^T + bias) + beta * C: A is m x k, B is n x k, C is m x n, or batches of them; f32 sums.
///
/// Strides say how an operand lies: with contiguous rows (weights as torch keeps them) or, with `gemm_form::any_layout`
/// and through `with_strides`, with contiguous columns, so that all four layouts of BLAS are here. Any extents; rows of
/// multiples of 16 bytes are fast. Errors: `bad_argument` when shapes or options do not fit together, then those of
/// loading and launching.
template <gemm_form F = gemm_form{}, class A, class B, class Out, std::size_t Rank>
result<void> gemm(const stream& s, const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                  const tensor_view<Out, Rank>& c,
                  const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    using In = std::remove_const_t<A>;
    using InB = std::remove_const_t<B>;
    detail::check_gemm_types<std::remove_const_t<A>, std::remove_const_t<B>, Out, false, F>();
    const detail::gemm_problem p = detail::problem_of<F, false>(a, b, c, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    detail::require_compiled<In, InB, Out, false, F>();
    return detail::run_compiled(s, p);
#else
    return detail::launch_gemm(s, p, detail::gemm_table<In, InB, Out, F.gated, F.any_layout>::kernels);
#endif
}

/// `gemm` with a configuration of the caller's, for shapes whose best one was measured. Majors and how the result is
/// stored follow from the call. The kernels come from the headers: not with the compiled library. Errors besides
/// `gemm`'s: `bad_argument` where `C` cannot be built that way.
template <gemm_config C, gemm_form F = gemm_form{}, class A, class B, class Out, std::size_t Rank>
result<void> gemm_with(const stream& s, const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                       const tensor_view<Out, Rank>& c,
                       const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    static_assert(C.valid() && !C.block_scaled, "PTXDSL-J09: this gemm_config cannot be built; see gemm_config::valid");
    detail::check_gemm_types<std::remove_const_t<A>, std::remove_const_t<B>, Out, false, F>();
    const detail::gemm_problem p = detail::problem_of<F, false>(a, b, c, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    detail::refuse_own_config<A>();
    return detail::run_compiled(s, p);
#else
    using table = detail::given_table<C, std::remove_const_t<A>, std::remove_const_t<B>, Out, F>;
    return detail::launch_gemm(s, p, table::kernels, true);
#endif
}

/// C = act((A a_scale) (B b_scale)^T + bias) of fp8 operands with a scale for each 128 of K: `a_scale` is m x ceil(k /
/// 128), `b_scale` is ceil(n / 128) x ceil(k / 128), with any strides (what `quantize_blocks` and `quantize_squares`
/// give). The sums of 128 products are added in f32. With a workspace the last waves may be cut along K
/// (`choose_block_scaled`). Errors as `gemm`.
template <gemm_form F = gemm_form{}, class A, class B, class SA, class SB, class Out>
result<void> gemm_block_scaled(const stream& s, const tensor_view<A, 2>& a, const tensor_view<SA, 2>& a_scale,
                               const tensor_view<B, 2>& b, const tensor_view<SB, 2>& b_scale,
                               const tensor_view<Out, 2>& c,
                               const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    using In = std::remove_const_t<A>;
    using InB = std::remove_const_t<B>;
    detail::check_gemm_types<std::remove_const_t<A>, std::remove_const_t<B>, Out, true, F>();
    const detail::gemm_problem p = detail::problem_of<F>(a, a_scale, b, b_scale, c, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    detail::require_compiled<In, InB, Out, true, F>();
    return detail::run_compiled(s, p);
#else
    return detail::launch_gemm(s, p, detail::block_scaled_table<In, InB, Out, F.gated>::kernels);
#endif
}

/// `gemm_block_scaled` with a configuration of the caller's, from the headers as with `gemm_with`.
template <gemm_config C, gemm_form F = gemm_form{}, class A, class B, class SA, class SB, class Out>
result<void> gemm_block_scaled_with(const stream& s, const tensor_view<A, 2>& a, const tensor_view<SA, 2>& a_scale,
                                    const tensor_view<B, 2>& b, const tensor_view<SB, 2>& b_scale,
                                    const tensor_view<Out, 2>& c,
                                    const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    static_assert(C.valid() && C.block_scaled,
                  "PTXDSL-J09: this gemm_config cannot be built, or is not block_scaled; see gemm_config::valid");
    detail::check_gemm_types<std::remove_const_t<A>, std::remove_const_t<B>, Out, true, F>();
    const detail::gemm_problem p = detail::problem_of<F>(a, a_scale, b, b_scale, c, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    detail::refuse_own_config<A>();
    return detail::run_compiled(s, p);
#else
    using table = detail::given_table<C, std::remove_const_t<A>, std::remove_const_t<B>, Out, F>;
    return detail::launch_gemm(s, p, table::kernels, true);
#endif
}

// clang-format off
PTXDSL_KERNELS_REFUSE(gemm, "gemm takes: stream, A, B, C, options", detail::gemm_views, gemm_options<detail::any_element>, gemm_form F = gemm_form{}, )
PTXDSL_KERNELS_REFUSE(gemm_with, "gemm_with takes: stream, A, B, C, options", detail::gemm_views, gemm_options<detail::any_element>, gemm_config G, gemm_form F = gemm_form{}, )
PTXDSL_KERNELS_REFUSE(gemm_block_scaled, "gemm_block_scaled takes: stream, A, its scales, B, its scales, C, options", detail::block_scaled_views, gemm_options<detail::any_element>, gemm_form F = gemm_form{}, )
PTXDSL_KERNELS_REFUSE(gemm_block_scaled_with, "gemm_block_scaled_with takes: stream, A, its scales, B, its scales, C, options", detail::block_scaled_views, gemm_options<detail::any_element>, gemm_config G, gemm_form F = gemm_form{}, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
