// SPDX-License-Identifier: Apache-2.0
// From views of operands to a launch: checks, the choice of a kernel, tensor maps.
#pragma once

#include <ptxdsl/kernels/gemm/kernel.hpp>
#include <ptxdsl/kernels/gemm/options.hpp>
#include <ptxdsl/kernels/gemm/plain.hpp>
#include <ptxdsl/kernels/kernel_cache.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// An operand as tensor maps see it: which extent is contiguous, and the strides of the others.
struct operand_view {
    std::uint64_t address = 0, rows = 0, k = 0, batch = 1;
    std::uint64_t row_stride = 0, k_stride = 0, batch_stride = 0;
    std::uint64_t element = 2;  ///< bytes
    [[nodiscard]] bool k_contiguous() const noexcept { return k_stride == 1; }
    [[nodiscard]] bool fits_tma() const noexcept {
        const std::uint64_t line = k_contiguous() ? row_stride : k_stride;
        const bool contiguous = k_stride == 1 || row_stride == 1;
        return contiguous && address % 16 == 0 && line * element % 16 == 0 &&
               (batch == 1 || batch_stride * element % 16 == 0);
    }
};

template <class T, std::size_t Rank>
[[nodiscard]] operand_view view_of(const tensor_view<T, Rank>& t) noexcept {
    static_assert(Rank == 2 || Rank == 3,
                  "PTXDSL-kernels: a matrix is a view of rank 2, a batch of matrices one of rank 3");
    operand_view v;
    v.address = t.data().address, v.element = sizeof(T);
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
    std::uint64_t a_scale = 0, b_scale = 0, a_scale_row = 0, a_scale_k = 0, b_scale_col = 0, b_scale_k = 0;
};

