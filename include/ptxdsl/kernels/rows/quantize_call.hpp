// SPDX-License-Identifier: Apache-2.0
// fp8 as calls: one scale a row, for 128 columns, or for a square of 128.
#pragma once

#include <ptxdsl/kernels/rows/call.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/quantize.hpp>
#endif

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

namespace detail {

/// What has one scale: a row, 128 columns of one, 128 columns of 128 rows.
enum class scale_kind : u8 { row, block, square };

/// A call. Of the options, those of its kind.
struct quantize_call {
    scale_kind kind = scale_kind::row;
    isa::scalar type = isa::scalar::none, result = isa::scalar::none;
    row_view x, q;
    scale_view scales;  ///< of rows: one column
    row_options row{};
    element_options element{};
};

/// The call, with the kernels of the library.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const quantize_call& c);

#if !PTXDSL_KERNELS_ARE_COMPILED

/// The arguments of `quantize_rows_body`.
template <class T, class Q>
struct quantize_rows_arguments {
    device_ptr<const T> x;
    device_ptr<Q> q;
    device_ptr<f32> scales;
    u32 rows = 0, columns = 0;
    u64 x_stride = 0, q_stride = 0;
    u32 prefetch_rows = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, q, scales, rows, columns, x_stride, q_stride, prefetch_rows);
    }
};
/// Those of `quantize_blocks_body`.
template <class T, class Q>
struct quantize_blocks_arguments {
    device_ptr<const T> x;
    device_ptr<Q> q;
    device_ptr<f32> scales;
    u32 units = 0, blocks = 0, total = 0;
    u64 x_stride = 0, q_stride = 0, scale_row = 0, scale_column = 0;
    u32 prefetch_blocks = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, q, scales, units, blocks, total, x_stride, q_stride, scale_row, scale_column,
                        prefetch_blocks);
    }
};
/// Those of `quantize_squares_body`.
template <class T, class Q>
struct quantize_squares_arguments {
    device_ptr<const T> x;
    device_ptr<Q> q;
    device_ptr<f32> scales;
    u32 units = 0, rows = 0;
    u64 x_stride = 0, q_stride = 0, scale_row = 0, scale_column = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, q, scales, units, rows, x_stride, q_stride, scale_row, scale_column);
    }
};

[[nodiscard]] inline error check_quantize(std::string_view what, const quantize_call& c, const scale_view& scales) {
    if (auto e = check_rows(what, {c.x, c.q})) return e;
    return check_memory(what, {c.x.named("x")}, {c.q.named("q"), named(scales, "scales")});
}

template <class T, class Q>
[[nodiscard]] error launch_rows(const stream& s, const quantize_call& c) {
    if (c.x.rows != c.scales.rows || c.scales.row_stride != 1)
        return {errc::bad_argument, fmt::format("quantize_rows: {} scales for {} rows", c.scales.rows, c.x.rows)};
    const scale_view one_row{c.scales.address, c.scales.rows == 0 ? 0u : 1u, c.scales.rows, c.scales.rows, 1};
    if (auto e = check_quantize("quantize_rows", c, one_row)) return e;
    if (c.x.rows == 0) return {};
    const plan_constraints constraints{.first = 4, .prefetch_distance = 0};
    const auto plan = plan_of("quantize_rows", c.row, common_width<T>({c.x, c.q}), c.x.columns, constraints);
    if (!plan) return plan.error();
    const quantize_rows_arguments<T, Q> a{
        .x = device_ptr<const T>(c.x.address),
        .q = device_ptr<Q>(c.q.address),
        .scales = device_ptr<f32>(c.scales.address),
        .rows = static_cast<u32>(c.x.rows),
        .columns = static_cast<u32>(c.x.columns),
        .x_stride = c.x.stride,
        .q_stride = c.q.stride,
        .prefetch_rows = prefetch_rows_of(c.row, constraints, c.x.rows, c.x.columns * sizeof(T))};
    return launch_row_kernel<&quantize_rows_body<T, Q>>(
        s, "quantize_rows", grid_of(*plan, c.x.rows, c.row.programmatic), plan->launch(), a, *plan);
}

