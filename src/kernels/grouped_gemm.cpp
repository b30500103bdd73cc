// SPDX-License-Identifier: Apache-2.0
// The compiled library's grouped products: from the type of a call, which is a value here, to the kernels of it.
#include <ptxdsl/kernels/grouped/kernels.hpp>

namespace ptxdsl::kernels::detail {

error run_compiled(const stream& s, const grouped_problem& p) {
    const bool bf = p.type == isa::scalar::bf16;
    if (p.form.gated) return launch_grouped(s, p, bf ? grouped_table<bf16, true> : grouped_table<f16, true>);
    return launch_grouped(s, p, bf ? grouped_table<bf16, false> : grouped_table<f16, false>);
}

}  // namespace ptxdsl::kernels::detail
