// SPDX-License-Identifier: Apache-2.0
// What a call of a matrix product may say.
#pragma once

#include <ptxdsl/kernels/gemm/heuristic.hpp>
#include <ptxdsl/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
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

namespace detail {

/// Of what a pointer among the options is.
enum class option_pointer : std::uint8_t { bias, scale };
/// The element type of options that are none: those of a call that is refused.
struct any_element {};

/// An address among the options: a `device_ptr` to `T`. Others are refused here, where the sentence names the option.
template <class T, option_pointer What>
struct typed_option {
    std::uint64_t address = 0;

    constexpr typed_option() noexcept = default;
    template <class P>
    constexpr typed_option(const P& p) noexcept {  // NOLINT(google-explicit-constructor)
        constexpr bool fits = std::is_same_v<T, any_element> || std::is_convertible_v<const P&, device_ptr<const T>>;
        static_assert(
            fits || What != option_pointer::bias,
            "PTXDSL-J09: the bias of a gemm is no device_ptr to its type, which is the operands', with fp8 the "
            "result's, or bf16 where that is f32 (px::device_ptr_cast for other libraries' pointers)");
        static_assert(fits || What != option_pointer::scale,
                      "PTXDSL-J09: a_scale and b_scale of a gemm are device_ptr<f32>, one value each");
        if constexpr (fits && !std::is_same_v<T, any_element>) address = device_ptr<const T>(p).address;
    }
};

/// The workspace among the options, by its address.
struct workspace_option {
    gemm_workspace* pointer = nullptr;

    constexpr workspace_option() noexcept = default;
    template <class P>
    constexpr workspace_option(const P& p) noexcept {  // NOLINT(google-explicit-constructor)
        static_assert(std::is_convertible_v<const P&, gemm_workspace*>,
                      "PTXDSL-J09: the workspace of a gemm is given by its address: {.workspace = &workspace}");
        if constexpr (std::is_convertible_v<const P&, gemm_workspace*>) pointer = p;
    }
};

}  // namespace detail

/// What a call may say. `Bias` is the operands' type; with fp8 the result's, or bf16 if that is f32.
template <class Bias>
struct gemm_options {
    float alpha = 1.0f, beta = 0.0f;  ///< others than these need `gemm_form::scaled`
    detail::typed_option<Bias, detail::option_pointer::bias>
        bias{};  ///< `device_ptr`: N elements, 4-byte aligned; needs `gemm_form::bias`
    detail::typed_option<f32, detail::option_pointer::scale> a_scale{},
        b_scale{};                         ///< `device_ptr`; fp8: one value each, by which A and B are multiplied
    detail::workspace_option workspace{};  ///< an address: allows the configuration that balances the last waves
    std::optional<gemm_choice> choice{};   ///< instead of `choose_gemm_config`
    bool programmatic = true;              ///< may be placed on the device before the kernel ahead of it has ended
};

}  // namespace ptxdsl::kernels
