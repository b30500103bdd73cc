// SPDX-License-Identifier: Apache-2.0
// Configurations that the library does not have (yet): what a sweep tries beside its own.
#pragma once

#include "gemm_configs.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace bench {

using kernels::gemm_config;

/// As many stages as fit, up to 16.
[[nodiscard]] constexpr gemm_config deepest(gemm_config c) {
    for (c.stages = 16; c.stages > 2 && !c.valid();) --c.stages;
    return c;
}
/// `rows` of the weights' rows and up to `tokens` tokens, K shared by `ways` blocks, or cut evenly with 0; `pair` tiles
/// of tokens share the weights, `down` of the weights' rows the tokens; `per_sm` blocks a multiprocessor.
[[nodiscard]] constexpr gemm_config turned(px::u32 rows, px::u32 tokens, px::u32 ways, px::u32 pair, px::u32 down,
                                           px::u32 per_sm) {
    return deepest({.bm = rows,
                    .bn = tokens,
                    .cluster = down,
                    .cluster_n = pair,
                    .split_k = ways == 0 ? 1 : ways,
                    .blocks_per_sm = per_sm,
                    .stream_k = ways == 0,
                    .store = kernels::store_mode::transposed});
}
/// `rows` tokens and `columns` of the weights' rows, which `pair` tiles of tokens share; `across` of them the tokens.
[[nodiscard]] constexpr gemm_config usual(px::u32 rows, px::u32 columns, px::u32 ways, px::u32 pair, px::u32 across) {
    return deepest({.bm = rows,
                    .bn = columns,
                    .cluster = pair,
                    .cluster_n = across,
                    .split_k = ways == 0 ? 1 : ways,
                    .stream_k = ways == 0,
                    .store = ways > 1 ? kernels::store_mode::pairs : kernels::store_mode::tma});
}

inline constexpr gemm_config trial_configs[] = {
    turned(64, 56, 1, 1, 4, 1),   turned(64, 72, 1, 1, 4, 1),   turned(64, 88, 1, 1, 4, 1),
    turned(64, 104, 1, 1, 4, 1),  turned(64, 128, 1, 1, 4, 1),  turned(64, 152, 1, 1, 4, 1),
    turned(64, 176, 1, 1, 4, 1),  turned(64, 208, 1, 1, 4, 1),  turned(128, 56, 1, 1, 4, 1),
    turned(128, 72, 1, 1, 4, 1),  turned(128, 88, 1, 1, 4, 1),  turned(128, 104, 1, 1, 4, 1),
    turned(128, 128, 1, 1, 4, 1), turned(128, 152, 1, 1, 4, 1), turned(128, 176, 1, 1, 4, 1),
    turned(128, 208, 1, 1, 4, 1), turned(128, 240, 1, 1, 4, 1), turned(64, 80, 1, 1, 2, 1),
    turned(64, 104, 1, 1, 2, 1),  turned(64, 128, 1, 1, 2, 1),  turned(64, 152, 1, 1, 2, 1),
    turned(64, 176, 1, 1, 2, 1),  turned(64, 208, 1, 1, 2, 1),  turned(128, 80, 1, 1, 2, 1),
    turned(128, 104, 1, 1, 2, 1), turned(128, 128, 1, 1, 2, 1), turned(128, 152, 1, 1, 2, 1),
    turned(128, 176, 1, 1, 2, 1), turned(128, 208, 1, 1, 2, 1), turned(128, 240, 1, 1, 2, 1),
    turned(64, 80, 1, 2, 4, 1),   turned(64, 104, 1, 2, 4, 1),  turned(64, 128, 1, 2, 4, 1),
    turned(64, 176, 1, 2, 4, 1),  turned(128, 80, 1, 2, 4, 1),  turned(128, 104, 1, 2, 4, 1),
    turned(128, 128, 1, 2, 4, 1), turned(64, 104, 1, 2, 2, 1),  turned(64, 128, 1, 2, 2, 1),
    turned(128, 88, 1, 2, 2, 1),  turned(128, 104, 1, 2, 2, 1), turned(128, 128, 1, 2, 2, 1),
    turned(128, 152, 1, 2, 2, 1), turned(128, 88, 1, 4, 2, 1),  turned(128, 104, 1, 4, 2, 1),
    usual(128, 64, 1, 2, 4),      usual(128, 80, 1, 2, 4),      usual(128, 96, 1, 2, 4),
    usual(128, 112, 1, 2, 4),     usual(128, 80, 1, 1, 2),      usual(128, 96, 1, 1, 2),
    usual(128, 112, 1, 1, 2),     usual(128, 128, 1, 1, 2),     usual(128, 176, 1, 1, 2),
    usual(128, 80, 1, 2, 1),      usual(128, 96, 1, 2, 1),      usual(128, 112, 1, 2, 1),
    usual(128, 144, 1, 2, 1),     usual(128, 160, 1, 2, 1),     usual(128, 80, 1, 1, 4),
    usual(128, 96, 1, 1, 4),      usual(128, 128, 1, 1, 4),     usual(64, 64, 1, 2, 2),
    usual(64, 96, 1, 2, 2),       usual(64, 128, 1, 2, 2),      usual(64, 96, 1, 2, 1),
    usual(64, 96, 1, 2, 4),       usual(64, 192, 1, 2, 2),      usual(64, 224, 1, 1, 1),
    usual(64, 96, 1, 1, 1),       usual(64, 160, 1, 1, 1),      usual(64, 256, 1, 1, 1),
    usual(64, 128, 4, 1, 1),      usual(128, 80, 1, 1, 1),      usual(128, 96, 1, 1, 1),
    usual(128, 112, 1, 1, 1),     usual(128, 144, 1, 1, 1),     usual(128, 208, 1, 1, 1),
    usual(192, 112, 1, 1, 1),     usual(192, 128, 1, 1, 1),     usual(192, 160, 1, 1, 1),
    usual(192, 160, 1, 1, 2),     usual(192, 128, 1, 1, 2),     usual(192, 112, 1, 1, 2),
    turned(64, 176, 1, 1, 1, 1),  turned(64, 32, 4, 1, 1, 1),   turned(64, 160, 2, 1, 1, 1),
    turned(64, 192, 2, 1, 1, 1),  turned(64, 224, 2, 1, 1, 1),  turned(128, 64, 1, 1, 1, 1),
    turned(128, 96, 1, 1, 1, 1),  turned(128, 112, 1, 1, 1, 1), turned(128, 176, 1, 1, 1, 1),
    turned(128, 208, 1, 1, 1, 1), turned(128, 224, 1, 1, 1, 1), turned(128, 240, 1, 1, 1, 1),
    turned(128, 192, 0, 1, 1, 1), turned(128, 112, 0, 2, 1, 1), turned(192, 112, 1, 1, 1, 1),
    turned(192, 112, 1, 1, 2, 1), turned(256, 96, 1, 1, 1, 1),  turned(256, 96, 1, 1, 2, 1),
    turned(256, 128, 1, 1, 2, 1)};
