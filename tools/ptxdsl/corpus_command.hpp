// SPDX-License-Identifier: Apache-2.0
// ptxdsl corpus
#pragma once

#include "cxx.hpp"
#include "ptxas.hpp"
#include "text_commands.hpp"

#include <ptxdsl/transpile.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tool {

inline constexpr std::string_view corpus_help =
    R"(usage: ptxdsl corpus DIR [--ptxas PATH] [--cxx PATH] [--include DIR] [--jobs N] [--every N | --no-transpile]
                         [--foreign] [--by-folder] [--seconds N] [--verbose]

Runs everything on every .ptx file below DIR and prints what failed, file by file. The last line counts:

  files F assembled A parsed P lossless L semantic S transpiled T sugared G

  assembled    ptxas takes the file
  parsed       it has no syntax error here
  lossless     printed from tokens and trivia it is the same bytes
  semantic     printed from the tree alone, ptxas makes the same cubin of it (among the assembled ones)
  transpiled   as C++ it compiles and assembles to the same cubin (among the assembled ones)
  sugared      the same with --sugar

  --ptxas PATH   the assembler; default: $PTXDSL_PTXAS, the PATH, /usr/local/cuda/bin
  --cxx PATH     the C++ compiler for the transpiled sources; default: $CXX, c++. Warnings count as errors
  --include DIR  where <ptxdsl/module.hpp> is; default: the folder this program was built with
  --jobs N       files at a time; default: one for each processor
  --every N      transpile only one of N assembled files: the C++ compiler takes most of the time
  --no-transpile no C++ is compiled
  --foreign      texts of others: one that ptxas refuses is no failure, and 'check' may refuse it as well
  --by-folder    the counts of each folder in DIR as well, in lines that begin with its name
  --seconds N    stop after N seconds; files that were not finished by then are counted as such, nothing else of them
  --verbose      one line for each file, as soon as it is done, with the seconds it took

Large files begin first. A file whose path has a directory 'reject' must have a syntax error or be refused by 'check';
one whose path has a directory 'syntax-only' need not assemble.

Exit status: 0 all laws hold, 1 a failure, 2 wrong usage.
)";

/// What was found out about one file.
struct corpus_result {
    std::string file;
    bool assembled = false, parsed = false, lossless = false, semantic = false;
    bool transpiled = false, sugared = false, tried = false;
    bool text_differs_only = false;  ///< semantic but for the section that keeps the text
    bool varies = false;             ///< ptxas was seen to make several cubins of it
    bool finished = false;           ///< before the time was over
    double seconds = 0;
    std::vector<std::string> failures;
};

/// Whether ptxas makes the original's cubin of a text that has everything on the original's lines.
struct comparison {
    bool same = false, text_differs_only = false;
    std::string problem;
};

/// What ptxas makes of the file itself.
struct original_cubin {
    std::string text;
    assembly made;
    bool varies = false;  ///< ptxas makes several cubins of it
};
/// The number in the name of the section with the text is a hash of the text; where it has fewer digits than most,
/// other texts hardly ever get as many. Blanks at the end of the original give it all ten, and change nothing else.
[[nodiscard]] inline original_cubin with_long_number(const std::string& ptxas, const scratch& where, std::string text,
                                                     const std::string& architecture, ptxdsl::ptx_version version) {
    original_cubin o{std::move(text), {}};
    o.made = assemble(ptxas, where, o.text, architecture, mode_for(version));
    for (int attempt = 0; attempt < 40 && o.made.good; ++attempt) {
        const std::size_t digits = text_number(elf_file(o.made.cubin)).size();
        if (digits == 0 || digits == 10) break;
        o.text += ' ';
        o.made = assemble(ptxas, where, o.text, architecture, mode_for(version));
    }
    return o;
}
[[nodiscard]] inline bool same_code(const assembly& a, const assembly& b) {
    return a.cubin == b.cubin || same_but_for_text(a.cubin, b.cubin);
}
/// ptxas 13.0 makes several cubins of some texts, one or another by chance (its order follows addresses). Such a text
/// and its copy have the same set: assembles both again until they meet, or until each has stayed the same.
[[nodiscard]] inline bool same_by_chance(const std::string& ptxas, const scratch& where, const std::string& text,
                                         const std::string& architecture, ptxdsl::ptx_version version,
                                         original_cubin& original) {
    constexpr int before_giving_up = 4, most = 16;
    std::vector<assembly> originals{original.made}, copies;
    for (int attempt = 0; attempt < most; ++attempt) {
        originals.push_back(assemble(ptxas, where, original.text, architecture, mode_for(version)));
        copies.push_back(assemble(ptxas, where, text, architecture, mode_for(version)));
        original.varies = original.varies || originals.back().cubin != originals.front().cubin;
        for (const assembly& o : originals)
            if (same_code(o, copies.back())) return true;
        for (const assembly& c : copies)
            if (same_code(originals.back(), c)) return true;
        if (attempt + 1 == before_giving_up && !original.varies) return false;
    }
    return false;
}
[[nodiscard]] inline comparison compare_text(const std::string& ptxas, const scratch& where, std::string text,
                                             const std::string& architecture, ptxdsl::ptx_version version,
                                             original_cubin& original) {
    comparison c;
    const std::size_t digits = text_number(elf_file(original.made.cubin)).size();
    // The number in the name of the section with the text depends on the text and may be a digit shorter: blanks at the
    // end change it.
    for (int attempt = 0; attempt < 40; ++attempt, text += ' ') {
        const assembly other = assemble(ptxas, where, text, architecture, mode_for(version));
        c.same = other.good && same_code(original.made, other);
        c.text_differs_only = other.good && other.cubin != original.made.cubin;
        if (!other.good) c.problem = "does not assemble: " + other.log.substr(0, other.log.find('\n'));
        if (!other.good || c.same || text_number(elf_file(other.cubin)).size() == digits) break;
    }
    if (!c.same && c.problem.empty()) {
        c.same = same_by_chance(ptxas, where, text, architecture, version, original);
        c.text_differs_only = c.same && digits != 0;
    }
    if (!c.same && c.problem.empty()) c.problem = "gives another cubin";
    return c;
}