template <class T, class Q>
[[nodiscard]] error launch_blocks(const stream& s, const quantize_call& call) {
    const row_view &x = call.x, &q = call.q;
    const scale_view& scales = call.scales;
    if (auto e = check_quantize("quantize_blocks", call, scales)) return e;
    const std::uint64_t blocks = (x.columns + scale_block - 1) / scale_block;
    if (auto e = check_scales("quantize_blocks", scales, x.rows, blocks)) return e;
    if (x.rows == 0) return {};
    const auto total = count_of("quantize_blocks", x.rows, blocks);
    if (!total) return total.error();
    element_plan c = call.element.plan.value_or(plan_blocks(1));
    if (auto e = check_plan("quantize_blocks", c, 4)) return e;
    if (c.accesses == 3)
        return {errc::bad_argument, "quantize_blocks: the plan has 3 accesses a thread; there are 1, 2 or 4"};
    c.width = common_width<T>({x, q});
    // Blocks that lie one after the other, and their scales too: no block is found by division.
    c.flat = x.columns % scale_block == 0 && without_gaps(x) && without_gaps(q) && scales.column_stride == 1 &&
             (x.rows == 1 || scales.row_stride == blocks) && x.rows * x.columns <= 0x7fffffff;
    const std::uint64_t of_block = std::uint64_t{c.threads} / block_lanes(c.width).lanes * c.accesses;
    const std::uint64_t bytes = std::uint64_t{c.threads} * c.accesses * c.width * sizeof(T);
    const quantize_blocks_arguments<T, Q> a{
        .x = device_ptr<const T>(x.address),
        .q = device_ptr<Q>(q.address),
        .scales = device_ptr<f32>(scales.address),
        .units = static_cast<u32>(x.columns / c.width),
        .blocks = static_cast<u32>(blocks),
        .total = *total,
        .x_stride = x.stride,
        .q_stride = q.stride,
        .scale_row = scales.row_stride,
        .scale_column = scales.column_stride,
        .prefetch_blocks = call.element.prefetch_blocks.value_or(prefetch_distance_in(bytes))};
    return launch_row_kernel<&quantize_blocks_body<T, Q>>(
        s, "quantize_blocks", grid_for(*total, of_block, call.element.programmatic), c.launch(), a, c);
}

template <class T, class Q>
[[nodiscard]] error launch_squares(const stream& s, const quantize_call& call) {
    const row_view &x = call.x, &q = call.q;
    const scale_view& scales = call.scales;
    if (auto e = check_quantize("quantize_squares", call, scales)) return e;
    const std::uint64_t across = (x.columns + scale_block - 1) / scale_block,
                        down = (x.rows + scale_block - 1) / scale_block;
    if (auto e = check_scales("quantize_squares", scales, down, across)) return e;
    if (down > 65535)
        return {errc::bad_argument, fmt::format("quantize_squares: {} rows are more than 65535 * 128", x.rows)};
    if (x.rows == 0) return {};
    const element_plan c{.width = common_width<T>({x, q}), .accesses = 1, .threads = 512};
    const launch_config config{.grid = {static_cast<std::uint32_t>(across), static_cast<std::uint32_t>(down)},
                               .programmatic = call.element.programmatic};
    const quantize_squares_arguments<T, Q> a{.x = device_ptr<const T>(x.address),
                                             .q = device_ptr<Q>(q.address),
                                             .scales = device_ptr<f32>(scales.address),
                                             .units = static_cast<u32>(x.columns / c.width),
                                             .rows = static_cast<u32>(x.rows),
                                             .x_stride = x.stride,
                                             .q_stride = q.stride,
                                             .scale_row = scales.row_stride,
                                             .scale_column = scales.column_stride};
    return launch_row_kernel<&quantize_squares_body<T, Q>>(s, "quantize_squares", config, c.launch(), a, c);
}

template <class T, class Q>
[[nodiscard]] error launch_call(const stream& s, const quantize_call& c) {
    switch (c.kind) {
        case scale_kind::row: return launch_rows<T, Q>(s, c);
        case scale_kind::block: return launch_blocks<T, Q>(s, c);
        case scale_kind::square: break;
    }
    return launch_squares<T, Q>(s, c);
}
#endif

#ifdef PTXDSL_KERNELS_SOURCE
error run_compiled(const stream& s, const quantize_call& c) {
    return with_row_element(c.type, [&]<class T>() {
        return with_fp8_element(c.result, [&]<class Q>() { return launch_call<T, Q>(s, c); });
    });
}
#endif

