// SPDX-License-Identifier: Apache-2.0
// The memory-bound kernels against float64, over a hundred random shapes each: rows of 1 to 1 Mi elements, ragged ones,
// rows with gaps between them; extreme, masked and constant contents, NaN and infinities. Results are poisoned before,
// and so are the gaps and what lies behind the matrix, which must stay as they are. Exit code 77 without a Hopper GPU.
#include "host_numbers.hpp"

#include <ptxdsl/kernels.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

namespace {

int failures = 0, checked = 0;

/// Only each `every`-th call is checked: the command line's second number, for tools that slow kernels down.
unsigned every = 1, asked_for = 0;
bool left_out() { return asked_for++ % every != 0; }

std::mt19937 random_bits(20261130);
std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + random_bits() % (high - low + 1); }
double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_bits); }

// ---- element types --------------------------------------------------------------------------------------------------

/// The smallest step, absolute.
template <class T>
inline constexpr double least_step = std::is_same_v<T, px::f16> ? 0x1p-25 : 1e-37;
template <class T>
inline constexpr const char* type_name = std::is_same_v<T, float>     ? "f32"
                                         : std::is_same_v<T, px::f16> ? "f16"
                                                                      : "bf16";

// ---- matrices -------------------------------------------------------------------------------------------------------

/// A matrix on host and device: rows `stride` apart, and a few elements behind the last row.
template <class T>
struct matrix {
    std::uint64_t rows, columns, stride;
    std::vector<T> host;
    px::device_buffer<T> device;

    matrix(const px::context& ctx, std::uint64_t r, std::uint64_t c, std::uint64_t s)
        : rows(r),
          columns(c),
          stride(s),
          host(r * s + 64),
          device(px::check(px::device_buffer<T>::allocate(ctx, r * s + 64))) {
        std::memset(static_cast<void*>(host.data()), 0xff, host.size() * sizeof(T));
    }
    T& at(std::uint64_t r, std::uint64_t c) { return host[r * stride + c]; }
    double value(std::uint64_t r, std::uint64_t c) { return wide(at(r, c)); }
    void upload() { px::check(device.upload(host)); }
    void download() { px::check(device.download(host)); }
    auto view() { return px::tensor_view(device.ptr(), rows, columns).with_strides(stride, std::uint64_t{1}); }
    auto input() {
        return px::tensor_view(px::device_ptr<const T>(device.ptr()), rows, columns)
            .with_strides(stride, std::uint64_t{1});
    }
    auto vector() { return px::tensor_view(px::device_ptr<const T>(device.ptr()), columns); }
    template <class F>
    void fill(F&& f) {
        for (std::uint64_t r = 0; r < rows; ++r)
            for (std::uint64_t c = 0; c < columns; ++c) at(r, c) = narrow<T>(f(r, c));
        upload();
    }
    /// Elements outside of the matrix that are no longer poison.
    std::size_t spilt() const {
        std::size_t n = 0;
        const std::vector<unsigned char> poison(sizeof(T), 0xff);
        for (std::size_t i = 0; i < host.size(); ++i)
            if (i % stride >= columns || i / stride >= rows)
                n += std::memcmp(static_cast<const void*>(&host[i]), poison.data(), sizeof(T)) != 0;
        return n;
    }
};

enum class content { uniform, large, small, one_nan, one_inf, masked, constant, count };
constexpr const char* content_names[] = {"uniform", "large", "small", "one NaN", "one infinity", "masked", "constant"};

