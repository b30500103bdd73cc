// SPDX-License-Identifier: Apache-2.0
// The kernels that a call over pages chooses from, for one element type. They bring the kernels into the program.
#pragma once

#include <ptxdsl/kernels/attention/decode.hpp>
#include <ptxdsl/kernels/attention/decode_launch.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace ptxdsl::kernels {

/// The configurations: for each head size one for pages of a multiple of 64 keys, and one for others.
inline constexpr decode_config decode_configs[] = {
    {.d = 64, .dv = 64, .box = 16, .bn = 128},  {.d = 64, .dv = 64, .box = 64, .bn = 128},
    {.d = 128, .dv = 128, .box = 16, .bn = 64}, {.d = 128, .dv = 128, .box = 64, .bn = 64},
    {.d = 256, .dv = 256, .box = 16, .bn = 64}, {.d = 256, .dv = 256, .box = 64, .bn = 64},
};

namespace detail {

template <decode_config C, class T>
struct configured_decode {
    static void write(ir::program& p, const attention_form& f) {
        constexpr auto body = &decode_body<C, T>;
        static_assert(
            runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                                   decode_call>);
        ptxdsl::detail::write_program(p, "attention_decode", decode_attributes<C>, body, f);
    }
    static void write_combine(ir::program& p, const attention_form& f) {
        constexpr auto body = &combine_body<C.dv, T>;
        static_assert(
            runtime_detail::passes<typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(body)>>::params,
                                   combine_call>);
        ptxdsl::detail::write_program(p, "attention_combine", combine_attributes, body, f, C.bn);
    }
    static constexpr decode_kernel kernel{C, decode_spec<C, T>::map::spec, &write, &write_combine};
};

template <class T, std::size_t... Index>
[[nodiscard]] constexpr auto decode_kernels_of(std::index_sequence<Index...>) noexcept {
    return std::array<const decode_kernel*, sizeof...(Index)>{&configured_decode<decode_configs[Index], T>::kernel...};
}
template <class T>
inline constexpr auto decode_kernels = decode_kernels_of<T>(std::make_index_sequence<std::size(decode_configs)>{});

/// The call, with the kernels of one element type.
template <class T>
[[nodiscard]] error launch_call(const stream& s, const paged_problem& p) {
    return launch_decode(s, p, decode_kernels<T>);
}

}  // namespace detail

}  // namespace ptxdsl::kernels
