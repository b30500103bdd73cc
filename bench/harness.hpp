// SPDX-License-Identifier: Apache-2.0
// Comparing launches on one device, in one process: contenders take turns (A, B, C, A, B, C …), each turn is a slice of
// launches between two events, and what is reported is the median over the rounds of the ratio of two slices of the
// same round. So drifts of clock and temperature cancel.
//
//   sustained   the chip is warmed up first and slices follow one another: the clock that power allows
//   burst       16 launches a slice, with a pause before each: the clock of a cool chip
//
// A slice is a captured graph where the driver can capture: the host's time to launch is not in it, for nobody. (Except
// the driver's copy: a graph's copies of a gigabyte ran at two thirds of the speed of the same copies in a stream.)
#pragma once

#include "../tools/util/demo.hpp"

#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

namespace px = ptxdsl;

enum class mode { sustained, burst };
[[nodiscard]] inline std::string_view name(mode m) { return m == mode::sustained ? "sustained" : "burst"; }

/// One of those that are compared: `launch` enqueues the work once.
struct contender {
    std::string name;
    std::function<px::result<void>(px::stream_ref)> launch;
    bool capture = true;  ///< may run as a graph
};

struct settings {
    unsigned rounds = 20;
    bench::mode mode = bench::mode::sustained;
    bool flush = false;       ///< overwrite L2 before every launch (a slice is then one launch)
    bool clear = false;       ///< overwrite L2 before every slice: nobody finds there what the one before it left
    double slice_ms = 25;     ///< sustained: length of a slice
    double warm_up_ms = 400;  ///< sustained: work before the first round
    unsigned burst_launches = 16;
    double pause_ms = 60;  ///< burst: before each slice
};

// ---- being stopped --------------------------------------------------------------------------------------------------

/// Thrown where a program that was asked to end (SIGTERM, as by timeout(1), or SIGINT) can end well.
struct stopped : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "stopped by a signal"; }
};

namespace harness_detail {
inline volatile std::sig_atomic_t stop_asked = 0;
inline void ask_to_stop(int) {
    stop_asked = 1;
    alarm(5);  // whatever does not come to a place where it can end, such as a kernel that hangs
}
}  // namespace harness_detail

/// From here on those signals make `check_stop` throw; a second one ends the program at once.
inline void stop_on_signals() {
    struct sigaction a = {};
    a.sa_handler = harness_detail::ask_to_stop;
    a.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGTERM, &a, nullptr);
    sigaction(SIGINT, &a, nullptr);
}
inline void check_stop() {
    if (harness_detail::stop_asked != 0) throw stopped{};
}

// ---- statistics -----------------------------------------------------------------------------------------------------

[[nodiscard]] inline double quantile(std::vector<double> v, double q) {
    std::sort(v.begin(), v.end());
    return v.empty() ? std::nan("") : v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1) + 0.5)];
}
[[nodiscard]] inline double median(const std::vector<double>& v) { return quantile(v, 0.5); }

/// Median and 10th and 90th percentile.
struct spread {
    double p10 = 0, p50 = 0, p90 = 0;
};
[[nodiscard]] inline spread spread_of(const std::vector<double>& v) {
    return {quantile(v, 0.1), quantile(v, 0.5), quantile(v, 0.9)};
}

/// Microseconds a launch, of each contender in each round.
struct times {
    std::vector<std::vector<double>> of;  ///< [contender][round]
    [[nodiscard]] double microseconds(std::size_t contender) const { return median(of[contender]); }
    /// How much faster `ours` is than `peer`: over 1 is faster.
    [[nodiscard]] spread ratio(std::size_t ours, std::size_t peer) const {
        std::vector<double> r;
        for (std::size_t i = 0; i < of[ours].size(); ++i) r.push_back(of[peer][i] / of[ours][i]);
        return spread_of(r);
    }
};

// ---- measuring ------------------------------------------------------------------------------------------------------

class runner {
public:
    runner(const px::context& ctx, settings s)
        : settings_(s),
          stream_(px::check(px::stream::create(ctx))),
          begin_(px::check(px::event::create(ctx))),
          end_(px::check(px::event::create(ctx))),
          trash_(px::check(px::device_buffer<char>::allocate(
              ctx, s.flush || s.clear ? std::max<std::size_t>(4 * ctx.device().l2_bytes, 256u << 20) : 0))) {}

    [[nodiscard]] const px::stream& stream() const { return stream_; }

