// SPDX-License-Identifier: Apache-2.0
// What the GEMM benchmarks share: sizes as the command line has them, and the peer that is there or not.
#pragma once

#include "../tools/util/gemm_check.hpp"
#include "cublaslt.hpp"
#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

using demo::gemm_size;

[[nodiscard]] inline std::string text_of(gemm_size s) { return fmt::format("{}x{}x{}", s.m, s.n, s.k); }
[[nodiscard]] inline double tflop_of(gemm_size s) {
    return 2e-6 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

/// "8192" is a cube, "128x4096x4096" is m x n x k with k a multiple of `step`.
[[nodiscard]] inline std::optional<gemm_size> parse_gemm_size(std::string_view word, std::uint64_t step = 1) {
    std::vector<std::uint64_t> n;
    for (const std::string& part : split(word, 'x')) n.push_back(std::strtoull(part.c_str(), nullptr, 10));
    if (n.size() == 1) n = {n[0], n[0], n[0]};
    if (n.size() != 3 || std::count(n.begin(), n.end(), 0u) != 0 || n[2] % step != 0) return std::nullopt;
    return gemm_size{n[0], n[1], n[2]};
}

/// cuBLASLt, or a sentence on the screen why it is not there.
[[nodiscard]] inline std::shared_ptr<const cublaslt> load_cublaslt() {
    const auto l = cublaslt::load();
    if (!l) return demo::say("no peer: {}", l.error().message()), nullptr;
    demo::say("cuBLASLt {}", (*l)->version());
    return *l;
}

}  // namespace bench
