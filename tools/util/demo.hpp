// SPDX-License-Identifier: Apache-2.0
// What the examples and the benchmarks share on the host: the command line, random data, timing, and what to show
// without a GPU.
//
// Exit status of every program: 0 right, 1 wrong result or a failed call, 2 wrong command line, 77 `--self-test`
// without a GPU, `--ptxas` without ptxas.
#pragma once

#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace demo {

namespace px = ptxdsl;
using px::bf16;
using px::f32;

enum exit_status { right = 0, wrong = 1, usage = 2, skipped = 77 };

// ---- terminal -------------------------------------------------------------------------------------------------------

/// Colour only where a person looks, and not where they asked for none (no-color.org).
[[nodiscard]] inline bool colour() {
    static const bool on = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    return on;
}
[[nodiscard]] inline std::string paint(std::string_view code, std::string_view text) {
    return colour() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}
[[nodiscard]] inline std::string good(std::string_view text) { return paint("32", text); }
[[nodiscard]] inline std::string bad(std::string_view text) { return paint("31;1", text); }
[[nodiscard]] inline std::string bold(std::string_view text) { return paint("1", text); }

template <class... A>
void say(fmt::format_string<A...> format, A&&... arguments) {
    fmt::print(format, std::forward<A>(arguments)...);
    std::fputc('\n', stdout);
    std::fflush(stdout);
}

// ---- command line ---------------------------------------------------------------------------------------------------

/// One option: a flag, or a name with a value that is written to `number`, `real` or `text`.
struct option {
    std::string_view name;   ///< with its dashes
    std::string_view value;  ///< what its value is called in the help; empty for a flag
    std::string help;
    bool* flag = nullptr;
    std::uint64_t* number = nullptr;
    std::string* text = nullptr;
    std::uint64_t least = 0;
    std::uint64_t most = ~std::uint64_t{0};
};

inline void print_help(std::string_view program, std::string_view what, const std::vector<option>& options) {
    fmt::print("{}\n\nusage: {} [options]\n\n", what, program);
    for (const option& o : options)
        fmt::print("  {:<22} {}\n", o.value.empty() ? std::string(o.name) : fmt::format("{} {}", o.name, o.value),
                   o.help);
    fmt::print("  {:<22} {}\n\n", "--help", "this text");
    fmt::print(
        "exit status: 0 right, 1 wrong result or a failed call, 2 wrong command line, 77 skipped (no GPU, no ptxas)\n");
}

/// Sets one option from its text; false with a sentence on stderr when the text does not fit.
inline bool set_option(const option& o, std::string_view value) {
    if (o.text != nullptr) return *o.text = value, true;
    std::uint64_t v = 0;
    const auto [end, e] = std::from_chars(value.data(), value.data() + value.size(), v);
    const bool number = e == std::errc{} && end == value.data() + value.size();
    if (number && v >= o.least && v <= o.most) return *o.number = v, true;
    fmt::print(stderr, "{} takes a number from {} to {}, not '{}'\n", o.name, o.least, o.most, value);
    return false;
}

/// Reads the command line. A value means: stop with this exit status.
inline std::optional<int> read_command_line(int argc, char** argv, std::string_view what,
                                            const std::vector<option>& options) {
    const std::string program = std::filesystem::path(argc > 0 ? argv[0] : "example").filename().string();
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "--help" || word == "-h") return print_help(program, what, options), right;
        const auto equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const auto found =
            std::find_if(options.begin(), options.end(), [&](const option& o) { return o.name == name; });
        if (found == options.end()) {
            fmt::print(stderr, "{}: there is no option '{}'; {} --help lists them\n", program, name, program);
            return usage;
        }
        if (found->flag != nullptr) {
            *found->flag = true;
            continue;
        }
        if (equals == std::string_view::npos && i + 1 == argc) {
            fmt::print(stderr, "{}: {} needs a value ({})\n", program, name, found->value);
            return usage;
        }
        if (!set_option(*found,
                        equals == std::string_view::npos ? std::string_view(argv[++i]) : word.substr(equals + 1)))
            return usage;
    }
    return std::nullopt;
}

/// Runs `body`, turning an error of the library into its sentence and exit status 1.
template <class Body>
int guarded(Body&& body) {
    try {
        return body();
    } catch (const std::exception& e) {
        std::fflush(stdout);
        fmt::print(stderr, "{} {}\n", bad("failed:"), e.what());
        return wrong;
    }
}

// ---- numbers --------------------------------------------------------------------------------------------------------

[[nodiscard]] inline float to_float(float v) { return v; }
[[nodiscard]] inline float to_float(bf16 v) { return std::bit_cast<float>(std::uint32_t{v.bits} << 16); }

