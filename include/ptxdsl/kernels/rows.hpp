// SPDX-License-Identifier: Apache-2.0
// Memory-bound kernels as calls: `px::kernels::rms_norm(stream, x, weight, y)`, layer norm, softmax, SwiGLU, rotary
// embedding, fp8. Matrices are views of rank 2 with contiguous rows, of f32, bf16 or f16; any extents. Rows that are a
// multiple of 16 bytes and 16-byte aligned are fastest. Kernels are assembled and loaded on first use, once for each
// context and kind of row; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/norm.hpp>
#include <ptxdsl/kernels/rows/quantize.hpp>
#include <ptxdsl/kernels/rows/rope.hpp>
#include <ptxdsl/kernels/rows/softmax.hpp>
#include <ptxdsl/kernels/rows/swiglu.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <type_traits>

namespace ptxdsl::kernels {

/// y = x / sqrt(mean(x^2) + eps) * weight, for every row. Sums are f32: a row whose squares sum to more than 3.4e38
/// becomes 0, as with torch. `y` is another matrix than `x`.
template <class X, class W, class Y>
result<void> rms_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<W, 1>& weight,
                      const tensor_view<Y, 2>& y, const norm_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: rms_norm takes f32, bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, Y>,
                  "PTXDSL-kernels: input, weights and result of rms_norm have one element type");
    using namespace detail;
    const norm_call n{.x = rows_of(x),
                      .residual = {},
                      .weight = rows_of(weight),
                      .bias = {},
                      .y = rows_of(y),
                      .sum = {},
                      .eps = o.eps};
    if (auto e = check_rows("rms_norm", {n.x, n.y}, {n.weight})) return e;
    return launch_norm<T>(s, "rms_norm", {}, n, o.row);
}

/// sum = x + residual, rounded to the element type, and y = RMS norm of sum, for every row. `sum` may be `residual`.
template <class X, class R, class W, class S, class Y>
result<void> add_rms_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<R, 2>& residual,
                          const tensor_view<W, 1>& weight, const tensor_view<S, 2>& sum, const tensor_view<Y, 2>& y,
                          const norm_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: add_rms_norm takes f32, bf16 or f16");
    static_assert(std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, std::remove_const_t<R>> &&
                      std::is_same_v<T, S> && std::is_same_v<T, Y>,
                  "PTXDSL-kernels: all matrices of add_rms_norm have one element type");
    using namespace detail;
    const norm_call n{.x = rows_of(x),
                      .residual = rows_of(residual),
                      .weight = rows_of(weight),
                      .bias = {},
                      .y = rows_of(y),
                      .sum = rows_of(sum),
                      .eps = o.eps};
    if (auto e = check_rows("add_rms_norm", {n.x, n.residual, n.sum, n.y}, {n.weight})) return e;
    return launch_norm<T>(s, "add_rms_norm", {.residual = true}, n, o.row);
}

/// y = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias, for every row. The variance is taken of the
/// differences.
template <class X, class W, class B, class Y>
result<void> layer_norm(const stream& s, const tensor_view<X, 2>& x, const tensor_view<W, 1>& weight,
                        const tensor_view<B, 1>& bias, const tensor_view<Y, 2>& y,
                        const norm_options& o = {.eps = 1e-5f, .row = {}}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: layer_norm takes f32, bf16 or f16");
    static_assert(
        std::is_same_v<T, std::remove_const_t<W>> && std::is_same_v<T, std::remove_const_t<B>> && std::is_same_v<T, Y>,
        "PTXDSL-kernels: input, weights, bias and result of layer_norm have one element type");
    using namespace detail;
    const norm_call n{.x = rows_of(x),
                      .residual = {},
                      .weight = rows_of(weight),
                      .bias = rows_of(bias),
                      .y = rows_of(y),
                      .sum = {},
                      .eps = o.eps};
    if (auto e = check_rows("layer_norm", {n.x, n.y}, {n.weight, n.bias})) return e;
    return launch_norm<T>(s, "layer_norm", {.centred = true, .bias = true}, n, o.row);
}

