// SPDX-License-Identifier: Apache-2.0
// The compiled library's attention: from the type of a call, which is a value here, to the kernels of it.
#include <ptxdsl/kernels/attention/decode_kernels.hpp>
#include <ptxdsl/kernels/attention/kernels.hpp>

namespace ptxdsl::kernels::detail {

error run_compiled(const stream& s, const attention_problem& p) {
    if (p.type == isa::scalar::bf16) return launch_call<bf16>(s, p);
    return launch_call<f16>(s, p);
}
error run_compiled(const stream& s, const paged_problem& p) {
    if (p.type == isa::scalar::bf16) return launch_call<bf16>(s, p);
    return launch_call<f16>(s, p);
}

}  // namespace ptxdsl::kernels::detail
