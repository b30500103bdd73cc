// SPDX-License-Identifier: Apache-2.0
// What the calls of row kernels share: views, checks, plans.
#pragma once

#include <ptxdsl/kernels/kernel_cache.hpp>
#include <ptxdsl/kernels/rows/elements.hpp>
#include <ptxdsl/kernels/rows/norm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ptxdsl::kernels {

/// What a call of a row kernel may say.
struct row_options {
    bool programmatic = true;            ///< may be placed on the device before the kernel ahead of it has ended
    std::optional<row_plan> plan{};      ///< instead of `plan_rows`; its width has to suit the matrices
    std::optional<u32> prefetch_rows{};  ///< rows from one that is loaded to the one prefetched into L2, 0: none;
                                         ///< default: `l2_prefetch_distance`
};
/// What a call of a norm may say.
struct norm_options {
    float eps = 1e-6f;
    row_options row{};
};

/// What a call of an element kernel may say.
struct element_options {
    bool programmatic = true;            ///< as in `row_options`
    std::optional<element_plan> plan{};  ///< instead of the library's; its width and flatness are those of the matrices
    std::optional<u32>
        prefetch_blocks{};  ///< blocks that prefetch into L2 before they wait; default: `l2_prefetch_distance`
};

}  // namespace ptxdsl::kernels

