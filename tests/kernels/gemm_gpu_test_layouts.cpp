// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: operands with contiguous columns.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK(form{.any_layout = true}, px::bf16);

}  // namespace gemm_test
