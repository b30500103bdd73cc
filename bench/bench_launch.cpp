// SPDX-License-Identifier: Apache-2.0
// What the host pays: a typed launch against a bare cuLaunchKernelEx loop, run-time assembly per instruction, and a new
// variant of the library's GEMM from its tile constants to a loaded kernel.
#include "../tools/util/demo.hpp"
#include "../tools/util/gemm_blackwell_kernel.hpp"
#include "../tools/util/gemm_hopper_kernel.hpp"
#include "../tools/util/rms_norm_kernel.hpp"
#include "gemm_configs.hpp"
#include "harness.hpp"

namespace {

namespace px = ptxdsl;
using px::f32;
using px::u32;
using clock_type = std::chrono::steady_clock;

struct request {
    std::uint64_t rounds = 50, batch = 500, variants = 10;
    std::string out;
};

/// A kernel that does next to nothing, with a signature like real ones.
constexpr void touch(px::builder<px::sm_90a>& k, px::global_ptr<const f32> x, px::global_ptr<f32> y, px::reg<f32> a,
                     px::reg<u32> n) {
    const auto i = k.mov(px::tid.x);
    k.if_(i < n, [&] { k.st(y + i, k.fma<px::rn>(a, k.ld(x + i), a)); });
}
constexpr u32 threads = 32;
constexpr auto touch_ptx = px::assemble<px::kernel<"touch", touch, px::attributes{.reqntid = {threads}}>>();

/// Microseconds of one call, over a batch of them; the device catches up outside the measurement.
template <class Call>
[[nodiscard]] double host_microseconds(const px::stream& s, std::uint64_t batch, Call&& call) {
    const auto start = clock_type::now();
    for (std::uint64_t i = 0; i < batch; ++i) call();
    const std::chrono::duration<double, std::micro> passed = clock_type::now() - start;
    px::check(s.synchronize());
    return passed.count() / static_cast<double>(batch);
}

/// The loop that a careful user of the driver writes: everything prepared, one call a launch.
class bare_launch {
public:
    bare_launch(const px::context& ctx, const px::stream& s, px::cu::function f, std::uint64_t x, std::uint64_t y)
        : driver_(ctx.driver()), function_(f), x_(x), y_(y), config_{1, 1, 1,          threads, 1,
                                                                     1, 0, s.handle(), nullptr, 0} {}
    void operator()() {
        void* arguments[] = {&x_, &y_, &a_, &n_};
        if (driver_.launch_kernel_ex(&config_, function_, arguments, nullptr) != px::cu::status::success) std::abort();
    }

private:
    const px::driver_table& driver_;
    px::cu::function function_;
    std::uint64_t x_, y_;
    float a_ = 2;
    u32 n_ = threads;
    px::cu::launch_config config_;
};

void measure_launches(const px::context& ctx, const request& r, bench::results& table) {
    const auto s = px::check(px::stream::create(ctx));
    const auto kernel = px::check(px::load(ctx, touch_ptx));
    const auto x = px::check(px::device_buffer<f32>::from(ctx, demo::random_values<f32>(threads, 1)));
    auto y = px::check(px::device_buffer<f32>::allocate(ctx, threads));
    // As the driver wants it: the calling thread has the context current for good.
    (void)ctx.driver().ctx_push_current(ctx.handle());
    bare_launch bare(ctx, s, kernel.function(), x.ptr().address, y.ptr().address);
    const auto loaded = [&] { px::check(px::launch(s, kernel, px::grid{1}, x, y, 2.0f, threads)); };
    const auto by_value = [&] { px::check(px::launch(s, touch_ptx, px::grid{1}, x, y, 2.0f, threads)); };
    bench::times t;
    t.of.resize(3);
    for (std::uint64_t i = 0; i < r.rounds + 3; ++i) {
        bench::check_stop();
        const double us[] = {host_microseconds(s, r.batch, loaded), host_microseconds(s, r.batch, by_value),
                             host_microseconds(s, r.batch, bare)};
        if (i >= 3)
            for (std::size_t c = 0; c < 3; ++c) t.of[c].push_back(us[c]);
    }
    px::cu::context popped = nullptr;
    (void)ctx.driver().ctx_pop_current(&popped);
    for (std::size_t c = 0; c < 2; ++c)
        table.add({"launch", c == 0 ? "loaded kernel" : "kernel constant", t.microseconds(c), t.microseconds(2),
                   "cuLaunchKernelEx loop", t.ratio(2, c), 1.1, "us", "host", true});
}

/// Instructions of a PTX text: its statements that are no directives.
[[nodiscard]] double instructions(std::string_view text) {
    double n = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        n += !line.empty() && line.back() == ';' && line.front() != '.' ? 1 : 0;
    }
    return n;
}

