// SPDX-License-Identifier: Apache-2.0
// The program around a row kernel: the command line, timing, the self-test.
#pragma once

#include "rows_check.hpp"

#include <type_traits>

namespace demo {

/// Tiny, ragged, large rows; every kind of content.
[[nodiscard]] inline std::vector<shape> test_shapes(std::uint64_t seed) {
    generator g(seed);
    std::vector<shape> all;
    const u32 columns[] = {1,     2,     3,     4,     7,     8,     31,     32,     33,     64,     100,  127,
                           128,   255,   256,   1000,  1023,  1024,  1025,   2048,   4095,   4096,   5120, 8192,
                           10000, 16384, 30001, 32768, 32776, 50000, 100000, 131072, 262147, 1048576};
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

/// Kernels of every plan there is, by row lengths that lead to it.
template <class Op, class T>
void add_kernels(ptxas_check& check) {
    const auto add = [&]<u32 Width>(u32 columns, std::integral_constant<u32, Width>) {
        const rows::plan c = rows::plan_for_columns<T, Width>(columns);
        const auto program = px::assemble_at_run_time(Op::name, Op::template body<T, Width>, c.attributes(), c);
        const std::string name =
            fmt::format("{} {} {} columns, {} a thread", Op::name, type_name<T>, columns, Width * c.accesses);
        if (program.ok())
            check.add(name, program.text(), program.target());
        else
            check.add(fmt::format("{}: {}", name, program.error()), "", program.target());
    };
    for (const u32 columns : {8u, 512u, 1000u, 1024u, 2048u, 4096u, 8192u, 16384u, 30000u, 32768u, 50000u, 1048576u})
        add(columns, std::integral_constant<u32, rows::full_width<T>>{});
    for (const u32 columns : {1u, 1023u, 4095u, 8191u, 50001u, 1048575u})
        add(columns, std::integral_constant<u32, 1>{});
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
    row_buffers<T> device(s.ctx(), random_values<T>(std::size_t{what.row_count} * what.columns, seed),
                          random_values<T>(what.columns, seed + 1));
    with_kernel<Op, T>(s.ctx(), what.columns, [&](const auto& kernel) {
        const double us = median_microseconds(s, repeat, [&] {
            px::check(Op::launch(kernel, s, device.x, device.w, device.y, what.row_count, what.columns));
        });
        const double bytes = 2.0 * what.row_count * what.columns * sizeof(T);
        say("{}: {} {} {}x{} {}, worst error {:.2f} of the tolerance; {:.1f} us, {:.0f} GB/s", s.ctx().device().name,
            Op::name, type_name<T>, what.row_count, what.columns, good("right"), v.worst, us, 1e-3 * bytes / us);
    });
    return true;
}

/// `main` of a row kernel's example. `shown` is the kernel to show where there is no GPU.
template <class Op, class Shown>
int rows_main(int argc, char** argv, const Shown& shown, std::string_view needle) {
    std::uint64_t row_count = 65536, columns = 4096, repeat = 20, seed = 1;
    std::string type = "f32";
    bool test = false, assemble = false;
    const std::vector<option> options{
        {.name = "--rows",
         .value = "N",
         .help = "rows (default 65536)",
         .number = &row_count,
         .least = 1,
         .most = 1u << 30},
        {.name = "--columns",
         .value = "N",
         .help = "elements of a row (default 4096)",
         .number = &columns,
         .least = 1,
         .most = 1u << 24},
        {.name = "--type", .value = "f32|bf16", .help = "element type (default f32)", .text = &type},
        {.name = "--repeat",
         .value = "N",
         .help = "timed launches (default 20)",
         .number = &repeat,
         .least = 1,
         .most = 100'000},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &seed},
        {.name = "--self-test", .value = "", .help = "over 100 shapes and contents instead of one", .flag = &test},
        {.name = "--ptxas",
         .value = "",
         .help = "only assemble kernels for many row lengths with ptxas",
         .flag = &assemble},
    };
    if (const auto status = read_command_line(argc, argv, Op::help, options)) return *status;
    if (type != "f32" && type != "bf16") return fmt::print(stderr, "--type takes f32 or bf16, not '{}'\n", type), usage;
    if (assemble)
        return check_with_ptxas([](auto& check) { add_kernels<Op, f32>(check), add_kernels<Op, bf16>(check); });
    return guarded([&]() -> int {
        const auto device = open_device();
        if (!device)
            return test ? skip_self_test(device.error()) : show_without_gpu(device.error(), shown, needle, 8, 24);
        const auto s = px::check(px::stream::create(*device));
        if (test) {
            const bool single = self_test<Op, f32>(s, seed), brain = self_test<Op, bf16>(s, seed);
            return single && brain ? right : wrong;
        }
        const shape what{static_cast<u32>(row_count), static_cast<u32>(columns)};
        const auto n = static_cast<unsigned>(repeat);
        return (type == "f32" ? check_and_time<Op, f32>(s, what, n, seed) : check_and_time<Op, bf16>(s, what, n, seed))
                   ? right
                   : wrong;
    });
}

}  // namespace demo
