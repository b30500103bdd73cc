// SPDX-License-Identifier: Apache-2.0
// A file that brings kernels of its own into a program that links the compiled library.
#define PTXDSL_KERNELS_HEADER_ONLY
#include <ptxdsl/kernels/gemm.hpp>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

px::result<void> own_configuration(const px::stream& s, px::tensor_view<const px::bf16, 2> a,
                                   px::tensor_view<const px::bf16, 2> b, px::tensor_view<px::bf16, 2> c) {
    return kn::gemm_with<kn::gemm_config{.bm = 128, .bn = 128, .stages = 5, .cluster = 1}>(s, a, b, c);
}