template <class T>
[[nodiscard]] T from_float(float v);
template <>
[[nodiscard]] inline float from_float<float>(float v) {
    return v;
}
template <>
[[nodiscard]] inline bf16 from_float<bf16>(float v) {
    return {px::detail::brain_bits(v)};
}
/// Distance of `T` values near 1: twice the error of rounding to nearest.
template <class T>
inline constexpr double epsilon = sizeof(T) == 4 ? 0x1p-23 : 0x1p-7;
template <class T>
inline constexpr std::string_view type_name = sizeof(T) == 4 ? "f32" : "bf16";

/// A small fast generator (xorshift64*); the same seed gives the same numbers everywhere.
class generator {
public:
    explicit generator(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {
        for (int i = 0; i < 8; ++i) (void)next();
    }
    std::uint64_t next() {
        state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1du;
    }
    /// From 0 to n - 1.
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    /// Uniform in [-1, 1), 24 bits.
    float uniform() { return static_cast<float>(static_cast<std::int64_t>(next() >> 40) - (1 << 23)) * 0x1p-23f; }

private:
    std::uint64_t state_;
};

/// Runs `body(begin, end)` on parts of 0..n-1, one for each processor.
template <class Body>
void in_parallel(std::size_t n, Body&& body) {
    const std::size_t parts =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, std::max<std::size_t>(n, 1));
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < parts; ++p)
        threads.emplace_back([&body, n, p, parts] { body(n * p / parts, n * (p + 1) / parts); });
    for (auto& t : threads) t.join();
}

template <class T>
[[nodiscard]] std::vector<T> random_values(std::size_t n, std::uint64_t seed) {
    std::vector<T> v(n);
    constexpr std::size_t piece = 1 << 16;
    in_parallel((n + piece - 1) / piece, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            generator g(seed + 7919 * p);
            for (std::size_t i = p * piece; i < std::min(n, (p + 1) * piece); ++i) v[i] = from_float<T>(g.uniform());
        }
    });
    return v;
}

// ---- the device -----------------------------------------------------------------------------------------------------

/// The GPU to use, or the library's sentence why there is none.
[[nodiscard]] inline px::result<px::context> open_device() { return px::context::primary(0); }

