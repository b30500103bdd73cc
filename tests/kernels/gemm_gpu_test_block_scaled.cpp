// SPDX-License-Identifier: Apache-2.0
// A part of gemm_gpu_test: fp8 with block scales.
#define PTXDSL_KERNELS_HEADER_ONLY  // gemm_with and its kin bring kernels of their own
#include "gemm_gpu_test.hpp"

namespace gemm_test {

/// Each tile of block scales: odd and even numbers of steps, ragged edges, all stores, items of several parts.
template <std::size_t Index>
void run_block_scaled(const px::stream& s, kn::gemm_workspace& workspace) {
    using px::e4m3, px::e5m2, px::bf16, px::f32;
    constexpr const kn::gemm_config* c = &kn::block_scaled_configs[Index];
    for (const std::uint64_t steps : {1u, 2u, 4u, 5u, 7u, 8u, 9u, 17u})
        check_bytes<e4m3, bf16, e4m3, c>(s, true, between(1, 600), 8 * between(1, 120),
                                         128 * steps - 16 * between(0, 7), workspace, {});
    // Some waves, of which the last are cut along K where the configuration says so.
    for (const std::uint64_t k : {128u, 1152u, 2064u})
        check_bytes<e4m3, bf16, e4m3, c>(s, true, 4100 + between(0, 99), 4360, k, workspace, {});
    for (int n = 0; n < 4; ++n) {
        check_bytes<e4m3, bf16, e4m3, c>(s, true, between(1, 3000), 8 * between(1, 300), 16 * between(1, 200),
                                         workspace, {});
        check_bytes<e4m3, f32, e4m3, c>(s, true, between(1, 600), 2 * between(1, 300), 16 * between(1, 100), workspace,
                                        {});
        check_bytes<e5m2, bf16, e4m3, c>(s, true, between(1, 600), 2 * between(1, 300) - 1, 16 * between(1, 100),
                                         workspace, {});
    }
}

template void run_block_scaled<0>(const px::stream&, kn::gemm_workspace&);
template void run_block_scaled<1>(const px::stream&, kn::gemm_workspace&);
template void run_block_scaled<2>(const px::stream&, kn::gemm_workspace&);
template void run_block_scaled<3>(const px::stream&, kn::gemm_workspace&);

}  // namespace gemm_test
