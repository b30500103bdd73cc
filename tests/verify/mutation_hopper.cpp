// SPDX-License-Identifier: Apache-2.0
#include "../../tools/util/gemm_hopper_kernel.hpp"
#include "mutation_kernels.hpp"

#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/gemm/plain.hpp>

namespace mutation {

namespace {

using namespace ptxdsl::kernels;
namespace gh = gemm_hopper;
namespace px = ptxdsl;

template <gemm_config C, class In = px::bf16, class Out = In, gemm_epilogue E = gemm_epilogue{}, bool EarlyB = false>
void library(kernel_list& list, const char* name) {
    add(list, name, &gemm_body<C, In, Out, E.gated>, gemm_attributes<C>,
        gemm_variant{.epilogue = E, .early_b = EarlyB});
}

}  // namespace

kernel_list hopper_kernels() {
    static constexpr gh::config pair{}, single{.cluster = 1};
    kernel_list all;
    add(all, "pair", &gh::gemm<pair, px::bf16>, gh::attributes<pair>);
    add(all, "single_f32", &gh::gemm<single, px::f32>, gh::attributes<single>);
    add(all, "any_n", &gh::gemm_any_n<pair, px::bf16>, gh::attributes<pair>);
    library<gemm_config{}>(all, "library");
    library<config_of(gemm_choice::medium)>(all, "medium");
    library<config_of(gemm_choice::few_columns)>(all, "few_columns");
    library<config_of(gemm_choice::few_rows_split)>(all, "split_k");
    library<config_of(gemm_choice::large_even)>(all, "stream_k");
    library<config_of(gemm_choice::tokens_88)>(all, "turned");
    library<config_of(gemm_choice::tokens_64_split)>(all, "turned_split");
    library<gemm_config{.cluster = 2, .cluster_n = 2}>(all, "cluster_2x2");
    library<gemm_config{.b = px::mn_major}>(all, "nn");
    library<ping_pong_config(128, 128, 6)>(all, "ping_pong");
    library<gemm_config{.bm = 64, .bn = 128, .stages = 8, .cluster = 1}, px::bf16, px::bf16, gemm_epilogue{}, true>(
        all, "early_b");
    library<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .store = store_mode::elements}>(all, "elements");
    library<config_of(gemm_choice::few_rows_split), px::bf16, px::f32,
            gemm_epilogue{.alpha = true, .beta = true, .bias = true}>(all, "split_scaled");
    library<gemm_config{.bn = 128, .stages = 6, .block_scaled = true}, px::e4m3, px::bf16>(all, "blocked");
    library<gemm_config{.bn = 192, .cluster = 1, .block_scaled = true}, px::e4m3, px::bf16>(all, "blocked_192");
    library<gemm_config{.cluster = 1, .block_scaled = true}, px::e4m3, px::bf16>(all, "blocked_256");
    library<gemm_config{.cluster = 1, .stream_k = true, .block_scaled = true}, px::e4m3, px::bf16>(all,
                                                                                                   "blocked_256_even");
    add(all, "plain", &gemm_plain_body<px::bf16, px::bf16, px::bf16>, gemm_plain_attributes,
        gemm_plain_form{.act = activation::gelu});
    return all;
}

}  // namespace mutation