    /// Rounds of all contenders, in order.
    [[nodiscard]] times run(const std::vector<contender>& all) {
        std::vector<slice> slices;
        for (const contender& c : all) slices.push_back(prepare(c));
        times t;
        t.of.resize(all.size());
        if (settings_.mode == mode::sustained) warm_up(slices);
        for (unsigned round = 0; round < settings_.rounds; ++round)
            for (std::size_t i = 0; i < all.size(); ++i) t.of[i].push_back(measure(slices[i]));
        return t;
    }
    /// Microseconds of one launch, roughly: for choosing, not for reporting.
    [[nodiscard]] double estimate(const contender& c, unsigned launches = 4) {
        px::check(c.launch(stream_));
        const slice s{&c, {}, launches};
        (void)measure_now(s);
        return measure_now(s);
    }

private:
    struct slice {
        const contender* who;
        std::optional<px::graph> graph;
        unsigned launches;
    };

    slice prepare(const contender& c) {
        check_stop();
        px::check(c.launch(stream_));
        const double us = std::max(estimate(c), 0.5);
        unsigned n = settings_.burst_launches;
        if (settings_.flush)
            n = 1;
        else if (settings_.mode == mode::sustained)
            n = static_cast<unsigned>(std::clamp(settings_.slice_ms * 1e3 / us, 1.0, 2000.0));
        slice s{&c, {}, n};
        if (n == 1 || !c.capture) return s;
        auto g = px::graph::capture(stream_, [&]() -> px::result<void> {
            for (unsigned i = 0; i < n; ++i)
                if (auto r = c.launch(stream_); !r) return r;
            return {};
        });
        if (g) s.graph.emplace(std::move(*g));
        return s;
    }
    void enqueue(const slice& s) {
        if (s.graph) return px::check(s.graph->launch(stream_));
        for (unsigned i = 0; i < s.launches; ++i) px::check(s.who->launch(stream_));
    }
    double measure_now(const slice& s) {
        px::check(begin_.record(stream_));
        enqueue(s);
        px::check(end_.record(stream_));
        px::check(end_.synchronize());
        return 1e3 * static_cast<double>(px::check(px::event::elapsed_ms(begin_, end_))) / s.launches;
    }
    double measure(const slice& s) {
        check_stop();
        if (settings_.mode == mode::burst)
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(settings_.pause_ms));
        if (settings_.flush || settings_.clear) {
            release_l2();
            px::check(trash_.fill_bytes_async(stream_, 0x5a));
        }
        return measure_now(s);
    }
    /// Lines that a kernel has marked to leave last do not give way to what is written over them: they are unmarked
    /// first.
    void release_l2() {
        using reset = int (*)();
        static const auto call = [] {
            void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
            return driver == nullptr ? nullptr : reinterpret_cast<reset>(dlsym(driver, "cuCtxResetPersistingL2Cache"));
        }();
        const px::runtime_detail::current_context current(*stream_.ctx().state());
        if (call != nullptr && current.status() == px::cu::status::success) call();
    }
    void warm_up(const std::vector<slice>& slices) {
        const auto start = std::chrono::steady_clock::now();
        const auto passed = [&] {
            return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        };
        do
            for (const slice& s : slices) (void)measure_now(s);
        while (passed() < settings_.warm_up_ms);
    }

    settings settings_;
    px::stream stream_;
    px::event begin_, end_;
    px::device_buffer<char> trash_;
};

// ---- results --------------------------------------------------------------------------------------------------------

/// One line of bench/results/*.json.
struct row {
    std::string work, shape;
    double ours = 0, peer = 0;  ///< in `unit`
    std::string peer_name;
    spread ratio;
    double target = 0;  ///< the ratio to reach; 0 when there is none
    std::string unit, mode;
    bool cost = false;  ///< `ours` and `peer` are costs and `ratio` is their quotient: to stay at or below the target
    [[nodiscard]] std::string goal() const {
        if (target == 0) return "";
        return fmt::format("{}{:.2f} {}", cost ? "<" : ">", target,
                           (cost ? ratio.p50 <= target : ratio.p50 >= target) ? "yes" : "no");
    }
};

/// What is the same for all rows of a run.
struct provenance {
    std::string device, driver, command, commit;
};

[[nodiscard]] inline std::string first_line_of(const char* command) {
    std::string line;
    if (std::FILE* p = popen(command, "r")) {
        char buffer[256] = {};
        if (std::fgets(buffer, sizeof buffer, p) != nullptr) line = buffer;
        pclose(p);
    }
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    return line;
}