/// Median time to write, verify and print a kernel at run time.
template <class Body, class... C>
void measure_assembly(std::string name, const Body& body, const px::attributes& attributes, std::uint64_t rounds,
                      bench::results& table, const C&... constants) {
    std::vector<double> us;
    double n = 1;
    for (std::uint64_t i = 0; i < rounds + 3; ++i) {
        bench::check_stop();
        const auto start = clock_type::now();
        const auto program = px::assemble_at_run_time("kernel", body, attributes, constants...);
        const std::chrono::duration<double, std::micro> passed = clock_type::now() - start;
        if (!program.ok()) return demo::say("{}: {}", name, program.error());
        n = instructions(program.text());
        if (i >= 3) us.push_back(passed.count());
    }
    std::vector<double> each;
    for (const double v : us) each.push_back(v / n);
    const auto s = bench::spread_of(each);
    demo::say("assemble {}: {:.1f} us for {} instructions", name, bench::median(us), n);
    table.add({"assemble", std::move(name), s.p50, 1.0, "1 us an instruction", s, 1.0, "us/instr", "host", true});
}

/// Median of the verifier's time as a part of what writing and printing the same kernel takes.
template <class Body>
void measure_verifier(std::string name, const Body& body, const px::attributes& attributes, std::uint64_t rounds,
                      bench::results& table) {
    std::vector<double> ratios, us;
    for (std::uint64_t i = 0; i < rounds + 3; ++i) {
        bench::check_stop();
        const auto start = clock_type::now();
        px::ir::program p;
        px::detail::write_program(p, "kernel", attributes, body);
        const auto written = clock_type::now();
        px::verify::report found;
        px::verify::run(p.read(), found);
        const auto verified = clock_type::now();
        px::detail::emitter text(p.read(), 64 * p.read().n.locations + 4096);
        text.run();
        const auto printed = clock_type::now();
        if (text.out.size() == 0) return demo::say("{}: not what was to be measured", name);
        const std::chrono::duration<double, std::micro> assembly = written - start + (printed - verified),
                                                        verifier = verified - written;
        if (i < 3) continue;
        ratios.push_back(verifier.count() / assembly.count());
        us.push_back(verifier.count());
    }
    const auto s = bench::spread_of(ratios);
    demo::say("verify {}: {:.1f} us, {:.2f} times writing and printing it", name, bench::median(us), s.p50);
    table.add(
        {"verify", std::move(name), s.p50, 1.0, "writing and printing the kernel", s, 1.0, "ratio", "host", true});
}

// ---- a new variant at run time
// ---------------------------------------------------------------------------------------

/// The library's GEMM of one choice under a name that no text had before: neither our cache of loaded texts nor the
/// driver's holds it.
template <bench::kernels::gemm_choice Choice>
[[nodiscard]] auto new_variant(std::uint64_t serial) {
    namespace kn = bench::kernels;
    constexpr kn::gemm_config c =
        kn::detail::adapted(kn::config_of(Choice), px::k_major, px::k_major, kn::store_mode::tma);
    const std::string name = fmt::format("gemm_{}_{}", static_cast<unsigned>(Choice), serial);
    return px::assemble_at_run_time({name.data(), name.size()}, &kn::gemm_body<c, px::bf16, px::bf16>,
                                    kn::gemm_attributes<c>, kn::gemm_variant{.early_b = true});
}

constexpr double most_assembly_ms = 3, most_load_ms = 350;

/// One row: milliseconds against what they may be at most.
[[nodiscard]] bench::row variant_row(std::string work, std::string shape, const std::vector<double>& ms, double most) {
    std::vector<double> part;
    for (const double v : ms) part.push_back(v / most);
    return {std::move(work),
            std::move(shape),
            bench::median(ms),
            most,
            "limit",
            bench::spread_of(part),
            1.0,
            "ms",
            "host",
            true};
}

