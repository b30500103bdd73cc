// SPDX-License-Identifier: Apache-2.0
// Grouped products against float64: random groups (none, one row, ragged ends, rows of nobody), extents, strides,
// activations and gates, rows one behind the other and masked. Results and all around them are poisoned before the
// call; rows of A and B that no group has are NaN.
//
//   grouped_gpu_test [problems] [seed]     on a GPU
//   grouped_gpu_test --self-test           whether the comparison notices results that are slightly wrong; no GPU
#include "host_numbers.hpp"

#include <ptxdsl/kernels.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

namespace {

std::mt19937 random_bits(1);
std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_bits() % static_cast<std::uint64_t>(high - low + 1));
}
bool one_in(unsigned n) { return random_bits() % n == 0; }

constexpr std::uint16_t poison = 0x7fff;  ///< NaN, as bf16 and as f16

/// Matrices of rows, with gaps, and elements of nobody in front and behind.
template <class T>
struct matrices {
    static constexpr std::int64_t guard = 64;
    std::int64_t count = 1, rows = 0, columns = 0, row_stride = 0, stride = 0;
    std::vector<T> host;

    matrices(std::int64_t n, std::int64_t r, std::int64_t c)
        : count(n), rows(r), columns(c), row_stride((c + 7) / 8 * 8 + (one_in(2) ? 0 : 8 * between(1, 4))) {
        stride = r * row_stride + (one_in(2) ? 0 : 8 * between(0, 9));
        host.assign(static_cast<std::size_t>(n * stride + 2 * guard), T{poison});
    }
    [[nodiscard]] std::size_t at(std::int64_t m, std::int64_t r, std::int64_t c) const {
        return static_cast<std::size_t>(guard + m * stride + r * row_stride + c);
    }
    [[nodiscard]] double value(std::int64_t m, std::int64_t r, std::int64_t c) const { return wide(host[at(m, r, c)]); }
    void fill_row(std::int64_t m, std::int64_t r, double size) {
        std::normal_distribution<double> d(0.0, size);
        for (std::int64_t c = 0; c < columns; ++c) host[at(m, r, c)] = narrow<T>(d(random_bits));
    }
};

struct group {
    std::int64_t first = 0, rows = 0;  ///< in matrix `matrix` of A and C
    std::int64_t matrix = 0;
};

template <class T>
struct problem {
    bool masked = false, gated = false;
    kn::activation act = kn::activation::none;
    std::uint64_t expected = 0;
    std::vector<group> groups;
    std::vector<std::int32_t> numbers;  ///< what the kernel reads: starts, or counts
    matrices<T> a, b, c;

    [[nodiscard]] std::string text() const {
        std::string t = std::string(std::is_same_v<T, px::f16> ? "f16" : "bf16") + (masked ? " masked" : "") +
                        (gated ? " gated" : "") + " act " + std::to_string(static_cast<int>(act)) + " k " +
                        std::to_string(a.columns) + " n " + std::to_string(b.rows) + " expected " +
                        std::to_string(expected) + " rows";
        for (const group& g : groups) t += " " + std::to_string(g.rows);
        return t + " of " + std::to_string(a.rows);
    }
};

std::int64_t some_rows() {
    switch (random_bits() % 6) {
        case 0: return 0;
        case 1: return between(1, 17);
        case 2: return 64 * between(1, 5) + between(-1, 1);
        case 3: return 128 * between(1, 3);
        default: return between(1, 300);
    }
}

