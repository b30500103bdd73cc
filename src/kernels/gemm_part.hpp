// SPDX-License-Identifier: Apache-2.0
// What a part of the library instantiates.
#pragma once

#include "gemm_tables.hpp"

#include <ptxdsl/kernels/gemm/kernels.hpp>

namespace ptxdsl::kernels::detail {

/// The type of an element: `scalar_of` the other way round.
template <isa::scalar S>
struct element_of;
template <>
struct element_of<isa::scalar::bf16> {
    using type = bf16;
};
template <>
struct element_of<isa::scalar::f16> {
    using type = f16;
};
template <>
struct element_of<isa::scalar::f32> {
    using type = f32;
};
template <>
struct element_of<isa::scalar::e4m3> {
    using type = e4m3;
};
template <>
struct element_of<isa::scalar::e5m2> {
    using type = e5m2;
};
template <>
struct element_of<isa::scalar::s8> {
    using type = s8;
};
template <>
struct element_of<isa::scalar::s32> {
    using type = s32;
};

template <gemm_set Set, bool Gated>
[[nodiscard]] const gemm_kernels* table_of_set() {
    using A = typename element_of<Set.types.a>::type;
    using B = typename element_of<Set.types.b>::type;
    using Out = typename element_of<Set.types.out>::type;
    if constexpr (Set.types.block_scaled)
        return &block_scaled_table<A, B, Out, Gated>::kernels;
    else  // a gated product has no other layouts in the library
        return &gemm_table < A, B, Out, Gated, Set.any_layout && !Gated > ::kernels;
}

template <std::size_t Set>
const gemm_kernels* kernels_of_set(bool gated) {
    constexpr gemm_set set = compiled_gemms[Set];
    if constexpr (set.gated)
        return gated ? table_of_set<set, true>() : table_of_set<set, false>();
    else
        return gated ? nullptr : table_of_set<set, false>();
}

}  // namespace ptxdsl::kernels::detail
