// SPDX-License-Identifier: Apache-2.0
// RMS norm of random rows, checked against float64 and timed. The kernel: rms_norm_kernel.hpp.
#include "rms_norm_operation.hpp"
#include "rows_demo.hpp"

namespace px = ptxdsl;

namespace {

// The kernel for rows of 4096 f32, as a constant of this program.
constexpr rows::plan plan = rows::plan_for_columns<px::f32, 4>(4096);
constexpr auto rms_norm_4096 =
    px::assemble<px::kernel<"rms_norm", rms_norm::rms_norm<px::f32, 4>, plan.attributes(), plan>>();

}  // namespace

int main(int argc, char** argv) {
    return demo::rows_main<demo::rms_norm_operation>(argc, argv, rms_norm_4096, "ld.global.nc.L1::no_allocate");
}
