// SPDX-License-Identifier: Apache-2.0
// The rotary position embedding as a call.
#pragma once

#include <ptxdsl/kernels/rows/call.hpp>
#if !PTXDSL_KERNELS_ARE_COMPILED
#include <ptxdsl/kernels/rows/launch.hpp>
#include <ptxdsl/kernels/rows/rope.hpp>
#endif

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ptxdsl::kernels {

/// What a call of `rope` may say.
struct rope_options {
    rope_pairs pairs = rope_pairs::halves;
    bool programmatic = true;
    u32 threads = 0, heads = 0;  ///< of a block; and those a thread rotates, up to 4. 0: as the library chooses
};

namespace detail {

/// Heads of tokens: the distances from one token and from one head to the next.
struct head_view {
    std::uint64_t address = 0, token_stride = 0, head_stride = 0;
};

/// A call.
struct rope_call {
    isa::scalar type = isa::scalar::none;
    std::uint64_t tokens = 0, heads = 0, size = 0, rotated = 0;
    head_view x, y;
    std::uint64_t positions = 0, cosines = 0, sines = 0;
    std::uint64_t angle_rows = 0, angle_stride = 0;
    rope_options options{};
};

/// The call, with the kernels of the library.
[[nodiscard]] PTXDSL_KERNELS_API error run_compiled(const stream& s, const rope_call& c);

/// The extents of a call fit together.
template <class X, class P, class C, class S, class Y>
[[nodiscard]] bool rope_fits(const tensor_view<X, 3>& x, const tensor_view<P, 1>& positions,
                             const tensor_view<C, 2>& cosines, const tensor_view<S, 2>& sines,
                             const tensor_view<Y, 3>& y) noexcept {
    return y.size(0) == x.size(0) && y.size(1) == x.size(1) && y.size(2) == x.size(2) &&
           positions.size(0) == x.size(0) && sines.size(0) == cosines.size(0) && sines.size(1) == cosines.size(1) &&
           sines.stride(0) == cosines.stride(0);
}

#if !PTXDSL_KERNELS_ARE_COMPILED

/// The arguments of `rope_body`.
template <class T>
struct rope_arguments {
    device_ptr<const T> x;
    device_ptr<const s32> positions;
    device_ptr<const f32> cosines, sines;
    device_ptr<T> y;
    u32 half = 0, rest = 0, groups = 0, total = 0;
    u64 x_token = 0, x_head = 0, y_token = 0, y_head = 0, angle_stride = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(x, positions, cosines, sines, y, half, rest, groups, total, x_token, x_head, y_token, y_head,
                        angle_stride);
    }
};

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

/// The memory of a call. Of heads with gaps nothing but the first one is looked at.
[[nodiscard]] inline error check_rope(const rope_call& c, u32 element) {
    const auto heads = [&](const head_view& v, std::string_view name) {
        const bool dense = v.head_stride == c.size;
        return memory_rows{name,
                           v.address,
                           dense ? c.tokens : 1,
                           (dense ? c.heads : 1) * c.size * element,
                           (dense ? v.token_stride : c.size) * element,
                           element};
    };
    const auto angles = [&](std::uint64_t address, std::string_view name) {
        return memory_rows{name, address, c.angle_rows, c.rotated / 2 * 4, c.angle_stride * 4, 4};
    };
    return check_memory("rope",
                        {heads(c.x, "x"),
                         {"positions", c.positions, 1, c.tokens * 4, c.tokens * 4, 4},
                         angles(c.cosines, "cosines"),
                         angles(c.sines, "sines")},
                        {heads(c.y, "y")});
}

template <class T>
[[nodiscard]] error launch_call(const stream& s, const rope_call& call) {
    const std::uint64_t tokens = call.tokens, heads = call.heads, size = call.size, rotated = call.rotated;
    const rope_options& o = call.options;
    if (heads == 0 || size == 0 || size % 2 != 0 || rotated == 0 || rotated > size)
        return {errc::bad_argument, fmt::format("rope: {} tokens, {} heads of {} elements, {} of them rotated; "
                                                "elements come in pairs, and some are rotated",
                                                tokens, heads, size, rotated)};
    if (tokens == 0) return {};
    if (auto e = check_rope(call, sizeof(T))) return e;
    const head_view &x = call.x, &y = call.y;
    rope_plan c = plan_rope<T>(o.pairs, heads, rotated, size - rotated,
                               {x.token_stride, x.head_stride, y.token_stride, y.head_stride}, {x.address, y.address},
                               call.angle_stride, {call.cosines, call.sines});
    if (o.threads != 0) c.threads = o.threads;
    if (o.heads != 0) c.heads = o.heads;
    if (c.threads > 1024 || c.heads > 4 || heads % c.heads != 0)
        return {errc::bad_argument,
                fmt::format("rope: {} threads a block and {} of {} heads a thread", c.threads, c.heads, heads)};
    const auto total = count_of("rope", tokens * (heads / c.heads), size / 2 / c.width);
    if (!total) return total.error();
    const rope_arguments<T> a{.x = device_ptr<const T>(x.address),
                              .positions = device_ptr<const s32>(call.positions),
                              .cosines = device_ptr<const f32>(call.cosines),
                              .sines = device_ptr<const f32>(call.sines),
                              .y = device_ptr<T>(y.address),
                              .half = static_cast<u32>(rotated / 2 / c.width),
                              .rest = static_cast<u32>((size - rotated) / 2 / c.width),
                              .groups = static_cast<u32>(heads / c.heads),
                              .total = *total,
                              .x_token = x.token_stride,
                              .x_head = x.head_stride,
                              .y_token = y.token_stride,
                              .y_head = y.head_stride,
                              .angle_stride = call.angle_stride};
    return launch_row_kernel<&rope_body<T>>(s, "rope", grid_for(*total, c.threads, o.programmatic), c.launch(), a, c);
}
#endif

#ifdef PTXDSL_KERNELS_SOURCE
error run_compiled(const stream& s, const rope_call& c) {
    return with_row_element(c.type, [&]<class T>() { return launch_call<T>(s, c); });
}
#endif

template <class... A>
using rope_views = call_arguments<ranks<3, 1, 2, 2, 3>, std::tuple<rope_options>, A...>;

}  // namespace detail

