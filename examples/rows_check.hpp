// SPDX-License-Identifier: Apache-2.0
// Running a row kernel and comparing it with float64. What is an operation's own is in an `Op`, like
// rms_norm_operation.hpp and softmax_operation.hpp:
//
//   name, help, weights        text; whether there is a weight vector
//   body<T, Width>             the kernel's body
//   launch(kernel, s, x, w, y, rows, columns)
//   reference(x, w, y)         one row in double
//   relative, absolute         tolerances for f32 results
//   large                      factor of the large inputs
#pragma once

#include "../tools/util/demo.hpp"
#include "rows_launch.hpp"

#include <limits>
#include <mutex>
#include <span>

namespace demo {

using rows::u32;

/// What the elements of a test's input are.
enum class content { uniform, large, small, one_nan, one_inf, one_minus_inf, masked, all_minus_inf, constant };
inline constexpr std::string_view content_names[] = {"uniform",  "large",  "small",    "one NaN", "one inf",
                                                     "one -inf", "masked", "all -inf", "constant"};

struct shape {
    u32 row_count, columns;
    content what = content::uniform;
};

template <class T>
void spoil(std::vector<T>& x, const shape& s, double large, generator& g) {
    const float inf = std::numeric_limits<float>::infinity();
    const auto all = [&](auto f) {
        for (T& v : x) v = from_float<T>(f(to_float(v)));
    };
    // One element in every third row, so that its neighbours show whether the damage stays in its row.
    const auto one = [&](float v) {
        for (std::size_t r = 0; r < s.row_count; r += 3) x[r * s.columns + g.below(s.columns)] = from_float<T>(v);
    };
    switch (s.what) {
        case content::uniform: return;
        case content::large: return all([&](float v) { return v * static_cast<float>(large); });
        case content::small: return all([](float v) { return v * 1e-25f; });
        case content::one_nan: return one(std::numeric_limits<float>::quiet_NaN());
        case content::one_inf: return one(inf);
        case content::one_minus_inf: return one(-inf);
        case content::masked: return all([&](float v) { return v < 0.9f ? -inf : v; });
        case content::all_minus_inf: return all([&](float) { return -inf; });
        case content::constant: return all([](float) { return 0.75f; });
    }
}

/// The worst element, and how many are wrong.
struct verdict {
    double worst = 0;  ///< error in units of the tolerance
    std::size_t wrong = 0;
    std::size_t first = 0;
    void see(double out, double reference, double tolerance, std::size_t at) {
        double error = std::abs(out - reference) / tolerance;
        if (std::isnan(reference) || std::isinf(reference))
            error = (std::isnan(out) && std::isnan(reference)) || out == reference
                        ? 0
                        : std::numeric_limits<double>::infinity();
        if (error <= 1) return void(worst = std::max(worst, error));
        if (wrong++ == 0) first = at;
        worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
    void join(const verdict& o) {
        if (o.wrong != 0 && (wrong == 0 || o.first < first)) first = o.first;
        worst = std::max(worst, o.worst), wrong += o.wrong;
    }
};

template <class Op, class T>
[[nodiscard]] verdict compare(const shape& s, const std::vector<T>& x, const std::vector<T>& w,
                              const std::vector<T>& y) {
    const double relative = Op::relative + (sizeof(T) == 2 ? 1.01 * epsilon<T> / 2 : 0);
    verdict all;
    std::mutex lock;
    in_parallel(s.row_count, [&](std::size_t begin, std::size_t end) {
        std::vector<double> in(s.columns), weight(s.columns, 1.0), out(s.columns);
        for (std::size_t i = 0; i < w.size(); ++i) weight[i] = static_cast<double>(to_float(w[i]));
        verdict mine;
        for (std::size_t r = begin; r < end; ++r) {
            for (std::size_t i = 0; i < s.columns; ++i) in[i] = static_cast<double>(to_float(x[r * s.columns + i]));
            Op::reference(in, weight, out);
            for (std::size_t i = 0; i < s.columns; ++i)
                mine.see(static_cast<double>(to_float(y[r * s.columns + i])), out[i],
                         Op::absolute + relative * std::abs(out[i]), r * s.columns + i);
        }
        const std::lock_guard hold(lock);
        all.join(mine);
    });
    return all;
}

/// Input, weights and output of one run on the device.
template <class T>
struct row_buffers {
    px::device_buffer<T> x, w, y;
    row_buffers(const px::context& ctx, const std::vector<T>& host_x, const std::vector<T>& host_w)
        : x(px::check(px::device_buffer<T>::from(ctx, host_x))),
          w(px::check(px::device_buffer<T>::from(ctx, host_w))),
          y(px::check(px::device_buffer<T>::allocate(ctx, host_x.size()))) {
        poison(y);
    }
};

/// Calls `f(kernel)` with the kernel for this row length.
template <class Op, class T, class F>
void with_kernel(const px::context& ctx, u32 columns, F&& f) {
    constexpr u32 full = rows::full_width<T>;
    if (rows::takes_full_width<T>(columns))
        f(px::check(rows::load_rows<T, full>(ctx, Op::name, Op::template body<T, full>, columns)));
    else
        f(px::check(rows::load_rows<T, 1>(ctx, Op::name, Op::template body<T, 1>, columns)));
}

/// Runs one shape and compares; prints a line when it is wrong.
template <class Op, class T>
[[nodiscard]] verdict run(const px::stream& s, const shape& what, std::uint64_t seed) {
    generator g(seed);
    auto x = random_values<T>(std::size_t{what.row_count} * what.columns, seed);
    const auto w = random_values<T>(what.columns, seed + 1);
    spoil(x, what, Op::large, g);
    row_buffers<T> device(s.ctx(), x, w);
    with_kernel<Op, T>(s.ctx(), what.columns, [&](const auto& kernel) {
        px::check(Op::launch(kernel, s, device.x, device.w, device.y, what.row_count, what.columns));
    });
    px::check(s.synchronize());
    std::vector<T> y(x.size());
    px::check(device.y.download(y));
    const verdict v = compare<Op, T>(what, x, Op::weights ? w : std::vector<T>{}, y);
    if (v.wrong != 0)
        say("{} {} {}x{} {}: {} elements, the first at row {} column {} is {}", bad("wrong:"), type_name<T>,
            what.row_count, what.columns, content_names[static_cast<int>(what.what)], v.wrong, v.first / what.columns,
            v.first % what.columns, to_float(y[v.first]));
    return v;
}

}  // namespace demo