/// Tries the layouts in which the text may have to be for the same cubin (parse/print.hpp says why).
inline void compare_cubins(const std::string& ptxas, const scratch& where, const module_file& m,
                           const std::string& architecture, original_cubin& original, corpus_result& r) {
    const ptxdsl::ptx_version version = m.tree.read().version();
    const assembly canonical =
        assemble(ptxas, where, formatted(m, ptx::layout::canonical), architecture, mode_for(version));
    if (!canonical.good) {
        r.failures.push_back("the canonical text does not assemble: " +
                             canonical.log.substr(0, canonical.log.find('\n')));
        return;
    }
    r.semantic = canonical.cubin == original.made.cubin;
    if (r.semantic) return;
    const comparison c = compare_text(ptxas, where, formatted(m, ptx::layout::lines), architecture, version, original);
    r.semantic = c.same;
    r.text_differs_only = c.text_differs_only;
    if (!c.same) r.failures.push_back("the canonical text " + c.problem);
}

/// The transpiler's law: its C++ compiles without warnings, runs, and prints PTX with the original's cubin.
[[nodiscard]] inline bool transpiles(bool sugar, const cxx_compiler& cxx, const std::string& ptxas,
                                     const scratch& where, const module_file& m, const std::string& architecture,
                                     original_cubin& original, corpus_result& r) {
    ptx::transpile_options o;
    o.sugar = sugar;
    const ptx::transpiled t = ptx::transpile(m.tree.read(), o);
    const std::string name = sugar ? "the program with --sugar " : "the transpiled program ";
    const program_output p = cxx.run(where, t.text);
    if (!p.good) {
        r.failures.push_back(name + p.problem);
        return false;
    }
    const comparison c = compare_text(ptxas, where, p.text, architecture, m.tree.read().version(), original);
    if (!c.same) r.failures.push_back(name + "prints what " + c.problem);
    return c.same;
}

/// How the files are examined.
struct corpus_settings {
    std::string directory, ptxas;
    unsigned jobs = 1, every = 1, seconds = 0;
    bool foreign = false, verbose = false, by_folder = false;
};

