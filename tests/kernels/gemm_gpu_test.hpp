// SPDX-License-Identifier: Apache-2.0
// What the parts of gemm_gpu_test share: problems, random data and the checks against float64. Two parts try
// configurations of their own, with the kernels from the headers (PTXDSL_KERNELS_HEADER_ONLY); all else is the compiled
// library. No check is instantiated in both.
#pragma once

#include <ptxdsl/kernels.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

namespace gemm_test {

inline int failures = 0, checked = 0;

/// Only each `every`-th product is checked: the command line's number, for tools that slow kernels down.
inline unsigned every = 1, asked_for = 0;
inline bool left_out() { return asked_for++ % every != 0; }
inline std::mt19937 random_bits(20261130);

inline std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + random_bits() % (high - low + 1); }

inline std::uint16_t bits_of(float f, px::bf16*) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
inline float value_of(std::uint16_t b, px::bf16*) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

template <class T>
T raw(std::uint16_t b) {
    T t;
    std::memcpy(&t, &b, 2);
    return t;
}
inline double wide(const px::bf16& v) {
    std::uint16_t b = 0;
    std::memcpy(&b, &v, 2);
    return static_cast<double>(value_of(b, nullptr));
}
inline double wide(float v) { return static_cast<double>(v); }

inline std::vector<px::bf16> noise(std::size_t n) {
    std::uniform_real_distribution<float> d(-1.0f, 1.0f);
    std::vector<px::bf16> v(n);
    for (auto& x : v) x = raw<px::bf16>(bits_of(d(random_bits), nullptr));
    return v;
}

