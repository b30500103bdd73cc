// SPDX-License-Identifier: Apache-2.0
// From a call without types to a launch: checks, the choice of a kernel, tensor maps. Of templates there are none: the
// kernels come as a table (gemm/kernels.hpp).
#pragma once

#include <ptxdsl/kernels/gemm/problem.hpp>
#include <ptxdsl/kernels/gemm/tuning.hpp>
#include <ptxdsl/kernels/kernel_cache.hpp>
#include <ptxdsl/kernels/memory_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// The configuration as these operands and this store need it.
[[nodiscard]] constexpr gemm_config adapted(gemm_config c, major a, major b, store_mode store) noexcept {
    c.a = a, c.b = b;
    if (c.swaps_operands() &&
        store == store_mode::tma) {  // rows of C are multiples of 16 bytes, which is what it needs
        c.a = b, c.b = a;
        return c;
    }
    const bool no_chunks = c.bn % 16 != 0 || (c.bn % 64 != 0 && c.store == store_mode::pairs);
    if ((c.split_k > 1 || no_chunks) && store == store_mode::tma) store = store_mode::pairs;
    c.store = store;
    if (store != store_mode::tma) c.stream_k = false;
    return c;
}

/// A kernel of one configuration and of some element types: how it is written, and what a launch needs to know.
struct gemm_kernel {
    gemm_config config;
    u32 bk = 0;  ///< elements of K in a stage
    tensor_map_spec a, b, c;
    void (*write)(ir::program&, const gemm_variant&) = nullptr;
};

/// All kernels of some element types. `list` has for each pair of majors (both K, B not, A not, neither; or only the
/// first) those of the choices in order, then the ones that store pairs and single elements. None where a configuration
/// cannot be built.
struct gemm_kernels {
    std::span<const gemm_kernel* const> list;
    std::size_t choices = 0;
    void (*write_plain)(ir::program&, const gemm_plain_form&) = nullptr;

    [[nodiscard]] const gemm_kernel* find(major a, major b, store_mode store, std::size_t choice) const noexcept {
        const std::size_t majors = (a == k_major ? 0u : 2u) + (b == k_major ? 0u : 1u);
        const std::size_t column = store == store_mode::tma ? choice : choices + (store == store_mode::pairs ? 0 : 1);
        const std::size_t at = majors * (choices + 2) + column;
        return at < list.size() ? list[at] : nullptr;
    }
    [[nodiscard]] bool has(major a, major b) const noexcept {
        return ((a == k_major ? 0u : 2u) + (b == k_major ? 0u : 1u)) * (choices + 2) < list.size();
    }
};

/// The arguments of `gemm_body`, as the driver copies them.
struct gemm_call {
    cu::tensor_map a{}, b{}, c_map{};
    std::uint64_t c = 0, bias = 0, partials = 0, flags = 0;
    u32 m = 0, n = 0, k = 0, batches = 1, ldc = 0;
    std::uint64_t batch_stride = 0;
    float alpha = 1, beta = 0;
    std::uint64_t a_scale = 0, b_scale = 0, a_scale_row = 0, a_scale_k = 0, b_scale_col = 0, b_scale_k = 0;

    /// In the order of the kernel's parameters.
    [[nodiscard]] auto members() noexcept {
        return std::tie(a, b, c_map, c, bias, partials, flags, m, n, k, batches, ldc, batch_stride, alpha, beta,
                        a_scale, b_scale, a_scale_row, a_scale_k, b_scale_col, b_scale_k);
    }
};

/// The arguments of `gemm_plain_body`.
struct gemm_plain_call {
    std::uint64_t a = 0, b = 0, c = 0, bias = 0;
    u32 has_bias = 0, m = 0, n = 0, k = 0;
    std::uint64_t a_row = 0, a_k = 0, a_batch = 0, b_row = 0, b_k = 0, b_batch = 0, c_row = 0, c_batch = 0;
    float alpha = 1, beta = 0;
    std::uint64_t a_scale = 0, b_scale = 0, a_scale_row = 0, a_scale_k = 0, b_scale_col = 0, b_scale_k = 0;

