// SPDX-License-Identifier: Apache-2.0
// From a configuration of gemm_blackwell_kernel.hpp to launches, and the list of configurations by name.
#pragma once

#include "../tools/util/gemm_blackwell_kernel.hpp"

#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace gemm_blackwell {

struct named_config {
    std::string_view name;
    config c;
};

/// The configurations that programs have compiled in; the first one is the default.
inline constexpr named_config configs[] = {
    {"1cta-128x256-s4", config{}},
    {"2cta-256x256-s6", config{.pair = 2, .stages = 6}},
};

/// Blocks of a launch: as many as the device holds at once, or as there are tiles.
template <config C>
[[nodiscard]] px::grid grid_for(const px::device_info& d, std::uint64_t m, std::uint64_t n) {
    const std::uint64_t tiles = (m + rows * C.pair - 1) / (rows * C.pair) * ((n + C.bn - 1) / C.bn);
    return {static_cast<u32>(std::min<std::uint64_t>(tiles, static_cast<std::uint64_t>(d.sm_count) / C.pair) * C.pair)};
}

/// One problem on one device, ready to launch: tensor maps are made once. The buffers must outlive it.
template <config C, class Out>
class problem {
public:
    using program = decltype(px::assemble_at_run_time("", &gemm<C, Out>, px::attributes{}));

    /// A is m x k, B is n x k, C is m x n, all row-major; rows are multiples of 16 bytes. Errors: those of loading and
    /// of tensor maps.
    static px::result<problem> make(const px::context& ctx, px::device_ptr<const bf16> a, px::device_ptr<const bf16> b,
                                    px::device_ptr<Out> c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
        if (m == 0 || n == 0 || k == 0 || k % 8 != 0 || n * sizeof(Out) % 16 != 0)
            return px::error{px::errc::bad_argument,
                             fmt::format("gemm: m = {}, n = {}, k = {}: all must be positive, and rows of A, B and C "
                                         "multiples of 16 bytes",
                                         m, n, k)};
        auto map_of_a = px::make_tensor_map<map_a<C, Out>>(ctx, px::tensor_view(a, m, k), "A");
        if (!map_of_a) return map_of_a.error();
        auto map_of_b = px::make_tensor_map<map_b<C, Out>>(ctx, px::tensor_view(b, n, k), "B");
        if (!map_of_b) return map_of_b.error();
        auto map_of_c = px::make_tensor_map<map_c<C, Out>>(ctx, px::tensor_view(c, m, n), "C");
        if (!map_of_c) return map_of_c.error();
        const program text = px::assemble_at_run_time("gemm", &gemm<C, Out>, attributes<C>);
        if (!text.ok()) return px::error{px::errc::ptx_rejected, std::string(text.error())};
        auto kernel = px::load(ctx, text);
        if (!kernel) return kernel.error();
        return problem(std::move(*map_of_a), std::move(*map_of_b), std::move(*map_of_c), std::move(*kernel),
                       grid_for<C>(ctx.device(), m, n), m, n, k);
    }

    [[nodiscard]] px::result<void> launch(px::stream_ref s) const {
        return kernel_.launch(s, grid_, a_, b_, c_, m_, n_, k_);
    }

private:
    problem(px::tensor_map<map_a<C, Out>> a, px::tensor_map<map_b<C, Out>> b, px::tensor_map<map_c<C, Out>> c,
            px::loaded<program> kernel, px::grid grid, std::uint64_t m, std::uint64_t n, std::uint64_t k)
        : a_(std::move(a)),
          b_(std::move(b)),
          c_(std::move(c)),
          kernel_(std::move(kernel)),
          grid_(grid),
          m_(static_cast<u32>(m)),
          n_(static_cast<u32>(n)),
          k_(static_cast<u32>(k)) {}

    px::tensor_map<map_a<C, Out>> a_;
    px::tensor_map<map_b<C, Out>> b_;
    px::tensor_map<map_c<C, Out>> c_;
    px::loaded<program> kernel_;
    px::grid grid_;
    u32 m_, n_, k_;
};

/// Calls `f.template operator()<C>()` with the configuration of that name; false when there is none.
template <class F>
bool with_config(std::string_view name, F&& f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((configs[I].name == name && (f.template operator()<configs[I].c>(), true)) || ...);
    }(std::make_index_sequence<std::size(configs)>{});
}

}  // namespace gemm_blackwell