[[nodiscard]] inline corpus_result examine(const std::string& file, const corpus_settings& settings,
                                           const cxx_compiler& cxx, bool transpile, const scratch& where) {
    const std::string& ptxas = settings.ptxas;
    corpus_result r;
    r.file = file;
    module_file m;
    if (!load(file, m)) {
        r.failures.push_back("cannot be read");
        return r;
    }
    r.parsed = m.tree.ok();
    ptx::text printed(static_cast<std::uint32_t>(m.source.size()));
    ptx::print_lossless(m.tree.read(), printed);
    r.lossless = printed.view() == m.source;
    if (!r.lossless) r.failures.push_back("printing the tokens does not give the bytes back");
    const std::string architecture = architecture_of(m.tree.read().target());
    const bool must_fail = file.find("/reject/") != file.npos;
    const bool may_be_refused = must_fail || file.find("/syntax-only/") != file.npos;
    if (!ptxas.empty()) {
        const ptxdsl::ptx_version version = m.tree.read().version();
        original_cubin original = with_long_number(ptxas, where, m.source, architecture, version);
        r.assembled = original.made.good;
        if (r.assembled && r.parsed) compare_cubins(ptxas, where, m, architecture, original, r);
        r.tried = r.assembled && r.parsed && transpile && cxx.found();
        if (r.tried) r.transpiled = transpiles(false, cxx, ptxas, where, m, architecture, original, r);
        if (r.tried) r.sugared = transpiles(true, cxx, ptxas, where, m, architecture, original, r);
        r.varies = original.varies;
        if (!r.assembled && settings.foreign) return r;
        if (!r.assembled && !may_be_refused)
            r.failures.push_back("ptxas refuses it: " + original.made.log.substr(0, original.made.log.find('\n')));
    }
    if (r.parsed) ptx::check_module(m.tree.read(), m.tree.messages);
    if (m.tree.ok() == must_fail) {
        const ptx::diagnostic* e = m.tree.messages.first_error();
        const ptx::position p = e == nullptr ? ptx::position{} : line_index(m.source).at(e->offset);
        r.failures.push_back(e == nullptr ? "should be refused"
                                          : fmt::format("{}:{}: {}", p.line, p.column, m.tree.messages.text(*e)));
    }
    return r;
}

