// SPDX-License-Identifier: Apache-2.0
// fp8 products (bf16 results): e4m3 with one scale an operand and with block scales, and e4m3 by e5m2, against cuBLASLt
// with one scale an operand, with and without its fast accumulation. A wrong kernel gets no time.
#include "fp8_tiles.hpp"
#include "gemm_sizes.hpp"

#include <ptxdsl/kernels/gemm.hpp>

#include <array>
#include <memory>
#include <type_traits>

namespace {

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using bench::contender;

using size = demo::gemm_size;
struct request : bench::run_options {
    std::string shapes = "8192,4096,4096x11008x4096,8192x28672x8192";
    std::string config;
};

/// Names of `block_scaled_configs`, by the columns of a tile.
constexpr std::array<std::string_view, std::size(kn::block_scaled_configs)> tile_names = {
    "blocks_128", "blocks_192", "blocks_256", "blocks_256_even"};

[[nodiscard]] double wide(px::e4m3 v) {
    const int e = v.bits >> 3 & 15, m = v.bits & 7;
    const double magnitude = e == 0 ? std::ldexp(m, -9) : std::ldexp(m + 8, e - 10);
    return (v.bits & 0x80) != 0 ? -magnitude : magnitude;
}
[[nodiscard]] double wide(px::e5m2 v) {
    const int e = v.bits >> 2 & 31, m = v.bits & 3;
    const double magnitude = e == 0 ? std::ldexp(m, -16) : std::ldexp(m + 4, e - 17);
    return (v.bits & 0x80) != 0 ? -magnitude : magnitude;
}
/// Magnitudes of 1/64 to 2.
template <class T>
[[nodiscard]] std::vector<T> random_bytes(std::size_t n, std::uint64_t seed) {
    constexpr unsigned least = std::is_same_v<T, px::e4m3> ? 0x08 : 0x24;
    std::vector<T> v(n);
    constexpr std::size_t piece = 1 << 16;
    demo::in_parallel((n + piece - 1) / piece, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            demo::generator g(seed + 7919 * p);
            for (std::size_t i = p * piece; i < std::min(n, (p + 1) * piece); ++i)
                v[i].bits = static_cast<std::uint8_t>((g.next() & 0x80) | (least + g.below(0x41 - least)));
        }
    });
    return v;
}
[[nodiscard]] std::vector<float> random_scales(std::size_t n, std::uint64_t seed) {
    auto v = demo::random_values<float>(n, seed);
    for (float& x : v) x = 0.75f + 0.25f * x;
    return v;
}

/// A scale an operand, block scales, or the first with B of e5m2.
enum class product { tensor, blocks, mixed };

struct setup {
    size s;
    std::uint64_t steps, columns;
    std::vector<px::e4m3> a, b;
    std::vector<px::e5m2> wide_b;
    std::vector<float> sa, sb;
    px::device_buffer<px::e4m3> device_a, device_b;
    px::device_buffer<px::e5m2> device_wide_b;
    px::device_buffer<float> device_sa, device_sb;
    px::device_buffer<px::bf16> c;

    setup(const px::context& ctx, size e, std::uint64_t seed)
        : s(e),
          steps((e.k + 127) / 128),
          columns((e.n + 127) / 128),
          a(random_bytes<px::e4m3>(e.m * e.k, seed)),
          b(random_bytes<px::e4m3>(e.n * e.k, seed + 1)),
          wide_b(random_bytes<px::e5m2>(e.n * e.k, seed + 4)),
          sa(random_scales(e.m * steps, seed + 2)),
          sb(random_scales(columns * steps, seed + 3)),
          device_a(px::check(px::device_buffer<px::e4m3>::from(ctx, a))),
          device_b(px::check(px::device_buffer<px::e4m3>::from(ctx, b))),
          device_wide_b(px::check(px::device_buffer<px::e5m2>::from(ctx, wide_b))),
          device_sa(px::check(px::device_buffer<float>::from(ctx, sa))),
          device_sb(px::check(px::device_buffer<float>::from(ctx, sb))),
          c(px::check(px::device_buffer<px::bf16>::allocate(ctx, e.m * e.n))) {}