[[nodiscard]] inline std::string kernel_driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    for (bool module = false; file >> word; module = module || word == "Module")
        if (module && word.find('.') != std::string::npos) return word;
    return "unknown";
}

[[nodiscard]] inline provenance provenance_of(const px::context& ctx, int argc, char** argv) {
    provenance p{ctx.device().name, kernel_driver_version(), {}, {}};
    for (int i = 0; i < argc; ++i) {  // folders of this machine say nothing to others
        const bool path = i == 0 || argv[i][0] == '/' || argv[i][0] == '.';
        if (i != 0) p.command += ' ';
        p.command += path ? std::filesystem::path(argv[i]).filename().string() : argv[i];
    }
    const char* known = std::getenv("PTXDSL_COMMIT");
    p.commit = known != nullptr ? known : first_line_of("git rev-parse --short HEAD 2>/dev/null");
    if (p.commit.empty()) p.commit = "unknown";
    return p;
}

[[nodiscard]] inline std::string json_string(std::string_view s) {
    std::string out = "\"";
    for (const char c : s) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

[[nodiscard]] inline std::string json(const row& r, const provenance& p) {
    return fmt::format(
        "{{\"work\": {}, \"shape\": {}, \"ours\": {:.4g}, \"peer\": {:.4g}, \"peer_name\": {}, \"ratio\": {:.4f}, "
        "\"spread\": [{:.4f}, {:.4f}], \"target\": {}, "
        "\"unit\": {}, \"mode\": {}, \"device\": {}, \"driver\": {}, \"command\": {}, \"commit\": {}}}",
        json_string(r.work), json_string(r.shape), r.ours, r.peer, json_string(r.peer_name), r.ratio.p50, r.ratio.p10,
        r.ratio.p90, r.target == 0 ? "null" : fmt::format("{}", r.target), json_string(r.unit), json_string(r.mode),
        json_string(p.device), json_string(p.driver), json_string(p.command), json_string(p.commit));
}

/// Appends a row to a file that holds one list, one row a line. The file is whole at every moment: whoever is killed
/// leaves what was there before.
[[nodiscard]] inline bool append(const std::string& file, const row& r, const provenance& p) {
    std::stringstream old;
    old << std::ifstream(file).rdbuf();
    std::string text = old.str();
    const auto close = text.rfind(']');
    text = close == std::string::npos ? "[" : text.substr(0, close);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    text += (text.back() == '[' ? "\n" : ",\n") + json(r, p) + "\n]\n";
    std::error_code failed;
    if (const auto folder = std::filesystem::path(file).parent_path(); !folder.empty())
        std::filesystem::create_directories(folder, failed);
    const std::string part = file + ".part";
    std::ofstream out(part, std::ios::trunc);
    out << text;
    out.close();
    if (out) std::filesystem::rename(part, file, failed);
    return out && !failed;
}

/// bench/results/<date>-<commit>-h200.json, after today, the commit and the device.
[[nodiscard]] inline std::string default_file(const provenance& p) {
    char date[16] = {};
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    std::string device = p.device.substr(p.device.rfind(' ') + 1);
    for (char& c : device) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return fmt::format("bench/results/{}-{}-{}.json", date, p.commit, device);
}

/// Three digits at least.
[[nodiscard]] inline std::string figure(double v) { return fmt::format("{:.{}f}", v, v < 1 ? 3 : v < 10 ? 2 : 1); }

/// The table, and the file where one was asked for. A row is on the screen and in the file as soon as it is measured: a
/// program that is cut short has lost nothing but what it was measuring.
class results {
public:
    results(provenance p, std::string file) : provenance_(std::move(p)), file_(std::move(file)) {}

    void add(row r) {
        constexpr const char* line = "{:<27} {:<18} {:<10} {:>9} {:>9} {:<8} {:>7} {:>15} {:>9}  {}\n";
        if (rows_.empty())
            fmt::print(fmt::runtime(line), "work", "shape", "mode", "ours", "peer", "unit", "ratio", "p10 to p90",
                       "target", "peer");
        fmt::print(fmt::runtime(line), r.work, r.shape, r.mode, figure(r.ours), figure(r.peer), r.unit,
                   fmt::format("{:.3f}", r.ratio.p50), fmt::format("{:.3f} to {:.3f}", r.ratio.p10, r.ratio.p90),
                   r.goal(), r.peer_name);
        std::fflush(stdout);
        if (!file_.empty() && !append(file_, r, provenance_)) throw std::runtime_error("cannot write " + file_);
        rows_.push_back(std::move(r));
    }
    [[nodiscard]] const std::vector<row>& rows() const { return rows_; }
    /// What became of it, last.
    void finish(bool complete) const {
        if (!complete) demo::say("{} by a signal; what is above is complete", demo::bad("stopped"));
        if (!file_.empty()) demo::say("{} rows appended to {}", rows_.size(), file_);
    }

private:
    provenance provenance_;
    std::string file_;
    std::vector<row> rows_;
};

/// "a,b,c" as its words.
[[nodiscard]] inline std::vector<std::string> split(std::string_view list, char at = ',') {
    std::vector<std::string> words;
    while (!list.empty()) {
        const auto end = std::min(list.find(at), list.size());
        if (end > 0) words.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return words;
}

/// What every program that times contenders is asked.
struct run_options {
    std::uint64_t rounds = 20, seed = 1, slice = 25;
    std::string mode = "sustained", out, pyptx;
    bool no_check = false;

    /// A program's own options, then these.
    [[nodiscard]] std::vector<demo::option> behind(std::vector<demo::option> options) {
        options.push_back(rounds_option(rounds));
        options.push_back(
            {.name = "--mode", .value = "MODE", .help = "sustained (default), burst or both", .text = &mode});
        options.push_back({.name = "--slice",
                           .value = "MS",
                           .help = fmt::format("sustained: milliseconds a slice (default {})", slice),
                           .number = &slice,
                           .least = 1,
                           .most = 10'000});
        options.push_back(out_option(out));
        options.push_back({.name = "--seed", .value = "N", .help = "of the random input (default 1)", .number = &seed});
        options.push_back({.name = "--no-check",
                           .value = "",
                           .help = "time without checking results (while tuning)",
                           .flag = &no_check});
        return options;
    }
    /// For the programs with a peer that bench/pyptx_peer.py prints.
    [[nodiscard]] demo::option pyptx_option() {
        return {.name = "--pyptx",
                .value = "DIR",
                .help = "also time the kernels that bench/pyptx_peer.py wrote there",
                .text = &pyptx};
    }
    [[nodiscard]] static demo::option rounds_option(std::uint64_t& rounds) {
        return {.name = "--rounds",
                .value = "N",
                .help = fmt::format("rounds of all contenders (default {})", rounds),
                .number = &rounds,
                .least = 1,
                .most = 100'000};
    }
    [[nodiscard]] static demo::option out_option(std::string& out) {
        return {.name = "--out",
                .value = "FILE",
                .help = "append rows to this file; auto: bench/results/<date>-<device>.json",
                .text = &out};
    }
    /// The modes asked for; none when the word is not known.
    [[nodiscard]] std::vector<bench::mode> modes() const {
        std::vector<bench::mode> all;
        for (const auto m : {bench::mode::sustained, bench::mode::burst})
            if (mode == "both" || mode == name(m)) all.push_back(m);
        return all;
    }
    [[nodiscard]] settings settings_for(bench::mode m) const {
        return {.rounds = static_cast<unsigned>(rounds), .mode = m, .slice_ms = static_cast<double>(slice)};
    }
};

/// Runs `body(table)`, which adds rows, to its end or until a signal.
template <class Body>
int fill_table(results& table, Body&& body) {
    stop_on_signals();
    try {
        body(table);
    } catch (const stopped&) {
        alarm(0);
        table.finish(false);
        return demo::wrong;
    }
    table.finish(true);
    return demo::right;
}

/// A program that needs a device: `body(ctx, table)`.
template <class Body>
int with_device(const std::string& out, int argc, char** argv, Body&& body) {
    const auto ctx = demo::open_device();
    if (!ctx) return demo::say("{}", ctx.error().message()), demo::skipped;
    const provenance p = provenance_of(*ctx, argc, argv);
    results table(p, out == "auto" ? default_file(p) : out);
    return fill_table(table, [&](results& t) { body(*ctx, t); });
}

/// What comes behind the command line: `usage` says in a sentence what of it cannot be, empty when all is well.
template <class Run>
int program(int argc, char** argv, std::string_view what, const std::vector<demo::option>& options,
            const std::function<std::string()>& usage, Run&& run) {
    if (const auto status = demo::read_command_line(argc, argv, what, options)) return *status;
    if (const std::string wrong = usage(); !wrong.empty()) return fmt::print(stderr, "{}\n", wrong), demo::usage;
    return demo::guarded(run);
}

}  // namespace bench
