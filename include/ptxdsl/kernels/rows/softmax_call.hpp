// SPDX-License-Identifier: Apache-2.0
// Softmax as a call.
#pragma once

#include <ptxdsl/kernels/rows/call.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/softmax.hpp>
#endif

#include <numbers>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

namespace detail {

/// A call.
struct softmax_call {
    isa::scalar type = isa::scalar::none;
    row_view x, y;
    float scale = 1;
    row_options options{};
};

/// The call, with the kernels of the library.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const softmax_call& c);

#if !PTXDSL_KERNELS_ARE_COMPILED

/// The arguments of `softmax_body`.
template <class T>
struct softmax_arguments {
    device_ptr<const T> x;
    device_ptr<T> y;
    u32 rows = 0, columns = 0;
    u64 x_stride = 0, y_stride = 0;
    float factor = 0;
    u32 prefetch_rows = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, y, rows, columns, x_stride, y_stride, factor, prefetch_rows);
    }
};

template <class T>
[[nodiscard]] error launch_call(const stream& s, const softmax_call& c) {
    if (auto e = check_rows("softmax", {c.x, c.y})) return e;
    if (auto e = check_memory("softmax", {c.x.named("x")}, {c.y.named("y")})) return e;
    if (!(c.scale > 0))
        return {errc::bad_argument, fmt::format("softmax: the scale is {}; it has to be positive", c.scale)};
    if (c.x.rows == 0) return {};
    const plan_constraints constraints{};
    const auto plan = plan_of("softmax", c.options, common_width<T>({c.x, c.y}), c.x.columns, constraints);
    if (!plan) return plan.error();
    const softmax_arguments<T> a{
        .x = device_ptr<const T>(c.x.address),
        .y = device_ptr<T>(c.y.address),
        .rows = static_cast<u32>(c.x.rows),
        .columns = static_cast<u32>(c.x.columns),
        .x_stride = c.x.stride,
        .y_stride = c.y.stride,
        .factor = c.scale * std::numbers::log2e_v<float>,
        .prefetch_rows = prefetch_rows_of(c.options, constraints, c.x.rows, c.x.columns * sizeof(T))};
    return launch_row_kernel<&softmax_body<T>>(s, "softmax", grid_of(*plan, c.x.rows, c.options.programmatic),
                                               plan->launch(), a, *plan);
}
#endif

#ifdef PTXDSL_KERNELS_SOURCE
error run_compiled(const stream& s, const softmax_call& c) {
    return with_row_element(c.type, [&]<class T>() { return launch_call<T>(s, c); });
}
#endif

template <class... A>
using softmax_views = call_arguments<ranks<2, 2>, std::tuple<float, row_options>, A...>;

}  // namespace detail

PTXDSL_KERNELS_BEGIN

/// y = softmax(scale * x), for every row; scale > 0. As with torch, a row with NaN or +inf, or of nothing but -inf, is
/// NaN.
template <class X, class Y>
result<void> softmax(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Y, 2>& y, float scale = 1.0f,
                     const row_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of softmax is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T> && std::is_same_v<T, Y>,
                  "PTXDSL-J09: softmax takes f32, bf16 or f16, and gives the same");
    const detail::softmax_call call{
        .type = scalar_of<T>, .x = detail::rows_of(x), .y = detail::rows_of(y), .scale = scale, .options = o};
    return detail::run<T>(s, call);
}

// clang-format off
PTXDSL_KERNELS_REFUSE(softmax, "softmax takes: stream, x, y, scale, options", detail::softmax_views, row_options, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
