// SPDX-License-Identifier: Apache-2.0
// From a configuration of gemm_hopper_kernel.hpp to launches, and the list of configurations by name.
#pragma once

#include "../tools/util/gemm_hopper_kernel.hpp"

#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace gemm_hopper {

struct named_config {
    std::string_view name;
    config c;
};

/// The configurations that programs have compiled in; the first one is the default.
inline constexpr named_config configs[] = {
    {"128x256-s4-c2", config{}},
    {"128x256-s4-c1", config{.cluster = 1}},
    {"128x128-s6-c2", config{.bn = 128, .stages = 6}},
};

/// Blocks of a launch: as many clusters as fit on the device at once, or as there are tiles.
template <config C>
[[nodiscard]] px::grid grid_for(const px::device_info& d, std::uint64_t m, std::uint64_t n) {
    const std::uint64_t rows = (m + C.bm * C.cluster - 1) / (C.bm * C.cluster), columns = (n + C.bn - 1) / C.bn;
    const std::uint64_t resident = static_cast<std::uint64_t>(d.sm_count) / C.cluster;
    return {static_cast<u32>(std::min(rows * columns, resident) * C.cluster)};
}

namespace detail {
template <class Body>
using program_of = decltype(px::assemble_at_run_time("", std::declval<const Body&>(), px::attributes{}));
template <config C, class Out>
using with_tma = program_of<decltype(&gemm<C, Out>)>;
template <config C, class Out>
using with_any_n = program_of<decltype(&gemm_any_n<C, Out>)>;

template <class Program, class Body>
[[nodiscard]] px::result<px::loaded<Program>> load_body(const px::context& ctx, const Body& body,
                                                        const px::attributes& attributes) {
    const Program program = px::assemble_at_run_time("gemm", body, attributes);
    if (!program.ok()) return px::error{px::errc::ptx_rejected, std::string(program.error())};
    return px::load(ctx, program);
}
}  // namespace detail

/// One problem on one device, ready to launch: tensor maps are made once. The buffers must outlive it.
template <config C, class Out>
class problem {
public:
    using tma = detail::with_tma<C, Out>;
    using any_n = detail::with_any_n<C, Out>;

    /// A is m x k, B is n x k, C is m x n, all row-major; k is a multiple of 8. Errors: those of loading and of tensor
    /// maps.
    static px::result<problem> make(const px::context& ctx, px::device_ptr<const bf16> a, px::device_ptr<const bf16> b,
                                    px::device_ptr<Out> c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
        if (m == 0 || n == 0 || k == 0 || k % 8 != 0)
            return px::error{px::errc::bad_argument,
                             fmt::format("gemm: m = {}, n = {}, k = {}: all must be positive and k a multiple of 8 "
                                         "(rows of A and B are multiples of 16 bytes)",
                                         m, n, k)};
        auto map_of_a = px::make_tensor_map<map_a<C, Out>>(ctx, px::tensor_view(a, m, k), "A");
        if (!map_of_a) return map_of_a.error();
        auto map_of_b = px::make_tensor_map<map_b<C, Out>>(ctx, px::tensor_view(b, n, k), "B");
        if (!map_of_b) return map_of_b.error();
        problem p(*map_of_a, *map_of_b, c, m, n, k);
        p.grid_ = grid_for<C>(ctx.device(), m, n);
        if (auto e = n * sizeof(Out) % 16 == 0 ? p.load_tma(ctx) : p.load_any_n(ctx)) return e;
        return p;
    }

    [[nodiscard]] px::result<void> launch(px::stream_ref s) const {
        if (tma_) return tma_->launch(s, grid_, a_, b_, *c_map_, m_, n_, k_);
        return any_n_->launch(s, grid_, a_, b_, c_, m_, n_, k_);
    }
    [[nodiscard]] px::grid grid() const { return grid_; }
    [[nodiscard]] std::uint32_t registers() const { return tma_ ? tma_->registers() : any_n_->registers(); }

private:
    problem(const px::tensor_map<map_a<C, Out>>& a, const px::tensor_map<map_b<C, Out>>& b, px::device_ptr<Out> c,
            std::uint64_t m, std::uint64_t n, std::uint64_t k)
        : a_(a), b_(b), c_(c), m_(m), n_(n), k_(k) {}

    px::error load_tma(const px::context& ctx) {
        auto map = px::make_tensor_map<map_c<C, Out>>(ctx, px::tensor_view(c_, m_, n_), "C");
        if (!map) return map.error();
        c_map_.emplace(std::move(*map));
        auto kernel = detail::load_body<tma>(ctx, &gemm<C, Out>, attributes<C>);
        if (!kernel) return kernel.error();
        tma_.emplace(std::move(*kernel));
        return {};
    }
    px::error load_any_n(const px::context& ctx) {
        auto kernel = detail::load_body<any_n>(ctx, &gemm_any_n<C, Out>, attributes<C>);
        if (!kernel) return kernel.error();
        any_n_.emplace(std::move(*kernel));
        return {};
    }

    px::tensor_map<map_a<C, Out>> a_;
    px::tensor_map<map_b<C, Out>> b_;
    std::optional<px::tensor_map<map_c<C, Out>>> c_map_;
    px::device_ptr<Out> c_;
    std::uint64_t m_, n_, k_;
    px::grid grid_{};
    std::optional<px::loaded<tma>> tma_;
    std::optional<px::loaded<any_n>> any_n_;
};

/// Calls `f.template operator()<C>()` with the configuration of that name; false when there is none.
template <class F>
bool with_config(std::string_view name, F&& f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((configs[I].name == name && (f.template operator()<configs[I].c>(), true)) || ...);
    }(std::make_index_sequence<std::size(configs)>{});
}

[[nodiscard]] inline std::string config_names() {
    std::string all;
    for (const auto& c : configs) all += fmt::format("{}{}", all.empty() ? "" : ", ", c.name);
    return all;
}

}  // namespace gemm_hopper
