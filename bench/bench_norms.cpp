// SPDX-License-Identifier: Apache-2.0
// RMS norm and softmax against the driver's device-to-device copy of the same bytes: what memory allows. A wrong kernel
// gets no time.
#include "../examples/rms_norm_operation.hpp"
#include "../examples/softmax_operation.hpp"
#include "harness.hpp"

namespace {

namespace px = ptxdsl;
using bench::contender;
using px::u32;

struct request {
    std::string shapes = "65536x4096,8192x8192,2048x8192", work = "rms_norm,softmax", type = "f32", mode = "sustained",
                out;
    std::uint64_t rounds = 20, seed = 1;
    std::string ptx;
    bool flush = false, no_check = false;
};

/// Writes a kernel's text and how to launch it, for torch_peer.py.
template <class Op, class T>
void write_ptx(demo::shape shape, const std::string& folder) {
    const auto write = [&]<u32 Width>(std::integral_constant<u32, Width>) {
        const ::rows::plan c = ::rows::plan_for_columns<T, Width>(shape.columns);
        const auto program = px::assemble_at_run_time(Op::name, Op::template body<T, Width>, c.attributes(), c);
        const std::string file =
            fmt::format("{}/{}_{}_{}x{}", folder, Op::name, demo::type_name<T>, shape.row_count, shape.columns);
        std::filesystem::create_directories(folder);
        std::ofstream(file + ".ptx") << program.text();
        std::ofstream(file + ".json") << fmt::format(
            "{{\"work\": \"{}\", \"type\": \"{}\", \"rows\": {}, \"columns\": {}, \"grid\": {}, \"block\": {}, "
            "\"shared\": {}}}\n",
            Op::name, demo::type_name<T>, shape.row_count, shape.columns,
            rows::grid_rule{}(px::device_info{}, c, shape.row_count).x, c.block(),
            program.resources().dynamic_shared_bytes);
    };
    if (rows::takes_full_width<T>(shape.columns))
        write(std::integral_constant<u32, rows::full_width<T>>{});
    else
        write(std::integral_constant<u32, 1>{});
}

template <class Op, class T>
void measure(const px::context& ctx, demo::shape shape, const request& r, bench::mode mode,
             std::vector<bench::row>& results) {
    if (!r.no_check) {
        const auto s = px::check(px::stream::create(ctx));
        if (demo::run<Op, T>(s, shape, r.seed).wrong != 0) return;
    }
    bench::runner run(
        ctx,
        {.rounds = static_cast<unsigned>(r.rounds), .mode = mode, .flush = r.flush, .slice_ms = 10, .warm_up_ms = 100});
    const std::size_t n = std::size_t{shape.row_count} * shape.columns;
    demo::row_buffers<T> device(ctx, demo::random_values<T>(n, r.seed),
                                demo::random_values<T>(shape.columns, r.seed + 1));
    std::vector<contender> all;
    demo::with_kernel<Op, T>(ctx, shape.columns, [&](const auto& kernel) {
        all.push_back({"ours", [kernel, &device, shape](px::stream_ref s) {
                           return Op::launch(kernel, s, device.x, device.w, device.y, shape.row_count, shape.columns);
                       }});
    });
    all.push_back(
        {"driver copy", [&device](px::stream_ref s) { return device.y.copy_from_async(s, device.x); }, false});
    const auto t = run.run(all);
    const double gigabytes = 2e-3 * static_cast<double>(n) * sizeof(T);
    results.push_back({fmt::format("{} {}", Op::name, demo::type_name<T>),
                       fmt::format("{}x{}", shape.row_count, shape.columns), gigabytes / t.microseconds(0),
                       gigabytes / t.microseconds(1), r.flush ? "driver copy, L2 flushed" : "driver copy",
                       t.ratio(0, 1), n * sizeof(T) >= (std::size_t{256} << 20) ? 0.95 : 0.0, "GB/s",
                       std::string(bench::name(mode))});
}

/// Calls `f.template operator()<Op, T>(mode)` for what the request asks.
template <class F>
void for_each_work(const request& r, F&& f) {
    for (const std::string& w : bench::split(r.work)) {
        const auto types = [&]<class Op>() {
            if (r.type != "bf16") f.template operator()<Op, px::f32>();
            if (r.type != "f32") f.template operator()<Op, px::bf16>();
        };
        if (w == "rms_norm") types.template operator()<demo::rms_norm_operation>();
        if (w == "softmax") types.template operator()<demo::softmax_operation>();
    }
}

/// "2048x8192,…"
[[nodiscard]] std::optional<std::vector<demo::shape>> parse_shapes(std::string_view list) {
    std::vector<demo::shape> all;
    for (const std::string& word : bench::split(list)) {
        const auto n = bench::split(word, 'x');
        if (n.size() != 2) return std::nullopt;
        const auto number = [](const std::string& s) { return static_cast<u32>(std::strtoul(s.c_str(), nullptr, 10)); };
        all.push_back({number(n[0]), number(n[1])});
        if (all.back().row_count == 0 || all.back().columns == 0) return std::nullopt;
    }
    return all;
}

int run(const request& r, const std::vector<demo::shape>& shapes, int argc, char** argv) {
    if (!r.ptx.empty()) {
        for (const demo::shape s : shapes) for_each_work(r, [&]<class Op, class T>() { write_ptx<Op, T>(s, r.ptx); });
        return demo::right;
    }
    const auto ctx = demo::open_device();
    if (!ctx) return demo::say("{}", ctx.error().message()), demo::skipped;
    std::vector<bench::row> results;
    for (const demo::shape s : shapes)
        for (const auto mode : {bench::mode::sustained, bench::mode::burst}) {
            if (r.mode != "both" && r.mode != bench::name(mode)) continue;
            for_each_work(r, [&]<class Op, class T>() { measure<Op, T>(*ctx, s, r, mode, results); });
        }
    bench::report(results, bench::provenance_of(*ctx, argc, argv), r.out == "auto" ? bench::default_file(*ctx) : r.out);
    return demo::right;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const std::vector<demo::option> options{
        {.name = "--shapes",
         .value = "LIST",
         .help = "rows x columns; default 65536x4096,8192x8192,2048x8192",
         .text = &r.shapes},
        {.name = "--work", .value = "LIST", .help = "rms_norm,softmax (default both)", .text = &r.work},
        {.name = "--type", .value = "TYPE", .help = "f32 (default), bf16 or both", .text = &r.type},
        {.name = "--rounds",
         .value = "N",
         .help = "rounds of all contenders (default 20)",
         .number = &r.rounds,
         .least = 1,
         .most = 10'000},
        {.name = "--mode", .value = "MODE", .help = "sustained (default), burst or both", .text = &r.mode},
        {.name = "--flush", .value = "", .help = "overwrite L2 before every launch", .flag = &r.flush},
        {.name = "--out",
         .value = "FILE",
         .help = "append rows to this file; auto: bench/results/<date>-<device>.json",
         .text = &r.out},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &r.seed},
        {.name = "--ptx",
         .value = "DIR",
         .help = "only write the kernels' PTX and launch data there (torch_peer.py)",
         .text = &r.ptx},
        {.name = "--no-check",
         .value = "",
         .help = "time without checking results (while tuning)",
         .flag = &r.no_check},
    };
    if (const auto status = demo::read_command_line(
            argc, argv, "RMS norm and softmax against a device copy, interleaved in one process", options))
        return *status;
    const auto shapes = parse_shapes(r.shapes);
    if (!shapes) return fmt::print(stderr, "--shapes takes rows x columns, like 2048x8192\n"), demo::usage;
    return demo::guarded([&] { return run(r, *shapes, argc, argv); });
}
