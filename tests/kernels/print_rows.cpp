// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of the library's row and element kernels, one file a kernel, to the folder named on the command line.
// Exit code 1 when one does not assemble.
#include "print_kernels.hpp"

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/rows/norm.hpp>
#include <ptxdsl/kernels/rows/quantize.hpp>
#include <ptxdsl/kernels/rows/rope.hpp>
#include <ptxdsl/kernels/rows/softmax.hpp>
#include <ptxdsl/kernels/rows/swiglu.hpp>

#include <string>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;
using px::u32;

namespace {

using print_kernels::write;

/// Every kind of plan: a warp a row, small and large blocks, clusters, rows that do not fit; exact and ragged ones; all
/// widths of an access.
template <class T>
void rows(const std::string& type) {
    for (const u32 columns : {1u, 40u, 100u, 128u, 1024u, 4096u, 5000u, 8191u, 8192u, 14336u, 16384u, 28672u, 32768u,
                              40000u, 65536u, 131072u, 262144u, 300000u, 1048576u}) {
        u32 width = 16 / sizeof(T);
        while (columns % width != 0) width /= 2;
        const row_plan c = plan_rows(columns / width, width, 2, 1024, true), sums = plan_rows(columns / width, width);
        const std::string name = type + "_" + std::to_string(columns);
        write("rms_" + name, px::assemble_at_run_time("rms_norm", &norm_body<T>, c.launch(), c, norm_form{}));
        write("add_" + name,
              px::assemble_at_run_time("rms_norm", &norm_body<T>, sums.launch(), sums, norm_form{.residual = true}));
        const row_plan l = plan_rows(columns / width, width, 2, layer_norm_threads(width), true);
        write("layer_" + name, px::assemble_at_run_time("layer_norm", &norm_body<T>, l.launch(), l,
                                                        norm_form{.centred = true, .bias = true}));
        write("softmax_" + name, px::assemble_at_run_time("softmax", &softmax_body<T>, c.launch(), c));
        const row_plan q = plan_rows(columns / width, width, 4, 1024, true);
        if (q != c) {  // small matrices
            write("rms_small_" + name, px::assemble_at_run_time("rms_norm", &norm_body<T>, q.launch(), q, norm_form{}));
            write("softmax_small_" + name, px::assemble_at_run_time("softmax", &softmax_body<T>, q.launch(), q));
        }
        if (const row_plan m = plan_rows(columns / width, width, 4, layer_norm_threads(width), true); m != l)
            write("layer_small_" + name, px::assemble_at_run_time("layer_norm", &norm_body<T>, m.launch(), m,
                                                                  norm_form{.centred = true, .bias = true}));
        if (const row_plan m = plan_rows(columns / width, width, 4); m != sums)
            write("add_small_" + name,
                  px::assemble_at_run_time("rms_norm", &norm_body<T>, m.launch(), m, norm_form{.residual = true}));
        write("quantize_" + name,
              px::assemble_at_run_time("quantize_rows", &quantize_rows_body<T, px::e4m3>, q.launch(), q));
    }
}

template <class T>
void elements(const std::string& type) {
    for (u32 width = 16 / sizeof(T); width > 0; width /= 2) {
        const std::string name = type + "_w" + std::to_string(width);
        for (const bool flat : {false, true}) {
            element_plan c = plan_swiglu(width, ~0u);
            c.flat = flat;
            write("swiglu_" + name + (flat ? "_flat" : ""),
                  px::assemble_at_run_time("swiglu", &swiglu_body<T>, c.launch(), c));
        }
        element_plan blocks = plan_blocks(width);
        const element_plan squares{.width = width, .accesses = 1, .threads = 512};
        write("blocks_" + name,
              px::assemble_at_run_time("quantize_blocks", &quantize_blocks_body<T, px::e4m3>, blocks.launch(), blocks));
        blocks.flat = true;
        write("blocks_" + name + "_flat",
              px::assemble_at_run_time("quantize_blocks", &quantize_blocks_body<T, px::e4m3>, blocks.launch(), blocks));
        write("squares_" + name, px::assemble_at_run_time("quantize_squares", &quantize_squares_body<T, px::e5m2>,
                                                          squares.launch(), squares));
        for (const bool partial : {false, true})
            for (const u32 heads : {1u, 2u, 4u}) {
                const rope_plan halves{.width = width, .partial = partial, .heads = heads};
                const std::string part = (partial ? "_partial_" : "_") + std::to_string(heads);
                write("rope_" + name + part, px::assemble_at_run_time("rope", &rope_body<T>, halves.launch(), halves));
                if (width * 2 * sizeof(T) > 16) continue;
                const rope_plan turns{
                    .width = width, .pairs = rope_pairs::interleaved, .partial = partial, .heads = heads};
                write("rope_interleaved_" + name + part,
                      px::assemble_at_run_time("rope", &rope_body<T>, turns.launch(), turns));
                if (width > 1) continue;
                const rope_plan apart{
                    .pairs = rope_pairs::interleaved, .partial = partial, .apart = true, .heads = heads};
                write("rope_apart_" + name + part,
                      px::assemble_at_run_time("rope", &rope_body<T>, apart.launch(), apart));
            }
    }
}

}  // namespace

int main(int argc, char** argv) {
    return print_kernels::run(argc, argv, [] {
        rows<px::f32>("f32"), rows<px::bf16>("bf16"), rows<px::f16>("f16");
        elements<px::f32>("f32"), elements<px::bf16>("bf16"), elements<px::f16>("f16");
    });
}
