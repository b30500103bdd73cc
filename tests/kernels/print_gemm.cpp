// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of the library's matrix products, one file a kernel, to the folder named on the command line. Exit
// code 1 when one does not assemble.
#include "print_kernels.hpp"

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/gemm/plain.hpp>

#include <string>
#include <utility>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;

namespace {

using print_kernels::write;

template <gemm_config C, class In = px::bf16, class Out = In, gemm_epilogue E = gemm_epilogue{}, class InB = In,
          bool EarlyB = false>
void gemm(const std::string& name) {
    write(name, px::assemble_at_run_time("gemm", &gemm_body<C, In, Out, E.gated, InB>, gemm_attributes<C>,
                                         gemm_variant{.epilogue = E, .early_b = EarlyB}));
}
template <gemm_config C>
void early_b(const std::string& name) {
    gemm<C, px::bf16, px::bf16, gemm_epilogue{}, px::bf16, true>(name);
}
template <class In, class InB, class Out, gemm_plain_form F>
void plain(const std::string& name) {
    write(name, px::assemble_at_run_time("gemm_plain", &gemm_plain_body<In, InB, Out>, gemm_plain_attributes, F));
}

template <std::size_t... I>
void list(std::index_sequence<I...>) {
    (gemm<gemm_configs[I]>("list_" + std::to_string(I)), ...);
}

template <std::size_t... I>
void ping_pongs(std::index_sequence<I...>) {
    (gemm<ping_pong_configs[I]>("ping_pong_" + std::to_string(I)), ...);
}

void variants() {
    ping_pongs(std::make_index_sequence<std::size(ping_pong_configs)>{});
    constexpr gemm_config pong = ping_pong_config(128, 128, 6);
    gemm<pong, px::bf16, px::bf16, gemm_epilogue{.alpha = true, .bias = true, .act = activation::gelu}>(
        "ping_pong_gelu");
    gemm<gemm_config{.bm = 128,
                     .bn = 128,
                     .stages = 6,
                     .cluster = 1,
                     .schedule = gemm_schedule::ping_pong,
                     .store = store_mode::elements},
         px::bf16, px::f32, gemm_epilogue{.alpha = true, .beta = true}, px::bf16, true>("ping_pong_elements_f32");
    gemm<ping_pong_config(64, 256, 4, 2), px::e4m3, px::bf16, gemm_epilogue{.alpha = true, .tensor_scales = true}>(
        "ping_pong_fp8");
    constexpr gemm_config even = config_of(gemm_choice::large_even), split = config_of(gemm_choice::few_rows_split);
    gemm<gemm_config{.cluster = 2, .cluster_n = 2}>("cluster_2x2");
    gemm<gemm_config{.cluster = 1, .a = px::mn_major, .b = px::mn_major}>("tt");
    gemm<gemm_config{.b = px::mn_major}>("nn");
    early_b<gemm_config{.bm = 64, .bn = 128, .stages = 8, .cluster = 1}>("early_b");
    early_b<gemm_config{.bm = 64, .bn = 128, .stages = 9, .cluster = 1, .split_k = 2, .store = store_mode::pairs}>(
        "split_early_b");
    // Results in chunks of 32 and 16 columns.
    gemm<gemm_config{.bn = 224, .cluster = 1}, px::bf16, px::bf16,
         gemm_epilogue{.act = activation::silu, .gated = true}>("wide_gated");
    gemm<gemm_config{.bn = 48, .stages = 8, .cluster = 1, .stream_k = true}>("slim_even");
    gemm<gemm_config{.a_hint = l2_hint::evict_last, .b_hint = l2_hint::evict_first}>("hints");
    gemm<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .store = store_mode::elements}>("elements");
    gemm<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .store = store_mode::pairs}, px::bf16, px::f32>("pairs_f32");
    gemm<gemm_config{.cluster = 1, .store = store_mode::elements}, px::bf16, px::f32>("elements_f32");
    gemm<even, px::f16, px::f16, gemm_epilogue{.bias = true, .act = activation::relu}>("even_relu");
    gemm<even, px::bf16, px::bf16, gemm_epilogue{.alpha = true, .bias = true, .act = activation::gelu}>("even_gelu");
    gemm<even, px::bf16, px::bf16, gemm_epilogue{.act = activation::silu, .gated = true}>("even_gated");
    gemm<split, px::bf16, px::f32, gemm_epilogue{.alpha = true, .beta = true, .bias = true}>("split_scaled");
    constexpr gemm_config tokens = config_of(gemm_choice::tokens_16_split),
                          tokens_even = config_of(gemm_choice::tokens_64_even);
    gemm<tokens, px::bf16, px::bf16, gemm_epilogue{.bias = true, .act = activation::silu, .gated = true}>(
        "tokens_gated");
    gemm<tokens_even, px::f16, px::f16, gemm_epilogue{.alpha = true, .bias = true, .act = activation::gelu}>(
        "tokens_even_gelu");
    constexpr gemm_epilogue scales{.alpha = true, .tensor_scales = true};
    gemm<gemm_config{}, px::e4m3, px::bf16, scales>("fp8");
    gemm<even, px::e5m2, px::bf16, gemm_epilogue{.alpha = true, .tensor_scales = true, .bias = true}>("fp8_even");
    gemm<split, px::e4m3, px::f32, scales>("fp8_split");
    constexpr gemm_config blocked_256{.cluster = 1, .block_scaled = true};
    gemm<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .block_scaled = true}, px::e4m3, px::bf16>("blocked_128");
    gemm<gemm_config{.bn = 192, .cluster = 1, .block_scaled = true}, px::e4m3, px::bf16>("blocked_192");
    gemm<blocked_256, px::e4m3, px::bf16>("blocked_256");
    gemm<gemm_config{.block_scaled = true}, px::e4m3, px::bf16>("blocked_256_pair");
    constexpr gemm_config blocked_even{.cluster = 1, .stream_k = true, .block_scaled = true};
    gemm<blocked_even, px::e4m3, px::bf16>("blocked_256_even");
    gemm<gemm_config{.stream_k = true, .block_scaled = true}, px::e4m3, px::bf16>("blocked_256_pair_even");
    gemm<gemm_config{.bn = 192, .cluster = 1, .stream_k = true, .block_scaled = true}, px::e4m3, px::bf16>(
        "blocked_192_even");
    gemm<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .stream_k = true, .block_scaled = true}, px::e4m3, px::bf16>(
        "blocked_128_even");
    gemm<blocked_even, px::e5m2, px::bf16, gemm_epilogue{.bias = true, .act = activation::gelu}, px::e4m3>(
        "blocked_256_even_gelu");
    gemm<blocked_even, px::e4m3, px::bf16, gemm_epilogue{.act = activation::silu, .gated = true}>(
        "blocked_256_even_gated");
    gemm<gemm_config{.cluster = 1, .stream_k = true, .block_scaled = true, .store = store_mode::elements}, px::e4m3,
         px::f32>("blocked_256_even_elements");
    gemm<blocked_256, px::e5m2, px::bf16, gemm_epilogue{.bias = true, .act = activation::gelu}, px::e4m3>(
        "blocked_256_gelu");
    gemm<blocked_256, px::e4m3, px::bf16, gemm_epilogue{.act = activation::silu, .gated = true}>("blocked_256_gated");
    gemm<gemm_config{.bn = 192, .cluster = 1, .block_scaled = true, .store = store_mode::elements}, px::e4m3, px::f32>(
        "blocked_192_elements");
    gemm<gemm_config{.cluster = 1, .block_scaled = true, .store = store_mode::pairs}, px::e4m3, px::f32>(
        "blocked_256_pairs");
    gemm<gemm_config{.cluster = 1, .block_scaled = true, .store = store_mode::elements}, px::e4m3, px::bf16>(
        "blocked_256_elements");
    gemm<gemm_config{.bn = 256, .store = store_mode::pairs}, px::s8, px::s32>("int8");
    gemm<gemm_config{.bn = 128, .stages = 6, .cluster = 1, .store = store_mode::elements}, px::s8, px::s32>(
        "int8_elements");
    gemm<gemm_config{}, px::e4m3, px::bf16, scales, px::e5m2>("fp8_mixed");
    gemm<split, px::e5m2, px::f32, scales, px::e4m3>("fp8_mixed_split");
    gemm<tokens, px::e5m2, px::bf16, scales, px::e4m3>("fp8_mixed_tokens");
    plain<px::bf16, px::bf16, px::bf16, gemm_plain_form{.act = activation::gelu}>("plain");
    plain<px::e4m3, px::e5m2, px::bf16,
          gemm_plain_form{.act = activation::silu, .gated = true, .scales = plain_scales::tensor}>("plain_fp8_gated");
    plain<px::e5m2, px::e4m3, px::f32, gemm_plain_form{.scales = plain_scales::blocks}>("plain_fp8_blocks");
    plain<px::s8, px::s8, px::s32, gemm_plain_form{}>("plain_int8");
}

}  // namespace

int main(int argc, char** argv) {
    return print_kernels::run(argc, argv, [] {
        list(std::make_index_sequence<gemm_configs.size()>{});
        variants();
    });
}
