// SPDX-License-Identifier: Apache-2.0
// Our contenders of bench_gemm by name: the library's call as it chooses, and each of its configurations.
#pragma once

#include "harness.hpp"

#include <ptxdsl/kernels/gemm.hpp>

#include <array>
#include <memory>

namespace bench {

namespace kernels = px::kernels;

/// Operands of one problem on the device.
struct gemm_operands {
    px::device_ptr<const px::bf16> a, b;
    px::device_ptr<px::bf16> c;
    std::uint64_t m, n, k;
};

/// Names of `gemm_choice`, in its order.
inline constexpr std::array<std::string_view, kernels::gemm_configs.size()> choice_names = {"large",
                                                                                            "large_even",
                                                                                            "large_single",
                                                                                            "medium",
                                                                                            "few_rows",
                                                                                            "few_columns",
                                                                                            "few_rows_split",
                                                                                            "medium_split",
                                                                                            "medium_even",
                                                                                            "large_192",
                                                                                            "tokens_16_split",
                                                                                            "tokens_16_even",
                                                                                            "tokens_32_split",
                                                                                            "tokens_32_even",
                                                                                            "tokens_64_split",
                                                                                            "tokens_64_even",
                                                                                            "tokens_128_split",
                                                                                            "ping_pong",
                                                                                            "narrow",
                                                                                            "few_columns_pair",
                                                                                            "large_224",
                                                                                            "large_176_pair",
                                                                                            "few_rows_pair",
                                                                                            "narrow_64",
                                                                                            "large_160",
                                                                                            "tall_144",
                                                                                            "tokens_48_split",
                                                                                            "tokens_48_even",
                                                                                            "tokens_80_split",
                                                                                            "tokens_80",
                                                                                            "tokens_88",
                                                                                            "tokens_112",
                                                                                            "tokens_144",
                                                                                            "turned_80_pair",
                                                                                            "turned_104_pair",
                                                                                            "turned_144",
                                                                                            "turned_152",
                                                                                            "turned_144_pair_even",
                                                                                            "rows_128x96",
                                                                                            "rows_128x144",
                                                                                            "rows_64x96_p2",
                                                                                            "turned_64x32_k4",
                                                                                            "turned_128x208_q2",
                                                                                            "rows_128x80_p2",
                                                                                            "turned_64x160_k2",
                                                                                            "rows_192x112",
                                                                                            "turned_192x112",
                                                                                            "rows_64x224",
                                                                                            "rows_64x96",
                                                                                            "turned_128x112",
                                                                                            "rows_128x208",
                                                                                            "turned_64x176",
                                                                                            "rows_192x128",
                                                                                            "turned_128x192_even",
                                                                                            "rows_192x160",
                                                                                            "turned_64x64_k4",
                                                                                            "rows_128x112",
                                                                                            "turned_128x176",
                                                                                            "turned_64x224_k2",
                                                                                            "turned_64x88_q4",
                                                                                            "turned_64x192_k2",
                                                                                            "turned_64x56_q4",
                                                                                            "rows_64x128_k4",
                                                                                            "rows_128x80_q4"};

/// B are weights: nothing that runs just before writes them.
inline constexpr kernels::gemm_form weights_form{.constant_b = true};

/// Names of `ping_pong_configs`, in its order.
inline constexpr std::array<std::string_view, std::size(kernels::ping_pong_configs)> ping_pong_names = {
    "pong_64x128", "pong_64x192", "pong_64x256", "pong_64x256_pair", "pong_128x128_pair"};

/// "library" or a configuration's name.
[[nodiscard]] inline std::vector<std::string> gemm_names() {
    std::vector<std::string> all{"library"};
    for (const auto n : choice_names) all.emplace_back(n);
    for (const auto n : ping_pong_names) all.emplace_back(n);
    return all;
}

/// Calls the `wanted`-th of the configurations the library has and does not choose.
template <std::size_t... Index>
[[nodiscard]] px::result<void> launch_ping_pong(std::size_t wanted, const px::stream& s, const gemm_operands& o,
                                                std::index_sequence<Index...>) {
    px::result<void> r;
    (void)((wanted == Index &&
            (r = kernels::gemm_with<kernels::ping_pong_configs[Index], weights_form>(
                 s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k), px::tensor_view(o.c, o.m, o.n)),
             true)) ||
           ...);
    return r;
}

/// The call `name` on `s`, which outlives it. Error: the first call's.
[[nodiscard]] inline px::result<contender> make_gemm(const px::stream& s, const std::string& name,
                                                     const gemm_operands& o,
                                                     const std::shared_ptr<kernels::gemm_workspace>& workspace) {
    std::optional<kernels::gemm_choice> choice;
    for (std::size_t i = 0; i < choice_names.size(); ++i)
        if (choice_names[i] == name) choice = static_cast<kernels::gemm_choice>(i);
    std::size_t pong = 0;
    while (pong < ping_pong_names.size() && ping_pong_names[pong] != name) ++pong;
    const auto launch = [&s, o, workspace, choice, pong](px::stream_ref) -> px::result<void> {
        if (pong < ping_pong_names.size())
            return launch_ping_pong(pong, s, o, std::make_index_sequence<ping_pong_names.size()>{});
        return kernels::gemm<weights_form>(s, px::tensor_view(o.a, o.m, o.k), px::tensor_view(o.b, o.n, o.k),
                                           px::tensor_view(o.c, o.m, o.n),
                                           {.workspace = workspace.get(), .choice = choice});
    };
    if (auto r = launch(s); !r) return r.error();
    return contender{name, launch};
}

}  // namespace bench
