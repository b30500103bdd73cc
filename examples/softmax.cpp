// SPDX-License-Identifier: Apache-2.0
// Softmax of random rows, checked against float64 and timed. The kernel: softmax_kernel.hpp.
#include "rows_demo.hpp"
#include "softmax_operation.hpp"

namespace px = ptxdsl;

namespace {

// The kernel for rows of 4096 f32, as a constant of this program.
constexpr rows::plan plan = rows::plan_for_columns<px::f32, 4>(4096);
constexpr auto softmax_4096 =
    px::assemble<px::kernel<"softmax", softmax::softmax<px::f32, 4>, plan.attributes(), plan>>();

}  // namespace

int main(int argc, char** argv) {
    return demo::rows_main<demo::softmax_operation>(argc, argv, softmax_4096, "ld.global.nc.L1::no_allocate");
}
