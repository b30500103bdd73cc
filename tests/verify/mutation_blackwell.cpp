// SPDX-License-Identifier: Apache-2.0
#include "../../examples/nvfp4_kernel.hpp"
#include "../../examples/tcgen05_suite_kernels.hpp"
#include "../../tools/util/gemm_blackwell_kernel.hpp"
#include "mutation_kernels.hpp"

namespace mutation {

kernel_list blackwell_kernels() {
    namespace gb = gemm_blackwell;
    namespace ts = tcgen05_suite;
    static constexpr gb::config one{}, two{.pair = 2};
    kernel_list all;
    add(all, "blackwell", &gb::gemm<one, ptxdsl::bf16>, gb::attributes<one>);
    add(all, "blackwell_pair", &gb::gemm<two, ptxdsl::f32>, gb::attributes<two>);
    add(all, "nvfp4", &nvfp4::gemm, nvfp4::attributes);
    add(all, "tcgen05_alloc", &ts::alloc, ts::attributes);
    add(all, "tcgen05_ld", &ts::ld, ts::attributes);
    add(all, "tcgen05_mma", &ts::mma, ts::attributes);
    add(all, "tcgen05_product_1", &ts::product<1, false>, ts::attributes);
    add(all, "tcgen05_product_4", &ts::product<4, false>, ts::attributes);
    add(all, "tcgen05_product_split", &ts::product<2, true>, ts::attributes);
    add(all, "tcgen05_roundtrip", &ts::roundtrip, ts::attributes);
    add(all, "tcgen05_ld_registers", &ts::ld_registers, ts::attributes);
    add(all, "tcgen05_ld_x128", &ts::ld_x128, ts::attributes);
    return all;
}

}  // namespace mutation