namespace ptxdsl::kernels::detail {

/// A matrix as row kernels see it.
struct row_view {
    std::uint64_t address = 0, rows = 0, columns = 0, stride = 0;
    u32 element = 1;  ///< bytes
    bool contiguous = true;
};

template <class T, std::size_t Rank>
[[nodiscard]] row_view rows_of(const tensor_view<T, Rank>& t) noexcept {
    static_assert(Rank <= 2, "PTXDSL-kernels: a matrix is a view of rank 2, a vector one of rank 1");
    row_view v{.address = t.data().address, .rows = 1, .columns = t.size(Rank - 1), .stride = t.size(Rank - 1)};
    v.element = sizeof(T);
    if constexpr (Rank == 2) v.rows = t.size(0), v.stride = t.stride(0);
    v.contiguous = t.stride(Rank - 1) == 1 || v.columns == 1;
    return v;
}

template <class T>
inline constexpr bool row_element = std::is_same_v<T, f32> || std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
template <class T>
inline constexpr bool fp8_element = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

/// The widest access that suits all of `list`, whose columns (or vectors) are alike.
template <class T>
[[nodiscard]] u32 common_width(std::initializer_list<row_view> list) noexcept {
    u32 w = 16 / sizeof(T);
    const auto suits = [&](const row_view& v) {
        return v.address % (w * v.element) == 0 && v.columns % w == 0 && (v.rows <= 1 || v.stride % w == 0);
    };
    while (w > 1 && !std::all_of(list.begin(), list.end(), suits)) w /= 2;
    return w;
}

/// Every matrix has the extents of the first; vectors have its columns.
[[nodiscard]] inline error check_rows(std::string_view what, std::initializer_list<row_view> matrices,
                                      std::initializer_list<row_view> vectors = {}) {
    const row_view& x = *matrices.begin();
    if (x.rows == 0 || x.columns == 0)
        return {errc::bad_argument,
                fmt::format("{}: the input is {} x {}; it has to have a row and a column", what, x.rows, x.columns)};
    if (x.columns > (1u << 30) || x.rows > 0x7fffffff / 8)
        return {errc::bad_argument, fmt::format("{}: the input is {} x {}; the limits are 2^28 rows and 2^30 columns",
                                                what, x.rows, x.columns)};
    for (const row_view& m : matrices) {
        if (m.rows != x.rows || m.columns != x.columns)
            return {errc::bad_argument,
                    fmt::format("{}: a matrix of {} x {} next to one of {} x {}; all have the same extents", what,
                                m.rows, m.columns, x.rows, x.columns)};
        if (!m.contiguous)
            return {errc::bad_argument, fmt::format("{}: the columns of a matrix are not next to each other", what)};
    }
    for (const row_view& v : vectors) {
        if (v.columns != x.columns)
            return {errc::bad_argument,
                    fmt::format("{}: a vector of {} next to rows of {}", what, v.columns, x.columns)};
        if (!v.contiguous)
            return {errc::bad_argument, fmt::format("{}: the elements of a vector are not next to each other", what)};
    }
    return {};
}

[[nodiscard]] inline launch_config grid_of(const row_plan& c, std::uint64_t rows, bool programmatic) {
    const std::uint64_t blocks = (rows + c.rows_per_block - 1) / c.rows_per_block * c.cluster;
    return {.grid = {static_cast<std::uint32_t>(blocks)}, .programmatic = programmatic};
}
/// What a kernel asks of its plan, and how far ahead it prefetches into L2.
struct plan_constraints {
    u32 limit = 1024, first = 2;
    bool may_hold = true;
    u32 prefetch_distance =
        l2_prefetch_distance;  ///< bytes from what is loaded to what is prefetched into L2, 0: nothing is
    bool stays = false;        ///< the results, in L2
};
/// How many rows ahead a call prefetches whose rows have `bytes` of input; none: past the last row.
[[nodiscard]] inline u32 prefetch_rows_of(const row_options& o, const plan_constraints& w, std::uint64_t rows,
                                          std::uint64_t bytes) {
    const u32 prefetch_rows =
        o.prefetch_rows.value_or(w.prefetch_distance == 0 ? 0 : prefetch_distance_in(bytes, w.prefetch_distance));
    return prefetch_rows == 0 ? static_cast<u32>(rows) : prefetch_rows;
}

/// The plan of a call: the caller's, if it is one these matrices can take.
[[nodiscard]] inline result<row_plan> plan_of(std::string_view what, const row_options& o, u32 width,
                                              std::uint64_t columns, const plan_constraints& w) {
    const u32 n = static_cast<u32>(columns);
    if (!o.plan) {
        row_plan p = plan_rows(n / width, width, w.first, w.limit, w.may_hold);
        if (w.stays) p.evict_first = false;
        return p;
    }
    const row_plan& p = *o.plan;
    if (p.width == 0 || width % p.width != 0)
        return error{errc::bad_argument, fmt::format("{}: the plan has accesses of {} values, these matrices allow {}",
                                                     what, p.width, width)};
    const u32 most = p.held ? held_values : row_values;
    if (!p.reread && (std::uint64_t{p.accesses} * p.stride() * p.width < columns || p.accesses * p.width > most))
        return error{
            errc::bad_argument,
            fmt::format("{}: the plan does not hold rows of {} in at most {} values a thread", what, columns, most)};
    if (p.held && (p.width != 8 || p.reread || !w.may_hold))
        return error{
            errc::bad_argument,
            fmt::format("{}: a plan cannot hold this row; it holds accesses of 8 values, of one matrix", what)};
    return p;
}

struct norm_key {
    row_plan plan;
    norm_form form;
    constexpr auto operator<=>(const norm_key&) const = default;
};

struct norm_call {
    row_view x, residual, weight, bias, y, sum;
    float eps = 0;
};

template <class T>
result<void> launch_norm(const stream& s, std::string_view what, const norm_form& f, const norm_call& n,
                         const row_options& o) {
    const row_view none{.address = 0, .rows = 1, .columns = n.x.columns, .stride = n.x.columns, .element = sizeof(T)};
    const auto used = [&](bool is, const row_view& v) { return is ? v : none; };
    const row_view residual = used(f.residual, n.residual), sum = used(f.residual, n.sum);
    const row_view weight = used(f.weight, n.weight), bias = used(f.bias, n.bias);
    const u32 width = common_width<T>({n.x, n.y, residual, sum, weight, bias});
    const std::uint64_t bytes = n.x.columns * sizeof(T) * (f.residual ? 2 : 1);
    const bool little = n.x.rows * bytes <= small_input;
    const plan_constraints constraints{.limit = f.centred ? layer_norm_threads(width) : 1024,
                                       .may_hold = !f.residual,
                                       .prefetch_distance = little ? small_prefetch_distance : l2_prefetch_distance,
                                       .stays = little};
    const auto plan = plan_of(what, o, width, n.x.columns, constraints);
    if (!plan) return plan.error();
    static kernel_cache<norm_key> cache;
    const auto kernel = cache.get(s.ctx(), {*plan, f}, [&] {
        return assemble_at_run_time(f.centred ? "layer_norm" : "rms_norm", &norm_body<T>, plan->launch(), *plan, f);
    });
    if (!kernel) return kernel.error();
    const launch_config grid = grid_of(*plan, n.x.rows, o.programmatic);
    const u32 prefetch_rows = prefetch_rows_of(o, constraints, n.x.rows, bytes);
    if (auto e = launch_raw(s, *kernel, grid, n.x.address, residual.address, weight.address, bias.address, n.y.address,
                            sum.address, static_cast<u32>(n.x.rows), static_cast<u32>(n.x.columns), n.x.stride,
                            residual.stride, n.y.stride, sum.stride, n.eps, prefetch_rows))
        return e;
    return {};
}

/// Accesses over all rows, which the kernels count in 32 bits.
[[nodiscard]] inline result<u32> count_of(std::string_view what, std::uint64_t rows, std::uint64_t per_row) {
    if (rows * per_row > 0x7fffffffULL)
        return error{
            errc::bad_argument,
            fmt::format("{}: {} rows of {} accesses each are more than 2^31 - 1; split the call", what, rows, per_row)};
    return static_cast<u32>(rows * per_row);
}
[[nodiscard]] inline launch_config grid_for(std::uint64_t items, std::uint64_t of_block, bool programmatic) {
    return {.grid = {static_cast<std::uint32_t>((items + of_block - 1) / of_block)}, .programmatic = programmatic};
}
[[nodiscard]] inline error check_plan(std::string_view what, const element_plan& c, u32 most) {
    if (c.threads % 32 == 0 && c.threads >= 32 && c.threads <= 1024 && c.accesses >= 1 && c.accesses <= most) return {};
    return {errc::bad_argument,
            fmt::format("{}: the plan has {} threads a block and {} accesses a thread; threads are a multiple of 32 up "
                        "to 1024, accesses 1 to {}",
                        what, c.threads, c.accesses, most)};
}
[[nodiscard]] inline bool without_gaps(const row_view& v) { return v.rows <= 1 || v.stride == v.columns; }

/// Scales of blocks: rank 2, any strides.
template <class Q>
error check_scales(std::string_view what, const tensor_view<f32, 2>& scales, std::uint64_t rows,
                   std::uint64_t columns) {
    if (scales.size(0) == rows && scales.size(1) == columns) return {};
    return {errc::bad_argument, fmt::format("{}: the scales are {} x {}, these matrices need {} x {}", what,
                                            scales.size(0), scales.size(1), rows, columns)};
}

}  // namespace ptxdsl::kernels::detail
