// SPDX-License-Identifier: Apache-2.0
// RMS norm and layer norm as calls.
#pragma once

#include <ptxdsl/kernels/rows/call.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/norm.hpp>
#endif

#include <string_view>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

/// What a call of a norm may say.
struct norm_options {
    float eps = 1e-6f;
    row_options row{};
};

namespace detail {

/// A call. What the form leaves out is empty.
struct norm_call {
    std::string_view what;
    isa::scalar type = isa::scalar::none;
    norm_form form{};
    row_view x, residual, weight, bias, y, sum;
    float eps = 0;
    row_options options{};
};

/// The call, with the kernels of the library.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const norm_call& c);

#if !PTXDSL_KERNELS_ARE_COMPILED

/// The arguments of `norm_body`.
template <class T>
struct norm_arguments {
    device_ptr<const T> x, residual, weight, bias;
    device_ptr<T> y, sum;
    u32 rows = 0, columns = 0;
    u64 x_stride = 0, residual_stride = 0, y_stride = 0, sum_stride = 0;
    float eps = 0;
    u32 prefetch_rows = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, residual, weight, bias, y, sum, rows, columns, x_stride, residual_stride, y_stride,
                        sum_stride, eps, prefetch_rows);
    }
};

[[nodiscard]] inline error check_norm(const norm_call& c) {
    const auto& f = c.form;
    const row_view &residual = f.residual ? c.residual : c.x, &sum = f.residual ? c.sum : c.y;
    const row_view &weight = f.weight ? c.weight : c.bias, &bias = f.bias ? c.bias : c.weight;
    if (auto e = check_rows(c.what, {c.x, c.y, residual, sum}, {weight, bias})) return e;
    return check_memory(c.what,
                        {c.x.named("x"), c.residual.named("residual"), c.weight.named("weight"), c.bias.named("bias")},
                        {c.y.named("y"), c.sum.named("sum")});
}

template <class T>
[[nodiscard]] error launch_call(const stream& s, const norm_call& c) {
    if (auto e = check_norm(c)) return e;
    if (c.x.rows == 0) return {};
    const norm_form& f = c.form;
    const row_view none{.address = 0, .rows = 1, .columns = c.x.columns, .stride = c.x.columns, .element = sizeof(T)};
    const auto used = [&](bool is, const row_view& v) { return is ? v : none; };
    const row_view residual = used(f.residual, c.residual), sum = used(f.residual, c.sum);
    const row_view weight = used(f.weight, c.weight), bias = used(f.bias, c.bias);
    const u32 width = common_width<T>({c.x, c.y, residual, sum, weight, bias});
    const std::uint64_t bytes = c.x.columns * sizeof(T) * (f.residual ? 2 : 1);
    const bool little = c.x.rows * bytes <= small_input;
    const plan_constraints constraints{.limit = f.centred ? layer_norm_threads(width) : 1024,
                                       .may_hold = !f.residual,
                                       .prefetch_distance = little ? small_prefetch_distance : l2_prefetch_distance,
                                       .stays = little};
    const auto plan = plan_of(c.what, c.options, width, c.x.columns, constraints);
    if (!plan) return plan.error();
    const norm_arguments<T> a{.x = device_ptr<const T>(c.x.address),
                              .residual = device_ptr<const T>(residual.address),
                              .weight = device_ptr<const T>(weight.address),
                              .bias = device_ptr<const T>(bias.address),
                              .y = device_ptr<T>(c.y.address),
                              .sum = device_ptr<T>(sum.address),
                              .rows = static_cast<u32>(c.x.rows),
                              .columns = static_cast<u32>(c.x.columns),
                              .x_stride = c.x.stride,
                              .residual_stride = residual.stride,
                              .y_stride = c.y.stride,
                              .sum_stride = sum.stride,
                              .eps = c.eps,
                              .prefetch_rows = prefetch_rows_of(c.options, constraints, c.x.rows, bytes)};
    return launch_row_kernel<&norm_body<T>>(s, f.centred ? "layer_norm" : "rms_norm",
                                            grid_of(*plan, c.x.rows, c.options.programmatic), plan->launch(), a, *plan,
                                            f);
}
#endif

#ifdef PTXDSL_KERNELS_SOURCE
error run_compiled(const stream& s, const norm_call& c) {
    return with_row_element(c.type, [&]<class T>() { return launch_call<T>(s, c); });
}
#endif

