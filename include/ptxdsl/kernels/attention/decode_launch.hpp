// SPDX-License-Identifier: Apache-2.0
// From a call over pages without types to its launches: checks, the cut of the keys, tensor maps.
#pragma once

#include <ptxdsl/kernels/attention/decode_spec.hpp>
#include <ptxdsl/kernels/attention/launch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <tuple>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// A pair of kernels of one configuration and element type: how they are written, and what a launch needs to know.
struct decode_kernel {
    decode_config config;
    tensor_map_spec map;
    void (*write)(ir::program&, const attention_form&) = nullptr;
    void (*write_combine)(ir::program&, const attention_form&) = nullptr;
};

/// The arguments of `decode_body`, as the driver copies them.
struct decode_call {
    cu::tensor_map k{}, v{};
    std::uint64_t q = 0, out = 0, lse = 0, pages = 0, used = 0, partial_sums = 0, partial_logs = 0;
    u32 q_len = 0, heads = 0, group = 0, kv_heads = 0, row_tiles = 0, rows = 0, page = 0, most_pages = 0,
        split_steps = 0, splits = 0;
    float factor = 0, cap = 0;
    s32 left = 0, right = 0;
    std::uint64_t q_row = 0, q_head = 0, q_batch = 0, o_row = 0, o_head = 0, o_batch = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(k, v, q, out, lse, pages, used, partial_sums, partial_logs, q_len, heads, group, kv_heads,
                        row_tiles, rows, page, most_pages, split_steps, splits, factor, cap, left, right, q_row, q_head,
                        q_batch, o_row, o_head, o_batch);
    }
};
/// Those of `combine_body`.
struct combine_call {
    std::uint64_t partial_sums = 0, partial_logs = 0, used = 0, out = 0, lse = 0;
    u32 rows = 0, q_len = 0, heads = 0, most_keys = 0, split_steps = 0;
    std::uint64_t o_row = 0, o_head = 0, o_batch = 0;
    [[nodiscard]] auto members() noexcept {
        return std::tie(partial_sums, partial_logs, used, out, lse, rows, q_len, heads, most_keys, split_steps, o_row,
                        o_head, o_batch);
    }
};

[[nodiscard]] inline error check_pages(const paged_problem& p) {
    const heads_view &q = p.q, &k = p.k, &v = p.v, &o = p.out;
    const auto text = [](const heads_view& t) {
        return fmt::format("{} x {} x {} x {}", t.batch, t.rows, t.heads, t.size);
    };
    if (v.batch != k.batch || v.rows != k.rows || v.heads != k.heads || k.size != q.size || o.batch != q.batch ||
        o.rows != q.rows || o.heads != q.heads || o.size != v.size)
        return {errc::bad_argument,
                fmt::format("attention: q is {}, k is {}, v is {}, out is {} (batch or pages x rows x heads x head "
                            "size); k has the head size of q, v the pages, rows and heads of k, out the batch, rows "
                            "and heads of q and the head size of v",
                            text(q), text(k), text(v), text(o))};
    if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)
        return {errc::bad_argument,
                fmt::format("attention: {} heads of queries cannot share {} heads of keys evenly", q.heads, k.heads)};
    if (k.rows == 0 || k.rows % 16 != 0)
        return {errc::bad_argument,
                fmt::format("attention: pages have {} keys; it has to be a multiple of 16", k.rows)};
    constexpr std::uint64_t most = 1u << 30;
    if (q.batch * q.rows * q.heads >= most || k.batch >= most || k.rows * p.keys.pages_per_sequence >= most)
        return {errc::bad_argument, "attention: queries of all heads, pages, or keys of a sequence are 2^30 or more"};
    if (p.options.used_keys.address != 0)
        return {errc::bad_argument,
                "attention: with keys in pages, how many a sequence has is said by paged_keys::lengths, not by "
                "attention_options::used_keys"};
    return {};
}
[[nodiscard]] inline error check_page_memory(const paged_problem& p) {
    if (p.keys.lengths.address == 0 || (p.keys.pages.address == 0 && p.keys.pages_per_sequence != 0))
        return {errc::bad_argument,
                "PTXDSL-J06: attention: the table of the pages or the lengths of the sequences are null pointers; pass "
                "memory of the device"};
    if (p.keys.workspace.address % 8 != 0)
        return {errc::bad_argument,
                fmt::format("PTXDSL-J06: attention: the address 0x{:x} of the workspace is not a multiple of 8 bytes",
                            p.keys.workspace.address)};
    for (const auto& [view, name] : {std::pair{&p.q, "q"}, {&p.k, "k"}, {&p.v, "v"}, {&p.out, "out"}})
        if (auto e = check_alignment(*view, name)) return e;
    const std::uint64_t sums = p.options.lse.address == 0 ? 0 : p.q.batch * p.q.rows * p.q.heads;
    const std::uint64_t parts = p.keys.workspace.address == 0 ? 0 : p.keys.workspace_size * 4;
    return check_memory("attention", {rows_of_memory(p.q, "q"), rows_of_memory(p.k, "k"), rows_of_memory(p.v, "v")},
                        {rows_of_memory(p.out, "out"),
                         {"lse", p.options.lse.address, sums == 0 ? 0u : 1u, sums * 4, sums * 4, 4},
                         {"the workspace", p.keys.workspace.address, parts == 0 ? 0u : 1u, parts, parts, 4}},
                        false);
}

