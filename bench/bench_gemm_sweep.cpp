// SPDX-License-Identifier: Apache-2.0
// Times every configuration of the bf16 product on random shapes and writes one line a shape: what
// bench/fit_gemm_model.py fits the library's choice to. Each result is compared, all of it, with cuBLASLt's, and that
// by a sample with float64; a wrong one is named and not timed.
#include "gemm_random.hpp"
#include "gemm_trials.hpp"

namespace {

namespace px = ptxdsl;
using bench::contender;
using bench::text_of;
using demo::gemm_size;

struct request {
    std::uint64_t seed = 1, count = 300, rounds = 3, slice = 700, most = 32;
    std::string tokens = "1:8192", weights = "training", out, only;
    bool round = false;
};

/// Every third product gets the nearest power of two as its tokens: batch sizes often are, and random ones hardly ever.
void round_some(std::vector<gemm_size>& sizes) {
    for (std::size_t i = 2; i < sizes.size(); i += 3) {
        std::uint64_t m = 1;
        while (3 * m <= 2 * sizes[i].m) m *= 2;
        sizes[i].m = m;
    }
}

/// What one shape's line holds.
struct measured {
    double us[2] = {-1, -1};  ///< weights from memory; from wherever repeated launches find them
    double rough = -1;
};

class sweep {
public:
    sweep(const px::context& ctx, const request& r, std::vector<gemm_size> sizes, std::FILE* out)
        : ctx_(ctx),
          r_(r),
          sizes_(std::move(sizes)),
          run_(ctx, {.rounds = static_cast<unsigned>(r.rounds),
                     .slice_ms = static_cast<double>(r.slice) * 1e-3,
                     .warm_up_ms = 5}),
          pool_(ctx, run_.stream(), sizes_, static_cast<std::uint32_t>(r.seed)),
          workspace_(px::check(bench::kernels::gemm_workspace::create(ctx))),
          lt_(bench::load_cublaslt()),
          out_(out),
          begin_(px::check(px::event::create(ctx))),
          end_(px::check(px::event::create(ctx))),
          filler_(px::check(px::device_buffer<char>::allocate(ctx, 400u << 20))) {}

    void all() {
        load_kernels();
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            bench::check_stop();
            shape(sizes_[i]);
            if (i % 20 == 19)
                demo::say("{} shapes in {:.1f} s, {} results compared, {} wrong", i + 1,
                          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), compared_,
                          wrong_);
        }
    }
    [[nodiscard]] std::size_t wrong() const { return wrong_; }
    [[nodiscard]] std::size_t compared() const { return compared_; }

