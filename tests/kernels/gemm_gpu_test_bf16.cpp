// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: every configuration with bf16 operands and results.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK(form{}, px::bf16);

}  // namespace gemm_test
