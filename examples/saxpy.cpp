// SPDX-License-Identifier: Apache-2.0
// y = a * x + y, the smallest complete program: a kernel, its text as a constant, a typed launch, a check.
#include "../tools/util/demo.hpp"

namespace px = ptxdsl;
using px::f32;
using px::u32;

constexpr void saxpy(px::builder<px::sm_90a>& k, px::global_ptr<const f32> x, px::global_ptr<f32> y, px::reg<f32> a,
                     px::reg<u32> n) {
    const auto block = k.mov(px::ctaid.x);
    const auto threads = k.mov(px::ntid.x);
    const auto i = k.mad_lo(block, threads, k.mov(px::tid.x)).named("i");
    k.if_(i < n, [&] {
        const auto py = y + i;
        const auto v = k.fma<px::rn>(a, k.ld(x + i), k.ld(py));
        k.st(py, v);
    });
}

constexpr u32 block = 256;
constexpr auto saxpy_ptx = px::assemble<px::kernel<"saxpy", saxpy, px::attributes{.reqntid = {block}}>>();
static_assert(saxpy_ptx.text().find("fma.rn.f32") != std::string_view::npos);

/// Runs saxpy on `n` random elements; true when every element is a * x + y rounded once, as fma does.
bool run(const px::stream& s, u32 n, float a, std::uint64_t seed) {
    const auto x = demo::random_values<f32>(n, seed);
    const auto y = demo::random_values<f32>(n, seed + 1);
    const auto dx = px::check(px::device_buffer<f32>::from(s.ctx(), x));
    auto dy = px::check(px::device_buffer<f32>::from(s.ctx(), y));
    px::check(px::launch(s, saxpy_ptx, px::grid{(n + block - 1) / block}, dx, dy, a, n));
    px::check(s.synchronize());
    std::vector<f32> out(n);
    px::check(dy.download(out));
    std::size_t different = 0;
    for (u32 i = 0; i < n; ++i) different += out[i] != std::fma(a, x[i], y[i]);
    if (different != 0) demo::say("{} {} of {} elements differ", demo::bad("wrong:"), different, n);
    return different == 0;
}

bool self_test(const px::stream& s, std::uint64_t seed) {
    demo::generator g(seed);
    unsigned failed = 0;
    for (unsigned i = 0; i < 100; ++i) {
        const u32 n = i < 40 ? i + 1 : static_cast<u32>(1 + g.below(i < 90 ? 100'000 : 20'000'000));
        failed += run(s, n, g.uniform() * 100, g.next()) ? 0u : 1u;
    }
    demo::say("100 sizes from 1 to 20 million: {}",
              failed == 0 ? demo::good("all right") : demo::bad(fmt::format("{} wrong", failed)));
    return failed == 0;
}

int main(int argc, char** argv) {
    std::uint64_t n = 1 << 24, repeat = 20, seed = 1;
    bool test = false, assemble = false;
    const std::vector<demo::option> options{
        {.name = "--n",
         .value = "N",
         .help = "elements (default 16777216)",
         .number = &n,
         .least = 1,
         .most = 1u << 30},
        {.name = "--repeat",
         .value = "N",
         .help = "timed launches (default 20)",
         .number = &repeat,
         .least = 1,
         .most = 100'000},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &seed},
        {.name = "--self-test", .value = "", .help = "100 sizes instead of one", .flag = &test},
        {.name = "--ptxas", .value = "", .help = "only assemble the kernel with ptxas", .flag = &assemble},
    };
    if (const auto status = demo::read_command_line(argc, argv, "y = a * x + y on the GPU", options)) return *status;
    if (assemble)
        return demo::check_with_ptxas([](auto& check) { check.add("saxpy", saxpy_ptx.text(), saxpy_ptx.target()); });
    return demo::guarded([&]() -> int {
        const auto device = demo::open_device();
        if (!device)
            return test ? demo::skip_self_test(device.error())
                        : demo::show_without_gpu(device.error(), saxpy_ptx, "fma.rn.f32", 4, 8);
        const auto s = px::check(px::stream::create(*device));
        if (test) return self_test(s, seed) ? demo::right : demo::wrong;
        const auto count = static_cast<u32>(n);
        if (!run(s, count, 2.5f, seed)) return demo::wrong;
        const auto x = px::check(px::device_buffer<f32>::from(*device, demo::random_values<f32>(count, seed)));
        auto y = px::check(px::device_buffer<f32>::from(*device, demo::random_values<f32>(count, seed + 1)));
        const double us = demo::median_microseconds(s, static_cast<unsigned>(repeat), [&] {
            px::check(px::launch(s, saxpy_ptx, px::grid{(count + block - 1) / block}, x, y, 2.5f, count));
        });
        demo::say("{}: {} elements {}, {:.1f} us, {:.0f} GB/s", device->device().name, count, demo::good("right"), us,
                  12e-3 * static_cast<double>(count) / us);
        return demo::right;
    });
}