    [[nodiscard]] auto members() noexcept {
        return std::tie(a, b, c, bias, has_bias, m, n, k, a_row, a_k, a_batch, b_row, b_k, b_batch, c_row, c_batch,
                        alpha, beta, a_scale, b_scale, a_scale_row, a_scale_k, b_scale_col, b_scale_k);
    }
};

/// The map of an operand or result. The box comes from the kernel; a batch of one gets a stride the encoder takes.
[[nodiscard]] inline tensor_geometry geometry_of_operand(const operand_view& v) noexcept {
    const bool by_k = v.k_contiguous();
    const std::uint64_t line = (by_k ? v.row_stride : v.k_stride) * v.element;
    tensor_geometry g;
    g.address = v.address;
    g.size[0] = by_k ? v.k : v.rows, g.size[1] = by_k ? v.rows : v.k, g.size[2] = v.batch;
    g.stride_bytes[1] = (line + 15) / 16 * 16;
    g.stride_bytes[2] = v.batch > 1 ? v.batch_stride * v.element : g.stride_bytes[1];
    return g;
}

/// How the result can be stored. TMA writes whole 16 bytes: where a row of C ends within some, what follows it in
/// memory (the next columns of a larger matrix) would be overwritten.
[[nodiscard]] inline store_mode store_of(const gemm_problem& p) noexcept {
    const operand_view& c = p.c;
    const std::uint64_t bytes = p.types.out_bytes();
    const bool even = c.k % 2 == 0 && c.row_stride % 2 == 0 && c.batch_stride % 2 == 0 && c.address % (2 * bytes) == 0;
    const bool aligned = c.row_stride * bytes % 16 == 0 && c.address % 16 == 0 && c.k * bytes % 16 == 0 &&
                         (c.batch == 1 || c.batch_stride * bytes % 16 == 0);
    return aligned ? store_mode::tma : even ? store_mode::pairs : store_mode::elements;
}

