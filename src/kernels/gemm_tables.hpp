// SPDX-License-Identifier: Apache-2.0
// The tables of the compiled library. Each is instantiated in a file of its own (cmake/PtxdslKernels.cmake writes
// them), so that they compile side by side.
#pragma once

#include <ptxdsl/kernels/gemm/compiled.hpp>
#include <ptxdsl/kernels/gemm/launch.hpp>

#include <cstddef>

namespace ptxdsl::kernels::detail {

/// The kernels of `compiled_gemms[Set]`, gated or not; null where the library has none.
template <std::size_t Set>
[[nodiscard]] const gemm_kernels* kernels_of_set(bool gated);

}  // namespace ptxdsl::kernels::detail
