// SPDX-License-Identifier: Apache-2.0
// bf16 GEMM (C = A B^T, f32 sums, bf16 result) against cuBLASLt: its heuristic's first choice, which is what torch
// gets, and the fastest of the eight algorithms it offers; and against pyptx's kernel, where bench/pyptx_peer.py has
// printed it. A wrong kernel gets no time.
#include "gemm_configs.hpp"
#include "gemm_random.hpp"
#include "gemm_sizes.hpp"
#include "printed_kernel.hpp"

namespace {

namespace px = ptxdsl;
using bench::contender;
using bench::text_of;
using demo::gemm_size;
using px::bf16;

/// Projections and MLPs of language models (Llama 3 8B and 70B, Qwen 2.5, Mixtral, DeepSeek V3) at decode and prefill
/// lengths: the list that a geometric mean is taken over.
constexpr gemm_size llm[] = {
    {16, 4096, 4096},    {16, 6144, 4096},    {16, 28672, 4096},   {16, 4096, 14336},   {16, 8192, 8192},
    {64, 4096, 4096},    {64, 6144, 4096},    {64, 28672, 4096},   {64, 4096, 14336},   {64, 7168, 18432},
    {128, 4096, 4096},   {128, 6144, 4096},   {128, 28672, 4096},  {128, 4096, 14336},  {128, 8192, 8192},
    {128, 57344, 8192},  {128, 8192, 28672},  {256, 4096, 4096},   {256, 8192, 8192},   {512, 4096, 4096},
    {512, 6144, 4096},   {512, 28672, 4096},  {512, 4096, 14336},  {512, 8192, 8192},   {1024, 4096, 4096},
    {1024, 10240, 8192}, {1024, 28672, 4096}, {1024, 4096, 14336}, {2048, 3584, 3584},  {2048, 18944, 3584},
    {2048, 3584, 18944}, {2048, 8192, 8192},  {4096, 4096, 4096},  {4096, 11008, 4096}, {4096, 4096, 11008},
    {4096, 28672, 4096}, {4096, 14336, 4096}, {4096, 7168, 2048},  {8192, 8192, 8192},  {8192, 28672, 8192},
};
static_assert(std::size(llm) == 40);

struct request : bench::run_options {
    std::string shapes = "4096,6144,8192", config = "library";
    bool no_best = false;
    bench::random_request random;
};

/// Sizes, and "llm" for the list above.
[[nodiscard]] std::optional<std::vector<gemm_size>> parse_shapes(std::string_view list) {
    std::vector<gemm_size> all;
    for (const std::string& word : bench::split(list)) {
        if (word == "llm") {
            all.insert(all.end(), std::begin(llm), std::end(llm));
            continue;
        }
        const auto size = bench::parse_gemm_size(word);
        if (!size) return std::nullopt;
        all.push_back(*size);
    }
    return all;
}

/// What to reach against a peer (0: no target of its own).
[[nodiscard]] double target_of(gemm_size s, bench::mode mode, std::string_view peer) {
    const bool cube = s.m == s.n && s.n == s.k;
    if (peer == "pyptx") return cube && s.m >= 4096 ? 1.0 : 0;
    if (peer != "cuBLASLt default") return 0;
    if (cube && s.m == 8192) return mode == bench::mode::burst ? 1.08 : 1.05;
    if (cube && s.m == 6144) return 1.04;
    if (cube && s.m == 4096) return 1.03;
    if (cube && (s.m == 2048 || s.m == 1024)) return 1.0;
    if ((s.m == 4096 && s.n == 11008 && s.k == 4096) || (s.m == 8192 && s.n == 28672 && s.k == 8192)) return 1.04;
    return s.m <= 128 ? 1.0 : 0;
}

/// Host and device side of one shape.
struct setup {
    gemm_size size;
    std::vector<bf16> a, b;
    px::device_buffer<bf16> device_a, device_b, device_c;

    setup(const px::context& ctx, gemm_size s, std::uint64_t seed)
        : size(s),
          a(demo::random_values<bf16>(s.m * s.k, seed)),
          b(demo::random_values<bf16>(s.n * s.k, seed + 1)),
          device_a(px::check(px::device_buffer<bf16>::from(ctx, a))),
          device_b(px::check(px::device_buffer<bf16>::from(ctx, b))),
          device_c(px::check(px::device_buffer<bf16>::allocate(ctx, s.m * s.n))) {}