/// The shapes of a call fit together.
[[nodiscard]] inline error check_shapes(const gemm_problem& p) {
    const operand_view &a = p.a, &b = p.b, &c = p.c;
    const std::uint64_t columns = p.form.gated ? 2 * c.k : c.k;
    if (a.rows != c.rows || b.rows != columns || a.k != b.k || a.batch != b.batch || a.batch != c.batch || c.k == 0 ||
        a.k == 0 || c.batch == 0)
        return {errc::bad_argument,
                fmt::format("gemm: A is {} x {} x {}, B is {} x {} x {}, C is {} x {} x {} (batch x rows x columns); "
                            "wanted are m x k, n x k and m x n of one batch size, n and k not 0{}",
                            a.batch, a.rows, a.k, b.batch, b.rows, b.k, c.batch, c.rows, c.k,
                            p.form.gated ? ", n twice the columns of C" : "")};
    if (c.k_stride != 1)
        return {errc::bad_argument,
                "gemm: the rows of C are contiguous; pass the transposed problem for a C of contiguous columns"};
    if (p.form.gated && columns % 16 != 0)
        return {
            errc::bad_argument,
            fmt::format("gemm: B has {} columns; a gated product takes groups of 16, 8 of the gate and 8 of the value",
                        columns)};
    constexpr std::uint64_t most = 0x7fffffff;
    if (a.rows > most || b.rows > most || a.k > most || c.row_stride > most || a.batch > 65535)
        return {errc::bad_argument, "gemm: an extent or the row stride of C exceeds 2^31 - 1, or the batch 65535"};
    return {};
}
/// So do its options.
[[nodiscard]] inline error check_options(const gemm_problem& p) {
    const bool fp8 = p.types.fp8();
    if (fp8 != (p.a_scales.address != 0 && p.b_scales.address != 0))
        return {errc::bad_argument, fp8 ? "gemm: fp8 operands come with a_scale and b_scale, a value each"
                                        : "gemm: a_scale and b_scale are for fp8 operands"};
    if (!p.form.scaled && ((p.alpha != 1.0f && !fp8) || p.beta != 0.0f))
        return {errc::bad_argument, "gemm: alpha or beta differs from 1 and 0; use gemm<gemm_form{.scaled = true}>"};
    if (p.form.bias != (p.bias != 0))
        return {errc::bad_argument, p.form.bias ? "gemm: this form adds a bias, and there is none in the options"
                                                : "gemm: a bias needs gemm<gemm_form{.bias = true}>"};
    if (p.bias % 4 != 0) return {errc::bad_argument, "gemm: the bias is 4-byte aligned"};
    return {};
}
/// The block scales' shapes fit those of the operands, and their offsets 32 bits.
[[nodiscard]] inline error check_block_scales(const gemm_problem& p) {
    const operand_view &a = p.a_scales, &b = p.b_scales;
    const std::uint64_t m = p.a.rows, n = p.b.rows, blocks = ceil_div(p.a.k, 128);
    if (a.rows != m || a.k != blocks || b.rows != ceil_div(n, 128) || b.k != blocks)
        return {errc::bad_argument,
                fmt::format(
                    "gemm_block_scaled: the scales are {} x {} and {} x {}; these operands need {} x {} and {} x {}",
                    a.rows, a.k, b.rows, b.k, m, blocks, ceil_div(n, 128), blocks)};
    constexpr std::uint64_t most = 0xffffffff;
    const auto last = [](const operand_view& v) { return (v.rows - 1) * v.row_stride + (v.k - 1) * v.k_stride; };
    const bool fit = a.row_stride <= most && a.k_stride <= most && b.row_stride <= most && b.k_stride <= most;
    if (fit && last(a) <= most && last(b) <= most) return {};
    return {errc::bad_argument, "gemm_block_scaled: the scales lie within 2^32 elements of the first"};
}

/// Its memory: whether pointers are there, aligned to their elements, and C beside A and B. Of batches and of operands
/// whose columns are contiguous only the first line is looked at.
[[nodiscard]] inline error check_operands(const gemm_problem& p) {
    const auto lines = [](const operand_view& v, std::string_view name) {
        const bool rows = v.k_contiguous();
        const std::uint64_t line = (rows ? v.k : v.row_stride == 1 ? v.rows : 1) * v.element;
        return memory_rows{name,
                           v.address,
                           rows && v.batch == 1 ? v.rows : 1,
                           line,
                           v.row_stride * v.element,
                           static_cast<std::uint32_t>(v.element)};
    };
    return check_memory("gemm", {lines(p.a, "A"), lines(p.b, "B")}, {lines(p.c, "C")}, false);
}

/// The scales of a call as the kernels take them.
template <class Call>
void set_scales(Call& c, const gemm_problem& p) noexcept {
    c.alpha = p.types.block_scaled ? 1.0f : p.alpha;
    c.beta = p.beta;
    c.a_scale = p.a_scales.address, c.b_scale = p.b_scales.address;
    if (!p.types.block_scaled) return;
    c.a_scale_row = p.a_scales.row_stride, c.a_scale_k = p.a_scales.k_stride;
    c.b_scale_col = p.b_scales.row_stride, c.b_scale_k = p.b_scales.k_stride;
}

/// What distinguishes two kernels of the library: the function that writes one, and the constants it takes.
template <class Constants>
struct written_by {
    void (*write)(ir::program&, const Constants&) = nullptr;
    Constants constants{};
    auto operator<=>(const written_by& o) const noexcept {
        const auto place = std::compare_three_way{}(reinterpret_cast<std::uintptr_t>(write),
                                                    reinterpret_cast<std::uintptr_t>(o.write));
        return place != 0 ? place : constants <=> o.constants;
    }
};

