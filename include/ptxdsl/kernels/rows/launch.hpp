// SPDX-License-Identifier: Apache-2.0
// What the launches of row kernels share: checks, plans, grids.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/kernel_cache.hpp>
#include <ptxdsl/kernels/rows/call.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace ptxdsl::kernels::detail {

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
    if (x.columns == 0)
        return {errc::bad_argument, fmt::format("{}: the input is {} x 0; it has to have a column", what, x.rows)};
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

/// Scales of blocks have these extents.
[[nodiscard]] inline error check_scales(std::string_view what, const scale_view& scales, std::uint64_t rows,
                                        std::uint64_t columns) {
    if (scales.rows == rows && scales.columns == columns) return {};
    return {errc::bad_argument, fmt::format("{}: the scales are {} x {}, these matrices need {} x {}", what,
                                            scales.rows, scales.columns, rows, columns)};
}
/// What they are to the checks of memory: rows of them, as far as they are next to each other.
[[nodiscard]] inline memory_rows named(const scale_view& s, std::string_view name) noexcept {
    if (s.column_stride != 1 && s.columns > 1) return {name, s.address, s.rows == 0 ? 0u : 1u, 4, 4, 4};
    return {name, s.address, s.rows, s.columns * 4, s.row_stride * 4, 4};
}

/// Writes and loads a kernel on first use, and launches it. `Body` is the kernel's function, `constants` what it takes
/// in front of its parameters, `call.members()` the arguments.
template <auto Body, class Call, class... Constants>
[[nodiscard]] error launch_row_kernel(const stream& s, std::string_view name, const launch_config& config,
                                      const attributes& attrs, Call call, const Constants&... constants) {
    using params = typename ptxdsl::detail::body_traits<std::remove_const_t<decltype(Body)>>::params;
    static_assert(runtime_detail::passes<params, Call>,
                  "PTXDSL-J09: the members of this struct are not the kernel's parameters");
    static kernel_cache<std::tuple<Constants...>> cache;
    const auto kernel = cache.get(s.ctx(), std::tuple<Constants...>(constants...),
                                  [&] { return assemble_at_run_time(name, Body, attrs, constants...); });
    if (!kernel) return kernel.error();
    const runtime_detail::current_context current(*s.ctx().state());
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(),
                                             fmt::format("launching the kernel '{}'", name));
    return runtime_detail::launch_members(*kernel, s, config, call);
}

}  // namespace ptxdsl::kernels::detail