/// y = softmax(scale * x), for every row; scale > 0. As with torch, a row with NaN or +inf, or of nothing but -inf, is
/// NaN.
template <class X, class Y>
result<void> softmax(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Y, 2>& y, float scale = 1.0f,
                     const row_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T> && std::is_same_v<T, Y>,
                  "PTXDSL-kernels: softmax takes f32, bf16 or f16, and gives the same");
    using namespace detail;
    const row_view vx = rows_of(x), vy = rows_of(y);
    if (auto e = check_rows("softmax", {vx, vy})) return e;
    if (!(scale > 0))
        return error{errc::bad_argument, fmt::format("softmax: the scale is {}; it has to be positive", scale)};
    const std::uint64_t bytes = vx.columns * sizeof(T);
    const plan_constraints constraints{};
    const auto plan = plan_of("softmax", o, common_width<T>({vx, vy}), vx.columns, constraints);
    if (!plan) return plan.error();
    static kernel_cache<row_plan> cache;
    const auto kernel = cache.get(
        s.ctx(), *plan, [&] { return assemble_at_run_time("softmax", &softmax_body<T>, plan->launch(), *plan); });
    if (!kernel) return kernel.error();
    const launch_config grid = grid_of(*plan, vx.rows, o.programmatic);
    const u32 prefetch_rows = prefetch_rows_of(o, constraints, vx.rows, bytes);
    if (auto e = launch_raw(s, *kernel, grid, vx.address, vy.address, static_cast<u32>(vx.rows),
                            static_cast<u32>(vx.columns), vx.stride, vy.stride, scale * std::numbers::log2e_v<float>,
                            prefetch_rows))
        return e;
    return {};
}

/// q = x / scale in fp8 and scales[row] = max|x| / (largest fp8) of each row. Rows whose largest element is under 1e-30
/// are scaled as if it were that; NaN stays NaN, a row with an infinity becomes 0 and NaN.
template <class X, class Q>
result<void> quantize_rows(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                           const tensor_view<f32, 1>& scales, const row_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: quantize_rows takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-kernels: quantize_rows gives e4m3 or e5m2");
    using namespace detail;
    const row_view vx = rows_of(x), vq = rows_of(q), vs = rows_of(scales);
    if (auto e = check_rows("quantize_rows", {vx, vq})) return e;
    if (vs.columns != vx.rows || !vs.contiguous)
        return error{errc::bad_argument, fmt::format("quantize_rows: {} scales for {} rows", vs.columns, vx.rows)};
    const plan_constraints constraints{.first = 4, .prefetch_distance = 0};
    const auto plan = plan_of("quantize_rows", o, common_width<T>({vx, vq}), vx.columns, constraints);
    if (!plan) return plan.error();
    static kernel_cache<row_plan> cache;
    const auto kernel = cache.get(s.ctx(), *plan, [&] {
        return assemble_at_run_time("quantize_rows", &quantize_rows_body<T, Q>, plan->launch(), *plan);
    });
    if (!kernel) return kernel.error();
    const launch_config grid = grid_of(*plan, vx.rows, o.programmatic);
    const u32 prefetch_rows = prefetch_rows_of(o, constraints, vx.rows, vx.columns * sizeof(T));
    if (auto e = launch_raw(s, *kernel, grid, vx.address, vq.address, vs.address, static_cast<u32>(vx.rows),
                            static_cast<u32>(vx.columns), vx.stride, vq.stride, prefetch_rows))
        return e;
    return {};
}

