// SPDX-License-Identifier: Apache-2.0
// From a call without types to a launch: checks, the choice of a kernel, tensor maps.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/attention/config.hpp>
#include <ptxdsl/kernels/attention/problem.hpp>
#include <ptxdsl/kernels/kernel_cache.hpp>
#include <ptxdsl/kernels/memory_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <tuple>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// A kernel of one configuration and element type: how it is written, and what a launch needs to know.
struct attention_kernel {
    attention_config config;
    tensor_map_spec q, k, v;
    void (*write)(ir::program&, const attention_form&) = nullptr;
};

/// The arguments of `attention_body`, as the driver copies them.
struct attention_call {
    cu::tensor_map q{}, k{}, v{};
    std::uint64_t out = 0, lse = 0, q_starts = 0, k_starts = 0, k_used = 0;
    s32 q_len = 0, k_len = 0;
    u32 heads = 0, group = 0, pairs = 0, row_tiles = 0;
    float factor = 0, cap = 0;
    s32 left = 0, right = 0;
    std::uint64_t o_row = 0, o_head = 0, o_batch = 0, lse_head = 0, lse_batch = 0;

    /// In the order of the kernel's parameters.
    [[nodiscard]] auto members() noexcept {
        return std::tie(q, k, v, out, lse, q_starts, k_starts, k_used, q_len, k_len, heads, group, pairs, row_tiles,
                        factor, cap, left, right, o_row, o_head, o_batch, lse_head, lse_batch);
    }
};

// ---- checks ---------------------------------------------------------------------------------------------------------

