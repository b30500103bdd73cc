// SPDX-License-Identifier: Apache-2.0
// The compiled library's attention: from the type of a call, which is a value here, to the kernels of it.
#include <ptxdsl/kernels/attention/kernels.hpp>

namespace ptxdsl::kernels::detail {

error run_compiled(const stream& s, const attention_problem& p) {
    if (p.type == isa::scalar::bf16) return launch_attention(s, p, attention_kernels<bf16>);
    return launch_attention(s, p, attention_kernels<f16>);
}

}  // namespace ptxdsl::kernels::detail
