// SPDX-License-Identifier: Apache-2.0
// Measuring instead of predicting: `px::kernels::tune(stream, shapes)` times the best few of the cost model's ranking
// for products that a program will run, and keeps what it finds in the process and in a small text file.
#pragma once

#include <ptxdsl/kernels/gemm.hpp>
#include <ptxdsl/kernels/gemm/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// How `tune` measures.
struct tune_options {
    std::string file{};       ///< read before and written after; empty: the process alone remembers
    unsigned candidates = 8;  ///< configurations that are timed, the model's first
    unsigned rounds = 9;      ///< in turn, of which the median counts
    double slice_ms = 0.5;    ///< of one configuration in a round
};
/// What became of it.
struct tune_report {
    std::vector<gemm_measured> products;  ///< one for each shape, in their order
    std::size_t measured = 0;             ///< how many were timed now; the others are from the file
    std::string note{};                   ///< why a file was ignored; else empty
};

namespace detail {

/// The model's ranking of what is allowed, best first, `most` of it.
[[nodiscard]] inline std::vector<gemm_choice> ranking(const gemm_shape& s, std::uint64_t sms, gemm_choices allowed,
                                                      std::size_t most) {
    std::vector<std::pair<double, gemm_choice>> all;
    for (std::size_t i = 0; i < gemm_configs.size(); ++i)
        if (const auto c = static_cast<gemm_choice>(i); takes(c, s, true, allowed))
            all.emplace_back(predict(gemm_configs[i], gemm_costs[i], s, sms), c);
    std::sort(all.begin(), all.end());
    std::vector<gemm_choice> first;
    for (const auto& [us, c] : all)
        if (first.size() < std::max<std::size_t>(1, most)) first.push_back(c);
    return first;
}

/// Numbers of magnitude 1/2 to 1 and either sign: power, and with it the clock, depends on the operands.
template <class T>
[[nodiscard]] std::vector<T> tuning_values(std::size_t n) {
    std::vector<T> all(n);
    std::uint32_t state = 2463534242u;
    for (T& x : all) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        if constexpr (std::is_same_v<T, s8>)
            x = static_cast<s8>(state >> 24);
        else if constexpr (std::is_same_v<T, e4m3>)
            x.bits = static_cast<std::uint8_t>((state >> 24 & 0x80) | 0x30 | (state >> 8 & 7));
        else if constexpr (std::is_same_v<T, e5m2>)
            x.bits = static_cast<std::uint8_t>((state >> 24 & 0x80) | 0x38 | (state >> 8 & 3));
        else if constexpr (std::is_same_v<T, f16>)
            x.bits = static_cast<std::uint16_t>((state >> 16 & 0x8000) | 0x3800 | (state & 0x3ff));
        else
            x.bits = static_cast<std::uint16_t>((state >> 16 & 0x8000) | 0x3f00 | (state & 0x7f));
    }
    return all;
}

/// Device memory of `n` such numbers: a block of them again and again.
template <class T>
[[nodiscard]] result<device_buffer<T>> tuning_operand(const context& ctx, std::size_t n) {
    auto buffer = device_buffer<T>::allocate(ctx, n);
    if (!buffer) return buffer;
    const auto block = tuning_values<T>(std::min<std::size_t>(n, std::size_t{1} << 20));
    const runtime_detail::current_context current(*ctx.state());
    auto status = current.status();
    const std::uint64_t to = buffer->ptr().address;
    for (std::size_t at = 0; at < n && status == cu::status::success; at += block.size())
        status = ctx.driver().memcpy_htod_async(to + at * sizeof(T), block.data(),
                                                std::min(block.size(), n - at) * sizeof(T), nullptr);
    if (status == cu::status::success) status = ctx.driver().stream_synchronize(nullptr);
    if (status != cu::status::success)
        return runtime_detail::driver_failed(ctx.driver(), status, "filling operands to measure with");
    return buffer;
}

/// Times one product's candidates.
template <gemm_form F, class In, class InB, class Out>
class gemm_tuner {
    static constexpr bool fp8 = std::is_same_v<In, e4m3> || std::is_same_v<In, e5m2>;

public:
    gemm_tuner(const stream& s, const tune_options& o) : s_(s), o_(o) {}

