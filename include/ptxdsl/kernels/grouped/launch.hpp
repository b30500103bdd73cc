// SPDX-License-Identifier: Apache-2.0
// From a grouped call without types to a launch: checks, the choice of a kernel, tensor maps.
#pragma once

#include <ptxdsl/kernels/gemm/launch.hpp>
#include <ptxdsl/kernels/grouped/problem.hpp>
#include <ptxdsl/kernels/grouped/work.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// A kernel of one configuration and element type: how it is written, and what a launch needs to know.
struct grouped_kernel {
    gemm_config config;
    tensor_map_spec a, b, c;
    void (*write)(ir::program&, const grouped_variant&) = nullptr;
};

/// The arguments of `grouped_gemm_body`, as the driver copies them.
struct grouped_call {
    cu::tensor_map a{}, b{}, c_map{};
    std::uint64_t c = 0, rows = 0;
    u32 groups = 0, most = 0, n = 0, k = 0, ldc = 0;
    std::uint64_t batch_stride = 0;

    /// In the order of the kernel's parameters.
    [[nodiscard]] auto members() noexcept {
        return std::tie(a, b, c_map, c, rows, groups, most, n, k, ldc, batch_stride);
    }
};

/// The shapes of a call fit together.
[[nodiscard]] inline error check_shapes(const grouped_problem& p) {
    const operand_view &a = p.a, &b = p.b, &c = p.c;
    const std::uint64_t columns = p.form.gated ? 2 * c.k : c.k;
    const bool groups = !p.masked || (a.batch == b.batch && c.batch == b.batch);
    if (a.rows != c.rows || b.rows != columns || a.k != b.k || !groups || b.batch == 0 || c.k == 0 || a.k == 0)
        return {errc::bad_argument,
                fmt::format("grouped_gemm: A is {} x {} x {}, B is {} x {} x {}, C is {} x {} x {} (matrices x rows x "
                            "columns); wanted are m x k, groups x n x k and m x n, or groups of them, n, k and groups "
                            "not 0{}",
                            a.batch, a.rows, a.k, b.batch, b.rows, b.k, c.batch, c.rows, c.k,
                            p.form.gated ? ", n twice the columns of C" : "")};
    if (c.k % 8 != 0)
        return {errc::bad_argument,
                fmt::format("grouped_gemm: C has {} columns; they are a multiple of 8, 16 bytes", c.k)};
    constexpr std::uint64_t most = 0x7fffffff;
    if (a.rows > most || b.rows > most || a.k > most || c.row_stride > most || b.batch > 65535)
        return {errc::bad_argument,
                "grouped_gemm: an extent or the row stride of C exceeds 2^31 - 1, or the groups 65535"};
    return {};
}
/// Copies take 16 bytes at a time: so are addresses and strides aligned.
[[nodiscard]] inline error check_alignment(const operand_view& v, std::string_view name) {
    if (v.k_stride == 1 && v.fits_tma()) return {};
    return {errc::bad_argument,
            fmt::format("PTXDSL-J06: grouped_gemm: the rows of {} are not contiguous, or its address (0x{:x}) or a "
                        "stride is no multiple of 16 bytes, which copies take at a time",
                        name, v.address)};
}
[[nodiscard]] inline error check_operands(const grouped_problem& p) {
    const auto lines = [](const operand_view& v, std::string_view name) {
        return memory_rows{name, v.address, v.batch == 1 ? v.rows : 1, v.k * 2, v.row_stride * 2, 2};
    };
    if (auto e = check_memory("grouped_gemm",
                              {lines(p.a, "A"), lines(p.b, "B"), {p.masked ? "counts" : "starts", p.rows, 1, 4, 4, 4}},
                              {lines(p.c, "C")}, false))
        return e;
    for (const auto& [view, name] : {std::pair{&p.a, "A"}, {&p.b, "B"}, {&p.c, "C"}})
        if (auto e = check_alignment(*view, name)) return e;
    return {};
}

/// Launches one kernel on a checked call that has rows.
[[nodiscard]] inline error launch_kernel(const stream& s, const grouped_problem& p, const grouped_kernel& kernel) {
    const auto bound = kernel_of<grouped_variant>(s.ctx(), {kernel.write, {.act = p.form.act, .masked = p.masked}});
    if (!bound) return bound.error();
    const runtime_detail::context_state& state = *s.ctx().state();
    const runtime_detail::current_context current(state);
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a grouped product");
    grouped_call call;
    call.c = p.c.address, call.rows = p.rows;
    call.groups = static_cast<u32>(p.b.batch), call.most = static_cast<u32>(p.a.rows);
    call.n = static_cast<u32>(p.b.rows), call.k = static_cast<u32>(p.a.k);
    call.ldc = static_cast<u32>(p.c.row_stride), call.batch_stride = p.c.batch_stride;
    if (auto e = runtime_detail::encode_checked(state, call.a, kernel.a, geometry_of_operand(p.a), "A")) return e;
    if (auto e = runtime_detail::encode_checked(state, call.b, kernel.b, geometry_of_operand(p.b), "B")) return e;
    if (auto e = runtime_detail::encode_checked(state, call.c_map, kernel.c, geometry_of_operand(p.c), "C")) return e;
    const auto clusters = static_cast<std::uint32_t>(resident_clusters(kernel.config, *bound));
    launch_config config{.grid = {clusters * kernel.config.cluster_blocks()}};
    config.programmatic = p.options.programmatic;
    return runtime_detail::launch_members(*bound, s, config, call);
}

/// The kernels of one element type and form, `grouped_choice` in order.
using grouped_kernels = std::span<const grouped_kernel* const>;

/// How tall and wide the tiles are.
enum class grouped_choice : u8 { few_rows, wide_pair, wide, medium, narrow };

/// Groups of up to 64 rows have half a tile; few columns leave multiprocessors without a wide one, and of an odd number
/// of wide ones a pair has one too many.
[[nodiscard]] inline grouped_choice choose_grouped(const grouped_problem& p, std::uint64_t sms) noexcept {
    const std::uint64_t groups = p.b.batch, n = p.b.rows;
    const std::uint64_t expected = p.options.expected_rows != 0 ? p.options.expected_rows
                                   : p.masked                   ? p.a.rows
                                                                : ceil_div(p.a.rows, groups);
    using enum grouped_choice;
    if (expected <= 64 && n > 64) return few_rows;
    const std::uint64_t columns = ceil_div(n, 256), wide_tiles = groups * ceil_div(expected, 128) * columns;
    if (n > 256 && wide_tiles >= sms) return columns % 2 == 0 || columns > 32 ? wide_pair : wide;
    return n <= 64 && !p.form.gated ? narrow : medium;
}

/// Checks a call and launches the kernel for it.
[[nodiscard]] inline error launch_grouped(const stream& s, const grouped_problem& p, grouped_kernels kernels) {
    if (auto e = check_shapes(p)) return e;
    if (p.a.rows == 0) return {};
    if (auto e = check_operands(p)) return e;
    const auto sms = static_cast<std::uint64_t>(s.ctx().device().sm_count);
    return launch_kernel(s, p, *kernels[static_cast<std::size_t>(choose_grouped(p, sms))]);
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