/// The kernel, written and loaded on first use.
template <class Constants>
[[nodiscard]] result<runtime_detail::bound_kernel> kernel_of(const context& ctx, const written_by<Constants>& key) {
    static kernel_cache<written_by<Constants>> cache;
    return cache.get(ctx, key, [&] {
        ir::program program;
        key.write(program, key.constants);
        return assembled_program<param_list<>>(program);
    });
}

/// Operands TMA or wgmma cannot take as they lie.
[[nodiscard]] inline error launch_plain(const stream& s, const gemm_problem& p, const gemm_kernels& kernels) {
    const plain_scales scales = p.types.block_scaled ? plain_scales::blocks
                                : p.types.fp8()      ? plain_scales::tensor
                                                     : plain_scales::none;
    const auto kernel = kernel_of<gemm_plain_form>(
        s.ctx(), {kernels.write_plain, {.act = p.form.act, .gated = p.form.gated, .scales = scales}});
    if (!kernel) return kernel.error();
    gemm_plain_call c;
    c.a = p.a.address, c.b = p.b.address, c.c = p.c.address, c.bias = p.bias, c.has_bias = p.bias != 0 ? 1 : 0;
    c.m = static_cast<u32>(p.a.rows), c.n = static_cast<u32>(p.c.k), c.k = static_cast<u32>(p.a.k);
    c.a_row = p.a.row_stride, c.a_k = p.a.k_stride, c.a_batch = p.a.batch_stride;
    c.b_row = p.b.row_stride, c.b_k = p.b.k_stride, c.b_batch = p.b.batch_stride;
    c.c_row = p.c.row_stride, c.c_batch = p.c.batch_stride;
    set_scales(c, p);
    const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(ceil_div(c.m, 16), 65535));
    const launch_config config{
        .grid = {static_cast<std::uint32_t>(ceil_div(c.n, 16)), rows, static_cast<std::uint32_t>(p.a.batch)}};
    return runtime_detail::launch_members(*kernel, s, config, c);
}

/// Clusters of a kernel that the device holds at once. The blocks of a cluster lie in one GPC, and of more than two
/// some are left over in most of them: the driver knows how many fit. It is asked once for each size of cluster (of
/// kernels that have a multiprocessor to themselves), when such a kernel has been launched before. The context is
/// current.
[[nodiscard]] inline std::uint64_t resident_clusters(const gemm_config& g, const runtime_detail::bound_kernel& bound) {
    const device_info& d = bound.state->info;
    const std::uint32_t blocks = g.cluster_blocks();
    const std::uint64_t without_gpcs = static_cast<std::uint64_t>(d.sm_count) * g.blocks_per_sm / blocks;
    constexpr std::size_t devices = 32, sizes = 9;
    static std::atomic<std::uint32_t> known[devices][sizes];
    const auto device = static_cast<std::size_t>(d.ordinal);
    if (blocks <= 2 || blocks >= sizes || g.blocks_per_sm > 1 || device >= devices) return without_gpcs;
    std::atomic<std::uint32_t>& count = known[device][blocks];
    if (const std::uint32_t n = count.load(std::memory_order_relaxed); n != 0) return n;
    const auto ask = bound.state->driver->occupancy_max_active_clusters;
    cu::launch_attribute cluster{};
    cluster.id = cu::launch_attribute_id::cluster_dimension;
    cluster.value.cluster_dim = {blocks, 1, 1};
    const cu::launch_config config{blocks,  1,        1, g.threads(), 1, 1, bound.resources.dynamic_shared_bytes,
                                   nullptr, &cluster, 1};
    int n = 0;
    if (ask == nullptr || ask(&n, bound.slot->function, &config) != cu::status::success || n <= 0) return without_gpcs;
    count.store(static_cast<std::uint32_t>(n), std::memory_order_relaxed);
    return static_cast<std::uint64_t>(n);
}