/// The configuration as this form and these operands need it.
[[nodiscard]] constexpr gemm_config adapted(gemm_config c, major a, major b, store_mode store,
                                            bool constant_b) noexcept {
    c.a = a, c.b = b;
    c.early_b = constant_b;
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

template <class T>
inline constexpr bool fp8_operand = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

/// fp8 products always have scales, and alpha with them.
template <gemm_form F, class In, bool Scaled>
inline constexpr gemm_epilogue epilogue_of{.alpha = Scaled || fp8_operand<In>,
                                           .beta = Scaled,
                                           .tensor_scales = fp8_operand<In>,
                                           .bias = F.bias,
                                           .act = F.act,
                                           .gated = F.gated};

/// The choice as it is compiled for operands of these majors: three configurations where one is not K-major. A gated
/// product leaves half of its columns, of which a chunk that TMA stores needs 64.
[[nodiscard]] constexpr gemm_choice compiled(gemm_choice c, major a, major b, bool gated) noexcept {
    using enum gemm_choice;
    const gemm_config& config = config_of(c);
    const bool by_k = a == k_major && b == k_major;
    if (gated && config.store == store_mode::tma && config.bn % 128 != 0)
        return config.bn > 128 ? (by_k ? large_single : large) : medium;
    if (by_k || c == large || c == medium || c == few_rows) return c;
    return config.swaps_operands() || config.bm == 64 ? few_rows : config.bn == 256 ? large : medium;
}

/// The choices that are compiled as they are: those the cost model is asked about.
[[nodiscard]] constexpr gemm_choices compiled_choices(major a, major b, bool gated) noexcept {
    gemm_choices set = 0;
    for (std::size_t i = 0; i < gemm_configs.size(); ++i)
        if (const auto c = static_cast<gemm_choice>(i); compiled(c, a, b, gated) == c) set |= gemm_choices{1} << i;
    return set;
}

/// Launches one configuration; `In` and `InB` are what the call's operands hold.
template <gemm_config C, class In, class InB, class Out, gemm_epilogue E>
class configured_gemm {
    using first = std::conditional_t<C.swaps_operands(), InB, In>;
    using second = std::conditional_t<C.swaps_operands(), In, InB>;
    using spec = gemm_spec<C, first, Out, E, second>;

public:
    /// `a` and `b` are the call's; a configuration may take them the other way round.
    static error launch(const stream& s, const operand_view& call_a, const operand_view& call_b, const operand_view& c,
                        gemm_call& call, bool programmatic) {
        const operand_view& a = C.swaps_operands() ? call_b : call_a;
        const operand_view& b = C.swaps_operands() ? call_a : call_b;
        if constexpr (C.swaps_operands()) std::swap(call.m, call.n);
        if (ceil_div(call.k, spec::bk) < C.split_k)
            return {
                errc::bad_argument,
                fmt::format("gemm: K = {} is too short for a configuration that splits it {} ways", call.k, C.split_k)};
        static kernel_cache<> cache;
        const auto kernel = cache.get(s.ctx(), [] {
            return assemble_at_run_time("gemm", &gemm_body<C, first, Out, E, second>, gemm_attributes<C>);
        });
        if (!kernel) return kernel.error();
        const runtime_detail::current_context current(*s.ctx().state());
        if (current.status() != cu::status::success)
            return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a matrix product");
        const runtime_detail::context_state& state = *s.ctx().state();
        if (auto e = runtime_detail::encode_checked(state, call.a, spec::map_a::spec,
                                                    geometry_of_operand(a, sizeof(In)), "A"))
            return e;
        if (auto e = runtime_detail::encode_checked(state, call.b, spec::map_b::spec,
                                                    geometry_of_operand(b, sizeof(InB)), "B"))
            return e;
        if constexpr (C.store == store_mode::tma)
            if (auto e = runtime_detail::encode_checked(state, call.c_map, spec::map_c::spec,
                                                        geometry_of_operand(c, sizeof(Out)), "C"))
                return e;
        void* arguments[] = {&call.a,
                             &call.b,
                             &call.c_map,
                             &call.c,
                             &call.bias,
                             &call.partials,
                             &call.flags,
                             &call.m,
                             &call.n,
                             &call.k,
                             &call.batches,
                             &call.ldc,
                             &call.batch_stride,
                             &call.alpha,
                             &call.beta,
                             &call.a_scale,
                             &call.b_scale,
                             &call.a_scale_row,
                             &call.a_scale_k,
                             &call.b_scale_col,
                             &call.b_scale_k};
        launch_config config{.grid = {grid_of(s.ctx().device(), call)}};
        config.programmatic = programmatic;
        return runtime_detail::launch_bound(*kernel, s, config, arguments);
    }

private:
    /// Blocks: a cluster a tile with split K, else as many clusters as the device holds at once, and no more than there
    /// is work for: tiles, or with stream-K their steps.
    static std::uint32_t grid_of(const device_info& d, const gemm_call& p) {
        const std::uint64_t tiles = ceil_div(p.m, C.cluster_rows()) * ceil_div(p.n, C.cluster_columns()) * p.batches;
        const std::uint64_t resident = static_cast<std::uint64_t>(d.sm_count) * C.blocks_per_sm / C.cluster_blocks();
        const std::uint64_t work = C.stream_k ? tiles * ceil_div(p.k, spec::bk) : tiles;
        return static_cast<std::uint32_t>((C.split_k > 1 ? tiles : std::min(work, resident)) * C.cluster_blocks());
    }
};

/// Picks the compiled kernel of a choice, for operands of these majors.
template <gemm_form F, class In, class InB, class Out, major A, major B>
class gemm_dispatch {
    static constexpr gemm_epilogue scaled = epilogue_of<F, In, true>, unscaled = epilogue_of<F, In, false>;

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
                   ? configured_gemm<pairs, In, InB, Out, E>::launch(s, a, b, c, call, programmatic)
                   : configured_gemm<elements, In, InB, Out, E>::launch(s, a, b, c, call, programmatic);
    }
    template <std::size_t... Index>
    static error choose(const stream& s, gemm_choice choice, const operand_view& a, const operand_view& b,
                        const operand_view& c, gemm_call& call, bool programmatic, std::index_sequence<Index...>) {
        error e;
        const auto wanted = static_cast<std::size_t>(choice);
        const bool found =
            ((wanted == Index && (e = configured_gemm<compiled_config<Index>, In, InB, Out, unscaled>::launch(
                                      s, a, b, c, call, programmatic),
                                  true)) ||
             ...);
        if (!found) return {errc::bad_argument, fmt::format("gemm: there is no configuration {}", wanted)};
        return e;
    }
};

template <gemm_form F, plain_scales Scales>
inline constexpr gemm_plain_form plain_form{.act = F.act, .gated = F.gated, .scales = Scales};