/// One problem: extents, and the strides of its operands.
struct problem {
    std::uint64_t m, n, k, batch = 1;
    bool a_by_k = true, b_by_k = true;
    std::uint64_t pad = 0;    ///< elements between the lines of A and B
    std::uint64_t c_pad = 0;  ///< elements between the rows of C, which nobody may write
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

/// The product as the library chooses, or with the configuration at `C`.
template <kn::gemm_form F, const kn::gemm_config* C, class... Arguments>
px::result<void> product(const Arguments&... a) {
    if constexpr (C == nullptr)
        return kn::gemm<F>(a...);
    else
        return kn::gemm_with<*C, F>(a...);
}

template <kn::gemm_form F, class Out, const kn::gemm_config* C = nullptr>
void check(const px::stream& s, const problem& p, kn::gemm_options<px::bf16> o, const char* what) {
    if (left_out()) return;
    const auto& ctx = s.ctx();
    const auto a = noise(p.a_size() * p.batch), b = noise(p.b_size() * p.batch), bias = noise(p.n);
    const std::uint64_t columns = F.gated ? p.n / 2 : p.n, c_line = columns + p.c_pad;
    const std::vector<Out> poison =
        before<Out>(p.m * c_line * p.batch + 512, o.beta != 0.0f);  // nobody writes behind C
    auto da = px::device_buffer<px::bf16>::from(ctx, a), db = px::device_buffer<px::bf16>::from(ctx, b),
         dbias = px::device_buffer<px::bf16>::from(ctx, bias);
    auto dc = px::device_buffer<Out>::from(ctx, poison);
    if (!da || !db || !dbias || !dc) return void(++failures);
    if (F.bias) o.bias = dbias->ptr();
    const auto view = [&](auto& buffer, std::uint64_t rows, bool by_k, std::uint64_t line, std::uint64_t size) {
        return px::tensor_view(buffer.ptr(), p.batch, rows, p.k)
            .with_strides(size, by_k ? line : std::uint64_t{1}, by_k ? std::uint64_t{1} : line);
    };
    const auto r = product<F, C>(
        s, view(*da, p.m, p.a_by_k, p.a_line(), p.a_size()), view(*db, p.n, p.b_by_k, p.b_line(), p.b_size()),
        px::tensor_view(dc->ptr(), p.batch, p.m, columns).with_strides(p.m * c_line, c_line, std::uint64_t{1}), o);
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
    for (std::size_t e = 0; e < c.size(); e += c.size() > 30000 ? 97 : 1) {
        const std::uint64_t z = e / (p.m * c_line), i = e / c_line % p.m, j = e % c_line;
        if (z >= p.batch || j >= columns) {
            wrong += std::memcmp(&c[e], &poison[e], sizeof(Out)) != 0 ? 1 : 0;
            continue;
        }
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

// ---- 8-bit operands -------------------------------------------------------------------------------------------------

inline double wide(px::s8 v) { return static_cast<double>(v); }
inline double fp8(unsigned bits, int mantissa, int bias) {
    const int e = static_cast<int>(bits & 0x7f) >> mantissa;
    const auto m = static_cast<int>(bits & ((1u << mantissa) - 1));
    const double v = e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp(m + (1 << mantissa), e - bias - mantissa);
    return (bits & 0x80) != 0 ? -v : v;
}
inline std::array<double, 256> table(int mantissa, int bias) {
    std::array<double, 256> t{};
    for (unsigned i = 0; i < 256; ++i) t[i] = fp8(i, mantissa, bias);
    return t;
}
inline const std::array<double, 256> e4m3_values = table(3, 7), e5m2_values = table(2, 15);
inline double wide(px::e4m3 v) { return e4m3_values[v.bits]; }
inline double wide(px::e5m2 v) { return e5m2_values[v.bits]; }
inline double wide(px::s32 v) { return static_cast<double>(v); }

template <class In, class InB>
const char* name_of() {
    constexpr bool a = std::is_same_v<In, px::e4m3>, b = std::is_same_v<InB, px::e4m3>;
    if (std::is_same_v<In, px::s8>) return "s8";
    return a ? (b ? "e4m3" : "e4m3 x e5m2") : (b ? "e5m2 x e4m3" : "e5m2");
}

/// Values of magnitude 1/8 to 2, and 0; or all of s8.
template <class T>
std::vector<T> bytes(std::size_t n) {
    std::vector<T> v(n);
    for (auto& x : v) {
        const auto r = static_cast<std::uint8_t>(random_bits());
        if constexpr (std::is_same_v<T, px::s8>)
            x = static_cast<px::s8>(r);
        else if constexpr (std::is_same_v<T, px::e4m3>)
            x.bits = static_cast<std::uint8_t>((r & 0x80) | (r % 41 == 0 ? 0 : 0x20 + r % 33));
        else
            x.bits = static_cast<std::uint8_t>((r & 0x80) | (r % 41 == 0 ? 0 : 0x30 + r % 17));
    }
    return v;
}

/// Whether the compiled library has products with block scales of these types. No other is asked for them.
template <class In, class InB, class Out>
inline constexpr bool takes_block_scales =
    kn::detail::is_compiled({px::scalar_of<In>, px::scalar_of<InB>, px::scalar_of<Out>, true}, kn::gemm_form{});

/// One product of bytes: with a scale an operand, with block scales, or (s8) with none.
template <class In, class Out, class InB = In, const kn::gemm_config* Blocked = nullptr>
void check_bytes(const px::stream& s, bool blocks, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                 kn::gemm_workspace& workspace, std::optional<kn::gemm_choice> choice) {
    if (left_out()) return;
    constexpr bool exact = std::is_same_v<In, px::s8>;
    const auto& ctx = s.ctx();
    const auto a = bytes<In>(m * k);
    const auto b = bytes<InB>(n * k);
    const std::uint64_t steps = (k + 127) / 128, columns = (n + 127) / 128;
    std::vector<float> sa(blocks ? m * steps : 1), sb(blocks ? columns * steps : 1);
    std::uniform_real_distribution<float> d(0.25f, 1.5f);
    for (float& x : sa) x = d(random_bits);
    for (float& x : sb) x = d(random_bits);
    std::vector<Out> c(m * n);
    std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof(Out));
    auto da = px::check(px::device_buffer<In>::from(ctx, a));
    auto db = px::check(px::device_buffer<InB>::from(ctx, b));
    auto dc = px::check(px::device_buffer<Out>::from(ctx, c));
    const auto dsa = px::check(px::device_buffer<float>::from(ctx, sa)),
               dsb = px::check(px::device_buffer<float>::from(ctx, sb));
    const px::tensor_view va(da, m, k);
    const px::tensor_view vb(db, n, k);
    const px::tensor_view vc(dc, m, n);
    if (blocks && Blocked == nullptr && !takes_block_scales<In, InB, Out>) return void(++failures);
    const auto run = [&]() -> px::result<void> {
        if constexpr (exact) {
            return kn::gemm(s, va, vb, vc, {.workspace = &workspace, .choice = choice});
        } else if constexpr (Blocked != nullptr) {
            return kn::gemm_block_scaled_with<*Blocked>(
                s, va, px::tensor_view(dsa, m, steps), vb, px::tensor_view(dsb, columns, steps), vc,
                kn::gemm_options<kn::detail::bias_of<In, Out>>{.workspace = &workspace});
        } else {
            if constexpr (takes_block_scales<In, InB, Out>)
                if (blocks)
                    return kn::gemm_block_scaled(
                        s, va, px::tensor_view(dsa, m, steps), vb, px::tensor_view(dsb, columns, steps), vc,
                        kn::gemm_options<kn::detail::bias_of<In, Out>>{.workspace = &workspace});
            return kn::gemm(
                s, va, vb, vc,
                {.alpha = 0.5f, .a_scale = dsa.ptr(), .b_scale = dsb.ptr(), .workspace = &workspace, .choice = choice});
        }
    };
    const auto r = run();
    if (!r || !s.synchronize() || !dc.download(c)) {
        std::printf("FAIL bytes %zux%zux%zu: %s\n", std::size_t{m}, std::size_t{n}, std::size_t{k},
                    r ? "the device failed" : std::string(r.error().message()).c_str());
        return void(++failures);
    }
    std::size_t wrong = 0;
    double worst = 0;
    for (std::size_t e = 0; e < c.size(); e += c.size() > 20000 ? 89 : 1) {
        const std::uint64_t i = e / n, j = e % n;
        double sum = 0, size = 0;
        for (std::uint64_t t = 0; t < k; ++t) {
            const double scale = exact    ? 1.0
                                 : blocks ? static_cast<double>(sa[i * steps + t / 128]) *
                                                static_cast<double>(sb[j / 128 * steps + t / 128])
                                          : 0.5 * static_cast<double>(sa[0]) * static_cast<double>(sb[0]);
            const double v = wide(a[i * k + t]) * wide(b[j * k + t]) * scale;
            sum += v, size += std::abs(v);
        }
        // The tensor cores cut fp8 sums off 14 bits or so behind the largest addend's leading bit, at every addition.
        const double rounding = sizeof(Out) == 2 ? 0x1p-8 : 0x1p-22;
        const double allowed = exact ? 0.0 : rounding * std::abs(sum) + 0x1p-11 * size + 1e-6;
        const double off = std::abs(wide(c[e]) - sum);
        if (!(off <= allowed)) ++wrong;
        worst = std::max(worst, off / (allowed + 1e-30));
    }
    ++checked;
    failures += wrong != 0 ? 1 : 0;
    if (wrong != 0)
        std::printf("FAIL %s %s %zux%zux%zu: %zu elements, the worst off by %.2f of what is allowed\n",
                    name_of<In, InB>(), blocks ? "with block scales" : "", std::size_t{m}, std::size_t{n},
                    std::size_t{k}, wrong, worst);
}

/// What a float64 sum is as `Out`. The sums of the ragged products fit 24 bits.
template <class Out>
double rounded(double v) {
    if constexpr (std::is_same_v<Out, px::bf16>) return wide(raw<px::bf16>(bits_of(static_cast<float>(v), nullptr)));
    return v;
}
/// Powers of two, so that a scaled sum is exact.
inline std::vector<float> exact_scales(std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = static_cast<float>(1u << between(0, 2)) * 0.5f;
    return v;
}
/// `n` elements, the first of them `offset` bytes behind an aligned address.
template <class T>
struct shifted {
    std::vector<T> host;
    px::device_buffer<T> device;
    std::uint64_t offset;
    shifted(const px::context& ctx, std::size_t n, std::uint64_t by)
        : host(bytes<T>(n + by)), device(px::check(px::device_buffer<T>::from(ctx, host))), offset(by) {}
    [[nodiscard]] px::device_ptr<const T> ptr() { return px::device_ptr<const T>(device.ptr().address + offset); }
    [[nodiscard]] double operator[](std::size_t i) const { return wide(host[offset + i]); }
};

/// A product of bytes that the fast path cannot take: sums are exact, and so must the result be. With block scales
/// there is no batch.
template <class In, class Out, class InB = In>
void check_ragged_bytes(const px::stream& s, const problem& p, std::uint64_t offset, bool blocks) {
    if (left_out()) return;
    constexpr kn::gemm_form any{.any_layout = true};
    const auto& ctx = s.ctx();
    shifted<In> a(ctx, p.a_size() * p.batch, offset);
    shifted<InB> b(ctx, p.b_size() * p.batch, offset / 2);
    const std::uint64_t steps = (p.k + 127) / 128, columns = (p.n + 127) / 128;
    const auto sa = exact_scales(blocks ? p.m * steps : 1), sb = exact_scales(blocks ? columns * steps : 1);
    const auto dsa = px::check(px::device_buffer<float>::from(ctx, sa)),
               dsb = px::check(px::device_buffer<float>::from(ctx, sb));
    std::vector<Out> c(p.m * p.n * p.batch);
    std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof(Out));
    auto dc = px::check(px::device_buffer<Out>::from(ctx, c));
    if (blocks && !takes_block_scales<In, InB, Out>) return void(++failures);
    const auto run = [&]() -> px::result<void> {
        if constexpr (takes_block_scales<In, InB, Out>)
            if (blocks)
                return kn::gemm_block_scaled(s,
                                             px::tensor_view(a.ptr(), p.m, p.k)
                                                 .with_strides(p.a_by_k ? p.a_line() : 1, p.a_by_k ? 1 : p.a_line()),
                                             px::tensor_view(dsa, p.m, steps),
                                             px::tensor_view(b.ptr(), p.n, p.k)
                                                 .with_strides(p.b_by_k ? p.b_line() : 1, p.b_by_k ? 1 : p.b_line()),
                                             px::tensor_view(dsb, columns, steps), px::tensor_view(dc, p.m, p.n));
        const auto view = [&](auto ptr, std::uint64_t rows, bool by_k, std::uint64_t line, std::uint64_t size) {
            return px::tensor_view(ptr, p.batch, rows, p.k)
                .with_strides(size, by_k ? line : std::uint64_t{1}, by_k ? std::uint64_t{1} : line);
        };
        kn::gemm_options<kn::detail::bias_of<In, Out>> o;
        if constexpr (!std::is_same_v<In, px::s8>) o.alpha = 0.5f, o.a_scale = dsa.ptr(), o.b_scale = dsb.ptr();
        return kn::gemm<any>(s, view(a.ptr(), p.m, p.a_by_k, p.a_line(), p.a_size()),
                             view(b.ptr(), p.n, p.b_by_k, p.b_line(), p.b_size()),
                             px::tensor_view(dc, p.batch, p.m, p.n), o);
    };
    const auto r = run();
    if (!r || !s.synchronize() || !dc.download(c)) {
        std::printf("FAIL ragged %s %zux%zux%zu: %s\n", name_of<In, InB>(), std::size_t{p.m}, std::size_t{p.n},
                    std::size_t{p.k}, r ? "the device failed" : std::string(r.error().message()).c_str());
        return void(++failures);
    }
    const double whole =
        std::is_same_v<In, px::s8> ? 1.0 : 0.5 * static_cast<double>(sa[0]) * static_cast<double>(sb[0]);
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < c.size(); e += c.size() > 20000 ? 89 : 1) {
        const std::uint64_t z = e / (p.m * p.n), i = e / p.n % p.m, j = e % p.n;
        double sum = 0;
        for (std::uint64_t t = 0; t < p.k; ++t) {
            const auto x = z * p.a_size() + (p.a_by_k ? i * p.a_line() + t : t * p.a_line() + i),
                       y = z * p.b_size() + (p.b_by_k ? j * p.b_line() + t : t * p.b_line() + j);
            const double scale = blocks ? static_cast<double>(sa[i * steps + t / 128]) *
                                              static_cast<double>(sb[j / 128 * steps + t / 128])
                                        : whole;
            sum += a[x] * b[y] * scale;
        }
        if (wide(c[e]) != rounded<Out>(sum)) ++wrong;
    }
    ++checked;
    failures += wrong != 0 ? 1 : 0;
    if (wrong != 0)
        std::printf(
            "FAIL ragged %s%s %zux%zux%zu batch %zu, lines + %zu, address + %zu, A by %s, B by %s: %zu elements\n",
            name_of<In, InB>(), blocks ? " with block scales" : "", std::size_t{p.m}, std::size_t{p.n},
            std::size_t{p.k}, std::size_t{p.batch}, std::size_t{p.pad}, std::size_t{offset}, p.a_by_k ? "K" : "M",
            p.b_by_k ? "K" : "N", wrong);
}

// ---- what other files have ------------------------------------------------------------------------------------------

// Configurations of the caller's: their kernels come from the headers. gemm_gpu_test_ping_pong.cpp:
template <std::size_t Index>
void run_ping_pong(const px::stream& s);
extern template void run_ping_pong<0>(const px::stream&);
extern template void run_ping_pong<1>(const px::stream&);
extern template void run_ping_pong<2>(const px::stream&);
extern template void run_ping_pong<3>(const px::stream&);
extern template void run_ping_pong<4>(const px::stream&);
// gemm_gpu_test_block_scaled.cpp:
template <std::size_t Index>
void run_block_scaled(const px::stream& s, kn::gemm_workspace& workspace);
extern template void run_block_scaled<0>(const px::stream&, kn::gemm_workspace&);
extern template void run_block_scaled<1>(const px::stream&, kn::gemm_workspace&);
extern template void run_block_scaled<2>(const px::stream&, kn::gemm_workspace&);
extern template void run_block_scaled<3>(const px::stream&, kn::gemm_workspace&);

}  // namespace gemm_test