template <class... A>
using rms_norm_views = call_arguments<ranks<2, 1, 2>, std::tuple<norm_options>, A...>;
template <class... A>
using add_rms_norm_views = call_arguments<ranks<2, 2, 1, 2, 2>, std::tuple<norm_options>, A...>;
template <class... A>
using layer_norm_views = call_arguments<ranks<2, 1, 1, 2>, std::tuple<norm_options>, A...>;

}  // namespace detail

PTXDSL_KERNELS_BEGIN

/// y = x / sqrt(mean(x^2) + eps) * weight, for every row. Sums are f32: a row whose squares sum to more than 3.4e38
/// becomes 0, as with torch. `y` is another matrix than `x`.
template <class X, class W, class Y>
result<void> rms_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<W, 1>& weight,
                      const tensor_view<Y, 2>& y, const norm_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of rms_norm is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T>, "PTXDSL-J09: rms_norm takes f32, bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, Y>,
                  "PTXDSL-J09: input, weights and result of rms_norm have one element type");
    const detail::norm_call call{.what = "rms_norm",
                                 .type = scalar_of<T>,
                                 .form = {},
                                 .x = detail::rows_of(x),
                                 .residual = {},
                                 .weight = detail::rows_of(weight),
                                 .bias = {},
                                 .y = detail::rows_of(y),
                                 .sum = {},
                                 .eps = o.eps,
                                 .options = o.row};
    return detail::run<T>(s, call);
}

/// sum = x + residual, rounded to the element type, and y = RMS norm of sum, for every row. `sum` may be `residual`.
template <class X, class R, class W, class S, class Y>
result<void> add_rms_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<R, 2>& residual,
                          const tensor_view<W, 1>& weight, const tensor_view<S, 2>& sum, const tensor_view<Y, 2>& y,
                          const norm_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of add_rms_norm is a view of const elements; pass a mutable one");
    static_assert(detail::is_result<S>,
                  "PTXDSL-B02: the sum of add_rms_norm is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T>, "PTXDSL-J09: add_rms_norm takes f32, bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, std::remove_const_t<R>> &&
                      std::is_same_v<T, S> && std::is_same_v<T, Y>,
                  "PTXDSL-J09: all matrices of add_rms_norm have one element type");
    const detail::norm_call call{.what = "add_rms_norm",
                                 .type = scalar_of<T>,
                                 .form = {.residual = true},
                                 .x = detail::rows_of(x),
                                 .residual = detail::rows_of(residual),
                                 .weight = detail::rows_of(weight),
                                 .bias = {},
                                 .y = detail::rows_of(y),
                                 .sum = detail::rows_of(sum),
                                 .eps = o.eps,
                                 .options = o.row};
    return detail::run<T>(s, call);
}

/// y = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias, for every row. The variance is taken of the
/// differences.
template <class X, class W, class B, class Y>
result<void> layer_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<W, 1>& weight,
                        const tensor_view<B, 1>& bias, const tensor_view<Y, 2>& y,
                        const norm_options& o = {.eps = 1e-5f, .row = {}}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of layer_norm is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T>, "PTXDSL-J09: layer_norm takes f32, bf16 or f16");
    static_assert(
        std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, std::remove_const_t<B>> && std::is_same_v<T, Y>,
        "PTXDSL-J09: input, weights, bias and result of layer_norm have one element type");
    const detail::norm_call call{.what = "layer_norm",
                                 .type = scalar_of<T>,
                                 .form = {.centred = true, .bias = true},
                                 .x = detail::rows_of(x),
                                 .residual = {},
                                 .weight = detail::rows_of(weight),
                                 .bias = detail::rows_of(bias),
                                 .y = detail::rows_of(y),
                                 .sum = {},
                                 .eps = o.eps,
                                 .options = o.row};
    return detail::run<T>(s, call);
}

// clang-format off
PTXDSL_KERNELS_REFUSE(rms_norm, "rms_norm takes: stream, x, weight, y, options", detail::rms_norm_views, norm_options, )
PTXDSL_KERNELS_REFUSE(add_rms_norm, "add_rms_norm takes: stream, x, residual, weight, sum, y, options", detail::add_rms_norm_views, norm_options, )
PTXDSL_KERNELS_REFUSE(layer_norm, "layer_norm takes: stream, x, weight, bias, y, options (without a bias, pass one of zeros)", detail::layer_norm_views, norm_options, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
