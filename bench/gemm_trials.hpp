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
/// `rows` of the weights' rows and up to `tokens` tokens, K shared by `ways` blocks, or cut evenly with 0.
[[nodiscard]] constexpr gemm_config turned(px::u32 rows, px::u32 tokens, px::u32 ways, px::u32 pair = 1) {
    return deepest({.bm = rows,
                    .bn = tokens,
                    .cluster = 1,
                    .cluster_n = pair,
                    .split_k = ways == 0 ? 1 : ways,
                    .stream_k = ways == 0,
                    .store = kernels::store_mode::transposed});
}
[[nodiscard]] constexpr gemm_config usual(px::u32 rows, px::u32 columns, px::u32 ways, px::u32 pair = 1) {
    return deepest({.bm = rows,
                    .bn = columns,
                    .cluster = pair,
                    .split_k = ways == 0 ? 1 : ways,
                    .stream_k = ways == 0,
                    .store = ways > 1 ? kernels::store_mode::pairs : kernels::store_mode::tma});
}

inline constexpr gemm_config trial_configs[] = {turned(128, 208, 1), turned(128, 224, 0), usual(128, 208, 1),
                                                usual(128, 240, 1)};
inline constexpr std::size_t trial_count = std::size(trial_configs);
consteval bool all_valid() {
    for (const gemm_config& c : trial_configs)
        if (!c.valid()) return false;
    return true;
}
static_assert(all_valid());

/// "t128x192k4": turned (operands swapped) or usual, rows x columns of the kernel's tile, blocks that share it along K
/// (e: cut evenly), p: pairs of blocks that share an operand.
[[nodiscard]] inline std::string trial_name(const gemm_config& c) {
    std::string name = fmt::format("{}{}x{}", c.swaps_operands() ? 't' : 'u', c.bm, c.bn);
    if (c.split_k > 1) name += fmt::format("k{}", c.split_k);
    if (c.stream_k) name += 'e';
    if (c.cluster * c.cluster_n > 1) name += fmt::format("p{}", c.cluster * c.cluster_n);
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

/// Launches trial `wanted`.
template <std::size_t... Index>
[[nodiscard]] px::result<void> launch_trial(std::size_t wanted, const px::stream& s, const gemm_operands& o,
                                            kernels::gemm_workspace& workspace, std::index_sequence<Index...>) {
    px::result<void> r;
    (void)((wanted == Index && (r = kernels::gemm_with<trial_configs[Index], weights_form>(
                                    s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k),
                                    px::tensor_view(o.c, o.m, o.n), {.workspace = &workspace}),
                                true)) ||
           ...);
    return r;
}
/// Launches configuration `i`.
[[nodiscard]] inline px::result<void> launch_config_at(std::size_t i, const px::stream& s, const gemm_operands& o,
                                                       kernels::gemm_workspace& workspace) {
    if (i >= kernels::gemm_configs.size())
        return launch_trial(i - kernels::gemm_configs.size(), s, o, workspace, std::make_index_sequence<trial_count>{});
    return kernels::gemm<weights_form>(s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k),
                                       px::tensor_view(o.c, o.m, o.n),
                                       {.workspace = &workspace, .choice = static_cast<kernels::gemm_choice>(i)});
}

}  // namespace bench
