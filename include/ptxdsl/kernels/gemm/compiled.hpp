// SPDX-License-Identifier: Apache-2.0
// Which matrix products the compiled library contains. Bias, activation, alpha, beta and `constant_b` are chosen when a
// kernel is written, so every form has them.
#pragma once

#include <ptxdsl/kernels/compiled.hpp>
#include <ptxdsl/kernels/gemm/problem.hpp>

#include <type_traits>

namespace ptxdsl::kernels::detail {

/// Element types with kernels in the library, and the forms of them that need kernels of their own.
struct gemm_set {
    gemm_types types;
    bool gated = false, any_layout = false;  ///< one or the other, not both in one call

    [[nodiscard]] constexpr bool has(const gemm_types& t, const gemm_form& f) const noexcept {
        const bool by_layout = f.any_layout && t.in_bytes() != 1;  // bytes by column are the plain kernel's
        return types == t && (!f.gated || gated) && (!by_layout || any_layout) && !(f.gated && by_layout);
    }
};

/// One part of the library a set: src/kernels/gemm_*.cpp.
inline constexpr gemm_set compiled_gemms[] = {
    {{isa::scalar::bf16, isa::scalar::bf16, isa::scalar::bf16}, true, true},
    {{isa::scalar::f16, isa::scalar::f16, isa::scalar::f16}, true, true},
    {{isa::scalar::bf16, isa::scalar::bf16, isa::scalar::f32}, true, true},
    {{isa::scalar::f16, isa::scalar::f16, isa::scalar::f32}, true, true},
    {{isa::scalar::e4m3, isa::scalar::e4m3, isa::scalar::bf16}, true},
    {{isa::scalar::e4m3, isa::scalar::e4m3, isa::scalar::f32}, true},
    {{isa::scalar::e5m2, isa::scalar::e4m3, isa::scalar::bf16}},
    {{isa::scalar::e4m3, isa::scalar::e5m2, isa::scalar::bf16}},
    {{isa::scalar::e5m2, isa::scalar::e5m2, isa::scalar::bf16}},
    {{isa::scalar::e5m2, isa::scalar::e4m3, isa::scalar::f32}},
    {{isa::scalar::e4m3, isa::scalar::e5m2, isa::scalar::f32}},
    {{isa::scalar::e5m2, isa::scalar::e5m2, isa::scalar::f32}},
    {{isa::scalar::s8, isa::scalar::s8, isa::scalar::s32}},
    {{isa::scalar::e4m3, isa::scalar::e4m3, isa::scalar::bf16, true}, true},
    {{isa::scalar::e4m3, isa::scalar::e4m3, isa::scalar::f32, true}, true},
    {{isa::scalar::e5m2, isa::scalar::e4m3, isa::scalar::bf16, true}},
    {{isa::scalar::e4m3, isa::scalar::e5m2, isa::scalar::bf16, true}},
};

[[nodiscard]] constexpr bool is_compiled(const gemm_types& t, const gemm_form& f) noexcept {
    for (const gemm_set& set : compiled_gemms)
        if (set.has(t, f)) return true;
    return false;
}

/// Refuses what the library has no kernels for, where the call stands; what nobody has kernels for is refused
/// elsewhere.
template <class A, class B, class Out, bool BlockScaled, gemm_form F>
constexpr void require_compiled() {
    constexpr gemm_types types{scalar_of<A>, scalar_of<B>, scalar_of<std::remove_const_t<Out>>, BlockScaled};
    static_assert(fault_of(types, F) != product_fault::none || std::is_const_v<Out> || is_compiled(types, F),
                  "PTXDSL-J09: the compiled library has no kernels of these element types and this form; define "
                  "PTXDSL_KERNELS_HEADER_ONLY in front of the include, which brings them into this file");
}

/// Refuses a configuration of the caller's: the library's kernels are those of its own.
template <class T>
constexpr void refuse_own_config() {
    static_assert(sizeof(T) == 0,
                  "PTXDSL-J09: the compiled library has no kernels of a caller's gemm_config; define "
                  "PTXDSL_KERNELS_HEADER_ONLY in front of the include, which brings them into this file");
}

/// The call, with the kernels of the library. Errors: as `gemm`.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const gemm_problem& p);

}  // namespace ptxdsl::kernels::detail
