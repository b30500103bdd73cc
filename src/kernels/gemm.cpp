// SPDX-License-Identifier: Apache-2.0
// The compiled library's matrix products: from the types of a call, which are values here, to the kernels of them.
#include "gemm_tables.hpp"

#include <iterator>
#include <utility>

namespace ptxdsl::kernels::detail {

namespace {

template <std::size_t... Set>
const gemm_kernels* kernels_for(const gemm_problem& p, std::index_sequence<Set...>) {
    const gemm_kernels* found = nullptr;
    (void)((compiled_gemms[Set].has(p.types, p.form) && (found = kernels_of_set<Set>(p.form.gated), true)) || ...);
    return found;
}

}  // namespace

error run_compiled(const stream& s, const gemm_problem& p) {
    const gemm_kernels* kernels = kernels_for(p, std::make_index_sequence<std::size(compiled_gemms)>{});
    if (kernels == nullptr)
        return {errc::not_supported, "gemm: the compiled library has no kernels of these element types and this form"};
    return launch_gemm(s, p, *kernels);
}

}  // namespace ptxdsl::kernels::detail
