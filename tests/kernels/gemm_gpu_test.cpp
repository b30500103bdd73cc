// SPDX-License-Identifier: Apache-2.0
// `px::kernels::gemm` against float64 on random shapes, ragged ones among them: every configuration, layout, result
// type and epilogue. C is poisoned with NaN before each call. Exit code 77 where there is no Hopper GPU.
#include <ptxdsl/kernels.hpp>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

namespace {

int failures = 0, checked = 0;
std::mt19937 random_bits(20261130);

std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + random_bits() % (high - low + 1); }

std::uint16_t bits_of(float f, px::bf16*) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
float value_of(std::uint16_t b, px::bf16*) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

template <class T>
T raw(std::uint16_t b) {
    T t;
    std::memcpy(&t, &b, 2);
    return t;
}
double wide(const px::bf16& v) {
    std::uint16_t b = 0;
    std::memcpy(&b, &v, 2);
    return static_cast<double>(value_of(b, nullptr));
}
double wide(float v) { return static_cast<double>(v); }

std::vector<px::bf16> noise(std::size_t n) {
    std::uniform_real_distribution<float> d(-1.0f, 1.0f);
    std::vector<px::bf16> v(n);
    for (auto& x : v) x = raw<px::bf16>(bits_of(d(random_bits), nullptr));
    return v;
}

/// One problem: extents, and the strides of its operands.
struct problem {
    std::uint64_t m, n, k, batch = 1;
    bool a_by_k = true, b_by_k = true;
    std::uint64_t pad = 0;  ///< elements between the lines of A and B
    [[nodiscard]] std::uint64_t a_line() const { return (a_by_k ? k : m) + pad; }
    [[nodiscard]] std::uint64_t b_line() const { return (b_by_k ? k : n) + pad; }
    [[nodiscard]] std::uint64_t a_size() const { return (a_by_k ? m : k) * a_line(); }
    [[nodiscard]] std::uint64_t b_size() const { return (b_by_k ? n : k) * b_line(); }
};

template <kn::gemm_form F>
double activate(double x) {
    switch (F.act) {
        case kn::activation::relu: return x < 0 ? 0 : x;
        case kn::activation::silu: return x / (1 + std::exp(-x));
        case kn::activation::gelu: return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        default: return x;
    }
}

template <class Out>
bool close(double found, double wanted, std::uint64_t k) {
    const double rounding = sizeof(Out) == 2 ? 0x1p-8 : 0x1p-22;
    return std::abs(found - wanted) <=
           rounding * std::abs(wanted) + 0x1p-19 * static_cast<double>(k) +
               4e-3 * (sizeof(Out) == 2 ? 1.0 : 1e-3) * std::sqrt(static_cast<double>(k)) / 16;
}

/// What C holds before the call: NaN, or numbers where beta adds them.
template <class Out>
std::vector<Out> before(std::size_t n, bool read) {
    std::uniform_real_distribution<float> d(-1.0f, 1.0f);
    std::vector<Out> v(n);
    for (auto& x : v) {
        const float f = read ? d(random_bits) : std::numeric_limits<float>::quiet_NaN();
        if constexpr (sizeof(Out) == 2)
            x = raw<Out>(bits_of(f, nullptr));
        else
            x = f;
    }
    return v;
}

template <kn::gemm_form F, class Out>
void check(const px::stream& s, const problem& p, kn::gemm_options<px::bf16> o, const char* what) {
    const auto& ctx = s.ctx();
    const auto a = noise(p.a_size() * p.batch), b = noise(p.b_size() * p.batch), bias = noise(p.n);
    const std::uint64_t columns = F.gated ? p.n / 2 : p.n;
    const std::vector<Out> poison = before<Out>(p.m * columns * p.batch, o.beta != 0.0f);
    auto da = px::device_buffer<px::bf16>::from(ctx, a), db = px::device_buffer<px::bf16>::from(ctx, b),
         dbias = px::device_buffer<px::bf16>::from(ctx, bias);
    auto dc = px::device_buffer<Out>::from(ctx, poison);
    if (!da || !db || !dbias || !dc) return void(++failures);
    if (F.bias) o.bias = dbias->ptr();
    const auto view = [&](auto& buffer, std::uint64_t rows, bool by_k, std::uint64_t line, std::uint64_t size) {
        return px::tensor_view(buffer.ptr(), p.batch, rows, p.k)
            .with_strides(size, by_k ? line : std::uint64_t{1}, by_k ? std::uint64_t{1} : line);
    };
    const auto r = kn::gemm<F>(s, view(*da, p.m, p.a_by_k, p.a_line(), p.a_size()),
                               view(*db, p.n, p.b_by_k, p.b_line(), p.b_size()),
                               px::tensor_view(dc->ptr(), p.batch, p.m, columns), o);
    std::vector<Out> c(poison.size());
    if (!r || !s.synchronize() || !dc->download(c)) {
        std::printf("FAIL %s %zux%zux%zu: %s\n", what, std::size_t{p.m}, std::size_t{p.n}, std::size_t{p.k},
                    r ? "the device failed" : std::string(r.error().message()).c_str());
        return void(++failures);
    }
    const auto dot = [&](std::uint64_t z, std::uint64_t i, std::uint64_t j) {
        double sum = 0;
        for (std::uint64_t t = 0; t < p.k; ++t) {
            const auto x = z * p.a_size() + (p.a_by_k ? i * p.a_line() + t : t * p.a_line() + i),
                       y = z * p.b_size() + (p.b_by_k ? j * p.b_line() + t : t * p.b_line() + j);
            sum += wide(a[x]) * wide(b[y]);
        }
        return sum * static_cast<double>(o.alpha) + (F.bias ? wide(bias[j]) : 0.0);
    };
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < c.size(); e += c.size() > 200000 ? 97 : 1) {
        const std::uint64_t z = e / (p.m * columns), i = e / columns % p.m, j = e % columns;
        const std::uint64_t gate = j / 8 * 16 + j % 8;
        const double old = o.beta != 0.0f ? static_cast<double>(o.beta) * wide(poison[e]) : 0.0;
        const double wanted =
            (F.gated ? activate<F>(dot(z, i, gate)) * dot(z, i, gate + 8) : activate<F>(dot(z, i, j))) + old;
        if (!close<Out>(wide(c[e]), wanted, F.gated ? 8 * p.k : p.k)) ++wrong;
    }
    ++checked;
    failures += wrong != 0 ? 1 : 0;
    if (wrong != 0)
        std::printf("FAIL %s %zux%zux%zu batch %zu: %zu elements\n", what, std::size_t{p.m}, std::size_t{p.n},
                    std::size_t{p.k}, std::size_t{p.batch}, wrong);
}