/// Operands TMA or wgmma cannot take as they lie.
template <gemm_form F, plain_scales Scales, class In, class InB, class Out>
error launch_plain(const stream& s, const operand_view& a, const operand_view& b, const operand_view& c, gemm_call& p) {
    static kernel_cache<> cache;
    const auto kernel = cache.get(s.ctx(), [] {
        return assemble_at_run_time("gemm_plain", &gemm_plain_body<In, InB, Out, plain_form<F, Scales>>,
                                    gemm_plain_attributes);
    });
    if (!kernel) return kernel.error();
    u32 has_bias = p.bias != 0 ? 1 : 0, columns = static_cast<u32>(c.k);
    std::uint64_t addresses[] = {a.address, b.address};
    std::uint64_t strides[] = {a.row_stride, a.k_stride,     a.batch_stride, b.row_stride,
                               b.k_stride,   b.batch_stride, c.row_stride,   c.batch_stride};
    void* arguments[] = {&addresses[0], &addresses[1], &p.c,           &p.bias,      &has_bias,      &p.m,
                         &columns,      &p.k,          &strides[0],    &strides[1],  &strides[2],    &strides[3],
                         &strides[4],   &strides[5],   &strides[6],    &strides[7],  &p.alpha,       &p.beta,
                         &p.a_scale,    &p.b_scale,    &p.a_scale_row, &p.a_scale_k, &p.b_scale_col, &p.b_scale_k};
    const runtime_detail::current_context current(*s.ctx().state());
    if (current.status() != cu::status::success)
        return runtime_detail::driver_failed(s.ctx().driver(), current.status(), "launching a matrix product");
    const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(ceil_div(p.m, 16), 65535));
    const launch_config config{.grid = {static_cast<std::uint32_t>(ceil_div(columns, 16)), rows, p.batches}};
    return runtime_detail::launch_bound(*kernel, s, config, arguments);
}