/// Extents, gap and contents of one test.
struct shape {
    std::uint64_t rows, columns, gap;
    content what;
};
/// The `i`-th of a series: contents in turn, then extents at random.
shape random_shape(unsigned i) {
    shape s{between(1, 40), between(1, 6000), 0, static_cast<content>(i % static_cast<unsigned>(content::count))};
    switch (i % 6) {
        case 0: s.columns = between(1, 40), s.rows = between(1, 300); break;
        case 1: s.columns = 8 * between(1, 1200); break;
        case 2: s.columns = 1024 * between(1, 40), s.rows = between(1, 8); break;
        case 3: s.columns = between(20'000, 270'000), s.rows = between(1, 3); break;
        case 4: s.columns = 128 * between(1, 64), s.rows = between(1, 64); break;
        default: break;
    }
    if (i % 18 == 15) s.columns = 8 * between(4000, 66'000), s.rows = between(1, 3);  // 16-bit rows that are held
    if (i % 18 == 7) s.columns = between(270'000, 1u << 20), s.rows = 2;
    if (i == 11) s.columns = 1u << 20, s.rows = 2;
    if (i % 4 == 2) s.gap = i % 8 == 2 ? 8 * between(1, 4) : between(1, 9);
    return s;
}
template <class T>
double element(const shape& s, std::uint64_t row, std::uint64_t col) {
    const double v = uniform(-1, 1);
    const bool there = row % 3 == 0 && col == (row * 7919 + 13) % s.columns;
    constexpr bool half = std::is_same_v<T, px::f16>;
    switch (s.what) {
        case content::large: return v * (half ? 2e4 : 1e15);
        case content::small: return v * (half ? 1e-4 : 1e-18);
        case content::one_nan: return there ? std::nan("") : v;
        case content::one_inf: return there ? (row % 2 == 0 ? HUGE_VAL : -HUGE_VAL) : v;
        case content::constant: return 0.75;
        default: return v;
    }
}

/// Counts results that are too far from what is wanted.
struct judge {
    std::size_t wrong = 0, seen = 0;
    std::string first;
    void see(double found, double wanted, double tolerance, std::uint64_t row, std::uint64_t col) {
        ++seen;
        const bool special = std::isnan(wanted) || std::isinf(wanted);
        const bool good = special ? (std::isnan(found) && std::isnan(wanted)) || found == wanted
                                  : std::abs(found - wanted) <= tolerance;
        if (good) return;
        if (wrong++ == 0)
            first = "(" + std::to_string(row) + ", " + std::to_string(col) + ") is " + std::to_string(found) +
                    ", not " + std::to_string(wanted);
    }
};

void conclude(const char* what, const char* type, const shape& s, const judge& j, std::size_t spilt,
              const px::result<void>& r) {
    ++checked;
    if (r && j.wrong == 0 && spilt == 0) return;
    ++failures;
    std::printf("FAIL %s %s %zu x %zu + %zu, %s: %s; %zu of %zu wrong, %s; %zu written outside\n", what, type,
                std::size_t{s.rows}, std::size_t{s.columns}, std::size_t{s.gap},
                content_names[static_cast<int>(s.what)], r ? "ran" : std::string(r.error().message()).c_str(), j.wrong,
                j.seen, j.first.c_str(), spilt);
}

/// Rows or blocks for which L2 is asked: the library's choice, none, or some.
std::optional<px::u32> any_distance() {
    if (between(0, 2) == 0) return std::nullopt;
    return static_cast<px::u32>(between(0, 1) == 0 ? 0 : between(1, 40));
}
kn::element_options any_element(std::uint64_t accesses) {
    if (between(0, 2) == 0) return {};
    // Few kinds: each is a kernel that the driver has to assemble.
    const kn::element_plan p{.accesses = static_cast<px::u32>(accesses), .threads = 64u << 2 * between(0, 2)};
    return {.programmatic = between(0, 1) == 0, .plan = p, .prefetch_blocks = any_distance()};
}

// ---- norms ----------------------------------------------------------------------------------------------------------

struct statistics {
    double mean = 0, scale = 0, largest = 0;
    template <class F>
    statistics(std::uint64_t n, bool centred, double eps, F&& value) {
        double sum = 0, squares = 0;
        for (std::uint64_t c = 0; c < n; ++c) sum += value(c), largest = std::max(largest, std::abs(value(c)));
        mean = centred ? sum / static_cast<double>(n) : 0;
        for (std::uint64_t c = 0; c < n; ++c) squares += (value(c) - mean) * (value(c) - mean);
        scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    }
};

enum class norm { rms, add, layer };

template <class T>
void check_norm(const px::stream& s, norm kind, const shape& p) {
    if (left_out()) return;
    const auto& ctx = s.ctx();
    const std::uint64_t stride = p.columns + p.gap;
    matrix<T> x(ctx, p.rows, p.columns, stride), y(ctx, p.rows, p.columns, stride);
    matrix<T> residual(ctx, p.rows, p.columns, p.columns), sum(ctx, p.rows, p.columns, p.columns);
    matrix<T> weight(ctx, 1, p.columns, p.columns), bias(ctx, 1, p.columns, p.columns);
    x.fill([&](auto r, auto c) { return element<T>(p, r, c); });
    residual.fill([&](auto, auto) { return uniform(-1, 1); });
    weight.fill([&](auto, auto) { return uniform(-2, 2); });
    bias.fill([&](auto, auto) { return uniform(-1, 1); });
    y.upload(), sum.upload();
    const float eps = 1e-5f;
    const kn::norm_options options{.eps = eps, .row = {.prefetch_rows = any_distance()}};
    const auto run = [&]() -> px::result<void> {
        if (kind == norm::rms) return kn::rms_norm(s, x.input(), weight.vector(), y.view(), options);
        if (kind == norm::layer) return kn::layer_norm(s, x.input(), weight.vector(), bias.vector(), y.view(), options);
        return kn::add_rms_norm(s, x.input(), residual.input(), weight.vector(), sum.view(), y.view(), options);
    };
    const auto result = run();
    px::check(s.synchronize());
    y.download(), sum.download();
    judge j;
    for (std::uint64_t r = 0; r < p.rows; ++r) {
        if (kind == norm::add)
            for (std::uint64_t c = 0; c < p.columns; ++c) {
                const double v = x.value(r, c) + residual.value(r, c);
                j.see(sum.value(r, c), v, half_step<T> * 1.01 * std::abs(v) + least_step<T>, r, c);
            }
        const auto value = [&](std::uint64_t c) { return kind == norm::add ? sum.value(r, c) : x.value(r, c); };
        const statistics t(p.columns, kind == norm::layer, static_cast<double>(eps), value);
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            const double w = weight.value(0, c), b = kind == norm::layer ? bias.value(0, c) : 0;
            const double v = (value(c) - t.mean) * t.scale * w + b;
            const double cancelled = kind == norm::layer ? 1e-6 * (t.largest * t.scale * std::abs(w) + std::abs(b)) : 0;
            j.see(y.value(r, c), v, (half_step<T> * 1.01 + 4e-6) * std::abs(v) + cancelled + least_step<T>, r, c);
        }
    }
    conclude(kind == norm::rms   ? "rms_norm"
             : kind == norm::add ? "add_rms_norm"
                                 : "layer_norm",
             type_name<T>, p, j, y.spilt() + sum.spilt(), result);
}

// ---- softmax --------------------------------------------------------------------------------------------------------

template <class T>
void check_softmax(const px::stream& s, const shape& p) {
    if (left_out()) return;
    const std::uint64_t stride = p.columns + p.gap;
    matrix<T> x(s.ctx(), p.rows, p.columns, stride), y(s.ctx(), p.rows, p.columns, stride);
    x.fill([&](auto r, auto c) {
        const double v = 8 * element<T>(p, r, c);
        return p.what == content::masked && (r % 5 == 4 || v < 7) ? -HUGE_VAL : v;
    });
    y.upload();
    const double scale = p.rows % 2 == 0 ? 1.0 : 0.125;
    const auto result =
        kn::softmax(s, x.input(), y.view(), static_cast<float>(scale), {.prefetch_rows = any_distance()});
    px::check(s.synchronize());
    y.download();
    judge j;
    for (std::uint64_t r = 0; r < p.rows; ++r) {
        double m = -HUGE_VAL, sum = 0;
        bool poisoned = false;
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            m = std::max(m, x.value(r, c));
            poisoned = poisoned || std::isnan(x.value(r, c)) || x.value(r, c) == HUGE_VAL;
        }
        for (std::uint64_t c = 0; c < p.columns; ++c) sum += std::exp(scale * (x.value(r, c) - m));
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            const double power = scale * (x.value(r, c) - m), v = poisoned ? std::nan("") : std::exp(power) / sum;
            const double relative = half_step<T> * 1.01 + 6e-6 + (std::isfinite(power) ? 4e-7 * std::abs(power) : 0);
            j.see(y.value(r, c), v, relative * v + least_step<T>, r, c);
        }
    }
    conclude("softmax", type_name<T>, p, j, y.spilt(), result);
}

