// SPDX-License-Identifier: Apache-2.0
// A call of a matrix product without its types: what the typed front writes, and the library reads.
#pragma once

#include <ptxdsl/kernels/call_check.hpp>
#include <ptxdsl/kernels/gemm/options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels::detail {

/// An operand as tensor maps see it: which extent is contiguous, and the strides of the others.
struct operand_view {
    std::uint64_t address = 0, rows = 0, k = 0, batch = 1;
    std::uint64_t row_stride = 0, k_stride = 0, batch_stride = 0;
    std::uint64_t element = 2;  ///< bytes
    [[nodiscard]] bool k_contiguous() const noexcept { return k_stride == 1; }
    [[nodiscard]] bool fits_tma() const noexcept {
        const std::uint64_t line = k_contiguous() ? row_stride : k_stride;
        const bool contiguous = k_stride == 1 || row_stride == 1;
        return contiguous && address % 16 == 0 && line * element % 16 == 0 &&
               (batch == 1 || batch_stride * element % 16 == 0);
    }
};

template <class T, std::size_t Rank>
[[nodiscard]] operand_view view_of(const tensor_view<T, Rank>& t) noexcept {
    static_assert(Rank == 2 || Rank == 3,
                  "PTXDSL-J09: a matrix is a view of rank 2, a batch of matrices one of rank 3");
    operand_view v;
    v.address = t.data().address, v.element = sizeof(T);
    v.rows = t.size(Rank - 2), v.k = t.size(Rank - 1);
    v.row_stride = t.stride(Rank - 2), v.k_stride = t.stride(Rank - 1);
    if (v.k == 1) v.k_stride = 1;  // a stride that is never used
    if constexpr (Rank == 3) v.batch = t.size(0), v.batch_stride = t.stride(0);
    return v;
}

/// The element types of a product, and whether it has block scales: what distinguishes sets of kernels.
struct gemm_types {
    isa::scalar a = isa::scalar::none, b = isa::scalar::none, out = isa::scalar::none;
    bool block_scaled = false;
    constexpr bool operator==(const gemm_types&) const = default;
    [[nodiscard]] constexpr bool halves() const noexcept { return a == isa::scalar::bf16 || a == isa::scalar::f16; }
    [[nodiscard]] constexpr bool fp8() const noexcept { return a == isa::scalar::e4m3 || a == isa::scalar::e5m2; }
    [[nodiscard]] constexpr std::uint64_t in_bytes() const noexcept { return halves() ? 2 : 1; }
    [[nodiscard]] constexpr std::uint64_t out_bytes() const noexcept {
        return out == isa::scalar::f32 || out == isa::scalar::s32 ? 4 : 2;
    }
};

/// A call. Addresses of what it does not use are 0.
struct gemm_problem {
    gemm_types types;
    gemm_form form;
    operand_view a, b, c;
    operand_view a_scales, b_scales;  ///< block scales: `k` counts blocks; else the address of one value, or none
    float alpha = 1.0f, beta = 0.0f;
    std::uint64_t bias = 0;
    std::uint64_t partials = 0, flags = 0;  ///< the workspace
    std::optional<gemm_choice> choice{};
    bool programmatic = true;
};

/// What is wrong with the element types and the form of a product.
enum class product_fault : std::uint8_t {
    none,
    scaled_types,
    two_types,
    types,
    half_result,
    fp8_result,
    s8,
    scaled_form
};

[[nodiscard]] constexpr product_fault fault_of(const gemm_types& t, const gemm_form& f) noexcept {
    const bool narrow = t.out == isa::scalar::bf16 || t.out == isa::scalar::f16;
    const bool both_fp8 = t.fp8() && (t.b == isa::scalar::e4m3 || t.b == isa::scalar::e5m2);
    if (t.block_scaled && !both_fp8) return product_fault::scaled_types;
    if (!t.halves() && !t.fp8() && t.a != isa::scalar::s8) return product_fault::types;
    if (t.a != t.b && !both_fp8) return product_fault::two_types;
    if (t.halves() && t.out != t.a && t.out != isa::scalar::f32) return product_fault::half_result;
    if (t.fp8() && !narrow && t.out != isa::scalar::f32) return product_fault::fp8_result;
    const gemm_form plain{.any_layout = f.any_layout, .constant_b = f.constant_b};
    if (t.a == isa::scalar::s8 && (t.out != isa::scalar::s32 || f != plain)) return product_fault::s8;
    if (t.block_scaled && (f.scaled || f.any_layout)) return product_fault::scaled_form;
    return product_fault::none;
}
template <class A, class B, class Out, bool BlockScaled, gemm_form F>
constexpr void check_gemm_types() {
    constexpr product_fault fault =
        fault_of({scalar_of<A>, scalar_of<B>, scalar_of<std::remove_const_t<Out>>, BlockScaled}, F);
    using enum product_fault;
    static_assert(!std::is_const_v<Out>,
                  "PTXDSL-B02: the result of gemm is a view of const elements; pass a mutable one");
    static_assert(fault != scaled_types,
                  "PTXDSL-J09: gemm_block_scaled multiplies e4m3 or e5m2; other types have gemm");
    static_assert(fault != types,
                  "PTXDSL-J09: gemm multiplies bf16, f16, e4m3, e5m2 or s8; convert A and B to one of them");
    static_assert(fault != two_types,
                  "PTXDSL-J09: A and B of a gemm have one element type, or are e4m3 and e5m2; convert one of them");
    static_assert(fault != half_result, "PTXDSL-J09: the result of a gemm of bf16 or f16 is of that type or f32");
    static_assert(fault != fp8_result, "PTXDSL-J09: the result of a gemm of fp8 is bf16, f16 or f32");
    static_assert(fault != s8,
                  "PTXDSL-J09: s8 operands of a gemm give s32, without alpha, beta, bias, activation or gates");
    static_assert(fault != scaled_form, "PTXDSL-J09: gemm_block_scaled has no alpha, beta or other layouts; gemm has");
}

