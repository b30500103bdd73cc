// SPDX-License-Identifier: Apache-2.0
// Operands of many products in turn without the host: pools of random values made on the device, sums in float64 there
// for a sample of a result, and a comparison of two whole results.
#pragma once

#include "gemm_sizes.hpp"

#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

namespace pool_detail {

using builder = px::builder<px::sm_90a>;

/// Words [0, n): two random bf16 in [-1, 1), of element numbers 2 i and 2 i + 1 behind `seed`.
constexpr void fill(builder& k, px::global_ptr<px::u32> out, px::reg<px::u32> n, px::reg<px::u32> seed) {
    const auto threads = k.mul_lo(k.mov(px::ntid.x), k.mov(px::nctaid.x));
    const auto start = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    const auto value = [&](const px::reg<px::u32>& element) {
        const auto state = k.add(k.mul_lo(k.add(element, seed), 747796405u), 2891336453u);
        const auto mixed = k.mul_lo(k.xor_(k.shr(state, k.add(k.shr(state, 28u), 4u)), state), 277803737u);
        const auto bits = k.xor_(k.shr(mixed, 22u), mixed);
        return k.mul<px::rn>(k.cvt<px::f32, px::rn>(bits.as<px::s32>()), 0x1p-31f);
    };
    k.for_(start, n, threads, [&](px::reg<px::u32> i) {
        const auto low = value(k.shl(i, 1u)), high = value(k.add(k.shl(i, 1u), 1u));
        k.st(out + i, k.cvt<px::bf16x2, px::rn>(px::hi(high), px::lo(low)).as<px::u32>());
    });
}
/// Counts the elements of `found` that differ from `wanted` by more than `relative` of it and `absolute`, NaN among
/// them.
constexpr void compare(builder& k, px::global_ptr<const px::bf16x2> found, px::global_ptr<const px::bf16x2> wanted,
                       px::reg<px::u32> n, px::reg<px::f32> relative, px::reg<px::f32> absolute,
                       px::global_ptr<px::u32> wrong) {
    const auto threads = k.mul_lo(k.mov(px::ntid.x), k.mov(px::nctaid.x));
    const auto start = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    auto count = k.mov<px::u32>(0).named("count");
    k.for_(start, n, threads, [&](px::reg<px::u32> i) {
        const auto f = k.mov_unpack(k.ld(found + i)), w = k.mov_unpack(k.ld(wanted + i));
        for (px::u32 j = 0; j < 2; ++j) {
            const auto x = k.cvt<px::f32>(f[j]), y = k.cvt<px::f32>(w[j]);
            const auto off = k.abs(k.sub<px::rn>(x, y));
            count = k.add(count, k.selp(k.mov<px::u32>(0), 1u, off <= k.fma<px::rn>(k.abs(y), relative, absolute)));
        }
    });
    k.if_(count != 0u, [&] { k.red_add(wrong, count); });
}

/// Block i adds row rows[i] of A times row columns[i] of B, of `depth` elements, to sums[i] in float64.
constexpr void exact(builder& k, px::global_ptr<const px::bf16> a, px::global_ptr<const px::bf16> b,
                     px::reg<px::u32> depth, px::global_ptr<const px::u32> rows, px::global_ptr<const px::u32> columns,
                     px::global_ptr<px::f64> sums) {
    const auto element = k.mov(px::ctaid.x);
    const auto x = a + k.mul_wide(k.ld(rows + element), depth), y = b + k.mul_wide(k.ld(columns + element), depth);
    auto sum = k.mov<px::f64>(0.0).named("sum");
    k.for_(k.mov(px::tid.x), depth, 256u, [&](px::reg<px::u32> i) {
        const auto p = k.cvt<px::f64>(k.cvt<px::f32>(k.ld(x + i))), q = k.cvt<px::f64>(k.cvt<px::f32>(k.ld(y + i)));
        sum = k.fma<px::rn>(p, q, sum);
    });
    k.red_add(sums + element, sum);
}

inline constexpr px::attributes attributes{.reqntid = {256}};
inline constexpr auto fill_ptx = px::assemble<px::kernel<"fill", fill, attributes>>();
inline constexpr auto exact_ptx = px::assemble<px::kernel<"exact", exact, attributes>>();
inline constexpr auto compare_ptx = px::assemble<px::kernel<"compare", compare, attributes>>();

}  // namespace pool_detail

/// Memory for any product of a list.
class gemm_pool {
public:
    /// With `rotate`, successive launches take their weights from different places, so many that all of them together
    /// are four times the L2: what a launch finds there are activations, as in a model whose layers follow one another.
    gemm_pool(const px::context& ctx, const px::stream& s, const std::vector<gemm_size>& sizes, std::uint32_t seed)
        : seed_(seed), l2_(ctx.device().l2_bytes) {
        std::uint64_t a = 0, b = 0, c = 0;
        for (const gemm_size& size : sizes) {
            a = std::max(a, size.m * size.k), c = std::max(c, size.m * size.n);
            b = std::max(b, size.n * size.k * copies(size, true));
        }
        a_.emplace(px::check(px::device_buffer<px::bf16>::allocate(ctx, even(a))));
        b_.emplace(px::check(px::device_buffer<px::bf16>::allocate(ctx, even(b))));
        c_.emplace(px::check(px::device_buffer<px::bf16>::allocate(ctx, even(c))));
        reference_.emplace(px::check(px::device_buffer<px::bf16>::allocate(ctx, even(c))));
        wrong_.emplace(px::check(px::device_buffer<px::u32>::allocate(ctx, 1)));
        fill(s, *a_, 0), fill(s, *b_, first_of_b);
        px::check(s.synchronize());
    }