/// Milliseconds to assemble (write, verify, print), and with a device until the driver has loaded it, of some variants;
/// the first one is warm-up.
template <bench::kernels::gemm_choice Choice>
void measure_variants(const std::optional<px::context>& ctx, std::uint64_t count, bench::results& table) {
    std::vector<double> assembled, loaded;
    const auto shape = fmt::format("gemm {}", bench::choice_names[static_cast<std::size_t>(Choice)]);
    for (std::uint64_t i = 0; i <= count; ++i) {
        bench::check_stop();
        const auto start = clock_type::now();
        const auto since = [start] {
            return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
        };
        const auto program = new_variant<Choice>(i);
        assembled.push_back(since());
        if (!program.ok()) return demo::say("{}: {}", shape, program.error());
        if (!ctx) continue;
        (void)px::check(px::load(*ctx, program));
        loaded.push_back(since());
    }
    demo::say("{}: the first variant is assembled in {:.3f} ms{}", shape, assembled.front(),
              ctx ? fmt::format(" and loaded after {:.0f}", loaded.front()) : std::string());
    assembled.erase(assembled.begin());
    if (ctx) loaded.erase(loaded.begin());
    table.add(variant_row("new variant, assembled", shape, assembled, most_assembly_ms));
    if (ctx) table.add(variant_row("new variant, loaded", shape, loaded, most_load_ms));
}

void measure_compiler(const request& r, bench::results& table) {
    constexpr gemm_hopper::config c = {};
    measure_assembly("gemm", &gemm_hopper::gemm<c, px::bf16>, gemm_hopper::attributes<c>, r.rounds, table);
    measure_verifier("gemm", &gemm_hopper::gemm<c, px::bf16>, gemm_hopper::attributes<c>, r.rounds, table);
    constexpr gemm_blackwell::config b{};
    measure_verifier("gemm_blackwell", &gemm_blackwell::gemm<b, px::bf16>, gemm_blackwell::attributes<b>, r.rounds,
                     table);
    constexpr ::rows::plan plan = ::rows::plan_for_columns<f32, 4>(4096);
    measure_assembly("rms_norm", &rms_norm::rms_norm<f32, 4>, plan.attributes(), r.rounds, table, plan);
}

void measure_all_variants(const std::optional<px::context>& device, const request& r, bench::results& table) {
    using enum bench::kernels::gemm_choice;
    measure_variants<large>(device, r.variants, table);
    measure_variants<large_even>(device, r.variants, table);
    measure_variants<large_192>(device, r.variants, table);
    measure_variants<medium_split>(device, r.variants, table);
    measure_variants<few_rows>(device, r.variants, table);
    measure_variants<tokens_16_split>(device, r.variants, table);
}

int run(const request& r, int argc, char** argv) {
    // Before the driver starts: it keeps what it assembled on disk.
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    const auto ctx = demo::open_device();
    const auto device = ctx ? std::optional(*ctx) : std::nullopt;
    const auto p = ctx ? bench::provenance_of(*ctx, argc, argv) : bench::provenance{"no GPU", "", "", ""};
    bench::results table(p, r.out == "auto" ? (ctx ? bench::default_file(p) : "") : r.out);
    return bench::fill_table(table, [&](bench::results& t) {
        measure_compiler(r, t);
        measure_all_variants(device, r, t);
        if (ctx)
            measure_launches(*ctx, r, t);
        else
            demo::say("launches and loading are left out: {}", ctx.error().message());
    });
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const std::vector<demo::option> options{
        bench::run_options::rounds_option(r.rounds),
        {.name = "--batch",
         .value = "N",
         .help = "launches a slice (default 500)",
         .number = &r.batch,
         .least = 1,
         .most = 1000},
        {.name = "--variants",
         .value = "N",
         .help = "new variants of each GEMM configuration (default 10)",
         .number = &r.variants,
         .least = 1,
         .most = 1000},
        bench::run_options::out_option(r.out),
    };
    return bench::program(
        argc, argv, "Host cost of typed launches and of run-time assembly", options, [] { return std::string(); },
        [&] { return run(r, argc, argv); });
}
