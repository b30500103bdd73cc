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

/// Keys and values in pages: those of a call are pages x keys of a page x key heads x head size, and which page has
/// which keys of a sequence is in memory. Pages have a multiple of 16 keys.
struct paged_keys {
    /// [sequence][pages_per_sequence]: the page of a sequence's first keys, of those behind them … Entries behind a
    /// sequence's last key are not read.
    device_ptr<const s32> pages{};
    std::uint64_t pages_per_sequence = 0;
    device_ptr<const s32> lengths{};  ///< how many keys each sequence has
    /// f32 values for the results of parts, where several blocks share the keys of a sequence: `paged_workspace_size`.
    /// None: a block has all keys of a sequence. Calls that may run at once need one each.
    device_ptr<f32> workspace{};
    std::uint64_t workspace_size = 0;
    /// Keys of a part, rounded up to steps of 64 or 128; 0: chosen by the shapes of the call. The bits of a sequence's
    /// results depend on this number and on the sequence alone.
    u32 split_keys = 0;
};

/// How many f32 values let `parts` blocks share the keys of each sequence: `out` of the call is
/// batch x queries x heads x head size.
template <class Out>
[[nodiscard]] std::uint64_t paged_workspace_size(const tensor_view<Out, 4>& out, std::uint64_t parts = 32) noexcept {
    return parts * out.size(0) * out.size(1) * out.size(2) * (out.size(3) + 1);
}

}  // namespace ptxdsl::kernels
