// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: alpha, beta and f32 results.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK(form{}, px::f32);
PTXDSL_CHECK(form{.scaled = true}, px::f32);
PTXDSL_CHECK(form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16);

}  // namespace gemm_test