    /// How many places of the weights are taken in turn.
    [[nodiscard]] std::uint64_t copies(gemm_size s, bool rotate) const {
        return rotate ? std::max<std::uint64_t>(1, (4 * l2_ + 2 * s.n * s.k - 1) / (2 * s.n * s.k)) : 1;
    }
    /// The same, but no more than a graph of a few launches goes through.
    [[nodiscard]] std::uint64_t places(gemm_size s, bool rotate) const {
        return std::min<std::uint64_t>(copies(s, rotate), 16);
    }
    [[nodiscard]] px::device_ptr<const px::bf16> a() { return px::device_ptr<const px::bf16>(a_->ptr().address); }
    /// The weights of the `i`-th launch.
    [[nodiscard]] px::device_ptr<const px::bf16> b(gemm_size s, std::uint64_t i, bool rotate) {
        return px::device_ptr<const px::bf16>(b_->ptr().address + i % copies(s, rotate) * s.n * s.k * 2);
    }
    [[nodiscard]] px::device_ptr<px::bf16> c() { return c_->ptr(); }

    /// NaN all over the result.
    void poison(const px::stream& s) { px::check(c_->fill_bytes_async(s, 0xff)); }
    /// What is in C now is right: later results are compared with it.
    void keep(const px::stream& s) { px::check(reference_->copy_from_async(s, *c_)); }
    /// Elements of the `size` product in C that are not those kept, by more than the rounding of both.
    [[nodiscard]] std::uint32_t wrong(const px::stream& s, gemm_size size) {
        px::check(wrong_->fill_bytes_async(s, 0));
        const auto found = px::device_ptr<const px::bf16x2>(c_->ptr().address),
                   wanted = px::device_ptr<const px::bf16x2>(reference_->ptr().address);
        const auto absolute = static_cast<float>(0x1p-18 * static_cast<double>(size.k) / 4 + 1e-6);
        px::check(px::launch(s, pool_detail::compare_ptx, px::grid{1056}, found, wanted,
                             static_cast<px::u32>(size.m * size.n / 2), 0x1.02p-7f, absolute, *wrong_));
        px::check(s.synchronize());
        std::vector<px::u32> host(1);
        px::check(wrong_->download(host));
        return host[0];
    }
    /// Elements of the result in C that are not the float64 product, of 256 at random.
    [[nodiscard]] std::uint32_t inexact(const px::stream& s, gemm_size size) {
        const auto& ctx = s.ctx();
        demo::generator g(size.m * 31 + size.n * 17 + size.k);
        std::vector<px::u32> rows(256), columns(256);
        for (px::u32& r : rows) r = static_cast<px::u32>(g.below(size.m));
        for (px::u32& c : columns) c = static_cast<px::u32>(g.below(size.n));
        rows[0] = columns[0] = 0, rows[1] = static_cast<px::u32>(size.m - 1),
        columns[1] = static_cast<px::u32>(size.n - 1);
        const auto device_rows = px::check(px::device_buffer<px::u32>::from(ctx, rows)),
                   device_columns = px::check(px::device_buffer<px::u32>::from(ctx, columns));
        auto sums = px::check(px::device_buffer<px::f64>::allocate(ctx, rows.size()));
        px::check(sums.fill_bytes(0));
        px::check(px::launch(s, pool_detail::exact_ptx, px::grid{256}, a(), b(size, 0, false),
                             static_cast<px::u32>(size.k), device_rows, device_columns, sums));
        px::check(s.synchronize());
        std::vector<px::f64> wanted(rows.size());
        px::check(sums.download(wanted));
        std::uint32_t wrong = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double found = element(ctx, rows[i] * size.n + columns[i]);
            if (!(std::abs(found - wanted[i]) <= demo::gemm_tolerance<px::bf16>(wanted[i], size.k))) ++wrong;
        }
        return wrong;
    }

private:
    static constexpr std::uint32_t first_of_b = 0x9e3779b9u;
    static std::uint64_t even(std::uint64_t n) { return (n + 1) / 2 * 2; }
    void fill(const px::stream& s, px::device_buffer<px::bf16>& to, std::uint32_t first) {
        px::check(px::launch(s, pool_detail::fill_ptx, px::grid{2112}, px::device_ptr<px::u32>(to.ptr().address),
                             static_cast<px::u32>(to.size() / 2), seed_ + first));
    }
    /// One element of C.
    [[nodiscard]] double element(const px::context& ctx, std::uint64_t i) {
        px::bf16 value{};
        const px::runtime_detail::current_context current(*ctx.state());
        const auto& t = ctx.driver();
        if (t.memcpy_dtoh_async(&value, c_->ptr().address + 2 * i, 2, nullptr) != px::cu::status::success ||
            t.stream_synchronize(nullptr) != px::cu::status::success)
            return std::nan("");
        return demo::to_float(value);
    }

    std::uint32_t seed_;
    std::uint64_t l2_;
    std::optional<px::device_buffer<px::bf16>> a_, b_, c_, reference_;
    std::optional<px::device_buffer<px::u32>> wrong_;
};

}  // namespace bench