    [[nodiscard]] result<gemm_measured> measure(const gemm_shape& s) {
        const context& ctx = s_.ctx();
        const gemm_shape halves{s.m, s.n, s.k * sizeof(In) / 2, s.batch};
        const auto sms = static_cast<std::uint64_t>(ctx.device().sm_count);
        const auto list = ranking(halves, sms, compiled_choices(k_major, k_major, F.gated), o_.candidates);
        if (auto e = allocate(s)) return e;
        auto begin = event::create(ctx), end = event::create(ctx);
        if (!begin) return begin.error();
        if (!end) return end.error();
        // As many launches as a slice takes by the model, and their time.
        const double us = predict(config_of(list[0]), gemm_costs[static_cast<std::size_t>(list[0])], halves, sms);
        const auto launches = static_cast<unsigned>(std::clamp(1e3 * o_.slice_ms / us, 2.0, 64.0));
        std::vector<graph> graphs;
        std::vector<std::vector<double>> times(list.size());
        for (const gemm_choice c : list) {
            if (const auto r = launch(s, c); !r) return r.error();  // loads the kernel, outside of a graph
            auto g = graph::capture(s_, [&] {
                result<void> r;
                for (unsigned i = 0; i < launches && r; ++i) r = launch(s, c);
                return r;
            });
            if (!g) return g.error();
            graphs.push_back(std::move(*g));
        }
        for (unsigned round = 0; round < std::max(1u, o_.rounds); ++round)
            for (std::size_t i = 0; i < list.size(); ++i) {
                for (const auto& r : {begin->record(s_), graphs[i].launch(s_), end->record(s_), end->synchronize()})
                    if (!r) return r.error();
                const auto ms = event::elapsed_ms(*begin, *end);
                if (!ms) return ms.error();
                times[i].push_back(1e3 * static_cast<double>(*ms) / launches);
            }
        gemm_measured best{{scalar_of<In>, scalar_of<InB>, scalar_of<Out>, F.gated, s.m, s.n, s.k, s.batch}};
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::sort(times[i].begin(), times[i].end());
            const double median = times[i][times[i].size() / 2];
            if (i == 0 || median < best.us) best.choice = list[i], best.us = median;
        }
        return best;
    }

private:
    /// Weights at so many places that they come from memory, as those of a model's layers do.
    [[nodiscard]] std::uint64_t places(const gemm_shape& s) const {
        const std::uint64_t bytes = s.n * s.k * s.batch * sizeof(InB), wanted = 3 * s_.ctx().device().l2_bytes;
        return std::clamp<std::uint64_t>((wanted + bytes - 1) / bytes, 1, 16);
    }
    [[nodiscard]] error allocate(const gemm_shape& s) {
        const context& ctx = s_.ctx();
        const auto grow = [&]<class T>(std::optional<device_buffer<T>>& b, std::size_t n) -> error {
            if (b && b->size() >= n) return {};
            b.reset();
            auto made = tuning_operand<T>(ctx, n);
            if (!made) return made.error();
            b.emplace(std::move(*made));
            return {};
        };
        if (auto e = grow(a_, s.m * s.k * s.batch)) return e;
        if (auto e = grow(b_, s.n * s.k * s.batch * places(s))) return e;
        if (F.bias)
            if (auto e = grow(bias_, s.n + 8)) return e;
        if (!c_ || c_->size() < s.m * s.n * s.batch) {
            c_.reset();
            auto made = device_buffer<Out>::allocate(ctx, s.m * s.n * s.batch);
            if (!made) return made.error();
            c_.emplace(std::move(*made));
        }
        if (!scales_) {
            auto made = device_buffer<f32>::from(ctx, std::vector<f32>{1.0f, 1.0f});
            if (!made) return made.error();
            scales_.emplace(std::move(*made));
        }
        if (workspace_) return {};
        auto made = gemm_workspace::create(ctx);
        if (!made) return made.error();
        workspace_.emplace(std::move(*made));
        return {};
    }
    [[nodiscard]] result<void> launch(const gemm_shape& s, gemm_choice c) {
        const std::uint64_t place = turn_++ % places(s) * s.n * s.k * s.batch;
        const device_ptr<const In> a(a_->ptr().address);
        const device_ptr<const InB> b(b_->ptr().address + place * sizeof(InB));
        gemm_options<bias_of<In, Out>> o{.workspace = &*workspace_, .choice = c};
        if constexpr (fp8) o.a_scale = scales_->ptr(), o.b_scale = scales_->ptr();
        if constexpr (F.bias) o.bias = bias_->ptr();
        return gemm<F>(s_, tensor_view(a, s.batch, s.m, s.k), tensor_view(b, s.batch, s.n, s.k),
                       tensor_view(c_->ptr(), s.batch, s.m, F.gated ? s.n / 2 : s.n), o);
    }
    const stream& s_;
    const tune_options& o_;
    std::optional<device_buffer<In>> a_;
    std::optional<device_buffer<InB>> b_;
    std::optional<device_buffer<Out>> c_;
    std::optional<device_buffer<bias_of<In, Out>>> bias_;
    std::optional<device_buffer<f32>> scales_;
    std::optional<gemm_workspace> workspace_;
    std::uint64_t turn_ = 0;
};

}  // namespace detail

