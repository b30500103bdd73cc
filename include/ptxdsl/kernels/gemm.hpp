// SPDX-License-Identifier: Apache-2.0
// The matrix product as a call: `px::kernels::gemm(stream, A, B, C)`. Kernels are assembled and loaded on first use,
// once for each context; calls may come from many threads.
#pragma once

#include <ptxdsl/kernels/gemm_heuristic.hpp>
#include <ptxdsl/kernels/gemm_kernel.hpp>
#include <ptxdsl/kernels/gemm_plain.hpp>
#include <ptxdsl/kernels/kernel_cache.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels {

/// What is fixed when the program is compiled; each distinct one brings its own kernels.
struct gemm_form {
    activation act = activation::none;
    bool bias = false;
    bool gated = false;       ///< see `gemm_epilogue::gated`; B has twice as many columns as C
    bool scaled = false;      ///< alpha and beta other than 1 and 0 are allowed
    bool any_layout = false;  ///< operands may have contiguous columns too; brings more kernels into the program
    bool constant_b =
        false;  ///< no kernel still running writes B (weights): its loads may start before that kernel ends
    constexpr bool operator==(const gemm_form&) const = default;
};

/// Memory that `stream_k` configurations need. One for each stream that runs products at the same time as others.
class gemm_workspace {
public:
    /// Allocates for the device of `ctx`: 128 KiB a multiprocessor.
    static result<gemm_workspace> create(const context& ctx) {
        const auto sms = static_cast<std::size_t>(ctx.device().sm_count);
        auto partials = device_buffer<f32>::allocate(ctx, sms * 128 * 256);
        if (!partials) return partials.error();
        auto flags = device_buffer<u32>::allocate(ctx, sms * 2);
        if (!flags) return flags.error();
        if (const auto r = flags->fill_bytes(0); !r) return r.error();
        return gemm_workspace(std::move(*partials), std::move(*flags));
    }
    [[nodiscard]] std::uint64_t partials() noexcept { return partials_.ptr().address; }
    [[nodiscard]] std::uint64_t flags() noexcept { return flags_.ptr().address; }

private:
    gemm_workspace(device_buffer<f32> partials, device_buffer<u32> flags) noexcept
        : partials_(std::move(partials)), flags_(std::move(flags)) {}
    device_buffer<f32> partials_;
    device_buffer<u32> flags_;
};

/// What a call may say.
template <class In>
struct gemm_options {
    float alpha = 1.0f, beta = 0.0f;      ///< others than these need `gemm_form::scaled`
    device_ptr<const In> bias{};          ///< N elements, 4-byte aligned; needs `gemm_form::bias`
    gemm_workspace* workspace = nullptr;  ///< allows the configuration that balances the last waves
    std::optional<gemm_choice> choice{};  ///< instead of `choose_gemm_config`
    bool programmatic = true;             ///< may be placed on the device before the kernel ahead of it has ended
};

