// SPDX-License-Identifier: Apache-2.0
// What a call of a matrix product may say.
#pragma once

#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace ptxdsl::kernels {

/// What is fixed when the program is compiled; each distinct one brings its own kernels.
struct gemm_form {
    activation act = activation::none;
    bool bias = false;
    bool gated = false;       ///< see `gemm_epilogue::gated`; B has twice as many columns as C
    bool scaled = false;      ///< alpha and beta other than 1 and 0 are allowed (alpha is, in any case, with fp8)
    bool any_layout = false;  ///< operands may have contiguous columns too; brings more kernels into the program
    bool constant_b =
        false;  ///< no kernel still running writes B (weights): its loads may start before that kernel ends
    constexpr bool operator==(const gemm_form&) const = default;
};

/// Memory that `stream_k` configurations need. One for each stream that runs products at the same time as others.
class gemm_workspace {
public:
    /// Allocates for the device of `ctx`: 128 KiB a multiprocessor.
    static result<gemm_workspace> create(const context& ctx) {
        const auto sms = static_cast<std::size_t>(ctx.device().sm_count);
        auto partials = device_buffer<f32>::allocate(ctx, sms * 128 * 256);
        if (!partials) return partials.error();
        auto flags = device_buffer<u32>::allocate(ctx, sms * 4);  // a block has up to four consumer warpgroups
        if (!flags) return flags.error();
        if (const auto r = flags->fill_bytes(0); !r) return r.error();
        return gemm_workspace(std::move(*partials), std::move(*flags));
    }
    [[nodiscard]] std::uint64_t partials() noexcept { return partials_.ptr().address; }
    [[nodiscard]] std::uint64_t flags() noexcept { return flags_.ptr().address; }

private:
    gemm_workspace(device_buffer<f32> partials, device_buffer<u32> flags) noexcept
        : partials_(std::move(partials)), flags_(std::move(flags)) {}
    device_buffer<f32> partials_;
    device_buffer<u32> flags_;
};

/// What a call may say. `Bias` is the operands' type; with fp8 the result's, or bf16 if that is f32.
template <class Bias>
struct gemm_options {
    float alpha = 1.0f, beta = 0.0f;             ///< others than these need `gemm_form::scaled`
    device_ptr<const Bias> bias{};               ///< N elements, 4-byte aligned; needs `gemm_form::bias`
    device_ptr<const f32> a_scale{}, b_scale{};  ///< fp8: one value each, by which A and B are multiplied
    gemm_workspace* workspace = nullptr;         ///< allows the configuration that balances the last waves
    std::optional<gemm_choice> choice{};         ///< instead of `choose_gemm_config`
    bool programmatic = true;  ///< may be placed on the device before the kernel ahead of it has ended
};

}  // namespace ptxdsl::kernels