inline constexpr std::size_t trial_count = std::size(trial_configs);
consteval bool all_valid() {
    for (const gemm_config& c : trial_configs)
        if (!c.valid()) return false;
    return true;
}
static_assert(all_valid());

/// "t128x192k4": turned (operands swapped) or usual, rows x columns of the kernel's tile, blocks that share it along K
/// (e: cut evenly), p: blocks that share the weights, q: that share tokens, b: blocks a multiprocessor.
[[nodiscard]] inline std::string trial_name(const gemm_config& c) {
    std::string name = fmt::format("{}{}x{}", c.swaps_operands() ? 't' : 'u', c.bm, c.bn);
    if (c.split_k > 1) name += fmt::format("k{}", c.split_k);
    if (c.stream_k) name += 'e';
    const auto weights = c.swaps_operands() ? c.cluster_n : c.cluster,
               tokens = c.swaps_operands() ? c.cluster : c.cluster_n;
    if (weights > 1) name += fmt::format("p{}", weights);
    if (tokens > 1) name += fmt::format("q{}", tokens);
    if (c.blocks_per_sm > 1) name += fmt::format("b{}", c.blocks_per_sm);
    return name;
}

/// All configurations there are: the library's, then the trials.
inline constexpr std::size_t config_count = kernels::gemm_configs.size() + trial_count;
[[nodiscard]] constexpr const gemm_config& config_at(std::size_t i) {
    return i < kernels::gemm_configs.size() ? kernels::gemm_configs[i]
                                            : trial_configs[i - kernels::gemm_configs.size()];
}
[[nodiscard]] inline std::string name_at(std::size_t i) {
    return i < kernels::gemm_configs.size() ? std::string(choice_names[i]) : trial_name(config_at(i));
}

/// The trials' kernels for 16-bit results of contiguous rows; nothing else is asked of them.
template <std::size_t... Index>
[[nodiscard]] constexpr auto kernels_of_trials(std::index_sequence<Index...>) {
    return std::array<std::array<const kernels::detail::gemm_kernel*, 3>, trial_count>{
        {{&kernels::detail::configured_gemm<trial_configs[Index], px::bf16, px::bf16, px::bf16, false>::kernel, nullptr,
          nullptr}...}};
}
inline constexpr auto trial_kernels = kernels_of_trials(std::make_index_sequence<trial_count>{});

/// Launches trial `wanted`.
[[nodiscard]] inline px::result<void> launch_trial(std::size_t wanted, const px::stream& s, const gemm_operands& o,
                                                   kernels::gemm_workspace& workspace) {
    const kernels::detail::gemm_kernels table{trial_kernels[wanted], 1,
                                              &kernels::detail::write_plain<px::bf16, px::bf16, px::bf16>};
    const auto p = kernels::detail::problem_of<weights_form, false>(
        px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k), px::tensor_view(o.c, o.m, o.n),
        kernels::gemm_options<px::bf16>{.workspace = &workspace});
    return kernels::detail::launch_gemm(s, p, table, true);
}
/// Launches configuration `i`.
[[nodiscard]] inline px::result<void> launch_config_at(std::size_t i, const px::stream& s, const gemm_operands& o,
                                                       kernels::gemm_workspace& workspace) {
    if (i >= kernels::gemm_configs.size()) return launch_trial(i - kernels::gemm_configs.size(), s, o, workspace);
    return kernels::gemm<weights_form>(s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k),
                                       px::tensor_view(o.c, o.m, o.n),
                                       {.workspace = &workspace, .choice = static_cast<kernels::gemm_choice>(i)});
}

}  // namespace bench