    /// Largest error of 2000 elements, in units of the allowed one.
    [[nodiscard]] double error(product kind) const {
        std::vector<px::bf16> host(s.m * s.n);
        px::check(c.download(host));
        demo::generator g(99);
        double worst = 0;
        for (int t = 0; t < 2000; ++t) {
            const std::uint64_t i = g.below(s.m), j = g.below(s.n);
            double sum = 0, magnitude = 0;
            for (std::uint64_t k = 0; k < s.k; ++k) {
                const double scale = kind == product::blocks ? static_cast<double>(sa[i * steps + k / 128]) *
                                                                   static_cast<double>(sb[j / 128 * steps + k / 128])
                                                             : static_cast<double>(sa[0]) * static_cast<double>(sb[0]);
                const double y = kind == product::mixed ? wide(wide_b[j * s.k + k]) : wide(b[j * s.k + k]);
                const double v = wide(a[i * s.k + k]) * y * scale;
                sum += v, magnitude += std::abs(v);
            }
            const double found = static_cast<double>(demo::to_float(host[i * s.n + j]));
            // The tensor cores cut at each of K / 32 additions; e5m2's products differ more in size.
            const double cut = 0x1p-11 * std::max(1.0, static_cast<double>(s.k) / 4096) * magnitude;
            const double e = std::abs(found - sum) / (0x1p-8 * std::abs(sum) + cut);
            worst = std::isnan(e) ? 1e30 : std::max(worst, e);
        }
        return worst;
    }
};

/// The configurations of block scales one by one.
template <class Add>
void add_tiles(const request& r, const px::stream& s, const bench::fp8_operands& o, kn::gemm_workspace* workspace,
               const Add& add) {
    const auto wanted = bench::split(r.config);
    for (std::size_t i = 0; i < tile_names.size(); ++i)
        if (r.config == "all" || std::find(wanted.begin(), wanted.end(), tile_names[i]) != wanted.end())
            add(tile_names[i], product::blocks,
                [&s, o, workspace, i](px::stream_ref) { return bench::launch_tile(i, s, o, workspace); });
}

