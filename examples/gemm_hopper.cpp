// SPDX-License-Identifier: Apache-2.0
// The Hopper GEMM on random input, checked against float64 and timed. The kernel: gemm_hopper_kernel.hpp.
#include "gemm_hopper_launch.hpp"
#include "gemm_options.hpp"

namespace {

namespace px = ptxdsl;
namespace gh = gemm_hopper;
using demo::gemm_size;
using px::bf16;
using px::f32;

// The default configuration as a constant of this program; the others are assembled at run time from the same source.
constexpr gh::config shown_config = gh::configs[0].c;
constexpr auto gemm_ptx =
    px::assemble<px::kernel<"gemm", gh::gemm<shown_config, bf16>, gh::attributes<shown_config>>>();

using request = demo::gemm_request;

/// Random A and B, a poisoned C.
template <class Out>
struct operands {
    std::vector<bf16> a, b;
    px::device_buffer<bf16> device_a, device_b;
    px::device_buffer<Out> device_c;

    operands(const px::context& ctx, gemm_size s, std::uint64_t seed)
        : a(demo::random_values<bf16>(s.m * s.k, seed)),
          b(demo::random_values<bf16>(s.n * s.k, seed + 1)),
          device_a(px::check(px::device_buffer<bf16>::from(ctx, a))),
          device_b(px::check(px::device_buffer<bf16>::from(ctx, b))),
          device_c(px::check(px::device_buffer<Out>::allocate(ctx, s.m * s.n))) {
        demo::poison(device_c);
    }
    template <gh::config C>
    [[nodiscard]] auto problem(const px::context& ctx, gemm_size s) {
        return px::check(gh::problem<C, Out>::make(ctx, px::device_ptr<const bf16>(device_a.ptr()),
                                                   px::device_ptr<const bf16>(device_b.ptr()), device_c.ptr(), s.m, s.n,
                                                   s.k));
    }
};

void report_wrong(gemm_size s, const demo::gemm_verdict& v) {
    demo::say("{} {} of {} checked values of {}x{}x{}; the first: row {}, column {} is {}, not {}", demo::bad("wrong:"),
              v.wrong, v.checked, s.m, s.n, s.k, v.row, v.column, v.found, v.wanted);
}

/// Runs one problem once and checks it.
template <gh::config C, class Out>
[[nodiscard]] demo::gemm_verdict run_once(const px::stream& s, gemm_size size, std::uint64_t seed) {
    operands<Out> o(s.ctx(), size, seed);
    px::check(o.template problem<C>(s.ctx(), size).launch(s));
    px::check(s.synchronize());
    std::vector<Out> c(size.m * size.n);
    px::check(o.device_c.download(c));
    const auto v = demo::gemm_reference(size, o.a, o.b).check(c, C.bm, C.bn);
    if (!v.ok()) report_wrong(size, v);
    return v;
}

template <gh::config C, class Out>
[[nodiscard]] bool check_and_time(const px::stream& s, const request& r) {
    const auto v = run_once<C, Out>(s, r.size, r.seed);
    if (!v.ok()) return false;
    operands<Out> o(s.ctx(), r.size, r.seed);
    const auto problem = o.template problem<C>(s.ctx(), r.size);
    const double us =
        demo::median_microseconds(s, static_cast<unsigned>(r.repeat), [&] { px::check(problem.launch(s)); });
    const double flop =
        2.0 * static_cast<double>(r.size.m) * static_cast<double>(r.size.n) * static_cast<double>(r.size.k);
    demo::say("{}: C = A B^T, bf16 -> {}, {}x{}x{}, configuration {}", s.ctx().device().name, r.out, r.size.m, r.size.n,
              r.size.k, r.config);
    demo::say("{}: {} values against float64, largest error {:.3g} ({:.2f} of the tolerance)", demo::good("right"),
              v.checked, v.worst, v.worst_allowed);
    demo::say("{}", demo::bold(fmt::format("{:.1f} us, {:.1f} TFLOP/s (median of {} launches)", us, 1e-6 * flop / us,
                                           r.repeat)));
    return true;
}

/// Small, ragged and skinny problems; every configuration.
[[nodiscard]] std::vector<gemm_size> test_sizes(std::uint64_t seed) {
    std::vector<gemm_size> all{{1, 1, 8},      {1, 8, 8},       {7, 13, 64},        {64, 64, 64},   {128, 256, 64},
                               {129, 257, 72}, {256, 256, 256}, {1000, 1000, 1000}, {8, 8192, 512}, {4096, 8, 4096}};
    demo::generator g(seed);
    const auto any = [&](std::uint64_t most) { return 1 + g.below(g.below(4) == 0 ? most : most / 8); };
    while (all.size() < 100) all.push_back({any(2048), any(2048), 8 * any(256)});
    all.push_back({3000, 5000, 2000});
    all.push_back({8192, 1024, 4096});
    return all;
}

template <gh::config C, class Out>
[[nodiscard]] std::size_t failures(const px::stream& s, std::uint64_t seed, demo::gemm_verdict& all) {
    std::size_t failed = 0;
    for (const gemm_size size : test_sizes(seed)) {
        const auto v = run_once<C, Out>(s, size, ++seed);
        failed += v.ok() ? 0 : 1;
        all.join(v);
    }
    return failed;
}

[[nodiscard]] bool self_test(const px::stream& s, std::uint64_t seed) {
    std::size_t failed = 0;
    for (const auto& named : gh::configs)
        gh::with_config(named.name, [&]<gh::config C> {
            demo::gemm_verdict all;
            const std::size_t wrong = failures<C, bf16>(s, seed, all) + failures<C, f32>(s, seed, all);
            demo::say("{}: {} problems against float64: {}, worst error {:.2f} of the tolerance", named.name,
                      2 * test_sizes(seed).size(),
                      wrong == 0 ? demo::good("all right") : demo::bad(fmt::format("{} wrong", wrong)),
                      all.worst_allowed);
            failed += wrong;
        });
    return failed == 0;
}

template <gh::config C, class Out>
void add_kernels(demo::ptxas_check& check, std::string_view config) {
    const auto add = [&](std::string_view store, const auto& body) {
        const auto program = px::assemble_at_run_time("gemm", body, gh::attributes<C>);
        const std::string name = fmt::format("gemm {} {} {}", config, demo::type_name<Out>, store);
        if (program.ok())
            check.add(name, program.text(), program.target());
        else
            check.add(fmt::format("{}: {}", name, program.error()), "", program.target());
    };
    add("stored by TMA", &gh::gemm<C, Out>);
    add("any width", &gh::gemm_any_n<C, Out>);
}

int assemble_all() {
    return demo::check_with_ptxas([](demo::ptxas_check& check) {
        for (const auto& named : gh::configs)
            gh::with_config(named.name, [&]<gh::config C> {
                add_kernels<C, bf16>(check, named.name), add_kernels<C, f32>(check, named.name);
            });
    });
}

int run(const request& r) {
    const auto device = demo::open_device();
    if (!device)
        return r.self_test ? demo::skip_self_test(device.error())
                           : demo::show_without_gpu(device.error(), gemm_ptx, "wgmma.mma_async", 12, 16);
    const auto s = px::check(px::stream::create(*device));
    if (r.self_test) return self_test(s, r.seed) ? demo::right : demo::wrong;
    bool ok = false;
    gh::with_config(r.config, [&]<gh::config C> {
        ok = r.out == "f32" ? check_and_time<C, f32>(s, r) : check_and_time<C, bf16>(s, r);
    });
    return ok ? demo::right : demo::wrong;
}

[[nodiscard]] bool known_config(std::string_view name) {
    return std::any_of(std::begin(gh::configs), std::end(gh::configs), [&](const auto& c) { return c.name == name; });
}

}  // namespace

int main(int argc, char** argv) {
    request r{.config = std::string(gh::configs[0].name)};
    const auto options =
        demo::gemm_options(r, {.n = "rows of B, columns of C (default 4096)",
                               .config = "one of " + gh::config_names() + " (default the first)",
                               .self_test = "over 100 shapes with every configuration instead of one"});
    if (const auto status = demo::read_command_line(
            argc, argv, "C = A B^T on Hopper's tensor cores: bf16 in, f32 sums, bf16 or f32 out", options))
        return *status;
    if (r.out != "bf16" && r.out != "f32") return demo::refuse(fmt::format("--out takes bf16 or f32, not '{}'", r.out));
    if (r.size.k % 8 != 0)
        return demo::refuse(
            fmt::format("--k takes a multiple of 8, not {}: rows of A and B are multiples of 16 bytes", r.size.k));
    if (!known_config(r.config))
        return demo::refuse(fmt::format("there is no configuration '{}'; there are {}", r.config, gh::config_names()));
    if (r.ptxas) return assemble_all();
    return demo::guarded([&] { return run(r); });
}
