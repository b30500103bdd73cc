// SPDX-License-Identifier: Apache-2.0
// The kernels that a launch of attention chooses from, for one element type. They bring the kernels into the program.
#pragma once

#include <ptxdsl/kernels/attention/kernel.hpp>
#include <ptxdsl/kernels/attention/launch.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels {

/// The configurations: for each pair of head sizes one, or one for short and one for long sequences.
inline constexpr attention_config attention_configs[] = {
    {.d = 64, .dv = 64, .bm = 192, .bn = 128},   {.d = 96, .dv = 96, .bm = 128, .bn = 128},
    {.d = 128, .dv = 128, .bm = 128, .bn = 128}, {.d = 128, .dv = 128, .bm = 128, .bn = 160},
    {.d = 192, .dv = 128, .bm = 128, .bn = 128}, {.d = 256, .dv = 256, .bm = 128, .bn = 80},
};

namespace detail {

template <attention_config C, class T>
struct configured_attention {
    using spec = attention_spec<C, T>;
    static void write(ir::program& p, const attention_form& f) {
        constexpr auto body = &attention_body<C, T>;
        static_assert(
            runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                                   attention_call>);
        ptxdsl::detail::write_program(p, "attention", attention_attributes<C>, body, f);
    }
    static constexpr attention_kernel kernel{C, spec::map_q::spec, spec::map_k::spec, spec::map_v::spec, &write};
};

template <class T, std::size_t... Index>
[[nodiscard]] constexpr auto attention_kernels_of(std::index_sequence<Index...>) noexcept {
    return std::array<const attention_kernel*, sizeof...(Index)>{
        &configured_attention<attention_configs[Index], T>::kernel...};
}
template <class T>
inline constexpr auto attention_kernels =
    attention_kernels_of<T>(std::make_index_sequence<std::size(attention_configs)>{});

/// The call, with the kernels of one element type.
template <class T>
[[nodiscard]] error launch_call(const stream& s, const attention_problem& p) {
    return launch_attention(s, p, attention_kernels<T>);
}

}  // namespace detail

}  // namespace ptxdsl::kernels