/// How the keys of a sequence are cut: steps of a part, and parts of the longest sequence.
struct key_cut {
    std::uint64_t steps = 1, parts = 1;
};
/// What a cut costs, in steps of a block: a wave of blocks takes as long as one of them, however few they are, and
/// about one and a half steps to begin. Adding the parts up costs as much again, and more with many.
[[nodiscard]] inline double cost_of(const key_cut& c, std::uint64_t items, std::uint64_t slots) noexcept {
    const std::uint64_t waves = (items * c.parts + slots - 1) / slots;
    const double sum = c.parts == 1 ? 0.0 : 1.5 + static_cast<double>(c.parts) / 64;
    return static_cast<double>(waves) * (static_cast<double>(c.steps) + 1.5) + sum;
}
/// The cheapest cut that the workspace has room for; with `split_keys`, that one.
[[nodiscard]] inline key_cut cut_of(const paged_problem& p, const decode_config& c, std::uint64_t items,
                                    std::uint64_t sms) noexcept {
    const std::uint64_t steps = std::max<std::uint64_t>((p.k.rows * p.keys.pages_per_sequence + c.bn - 1) / c.bn, 1);
    const std::uint64_t part = p.q.batch * p.q.rows * p.q.heads * (p.v.size + 1);
    const std::uint64_t most =
        p.keys.workspace.address == 0 ? 1 : std::clamp<std::uint64_t>(p.keys.workspace_size / part, 1, steps);
    const auto with = [&](std::uint64_t length) { return key_cut{length, (steps + length - 1) / length}; };
    if (p.keys.split_keys != 0) return with((p.keys.split_keys + c.bn - 1) / c.bn);
    const std::uint64_t slots = sms * c.blocks();
    key_cut best = with(steps);
    for (std::uint64_t parts = 2; parts <= std::min<std::uint64_t>(most, 512); ++parts)
        if (const key_cut cut = with((steps + parts - 1) / parts);
            cost_of(cut, items, slots) < cost_of(best, items, slots))
            best = cut;
    return best;
}

[[nodiscard]] inline decode_call numbers_of(const paged_problem& p, const decode_config& c, const stream& s) noexcept {
    constexpr u32 most = 1u << 30;
    const attention_options& o = p.options;
    const double scale = o.scale ? static_cast<double>(*o.scale) : 1 / std::sqrt(static_cast<double>(p.q.size));
    const double capped = static_cast<double>(o.softcap);
    decode_call a;
    a.q = p.q.address, a.out = p.out.address, a.lse = o.lse.address;
    a.pages = p.keys.pages.address, a.used = p.keys.lengths.address;
    a.q_len = static_cast<u32>(p.q.rows), a.heads = static_cast<u32>(p.q.heads);
    a.kv_heads = static_cast<u32>(p.k.heads), a.group = a.heads / a.kv_heads;
    a.row_tiles = (a.q_len * a.group + c.bm - 1) / c.bm;
    a.rows = static_cast<u32>(p.q.batch * p.q.rows * p.q.heads);
    a.page = static_cast<u32>(p.k.rows), a.most_pages = static_cast<u32>(p.keys.pages_per_sequence);
    const key_cut cut =
        cut_of(p, c, p.q.batch * p.k.heads * a.row_tiles, static_cast<std::uint64_t>(s.ctx().device().sm_count));
    a.split_steps = static_cast<u32>(cut.steps), a.splits = static_cast<u32>(cut.parts);
    a.partial_sums = p.keys.workspace.address;
    a.partial_logs = a.partial_sums + 4 * cut.parts * a.rows * p.v.size;
    a.factor = static_cast<float>((o.softcap != 0 ? capped : scale) * std::numbers::log2e);
    a.cap = o.softcap != 0 ? static_cast<float>(2 * std::numbers::log2e * scale / capped) : 0.0f;
    a.left = static_cast<s32>(std::min(o.window_left.value_or(most), most));
    a.right = static_cast<s32>(std::min(o.causal ? 0u : o.window_right.value_or(most), most));
    a.q_row = p.q.row_stride, a.q_head = p.q.head_stride, a.q_batch = p.q.batch_stride;
    a.o_row = p.out.row_stride, a.o_head = p.out.head_stride, a.o_batch = p.out.batch_stride;
    return a;
}
/// A workspace is large enough for the cut.
[[nodiscard]] inline error check_workspace(const paged_problem& p, const decode_call& a) {
    const std::uint64_t needed = std::uint64_t{a.splits} * a.rows * (p.v.size + 1);
    if (a.splits == 1 || (p.keys.workspace.address != 0 && needed <= p.keys.workspace_size)) return {};
    return {
        errc::bad_argument,
        fmt::format("attention: parts of {} keys are {} of the longest sequence and need a workspace of {} f32 "
                    "values; there are {}",
                    p.keys.split_keys, a.splits, needed, p.keys.workspace.address == 0 ? 0 : p.keys.workspace_size)};
}