/// q = x / scale in fp8, one scale for each 128 columns of a row: scales is rows x ceil(columns / 128), with any
/// strides.
template <class X, class Q>
result<void> quantize_blocks(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                             const tensor_view<f32, 2>& scales, const element_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: quantize_blocks takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-kernels: quantize_blocks gives e4m3 or e5m2");
    using namespace detail;
    const row_view vx = rows_of(x), vq = rows_of(q);
    if (auto e = check_rows("quantize_blocks", {vx, vq})) return e;
    const std::uint64_t blocks = (vx.columns + scale_block - 1) / scale_block;
    if (auto e = check_scales<Q>("quantize_blocks", scales, vx.rows, blocks)) return e;
    const auto total = count_of("quantize_blocks", vx.rows, blocks);
    if (!total) return total.error();
    element_plan c = o.plan.value_or(plan_blocks(1));
    if (auto e = check_plan("quantize_blocks", c, 4)) return e;
    if (c.accesses == 3)
        return error{errc::bad_argument, "quantize_blocks: the plan has 3 accesses a thread; there are 1, 2 or 4"};
    c.width = common_width<T>({vx, vq});
    // Blocks that lie one after the other, and their scales too: no block is found by division.
    c.flat = vx.columns % scale_block == 0 && without_gaps(vx) && without_gaps(vq) && scales.stride(1) == 1 &&
             (vx.rows == 1 || scales.stride(0) == blocks) && vx.rows * vx.columns <= 0x7fffffff;
    static kernel_cache<element_plan> cache;
    const auto kernel = cache.get(s.ctx(), c, [&] {
        return assemble_at_run_time("quantize_blocks", &quantize_blocks_body<T, Q>, c.launch(), c);
    });
    if (!kernel) return kernel.error();
    const launch_config grid =
        grid_for(*total, std::uint64_t{c.threads} / block_lanes(c.width).lanes * c.accesses, o.programmatic);
    const u32 prefetch_blocks =
        o.prefetch_blocks.value_or(prefetch_distance_in(std::uint64_t{c.threads} * c.accesses * c.width * sizeof(T)));
    if (auto e = launch_raw(s, *kernel, grid, vx.address, vq.address, scales.data().address,
                            static_cast<u32>(vx.columns / c.width), static_cast<u32>(blocks), *total, vx.stride,
                            vq.stride, scales.stride(0), scales.stride(1), prefetch_blocks))
        return e;
    return {};
}

/// q = x / scale in fp8, one scale for each square of 128 x 128: scales is ceil(rows / 128) x ceil(columns / 128), with
/// any strides. For weights.
template <class X, class Q>
result<void> quantize_squares(const stream& s, const tensor_view<X, 2>& x, const tensor_view<Q, 2>& q,
                              const tensor_view<f32, 2>& scales, bool programmatic = true) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T>, "PTXDSL-kernels: quantize_squares takes f32, bf16 or f16");
    static_assert(detail::fp8_element<Q>, "PTXDSL-kernels: quantize_squares gives e4m3 or e5m2");
    using namespace detail;
    const row_view vx = rows_of(x), vq = rows_of(q);
    if (auto e = check_rows("quantize_squares", {vx, vq})) return e;
    const std::uint64_t across = (vx.columns + scale_block - 1) / scale_block,
                        down = (vx.rows + scale_block - 1) / scale_block;
    if (auto e = check_scales<Q>("quantize_squares", scales, down, across)) return e;
    if (down > 65535)
        return error{errc::bad_argument, fmt::format("quantize_squares: {} rows are more than 65535 * 128", vx.rows)};
    const element_plan c{.width = common_width<T>({vx, vq}), .accesses = 1, .threads = 512};
    static kernel_cache<element_plan> cache;
    const auto kernel = cache.get(s.ctx(), c, [&] {
        return assemble_at_run_time("quantize_squares", &quantize_squares_body<T, Q>, c.launch(), c);
    });
    if (!kernel) return kernel.error();
    const launch_config config{.grid = {static_cast<std::uint32_t>(across), static_cast<std::uint32_t>(down)},
                               .programmatic = programmatic};
    if (auto e = launch_raw(s, *kernel, config, vx.address, vq.address, scales.data().address,
                            static_cast<u32>(vx.columns / c.width), static_cast<u32>(vx.rows), vx.stride, vq.stride,
                            scales.stride(0), scales.stride(1)))
        return e;
    return {};
}