// ---- fp8 ------------------------------------------------------------------------------------------------------------

enum class scales_of { rows, blocks, squares };

template <class T, class Q>
void check_quantize(const px::stream& s, scales_of kind, const shape& p) {
    if (left_out()) return;
    constexpr bool wide_range = std::is_same_v<Q, px::e5m2>;
    const std::uint64_t stride = p.columns + p.gap;
    const std::uint64_t high = kind == scales_of::squares ? 128 : 1, broad = kind == scales_of::rows ? p.columns : 128;
    const std::uint64_t down = (p.rows + high - 1) / high, across = (p.columns + broad - 1) / broad;
    matrix<T> x(s.ctx(), p.rows, p.columns, stride);
    matrix<Q> q(s.ctx(), p.rows, p.columns, p.columns);
    matrix<float> scales(s.ctx(), down, across, across);
    x.fill([&](auto r, auto c) { return p.what == content::masked ? 0.0 : element<T>(p, r, c); });
    q.upload(), scales.upload();
    const auto run = [&]() -> px::result<void> {
        if (kind == scales_of::rows)
            return kn::quantize_rows(s, x.input(), q.view(), px::tensor_view(scales.device.ptr(), p.rows),
                                     {.prefetch_rows = any_distance()});
        if (kind == scales_of::blocks)
            return kn::quantize_blocks(s, x.input(), q.view(), scales.view(), any_element(1u << between(0, 2)));
        return kn::quantize_squares(s, x.input(), q.view(), scales.view());
    };
    const auto result = run();
    px::check(s.synchronize());
    q.download(), scales.download();
    judge j;
    std::vector<double> largest(down * across, 0.0);
    for (std::uint64_t r = 0; r < p.rows; ++r)
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            double& m = largest[r / high * across + c / broad];
            m = std::fmax(m, std::abs(x.value(r, c)));
        }
    for (std::uint64_t i = 0; i < largest.size(); ++i) {
        const double v = std::max(largest[i], 1e-30) / (wide_range ? 57344 : 448);
        j.see(scales.value(i / across, i % across), v, 1e-6 * v, i, 0);
    }
    for (std::uint64_t r = 0; r < p.rows; ++r)
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            const double v = x.value(r, c), scale = scales.value(r / high, c / broad), found = q.value(r, c) * scale;
            if (std::isinf(scale))
                j.see(q.value(r, c), std::isfinite(v) ? 0.0 : std::nan(""), 0, r, c);
            else
                j.see(found, v,
                      1.001 * (std::abs(v) * (wide_range ? 0.125 : 0.0625) + scale * (wide_range ? 0x1p-17 : 0x1p-10)),
                      r, c);
        }
    conclude(kind == scales_of::rows     ? "quantize_rows"
             : kind == scales_of::blocks ? "quantize_blocks"
                                         : "quantize_squares",
             type_name<T>, p, j, q.spilt() + scales.spilt(), result);
}