problem ragged(bool any_layout) {
    problem p{between(1, 400), between(1, 500), between(1, 600)};
    p.batch = between(0, 3) == 0 ? between(2, 3) : 1;
    if (any_layout) p.a_by_k = between(0, 1) != 0, p.b_by_k = between(0, 1) != 0;
    p.pad = 0;
    if (between(0, 3) != 0) p.m = (p.m + 7) / 8 * 8, p.n = (p.n + 7) / 8 * 8, p.k = (p.k + 7) / 8 * 8;  // TMA's path
    return p;
}

void run(const px::stream& s, kn::gemm_workspace& workspace) {
    using kn::activation;
    for (std::size_t i = 0; i < kn::gemm_configs.size(); ++i)
        for (int n = 0; n < 6; ++n) {
            problem p{between(1, 900), 8 * between(1, 120), 8 * between(16, 90)};
            check<kn::gemm_form{}, px::bf16>(s, p, {.workspace = &workspace, .choice = static_cast<kn::gemm_choice>(i)},
                                             "configuration");
        }
    // More tiles than clusters, and steps that do not divide among them.
    check<kn::gemm_form{}, px::bf16>(s, {5000, 4360, 328},
                                     {.workspace = &workspace, .choice = kn::gemm_choice::large_even}, "even ending");
    for (int n = 0; n < 24; ++n) check<kn::gemm_form{.any_layout = true}, px::bf16>(s, ragged(true), {}, "layout");
    for (int n = 0; n < 12; ++n) check<kn::gemm_form{}, px::f32>(s, ragged(false), {}, "f32");
    for (int n = 0; n < 12; ++n)
        check<kn::gemm_form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16>(
            s, ragged(false), {.alpha = 0.25f}, "scaled gelu");
    for (int n = 0; n < 12; ++n)
        check<kn::gemm_form{.scaled = true}, px::f32>(s, ragged(false), {.alpha = -1.5f, .beta = 0.75f}, "beta f32");
    for (int n = 0; n < 6; ++n)
        check<kn::gemm_form{.act = activation::gelu, .bias = true, .scaled = true}, px::bf16>(
            s, ragged(false), {.alpha = 2.0f, .beta = -0.5f}, "scaled gelu with beta");
    for (int n = 0; n < 6; ++n)
        check<kn::gemm_form{.act = activation::relu, .bias = true, .constant_b = true}, px::bf16>(s, ragged(false), {},
                                                                                                  "relu");
    for (int n = 0; n < 6; ++n) {
        const problem p{between(1, 300), 128 * between(1, 5), 8 * between(1, 60)};
        check<kn::gemm_form{.act = activation::silu, .gated = true}, px::bf16>(s, p, {}, "gated");
    }
}

}  // namespace

int main() {
    const auto ctx = px::context::primary(0);
    if (!ctx || ctx->device().major != 9) {
        std::printf("skipped: %s\n", ctx ? "the device is no Hopper GPU" : ctx.error().message());
        return 77;
    }
    const auto s = px::stream::create(*ctx);
    auto workspace = kn::gemm_workspace::create(*ctx);
    if (!s || !workspace) return 1;
    run(*s, *workspace);
    std::printf("%d products checked, %d wrong\n", checked, failures);
    return failures == 0 ? 0 : 1;
}