PTXDSL_KERNELS_BEGIN

/// Rotary position embedding: x and y are tokens x heads x elements, `positions` has one entry a token, and row p of
/// `cosines` and `sines` (f32) has the angles of position p, one for each pair: their columns are half of the elements,
/// or fewer: then the elements after the rotated ones are copied. `y` may be `x`.
template <class X, class P, class C, class S, class Y>
result<void> rope(const stream& s, const tensor_view<X, 3>& x, const tensor_view<P, 1>& positions,
                  const tensor_view<C, 2>& cosines, const tensor_view<S, 2>& sines, const tensor_view<Y, 3>& y,
                  const rope_options& o = {}) {
    using T = std::remove_const_t<X>;
    static_assert(detail::is_result<Y>,
                  "PTXDSL-B02: the result of rope is a view of const elements; pass a mutable one");
    static_assert(detail::row_element<T> && std::is_same_v<T, Y>,
                  "PTXDSL-J09: rope takes f32, bf16 or f16, and gives the same");
    static_assert(std::is_same_v<std::remove_const_t<P>, s32>, "PTXDSL-J09: the positions of rope are s32");
    static_assert(std::is_same_v<std::remove_const_t<C>, f32> && std::is_same_v<std::remove_const_t<S>, f32>,
                  "PTXDSL-J09: the angles of rope are f32");
    if (!detail::rope_fits(x, positions, cosines, sines, y))
        return error{errc::bad_argument,
                     "rope: x and y have the same extents, there is a position for each token, and the tables of "
                     "angles are alike"};
    if (x.stride(2) != 1 || y.stride(2) != 1 || cosines.stride(1) != 1 || sines.stride(1) != 1 ||
        positions.stride(0) != 1)
        return error{errc::bad_argument,
                     "rope: the elements of a head and the angles of a position lie next to each other"};
    const detail::rope_call call{.type = scalar_of<T>,
                                 .tokens = x.size(0),
                                 .heads = x.size(1),
                                 .size = x.size(2),
                                 .rotated = 2 * cosines.size(1),
                                 .x = {x.data().address, x.stride(0), x.stride(1)},
                                 .y = {y.data().address, y.stride(0), y.stride(1)},
                                 .positions = positions.data().address,
                                 .cosines = cosines.data().address,
                                 .sines = sines.data().address,
                                 .angle_rows = cosines.size(0),
                                 .angle_stride = cosines.stride(0),
                                 .options = o};
    return detail::run<T>(s, call);
}

// clang-format off
PTXDSL_KERNELS_REFUSE(rope, "rope takes: stream, x, positions, cosines, sines, y, options", detail::rope_views, rope_options, )
// clang-format on

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels
