// SPDX-License-Identifier: Apache-2.0
// What the parts of a matrix product share: everything that is fixed when the kernel is written, and its parameters.
#pragma once

#include <ptxdsl/kernels/gemm/config.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace ptxdsl::kernels::detail {

using k_t = builder<sm_90a>;
using reg32 = reg<u32>;

/// Everything that is fixed when the kernel is written. `InB` differs from `In` where e4m3 meets e5m2.
template <gemm_config C, class In, class Out, bool Gated, class InB = In>
struct gemm_spec {
    static_assert(C.valid(), "PTXDSL-J09: this gemm_config cannot be built; see gemm_config::valid");
    static constexpr gemm_config config = C;
    static constexpr bool gated = Gated;
    static constexpr bool grouped = false;  ///< rows belong to groups, whose ends lie anywhere (kernels/grouped)
    static_assert(!C.block_scaled || sizeof(In) == 1, "PTXDSL-J09: block scales are for 8-bit operands");
    static_assert(sizeof(In) == sizeof(InB), "PTXDSL-J09: both operands have elements of one size");
    using out = Out;
    using sum = std::conditional_t<std::is_same_v<In, s8>, s32, f32>;
    using bias = bias_of<In, Out>;
    static constexpr u32 bk = C.bk * 2 / sizeof(In);  ///< elements of K in a stage
    using a = tile<In, C.bm, bk, C.a>;
    using b = tile<InB, C.bn, bk, C.b>;
    using a_part = tile<In, C.bm / C.cluster_n, bk, C.a>;  ///< what one block loads of A
    /// What one block loads of B. Of `even_columns` it is known at run time how many of these rows.
    using b_part = tile<InB, (C.even_columns() && C.cluster > 1 ? 1 : C.bn / C.cluster), bk, C.b>;
    static constexpr u32 out_columns = Gated ? C.bn / 2 : C.bn;
    /// Columns of a staging tile: one warp's 16 rows of 128 bytes, or of the half or quarter that divides the tile.
    static constexpr u32 chunk = C.store_chunk(Gated) * 2 / sizeof(Out);
    using c = tile<Out, 16, chunk>;
    using patch = tile<Out, 16, 16, k_major, swizzle_32b>;  ///< what a warp turns at a time where operands are swapped
    using map_a = tma_map<a_part, 3>;
    using map_b = tma_map<b_part, 3>;
    using map_c = tma_map_out<c, 3>;
    using packed = std::conditional_t<std::is_same_v<Out, f16>, f16x2, bf16x2>;
    static_assert(C.store != store_mode::tma || (sizeof(Out) == 2 && out_columns % chunk == 0),
                  "PTXDSL-J09: store_mode::tma is for 16-bit results of 16 columns at least");
    static_assert(!Gated || C.takes_gates(),
                  "PTXDSL-J09: blocks of a gated product store groups of 16 columns: bn is a multiple of 16");
    static_assert(C.store != store_mode::transposed || sizeof(Out) == 2,
                  "PTXDSL-J09: store_mode::transposed is for 16-bit results");
};

/// The kernel's parameters, as registers; and what follows its product.
struct gemm_arguments {
    gemm_epilogue epilogue;
    bool early_b = false;  ///< `gemm_variant::early_b`
    reg<u32> m, n, depth, batches;
    reg<u32> ldc;           ///< elements from one row of C to the next
    reg<u64> batch_stride;  ///< elements from one C to the next
    reg<f32> alpha, beta;
    reg<u64> a_scale_row, a_scale_k, b_scale_col, b_scale_k;  ///< block scales: elements from one to the next
};

/// The kernel's parameters that are no numbers.
template <class S>
struct gemm_pointers {
    typename S::map_a a;
    typename S::map_b b;
    typename S::map_c c_map;
    global_ptr<typename S::out> c;
    global_ptr<const typename S::bias> bias;
    global_ptr<f32, 16> partials;
    global_ptr<u32> flags;
    global_ptr<const f32> a_scale, b_scale;
};

}  // namespace ptxdsl::kernels::detail
