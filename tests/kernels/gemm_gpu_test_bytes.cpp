// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: 8-bit operands of one type.
#include "gemm_gpu_test.hpp"

namespace gemm_test {

PTXDSL_CHECK_BYTES(px::e4m3, px::bf16);
PTXDSL_CHECK_BYTES(px::e4m3, px::f32);
PTXDSL_CHECK_BYTES(px::e5m2, px::f32);
PTXDSL_CHECK_BYTES(px::s8, px::s32);

}  // namespace gemm_test
