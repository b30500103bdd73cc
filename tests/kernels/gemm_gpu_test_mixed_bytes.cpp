// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: e4m3 next to e5m2.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK_BYTES(px::e4m3, px::bf16, px::e5m2);
PTXDSL_CHECK_BYTES(px::e5m2, px::f32, px::e4m3);
PTXDSL_CHECK_BYTES(px::e5m2, px::bf16, px::e4m3);

}  // namespace gemm_test
