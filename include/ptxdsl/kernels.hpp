// SPDX-License-Identifier: Apache-2.0
/// The kernel library: typed host calls, assembled and loaded on first use. Needs the runtime; the bodies
/// alone (`ptxdsl/kernels/gemm/kernel.hpp`, `ptxdsl/kernels/rows/norm.hpp` …) need only the DSL.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/kernels/attention.hpp>
#include <ptxdsl/kernels/gemm.hpp>
#include <ptxdsl/kernels/gemm/tune.hpp>
#include <ptxdsl/kernels/grouped_gemm.hpp>
#include <ptxdsl/kernels/rows.hpp>
// Last: closes what the first opened.
#include <ptxdsl/detail/epilogue.hpp>