/// Median time of one launch in microseconds; `launch()` enqueues one, after a warm-up.
template <class Launch>
[[nodiscard]] double median_microseconds(const px::stream& s, unsigned repeat, Launch&& launch) {
    const auto begin = px::check(px::event::create(s.ctx()));
    const auto end = px::check(px::event::create(s.ctx()));
    for (int i = 0; i < 3; ++i) launch();
    std::vector<double> times;
    for (unsigned i = 0; i < std::max(repeat, 1u); ++i) {
        px::check(begin.record(s));
        launch();
        px::check(end.record(s));
        px::check(end.synchronize());
        times.push_back(1e3 * static_cast<double>(px::check(px::event::elapsed_ms(begin, end))));
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// Every byte 0xff: a NaN in every format, so that an element nobody wrote is seen.
template <class T>
void poison(px::device_buffer<T>& b) {
    px::check(b.fill_bytes(0xff));
}

// ---- without a GPU --------------------------------------------------------------------------------------------------

/// `ptxas` as the environment (PTXDSL_PTXAS), the search path or the toolkit's usual place has it; empty when nowhere.
[[nodiscard]] inline std::string find_ptxas() {
    const auto usable = [](const std::string& p) { return !p.empty() && access(p.c_str(), X_OK) == 0; };
    if (const char* named = std::getenv("PTXDSL_PTXAS"); named != nullptr && usable(named)) return named;
    std::string places = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* h = std::getenv(home)) places += fmt::format(":{}/bin", h);
    places += ":/usr/local/cuda/bin";
    for (std::size_t at = 0; at <= places.size();) {
        const std::size_t end = std::min(places.find(':', at), places.size());
        const std::string p = places.substr(at, end - at) + "/ptxas";
        if (usable(p)) return p;
        at = end + 1;
    }
    return {};
}

/// What `ptxas -v` says of one kernel.
struct assembly {
    bool ok = false;
    unsigned registers = 0;
    unsigned spilled_bytes = 0;
    std::string log;
    [[nodiscard]] bool remarks() const { return log.find("C75") != std::string::npos; }  ///< lost wgmma or setmaxnreg
};

/// The number in front of `after` in `text`, 0 when it is not there.
[[nodiscard]] inline unsigned number_before(std::string_view text, std::string_view after) {
    const auto at = text.find(after);
    if (at == std::string_view::npos) return 0;
    std::size_t begin = at;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    unsigned v = 0;
    std::from_chars(text.data() + begin, text.data() + at, v);
    return v;
}

[[nodiscard]] inline assembly run_ptxas(const std::string& ptxas, std::string_view ptx, std::string_view target) {
    std::string folder = (std::filesystem::temp_directory_path() / "ptxdsl-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return {.log = "no temporary folder"};
    const std::string file = folder + "/kernel.ptx";
    std::ofstream(file, std::ios::binary) << ptx;
    assembly a;
    const std::string command =
        fmt::format("'{}' -arch={} -v -o '{}/kernel.cubin' '{}' 2>&1", ptxas, target, folder, file);
    if (std::FILE* pipe = popen(command.c_str(), "r")) {
        char buffer[4096];
        for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) a.log.append(buffer, n);
        a.ok = pclose(pipe) == 0;
    }
    std::filesystem::remove_all(folder);
    a.registers = number_before(a.log, " registers");
    a.spilled_bytes = number_before(a.log, " bytes spill stores");
    return a;
}

/// Lines `first` to `last` of a text, from 0, with a margin; a wgmma names a hundred registers, so long lines are cut.
inline void print_lines(std::string_view text, std::size_t first, std::size_t last) {
    constexpr std::size_t most = 140;
    for (std::size_t line = 0; !text.empty() && line < last; ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        if (line >= first) fmt::print("  | {}{}\n", text.substr(0, std::min(end, most)), end > most ? " ..." : "");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// The line on which `needle` first stands, if it does.
[[nodiscard]] inline std::optional<std::size_t> line_of(std::string_view text, std::string_view needle) {
    const auto at = text.find(needle);
    if (at == std::string_view::npos) return std::nullopt;
    return static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// What an example does where there is no GPU: says so, shows the kernel (its head, and `context` lines around
/// `needle`), and assembles it where there is a `ptxas`.
template <class Kernel>
int show_without_gpu(const px::error& why, const Kernel& kernel, std::string_view needle, std::size_t before,
                     std::size_t after) {
    say("{}\n", why.message());
    const std::string_view text = kernel.text();
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    say("So here is the PTX of '{}' instead ({} lines, {} bytes), assembled by the C++ compiler:\n", kernel.name(),
        lines, text.size());
    print_lines(text, 0, 24);
    if (const auto at = line_of(text, needle); at && *at + after > 24) {
        say("  : ");
        print_lines(text, *at > before + 24 ? *at - before : 24, *at + after);
    }
    say("  :\n");
    const std::string ptxas = find_ptxas();
    if (ptxas.empty())
        return say("No ptxas was found (on PATH or as PTXDSL_PTXAS), so it was not assembled further."), right;
    const assembly a = run_ptxas(ptxas, text, px::target_text(kernel.target()));
    if (!a.ok) return say("{} ptxas refused it:\n{}", bad("wrong:"), a.log), wrong;
    say("ptxas assembled it: {} registers a thread, {} bytes spilled.", a.registers, a.spilled_bytes);
    if (a.spilled_bytes == 0 && !a.remarks()) return right;
    return say("{} spills or remarks:\n{}", bad("wrong:"), a.log), wrong;
}

/// `--ptxas`: assembles kernels with ptxas and holds each to no spills and no remarks.
class ptxas_check {
public:
    /// False when there is no ptxas.
    [[nodiscard]] bool possible() const { return !ptxas_.empty(); }
    void add(std::string_view name, std::string_view text, px::target target) {
        const assembly a = run_ptxas(ptxas_, text, px::target_text(target));
        const bool fine = a.ok && a.spilled_bytes == 0 && !a.remarks();
        say("{:<44} {:>4} registers {:>4} bytes spilled  {}", name, a.registers, a.spilled_bytes,
            fine ? good("ok") : bad("wrong"));
        if (!fine) say("{}", a.log), ++wrong_;
    }
    [[nodiscard]] int status() const { return wrong_ == 0 ? right : wrong; }

private:
    std::string ptxas_ = find_ptxas();
    unsigned wrong_ = 0;
};
/// Runs `add_all(check)` for `--ptxas`.
template <class AddAll>
int check_with_ptxas(AddAll&& add_all) {
    ptxas_check c;
    if (!c.possible()) return say("skipped, no ptxas was found (on PATH or as PTXDSL_PTXAS)"), skipped;
    add_all(c);
    return c.status();
}

/// `--self-test` where there is no GPU.
inline int skip_self_test(const px::error& why) {
    say("skipped, the self-test needs a GPU: {}", why.message());
    return skipped;
}

}  // namespace demo
