// SPDX-License-Identifier: Apache-2.0
// The Blackwell GEMM on random input, checked against float64 and timed. The kernel: gemm_blackwell_kernel.hpp.
// Verified and assembled; it has not run, for want of a Blackwell GPU. On other GPUs the program shows the kernel
// instead.
#include "blackwell_device.hpp"
#include "gemm_blackwell_launch.hpp"
#include "gemm_options.hpp"

namespace {

namespace px = ptxdsl;
namespace gb = gemm_blackwell;
using demo::gemm_size;
using px::bf16;
using px::f32;

// Both kinds of groups as constants of this program: the verifier has read them when it compiles.
constexpr gb::config one = gb::configs[0].c, two = gb::configs[1].c;
constexpr auto gemm_ptx = px::assemble<px::kernel<"gemm", gb::gemm<one, bf16>, gb::attributes<one>>>();
constexpr auto pair_ptx = px::assemble<px::kernel<"gemm_pair", gb::gemm<two, f32>, gb::attributes<two>>>();
static_assert(pair_ptx.text().find("tcgen05.mma.cta_group::2.kind::f16") != px::string_view::npos);

using request = demo::gemm_request;

/// Runs one problem, checks it, and times it when `repeat` is not 0.
template <gb::config C, class Out>
[[nodiscard]] bool check_once(const px::stream& s, gemm_size size, std::uint64_t seed, unsigned repeat) {
    const px::context& ctx = s.ctx();
    const auto a = demo::random_values<bf16>(size.m * size.k, seed),
               b = demo::random_values<bf16>(size.n * size.k, seed + 1);
    const auto device_a = px::check(px::device_buffer<bf16>::from(ctx, a)),
               device_b = px::check(px::device_buffer<bf16>::from(ctx, b));
    auto device_c = px::check(px::device_buffer<Out>::allocate(ctx, size.m * size.n));
    demo::poison(device_c);
    const auto problem = px::check(gb::problem<C, Out>::make(ctx, px::device_ptr<const bf16>(device_a.ptr()),
                                                             px::device_ptr<const bf16>(device_b.ptr()), device_c.ptr(),
                                                             size.m, size.n, size.k));
    px::check(problem.launch(s));
    px::check(s.synchronize());
    std::vector<Out> c(size.m * size.n);
    px::check(device_c.download(c));
    const auto v = demo::gemm_reference(size, a, b).check(c, gb::rows * C.pair, C.bn);
    if (!v.ok()) {
        demo::say("{} {} of {} checked values of {}x{}x{}; the first: row {}, column {} is {}, not {}",
                  demo::bad("wrong:"), v.wrong, v.checked, size.m, size.n, size.k, v.row, v.column, v.found, v.wanted);
        return false;
    }
    if (repeat == 0) return true;
    const double us = demo::median_microseconds(s, repeat, [&] { px::check(problem.launch(s)); });
    const double flop = 2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
    demo::say("{}: {} values of {}x{}x{} against float64", demo::good("right"), v.checked, size.m, size.n, size.k);
    demo::say("{}", demo::bold(fmt::format("{:.1f} us, {:.1f} TFLOP/s (median of {} launches)", us, 1e-6 * flop / us,
                                           repeat)));
    return true;
}

[[nodiscard]] std::vector<gemm_size> test_sizes(std::uint64_t seed) {
    std::vector<gemm_size> all{{1, 8, 8},          {7, 16, 64},    {128, 256, 64}, {129, 264, 72},
                               {1000, 1000, 1000}, {8, 8192, 512}, {4096, 8, 4096}};
    demo::generator g(seed);
    while (all.size() < 60) all.push_back({1 + g.below(2048), 8 * (1 + g.below(256)), 8 * (1 + g.below(256))});
    return all;
}

[[nodiscard]] bool self_test(const px::stream& s, std::uint64_t seed) {
    std::size_t failed = 0;
    for (const auto& named : gb::configs)
        gb::with_config(named.name, [&]<gb::config C> {
            for (const gemm_size size : test_sizes(seed)) {
                seed += 2;
                failed += check_once<C, bf16>(s, size, seed, 0) ? 0 : 1;
                failed += check_once<C, f32>(s, size, seed, 0) ? 0 : 1;
            }
        });
    demo::say("{}", failed == 0 ? demo::good("all right") : demo::bad(fmt::format("{} problems wrong", failed)));
    return failed == 0;
}

template <gb::config C, class Out>
void add_kernel(demo::ptxas_check& check, std::string_view config) {
    const auto program = px::assemble_at_run_time("gemm", &gb::gemm<C, Out>, gb::attributes<C>);
    const std::string name = fmt::format("gemm {} {}", config, demo::type_name<Out>);
    if (program.ok())
        check.add(name, program.text(), program.target());
    else
        check.add(fmt::format("{}: {}", name, std::string_view(program.error())), "", program.target());
}

int assemble_all() {
    return demo::check_with_ptxas([](demo::ptxas_check& check) {
        check.add("gemm, a constant", gemm_ptx.text(), gemm_ptx.target());
        check.add("gemm of a pair, a constant", pair_ptx.text(), pair_ptx.target());
        for (const auto& named : gb::configs)
            gb::with_config(named.name, [&]<gb::config C> {
                add_kernel<C, bf16>(check, named.name), add_kernel<C, f32>(check, named.name);
            });
    });
}

int run(const request& r) {
    const auto device = demo::open_blackwell();
    if (!device)
        return r.self_test ? demo::skip_self_test(device.error())
                           : demo::show_without_gpu(device.error(), gemm_ptx, "tcgen05.mma", 12, 16);
    const auto s = px::check(px::stream::create(*device));
    if (r.self_test) return self_test(s, r.seed) ? demo::right : demo::wrong;
    bool ok = false;
    gb::with_config(r.config, [&]<gb::config C> {
        ok = r.out == "f32" ? check_once<C, f32>(s, r.size, r.seed, static_cast<unsigned>(r.repeat))
                            : check_once<C, bf16>(s, r.size, r.seed, static_cast<unsigned>(r.repeat));
    });
    return ok ? demo::right : demo::wrong;
}

}  // namespace

int main(int argc, char** argv) {
    request r{.config = std::string(gb::configs[0].name)};
    const auto options = demo::gemm_options(r, {.n = "rows of B, columns of C, a multiple of 8 (default 4096)",
                                                .config = "1cta-128x256-s4 (default) or 2cta-256x256-s6",
                                                .self_test = "60 shapes with every configuration instead of one",
                                                .least_n = 8});
    if (const auto status = demo::read_command_line(
            argc, argv, "C = A B^T on Blackwell's tensor cores: bf16 in, f32 sums, bf16 or f32 out", options))
        return *status;
    if (r.out != "bf16" && r.out != "f32") return demo::refuse(fmt::format("--out takes bf16 or f32, not '{}'", r.out));
    if (r.size.k % 8 != 0 || r.size.n % 8 != 0)
        return demo::refuse("--k and --n take multiples of 8: rows of A, B and C are multiples of 16 bytes");
    if (std::none_of(std::begin(gb::configs), std::end(gb::configs), [&](const auto& c) { return c.name == r.config; }))
        return demo::refuse(fmt::format("there is no configuration '{}'", r.config));
    if (r.ptxas) return assemble_all();
    return demo::guarded([&] { return run(r); });
}