private:
    [[nodiscard]] bench::gemm_operands operands(gemm_size s, std::uint64_t i, bool rotate) {
        return {pool_.a(), pool_.b(s, i, rotate), pool_.c(), s.m, s.n, s.k};
    }
    void load_kernels() {
        bench::load_in_parallel(ctx_, bench::config_count, [&](std::size_t i, const px::stream& s, auto& w, auto c) {
            if (const auto r = bench::launch_config_at(
                    i, s, {pool_.a(), pool_.b({128, 256, 1024}, 0, false), c, 128, 256, 1024}, w);
                !r)
                demo::say("{}: {}", bench::name_at(i), r.error().message());
        });
    }
    /// The time of configuration `i` next to others, on paper: waves of tiles times what a tile needs of the tensor
    /// cores or of the way into a multiprocessor. Only to leave out the hopeless.
    [[nodiscard]] double guess(std::size_t i, gemm_size s) const {
        const auto& c = bench::config_at(i);
        const auto up = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>((a + b - 1) / b); };
        const double rows = static_cast<double>(c.swaps_operands() ? s.n : s.m),
                     columns = static_cast<double>(c.swaps_operands() ? s.m : s.n);
        const double tiles = up(static_cast<std::uint64_t>(rows), c.cluster_rows()) *
                             up(static_cast<std::uint64_t>(columns), c.cluster_columns()) * c.cluster_blocks() /
                             c.split_k;
        const double waves = c.stream_k ? std::max(tiles / 132, 0.05) : std::ceil(tiles * c.split_k / 132) / c.split_k;
        const double tile =
            std::max(static_cast<double>(c.bm * c.bn) / (128 * 256), static_cast<double>(c.bm + c.bn) / 640);
        const double bytes = static_cast<double>(s.n * s.k) * 2 / 4.2e6;
        return std::max(waves * tile * static_cast<double>(s.k) / 64 * 0.6, bytes);
    }
    void shape(gemm_size s) {
        const auto o = operands(s, 0, false);
        auto made = bench::cublaslt_gemm::make(ctx_, lt_, {o.a.address, o.b.address, o.c.address, s.m, s.n, s.k});
        if (!made) return demo::say("{}: {}", text_of(s), made.error().message());
        pool_.poison(run_.stream());
        px::check(made->launch(run_.stream(), 0));
        pool_.keep(run_.stream());
        if (const auto wrong = pool_.inexact(run_.stream(), s); wrong != 0)
            return demo::say("{}: cuBLASLt has {} of 256 elements wrong", text_of(s), wrong);
        std::vector<measured> m(bench::config_count + 1);
        std::vector<std::size_t> good = promising(s, m);
        const bool warm = 2 * s.n * s.k < 100'000'000;
        measure(s, good, true, m);
        if (warm) measure(s, good, false, m);
        write(s, good, m);
    }
    /// The configurations that are right and, by one look, not far from the fastest.
    std::vector<std::size_t> promising(gemm_size s, std::vector<measured>& m) {
        double least = 1e30, least_guess = 1e30;
        const double flop = 2 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
        for (std::size_t i = 0; i < bench::config_count; ++i) least_guess = std::min(least_guess, guess(i, s));
        for (std::size_t i = 0; i < bench::config_count; ++i) {
            bench::check_stop();
            if (guess(i, s) > least_guess * (flop > 3e11 ? 1.6 : 2.5) + 8) continue;
            if (s.k < 64 * bench::config_at(i).split_k) continue;
            if (!r_.only.empty() && !chosen(bench::name_at(i))) continue;
            const auto o = operands(s, 0, false);
            pool_.poison(run_.stream());
            if (const auto r = bench::launch_config_at(i, run_.stream(), o, workspace_); !r) {
                demo::say("{} {}: {}", text_of(s), bench::name_at(i), r.error().message());
                continue;
            }
            ++compared_;
            if (const auto wrong = pool_.wrong(run_.stream(), s); wrong != 0) {
                ++wrong_;
                demo::say("{} {}: {} elements {}", text_of(s), bench::name_at(i), demo::bad("wrong:"), wrong);
                continue;
            }
            m[i].rough = glance(i, o, flop > 1e11 ? 1 : 3);
            least = std::min(least, m[i].rough);
        }
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t i = 0; i < bench::config_count; ++i)
            if (m[i].rough >= 0 && m[i].rough <= least * 1.5 + 2) order.emplace_back(m[i].rough, i);
        std::sort(order.begin(), order.end());
        std::vector<std::size_t> good;
        for (const auto& [us, i] : order)
            if (good.size() < r_.most) good.push_back(i);
        return good;
    }
    /// Microseconds of one launch of a few. Something long runs in front, so that what the host needs for them is
    /// hidden.
    [[nodiscard]] double glance(std::size_t i, const bench::gemm_operands& o, int launches) {
        px::check(filler_.fill_bytes_async(run_.stream(), 0x5a));
        px::check(begin_.record(run_.stream()));
        for (int n = 0; n < launches; ++n) px::check(bench::launch_config_at(i, run_.stream(), o, workspace_));
        px::check(end_.record(run_.stream()));
        px::check(end_.synchronize());
        return 1e3 * static_cast<double>(px::check(px::event::elapsed_ms(begin_, end_))) / launches;
    }
    [[nodiscard]] bool chosen(const std::string& name) const {
        const auto words = bench::split(r_.only);
        return std::find(words.begin(), words.end(), name) != words.end();
    }
    void measure(gemm_size s, const std::vector<std::size_t>& which, bool rotate, std::vector<measured>& m) {
        const bench::rotated_peer peer(ctx_, lt_, pool_, s, rotate);
        const auto counter = std::make_shared<std::uint64_t>(0);
        std::vector<contender> all{peer.as("", 0)};
        for (const std::size_t i : which)
            all.push_back({"", [&, counter, i](px::stream_ref) {
                               const auto o = operands(s, (*counter)++ % pool_.places(s, rotate), rotate);
                               return bench::launch_config_at(i, run_.stream(), o, workspace_);
                           }});
        const auto t = run_.run(all);
        m[bench::config_count].us[rotate ? 0 : 1] = t.microseconds(0);
        for (std::size_t i = 0; i < which.size(); ++i) m[which[i]].us[rotate ? 0 : 1] = t.microseconds(i + 1);
    }
    void write(gemm_size s, const std::vector<std::size_t>& good, const std::vector<measured>& m) {
        const auto pair = [](const measured& v) {
            return v.us[1] < 0 ? fmt::format("[{:.2f}]", v.us[0]) : fmt::format("[{:.2f}, {:.2f}]", v.us[0], v.us[1]);
        };
        std::string line = fmt::format("{{\"m\": {}, \"n\": {}, \"k\": {}, \"peer\": {}, \"us\": {{", s.m, s.n, s.k,
                                       pair(m[bench::config_count]));
        for (const std::size_t i : good) line += fmt::format("{}\"{}\": {}", i == good[0] ? "" : ", ", i, pair(m[i]));
        line += "}, \"rough\": {";
        bool first = true;
        for (std::size_t i = 0; i < bench::config_count; ++i)
            if (m[i].rough >= 0 && m[i].us[0] < 0)
                line += fmt::format("{}\"{}\": {:.1f}", first ? "" : ", ", i, m[i].rough), first = false;
        fmt::print(out_, "{}}}}}\n", line);
        std::fflush(out_);
    }

    const px::context& ctx_;
    const request& r_;
    std::vector<gemm_size> sizes_;
    bench::runner run_;
    bench::gemm_pool pool_;
    bench::kernels::gemm_workspace workspace_;
    std::shared_ptr<const bench::cublaslt> lt_;
    std::FILE* out_;
    px::event begin_, end_;
    px::device_buffer<char> filler_;
    std::size_t compared_ = 0, wrong_ = 0;
};

