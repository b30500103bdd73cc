// SPDX-License-Identifier: Apache-2.0
// Random products as an engine with continuous batching asks for them: any token count times the weights of published
// language models. Two lists without a pair in common: the choice is fitted on one and judged on the other.
#pragma once

#include "gemm_sizes.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// A layer's weights: `n` outputs, `k` inputs.
struct weights {
    std::uint64_t n, k;
};

/// Projections, MLPs and heads of Llama 3 8B and 70B (whole and cut for 2 and 4 devices), Qwen 2.5 7B, Gemma 2 9B,
/// Mistral Nemo, Mixtral, Phi 3 mini, GPT-OSS, Qwen 3 30B.
inline constexpr weights training_weights[] = {
    {6144, 4096},  {4096, 4096},  {28672, 4096}, {4096, 14336}, {128256, 4096}, {10240, 8192}, {8192, 8192},
    {57344, 8192}, {8192, 28672}, {5120, 8192},  {8192, 14336}, {14336, 8192},  {2560, 8192},  {8192, 2048},
    {4608, 3584},  {3584, 3584},  {37888, 3584}, {8192, 3584},  {3584, 4096},   {28672, 3584}, {3584, 14336},
    {6144, 5120},  {5120, 4096},  {28672, 5120}, {5120, 14336}, {9216, 3072},   {3072, 3072},  {16384, 3072},
    {3072, 8192},  {5120, 2880},  {2880, 4096},  {5760, 2880},  {2880, 2880},   {1536, 2048},  {2048, 768},
    {5120, 2048},  {2048, 4096},  {1024, 4096},
};
/// Those of DeepSeek V3, Qwen 2.5 14B, 32B and 72B, Llama 2 7B and 13B, Command R, Falcon, Yi 34B, Llama 3 70B cut for
/// 8 devices, Llama 3.2 3B, Qwen 3 8B.
inline constexpr weights judging_weights[] = {
    {1536, 7168},   {576, 7168},    {24576, 1536}, {7168, 16384}, {36864, 7168}, {7168, 18432}, {4096, 7168},
    {7168, 2048},   {7168, 5120},   {5120, 5120},  {55296, 5120}, {5120, 27648}, {27648, 5120}, {5120, 13824},
    {59136, 8192},  {8192, 29568},  {12288, 4096}, {22016, 4096}, {4096, 11008}, {15360, 5120}, {24576, 8192},
    {8192, 22528},  {9216, 7168},   {7168, 7168},  {40960, 7168}, {7168, 20480}, {1280, 8192},  {8192, 1024},
    {7168, 8192},   {4096, 12288},  {24576, 4096}, {3584, 18944}, {2048, 8192},  {3072, 2048},  {16384, 2048},
    {129280, 7168}, {152064, 5120}, {4672, 4544},
};

/// Token counts are drawn bucket by bucket, so that each has its share of shapes.
struct token_bucket {
    std::uint64_t low, high;
};
inline constexpr token_bucket token_buckets[] = {{1, 8},     {9, 32},     {33, 64},     {65, 128},    {129, 256},
                                                 {257, 512}, {513, 1024}, {1025, 2048}, {2049, 4096}, {4097, 8192}};

/// Lines of "n k" or "nxk"; nothing when the file cannot be read or has another line.
[[nodiscard]] inline std::optional<std::vector<weights>> read_weights(const std::string& file) {
    std::ifstream in(file);
    std::vector<weights> all;
    for (std::string line; std::getline(in, line);) {
        for (char& c : line)
            if (c == 'x' || c == ',') c = ' ';
        weights w{};
        if (std::sscanf(line.c_str(), "%lu %lu", &w.n, &w.k) != 2 || w.n % 8 != 0 || w.k % 8 != 0 || w.n * w.k == 0)
            return std::nullopt;
        all.push_back(w);
    }
    if (all.empty()) return std::nullopt;
    return all;
}

/// "training", "judging" or a file.
[[nodiscard]] inline std::optional<std::vector<weights>> named_weights(const std::string& name) {
    if (name == "training") return std::vector(std::begin(training_weights), std::end(training_weights));
    if (name == "judging") return std::vector(std::begin(judging_weights), std::end(judging_weights));
    return read_weights(name);
}

/// `count` products with token counts from `low` to `high`: buckets and weights in turn of a shuffle, so that each
/// beginning of the list is a fair sample.
[[nodiscard]] inline std::vector<gemm_size> random_sizes(std::span<const weights> from, std::uint64_t seed,
                                                         std::uint64_t count, std::uint64_t low, std::uint64_t high) {
    demo::generator g(seed);
    std::vector<token_bucket> buckets;
    for (const token_bucket& b : token_buckets)
        if (b.low <= high && b.high >= low) buckets.push_back({std::max(b.low, low), std::min(b.high, high)});
    std::vector<weights> deck;
    std::vector<gemm_size> all;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (deck.empty()) deck.assign(from.begin(), from.end());
        const auto pick = static_cast<std::ptrdiff_t>(g.below(deck.size()));
        const weights w = deck[static_cast<std::size_t>(pick)];
        deck.erase(deck.begin() + pick);
        const token_bucket& b = buckets[i % buckets.size()];
        all.push_back({b.low + g.below(b.high - b.low + 1), w.n, w.k});
    }
    return all;
}

}  // namespace bench