// ---- SwiGLU and rotary embedding
// --------------------------------------------------------------------------------------

template <class T>
void check_swiglu(const px::stream& s, const shape& p) {
    if (left_out()) return;
    const std::uint64_t stride = p.columns + p.gap;
    matrix<T> gate(s.ctx(), p.rows, p.columns, stride), up(s.ctx(), p.rows, p.columns, stride),
        y(s.ctx(), p.rows, p.columns, stride);
    gate.fill([&](auto r, auto c) { return 6 * element<T>(p, r, c); });
    up.fill([&](auto, auto) { return uniform(-2, 2); });
    y.upload();
    const auto result = kn::swiglu(s, gate.input(), up.input(), y.view(), any_element(between(1, 3)));
    px::check(s.synchronize());
    y.download();
    judge j;
    for (std::uint64_t r = 0; r < p.rows; ++r)
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            const double g = gate.value(r, c), u = up.value(r, c), exact = g / (1 + std::exp(-g)) * u;
            const bool overflows = std::is_same_v<T, px::f16> && std::abs(exact) >= 65520;
            const double v = overflows ? std::copysign(HUGE_VAL, exact) : exact;
            const double relative =
                half_step<T> * 1.01 + 1e-6 + (std::isfinite(g) ? 3e-7 * std::min(std::abs(g), 100.0) : 0);
            j.see(y.value(r, c), v,
                  relative * std::abs(v) + least_step<T> + 1e-36 * std::abs(std::isfinite(g) ? g * u : 0), r, c);
        }
    // Flat matrices are written without gaps; elements between rows are then not part of them.
    conclude("swiglu", type_name<T>, p, j, y.spilt(), result);
}