/// The call that these views and options say.
template <gemm_form F, bool BlockScaled, class A, class B, class Out, std::size_t Rank, class Bias>
[[nodiscard]] gemm_problem problem_of(const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                                      const tensor_view<Out, Rank>& c, const gemm_options<Bias>& o) {
    gemm_problem p;
    p.types = {scalar_of<A>, scalar_of<B>, scalar_of<Out>, BlockScaled};
    p.form = F;
    p.a = view_of(a), p.b = view_of(b), p.c = view_of(c);
    p.a_scales.address = o.a_scale.address, p.b_scales.address = o.b_scale.address;
    p.alpha = o.alpha, p.beta = o.beta;
    p.bias = o.bias.address;
    if (gemm_workspace* const w = o.workspace.pointer) p.partials = w->partials(), p.flags = w->flags();
    p.choice = o.choice;
    p.programmatic = o.programmatic;
    return p;
}

/// The call with block scales.
template <gemm_form F, class A, class B, class SA, class SB, class Out, class Bias>
[[nodiscard]] gemm_problem problem_of(const tensor_view<A, 2>& a, const tensor_view<SA, 2>& a_scale,
                                      const tensor_view<B, 2>& b, const tensor_view<SB, 2>& b_scale,
                                      const tensor_view<Out, 2>& c, const gemm_options<Bias>& o) {
    static_assert(std::is_same_v<std::remove_const_t<SA>, f32> && std::is_same_v<std::remove_const_t<SB>, f32>,
                  "PTXDSL-J09: the block scales of a gemm are f32");
    gemm_problem p = problem_of<F, true>(a, b, c, o);
    // Of strides, one that is 1 only because there is one element is as good as another.
    p.a_scales = view_of(a_scale), p.b_scales = view_of(b_scale);
    p.a_scales.k_stride = a_scale.stride(1), p.b_scales.k_stride = b_scale.stride(1);
    return p;
}

// ---- calls that are none -------------------------------------------------------------------------------------------

/// The element type of a view; bf16 of anything else.
template <class T>
struct element_of_view {
    using type = bf16;
};
template <class T, std::size_t Rank>
struct element_of_view<tensor_view<T, Rank>> {
    using type = std::remove_const_t<T>;
};
/// Options of a call with these operands; those of no type stand for any.
template <class A, class Out>
using options_for = gemm_options<bias_of<typename element_of_view<A>::type, typename element_of_view<Out>::type>>;
template <class Bias>
inline constexpr bool passes_for<gemm_options<Bias>, gemm_options<any_element>> = true;

template <>
inline constexpr bool is_any_option<gemm_options<any_element>> = true;

template <class... A>
struct gemm_views : call_arguments<ranks<0, 0, 0>, std::tuple<gemm_options<bf16>>, A...> {};
template <class S, class A, class B, class Out, class... Options>
struct gemm_views<S, A, B, Out, Options...>
    : call_arguments<ranks<0, 0, 0>, std::tuple<options_for<A, Out>>, S, A, B, Out, Options...> {};
template <class... A>
struct block_scaled_views : call_arguments<ranks<2, 2, 2, 2, 2>, std::tuple<gemm_options<bf16>>, A...> {};
template <class S, class A, class SA, class B, class SB, class Out, class... Options>
struct block_scaled_views<S, A, SA, B, SB, Out, Options...>
    : call_arguments<ranks<2, 2, 2, 2, 2>, std::tuple<options_for<A, Out>>, S, A, SA, B, SB, Out, Options...> {};

}  // namespace ptxdsl::kernels::detail