[[nodiscard]] inline std::vector<std::string> ptx_files(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code problem;
    const auto skip = std::filesystem::directory_options::skip_permission_denied;
    for (std::filesystem::recursive_directory_iterator i(directory, skip, problem), end; !problem && i != end;
         i.increment(problem)) {
        std::error_code unreadable;
        if (i->is_regular_file(unreadable) && i->path().extension() == ".ptx") files.push_back(i->path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Indices of the files, the largest first: one that begins last must not be the one that takes longest.
[[nodiscard]] inline std::vector<std::size_t> by_size(const std::vector<std::string>& files) {
    std::vector<std::pair<std::uintmax_t, std::size_t>> sizes;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::error_code unreadable;
        const std::uintmax_t size = std::filesystem::file_size(files[i], unreadable);
        sizes.emplace_back(unreadable ? 0 : size, i);
    }
    std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::size_t> order;
    for (const auto& [size, i] : sizes) order.push_back(i);
    return order;
}

inline void print_failures(const corpus_result& r) {
    for (const std::string& f : r.failures) fmt::print("{}: {}\n", r.file, f);
}

/// Ends all children when the seconds are over, unless it goes away before.
class time_limit {
public:
    explicit time_limit(unsigned seconds) {
        if (seconds == 0) return;
        all_children().make_groups();
        watcher_ = std::thread([this, until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds)] {
            std::unique_lock<std::mutex> lock(mutex_);
            if (!done_.wait_until(lock, until, [this] { return over_; })) all_children().end();
        });
    }
    ~time_limit() {
        if (!watcher_.joinable()) return;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        done_.notify_one();
        watcher_.join();
    }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    bool over_ = false;
    std::thread watcher_;
};

/// Examines all files on several threads; results in the order of the names.
[[nodiscard]] inline std::vector<corpus_result> examine_all(const std::vector<std::string>& files,
                                                            const corpus_settings& settings, const cxx_compiler& cxx) {
    std::vector<corpus_result> results(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) results[i].file = files[i];
    const std::vector<std::size_t> order = by_size(files);
    std::atomic<std::size_t> next = 0;
    std::mutex output;
    const auto work = [&] {
        const scratch where;
        for (std::size_t n = next++; n < order.size() && !all_children().ended(); n = next++) {
            const std::size_t i = order[n];
            const auto begin = std::chrono::steady_clock::now();
            corpus_result r = examine(files[i], settings, cxx, i % settings.every == 0, where);
            r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            r.finished = !all_children().ended();
            const std::lock_guard<std::mutex> lock(output);
            if (settings.verbose && r.finished && r.failures.empty())
                fmt::print("{}: {} ({:.1f} s)\n", r.file, r.assembled ? "good" : "good, not assembled", r.seconds);
            if (settings.verbose && r.finished) print_failures(r), std::fflush(stdout);
            results[i] = std::move(r);
        }
    };
    const time_limit limit(settings.seconds);
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < settings.jobs && i < files.size(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return results;
}

/// The numbers of the last line, and those that need a sentence.
struct corpus_counts {
    std::size_t files = 0, assembled = 0, parsed = 0, lossless = 0, semantic = 0, transpiled = 0, sugared = 0;
    std::size_t unfinished = 0, untried = 0, with_text = 0, several = 0, failed = 0;

    void add(const corpus_result& r) {
        if (!r.finished) {
            ++unfinished;
            return;
        }
        ++files, failed += !r.failures.empty();
        assembled += r.assembled, parsed += r.parsed, lossless += r.lossless, semantic += r.assembled && r.semantic;
        with_text += r.semantic && r.text_differs_only, several += r.varies;
        transpiled += r.transpiled, sugared += r.sugared, untried += r.assembled && !r.tried;
    }
    [[nodiscard]] std::string line() const {
        return fmt::format("files {} assembled {} parsed {} lossless {} semantic {} transpiled {} sugared {}", files,
                           assembled, parsed, lossless, semantic, transpiled, sugared);
    }
    void explain() const {
        if (with_text != 0)
            fmt::print(
                "{} of the semantic ones have debug information; there the section that keeps the text was left out of "
                "the comparison\n",
                with_text);
        if (several != 0)
            fmt::print("of {} files ptxas makes several cubins, by chance; there one that both texts have is enough\n",
                       several);
        if (untried != 0) fmt::print("{} of the assembled files were not transpiled, as asked\n", untried);
        if (unfinished != 0) fmt::print("{} files were not finished when the time was over\n", unfinished);
    }
};

/// The folder of DIR that a file is in, "." for DIR itself.
[[nodiscard]] inline std::string folder_of(const std::string& file, const std::string& directory) {
    const std::filesystem::path inside = std::filesystem::path(file).lexically_relative(directory);
    return inside.has_parent_path() ? inside.begin()->string() : ".";
}

[[nodiscard]] inline int report(const std::vector<corpus_result>& results, const corpus_settings& settings) {
    corpus_counts all;
    std::map<std::string, corpus_counts> folders;
    for (const corpus_result& r : results) {
        all.add(r);
        if (settings.by_folder) folders[folder_of(r.file, settings.directory)].add(r);
        if (!settings.verbose && r.finished) print_failures(r);
    }
    all.explain();
    for (const auto& [name, counts] : folders)
        fmt::print("{}: {}{}{}\n", name, counts.line(),
                   counts.untried == 0 ? "" : fmt::format(", {} not transpiled", counts.untried),
                   counts.unfinished == 0 ? "" : fmt::format(", {} not finished", counts.unfinished));
    fmt::print("{}\n", all.line());
    return all.failed != 0 || all.unfinished != 0 ? found_errors : good;
}

inline int corpus_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--verbose", "--no-transpile", "--foreign", "--by-folder"},
                      {"--ptxas", "--cxx", "--include", "--jobs", "--every", "--seconds"});
    if (!a.problem.empty()) return usage_error("corpus", a.problem);
    if (a.rest.size() != 1) return usage_error("corpus", "one directory is examined");
    corpus_settings s;
    s.directory = a.rest[0];
    std::error_code unreadable;
    if (!std::filesystem::is_directory(s.directory, unreadable))
        return usage_error("corpus", fmt::format("'{}' is no directory", s.directory));
    const auto number = [&](std::string_view option, unsigned otherwise) {
        const std::string_view v = a.value(option);
        return v.empty() ? otherwise : static_cast<unsigned>(std::atoi(std::string(v).c_str()));
    };
    s.jobs = number("--jobs", std::thread::hardware_concurrency());
    s.every = number("--every", 1);
    s.seconds = number("--seconds", 0);
    if (s.jobs == 0 || s.every == 0 || (s.seconds == 0 && !a.value("--seconds").empty()))
        return usage_error("corpus", "--jobs, --every and --seconds take a number from 1");
    s.foreign = a.has("--foreign"), s.verbose = a.has("--verbose"), s.by_folder = a.has("--by-folder");
    const std::vector<std::string> files = ptx_files(s.directory);
    if (files.empty()) return usage_error("corpus", fmt::format("there is no .ptx file below '{}'", s.directory));
    s.ptxas = find_ptxas(a.value("--ptxas"));
    if (s.ptxas.empty()) fmt::print("no ptxas: nothing is assembled, the semantic law is not tested\n");

    const cxx_compiler cxx(!a.has("--no-transpile"), a.value("--cxx"), a.value("--include"));
    if (!cxx.found() && !(a.value("--cxx").empty() && a.value("--include").empty()))
        return usage_error("corpus", cxx.problem());
    if (!cxx.found()) fmt::print("{}: nothing is transpiled\n", cxx.problem());
    return report(examine_all(files, s, cxx), s);
}

}  // namespace tool