    [[nodiscard]] bench::gemm_operands operands() {
        return {px::device_ptr<const bf16>(device_a.ptr()),
                px::device_ptr<const bf16>(device_b.ptr()),
                device_c.ptr(),
                size.m,
                size.n,
                size.k};
    }
    /// Runs `c` once on a poisoned result and compares.
    [[nodiscard]] demo::gemm_verdict check(const px::stream& s, const contender& c,
                                           const demo::gemm_reference& reference) {
        demo::poison(device_c);
        px::check(c.launch(s));
        px::check(s.synchronize());
        std::vector<bf16> host(size.m * size.n);
        px::check(device_c.download(host));
        return reference.check(host, 128, 256);
    }
};

/// Whether a contender gives the right result, if that is to be checked; says so if not.
[[nodiscard]] bool is_right(const px::stream& s, setup& problem, const contender& c,
                            const std::optional<demo::gemm_reference>& reference) {
    if (!reference) return true;
    const auto v = problem.check(s, c, *reference);
    if (!v.ok())
        demo::say("{} {}: {} {} of {} values, the first at {}, {}: {} instead of {}; not timed", text_of(problem.size),
                  c.name, demo::bad("wrong"), v.wrong, v.checked, v.row, v.column, v.found, v.wanted);
    return v.ok();
}

/// pyptx's kernel for this shape, if it has been printed and is right.
void add_printed(const px::context& ctx, const px::stream& s, setup& problem, const std::string& folder,
                 const std::optional<demo::gemm_reference>& reference, std::vector<contender>& all) {
    const auto file = std::filesystem::path(folder) / fmt::format("gemm_bf16_{}.txt", text_of(problem.size));
    if (!std::filesystem::exists(file)) return demo::say("{}: there is no {}", text_of(problem.size), file.string());
    const auto o = problem.operands();
    auto made = bench::printed_kernel::load(ctx, file, {{"a", o.a.address}, {"b", o.b.address}, {"c", o.c.address}});
    if (!made) return demo::say("{} pyptx: {}", text_of(problem.size), made.error().message());
    const auto k = std::make_shared<bench::printed_kernel>(std::move(*made));
    contender c{"pyptx", [k](px::stream_ref on) { return k->launch(on); }};
    if (is_right(s, problem, c, reference)) all.push_back(std::move(c));
}

/// The contenders that give the right result; says so of the others. `own`: how many of them are ours, at the front.
[[nodiscard]] std::vector<contender> checked(const px::context& ctx, const px::stream& s, setup& problem,
                                             const request& r, std::size_t& own) {
    std::optional<demo::gemm_reference> reference;
    if (!r.no_check) reference.emplace(problem.size, problem.a, problem.b);
    const auto workspace =
        std::make_shared<bench::kernels::gemm_workspace>(px::check(bench::kernels::gemm_workspace::create(ctx)));
    std::vector<contender> all;
    for (const std::string& name : r.config == "all" ? bench::gemm_names() : bench::split(r.config)) {
        auto made = bench::make_gemm(s, name, problem.operands(), workspace);
        if (!made)
            demo::say("{} {}: {}", text_of(problem.size), name, made.error().message());
        else if (is_right(s, problem, *made, reference))
            all.push_back(std::move(*made));
    }
    own = all.size();
    if (own != 0 && !r.pyptx.empty()) add_printed(ctx, s, problem, r.pyptx, reference, all);
    return all;
}

void add_peers(const px::context& ctx, const std::shared_ptr<const bench::cublaslt>& lt, setup& problem,
               bench::runner& run, bool best, std::vector<contender>& all) {
    const auto o = problem.operands();
    auto made = bench::cublaslt_gemm::make(ctx, lt, {o.a.address, o.b.address, o.c.address, o.m, o.n, o.k});
    if (!made) return demo::say("{}: {}", text_of(problem.size), made.error().message());
    const auto g = std::make_shared<bench::cublaslt_gemm>(std::move(*made));
    all.push_back({"cuBLASLt default", [g](px::stream_ref s) { return g->launch(s, 0); }});
    if (!best) return;
    const std::size_t choice = bench::best_choice(run, *g);
    all.push_back({fmt::format("cuBLASLt best of {}", g->choices()),
                   [g, choice](px::stream_ref s) { return g->launch(s, choice); }});
}

/// One shape: every one of ours against every peer, in the same rounds. The fastest of ours goes into the table.
void measure(const px::context& ctx, const std::shared_ptr<const bench::cublaslt>& lt, gemm_size size, const request& r,
             bench::mode mode, bench::results& table) {
    bench::runner run(ctx, r.settings_for(mode));
    setup problem(ctx, size, r.seed);
    std::size_t own = 0;
    auto all = checked(ctx, run.stream(), problem, r, own);
    if (own == 0) return;
    if (lt != nullptr) add_peers(ctx, lt, problem, run, !r.no_best, all);
    const auto t = run.run(all);
    const double tflop = bench::tflop_of(size);
    for (std::size_t i = 0; i < all.size(); ++i)
        demo::say("{:<18} {:<10} {:<20} {:>9.2f} us {:>8.1f} TFLOP/s", text_of(size), bench::name(mode), all[i].name,
                  t.microseconds(i), tflop / t.microseconds(i));
    std::size_t fastest = 0;
    for (std::size_t i = 1; i < own; ++i)
        if (t.microseconds(i) < t.microseconds(fastest)) fastest = i;
    const std::string which = own > 1 ? fmt::format(" (ours: {})", all[fastest].name) : std::string();
    for (std::size_t peer = own; peer < all.size(); ++peer)
        table.add({"gemm bf16", text_of(size), tflop / t.microseconds(fastest), tflop / t.microseconds(peer),
                   all[peer].name + which, t.ratio(fastest, peer), target_of(size, mode, all[peer].name), "TFLOP/s",
                   std::string(bench::name(mode))});
}

/// Geometric mean of the ratios against each peer, when there is more than one shape.
void print_means(const std::vector<bench::row>& rows) {
    for (const std::string_view peer : {"cuBLASLt default", "cuBLASLt best", "pyptx"}) {
        double sum = 0;
        std::size_t n = 0;
        for (const auto& r : rows)
            if (r.peer_name.starts_with(peer)) sum += std::log(r.ratio.p50), ++n;
        if (n > 1)
            demo::say("geometric mean over {} rows against {}: {:.3f}", n, peer,
                      std::exp(sum / static_cast<double>(n)));
    }
}

/// Random shapes instead of a list.
int run_random(const request& r, const std::vector<gemm_size>& sizes, int argc, char** argv) {
    std::size_t wrong = 0;
    const int status = bench::with_device(r.out, argc, argv, [&](const px::context& ctx, bench::results& table) {
        bench::random_request random = r.random;
        random.best = !r.no_best;
        bench::random_products products(ctx, random, sizes, table);
        products.all();
        products.summary();
        wrong = products.wrong();
    });
    return status == demo::right && wrong != 0 ? demo::wrong : status;
}

int run(const request& r, const std::vector<gemm_size>& sizes, int argc, char** argv) {
    std::vector<bench::row> measured;
    const int status = bench::with_device(r.out, argc, argv, [&](const px::context& ctx, bench::results& table) {
        const auto lt = bench::load_cublaslt();
        for (const gemm_size s : sizes)
            for (const auto mode : r.modes()) measure(ctx, lt, s, r, mode, table), measured = table.rows();
    });
    print_means(measured);
    return status;
}

[[nodiscard]] std::string entry_names() {
    std::string all;
    for (const auto& n : bench::gemm_names()) all += (all.empty() ? "" : ", ") + n;
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const auto options = r.behind({
        {.name = "--shapes",
         .value = "LIST",
         .help = "cubes (8192), m x n x k (128x4096x4096) or llm; default 4096,6144,8192",
         .text = &r.shapes},
        {.name = "--config",
         .value = "LIST",
         .help = "library (default), all, or some of " + entry_names(),
         .text = &r.config},
        r.pyptx_option(),
        {.name = "--random",
         .value = "SEED",
         .help = "random token counts times the weights of language models instead of a list",
         .number = &r.random.seed,
         .least = 1},
        {.name = "--count",
         .value = "N",
         .help = "random: shapes (default 300)",
         .number = &r.random.count,
         .least = 1},
        {.name = "--tokens",
         .value = "LO:HI",
         .help = "random: token counts (default 1:8192)",
         .text = &r.random.tokens},
        {.name = "--weights",
         .value = "FILE",
         .help = "random: judging (default), training, or a file of lines n k",
         .text = &r.random.weights},
        {.name = "--rotate",
         .value = "",
         .help = "random: each launch has its weights elsewhere, so that they come from memory",
         .flag = &r.random.rotate},
        {.name = "--no-best", .value = "", .help = "leave out the best of 8 algorithms", .flag = &r.no_best},
    });
    std::optional<std::vector<gemm_size>> sizes;
    const auto usage = [&]() -> std::string {
        sizes = r.random.seed != 0 ? r.random.sizes() : parse_shapes(r.shapes);
        if (!sizes && r.random.seed != 0)
            return "--tokens takes LO:HI from 1 to 8192, --weights judging, training or a file of lines n k";
        return sizes && !r.modes().empty()
                   ? ""
                   : "--shapes takes sizes like 8192 or 128x4096x4096, --mode sustained, burst or both";
    };
    return bench::program(argc, argv, "bf16 GEMM against cuBLASLt, interleaved in one process", options, usage, [&] {
        return r.random.seed != 0 ? run_random(r, *sizes, argc, argv) : run(r, *sizes, argc, argv);
    });
}
