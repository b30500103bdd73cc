// SPDX-License-Identifier: Apache-2.0
#include "../../examples/softmax_kernel.hpp"
#include "../../tools/util/rms_norm_kernel.hpp"
#include "mutation_kernels.hpp"

#include <ptxdsl/kernels/rows/norm.hpp>
#include <ptxdsl/kernels/rows/quantize.hpp>
#include <ptxdsl/kernels/rows/rope.hpp>
#include <ptxdsl/kernels/rows/softmax.hpp>
#include <ptxdsl/kernels/rows/swiglu.hpp>

namespace mutation {

namespace {

using namespace ptxdsl::kernels;
namespace px = ptxdsl;

/// A plan of each kind: a warp a row, a block, a cluster, a row that does not fit.
void library(kernel_list& all, const char* kind, px::u32 columns) {
    const std::string name = kind;
    const row_plan c = plan_rows(columns / 4, 4), l = plan_rows(columns / 4, 4, 2, 512);
    add(all, ("rms_" + name).c_str(), &norm_body<px::f32>, c.launch(), c, norm_form{});
    add(all, ("layer_" + name).c_str(), &norm_body<px::f32>, l.launch(), l, norm_form{.centred = true, .bias = true});
    add(all, ("softmax_" + name).c_str(), &softmax_body<px::f32>, c.launch(), c);
    add(all, ("quantize_" + name).c_str(), &quantize_rows_body<px::f32, px::e4m3>, c.launch(), c);
}

/// Rows of 16-bit values that wait in registers as they came.
void held(kernel_list& all) {
    const row_plan c = plan_rows(131072 / 8, 8, 2, 1024, true), q = plan_rows(40000 / 8, 8, 4, 1024, true);
    add(all, "rms_held", &norm_body<px::bf16>, c.launch(), c, norm_form{});
    add(all, "layer_held", &norm_body<px::f16>, c.launch(), c, norm_form{.centred = true, .bias = true});
    add(all, "softmax_held", &softmax_body<px::bf16>, c.launch(), c);
    add(all, "quantize_held", &quantize_rows_body<px::bf16, px::e4m3>, q.launch(), q);
}

void examples(kernel_list& all) {
    for (const px::u32 columns : {128u, 4096u, 40960u, 1u << 20}) {
        const rows::plan c = rows::plan_for_columns<px::f32, 4>(columns);
        const std::string name = std::to_string(columns);
        add(all, ("rms_norm_" + name).c_str(), &rms_norm::rms_norm<px::f32, 4>, c.attributes(), c);
        add(all, ("softmax_example_" + name).c_str(), &softmax::softmax<px::f32, 4>, c.attributes(), c);
    }
}

}  // namespace

kernel_list row_kernels() {
    kernel_list all;
    library(all, "warp", 128), library(all, "block", 8192), library(all, "cluster", 131072),
        library(all, "reread", 1048576);
    held(all);
    constexpr element_plan wide{.width = 4}, squares{.width = 4, .accesses = 1, .threads = 512};
    constexpr rope_plan turns{.width = 4};
    constexpr element_plan flat{.width = 4, .flat = true};
    constexpr rope_plan two{.width = 4, .partial = true, .heads = 2};
    add(all, "swiglu", &swiglu_body<px::f32>, wide.launch(), wide);
    add(all, "swiglu_flat", &swiglu_body<px::f32>, flat.launch(), flat);
    add(all, "rope", &rope_body<px::f32>, turns.launch(), turns);
    add(all, "rope_heads", &rope_body<px::f32>, two.launch(), two);
    add(all, "quantize_blocks", &quantize_blocks_body<px::f32, px::e4m3>, wide.launch(), wide);
    add(all, "quantize_blocks_flat", &quantize_blocks_body<px::f32, px::e4m3>, flat.launch(), flat);
    add(all, "quantize_squares", &quantize_squares_body<px::f32, px::e5m2>, squares.launch(), squares);
    examples(all);
    return all;
}

}  // namespace mutation