/// Reads a file that `tune` has written and takes its choices from now on, for all calls of this process on the device
/// of `ctx`. A file that is broken, or of another library, device or driver, is ignored with a note; none is no error.
inline gemm_tuning load_tuning(const context& ctx, const std::string& file) {
    gemm_tuning t = detail::read_tuning(file, detail::stamp_of(ctx));
    for (const gemm_measured& m : t.products) detail::measured_choices().put(ctx.device().ordinal, m);
    return t;
}
/// Forgets all measured choices of this process: the cost model chooses again.
inline void forget_tuning() { detail::measured_choices().clear(); }

/// Times the cost model's first `candidates` configurations for each of `shapes` (elements; k of 8-bit operands too) on
/// `s`, a stream of its own with nothing else running, and takes the fastest from now on: in this process and, with
/// `file`, in those that call `load_tuning` or `tune` with it. Shapes that the file has are not measured again. The
/// choice holds for all forms with these types, gated or not. 16-bit results with contiguous rows of multiples of 16
/// bytes have choices; for others nothing changes. (Not yet run on a device.) Errors:
/// `bad_argument` for an extent of 0 or a file that cannot be written, those of `gemm`, and `out_of_memory`.
template <gemm_form F = gemm_form{.constant_b = true}, class In = bf16, class InB = In, class Out = bf16>
result<tune_report> tune(const stream& s, std::span<const gemm_shape> shapes, const tune_options& o = {}) {
    detail::check_gemm_types<In, InB, Out, false, F>();
    const context& ctx = s.ctx();
    const gemm_tuning_stamp stamp = detail::stamp_of(ctx);
    tune_report report;
    gemm_tuning kept;
    if (!o.file.empty()) kept = load_tuning(ctx, o.file);
    report.note = kept.note;
    detail::gemm_tuner<F, In, InB, Out> tuner(s, o);
    for (const gemm_shape& shape : shapes) {
        if (shape.m * shape.n * shape.k * shape.batch == 0)
            return error{errc::bad_argument, "tune: a product to measure has no extent of 0"};
        const gemm_product product{scalar_of<In>, scalar_of<InB>, scalar_of<Out>, F.gated,
                                   shape.m,       shape.n,        shape.k,        shape.batch};
        const auto known = std::find_if(kept.products.begin(), kept.products.end(),
                                        [&](const gemm_measured& m) { return m.product == product; });
        if (known != kept.products.end()) {
            report.products.push_back(*known);
            continue;
        }
        auto m = tuner.measure(shape);
        if (!m) return m.error();
        ++report.measured;
        detail::measured_choices().put(ctx.device().ordinal, *m);
        kept.products.push_back(*m);
        report.products.push_back(*m);
    }
    if (!o.file.empty() && report.measured != 0)
        if (auto e = detail::write_tuning(o.file, stamp, kept.products)) return e;
    return report;
}

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