template <class T>
problem<T> random_problem() {
    const bool masked = one_in(2), gated = one_in(3);
    const std::int64_t count = one_in(8) ? between(30, 70) : between(1, 9);
    std::vector<group> groups(static_cast<std::size_t>(count));
    std::vector<std::int32_t> numbers;
    std::int64_t rows = 0, all = one_in(4) ? between(0, 9) : 0;  // rows of nobody in front
    for (std::int64_t g = 0; g < count; ++g) {
        group& x = groups[static_cast<std::size_t>(g)];
        x = {masked ? 0 : all, count > 20 ? some_rows() % 40 : some_rows(), masked ? g : 0};
        numbers.push_back(static_cast<std::int32_t>(masked ? x.rows : all));
        all += x.rows;
        rows = std::max(rows, x.rows);
    }
    if (!masked) numbers.push_back(static_cast<std::int32_t>(all)), rows = all;
    if (one_in(3)) rows += between(1, 150);  // and behind
    const std::int64_t k = one_in(3) ? 64 * between(1, 6) : between(1, 500);
    const std::int64_t columns = one_in(4) ? 8 * between(1, 8) : 8 * between(1, 100);
    problem<T> p{masked,
                 gated,
                 static_cast<kn::activation>(random_bits() % 4),
                 one_in(2) ? 0 : static_cast<std::uint64_t>(between(1, 400)),
                 groups,
                 numbers,
                 matrices<T>(masked ? count : 1, std::max<std::int64_t>(rows, 0), k),
                 matrices<T>(count, gated ? 2 * columns : columns, k),
                 matrices<T>(masked ? count : 1, std::max<std::int64_t>(rows, 0), columns)};
    const double size = one_in(8) ? 30 : 1;
    for (std::int64_t g = 0; g < count; ++g) {
        const group& x = p.groups[static_cast<std::size_t>(g)];
        for (std::int64_t r = 0; r < x.rows; ++r) p.a.fill_row(x.matrix, x.first + r, size);
        if (x.rows != 0)  // the weights of a group without rows are NaN
            for (std::int64_t r = 0; r < p.b.rows; ++r) p.b.fill_row(g, r, 1 / std::sqrt(static_cast<double>(k)));
    }
    return p;
}

// ---- the reference --------------------------------------------------------------------------------------------------

struct number {
    double value = 0, allowed = 0;
};

double activated(kn::activation act, double x) {
    switch (act) {
        case kn::activation::relu: return std::max(x, 0.0);
        case kn::activation::gelu: return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        case kn::activation::silu: return x / (1 + std::exp(-x));
        case kn::activation::none: break;
    }
    return x;
}
/// Of an activation no derivative is over 1.2; gelu has a hyperbolic tangent of 2^-11.
number activated(kn::activation act, const number& x) {
    const double v = activated(act, x.value), slack = act == kn::activation::gelu ? 0x1p-11 : 0x1p-20;
    return {v, act == kn::activation::none ? x.allowed : 1.2 * x.allowed + slack * std::abs(x.value)};
}

/// Row `r` of A times column `column` of B; sums in f32 are off by its steps.
template <class T>
number product(const problem<T>& p, std::int64_t g, std::int64_t r, std::int64_t column) {
    const group& x = p.groups[static_cast<std::size_t>(g)];
    double sum = 0, size = 0;
    for (std::int64_t i = 0; i < p.a.columns; ++i) {
        const double v = p.a.value(x.matrix, x.first + r, i) * p.b.value(g, column, i);
        sum += v, size += std::abs(v);
    }
    return {sum, 0x1p-20 * size};
}
template <class T>
number reference(const problem<T>& p, std::int64_t g, std::int64_t r, std::int64_t column) {
    number v;
    if (p.gated) {  // groups of 16 columns: 8 of the gate, 8 of the value
        const std::int64_t gate = column / 8 * 16 + column % 8;
        const number x = activated(p.act, product(p, g, r, gate)), y = product(p, g, r, gate + 8);
        v = {x.value * y.value, x.allowed * std::abs(y.value) + y.allowed * std::abs(x.value) + x.allowed * y.allowed};
    } else {
        v = activated(p.act, product(p, g, r, column));
    }
    v.allowed += 1.02 * half_step<T> * std::abs(v.value) + 0x1p-25;
    return v;
}