template <class T>
void check_rope(const px::stream& s, unsigned i) {
    if (left_out()) return;
    const std::uint64_t tokens = between(1, 60), heads = between(1, 12),
                        size = i % 4 == 0 ? 2 * between(1, 100) : 32 * between(1, 8);
    const std::uint64_t rotated =
        i % 3 == 0 ? size : std::max<std::uint64_t>(2, i % 3 == 1 ? size / 4 * 2 : 2 * between(1, size / 2));
    const shape p{tokens, heads * size, i % 5 == 0 ? between(1, 24) : 0,
                  i % 7 == 0 ? content::one_nan : content::uniform};
    matrix<T> x(s.ctx(), p.rows, p.columns, p.columns + p.gap), y(s.ctx(), p.rows, p.columns, p.columns + p.gap);
    matrix<float> cosines(s.ctx(), 512, rotated / 2, rotated / 2), sines(s.ctx(), 512, rotated / 2, rotated / 2);
    const auto angle = [&](auto r, auto c) {
        return static_cast<double>(r) * std::pow(10000.0, -2.0 * static_cast<double>(c) / static_cast<double>(rotated));
    };
    x.fill([&](auto r, auto c) { return element<T>(p, r, c); });
    cosines.fill([&](auto r, auto c) { return std::cos(angle(r, c)); });
    sines.fill([&](auto r, auto c) { return std::sin(angle(r, c)); });
    std::vector<px::s32> at(tokens);
    for (auto& t : at) t = static_cast<px::s32>(between(0, 511));
    auto positions = px::check(px::device_buffer<px::s32>::from(s.ctx(), at));
    const bool in_place = i % 2 == 0;
    std::vector<T> before = x.host;
    y.upload();
    const auto pairs = i % 4 < 2 ? kn::rope_pairs::halves : kn::rope_pairs::interleaved;
    auto each = static_cast<px::u32>(between(0, 4));  // heads a thread; 0: as the library chooses
    while (each > 1 && heads % each != 0) --each;
    const auto threads = static_cast<px::u32>(32 * between(0, 8));
    const auto three = [&](auto& m) {
        return px::tensor_view(m.device.ptr(), tokens, heads, size).with_strides(m.stride, size, std::uint64_t{1});
    };
    const auto result = kn::rope(s, three(x), px::tensor_view(positions, tokens), cosines.input(), sines.input(),
                                 in_place ? three(x) : three(y), {.pairs = pairs, .threads = threads, .heads = each});
    px::check(s.synchronize());
    matrix<T>& out = in_place ? x : y;
    out.download();
    judge j;
    for (std::uint64_t r = 0; r < tokens; ++r)
        for (std::uint64_t c = 0; c < p.columns; ++c) {
            const std::uint64_t e = c % size, start = r * x.stride + c - e;
            const bool halves = pairs == kn::rope_pairs::halves;
            const std::uint64_t pair = halves ? e % (rotated / 2) : e / 2;
            const bool second = halves ? e >= rotated / 2 : e % 2 != 0;
            const double a = wide(before[start + (halves ? pair : 2 * pair)]);
            const double b = wide(before[start + (halves ? pair + rotated / 2 : 2 * pair + 1)]);
            if (e >= rotated) {
                j.see(out.value(r, c), wide(before[start + e]), 0, r, c);
                continue;
            }
            const auto position = static_cast<std::uint64_t>(at[r]);
            const double cosine = cosines.value(position, pair), sine = sines.value(position, pair);
            const double v = second ? b * cosine + a * sine : a * cosine - b * sine;
            j.see(out.value(r, c), v,
                  half_step<T> * 1.01 * std::abs(v) + 2e-7 * (std::abs(a) + std::abs(b)) + least_step<T>, r, c);
        }
    conclude("rope", type_name<T>, p, j, out.spilt(), result);
}

