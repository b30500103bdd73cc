// SPDX-License-Identifier: Apache-2.0
// The matrix product as a call: `px::kernels::gemm(stream, A, B, C)`. Kernels are assembled and loaded on first use,
// once for each context; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/gemm/launch.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels {

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
    return detail::gemm_by<F>(s, a, b, c, o, [&]<major MA, major MB>(detail::gemm_problem& p) -> error {
        constexpr gemm_choices allowed = detail::compiled_choices(MA, MB, F.gated);
        const auto choice = o.choice
                                ? *o.choice
                                : detail::remembered_choice({p.a.rows, p.b.rows, p.a.k * sizeof(In) / 2, p.a.batch},
                                                            static_cast<std::uint64_t>(s.ctx().device().sm_count),
                                                            o.workspace != nullptr, allowed);
        if (choice < gemm_choice::count)
            if (auto e = detail::check_workspace(config_of(choice), o.workspace)) return e;
        return detail::gemm_dispatch<F, In, InB, Out, MA, MB>::run(s, choice, p.store, p.scaled, p.a, p.b, p.c, p.call,
                                                                   o.programmatic);
    });
}

/// `gemm` with a configuration of the caller's, for shapes whose best one was measured. Majors, `early_b` and how the
/// result is stored follow from the call. Errors besides `gemm`'s: `bad_argument` where `C` cannot be built that way.
template <gemm_config C, gemm_form F = gemm_form{}, class A, class B, class Out, std::size_t Rank>
result<void> gemm_with(const stream& s, const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                       const tensor_view<Out, Rank>& c,
                       const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    static_assert(C.valid() && !C.block_scaled,
                  "PTXDSL-kernels: this gemm_config cannot be built; see gemm_config::valid");
    using In = std::remove_const_t<A>;
    using InB = std::remove_const_t<B>;
    return detail::gemm_by<F>(s, a, b, c, o, [&]<major MA, major MB>(detail::gemm_problem& p) -> error {
        if (auto e = detail::check_workspace(C, o.workspace)) return e;
        return detail::given_gemm<C, F, In, InB, Out, MA, MB>(s, p, o.programmatic);
    });
}

/// `gemm_block_scaled` with a configuration of the caller's.
template <gemm_config C, gemm_form F = gemm_form{}, class A, class B, class SA, class SB, class Out>
result<void> gemm_block_scaled_with(const stream& s, const tensor_view<A, 2>& a, const tensor_view<SA, 2>& a_scale,
                                    const tensor_view<B, 2>& b, const tensor_view<SB, 2>& b_scale,
                                    const tensor_view<Out, 2>& c,
                                    const gemm_options<detail::bias_of<std::remove_const_t<A>, Out>>& o = {}) {
    static_assert(C.valid() && C.block_scaled,
                  "PTXDSL-kernels: this gemm_config cannot be built, or is not block_scaled; see gemm_config::valid");
    return detail::block_scaled_by<F>(s, a, a_scale, b, b_scale, c, o, [&](detail::gemm_problem& p) -> error {
        if (auto e = detail::check_workspace(C, o.workspace)) return e;
        return detail::given_gemm<C, F, std::remove_const_t<A>, std::remove_const_t<B>, Out, k_major, k_major>(
            s, p, o.programmatic);
    });
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
    return detail::block_scaled_by<F>(s, a, a_scale, b, b_scale, c, o, [&](detail::gemm_problem& p) -> error {
        const auto run = [&]<std::size_t Index, store_mode Store>() {
            // A gated tile of 192 columns leaves a chunk and a half.
            constexpr gemm_config listed = block_scaled_configs[Index];
            constexpr gemm_config chosen = F.gated && listed.bn == 192 ? block_scaled_configs[2] : listed;
            constexpr gemm_config config = detail::adapted(chosen, k_major, k_major, Store, F.constant_b);
            return detail::configured_gemm<config, In, InB, Out, detail::epilogue_with<config, F, In, false>>::launch(
                s, p.a, p.b, p.c, p.call, o.programmatic);
        };
        const auto choose = [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            const auto sms = static_cast<std::uint64_t>(s.ctx().device().sm_count);
            const std::size_t choice = choose_block_scaled(p.a.rows, p.b.rows, p.a.k, sms, o.workspace != nullptr);
            error e;
            (void)((choice == Index && (e = run.template operator()<Index, store_mode::tma>(), true)) || ...);
            return e;
        };
        if constexpr (sizeof(Out) == 2)
            if (p.store == store_mode::tma) return choose(std::make_index_sequence<std::size(block_scaled_configs)>{});
        // Results that are not stored by TMA have one configuration, so that fewer kernels are compiled.
        return p.store == store_mode::elements ? run.template operator()<2, store_mode::elements>()
                                               : run.template operator()<2, store_mode::pairs>();
    });
}

}  // namespace ptxdsl::kernels
