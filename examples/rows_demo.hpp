// SPDX-License-Identifier: Apache-2.0
// The program around a row kernel: check against float64, timing, self-test. rms_norm.cpp and softmax.cpp say what is
// theirs in an `Op`:
//
//   name, help, weights        text; whether there is a weight vector
//   body<T, Width>             the kernel's body
//   launch(kernel, s, x, w, y, rows, columns)
//   reference(x, w, y)         one row in double
//   relative, absolute         tolerances for f32 results
#pragma once

#include "demo.hpp"
#include "rows_launch.hpp"

#include <span>

namespace demo {

using rows::u32;

/// What the elements of a test's input are.
enum class content { uniform, large, small, one_nan, one_inf, one_minus_inf, masked, all_minus_inf, constant };
inline constexpr std::string_view content_names[] = {"uniform", "large", "small", "one NaN", "one inf", "one -inf", "masked", "all -inf", "constant"};

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
            error = (std::isnan(out) && std::isnan(reference)) || out == reference ? 0 : std::numeric_limits<double>::infinity();
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
[[nodiscard]] verdict compare(const shape& s, const std::vector<T>& x, const std::vector<T>& w, const std::vector<T>& y) {
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
                mine.see(static_cast<double>(to_float(y[r * s.columns + i])), out[i], Op::absolute + relative * std::abs(out[i]), r * s.columns + i);
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
    if (rows::takes_full_width<T>(columns)) f(px::check(rows::load_rows<T, full>(ctx, Op::name, Op::template body<T, full>, columns)));
    else f(px::check(rows::load_rows<T, 1>(ctx, Op::name, Op::template body<T, 1>, columns)));
}

/// Runs one shape and compares; prints a line when it is wrong.
template <class Op, class T>
[[nodiscard]] verdict run(const px::stream& s, const shape& what, std::uint64_t seed) {
    generator g(seed);
    auto x = random_values<T>(std::size_t{what.row_count} * what.columns, seed);
    const auto w = random_values<T>(what.columns, seed + 1);
    spoil(x, what, Op::large, g);
    row_buffers<T> device(s.ctx(), x, w);
    with_kernel<Op, T>(s.ctx(), what.columns, [&](const auto& kernel) { px::check(Op::launch(kernel, s, device.x, device.w, device.y, what.row_count, what.columns)); });
    px::check(s.synchronize());
    std::vector<T> y(x.size());
    px::check(device.y.download(y));
    const verdict v = compare<Op, T>(what, x, Op::weights ? w : std::vector<T>{}, y);
    if (v.wrong != 0)
        say("{} {} {}x{} {}: {} elements, the first at row {} column {} is {}", bad("wrong:"), type_name<T>, what.row_count, what.columns,
            content_names[static_cast<int>(what.what)], v.wrong, v.first / what.columns, v.first % what.columns, to_float(y[v.first]));
    return v;
}

/// Tiny, ragged, large rows; every kind of content.
[[nodiscard]] inline std::vector<shape> test_shapes(std::uint64_t seed) {
    generator g(seed);
    std::vector<shape> all;
    const u32 columns[] = {1,    2,    3,    4,    7,    8,     31,    32,    33,    64,    100,   127,    128,    255,    256,     1000,
                           1023, 1024, 1025, 2048, 4095, 4096,  5120,  8192,  10000, 16384, 30001, 32768,  32776,  50000,  100000,  131072, 262147, 1048576};
    for (const u32 n : columns)
        for (int i = 0; i < 3; ++i) {
            const u32 most = std::clamp<u32>((1u << 21) / n, 1, 3000);
            const auto what = static_cast<content>(i == 0 ? 0 : g.below(std::size(content_names)));
            all.push_back({static_cast<u32>(1 + g.below(most)), n, what});
        }
    for (int what = 0; what < static_cast<int>(std::size(content_names)); ++what)
        for (const u32 n : {5u, 1024u, 32768u, 131072u}) all.push_back({7, n, static_cast<content>(what)});
    return all;
}

template <class Op, class T>
[[nodiscard]] bool self_test(const px::stream& s, std::uint64_t seed) {
    const auto shapes = test_shapes(seed);
    std::size_t failed = 0;
    verdict all;
    for (const shape& one : shapes) {
        const verdict v = run<Op, T>(s, one, ++seed);
        failed += v.wrong != 0;
        all.join(v);
    }
    say("{:4} {} shapes against float64: {}, worst error {:.2f} of the tolerance", type_name<T>, shapes.size(),
        failed == 0 ? good("all right") : bad(fmt::format("{} wrong", failed)), all.worst);
    return failed == 0;
}

template <class Op, class T>
[[nodiscard]] bool check_and_time(const px::stream& s, const shape& what, unsigned repeat, std::uint64_t seed) {
    const verdict v = run<Op, T>(s, what, seed);
    if (v.wrong != 0) return false;
    row_buffers<T> device(s.ctx(), random_values<T>(std::size_t{what.row_count} * what.columns, seed), random_values<T>(what.columns, seed + 1));
    with_kernel<Op, T>(s.ctx(), what.columns, [&](const auto& kernel) {
        const double us = median_microseconds(s, repeat, [&] { px::check(Op::launch(kernel, s, device.x, device.w, device.y, what.row_count, what.columns)); });
        const double bytes = 2.0 * what.row_count * what.columns * sizeof(T);
        say("{}: {} {} {}x{} {}, worst error {:.2f} of the tolerance; {:.1f} us, {:.0f} GB/s", s.ctx().device().name, Op::name, type_name<T>, what.row_count,
            what.columns, good("right"), v.worst, us, 1e-3 * bytes / us);
    });
    return true;
}

/// `main` of a row kernel's example. `shown` is the kernel to show where there is no GPU.
template <class Op, class Shown>
int rows_main(int argc, char** argv, const Shown& shown, std::string_view needle) {
    std::uint64_t row_count = 65536, columns = 4096, repeat = 20, seed = 1;
    std::string type = "f32";
    bool test = false;
    const std::vector<option> options{
        {.name = "--rows", .value = "N", .help = "rows (default 65536)", .number = &row_count, .least = 1, .most = 1u << 30},
        {.name = "--columns", .value = "N", .help = "elements of a row (default 4096)", .number = &columns, .least = 1, .most = 1u << 24},
        {.name = "--type", .value = "f32|bf16", .help = "element type (default f32)", .text = &type},
        {.name = "--repeat", .value = "N", .help = "timed launches (default 20)", .number = &repeat, .least = 1, .most = 100'000},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &seed},
        {.name = "--self-test", .value = "", .help = "over 100 shapes and contents instead of one", .flag = &test},
    };
    if (const auto status = read_command_line(argc, argv, Op::help, options)) return *status;
    if (type != "f32" && type != "bf16") return fmt::print(stderr, "--type takes f32 or bf16, not '{}'\n", type), usage;
    return guarded([&]() -> int {
        const auto device = open_device();
        if (!device) return test ? skip_self_test(device.error()) : show_without_gpu(device.error(), shown, needle, 8, 24);
        const auto s = px::check(px::stream::create(*device));
        if (test) {
            const bool single = self_test<Op, f32>(s, seed), brain = self_test<Op, bf16>(s, seed);
            return single && brain ? right : wrong;
        }
        const shape what{static_cast<u32>(row_count), static_cast<u32>(columns)};
        const auto n = static_cast<unsigned>(repeat);
        return (type == "f32" ? check_and_time<Op, f32>(s, what, n, seed) : check_and_time<Op, bf16>(s, what, n, seed)) ? right : wrong;
    });
}

}  // namespace demo
