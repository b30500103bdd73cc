// SPDX-License-Identifier: Apache-2.0
#define PTXDSL_KERNELS_HEADER_ONLY  // configurations of the caller's
#include "fp8_tiles.hpp"

#include <ptxdsl/kernels/gemm.hpp>

#include <iterator>
#include <utility>

namespace bench {

namespace {

namespace kn = ptxdsl::kernels;

template <std::size_t... Index>
ptxdsl::result<void> launch(std::size_t wanted, const ptxdsl::stream& s, const fp8_operands& o,
                            kn::gemm_workspace* workspace, std::index_sequence<Index...>) {
    ptxdsl::result<void> r;
    (void)((wanted == Index && (r = kn::gemm_block_scaled_with<kn::block_scaled_configs[Index]>(
                                    s, o.a, o.a_scale, o.b, o.b_scale, o.c, {.workspace = workspace}),
                                true)) ||
           ...);
    return r;
}

}  // namespace

ptxdsl::result<void> launch_tile(std::size_t index, const ptxdsl::stream& s, const fp8_operands& o,
                                 kn::gemm_workspace* workspace) {
    return launch(index, s, o, workspace, std::make_index_sequence<std::size(kn::block_scaled_configs)>{});
}

}  // namespace bench
