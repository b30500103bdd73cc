// SPDX-License-Identifier: Apache-2.0
// The tables of kernels that a launch chooses from, one for some element types. They bring the kernels into the
// program: about fifty a table.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/gemm/launch.hpp>
#include <ptxdsl/kernels/gemm/plain.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels::detail {

/// Whether a kernel can be built that stores as `C` says.
[[nodiscard]] constexpr bool can_be_built(const gemm_config& c, bool gated) noexcept {
    const bool chunks = c.store != store_mode::tma || c.bn % (gated ? 32 : 16) == 0;
    return c.valid() && chunks && (!gated || c.takes_gates());
}

/// Configuration `C` for a call of A of `In` and B of `InB`.
template <gemm_config C, class In, class InB, class Out, bool Gated>
struct configured_gemm {
    using first = std::conditional_t<C.swaps_operands(), InB, In>;
    using second = std::conditional_t<C.swaps_operands(), In, InB>;
    using spec = gemm_spec<C, first, Out, Gated, second>;

    static void write(ir::program& p, const gemm_variant& v) {
        constexpr auto body = &gemm_body<C, first, Out, Gated, second>;
        static_assert(
            runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                                   gemm_call>);
        ptxdsl::detail::write_program(p, "gemm", gemm_attributes<C>, body, v);
    }
    static constexpr gemm_kernel kernel{C, spec::bk, spec::map_a::spec, spec::map_b::spec, spec::map_c::spec, &write};
};

template <gemm_config C, class In, class InB, class Out, bool Gated, bool Wanted = true>
[[nodiscard]] constexpr const gemm_kernel* kernel_or_none() noexcept {
    if constexpr (Wanted && can_be_built(C, Gated))
        return &configured_gemm<C, In, InB, Out, Gated>::kernel;
    else
        return nullptr;
}

template <class In, class InB, class Out>
void write_plain(ir::program& p, const gemm_plain_form& f) {
    constexpr auto body = &gemm_plain_body<In, InB, Out>;
    static_assert(
        runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                               gemm_plain_call>);
    ptxdsl::detail::write_program(p, "gemm_plain", gemm_plain_attributes, body, f);
}

/// Tables of the kernels for one pair of majors: of each choice, then those that store pairs and single elements.
/// `Config(choice)` is what a choice is for them (of 16-bit results; others are stored from registers and have none),
/// `Fallback` what stores from registers.
template <class In, class InB, class Out, bool Gated, major A, major B, gemm_config Fallback, auto Config,
          std::size_t... Choice>
[[nodiscard]] constexpr auto kernel_row(std::index_sequence<Choice...>) noexcept {
    return std::array<const gemm_kernel*, sizeof...(Choice) + 2>{
        kernel_or_none<adapted(Config(Choice), A, B, store_mode::tma), In, InB, Out, Gated, sizeof(Out) == 2>()...,
        kernel_or_none<adapted(Fallback, A, B, store_mode::pairs), In, InB, Out, Gated>(),
        kernel_or_none<adapted(Fallback, A, B, store_mode::elements), In, InB, Out, Gated>()};
}

/// What a choice of `gemm` is.
template <bool Gated, major A, major B>
inline constexpr auto config_of_choice =
    [](std::size_t choice) { return config_of(choice_for(static_cast<gemm_choice>(choice), A, B, Gated)); };
/// What a choice of `gemm_block_scaled` is. A gated tile of 192 columns leaves a chunk and a half.
template <bool Gated>
inline constexpr auto block_scaled_choice = [](std::size_t choice) {
    const gemm_config c = block_scaled_configs[choice];
    return Gated && c.bn == 192 ? block_scaled_configs[2] : c;
};
template <gemm_config C>
inline constexpr auto only_choice = [](std::size_t) { return C; };

template <class In, class InB, class Out, bool Gated, major A, major B>
inline constexpr auto gemm_row =
    kernel_row<In, InB, Out, Gated, A, B, config_of(gemm_choice::medium), config_of_choice<Gated, A, B>>(
        std::make_index_sequence<gemm_configs.size()>{});

/// The kernels of one pair of majors, or of all four.
template <class In, class InB, class Out, bool Gated, bool AnyLayout>
[[nodiscard]] constexpr auto gemm_rows() noexcept {
    constexpr auto nt = gemm_row<In, InB, Out, Gated, k_major, k_major>;
    if constexpr (!AnyLayout || sizeof(In) == 1) {
        return nt;
    } else {
        std::array<const gemm_kernel*, 4 * nt.size()> all{};
        const auto put = [&](std::size_t row, const auto& kernels) {
            for (std::size_t i = 0; i < nt.size(); ++i) all[row * nt.size() + i] = kernels[i];
        };
        put(0, nt);
        put(1, gemm_row<In, InB, Out, Gated, k_major, mn_major>);
        put(2, gemm_row<In, InB, Out, Gated, mn_major, k_major>);
        put(3, gemm_row<In, InB, Out, Gated, mn_major, mn_major>);
        return all;
    }
}

/// The table of `gemm`.
template <class In, class InB, class Out, bool Gated, bool AnyLayout>
struct gemm_table {
    static constexpr auto list = gemm_rows<In, InB, Out, Gated, AnyLayout>();
    static constexpr gemm_kernels kernels{list, gemm_configs.size(), &write_plain<In, InB, Out>};
};
/// That of `gemm_block_scaled`.
template <class In, class InB, class Out, bool Gated>
struct block_scaled_table {
    static constexpr auto list =
        kernel_row<In, InB, Out, Gated, k_major, k_major, block_scaled_configs[2], block_scaled_choice<Gated>>(
            std::make_index_sequence<std::size(block_scaled_configs)>{});
    static constexpr gemm_kernels kernels{list, std::size(block_scaled_configs), &write_plain<In, InB, Out>};
};
/// That of one configuration of the caller's, for the majors `F` allows.
template <gemm_config C, class In, class InB, class Out, gemm_form F>
struct given_table {
    template <major A, major B>
    static constexpr auto row =
        kernel_row<In, InB, Out, F.gated, A, B, C, only_choice<C>>(std::make_index_sequence<1>{});
    static constexpr auto rows() noexcept {
        if constexpr (!F.any_layout || sizeof(In) == 1) {
            return row<k_major, k_major>;
        } else {
            std::array<const gemm_kernel*, 12> all{};
            std::size_t at = 0;
            for (const auto& r :
                 {row<k_major, k_major>, row<k_major, mn_major>, row<mn_major, k_major>, row<mn_major, mn_major>})
                for (const gemm_kernel* k : r) all[at++] = k;
            return all;
        }
    }
    static constexpr auto list = rows();
    static constexpr gemm_kernels kernels{list, 1, &write_plain<In, InB, Out>};
};

}  // namespace ptxdsl::kernels::detail
