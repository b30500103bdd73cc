// SPDX-License-Identifier: Apache-2.0
// ptxdsl corpus
#pragma once

#include "ptxas.hpp"
#include "text_commands.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace tool {

inline constexpr std::string_view corpus_help = R"(usage: ptxdsl corpus DIR [--ptxas PATH] [--cxx PATH] [--jobs N] [--verbose]

Runs everything on every .ptx file below DIR and prints what failed, file by file. The last line counts:

  files F assembled A parsed P lossless L semantic S transpiled T sugared G

  assembled    ptxas takes the file
  parsed       it has no syntax error here
  lossless     printed from tokens and trivia it is the same bytes
  semantic     printed from the tree alone, ptxas makes the same cubin of it (among the assembled ones)
  transpiled   as C++ it compiles and assembles to the same cubin (among the assembled ones)
  sugared      the same with --sugar

  --ptxas PATH   the assembler; default: $PTXDSL_PTXAS, the PATH, /usr/local/cuda/bin
  --cxx PATH     the C++ compiler for the transpiled sources
  --jobs N       files at a time; default: one for each processor
  --verbose      one line for each file

A file whose path has a directory 'reject' must have a syntax error or be refused by 'check'; one whose path has a
directory 'syntax-only' need not assemble.

Exit status: 0 all laws hold, 1 a failure, 2 wrong usage.
)";

/// What was found out about one file.
struct corpus_result {
    std::string file;
    bool assembled = false, parsed = false, lossless = false, semantic = false;
    bool text_differs_only = false;  ///< semantic but for the section that keeps the text
    std::vector<std::string> failures;
};

/// Tries the layouts in which the text may have to be for the same cubin (parse/print.hpp says why).
inline void compare_cubins(const std::string& ptxas, const scratch& where, const module_file& m, const std::string& architecture, const assembly& original, corpus_result& r) {
    const std::vector<std::string> options = mode_for(m.tree.read().version());
    const assembly canonical = assemble(ptxas, where, formatted(m, ptx::layout::canonical), architecture, options);
    if (!canonical.good) {
        r.failures.push_back("the canonical text does not assemble: " + canonical.log.substr(0, canonical.log.find('\n')));
        return;
    }
    if (canonical.cubin == original.cubin) {
        r.semantic = true;
        return;
    }
    std::string text = formatted(m, ptx::layout::lines);
    // The number in the section's name depends on the text and may be a digit shorter: blanks at the end change it.
    for (int attempt = 0; attempt < 40 && !r.semantic; ++attempt, text += ' ') {
        const assembly lines = assemble(ptxas, where, text, architecture, options);
        r.semantic = lines.good && (lines.cubin == original.cubin || same_but_for_text(original.cubin, lines.cubin));
        r.text_differs_only = lines.good && lines.cubin != original.cubin;
        if (!lines.good || text_number(elf_file(lines.cubin)).size() == text_number(elf_file(original.cubin)).size()) break;
    }
    if (!r.semantic) r.failures.push_back("the canonical text gives another cubin");
}

[[nodiscard]] inline corpus_result examine(const std::string& file, const std::string& ptxas, const scratch& where) {
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
    if (!ptxas.empty()) {
        const assembly original = assemble(ptxas, where, m.source, architecture, mode_for(m.tree.read().version()));
        r.assembled = original.good;
        if (r.assembled && r.parsed) compare_cubins(ptxas, where, m, architecture, original, r);
        if (!r.assembled && !must_fail && file.find("/syntax-only/") == file.npos) r.failures.push_back("ptxas refuses it: " + original.log.substr(0, original.log.find('\n')));
    }
    if (r.parsed) ptx::check_module(m.tree.read(), m.tree.messages);
    if (m.tree.ok() == must_fail) {
        const ptx::diagnostic* e = m.tree.messages.first_error();
        const ptx::position p = e == nullptr ? ptx::position{} : line_index(m.source).at(e->offset);
        r.failures.push_back(e == nullptr ? "should be refused" : fmt::format("{}:{}: {}", p.line, p.column, m.tree.messages.text(*e)));
    }
    return r;
}

[[nodiscard]] inline std::vector<std::string> ptx_files(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code problem;
    for (std::filesystem::recursive_directory_iterator i(directory, problem), end; !problem && i != end; i.increment(problem))
        if (i->is_regular_file() && i->path().extension() == ".ptx") files.push_back(i->path().string());
    std::sort(files.begin(), files.end());
    return files;
}

/// Examines all files on several threads; results in the order of the names.
[[nodiscard]] inline std::vector<corpus_result> examine_all(const std::vector<std::string>& files, const std::string& ptxas, unsigned jobs) {
    std::vector<corpus_result> results(files.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        const scratch where;
        for (std::size_t i = next++; i < files.size(); i = next++) results[i] = examine(files[i], ptxas, where);
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < jobs && i < files.size(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    return results;
}

inline int corpus_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--verbose"}, {"--ptxas", "--cxx", "--jobs"});
    if (!a.problem.empty()) return usage_error("corpus", a.problem);
    if (a.rest.size() != 1) return usage_error("corpus", "one directory is examined");
    const std::string directory(a.rest[0]);
    if (!std::filesystem::is_directory(directory)) return usage_error("corpus", fmt::format("'{}' is no directory", directory));
    unsigned jobs = std::thread::hardware_concurrency();
    if (const std::string_view j = a.value("--jobs"); !j.empty()) jobs = static_cast<unsigned>(std::atoi(std::string(j).c_str()));
    if (jobs == 0) return usage_error("corpus", "--jobs takes a number from 1");
    const std::string ptxas = find_ptxas(a.value("--ptxas"));
    if (ptxas.empty()) fmt::print("no ptxas: nothing is assembled, the semantic law is not tested\n");

    const std::vector<corpus_result> results = examine_all(ptx_files(directory), ptxas, jobs);
    std::size_t assembled = 0, parsed = 0, lossless = 0, semantic = 0, with_text = 0;
    int status = good;
    for (const corpus_result& r : results) {
        assembled += r.assembled, parsed += r.parsed, lossless += r.lossless, semantic += r.assembled && r.semantic, with_text += r.semantic && r.text_differs_only;
        if (a.has("--verbose") && r.failures.empty()) fmt::print("{}: {}\n", r.file, r.assembled ? "good" : "good, not assembled");
        for (const std::string& f : r.failures) fmt::print("{}: {}\n", r.file, f), status = found_errors;
    }
    if (with_text != 0) fmt::print("{} of the semantic ones have debug information; there the section that keeps the text was left out of the comparison\n", with_text);
    fmt::print("files {} assembled {} parsed {} lossless {} semantic {} transpiled 0 sugared 0\n", results.size(), assembled, parsed, lossless, semantic);
    return status;
}

}  // namespace tool
