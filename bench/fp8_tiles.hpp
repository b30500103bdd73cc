// SPDX-License-Identifier: Apache-2.0
// The configurations of block-scaled products, each by its index: kernels that the compiled library does not have.
#pragma once

#include <ptxdsl/kernels/gemm/options.hpp>

#include <cstddef>

namespace bench {

/// Operands, scales and result of one product.
struct fp8_operands {
    ptxdsl::tensor_view<const ptxdsl::e4m3, 2> a, b;
    ptxdsl::tensor_view<const float, 2> a_scale, b_scale;
    ptxdsl::tensor_view<ptxdsl::bf16, 2> c;
};

/// The product with `block_scaled_configs[index]`. Errors: as `gemm_block_scaled_with`.
[[nodiscard]] ptxdsl::result<void> launch_tile(std::size_t index, const ptxdsl::stream& s, const fp8_operands& o,
                                               ptxdsl::kernels::gemm_workspace* workspace);

}  // namespace bench
