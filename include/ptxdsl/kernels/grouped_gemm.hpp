// SPDX-License-Identifier: Apache-2.0
// Products of which each group of rows has weights of its own, as a call: `px::kernels::grouped_gemm(stream, A, B, C,
// starts)`. Kernels are assembled and loaded on first use, once for each context; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/grouped/problem.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/grouped/kernels.hpp>
#endif

#include <type_traits>

namespace ptxdsl::kernels {

PTXDSL_KERNELS_BEGIN

/// C[rows of g] = act(A[rows of g] B[g]^T) for every group g: A is m x k, B is groups x n x k, C is m x n; bf16 or f16
/// with f32 sums. Group g has the rows [starts[g], starts[g + 1]), `starts` being groups + 1 ascending numbers on the
/// device, which the kernel reads: a captured graph follows them. Groups of no rows are fine; rows of no group are
/// neither read into a result nor written.
///
/// Contiguous rows, addresses and strides of 16 bytes, n a multiple of 8. Errors: `bad_argument` when shapes do not fit
/// together, then those of loading and launching.
template <grouped_form F = grouped_form{}, class A, class B, class Out>
result<void> grouped_gemm(const stream& s, const tensor_view<A, 2>& a, const tensor_view<B, 3>& b,
                          const tensor_view<Out, 2>& c, device_ptr<const s32> starts, const grouped_options& o = {}) {
    const detail::grouped_problem p = detail::grouped_problem_of<F>(a, b, c, starts, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    return detail::run_compiled(s, p);
#else
    return detail::launch_grouped(s, p, detail::grouped_table<std::remove_const_t<A>, F.gated>);
#endif
}

/// C[g][r] = act(A[g][r] B[g]^T) for the first `counts[g]` rows r of every group g: A is groups x rows x k, B is groups
/// x n x k, C is groups x rows x n. `counts` is on the device; the rows behind are neither read into a result nor
/// written. Else as above.
template <grouped_form F = grouped_form{}, class A, class B, class Out>
result<void> grouped_gemm_masked(const stream& s, const tensor_view<A, 3>& a, const tensor_view<B, 3>& b,
                                 const tensor_view<Out, 3>& c, device_ptr<const s32> counts,
                                 const grouped_options& o = {}) {
    const detail::grouped_problem p = detail::grouped_problem_of<F>(a, b, c, counts, o);
#if PTXDSL_KERNELS_ARE_COMPILED
    return detail::run_compiled(s, p);
#else
    return detail::launch_grouped(s, p, detail::grouped_table<std::remove_const_t<A>, F.gated>);
#endif
}

// clang-format off: what stands behind these is a line, and so is its note
PTXDSL_KERNELS_REFUSE(grouped_gemm, "grouped_gemm takes: stream, A, B, C, starts, options", detail::grouped_views, grouped_options, grouped_form F = grouped_form{}, )
PTXDSL_KERNELS_REFUSE(grouped_gemm_masked, "grouped_gemm_masked takes: stream, A, B, C, counts, options", detail::masked_views, grouped_options, grouped_form F = grouped_form{}, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
