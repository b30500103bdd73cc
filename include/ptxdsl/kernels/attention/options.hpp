// SPDX-License-Identifier: Apache-2.0
// What a call of attention may say.
#pragma once

#include <ptxdsl/runtime.hpp>

#include <cstdint>
#include <optional>

namespace ptxdsl::kernels {

/// What a call of attention may say. Every query stands at a key: the last query of a sequence at its last key.
struct attention_options {
    std::optional<float> scale{};       ///< of the products, over 0; default: 1 / sqrt(head size)
    bool causal = false;                ///< a query sees the key it stands at and those in front of it
    std::optional<u32> window_left{};   ///< how many keys in front of its own it sees; default: all
    std::optional<u32> window_right{};  ///< how many behind it; default: all, with `causal` none
    float softcap = 0;                  ///< logits become softcap * tanh(logit / softcap); 0: they stay
    /// Where the natural logarithms of the sums go: [sequence][head][query], of packed sequences [head][query];
    /// -inf for a query that sees nothing.
    device_ptr<f32> lse{};
    /// How many keys each sequence has, where there is room for more: the rest is not read into any result.
    device_ptr<const s32> used_keys{};
    bool programmatic = true;  ///< may be placed on the device before the kernel ahead of it has ended
};

/// Sequences that lie one behind the other: sequence i has the rows [starts[i], starts[i + 1]).
struct packed_sequences {
    device_ptr<const s32> query_starts{}, key_starts{};  ///< `count` + 1 values each, the first 0
    std::uint64_t count = 0;
    std::uint64_t most_queries = 0;  ///< no sequence has more; what one has beyond is not computed
};

}  // namespace ptxdsl::kernels