/// y = silu(gate) * up, element by element; silu(v) = v / (1 + e^-v). `y` may be `gate` or `up`.
template <class G, class U, class Y>
result<void> swiglu(const stream& s, const tensor_view<G, 2>& gate, const tensor_view<U, 2>& up,
                    const tensor_view<Y, 2>& y, const element_options& o = {}) {
    using T = std::remove_const_t<G>;
    static_assert(detail::row_element<T> && std::is_same_v<T, std::remove_const_t<U>> && std::is_same_v<T, Y>,
                  "PTXDSL-kernels: swiglu takes f32, bf16 or f16, the same for all three matrices");
    using namespace detail;
    row_view vg = rows_of(gate), vu = rows_of(up), vy = rows_of(y);
    if (auto e = check_rows("swiglu", {vg, vu, vy})) return e;
    const bool flat = without_gaps(vg) && without_gaps(vu) && without_gaps(vy);
    for (row_view* v : {&vg, &vu, &vy})
        if (flat) v->columns *= v->rows, v->rows = 1;
    const u32 width = common_width<T>({vg, vu, vy});
    const auto total = count_of("swiglu", vg.rows, vg.columns / width);
    if (!total) return total.error();
    element_plan c = o.plan.value_or(plan_swiglu(width, *total));
    if (auto e = check_plan("swiglu", c, 8)) return e;
    c.width = width, c.flat = flat;
    static kernel_cache<element_plan> cache;
    const auto kernel =
        cache.get(s.ctx(), c, [&] { return assemble_at_run_time("swiglu", &swiglu_body<T>, c.launch(), c); });
    if (!kernel) return kernel.error();
    const launch_config grid = grid_for(*total, std::uint64_t{c.threads} * c.accesses, o.programmatic);
    const u32 prefetch_blocks = o.prefetch_blocks.value_or(
        prefetch_distance_in(std::uint64_t{2} * c.threads * c.accesses * c.width * sizeof(T)));
    if (auto e =
            launch_raw(s, *kernel, grid, vg.address, vu.address, vy.address, static_cast<u32>(vg.columns / c.width),
                       *total, vg.stride, vu.stride, vy.stride, prefetch_blocks))
        return e;
    return {};
}

/// What a call of `rope` may say.
struct rope_options {
    rope_pairs pairs = rope_pairs::halves;
    bool programmatic = true;
    u32 threads = 0, heads = 0;  ///< of a block; and those a thread rotates, up to 4. 0: as the library chooses
};

namespace detail {

/// The plan of a rotary embedding: accesses that divide both parts of a head and suit the addresses. With eight pairs
/// an access, angles are twice the bytes of what they turn: two heads share them.
template <class T>
[[nodiscard]] rope_plan plan_rope(rope_pairs pairs, std::uint64_t heads, std::uint64_t rotated, std::uint64_t rest,
                                  std::initializer_list<std::uint64_t> strides,
                                  std::initializer_list<std::uint64_t> addresses, std::uint64_t angle_stride,
                                  std::initializer_list<std::uint64_t> angle_addresses) {
    const u32 side_by_side = pairs == rope_pairs::halves ? 1 : 2;  // values of a pair
    u32 w = 16 / sizeof(T) / side_by_side;
    const auto suits = [&] {
        const u32 values = w * side_by_side, angles = w < 4 ? w : 4;
        bool ok = rotated / 2 % w == 0 && rest / 2 % w == 0 && angle_stride % angles == 0;
        for (const auto v : strides) ok = ok && v % values == 0;
        for (const auto a : addresses) ok = ok && a % (values * sizeof(T)) == 0;
        for (const auto a : angle_addresses) ok = ok && a % (angles * 4) == 0;
        return ok;
    };
    while (w > 1 && !suits()) w /= 2;
    const u32 shared_by = w == 8 && heads % 2 == 0 ? 2 : 1;
    return {.width = w, .pairs = pairs, .partial = rest != 0, .apart = !suits(), .heads = shared_by};
}

}  // namespace detail