namespace detail {

/// An operand as tensor maps see it: which extent is contiguous, and the strides of the others.
struct operand_view {
    std::uint64_t address = 0, rows = 0, k = 0, batch = 1;
    std::uint64_t row_stride = 0, k_stride = 0, batch_stride = 0;
    [[nodiscard]] bool k_contiguous() const noexcept { return k_stride == 1; }
    [[nodiscard]] bool fits_tma() const noexcept {
        const std::uint64_t line = k_contiguous() ? row_stride : k_stride;
        const bool contiguous = k_stride == 1 || row_stride == 1;
        return contiguous && address % 16 == 0 && line % 8 == 0 && (batch == 1 || batch_stride % 8 == 0);
    }
};

template <class T, std::size_t Rank>
[[nodiscard]] operand_view view_of(const tensor_view<T, Rank>& t) noexcept {
    static_assert(Rank == 2 || Rank == 3,
                  "PTXDSL-kernels: a matrix is a view of rank 2, a batch of matrices one of rank 3");
    operand_view v;
    v.address = t.data().address;
    v.rows = t.size(Rank - 2), v.k = t.size(Rank - 1);
    v.row_stride = t.stride(Rank - 2), v.k_stride = t.stride(Rank - 1);
    if (v.k == 1) v.k_stride = 1;  // a stride that is never used
    if constexpr (Rank == 3) v.batch = t.size(0), v.batch_stride = t.stride(0);
    return v;
}

/// The map of an operand or result. The box comes from the spec; a batch of one gets a stride the encoder takes.
[[nodiscard]] inline tensor_geometry geometry_of_operand(const operand_view& v, std::size_t element) noexcept {
    const bool by_k = v.k_contiguous();
    const std::uint64_t line = (by_k ? v.row_stride : v.k_stride) * element;
    tensor_geometry g;
    g.address = v.address;
    g.size[0] = by_k ? v.k : v.rows, g.size[1] = by_k ? v.rows : v.k, g.size[2] = v.batch;
    g.stride_bytes[1] = (line + 15) / 16 * 16;
    g.stride_bytes[2] = v.batch > 1 ? v.batch_stride * element : g.stride_bytes[1];
    return g;
}

/// Everything a launch needs, in the order of `gemm_body`'s parameters.
struct gemm_call {
    cu::tensor_map a{}, b{}, c_map{};
    std::uint64_t c = 0, bias = 0, partials = 0, flags = 0;
    u32 m = 0, n = 0, k = 0, batches = 1, ldc = 0;
    std::uint64_t batch_stride = 0;
    float alpha = 1, beta = 0;
};

/// The configuration as this form and these operands need it.
[[nodiscard]] constexpr gemm_config adapted(gemm_config c, major a, major b, store_mode store,
                                            bool constant_b) noexcept {
    c.a = a, c.b = b;
    c.early_b = constant_b;
    if (c.split_k > 1 && store == store_mode::tma) store = store_mode::pairs;
    c.store = store;
    if (store != store_mode::tma) c.stream_k = false;
    return c;
}

template <gemm_form F>
inline constexpr gemm_epilogue epilogue_of{
    .alpha = F.scaled, .beta = F.scaled, .bias = F.bias, .act = F.act, .gated = F.gated};

/// The choice as it is compiled for operands of these majors: fewer configurations where one is not K-major. A gated
/// product leaves half of its columns, of which a stored chunk needs 64.
[[nodiscard]] constexpr gemm_choice compiled(gemm_choice c, major a, major b, bool gated) noexcept {
    using enum gemm_choice;
    if (gated && c == few_columns) return medium;
    if (a == k_major && b == k_major) return c;
    switch (c) {
        case large_even:
        case large_single: return large;
        case few_rows_split: return few_rows;
        case few_columns:
        case medium_split: return medium;
        default: return c;
    }
}

/// Launches one configuration.
template <gemm_config C, class In, class Out, gemm_epilogue E>
class configured_gemm {
    using spec = gemm_spec<C, In, Out, E>;

public:
    static error launch(const stream& s, const operand_view& a, const operand_view& b, const operand_view& c,
                        gemm_call& call, bool programmatic) {
        if (ceil_div(call.k, C.bk) < C.split_k)
            return {
                errc::bad_argument,
                fmt::format("gemm: K = {} is too short for a configuration that splits it {} ways", call.k, C.split_k)};
        static kernel_cache<> cache;
        const auto kernel = cache.get(
            s.ctx(), [] { return assemble_at_run_time("gemm", &gemm_body<C, In, Out, E>, gemm_attributes<C>); });
        if (!kernel) return kernel.error();
        const runtime_detail::current_context current(*s.ctx().state());
        if (current.status() != cu::status::success)
            return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a matrix product");
        const runtime_detail::context_state& state = *s.ctx().state();
        if (auto e = runtime_detail::encode_checked(state, call.a, spec::map_a::spec,
                                                    geometry_of_operand(a, sizeof(In)), "A"))
            return e;
        if (auto e = runtime_detail::encode_checked(state, call.b, spec::map_b::spec,
                                                    geometry_of_operand(b, sizeof(In)), "B"))
            return e;
        if constexpr (C.store == store_mode::tma)
            if (auto e = runtime_detail::encode_checked(state, call.c_map, spec::map_c::spec,
                                                        geometry_of_operand(c, sizeof(Out)), "C"))
                return e;
        void* arguments[] = {
            &call.a, &call.b, &call.c_map,   &call.c,   &call.bias,         &call.partials, &call.flags, &call.m,
            &call.n, &call.k, &call.batches, &call.ldc, &call.batch_stride, &call.alpha,    &call.beta};
        launch_config config{.grid = {grid_of(s.ctx().device(), call)}};
        config.programmatic = programmatic;
        return runtime_detail::launch_bound(*kernel, s, config, arguments);
    }

private:
    /// Blocks: a cluster a tile with split K, else as many clusters as the device holds at once.
    static std::uint32_t grid_of(const device_info& d, const gemm_call& p) {
        const std::uint64_t tiles = ceil_div(p.m, C.cluster_rows()) * ceil_div(p.n, C.cluster_columns()) * p.batches;
        const std::uint64_t resident = static_cast<std::uint64_t>(d.sm_count) * C.blocks_per_sm / C.cluster_blocks();
        return static_cast<std::uint32_t>((C.split_k > 1 ? tiles : std::min(tiles, resident)) * C.cluster_blocks());
    }
};

/// Picks the compiled kernel of a choice, for operands of these majors.
template <gemm_form F, class In, class Out, major A, major B>
class gemm_dispatch {
    static constexpr gemm_epilogue scaled = epilogue_of<F>;
    static constexpr gemm_epilogue unscaled{.bias = F.bias, .act = F.act, .gated = F.gated};

public:
    static error run(const stream& s, gemm_choice choice, store_mode store, bool is_scaled, const operand_view& a,
                     const operand_view& b, const operand_view& c, gemm_call& call, bool programmatic) {
        if constexpr (F.scaled)
            if (is_scaled)
                return fallback<scaled>(s, store == store_mode::tma ? store_mode::pairs : store, a, b, c, call,
                                        programmatic);
        if (store != store_mode::tma || sizeof(Out) != 2)
            return fallback<unscaled>(s, store == store_mode::tma ? store_mode::pairs : store, a, b, c, call,
                                      programmatic);
        if constexpr (sizeof(Out) == 2)
            return choose(s, choice, a, b, c, call, programmatic, std::make_index_sequence<gemm_configs.size()>{});
        else
            return {};
    }

private:
    template <std::size_t Index>
    static constexpr gemm_config compiled_config = adapted(
        config_of(compiled(static_cast<gemm_choice>(Index), A, B, F.gated)), A, B, store_mode::tma, F.constant_b);

