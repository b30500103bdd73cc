// SPDX-License-Identifier: Apache-2.0
// Prints the PTX of many kernels, assembled at run time, and checks each against its constant. The determinism test
// builds this with several compilers and optimisation levels and compares what they print byte for byte.
#include "../../tools/util/gemm_hopper_kernel.hpp"
#include "control_kernels.hpp"

#include <cstdio>

namespace {

namespace px = ptxdsl;
int failures = 0;

template <px::fixed_string Name, auto Body, px::attributes Attributes>
void one() {
    constexpr auto constant = px::assemble<px::kernel<Name, Body, Attributes>>();
    const auto late = px::assemble_at_run_time(Name.view(), Body, Attributes);
    std::fputs(late.text().data(), stdout);
    if (!late.ok()) std::fprintf(stderr, "%s\n", late.error().data()), ++failures;
    if (late.text() != constant.text()) {
        std::fprintf(stderr, "%s: the text assembled at run time differs from the constant\n", Name.data);
        ++failures;
    }
    for (px::u32 line = 1; line < 200; ++line)
        if (late.source_of(line).line != constant.source_of(line).line) {
            std::fprintf(stderr, "%s: line %u maps to another C++ line at run time\n", Name.data, line);
            ++failures;
            break;
        }
    if (constant.text().data()[constant.text().size()] != '\0')
        std::fputs("text is not NUL-terminated\n", stderr), ++failures;
}

}  // namespace

int main() {
    using namespace control_kernels;
    one<"if_else", if_else, block>();
    one<"loops", loops, block>();
    one<"while_loops", while_loops, block>();
    one<"switches", switches, block>();
    one<"tables", tables, block>();
    one<"functions", functions, block>();
    one<"function_pointers", function_pointers, block>();
    one<"nesting", nesting, block>();
    constexpr gemm_hopper::config pair{}, single{.bn = 128, .stages = 5, .cluster = 1};
    one<"gemm", &gemm_hopper::gemm<pair, px::bf16>, gemm_hopper::attributes<pair>>();
    one<"gemm_f32", &gemm_hopper::gemm<single, px::f32>, gemm_hopper::attributes<single>>();
    one<"gemm_any", &gemm_hopper::gemm_any_n<pair, px::f32>, gemm_hopper::attributes<pair>>();
    return failures == 0 ? 0 : 1;
}
