// SPDX-License-Identifier: Apache-2.0
// ptxdsl check
#pragma once

#include "common.hpp"

#include <ptxdsl/parse/play.hpp>
#include <ptxdsl/parse/verify.hpp>
#include <ptxdsl/version.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace tool {

inline constexpr std::string_view check_help =
    R"(usage: ptxdsl check [--json | --sarif] [--no-verify | --syntax-only] [--no-play | --play] [--coverage] [--trace] FILE...

Reads PTX and reports what is wrong with it: syntax, names that are not declared, instructions whose modifiers or
operands no form of the instruction table has, forms that the module's .target or .version does not have; and, in
kernels without such errors, synchronisation that is provably wrong: missing fences and waits, mbarriers that cannot
complete, registers nobody writes. Then it executes the kernels on a model of a cluster, for several numbers of rounds
and schedules, and reports races, data in flight and deadlocks. 'ptxdsl explain ID' tells more about a message.

  FILE            a PTX file; '-' reads standard input
  --json          messages as a JSON array on standard output
  --sarif         messages as a SARIF 2.1.0 log on standard output
  --no-verify     instructions by themselves only, not what they do to each other
  --syntax-only   grammar only
  --no-play       does not execute kernels
  --play          executes them (the default), also with --no-verify, also with loops over a parameter that run zero
                  times (what only happens then is a warning), and lists all that was not followed; else one line a file
                  says how many kernels were not played to their end
  --play-limit S  seconds that executing the kernels of a file may take; what is left then is not executed, and a line
                  says so (default: 10; 0: no limit)
  --coverage      lists what was followed too: mbarriers with their phases, shared variables, roles
  --trace         shows for each finding the run that leads to it: schedule, parameters, last steps

Exit status: 0 no errors, 1 errors, 2 wrong usage or unreadable files.
)";

/// One message with its place, for the machine-readable outputs.
struct placed_message {
    std::string file;
    ptx::position begin, end;
    std::size_t begin_character, end_character;  ///< columns that count characters, not bytes
    ptx::severity severity;
    std::string id;
    std::string text;
};

/// The column, from 1, in characters of UTF-8.
[[nodiscard]] inline std::size_t characters(std::string_view line, std::uint32_t column) {
    std::size_t n = column;
    for (const char c : line.substr(0, column - 1)) n -= (static_cast<unsigned char>(c) & 0xc0u) == 0x80u ? 1 : 0;
    return n;
}

inline void place_messages(const module_file& m, std::vector<placed_message>& out) {
    const line_index lines(m.source);
    for (const ptx::diagnostic& d : m.tree.messages) {
        const ptx::position begin = lines.at(d.offset), end = lines.at(d.offset + d.length);
        out.push_back({std::string(shown_name(m.name)), begin, end, characters(lines.line(begin.line), begin.column),
                       characters(lines.line(end.line), end.column), d.severity,
                       fmt::format("PTXDSL-{}", std::string_view(d.id, 3)), std::string(m.tree.messages.text(d))});
    }
}

inline void print_json(const std::vector<placed_message>& all) {
    fmt::print("[");
    for (std::size_t i = 0; i < all.size(); ++i) {
        const placed_message& p = all[i];
        fmt::print(
            "{}\n  {{\"file\": {}, \"line\": {}, \"column\": {}, \"endLine\": {}, \"endColumn\": {}, \"severity\": \"{}\", \"id\": {}, \"message\": {}}}",
            i == 0 ? "" : ",", json_string(p.file), p.begin.line, p.begin.column, p.end.line, p.end.column,
            ptx::name(p.severity), json_string(p.id), json_string(p.text));
    }
    fmt::print("{}]\n", all.empty() ? "" : "\n");
}