    template <gemm_epilogue E>
    static error fallback(const stream& s, store_mode store, const operand_view& a, const operand_view& b,
                          const operand_view& c, gemm_call& call, bool programmatic) {
        constexpr gemm_config medium = config_of(gemm_choice::medium);
        constexpr gemm_config pairs = adapted(medium, A, B, store_mode::pairs, F.constant_b),
                              elements = adapted(medium, A, B, store_mode::elements, F.constant_b);
        return store == store_mode::pairs
                   ? configured_gemm<pairs, In, Out, E>::launch(s, a, b, c, call, programmatic)
                   : configured_gemm<elements, In, Out, E>::launch(s, a, b, c, call, programmatic);
    }
    template <std::size_t... Index>
    static error choose(const stream& s, gemm_choice choice, const operand_view& a, const operand_view& b,
                        const operand_view& c, gemm_call& call, bool programmatic, std::index_sequence<Index...>) {
        error e;
        const auto wanted = static_cast<std::size_t>(choice);
        const bool found = ((wanted == Index && (e = configured_gemm<compiled_config<Index>, In, Out, unscaled>::launch(
                                                     s, a, b, c, call, programmatic),
                                                 true)) ||
                            ...);
        if (!found) return {errc::bad_argument, fmt::format("gemm: there is no configuration {}", wanted)};
        return e;
    }
};

/// Operands TMA cannot address.
template <gemm_form F, class In, class Out>
error launch_plain(const stream& s, const operand_view& a, const operand_view& b, const operand_view& c, gemm_call& p) {
    if constexpr (F.gated) {
        return {errc::not_supported,
                "gemm: a gated product needs operands with rows of a multiple of 16 bytes; pad them"};
    } else {
        static kernel_cache<> cache;
        const auto kernel = cache.get(s.ctx(), [] {
            return assemble_at_run_time("gemm_plain", &gemm_plain_body<In, Out, F.act>, gemm_plain_attributes);
        });
        if (!kernel) return kernel.error();
        u32 has_bias = p.bias != 0 ? 1 : 0;
        std::uint64_t addresses[] = {a.address, b.address};
        std::uint64_t strides[] = {a.row_stride, a.k_stride,     a.batch_stride, b.row_stride,
                                   b.k_stride,   b.batch_stride, c.row_stride,   c.batch_stride};
        void* arguments[] = {&addresses[0], &addresses[1], &p.c,        &p.bias,     &has_bias,   &p.m,
                             &p.n,          &p.k,          &strides[0], &strides[1], &strides[2], &strides[3],
                             &strides[4],   &strides[5],   &strides[6], &strides[7], &p.alpha,    &p.beta};
        const runtime_detail::current_context current(*s.ctx().state());
        if (current.status() != cu::status::success)
            return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a matrix product");
        const launch_config config{.grid = {static_cast<std::uint32_t>(ceil_div(p.n, 16)),
                                            static_cast<std::uint32_t>(ceil_div(p.m, 16)), p.batches}};
        return runtime_detail::launch_bound(*kernel, s, config, arguments);
    }
}

/// The shapes of a call fit together.
template <gemm_form F, class In>
error check_gemm(const operand_view& a, const operand_view& b, const operand_view& c, const gemm_options<In>& o) {
    const std::uint64_t columns = F.gated ? 2 * c.k : c.k;
    if (a.rows != c.rows || b.rows != columns || a.k != b.k || a.batch != b.batch || a.batch != c.batch ||
        c.rows == 0 || c.k == 0 || a.k == 0 || c.batch == 0)
        return {errc::bad_argument,
                fmt::format("gemm: A is {} x {} x {}, B is {} x {} x {}, C is {} x {} x {} (batch x rows x columns); "
                            "wanted are m x k, n x k and m x n of one batch size, none of them empty{}",
                            a.batch, a.rows, a.k, b.batch, b.rows, b.k, c.batch, c.rows, c.k,
                            F.gated ? ", n twice the columns of C" : "")};
    if (c.k_stride != 1)
        return {errc::bad_argument,
                "gemm: the rows of C are contiguous; pass the transposed problem for a C of contiguous columns"};
    if (F.gated && columns % 16 != 0)
        return {
            errc::bad_argument,
            fmt::format("gemm: B has {} columns; a gated product takes groups of 16, 8 of the gate and 8 of the value",
                        columns)};
    if (!F.scaled && (o.alpha != 1.0f || o.beta != 0.0f))
        return {errc::bad_argument, "gemm: alpha or beta differs from 1 and 0; use gemm<gemm_form{.scaled = true}>"};
    if (F.bias != (o.bias.address != 0))
        return {errc::bad_argument, F.bias ? "gemm: this form adds a bias, and there is none in the options"
                                           : "gemm: a bias needs gemm<gemm_form{.bias = true}>"};
    if (o.bias.address % 4 != 0) return {errc::bad_argument, "gemm: the bias is 4-byte aligned"};
    constexpr std::uint64_t most = 0x7fffffff;
    if (a.rows > most || b.rows > most || a.k > most || c.row_stride > most || a.batch > 65535)
        return {errc::bad_argument, "gemm: an extent or the row stride of C exceeds 2^31 - 1, or the batch 65535"};
    return {};
}

}  // namespace detail