/// How a result of these extents and strides can be stored.
template <class Out>
[[nodiscard]] store_mode store_of(std::uint64_t n, const operand_view& c) noexcept {
    const bool even =
        c.k % 2 == 0 && c.row_stride % 2 == 0 && c.batch_stride % 2 == 0 && c.address % (2 * sizeof(Out)) == 0;
    const bool aligned = c.row_stride * sizeof(Out) % 16 == 0 && c.address % 16 == 0 &&
                         (c.batch == 1 || c.batch_stride * sizeof(Out) % 16 == 0) && n % 2 == 0;
    return aligned ? store_mode::tma : even ? store_mode::pairs : store_mode::elements;
}
/// The shapes of a call fit together.
template <gemm_form F, class In, class Bias>
error check_gemm(const operand_view& a, const operand_view& b, const operand_view& c, const gemm_options<Bias>& o) {
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
    if (fp8_operand<In> != (o.a_scale.address != 0 && o.b_scale.address != 0))
        return {errc::bad_argument, fp8_operand<In> ? "gemm: fp8 operands come with a_scale and b_scale, a value each"
                                                    : "gemm: a_scale and b_scale are for fp8 operands"};
    if (!F.scaled && ((o.alpha != 1.0f && !fp8_operand<In>) || o.beta != 0.0f))
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

/// A checked call.
struct gemm_problem {
    operand_view a, b, c;
    gemm_call call;
    store_mode store = store_mode::elements;
    bool scaled = false;
};

[[nodiscard]] inline error check_workspace(const gemm_config& c, const gemm_workspace* workspace) {
    if (!c.stream_k || workspace != nullptr) return {};
    return {errc::bad_argument, "gemm: this configuration cuts work along K and needs gemm_options::workspace"};
}

template <class In, class InB, class Out, gemm_form F>
constexpr void check_gemm_types() {
    constexpr bool halves = std::is_same_v<In, bf16> || std::is_same_v<In, f16>, fp8 = fp8_operand<In>;
    static_assert(std::is_same_v<In, InB> || (fp8 && fp8_operand<InB>),
                  "PTXDSL-kernels: A and B have one element type, or are e4m3 and e5m2");
    static_assert(halves || fp8 || std::is_same_v<In, s8>,
                  "PTXDSL-kernels: gemm multiplies bf16, f16, e4m3, e5m2 or s8");
    static_assert(!halves || std::is_same_v<Out, In> || std::is_same_v<Out, f32>,
                  "PTXDSL-kernels: the result is of the operands' type or f32");
    static_assert(!fp8 || std::is_same_v<Out, bf16> || std::is_same_v<Out, f16> || std::is_same_v<Out, f32>,
                  "PTXDSL-kernels: the result of fp8 operands is bf16, f16 or f32");
    static_assert(
        halves || fp8 ||
            (std::is_same_v<Out, s32> && F == gemm_form{.any_layout = F.any_layout, .constant_b = F.constant_b}),
        "PTXDSL-kernels: s8 operands give s32, without scales, bias or activation");
}

/// Checks a call and launches the plain kernel, or for operands TMA and wgmma can take `fast` of their majors.
template <gemm_form F, class A, class B, class Out, std::size_t Rank, class Bias, class Fast>
result<void> gemm_by(const stream& s, const tensor_view<A, Rank>& a, const tensor_view<B, Rank>& b,
                     const tensor_view<Out, Rank>& c, const gemm_options<Bias>& o, const Fast& fast) {
    using In = std::remove_const_t<A>;
    using InB = std::remove_const_t<B>;
    check_gemm_types<In, InB, Out, F>();
    gemm_problem p;
    p.a = view_of(a), p.b = view_of(b), p.c = view_of(c);
    if (auto e = check_gemm<F, In>(p.a, p.b, p.c, o)) return e;
    p.call.c = p.c.address, p.call.bias = o.bias.address;
    p.call.m = static_cast<u32>(p.a.rows), p.call.n = static_cast<u32>(p.b.rows), p.call.k = static_cast<u32>(p.a.k),
    p.call.batches = static_cast<u32>(p.a.batch);
    p.call.ldc = static_cast<u32>(p.c.row_stride), p.call.batch_stride = p.c.batch_stride;
    p.call.alpha = o.alpha, p.call.beta = o.beta;
    p.call.a_scale = o.a_scale.address, p.call.b_scale = o.b_scale.address;
    if (o.workspace != nullptr) p.call.partials = o.workspace->partials(), p.call.flags = o.workspace->flags();
    const bool a_by_k = p.a.k_contiguous(), b_by_k = p.b.k_contiguous();
    // wgmma reads 8-bit operands with contiguous rows only (PTX ISA 9.7.15.5.2).
    const bool columns_of_bytes = sizeof(In) == 1 && !(a_by_k && b_by_k);
    error e;
    if (!p.a.fits_tma() || !p.b.fits_tma() || (F.any_layout && columns_of_bytes)) {
        constexpr plain_scales scales = fp8_operand<In> ? plain_scales::tensor : plain_scales::none;
        e = launch_plain<F, scales, In, InB, Out>(s, p.a, p.b, p.c, p.call);
        if (e) return e;
        return {};
    }
    p.store = store_of<Out>(p.b.rows, p.c);
    p.scaled = o.alpha != 1.0f || o.beta != 0.0f;
    if (a_by_k && b_by_k)
        e = fast.template operator()<k_major, k_major>(p);
    else if constexpr (!F.any_layout || sizeof(In) == 1)
        e = error{errc::bad_argument,
                  "gemm: an operand has contiguous columns; use gemm<gemm_form{.any_layout = true}>"};
    else if (a_by_k)
        e = fast.template operator()<k_major, mn_major>(p);
    else if (b_by_k)
        e = fast.template operator()<mn_major, k_major>(p);
    else
        e = fast.template operator()<mn_major, mn_major>(p);
    if (e) return e;
    return {};
}

/// Block scales are applied in the main loop, and there is no alpha.
template <gemm_config C, gemm_form F, class In, bool Scaled>
inline constexpr gemm_epilogue epilogue_with =
    C.block_scaled ? gemm_epilogue{.bias = F.bias, .act = F.act, .gated = F.gated} : epilogue_of<F, In, Scaled>;

/// Launches the caller's configuration with the store that the result allows.
template <gemm_config C, gemm_form F, class In, class InB, class Out, major MA, major MB>
error given_gemm(const stream& s, gemm_problem& p, bool programmatic) {
    const auto with = [&]<store_mode Store, bool Scaled>() -> error {
        constexpr gemm_config config = adapted(C, MA, MB, Store, F.constant_b);
        constexpr bool chunks = config.store != store_mode::tma || config.bn % (F.gated ? 32 : 16) == 0;
        if constexpr (config.valid() && chunks && (!F.gated || config.takes_gates()))
            return configured_gemm<config, In, InB, Out, epilogue_with<C, F, In, Scaled>>::launch(s, p.a, p.b, p.c,
                                                                                                  p.call, programmatic);
        else
            return {errc::bad_argument,
                    "gemm: the given configuration cannot be built for operands and a result that lie like these"};
    };
    const bool elements = p.store == store_mode::elements;
    if constexpr (F.scaled)
        if (p.scaled)
            return elements ? with.template operator()<store_mode::elements, true>()
                            : with.template operator()<store_mode::pairs, true>();
    if constexpr (sizeof(Out) == 2)
        if (p.store == store_mode::tma) return with.template operator()<store_mode::tma, false>();
    return elements ? with.template operator()<store_mode::elements, false>()
                    : with.template operator()<store_mode::pairs, false>();
}

/// The scales' shapes fit those of the operands, and their offsets 32 bits.
template <class SA, class SB>
[[nodiscard]] error check_scales(const tensor_view<SA, 2>& a, const tensor_view<SB, 2>& b, std::uint64_t m,
                                 std::uint64_t n, std::uint64_t k) {
    const std::uint64_t blocks = ceil_div(k, 128);
    if (a.size(0) != m || a.size(1) != blocks || b.size(0) != ceil_div(n, 128) || b.size(1) != blocks)
        return {errc::bad_argument,
                fmt::format(
                    "gemm_block_scaled: the scales are {} x {} and {} x {}; these operands need {} x {} and {} x {}",
                    a.size(0), a.size(1), b.size(0), b.size(1), m, blocks, ceil_div(n, 128), blocks)};
    constexpr std::uint64_t most = 0xffffffff;
    const auto last = [](const auto& t) { return (t.size(0) - 1) * t.stride(0) + (t.size(1) - 1) * t.stride(1); };
    const bool fit = a.stride(0) <= most && a.stride(1) <= most && b.stride(0) <= most && b.stride(1) <= most;
    if (fit && last(a) <= most && last(b) <= most) return {};
    return {errc::bad_argument, "gemm_block_scaled: the scales lie within 2^32 elements of the first"};
}

/// Checks a call and launches the plain kernel, or `fast` for operands TMA can take.
template <gemm_form F, class A, class B, class SA, class SB, class Out, class Bias, class Fast>
result<void> block_scaled_by(const stream& s, const tensor_view<A, 2>& a, const tensor_view<SA, 2>& a_scale,
                             const tensor_view<B, 2>& b, const tensor_view<SB, 2>& b_scale,
                             const tensor_view<Out, 2>& c, const gemm_options<Bias>& o, const Fast& fast) {
    using In = std::remove_const_t<A>;
    using InB = std::remove_const_t<B>;
    static_assert(fp8_operand<In> && fp8_operand<InB>, "PTXDSL-kernels: gemm_block_scaled multiplies e4m3 or e5m2");
    static_assert(std::is_same_v<std::remove_const_t<SA>, f32> && std::is_same_v<std::remove_const_t<SB>, f32>,
                  "PTXDSL-kernels: block scales are f32");
    static_assert(std::is_same_v<Out, bf16> || std::is_same_v<Out, f16> || std::is_same_v<Out, f32>,
                  "PTXDSL-kernels: the result of fp8 operands is bf16, f16 or f32");
    static_assert(!F.scaled && !F.any_layout, "PTXDSL-kernels: gemm_block_scaled has no alpha, beta or other layouts");
    gemm_problem p;
    p.a = view_of(a), p.b = view_of(b), p.c = view_of(c);
    auto options = o;
    options.a_scale = device_ptr<const f32>(a_scale.data().address),
    options.b_scale = device_ptr<const f32>(b_scale.data().address);
    if (auto e = check_gemm<F, In>(p.a, p.b, p.c, options)) return e;
    if (auto e = check_scales(a_scale, b_scale, p.a.rows, p.b.rows, p.a.k)) return e;
    p.call.c = p.c.address, p.call.bias = o.bias.address;
    p.call.m = static_cast<u32>(p.a.rows), p.call.n = static_cast<u32>(p.b.rows), p.call.k = static_cast<u32>(p.a.k);
    p.call.ldc = static_cast<u32>(p.c.row_stride), p.call.batch_stride = p.c.batch_stride;
    p.call.a_scale = a_scale.data().address, p.call.b_scale = b_scale.data().address;
    p.call.a_scale_row = a_scale.stride(0), p.call.a_scale_k = a_scale.stride(1);
    p.call.b_scale_col = b_scale.stride(0), p.call.b_scale_k = b_scale.stride(1);
    if (o.workspace != nullptr) p.call.partials = o.workspace->partials(), p.call.flags = o.workspace->flags();
    p.store = store_of<Out>(p.b.rows, p.c);
    const bool plain = !p.a.fits_tma() || !p.b.fits_tma() || !p.a.k_contiguous() || !p.b.k_contiguous();
    if (auto e = plain ? launch_plain<F, plain_scales::blocks, In, InB, Out>(s, p.a, p.b, p.c, p.call) : fast(p))
        return e;
    return {};
}

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
