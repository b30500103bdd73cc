// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: bias, activation and gates.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK(form{.act = activation::relu, .bias = true, .constant_b = true}, px::bf16);
PTXDSL_CHECK(form{.act = activation::silu, .gated = true}, px::bf16);
PTXDSL_CHECK(form{.act = activation::silu, .bias = true, .gated = true}, px::bf16);

}  // namespace gemm_test