/// A kernel that asks L2 early reads what the one before it writes, not what L2 was asked for.
template <class T>
void check_chain(const px::stream& s) {
    if (left_out()) return;
    const shape p{700, 4096, 0, content::uniform};
    matrix<T> x(s.ctx(), p.rows, p.columns, p.columns), y(s.ctx(), p.rows, p.columns, p.columns),
        z(s.ctx(), p.rows, p.columns, p.columns), weight(s.ctx(), 1, p.columns, p.columns);
    weight.fill([](auto, auto) { return 1.0; });
    y.upload(), z.upload();
    for (int turn = 0; turn < 4; ++turn) {
        x.fill([](auto, auto) { return uniform(-1, 1); });
        auto result = kn::rms_norm(s, x.input(), weight.vector(), y.view(), {.eps = 1e-5f, .row = {}});
        if (result) result = kn::swiglu(s, y.input(), x.input(), z.view(), {.prefetch_blocks = 1u << 20});
        px::check(s.synchronize());
        y.download(), z.download();
        judge j;
        for (std::uint64_t r = 0; r < p.rows; r += 7) {
            double squares = 0;
            for (std::uint64_t c = 0; c < p.columns; ++c) squares += x.value(r, c) * x.value(r, c);
            const double scale = 1 / std::sqrt(squares / static_cast<double>(p.columns) + 1e-5);
            for (std::uint64_t c = 0; c < p.columns; ++c) {
                const double n = x.value(r, c) * scale, g = y.value(r, c), v = g / (1 + std::exp(-g)) * x.value(r, c);
                j.see(g, n, (half_step<T> * 1.01 + 4e-6) * std::abs(n) + least_step<T>, r, c);
                j.see(z.value(r, c), v, (half_step<T> * 1.01 + 4e-6) * std::abs(v) + least_step<T>, r, c);
            }
        }
        conclude("rms_norm, swiglu", type_name<T>, p, j, y.spilt() + z.spilt(), result);
    }
}

template <class T>
void check_type(const px::stream& s) {
    check_chain<T>(s);
    for (unsigned i = 0; i < 36; ++i) {
        for (const norm kind : {norm::rms, norm::add, norm::layer}) check_norm<T>(s, kind, random_shape(i));
        check_softmax<T>(s, random_shape(i));
        check_swiglu<T>(s, random_shape(i));
        check_rope<T>(s, i);
        for (const scales_of kind : {scales_of::rows, scales_of::blocks, scales_of::squares})
            if (i % 2 == 0)
                check_quantize<T, px::e4m3>(s, kind, random_shape(i));
            else
                check_quantize<T, px::e5m2>(s, kind, random_shape(i));
    }
}

/// Calls that cannot work say so.
void check_refusals(const px::stream& s) {
    auto b = px::check(px::device_buffer<float>::allocate(s.ctx(), 64));
    const auto refused = [&](const px::result<void>& r, const char* what) {
        ++checked;
        if (r || r.error().code() != px::errc::bad_argument) ++failures, std::printf("FAIL accepted: %s\n", what);
    };
    const px::tensor_view<float, 2> x(b.ptr(), 4, 8), y(b.ptr(), 4, 8), other(b.ptr(), 8, 4);
    const px::tensor_view<float, 1> w(b.ptr(), 8), few(b.ptr(), 7);
    refused(kn::rms_norm(s, x, w, other), "a result of other extents");
    refused(kn::rms_norm(s, x, few, y), "too few weights");
    refused(kn::rms_norm(s, x.with_strides(1, 4), w, y), "columns that are not contiguous");
    ++checked;
    if (!kn::softmax(s, px::tensor_view<float, 2>(b.ptr(), 0, 8), px::tensor_view<float, 2>(b.ptr(), 0, 8)))
        ++failures, std::printf("FAIL refused: no rows\n");
    refused(kn::softmax(s, x, y, -1.0f), "a negative scale");
    refused(kn::softmax(s, x, y, 1.0f, {.plan = kn::row_plan{.width = 8}}), "a plan of accesses that are too wide");
    refused(kn::softmax(s, x, y, 1.0f, {.plan = kn::row_plan{.width = 1, .threads = 1}}),
            "a plan that does not hold the row");
}

}  // namespace

int main(int argc, char** argv) {
    const auto ctx = px::context::primary(0);
    if (!ctx || ctx->device().major != 9) {
        std::printf("skipped: %s\n", ctx ? "the device is no Hopper GPU" : ctx.error().message());
        return 77;
    }
    const auto s = px::stream::create(*ctx);
    if (!s) return 1;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was found before a kernel stops the context
    if (argc > 2) every = static_cast<unsigned>(std::max(1, std::atoi(argv[2])));
    const std::string only = argc > 1 ? argv[1] : "";  // f32, bf16 or f16: types may run side by side
    const auto of_type = [&]<class T>(const std::string& name) {
        if (!only.empty() && only != name) return;
        check_type<T>(*s);
        std::printf("%s: %d calls checked so far, %d wrong\n", name.c_str(), checked, failures);
    };
    of_type.template operator()<float>("f32");
    of_type.template operator()<px::bf16>("bf16");
    of_type.template operator()<px::f16>("f16");
    check_refusals(*s);
    std::printf("%d calls checked, %d wrong\n", checked, failures);
    return failures == 0 ? 0 : 1;
}