/// The shapes of a call fit together.
[[nodiscard]] inline error check_shapes(const attention_problem& p) {
    const heads_view &q = p.q, &k = p.k, &v = p.v, &o = p.out;
    const auto text = [](const heads_view& t) {
        return fmt::format("{} x {} x {} x {}", t.batch, t.rows, t.heads, t.size);
    };
    if (k.batch != q.batch || v.batch != q.batch || o.batch != q.batch || v.rows != k.rows || v.heads != k.heads ||
        k.size != q.size || o.rows != q.rows || o.heads != q.heads || o.size != v.size)
        return {
            errc::bad_argument,
            fmt::format("attention: q is {}, k is {}, v is {}, out is {} (batch x rows x heads x head size); k has the "
                        "head size of q, v the rows and heads of k, out the rows and heads of q and the head size "
                        "of v",
                        text(q), text(k), text(v), text(o))};
    if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)
        return {errc::bad_argument,
                fmt::format("attention: {} heads of queries cannot share {} heads of keys evenly", q.heads, k.heads)};
    constexpr std::uint64_t most = 1u << 30;
    if (q.rows >= most || k.rows >= most || q.batch * q.heads >= most)
        return {errc::bad_argument, "attention: rows, or heads of all sequences, are 2^30 or more"};
    return {};
}
/// So do its options.
[[nodiscard]] inline error check_options(const attention_problem& p) {
    const attention_options& o = p.options;
    if (o.scale && !(*o.scale > 0 && std::isfinite(*o.scale)))
        return {errc::bad_argument, fmt::format("attention: the scale is {}; it has to be positive", *o.scale)};
    if (!(o.softcap >= 0 && std::isfinite(o.softcap)))
        return {errc::bad_argument,
                fmt::format("attention: the softcap is {}; it is positive, or 0 for none", o.softcap)};
    if (!p.packed) return {};
    if (p.sequences.query_starts.address == 0 || p.sequences.key_starts.address == 0)
        return {
            errc::bad_argument,
            "PTXDSL-J06: attention: the starts of the packed sequences are null pointers; pass memory of the device"};
    if (p.sequences.count * p.q.heads >= 1u << 30 || p.sequences.most_queries >= 1u << 30)
        return {errc::bad_argument, "attention: heads of all sequences, or queries of one, are 2^30 or more"};
    return {};
}
/// Copies take 16 bytes at a time: so are addresses and strides aligned.
[[nodiscard]] inline error check_alignment(const heads_view& v, std::string_view name) {
    if (v.count() == 0) return {};
    if (v.size_stride != 1 && v.size != 1)
        return {errc::bad_argument,
                fmt::format("attention: the elements of a head of {} are not next to each other", name)};
    const auto odd = [](std::uint64_t stride, std::uint64_t extent) { return extent > 1 && stride % 8 != 0; };
    if (odd(v.batch_stride, v.batch) || odd(v.row_stride, v.rows) || odd(v.head_stride, v.heads))
        return {errc::bad_argument,
                fmt::format("attention: a stride of {} is no multiple of 8 elements; copies take 16 bytes at a time",
                            name)};
    if (v.address % 16 != 0)
        return {
            errc::bad_argument,
            fmt::format("PTXDSL-J06: attention: the address 0x{:x} of {} is not a multiple of 16 bytes, which copies "
                        "take at a time; pass an aligned pointer",
                        v.address, name)};
    return {};
}
/// What a tensor is to the checks of memory: all of it where nothing lies between its elements, else the first head.
[[nodiscard]] inline memory_rows rows_of_memory(const heads_view& v, std::string_view name) noexcept {
    const auto reach = [](std::uint64_t extent, std::uint64_t stride) {
        return extent == 0 ? 0 : (extent - 1) * stride;
    };
    const std::uint64_t span =
        reach(v.batch, v.batch_stride) + reach(v.rows, v.row_stride) + reach(v.heads, v.head_stride) + v.size;
    if (v.count() == 0) return {name, v.address, 0, 0, 0, 2};
    if (span == v.count()) return {name, v.address, 1, v.count() * 2, v.count() * 2, 2};
    return {name, v.address, v.rows, v.size * 2, v.row_stride * 2, 2};
}
[[nodiscard]] inline error check_tensors(const attention_problem& p) {
    for (const auto& [view, name] : {std::pair{&p.q, "q"}, {&p.k, "k"}, {&p.v, "v"}, {&p.out, "out"}})
        if (auto e = check_alignment(*view, name)) return e;
    const std::uint64_t sums = p.options.lse.address == 0 ? 0 : p.q.batch * p.q.rows * p.q.heads;
    return check_memory(
        "attention", {rows_of_memory(p.q, "q"), rows_of_memory(p.k, "k"), rows_of_memory(p.v, "v")},
        {rows_of_memory(p.out, "out"), {"lse", p.options.lse.address, sums == 0 ? 0u : 1u, sums * 4, sums * 4, 4}},
        false);
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

[[nodiscard]] inline attention_form form_of(const attention_problem& p) noexcept {
    const attention_options& o = p.options;
    return {.right = o.causal || o.window_right.has_value(),
            .left = o.window_left.has_value(),
            .softcap = o.softcap != 0,
            .packed = p.packed,
            .used = o.used_keys.address != 0,
            .lse = o.lse.address != 0};
}

/// What distinguishes two kernels of the library.
struct attention_key {
    std::uintptr_t write = 0;
    attention_form form{};
    auto operator<=>(const attention_key&) const = default;
};
/// The kernel, written and loaded on first use.
[[nodiscard]] inline result<runtime_detail::bound_kernel> kernel_of(const context& ctx, const attention_kernel& kernel,
                                                                    const attention_form& form) {
    static kernel_cache<attention_key> cache;
    return cache.get(ctx, {reinterpret_cast<std::uintptr_t>(kernel.write), form}, [&] {
        ir::program program;
        kernel.write(program, form);
        return assembled_program<param_list<>>(program);
    });
}

/// The map of a tensor of heads: element, row, head, sequence.
[[nodiscard]] inline tensor_geometry geometry_of_heads(const heads_view& v) noexcept {
    tensor_geometry g;
    g.address = v.address;
    const std::uint64_t size[] = {v.size, v.rows, v.heads, v.batch};
    const std::uint64_t stride[] = {1, v.row_stride, v.head_stride, v.batch_stride};
    for (int i = 0; i < 4; ++i) {
        g.size[i] = size[i];
        g.stride_bytes[i] = size[i] > 1 ? stride[i] * 2 : 16;  // of one element it is never used
    }
    return g;
}

/// Numbers of the call.
[[nodiscard]] inline attention_call numbers_of(const attention_problem& p, const attention_config& config) noexcept {
    constexpr u32 most = 1u << 30;
    const attention_options& o = p.options;
    const std::uint64_t sequences = p.packed ? p.sequences.count : p.q.batch;
    const std::uint64_t queries = p.packed ? p.sequences.most_queries : p.q.rows;
    const double scale = o.scale ? static_cast<double>(*o.scale) : 1 / std::sqrt(static_cast<double>(p.q.size));
    const double capped = static_cast<double>(o.softcap);
    attention_call c;
    c.out = p.out.address, c.lse = o.lse.address, c.k_used = o.used_keys.address;
    c.q_starts = p.sequences.query_starts.address, c.k_starts = p.sequences.key_starts.address;
    c.q_len = static_cast<s32>(p.q.rows), c.k_len = static_cast<s32>(p.k.rows);
    c.heads = static_cast<u32>(p.q.heads), c.group = static_cast<u32>(p.q.heads / p.k.heads);
    c.pairs = static_cast<u32>(sequences * p.q.heads),
    c.row_tiles = static_cast<u32>((queries + config.bm - 1) / config.bm);
    c.factor = static_cast<float>((o.softcap != 0 ? capped : scale) * std::numbers::log2e);
    c.cap = o.softcap != 0 ? static_cast<float>(2 * std::numbers::log2e * scale / capped) : 0.0f;
    c.left = static_cast<s32>(std::min(o.window_left.value_or(most), most));
    c.right = static_cast<s32>(std::min(o.causal ? 0u : o.window_right.value_or(most), most));
    c.o_row = p.out.row_stride, c.o_head = p.out.head_stride, c.o_batch = p.out.batch_stride;
    c.lse_head = p.q.rows, c.lse_batch = p.q.rows * p.q.heads;
    return c;
}

/// Launches one kernel on a checked call that has results.
[[nodiscard]] inline error launch_kernel(const stream& s, const attention_problem& p, const attention_kernel& kernel) {
    attention_call call = numbers_of(p, kernel.config);
    const auto bound = kernel_of(s.ctx(), kernel, form_of(p));
    if (!bound) return bound.error();
    const runtime_detail::context_state& state = *s.ctx().state();
    const runtime_detail::current_context current(state);
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching attention");
    heads_view k = p.k, v = p.v;
    if (p.k.rows == 0) {  // nothing is loaded, but a map has rows and an address
        k.rows = v.rows = 1;
        k.address = v.address = p.q.address;
    }
    if (auto e = runtime_detail::encode_checked(state, call.q, kernel.q, geometry_of_heads(p.q), "q")) return e;
    if (auto e = runtime_detail::encode_checked(state, call.k, kernel.k, geometry_of_heads(k), "k")) return e;
    if (auto e = runtime_detail::encode_checked(state, call.v, kernel.v, geometry_of_heads(v), "v")) return e;
    const std::uint64_t tiles = std::uint64_t{call.pairs} * call.row_tiles;
    if (tiles >= 1u << 30) return {errc::bad_argument, "attention: more than 2^30 tiles of queries; split the call"};
    const auto sms = static_cast<std::uint64_t>(s.ctx().device().sm_count);
    launch_config config{.grid = {static_cast<std::uint32_t>(std::min(tiles, sms))}};
    config.programmatic = p.options.programmatic;
    return runtime_detail::launch_members(*bound, s, config, call);
}

/// The kernel for these head sizes; null when there is none. Where there are two, the one with more keys a step is for
/// long sequences (docs/kernels/attention.md): a step's fixed cost is shared by more, and short sequences are cut into
/// tiles with less left over.
[[nodiscard]] inline const attention_kernel* choose_attention(
    const attention_problem& p, std::span<const attention_kernel* const> kernels) noexcept {
    const std::uint64_t keys = p.packed && p.sequences.count != 0 ? p.k.rows / p.sequences.count : p.k.rows;
    const attention_form form = form_of(p);
    const bool is_long = keys > (form.right || form.left ? 6144u : 2048u);
    const attention_kernel* chosen = nullptr;
    for (const attention_kernel* k : kernels)
        if (k->config.d == p.q.size && k->config.dv == p.v.size && (chosen == nullptr || is_long)) chosen = k;
    return chosen;
}

/// Checks a call and launches the kernel for it.
[[nodiscard]] inline error launch_attention(const stream& s, const attention_problem& p,
                                            std::span<const attention_kernel* const> kernels) {
    if (auto e = check_shapes(p)) return e;
    if (auto e = check_options(p)) return e;
    const attention_kernel* kernel = choose_attention(p, kernels);
    if (kernel == nullptr)
        return {errc::not_supported,
                fmt::format("attention: no kernel has heads of {} and values of {}; there are 64, 96, 128, 192 with "
                            "values of 128, and 256",
                            p.q.size, p.v.size)};
    if (p.out.count() == 0 || (p.packed && (p.sequences.count == 0 || p.sequences.most_queries == 0))) return {};
    if (auto e = check_tensors(p)) return e;
    return launch_kernel(s, p, *kernel);
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