/// Kernels by who writes them.
[[nodiscard]] inline result<runtime_detail::bound_kernel> decode_kernel_of(
    const context& ctx, void (*write)(ir::program&, const attention_form&), const attention_form& form) {
    static kernel_cache<attention_key> cache;
    return cache.get(ctx, {reinterpret_cast<std::uintptr_t>(write), form}, [&] {
        ir::program program;
        write(program, form);
        return assembled_program<param_list<>>(program);
    });
}

[[nodiscard]] inline error launch_kernels(const stream& s, const paged_problem& p, const decode_kernel& kernel,
                                          decode_call& call) {
    const attention_options& o = p.options;
    const attention_form form{.right = o.causal || o.window_right.has_value(),
                              .left = o.window_left.has_value(),
                              .softcap = o.softcap != 0,
                              .lse = o.lse.address != 0};
    const auto bound = decode_kernel_of(s.ctx(), kernel.write, form);
    if (!bound) return bound.error();
    const auto combine = decode_kernel_of(s.ctx(), kernel.write_combine, {.lse = form.lse});
    if (!combine) return combine.error();
    const runtime_detail::context_state& state = *s.ctx().state();
    const runtime_detail::current_context current(state);
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching attention");
    heads_view k = p.k, v = p.v;
    if (k.batch == 0) {  // nothing is loaded, but a map has pages and an address
        k.batch = v.batch = 1;
        k.address = v.address = p.q.address;
    }
    if (auto e = runtime_detail::encode_checked(state, call.k, kernel.map, geometry_of_heads(k), "k")) return e;
    if (auto e = runtime_detail::encode_checked(state, call.v, kernel.map, geometry_of_heads(v), "v")) return e;
    const std::uint64_t blocks = std::uint64_t{call.splits} * p.q.batch * call.kv_heads * call.row_tiles;
    if (blocks >= 1u << 30 || std::uint64_t{call.splits} * call.rows >= 1u << 31)
        return {errc::bad_argument, "attention: more than 2^30 blocks; split the call"};
    launch_config config{.grid = {static_cast<std::uint32_t>(blocks)}};
    // Started beside the small blocks that add up the call before, a large one took a sixth longer on an H200 (537 MB
    // of keys and values: 150 for 128 us); a small one (134 MB) gains the microseconds of a start.
    const std::uint64_t bytes =
        std::uint64_t{call.page} * call.most_pages * p.q.batch * call.kv_heads * (p.k.size + p.v.size) * 2;
    config.programmatic = o.programmatic && (call.splits == 1 || bytes < 256u << 20);
    if (auto e = runtime_detail::launch_members(*bound, s, config, call)) return e;
    if (call.splits == 1) return {};
    combine_call sum{call.partial_sums, call.partial_logs, call.used,
                     call.out,          call.lse,          call.rows,
                     call.q_len,        call.heads,        call.page * call.most_pages,
                     call.split_steps,  call.o_row,        call.o_head,
                     call.o_batch};
    config = {.grid = {call.rows}};
    config.programmatic = true;
    return runtime_detail::launch_members(*combine, s, config, sum);
}

/// Checks a call and launches the kernels for it.
[[nodiscard]] inline error launch_decode(const stream& s, const paged_problem& p,
                                         std::span<const decode_kernel* const> kernels) {
    if (auto e = check_pages(p)) return e;
    attention_problem plain;
    plain.options = p.options;
    if (auto e = check_options(plain)) return e;
    const decode_kernel* kernel = nullptr;  // of those with a box that divides the pages, the one with the largest
    for (const decode_kernel* k : kernels)
        if (k->config.d == p.q.size && k->config.dv == p.v.size && p.k.rows % k->config.box == 0 &&
            (kernel == nullptr || k->config.box > kernel->config.box))
            kernel = k;
    if (kernel == nullptr)
        return {errc::not_supported,
                fmt::format("attention: no kernel for keys in pages has heads of {} and values of {}; there are 64, "
                            "128 and 256",
                            p.q.size, p.v.size)};
    if (p.out.count() == 0) return {};
    if (auto e = check_page_memory(p)) return e;
    decode_call call = numbers_of(p, kernel->config, s);
    if (auto e = check_workspace(p, call)) return e;
    return launch_kernels(s, p, *kernel, call);
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
