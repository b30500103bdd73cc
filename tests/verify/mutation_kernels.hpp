// SPDX-License-Identifier: Apache-2.0
// The shipped kernels as programs, for the mutation test: one source file a family, since they take long to compile.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <memory>
#include <string>
#include <vector>

namespace mutation {

struct shipped {
    std::string name;
    std::unique_ptr<ptxdsl::ir::program> program;
};
using kernel_list = std::vector<shipped>;

template <class Body, class... Constants>
void add(kernel_list& list, const char* name, const Body& body, const ptxdsl::attributes& attributes,
         const Constants&... constants) {
    list.push_back({name, std::make_unique<ptxdsl::ir::program>()});
    ptxdsl::detail::write_program(*list.back().program, name, attributes, body, constants...);
}

/// examples/gemm_hopper and the library's matrix products: each kind of configuration.
kernel_list hopper_kernels();
/// examples/rms_norm, softmax, saxpy, tutorial, and the library's row and element kernels.
kernel_list row_kernels();
/// examples/gemm_blackwell, nvfp4_gemm, tcgen05_suite.
kernel_list blackwell_kernels();

}  // namespace mutation
