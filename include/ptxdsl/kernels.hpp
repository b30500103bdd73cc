// SPDX-License-Identifier: Apache-2.0
/// The kernel library: typed host calls, assembled and loaded on first use. Needs the runtime; the bodies
/// alone (`ptxdsl/kernels/gemm/kernel.hpp`, `ptxdsl/kernels/rows/norm.hpp` …) need only the DSL.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include <ptxdsl/kernels/gemm.hpp>
#include <ptxdsl/kernels/rows.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
