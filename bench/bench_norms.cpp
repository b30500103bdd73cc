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
    std::string shapes = "65536x4096,8192x8192,2048x8192", work = "rms_norm,softmax", type = "f32", mode = "sustained", out;
    std::uint64_t rounds = 20, seed = 1;
    bool flush = false, no_check = false;
};

template <class Op, class T>
void measure(const px::context& ctx, demo::shape shape, const request& r, bench::mode mode, std::vector<bench::row>& rows) {
    if (!r.no_check) {
        const auto s = px::check(px::stream::create(ctx));
        if (demo::run<Op, T>(s, shape, r.seed).wrong != 0) return;
    }
    bench::runner run(ctx, {.rounds = static_cast<unsigned>(r.rounds), .mode = mode, .flush = r.flush, .slice_ms = 10, .warm_up_ms = 100});
    const std::size_t n = std::size_t{shape.row_count} * shape.columns;
    demo::row_buffers<T> device(ctx, demo::random_values<T>(n, r.seed), demo::random_values<T>(shape.columns, r.seed + 1));
    std::vector<contender> all;
    demo::with_kernel<Op, T>(ctx, shape.columns, [&](const auto& kernel) {
        all.push_back({"ours", [kernel, &device, shape](px::stream_ref s) { return Op::launch(kernel, s, device.x, device.w, device.y, shape.row_count, shape.columns); }});
    });
    all.push_back({"driver copy", [&device](px::stream_ref s) { return device.y.copy_from_async(s, device.x); }});
    const auto t = run.run(all);
    const double gigabytes = 2e-3 * static_cast<double>(n) * sizeof(T);
    rows.push_back({fmt::format("{} {}", Op::name, demo::type_name<T>), fmt::format("{}x{}", shape.row_count, shape.columns), gigabytes / t.microseconds(0), gigabytes / t.microseconds(1),
                    r.flush ? "driver copy, L2 flushed" : "driver copy", t.ratio(0, 1), n * sizeof(T) >= (std::size_t{256} << 20) ? 0.95 : 0.0, "GB/s", std::string(bench::name(mode))});
}

template <class T>
void measure_work(const px::context& ctx, demo::shape s, const request& r, bench::mode mode, std::vector<bench::row>& rows) {
    for (const std::string& w : bench::split(r.work)) {
        if (w == "rms_norm") measure<demo::rms_norm_operation, T>(ctx, s, r, mode, rows);
        if (w == "softmax") measure<demo::softmax_operation, T>(ctx, s, r, mode, rows);
    }
}

int run(const request& r, int argc, char** argv) {
    const auto ctx = demo::open_device();
    if (!ctx) return demo::say("{}", ctx.error().message()), demo::skipped;
    std::vector<bench::row> rows;
    for (const std::string& word : bench::split(r.shapes)) {
        const auto n = bench::split(word, 'x');
        if (n.size() != 2) return fmt::print(stderr, "--shapes takes rows x columns, like 2048x8192, not '{}'\n", word), demo::usage;
        const demo::shape s{static_cast<u32>(std::strtoul(n[0].c_str(), nullptr, 10)), static_cast<u32>(std::strtoul(n[1].c_str(), nullptr, 10))};
        for (const auto mode : {bench::mode::sustained, bench::mode::burst}) {
            if (r.mode != "both" && r.mode != bench::name(mode)) continue;
            if (r.type != "bf16") measure_work<px::f32>(*ctx, s, r, mode, rows);
            if (r.type != "f32") measure_work<px::bf16>(*ctx, s, r, mode, rows);
        }
    }
    bench::report(rows, bench::provenance_of(*ctx, argc, argv), r.out == "auto" ? bench::default_file(*ctx) : r.out);
    return demo::right;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const std::vector<demo::option> options{
        {.name = "--shapes", .value = "LIST", .help = "rows x columns; default 65536x4096,8192x8192,2048x8192", .text = &r.shapes},
        {.name = "--work", .value = "LIST", .help = "rms_norm,softmax (default both)", .text = &r.work},
        {.name = "--type", .value = "TYPE", .help = "f32 (default), bf16 or both", .text = &r.type},
        {.name = "--rounds", .value = "N", .help = "rounds of all contenders (default 20)", .number = &r.rounds, .least = 1, .most = 10'000},
        {.name = "--mode", .value = "MODE", .help = "sustained (default), burst or both", .text = &r.mode},
        {.name = "--flush", .value = "", .help = "overwrite L2 before every launch", .flag = &r.flush},
        {.name = "--out", .value = "FILE", .help = "append rows to this file; auto: bench/results/<date>-<device>.json", .text = &r.out},
        {.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &r.seed},
        {.name = "--no-check", .value = "", .help = "time without checking results (while tuning)", .flag = &r.no_check},
    };
    if (const auto status = demo::read_command_line(argc, argv, "RMS norm and softmax against a device copy, interleaved in one process", options)) return *status;
    return demo::guarded([&] { return run(r, argc, argv); });
}