/// A file's name as SARIF wants it: an URI reference (RFC 3986), a part of which no other character may be.
[[nodiscard]] inline std::string uri(std::string_view file) {
    std::string out;
    for (const char c : file) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        if (plain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

inline void print_sarif(const std::vector<placed_message>& all) {
    std::vector<std::string> rules;
    for (const placed_message& p : all)
        if (std::find(rules.begin(), rules.end(), p.id) == rules.end()) rules.push_back(p.id);
    fmt::print(
        "{{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [{{\n"
        "    \"tool\": {{\"driver\": {{\"name\": \"ptxdsl\", \"semanticVersion\": \"{}.{}.{}\", \"rules\": [",
        PTXDSL_VERSION_MAJOR, PTXDSL_VERSION_MINOR, PTXDSL_VERSION_PATCH);
    for (std::size_t i = 0; i < rules.size(); ++i)
        fmt::print("{}{{\"id\": {}}}", i == 0 ? "" : ", ", json_string(rules[i]));
    fmt::print("]}}}},\n    \"columnKind\": \"unicodeCodePoints\",\n    \"results\": [");
    for (std::size_t i = 0; i < all.size(); ++i) {
        const placed_message& p = all[i];
        fmt::print(
            "{}\n      {{\"ruleId\": {}, \"level\": \"{}\", \"message\": {{\"text\": {}}}, \"locations\": [{{\"physicalLocation\": {{\"artifactLocation\": {{\"uri\": {}}}, "
            "\"region\": {{\"startLine\": {}, \"startColumn\": {}, \"endLine\": {}, \"endColumn\": {}}}}}}}]}}",
            i == 0 ? "" : ",", json_string(p.id), ptx::name(p.severity), json_string(p.text), json_string(uri(p.file)),
            p.begin.line, p.begin_character, p.end.line, p.end_character);
    }
    fmt::print("{}]\n  }}]\n}}\n", all.empty() ? "" : "\n    ");
}

/// Whether kernels are played when nobody asks for it or against it.
inline constexpr bool plays_by_default = true;

/// Work that playing a kernel may take: a check has more time than an assembly at run time.
inline constexpr std::uint64_t most_work = 1'000'000;

/// When playing the kernels of a file has to end.
inline std::chrono::steady_clock::time_point play_until;
[[nodiscard]] inline bool play_time_is_up() { return std::chrono::steady_clock::now() >= play_until; }

/// One line for a file some of whose kernels were not played to their end: how many, and why the first one.
inline void print_ends(std::string_view name, const ptx::played_module& all) {
    std::vector<std::string_view> kernels;
    const ptx::not_followed* first = nullptr;
    for (const ptx::not_followed& r : all.rest) {
        if (!r.ends) continue;
        if (first == nullptr) first = &r;
        if (std::find(kernels.begin(), kernels.end(), r.kernel) == kernels.end()) kernels.emplace_back(r.kernel);
    }
    if (first == nullptr) return;
    const std::string name_of_first =
        std::string(first->kernel.substr(0, 60)) + (first->kernel.size() > 60 ? "..." : "");
    fmt::print(stderr, "{}: {} not played to the end ('{}': {}); 'ptxdsl check --play' lists all\n", shown_name(name),
               kernels.size() == 1 ? "a kernel was" : fmt::format("{} kernels were", kernels.size()), name_of_first,
               first->reason);
}

/// How a finding comes about: the run that leads to it, and its last steps.
inline void print_trace(std::string_view name, const line_index& lines, const ptx::trace& t) {
    fmt::print("{}:{}: trace in '{}': {} [PTXDSL-{}]\n    run: {}\n", shown_name(name), lines.at(t.offset).line,
               t.kernel, t.finding, t.id, t.run);
    for (const std::string& step : t.steps) fmt::print("    {}\n", step);
}

/// `ptxdsl explain [ID] --trace FILE`: plays the kernels of a file and prints the traces of what is found, all or those
/// with an id.
inline int explain_trace(std::string_view name, std::string_view id) {
    module_file m;
    if (!load(name, m)) return bad_usage;
    if (m.tree.ok()) ptx::check_module(m.tree.read(), m.tree.messages);
    if (!m.tree.ok()) {
        print_messages(name, m.source, m.tree.messages);
        return found_errors;
    }
    const ptx::played_module played =
        ptx::play_module(m.tree.read(), m.source, m.tree.messages, {.most_work = most_work});
    const line_index lines(m.source);
    bool any = false;
    for (const ptx::trace& t : played.traces) {
        if (!id.empty() && t.id != id) continue;
        print_trace(name, lines, t);
        any = true;
    }
    if (!any)
        fmt::print(stderr, "ptxdsl explain: playing the kernels of '{}' finds nothing{}\n", shown_name(name),
                   id.empty() ? "" : fmt::format(" of PTXDSL-{}", id));
    return any ? good : found_errors;
}

/// What playing the kernels did not follow, a line each; before it what it followed, where that was asked for, and how
/// it came to its findings.
inline void print_played(std::string_view name, std::string_view source, const ptx::played_module& all, bool traces) {
    const line_index lines(source);
    for (std::size_t k = 0; traces && k < all.traces.size(); ++k) print_trace(name, lines, all.traces[k]);
    for (const ptx::not_followed& f : all.followed)
        fmt::print("{}: followed in '{}': {}\n", shown_name(name), f.kernel, f.reason);
    for (const ptx::not_followed& r : all.rest)
        if (r.placed)
            fmt::print("{}:{}: not followed in '{}': {}\n", shown_name(name), lines.at(r.offset).line, r.kernel,
                       r.reason);
        else
            fmt::print("{}: not followed in '{}': {}\n", shown_name(name), r.kernel, r.reason);
}

inline int check_command(const std::vector<std::string_view>& words) {
    const arguments a(
        words, {"--json", "--sarif", "--no-verify", "--syntax-only", "--play", "--no-play", "--coverage", "--trace"},
        {"--play-limit"});
    if (!a.problem.empty()) return usage_error("check", a.problem);
    if (a.rest.empty()) return usage_error("check", "no file");
    if (a.has("--json") && a.has("--sarif")) return usage_error("check", "--json and --sarif exclude each other");
    if (a.has("--play") && a.has("--no-play")) return usage_error("check", "--play and --no-play exclude each other");
    const bool asked = a.has("--play") || a.has("--coverage") || a.has("--trace");
    const bool plays = !a.has("--no-play") && ((plays_by_default && !a.has("--no-verify")) || asked);
    const std::string_view seconds = a.value("--play-limit", "10");
    unsigned limit = 0;
    if (const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), limit);
        error != std::errc() || end != seconds.data() + seconds.size())
        return usage_error("check", fmt::format("--play-limit wants a number of seconds, not '{}'", seconds));
    const bool for_machines = a.has("--json") || a.has("--sarif");
    std::vector<placed_message> placed;
    int status = good;
    for (std::string_view name : a.rest) {
        module_file m;
        if (!load(name, m)) {
            status = bad_usage;
            continue;
        }
        if (m.tree.ok() && !a.has("--syntax-only")) ptx::check_module(m.tree.read(), m.tree.messages);
        if (m.tree.ok() && !a.has("--syntax-only") && !a.has("--no-verify"))
            ptx::verify_module(m.tree.read(), m.tree.messages);
        ptx::played_module played;
        if (m.tree.ok() && !a.has("--syntax-only") && plays) {
            play_until = std::chrono::steady_clock::now() + std::chrono::seconds(limit);
            played = ptx::play_module(m.tree.read(), m.source, m.tree.messages,
                                      {.limit = {.stop = limit == 0 ? nullptr : &play_time_is_up},
                                       .objects = a.has("--coverage"),
                                       .zero_rounds = asked,
                                       .most_work = most_work});
        }
        m.tree.messages.raise("P02");  // read all the same, but the question is what ptxas takes
        if (!m.tree.ok() && status == good) status = found_errors;
        if (for_machines)
            place_messages(m, placed);
        else
            print_messages(name, m.source, m.tree.messages);
        if (asked && !for_machines)
            print_played(name, m.source, played, a.has("--trace"));
        else
            print_ends(name, played);
    }
    if (a.has("--json")) print_json(placed);
    if (a.has("--sarif")) print_sarif(placed);
    return status;
}

}  // namespace tool