/// C = act(alpha * A B^T + bias) + beta * C: A is m x k, B is n x k, C is m x n, or batches of them; f32 sums.
///
/// Strides say how an operand lies: with contiguous rows (weights as torch keeps them) or, with `gemm_form::any_layout`
/// and through `with_strides`, with contiguous columns, so that all four layouts of BLAS are here. Any extents; rows of
/// multiples of 16 bytes are fast. Errors: `bad_argument` when shapes or options do not fit together, then those of
/// loading and launching.
template <gemm_form F = gemm_form{}, class A, class B, class Out, std::size_t Rank>
result<void> gemm(const stream& s, const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                  const tensor_view<Out, Rank>& c, const gemm_options<std::remove_const_t<A>>& o = {}) {
    using In = std::remove_const_t<A>;
    static_assert(std::is_same_v<In, std::remove_const_t<B>>, "PTXDSL-kernels: A and B have one element type");
    static_assert(std::is_same_v<In, bf16> || std::is_same_v<In, f16>, "PTXDSL-kernels: gemm multiplies bf16 or f16");
    static_assert(std::is_same_v<Out, In> || std::is_same_v<Out, f32>,
                  "PTXDSL-kernels: the result is of the operands' type or f32");
    using namespace detail;
    const operand_view va = view_of(a), vb = view_of(b), vc = view_of(c);
    if (auto e = check_gemm<F, In>(va, vb, vc, o)) return e;
    gemm_call call;
    call.c = vc.address, call.bias = o.bias.address;
    call.m = static_cast<u32>(va.rows), call.n = static_cast<u32>(vb.rows), call.k = static_cast<u32>(va.k),
    call.batches = static_cast<u32>(va.batch);
    call.ldc = static_cast<u32>(vc.row_stride), call.batch_stride = vc.batch_stride;
    call.alpha = o.alpha, call.beta = o.beta;
    if (o.workspace != nullptr) call.partials = o.workspace->partials(), call.flags = o.workspace->flags();
    if (!va.fits_tma() || !vb.fits_tma()) {
        if (auto e = launch_plain<F, In, Out>(s, va, vb, vc, call)) return e;
        return {};
    }
    const bool even =
        vc.k % 2 == 0 && vc.row_stride % 2 == 0 && vc.batch_stride % 2 == 0 && vc.address % (2 * sizeof(Out)) == 0;
    const bool aligned = vc.row_stride * sizeof(Out) % 16 == 0 && vc.address % 16 == 0 &&
                         (vc.batch == 1 || vc.batch_stride * sizeof(Out) % 16 == 0) && vb.rows % 2 == 0;
    const store_mode store = aligned ? store_mode::tma : even ? store_mode::pairs : store_mode::elements;
    const auto choice = o.choice.value_or(choose_gemm_config({va.rows, vb.rows, va.k, va.batch},
                                                             static_cast<std::uint64_t>(s.ctx().device().sm_count),
                                                             o.workspace != nullptr));
    if (choice == gemm_choice::large_even && o.workspace == nullptr)
        return error{errc::bad_argument, "gemm: the configuration large_even needs gemm_options::workspace"};
    const bool scaled = o.alpha != 1.0f || o.beta != 0.0f;
    const auto run = [&]<major MA, major MB>() {
        return gemm_dispatch<F, In, Out, MA, MB>::run(s, choice, store, scaled, va, vb, vc, call, o.programmatic);
    };
    error e;
    if (va.k_contiguous() && vb.k_contiguous())
        e = run.template operator()<k_major, k_major>();
    else if constexpr (!F.any_layout)
        e = error{errc::bad_argument,
                  "gemm: an operand has contiguous columns; use gemm<gemm_form{.any_layout = true}>"};
    else if (va.k_contiguous())
        e = run.template operator()<k_major, mn_major>();
    else if (vb.k_contiguous())
        e = run.template operator()<mn_major, k_major>();
    else
        e = run.template operator()<mn_major, mn_major>();
    if (e) return e;
    return {};
}

}  // namespace ptxdsl::kernels

#pragma pop_macro("max")
#pragma pop_macro("min")