/// Rotary position embedding: x and y are tokens x heads x elements, `positions` has one entry a token, and row p of
/// `cosines` and `sines` (f32) has the angles of position p, one for each pair: their columns are half of the elements,
/// or fewer: then the elements after the rotated ones are copied. `y` may be `x`.
template <class X, class P, class C, class S, class Y>
result<void> rope(const stream& s, const tensor_view<X, 3>& x, const tensor_view<P, 1>& positions,
                  const tensor_view<C, 2>& cosines, const tensor_view<S, 2>& sines, const tensor_view<Y, 3>& y,
                  const rope_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::row_element<T> && std::is_same_v<T, Y>,
                  "PTXDSL-kernels: rope takes f32, bf16 or f16, and gives the same");
    static_assert(std::is_same_v<std::remove_const_t<P>, s32>, "PTXDSL-kernels: the positions of rope are s32");
    static_assert(std::is_same_v<std::remove_const_t<C>, f32> && std::is_same_v<std::remove_const_t<S>, f32>,
                  "PTXDSL-kernels: the angles of rope are f32");
    using namespace detail;
    const std::uint64_t tokens = x.size(0), heads = x.size(1), size = x.size(2), rotated = 2 * cosines.size(1);
    if (tokens == 0 || heads == 0 || size == 0 || size % 2 != 0 || rotated == 0 || rotated > size)
        return error{errc::bad_argument, fmt::format("rope: {} tokens, {} heads of {} elements, {} of them rotated; "
                                                     "elements come in pairs, and some are rotated",
                                                     tokens, heads, size, rotated)};
    if (y.size(0) != tokens || y.size(1) != heads || y.size(2) != size || positions.size(0) != tokens ||
        sines.size(0) != cosines.size(0) || sines.size(1) != cosines.size(1) || sines.stride(0) != cosines.stride(0))
        return error{errc::bad_argument,
                     "rope: x and y have the same extents, there is a position for each token, and the tables of "
                     "angles are alike"};
    if (x.stride(2) != 1 || y.stride(2) != 1 || cosines.stride(1) != 1 || sines.stride(1) != 1 ||
        positions.stride(0) != 1)
        return error{errc::bad_argument,
                     "rope: the elements of a head and the angles of a position lie next to each other"};
    rope_plan c = plan_rope<T>(
        o.pairs, heads, rotated, size - rotated, {x.stride(0), x.stride(1), y.stride(0), y.stride(1)},
        {x.data().address, y.data().address}, cosines.stride(0), {cosines.data().address, sines.data().address});
    if (o.threads != 0) c.threads = o.threads;
    if (o.heads != 0) c.heads = o.heads;
    if (c.threads > 1024 || c.heads > 4 || heads % c.heads != 0)
        return error{errc::bad_argument,
                     fmt::format("rope: {} threads a block and {} of {} heads a thread", c.threads, c.heads, heads)};
    const auto total = count_of("rope", tokens * (heads / c.heads), size / 2 / c.width);
    if (!total) return total.error();
    static kernel_cache<rope_plan> cache;
    const auto kernel =
        cache.get(s.ctx(), c, [&] { return assemble_at_run_time("rope", &rope_body<T>, c.launch(), c); });
    if (!kernel) return kernel.error();
    if (auto e = launch_raw(s, *kernel, grid_for(*total, c.threads, o.programmatic), x.data().address,
                            positions.data().address, cosines.data().address, sines.data().address, y.data().address,
                            static_cast<u32>(rotated / 2 / c.width), static_cast<u32>((size - rotated) / 2 / c.width),
                            static_cast<u32>(heads / c.heads), *total, x.stride(0), x.stride(1), y.stride(0),
                            y.stride(1), cosines.stride(0)))
        return e;
    return {};
}

}  // namespace ptxdsl::kernels
