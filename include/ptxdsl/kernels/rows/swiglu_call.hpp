// SPDX-License-Identifier: Apache-2.0
// SwiGLU as a call.
#pragma once

#include <ptxdsl/kernels/rows/call.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/swiglu.hpp>
#endif

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

namespace detail {

/// A call.
struct swiglu_call {
    isa::scalar type = isa::scalar::none;
    row_view gate, up, y;
    element_options options{};
};

/// The call, with the kernels of the library.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const swiglu_call& c);

#if !PTXDSL_KERNELS_ARE_COMPILED

/// The arguments of `swiglu_body`.
template <class T>
struct swiglu_arguments {
    device_ptr<const T> gate, up;
    device_ptr<T> y;
    u32 units = 0, total = 0;
    u64 gate_stride = 0, up_stride = 0, y_stride = 0;
    u32 prefetch_blocks = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(gate, up, y, units, total, gate_stride, up_stride, y_stride, prefetch_blocks);
    }
};

template <class T>
[[nodiscard]] error launch_call(const stream& s, const swiglu_call& call) {
    row_view gate = call.gate, up = call.up, y = call.y;
    if (auto e = check_rows("swiglu", {gate, up, y})) return e;
    if (auto e = check_memory("swiglu", {gate.named("gate"), up.named("up")}, {y.named("y")})) return e;
    if (gate.rows == 0) return {};
    const bool flat = without_gaps(gate) && without_gaps(up) && without_gaps(y);
    for (row_view* v : {&gate, &up, &y})
        if (flat) v->columns *= v->rows, v->rows = 1;
    const u32 width = common_width<T>({gate, up, y});
    const auto total = count_of("swiglu", gate.rows, gate.columns / width);
    if (!total) return total.error();
    element_plan c = call.options.plan.value_or(plan_swiglu(width, *total));
    if (auto e = check_plan("swiglu", c, 8)) return e;
    c.width = width, c.flat = flat;
    const std::uint64_t of_block = std::uint64_t{c.threads} * c.accesses;
    const swiglu_arguments<T> a{.gate = device_ptr<const T>(gate.address),
                                .up = device_ptr<const T>(up.address),
                                .y = device_ptr<T>(y.address),
                                .units = static_cast<u32>(gate.columns / width),
                                .total = *total,
                                .gate_stride = gate.stride,
                                .up_stride = up.stride,
                                .y_stride = y.stride,
                                .prefetch_blocks = call.options.prefetch_blocks.value_or(
                                    prefetch_distance_in(2 * of_block * width * sizeof(T)))};
    return launch_row_kernel<&swiglu_body<T>>(s, "swiglu", grid_for(*total, of_block, call.options.programmatic),
                                              c.launch(), a, c);
}
#endif

#ifdef PTXDSL_KERNELS_SOURCE
error run_compiled(const stream& s, const swiglu_call& c) {
    return with_row_element(c.type, [&]<class T>() { return launch_call<T>(s, c); });
}
#endif

template <class... A>
using swiglu_views = call_arguments<ranks<2, 2, 2>, std::tuple<element_options>, A...>;

}  // namespace detail

PTXDSL_KERNELS_BEGIN

/// y = silu(gate) * up, element by element; silu(v) = v / (1 + e^-v). `y` may be `gate` or `up`.
template <class G, class U, class Y>
result<void> swiglu(const stream& s, const tensor_view<G, 2>& gate, const tensor_view<U, 2>& up,
                    const tensor_view<Y, 2>& y, const element_options& o = {}) {
    using T = std::remove_const_t<G>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of swiglu is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T> && std::is_same_v<T, std::remove_const_t<U>> && std::is_same_v<T, Y>,
                  "PTXDSL-J09: swiglu takes f32, bf16 or f16, the same for all three matrices");
    const detail::swiglu_call call{.type = scalar_of<T>,
                                   .gate = detail::rows_of(gate),
                                   .up = detail::rows_of(up),
                                   .y = detail::rows_of(y),
                                   .options = o};
    return detail::run<T>(s, call);
}

// clang-format off
PTXDSL_KERNELS_REFUSE(swiglu, "swiglu takes: stream, gate, up, y, options", detail::swiglu_views, element_options, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
