// SPDX-License-Identifier: Apache-2.0
// Memory-bound kernels as calls: `px::kernels::rms_norm(stream, x, weight, y)`, layer norm, softmax, SwiGLU, rotary
// embedding, fp8. Matrices are views of rank 2 with contiguous rows, of f32, bf16 or f16; any extents. Rows that are a
// multiple of 16 bytes and 16-byte aligned are fastest. Kernels are assembled and loaded on first use, once for each
// context and kind of row; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/rows/norm_call.hpp>
#include <ptxdsl/kernels/rows/quantize_call.hpp>
#include <ptxdsl/kernels/rows/rope_call.hpp>
#include <ptxdsl/kernels/rows/softmax_call.hpp>
#include <ptxdsl/kernels/rows/swiglu_call.hpp>