/// The first line: what all others have in common.
void write_head(std::FILE* out, const bench::provenance& p) {
    std::string line = fmt::format(
        "{{\"device\": {}, \"driver\": {}, \"command\": {}, \"commit\": {}, \"library\": {}, "
        "\"kernels\": 2, \"configs\": [",
        bench::json_string(p.device), bench::json_string(p.driver), bench::json_string(p.command),
        bench::json_string(p.commit), bench::kernels::gemm_configs.size());
    for (std::size_t i = 0; i < bench::config_count; ++i) {
        const auto& c = bench::config_at(i);
        line += fmt::format(
            "{}{{\"name\": \"{}\", \"bm\": {}, \"bn\": {}, \"stages\": {}, \"cluster\": {}, \"cluster_n\": {}, \"split\": {}, "
            "\"per_sm\": {}, \"even\": {}, \"turned\": {}, \"pong\": {}}}",
            i == 0 ? "" : ", ", bench::name_at(i), c.bm, c.bn, c.stages, c.cluster, c.cluster_n, c.split_k,
            c.blocks_per_sm, c.stream_k, c.swaps_operands(), c.ping_pong());
    }
    fmt::print(out, "{}]}}\n", line);
}

int run(const request& r, const std::vector<gemm_size>& sizes, int argc, char** argv) {
    const auto ctx = demo::open_device();
    if (!ctx) return demo::say("{}", ctx.error().message()), demo::skipped;
    std::FILE* out = std::fopen(r.out.c_str(), "w");
    if (out == nullptr) return demo::say("cannot write {}", r.out), demo::wrong;
    write_head(out, bench::provenance_of(*ctx, argc, argv));
    bench::stop_on_signals();
    sweep all(*ctx, r, sizes, out);
    try {
        all.all();
    } catch (const bench::stopped&) {
        alarm(0);
        demo::say("{} by a signal; the lines written are complete", demo::bad("stopped"));
    }
    std::fclose(out);
    demo::say("{} results compared, {} wrong", all.compared(), all.wrong());
    return all.wrong() == 0 ? demo::right : demo::wrong;
}

}  // namespace

int main(int argc, char** argv) {
    request r;
    const std::vector<demo::option> options{
        {.name = "--seed", .value = "N", .help = "of the shapes and the input (default 1)", .number = &r.seed},
        {.name = "--count", .value = "N", .help = "shapes (default 300)", .number = &r.count, .least = 1},
        {.name = "--tokens", .value = "LO:HI", .help = "token counts (default 1:8192)", .text = &r.tokens},
        {.name = "--weights",
         .value = "FILE",
         .help = "training (default), judging, or a file of n k",
         .text = &r.weights},
        {.name = "--only", .value = "LIST", .help = "only these configurations", .text = &r.only},
        {.name = "--round", .value = "", .help = "every third token count is a power of two", .flag = &r.round},
        {.name = "--rounds",
         .value = "N",
         .help = "rounds of all configurations (default 3)",
         .number = &r.rounds,
         .least = 1},
        {.name = "--slice",
         .value = "US",
         .help = "microseconds a slice (default 700)",
         .number = &r.slice,
         .least = 50},
        {.name = "--most",
         .value = "N",
         .help = "configurations that are timed, the fastest by a look at each (default 32)",
         .number = &r.most,
         .least = 1},
        {.name = "--out", .value = "FILE", .help = "where the lines go", .text = &r.out},
    };
    std::vector<gemm_size> sizes;
    const auto usage = [&]() -> std::string {
        const bench::random_request random{.seed = r.seed, .count = r.count, .tokens = r.tokens, .weights = r.weights};
        if (const auto found = random.sizes(); found && !r.out.empty())
            sizes = *found, r.round ? round_some(sizes) : void();
        else
            return "--tokens takes LO:HI, --weights training, judging or a file of lines n k, and --out is needed";
        return "";
    };
    return bench::program(argc, argv, "every configuration of the bf16 product on random shapes", options, usage,
                          [&] { return run(r, sizes, argc, argv); });
}