void measure(const px::context& ctx, const std::shared_ptr<const bench::cublaslt>& lt, size e, const request& r,
             bench::mode mode, bench::results& table) {
    bench::runner run(ctx, r.settings_for(mode));
    const px::stream& s = run.stream();
    setup p(ctx, e, r.seed);
    const auto workspace = std::make_shared<kn::gemm_workspace>(px::check(kn::gemm_workspace::create(ctx)));
    const px::tensor_view a(px::device_ptr<const px::e4m3>(p.device_a.ptr()), e.m, e.k);
    const px::tensor_view b(px::device_ptr<const px::e4m3>(p.device_b.ptr()), e.n, e.k);
    const px::tensor_view wide_b(px::device_ptr<const px::e5m2>(p.device_wide_b.ptr()), e.n, e.k);
    const px::tensor_view sa(px::device_ptr<const float>(p.device_sa.ptr()), e.m, p.steps);
    const px::tensor_view sb(px::device_ptr<const float>(p.device_sb.ptr()), p.columns, p.steps);
    const px::tensor_view c(p.c, e.m, e.n);
    std::vector<contender> all;
    const auto add = [&](std::string_view name, product kind, auto&& launch) {
        demo::poison(p.c);
        px::check(launch(s));
        px::check(s.synchronize());
        const double error = r.no_check ? 0 : p.error(kind);
        if (error > 1)
            return demo::say("{} {}: {}, {:.3g} of the allowed error; not timed", name, bench::text_of(e),
                             demo::bad("wrong"), error);
        all.push_back({std::string(name), launch});
    };
    add("a scale an operand", product::tensor, [&](px::stream_ref) {
        return kn::gemm(s, a, b, c, {.a_scale = sa.data(), .b_scale = sb.data(), .workspace = workspace.get()});
    });
    add("block scales", product::blocks,
        [&](px::stream_ref) { return kn::gemm_block_scaled(s, a, sa, b, sb, c, {.workspace = workspace.get()}); });
    add_tiles(r, s, {a, b, sa, sb, c}, workspace.get(), add);
    add("e4m3 x e5m2", product::mixed, [&](px::stream_ref) {
        return kn::gemm(s, a, wide_b, c, {.a_scale = sa.data(), .b_scale = sb.data(), .workspace = workspace.get()});
    });
    const std::size_t own = all.size();
    const auto named = [&](std::string_view name) {
        std::size_t i = 0;
        while (i < own && all[i].name != name) ++i;
        return i;
    };
    const std::size_t tensor = named("a scale an operand"), blocks = named("block scales"), wide = named("e4m3 x e5m2");
    if (tensor == own || blocks == own) return;
    std::vector<std::size_t> peers, mixed_peers;
    using lt_kind = bench::lt_operands;
    for (const auto kind : {lt_kind::e4m3, lt_kind::e4m3_fast, lt_kind::e4m3_e5m2, lt_kind::e4m3_e5m2_fast}) {
        if (lt == nullptr) break;
        const bool mixed = kind == lt_kind::e4m3_e5m2 || kind == lt_kind::e4m3_e5m2_fast;
        auto made = bench::cublaslt_gemm::make(ctx, lt,
                                               {a.data().address, mixed ? wide_b.data().address : b.data().address,
                                                c.data().address, e.m, e.n, e.k, sa.data().address, sb.data().address},
                                               kind);
        const bool fast = kind == lt_kind::e4m3_fast || kind == lt_kind::e4m3_e5m2_fast;
        const std::string name =
            fmt::format("cuBLASLt{}{}", mixed ? ", e4m3 x e5m2" : "", fast ? ", fast accumulation" : "");
        if (!made) {
            demo::say("{}: {}", name, made.error().message());
            continue;
        }
        const auto g = std::make_shared<bench::cublaslt_gemm>(std::move(*made));
        (mixed ? mixed_peers : peers).push_back(all.size());
        all.push_back({name, [g](px::stream_ref on) { return g->launch(on, 0); }});
    }
    const auto t = run.run(all);
    const double tflop = bench::tflop_of(e);
    const auto row = [&](const char* work, std::size_t ours, std::size_t peer, double target) {
        table.add({work, bench::text_of(e), tflop / t.microseconds(ours), tflop / t.microseconds(peer), all[peer].name,
                   t.ratio(ours, peer), target, "TFLOP/s", std::string(bench::name(mode))});
    };
    for (const std::size_t peer : peers)
        row("gemm e4m3", tensor, peer, e.m == 8192 && e.n == 8192 && e.k == 8192 ? 1.0 : 0);
    row("gemm e4m3, block scales", blocks, tensor, 0.92);
    for (std::size_t i = blocks + 1; i < wide; ++i)
        row(fmt::format("gemm e4m3, {}", all[i].name).c_str(), i, tensor, 0.92);
    if (wide == own) return;
    for (const std::size_t peer : mixed_peers) row("gemm e4m3 x e5m2", wide, peer, 0);
    row("gemm e4m3 x e5m2", wide, tensor, 0);
}

[[nodiscard]] std::string config_names() {
    std::string all;
    for (const auto n : tile_names) all += (all.empty() ? "" : ", ") + std::string(n);
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const auto options = r.behind({
        {.name = "--shapes",
         .value = "LIST",
         .help = "cubes (8192) or m x n x k, k a multiple of 16",
         .text = &r.shapes},
        {.name = "--config",
         .value = "LIST",
         .help = "block scales also with all or some of the library's configurations: " + config_names(),
         .text = &r.config},
    });
    std::vector<size> sizes;
    const auto usage = [&]() -> std::string {
        for (const std::string& word : bench::split(r.shapes)) {
            const auto s = bench::parse_gemm_size(word, 16);
            if (!s) return "--shapes takes sizes like 8192 or 4096x11008x4096, k a multiple of 16";
            sizes.push_back(*s);
        }
        return r.modes().empty() ? "--mode takes sustained, burst or both" : "";
    };
    return bench::program(argc, argv, "fp8 products against cuBLASLt, interleaved in one process", options, usage, [&] {
        return bench::with_device(r.out, argc, argv, [&](const px::context& ctx, bench::results& table) {
            const auto lt = bench::load_cublaslt();
            for (const size e : sizes)
                for (const auto mode : r.modes()) measure(ctx, lt, e, r, mode, table);
        });
    });
}
