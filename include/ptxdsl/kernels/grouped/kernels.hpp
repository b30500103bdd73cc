// SPDX-License-Identifier: Apache-2.0
// The kernels that a grouped product chooses from, for one element type. They bring the kernels into the program.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/grouped/kernel.hpp>
#include <ptxdsl/kernels/grouped/launch.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels {

/// The configurations, in the order of `detail::grouped_choice`. A gated product leaves half of its columns: its last
/// one is as wide as the one before.
template <bool Gated>
inline constexpr gemm_config grouped_configs[] = {
    {.bm = 64, .bn = 256, .stages = 5, .cluster = 1, .group = 16},
    {.bm = 128, .bn = 256, .stages = 4, .cluster = 1, .cluster_n = 2, .group = 16},
    {.bm = 128, .bn = 256, .stages = 4, .cluster = 1, .group = 16},
    {.bm = 128, .bn = 128, .stages = 6, .cluster = 1, .group = 16},
    {.bm = 128, .bn = Gated ? 128u : 64u, .stages = 6, .cluster = 1, .group = 16},
};

namespace detail {

template <gemm_config C, class T, bool Gated>
struct configured_grouped {
    using spec = grouped_spec<C, T, Gated>;
    static void write(ir::program& p, const grouped_variant& v) {
        constexpr auto body = &grouped_gemm_body<C, T, Gated>;
        static_assert(
            runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                                   grouped_call>);
        ptxdsl::detail::write_program(p, "grouped_gemm", gemm_attributes<C>, body, v);
    }
    static constexpr grouped_kernel kernel{C, spec::map_a::spec, spec::map_b::spec, spec::map_c::spec, &write};
};

template <class T, bool Gated, std::size_t... Index>
[[nodiscard]] constexpr auto grouped_kernels_of(std::index_sequence<Index...>) noexcept {
    return std::array<const grouped_kernel*, sizeof...(Index)>{
        &configured_grouped<grouped_configs<Gated>[Index], T, Gated>::kernel...};
}
template <class T, bool Gated>
inline constexpr auto grouped_table =
    grouped_kernels_of<T, Gated>(std::make_index_sequence<std::size(grouped_configs<Gated>)>{});

}  // namespace detail

}  // namespace ptxdsl::kernels