/// Rows of results that are off; of large problems some columns of each are compared.
template <class T>
std::size_t rows_off(const problem<T>& p) {
    struct row {
        std::int64_t g, r;
    };
    std::vector<row> rows;
    for (std::size_t g = 0; g < p.groups.size(); ++g)
        for (std::int64_t r = 0; r < p.groups[g].rows; ++r) rows.push_back({static_cast<std::int64_t>(g), r});
    const double cost =
        static_cast<double>(rows.size()) * static_cast<double>(p.a.columns) * static_cast<double>(p.b.rows);
    const auto step = static_cast<std::int64_t>(1 + cost / 4e7);
    std::atomic<std::size_t> off = 0, next = 0;
    const auto work = [&] {
        for (std::size_t n = next++; n < rows.size(); n = next++) {
            const auto [g, r] = rows[n];
            const group& x = p.groups[static_cast<std::size_t>(g)];
            bool wrong = false;
            for (auto c = static_cast<std::int64_t>(n) % step; c < p.c.columns && !wrong; c += step) {
                const number v = reference(p, g, r, c);
                wrong = !(std::abs(p.c.value(x.matrix, x.first + r, c) - v.value) <= v.allowed);
            }
            off += wrong ? 1u : 0u;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned n = 1; n < std::max(1u, std::thread::hardware_concurrency()); ++n) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return off;
}
/// Elements that were left unwritten and are results, or written and are none.
template <class T>
std::size_t misplaced(const problem<T>& p) {
    std::vector<bool> result(p.c.host.size(), false);
    for (const group& g : p.groups)
        for (std::int64_t r = 0; r < g.rows; ++r)
            for (std::int64_t c = 0; c < p.c.columns; ++c) result[p.c.at(g.matrix, g.first + r, c)] = true;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) wrong += (p.c.host[i].bits == poison) == result[i] ? 1u : 0u;
    return wrong;
}

// ---- the comparison itself ------------------------------------------------------------------------------------------

template <class T>
void host_results(problem<T>& p) {
    for (std::size_t g = 0; g < p.groups.size(); ++g)
        for (std::int64_t r = 0; r < p.groups[g].rows; ++r)
            for (std::int64_t c = 0; c < p.c.columns; ++c)
                p.c.host[p.c.at(p.groups[g].matrix, p.groups[g].first + r, c)] =
                    narrow<T>(reference(p, static_cast<std::int64_t>(g), r, c).value);
}

template <class T>
int self_test() {
    int wrong = 0;
    const auto expect = [&](bool noticed, bool wanted, const char* what, const problem<T>& p) {
        if (noticed == wanted) return;
        ++wrong;
        std::printf("FAIL self-test: %s is %s in %s\n", what, noticed ? "refused" : "not noticed", p.text().c_str());
    };
    for (int n = 0; n < 12; ++n) {
        problem<T> p = random_problem<T>();
        std::size_t last = p.groups.size();
        for (std::size_t g = 0; g < p.groups.size(); ++g) {
            p.groups[g].rows = std::min<std::int64_t>(p.groups[g].rows, 20);
            if (p.groups[g].rows != 0) last = g;
        }
        host_results(p);
        expect(rows_off(p) != 0 || misplaced(p) != 0, false, "a right result", p);
        if (last == p.groups.size()) continue;
        const group& g = p.groups[last];
        const std::int64_t row = g.first + g.rows - 1;
        problem<T> zero = p;
        for (std::int64_t c = 0; c < p.c.columns; ++c) zero.c.host[p.c.at(g.matrix, row, c)] = narrow<T>(0.0);
        const bool dead = p.act == kn::activation::relu;  // zeros may be right
        if (!dead) expect(rows_off(zero) != 0, true, "a row of zeros", p);
        problem<T> scaled = p;
        for (std::int64_t c = 0; c < p.c.columns; ++c) {
            T& x = scaled.c.host[p.c.at(g.matrix, row, c)];
            x = narrow<T>(1.03 * wide(x));
        }
        if (!dead) expect(rows_off(scaled) != 0, true, "a row 3 % too large", p);
        std::size_t before = last;
        for (std::size_t i = 0; i < last; ++i)
            if (p.groups[i].rows != 0) before = i;
        if (before != last && !dead) {  // the two have changed weights
            problem<T> swapped = p;
            for (std::int64_t r = 0; r < p.b.rows; ++r)
                for (std::int64_t c = 0; c < p.b.columns; ++c)
                    std::swap(swapped.b.host[p.b.at(static_cast<std::int64_t>(last), r, c)],
                              swapped.b.host[p.b.at(static_cast<std::int64_t>(before), r, c)]);
            host_results(swapped);
            problem<T> other = p;
            other.c = swapped.c;
            expect(rows_off(other) >= 2, true, "two groups with each other's weights", p);
        }
        problem<T> hole = p;
        hole.c.host[p.c.at(g.matrix, row, p.c.columns / 2)] = T{poison};
        expect(misplaced(hole) != 0, true, "an element that was not written", p);
        problem<T> outside = p;
        outside.c.host[p.c.at(g.matrix, row, p.c.columns - 1) + 1 + matrices<T>::guard / 2] = narrow<T>(0.0);
        if (p.c.host[p.c.at(g.matrix, row, p.c.columns - 1) + 1 + matrices<T>::guard / 2].bits == poison)
            expect(misplaced(outside) != 0, true, "an element written beside the results", p);
    }
    return wrong;
}