/// Blocks: a cluster a tile with split K, else as many clusters as the device holds at once, and no more than there is
/// work for: tiles, or with stream-K their steps.
[[nodiscard]] inline std::uint32_t blocks_of(const gemm_kernel& kernel, const runtime_detail::bound_kernel& bound,
                                             const gemm_call& c) {
    const gemm_config& g = kernel.config;
    const std::uint64_t tiles = ceil_div(c.m, g.cluster_rows()) * ceil_div(c.n, g.cluster_columns()) * c.batches;
    const std::uint64_t resident = resident_clusters(g, bound);
    const std::uint64_t work = g.stream_k ? tiles * ceil_div(c.k, kernel.bk) : tiles;
    return static_cast<std::uint32_t>((g.split_k > 1 ? tiles : std::min(work, resident)) * g.cluster_blocks());
}

/// The kernel's tensor maps; the context is current.
[[nodiscard]] inline error encode_maps(const stream& s, const gemm_kernel& kernel, const operand_view& a,
                                       const operand_view& b, const operand_view& c, gemm_call& call) {
    const runtime_detail::context_state& state = *s.ctx().state();
    if (auto e = runtime_detail::encode_checked(state, call.a, kernel.a, geometry_of_operand(a), "A")) return e;
    tensor_map_spec map_b = kernel.b;
    if (kernel.config.even_columns())
        map_b.box[1] = static_cast<std::uint32_t>(kernel.config.loaded_columns(static_cast<std::uint64_t>(b.rows)));
    if (auto e = runtime_detail::encode_checked(state, call.b, map_b, geometry_of_operand(b), "B")) return e;
    if (kernel.config.store != store_mode::tma) return {};
    return runtime_detail::encode_checked(state, call.c_map, kernel.c, geometry_of_operand(c), "C");
}

/// Launches one kernel. A configuration may take the operands the other way round.
[[nodiscard]] inline error launch_kernel(const stream& s, const gemm_problem& p, const gemm_kernel& kernel,
                                         const gemm_variant& variant) {
    const bool swaps = kernel.config.swaps_operands();
    const operand_view &a = swaps ? p.b : p.a, &b = swaps ? p.a : p.b;
    gemm_call call;
    call.c = p.c.address, call.bias = p.bias, call.partials = p.partials, call.flags = p.flags;
    call.m = static_cast<u32>(a.rows), call.n = static_cast<u32>(b.rows), call.k = static_cast<u32>(p.a.k);
    call.batches = static_cast<u32>(p.a.batch);
    call.ldc = static_cast<u32>(p.c.row_stride), call.batch_stride = p.c.batch_stride;
    set_scales(call, p);
    if (ceil_div(call.k, kernel.bk) < kernel.config.split_k)
        return {errc::bad_argument, fmt::format("gemm: K = {} is too short for a configuration that splits it {} ways",
                                                call.k, kernel.config.split_k)};
    const auto bound = kernel_of<gemm_variant>(s.ctx(), {kernel.write, variant});
    if (!bound) return bound.error();
    const runtime_detail::current_context current(*s.ctx().state());
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a matrix product");
    if (auto e = encode_maps(s, kernel, a, b, p.c, call)) return e;
    launch_config config{.grid = {blocks_of(kernel, *bound, call)}};
    config.programmatic = p.programmatic;
    return runtime_detail::launch_members(*bound, s, config, call);
}

