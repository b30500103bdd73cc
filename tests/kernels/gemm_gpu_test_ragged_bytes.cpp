// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: 8-bit operands that the fast path cannot take.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK_RAGGED(px::s8, px::s32);
PTXDSL_CHECK_RAGGED(px::e4m3, px::f32);
PTXDSL_CHECK_RAGGED(px::e5m2, px::bf16);
PTXDSL_CHECK_RAGGED(px::e4m3, px::bf16, px::e5m2);
PTXDSL_CHECK_RAGGED(px::e5m2, px::f32, px::e4m3);
PTXDSL_CHECK_RAGGED(px::e5m2, px::bf16, px::e4m3);

}  // namespace gemm_test