// ---- on the device --------------------------------------------------------------------------------------------------

template <kn::grouped_form F, class T>
px::result<void> call_with(const px::stream& s, const problem<T>& p, px::device_ptr<T> a, px::device_ptr<T> b,
                           px::device_ptr<T> c, px::device_ptr<const px::s32> numbers) {
    const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    const auto three = [&](const matrices<T>& m, px::device_ptr<T> at) {
        return px::tensor_view(at, u(m.count), u(m.rows), u(m.columns))
            .with_strides(u(m.stride), u(m.row_stride), std::uint64_t{1});
    };
    const auto two = [&](const matrices<T>& m, px::device_ptr<T> at) {
        return px::tensor_view(at, u(m.rows), u(m.columns)).with_strides(u(m.row_stride), std::uint64_t{1});
    };
    const kn::grouped_options o{.expected_rows = p.expected};
    if (p.masked) return kn::grouped_gemm_masked<F>(s, three(p.a, a), three(p.b, b), three(p.c, c), numbers, o);
    return kn::grouped_gemm<F>(s, two(p.a, a), three(p.b, b), two(p.c, c), numbers, o);
}
template <bool Gated, class... Arguments>
px::result<void> call_of(kn::activation act, const Arguments&... arguments) {
    using enum kn::activation;
    switch (act) {
        case relu: return call_with<kn::grouped_form{relu, Gated}>(arguments...);
        case gelu: return call_with<kn::grouped_form{gelu, Gated}>(arguments...);
        case silu: return call_with<kn::grouped_form{silu, Gated}>(arguments...);
        case none: break;
    }
    return call_with<kn::grouped_form{none, Gated}>(arguments...);
}

template <class T>
bool is_right(const px::context& ctx, const px::stream& s) {
    problem<T> p = random_problem<T>();
    const auto on_device = [&](const auto& host) {
        auto buffer =
            px::check(px::device_buffer<typename std::decay_t<decltype(host)>::value_type>::allocate(ctx, host.size()));
        px::check(buffer.upload(host));
        return buffer;
    };
    auto a = on_device(p.a.host), b = on_device(p.b.host), c = on_device(p.c.host);
    auto numbers = on_device(p.numbers);
    const auto at = [](auto& buffer) { return buffer.ptr() + matrices<T>::guard; };
    const px::device_ptr<const px::s32> n(numbers.ptr());
    const auto r = p.gated ? call_of<true>(p.act, s, p, at(a), at(b), at(c), n)
                           : call_of<false>(p.act, s, p, at(a), at(b), at(c), n);
    if (!r) {
        std::printf("FAIL %s: %s\n", p.text().c_str(), r.error().message());
        return false;
    }
    px::check(s.synchronize());
    px::check(c.download(p.c.host));
    const std::size_t off = rows_off(p), places = misplaced(p);
    if (off + places != 0) std::printf("FAIL %s: %zu rows off, %zu misplaced\n", p.text().c_str(), off, places);
    return off + places == 0;
}

int run(int problems, unsigned seed) {
    auto ctx = px::context::primary(0);
    if (!ctx) {
        std::printf("skipped: %s\n", ctx.error().message());
        return 77;
    }
    const auto s = px::check(px::stream::create(*ctx));
    random_bits.seed(seed);
    std::printf("%d problems of seed %u\n", problems, seed);
    int wrong = 0;
    for (int i = 0; i < problems; ++i)
        wrong += (i % 2 == 0 ? is_right<px::bf16>(*ctx, s) : is_right<px::f16>(*ctx, s)) ? 0 : 1;
    std::printf("%d problems checked, %d wrong\n", problems, wrong);
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc > 1 && std::string_view(argv[1]) == "--self-test") {
        const int wrong = self_test<px::bf16>() + self_test<px::f16>();
        std::printf("%d failed\n", wrong);
        return wrong == 0 ? 0 : 1;
    }
    return run(argc > 1 ? std::atoi(argv[1]) : 120, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 20261201u);
}