/// What a quantization writes: its numbers and their scales.
template <class Q, class S>
constexpr void check_quantized() {
    static_assert(is_result<Q>,
                  "PTXDSL-B02: the result q of a quantization is a view of const elements; pass a mutable one");
    static_assert(
        is_result<S>,
        "PTXDSL-B02: the scales of a quantization are written, and are a view of const elements; pass a mutable one");
    static_assert(std::is_same_v<std::remove_const_t<S>, f32>, "PTXDSL-J09: the scales of a quantization are f32");
}
template <class... A>
using quantize_row_views = call_arguments<ranks<2, 2, 1>, std::tuple<row_options>, A...>;
template <class... A>
using quantize_block_views = call_arguments<ranks<2, 2, 2>, std::tuple<element_options>, A...>;
template <class... A>
using quantize_square_views = call_arguments<ranks<2, 2, 2>, std::tuple<bool>, A...>;

}  // namespace detail

PTXDSL_KERNELS_BEGIN

/// q = x / scale in fp8 and scales[row] = max|x| / (largest fp8) of each row. Rows whose largest element is under 1e-30
/// are scaled as if it were that; NaN stays NaN, a row with an infinity becomes 0 and NaN.
template <class X, class Q, class S>
result<void> quantize_rows(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                           const tensor_view<S, 1>& scales, const row_options& o = {}) {
    using T = std::remove_const_t<X>;
    detail::check_quantized<Q, S>();
    static_assert(detail::row_element<T>, "PTXDSL-J09: quantize_rows takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-J09: quantize_rows gives e4m3 or e5m2");
    const detail::quantize_call call{
        .kind = detail::scale_kind::row,
        .type = scalar_of<T>,
        .result = scalar_of<Q>,
        .x = detail::rows_of(x),
        .q = detail::rows_of(q),
        .scales = {scales.data().address, scales.size(0), 1, scales.size(0) <= 1 ? 1 : scales.stride(0), 1},
        .row = o,
        .element = {}};
    return detail::run<T, Q>(s, call);
}

/// q = x / scale in fp8, one scale for each 128 columns of a row: scales is rows x ceil(columns / 128), with any
/// strides.
template <class X, class Q, class S>
result<void> quantize_blocks(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                             const tensor_view<S, 2>& scales, const element_options& o = {}) {
    using T = std::remove_const_t<X>;
    detail::check_quantized<Q, S>();
    static_assert(detail::row_element<T>, "PTXDSL-J09: quantize_blocks takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-J09: quantize_blocks gives e4m3 or e5m2");
    const detail::quantize_call call{.kind = detail::scale_kind::block,
                                     .type = scalar_of<T>,
                                     .result = scalar_of<Q>,
                                     .x = detail::rows_of(x),
                                     .q = detail::rows_of(q),
                                     .scales = detail::scales_of(scales),
                                     .row = {},
                                     .element = o};
    return detail::run<T, Q>(s, call);
}

/// q = x / scale in fp8, one scale for each square of 128 x 128: scales is ceil(rows / 128) x ceil(columns / 128), with
/// any strides. For weights.
template <class X, class Q, class S>
result<void> quantize_squares(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                              const tensor_view<S, 2>& scales, bool programmatic = true) {
    using T = std::remove_const_t<X>;
    detail::check_quantized<Q, S>();
    static_assert(detail::row_element<T>, "PTXDSL-J09: quantize_squares takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-J09: quantize_squares gives e4m3 or e5m2");
    const detail::quantize_call call{.kind = detail::scale_kind::square,
                                     .type = scalar_of<T>,
                                     .result = scalar_of<Q>,
                                     .x = detail::rows_of(x),
                                     .q = detail::rows_of(q),
                                     .scales = detail::scales_of(scales),
                                     .row = {},
                                     .element = {.programmatic = programmatic, .plan = {}, .prefetch_blocks = {}}};
    return detail::run<T, Q>(s, call);
}

// clang-format off
PTXDSL_KERNELS_REFUSE(quantize_rows, "quantize_rows takes: stream, x, q, scales, options", detail::quantize_row_views, row_options, )
PTXDSL_KERNELS_REFUSE(quantize_blocks, "quantize_blocks takes: stream, x, q, scales, options", detail::quantize_block_views, element_options, )
PTXDSL_KERNELS_REFUSE(quantize_squares, "quantize_squares takes: stream, x, q, scales, programmatic", detail::quantize_square_views, bool, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