/// The index of the kernel to take: the caller's choice, or the library's for these operands.
[[nodiscard]] inline std::size_t chosen(const stream& s, const gemm_problem& p, major a, major b) {
    const auto sms = static_cast<std::uint64_t>(s.ctx().device().sm_count);
    const bool may_even = p.flags != 0;
    if (p.types.block_scaled) return choose_block_scaled(p.a.rows, p.b.rows, p.a.k, sms, may_even);
    if (p.choice) return static_cast<std::size_t>(*p.choice);
    const gemm_shape shape{p.a.rows, p.b.rows, p.a.k * p.types.in_bytes() / 2, p.a.batch};
    const gemm_choices allowed = compiled_choices(a, b, p.form.gated);
    const gemm_tuning_table& table = measured_choices();
    const int device = s.ctx().device().ordinal;
    // What a measured choice depends on; without any, all products of one shape share an entry.
    const std::uint64_t generation = table.generation();
    const std::uint64_t key = generation == 0
                                  ? 0
                                  : generation << 32 | static_cast<std::uint64_t>(p.types.a) << 24 |
                                        static_cast<std::uint64_t>(p.types.b) << 16 |
                                        static_cast<std::uint64_t>(p.types.out) << 8 |
                                        static_cast<std::uint64_t>(device & 0x7f) << 1 | (p.form.gated ? 1u : 0u);
    return static_cast<std::size_t>(
        remembered_choice(shape, sms, may_even, allowed, key, [&]() -> std::optional<gemm_choice> {
            if (generation == 0) return {};
            const auto c = table.find(
                device, {p.types.a, p.types.b, p.types.out, p.form.gated, p.a.rows, p.b.rows, p.a.k, p.a.batch});
            return c && takes(*c, shape, may_even, allowed) ? c : std::nullopt;
        }));
}

/// Checks a call and launches the kernel for it. `only`: the table holds one configuration, the caller's.
[[nodiscard]] inline error launch_gemm(const stream& s, const gemm_problem& p, const gemm_kernels& kernels,
                                       bool only = false) {
    if (auto e = check_shapes(p)) return e;
    if (auto e = check_options(p)) return e;
    if (p.c.rows == 0) return {};
    if (auto e = check_operands(p)) return e;
    if (p.types.block_scaled)
        if (auto e = check_block_scales(p)) return e;
    const major a = p.a.k_contiguous() ? k_major : mn_major, b = p.b.k_contiguous() ? k_major : mn_major;
    const bool by_k = a == k_major && b == k_major;
    // wgmma reads 8-bit operands with contiguous rows only (PTX ISA 9.7.15.5.2).
    const bool bytes_by_column = p.types.in_bytes() == 1 && !by_k && (p.form.any_layout || p.types.block_scaled);
    if (!p.a.fits_tma() || !p.b.fits_tma() || bytes_by_column) return launch_plain(s, p, kernels);
    if (!by_k && (!p.form.any_layout || !kernels.has(a, b)))
        return {errc::bad_argument, "gemm: an operand has contiguous columns; use gemm<gemm_form{.any_layout = true}>"};
    const bool scaled = p.form.scaled && (p.alpha != 1.0f || p.beta != 0.0f), fp8 = p.types.fp8();
    store_mode store = store_of(p);
    if (store == store_mode::tma && (scaled || p.types.out_bytes() != 2)) store = store_mode::pairs;
    const std::size_t choice = only ? 0 : chosen(s, p, a, b);
    if (!only && choice >= kernels.choices)
        return {errc::bad_argument, fmt::format("gemm: there is no configuration {}", choice)};
    const gemm_kernel* kernel = kernels.find(a, b, store, choice);
    if (kernel == nullptr)
        return {errc::bad_argument,
                "gemm: the given configuration cannot be built for operands and a result that lie like these"};
    const bool wants_workspace =
        only || p.types.block_scaled ? kernel->config.stream_k : config_of(static_cast<gemm_choice>(choice)).stream_k;
    if (wants_workspace && p.flags == 0)
        return {errc::bad_argument, "gemm: this configuration cuts work along K and needs gemm_options::workspace"};
    // Block scales are applied in the main loop, and there is no alpha; other fp8 products always have scales and
    // alpha.
    const bool factors = !p.types.block_scaled && fp8;
    const gemm_variant variant{.epilogue = {.alpha = scaled || factors,
                                            .beta = scaled,
                                            .tensor_scales = factors,
                                            .bias = p.form.bias,
                                            .act = p.form.act,
                                            .gated = p.form.gated},
                               .early_b = p.form.constant_b};
    return launch_kernel(s, p, *kernel, variant);
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
