// SPDX-License-Identifier: Apache-2.0
/// The kernel library: typed host calls, assembled and loaded on first use. Needs the runtime; the kernels' bodies
/// alone
/// (`ptxdsl/kernels/*_kernel.hpp`) need only the DSL.
#pragma once

#include <ptxdsl/kernels/gemm.hpp>
#include <ptxdsl/kernels/rows.hpp>
