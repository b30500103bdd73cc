// SPDX-License-Identifier: Apache-2.0
// The command line of the bf16 GEMM examples.
#pragma once

#include "../tools/util/gemm_check.hpp"

#include <string>
#include <vector>

namespace demo {

/// What a GEMM example is asked to do.
struct gemm_request {
    gemm_size size{4096, 4096, 4096};
    std::uint64_t repeat = 20, seed = 1;
    std::string out = "bf16", config;
    bool self_test = false, ptxas = false;
};

/// Where the examples differ.
struct gemm_words {
    std::string n, config, self_test;  ///< help of these options
    std::uint64_t least_n = 1;
};

[[nodiscard]] inline std::vector<option> gemm_options(gemm_request& r, const gemm_words& words) {
    const std::uint64_t most = 1 << 20;
    return {
        {.name = "--m",
         .value = "N",
         .help = "rows of A and C (default 4096)",
         .number = &r.size.m,
         .least = 1,
         .most = most},
        {.name = "--n", .value = "N", .help = words.n, .number = &r.size.n, .least = words.least_n, .most = most},
        {.name = "--k",
         .value = "N",
         .help = "columns of A and B, a multiple of 8 (default 4096)",
         .number = &r.size.k,
         .least = 8,
         .most = most},
        {.name = "--out", .value = "bf16|f32", .help = "element type of C (default bf16)", .text = &r.out},
        {.name = "--config", .value = "NAME", .help = words.config, .text = &r.config},
        {.name = "--repeat",
         .value = "N",
         .help = "timed launches (default 20)",
         .number = &r.repeat,
         .least = 1,
         .most = 100'000},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &r.seed},
        {.name = "--self-test", .value = "", .help = words.self_test, .flag = &r.self_test},
        {.name = "--ptxas",
         .value = "",
         .help = "only assemble the kernels of every configuration with ptxas",
         .flag = &r.ptxas},
    };
}

/// Says on stderr what is wrong with the command line.
inline int refuse(const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    return usage;
}

}  // namespace demo
