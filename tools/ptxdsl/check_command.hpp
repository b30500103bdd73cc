// SPDX-License-Identifier: Apache-2.0
// ptxdsl check
#pragma once

#include "common.hpp"

namespace tool {

inline constexpr std::string_view check_help = R"(usage: ptxdsl check [--json | --sarif] [--syntax-only] FILE...

Reads PTX and reports what is wrong with it: syntax, names that are not declared, instructions whose modifiers or
operands no form of the instruction table has, and forms that the module's .target or .version does not have.

  FILE            a PTX file; '-' reads standard input
  --json          messages as a JSON array on standard output
  --sarif         messages as a SARIF 2.1.0 log on standard output
  --syntax-only   grammar only

Exit status: 0 no errors, 1 errors, 2 wrong usage or unreadable files.
)";

/// One message with its place, for the machine-readable outputs.
struct placed_message {
    std::string file;
    ptx::position begin, end;
    ptx::severity severity;
    std::string id;
    std::string text;
};

inline void place_messages(const module_file& m, std::vector<placed_message>& out) {
    const line_index lines(m.source);
    for (const ptx::diagnostic& d : m.tree.messages)
        out.push_back({std::string(shown_name(m.name)), lines.at(d.offset), lines.at(d.offset + d.length), d.severity,
                       fmt::format("PTXDSL-{}", std::string_view(d.id, 3)), std::string(m.tree.messages.text(d))});
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

inline void print_sarif(const std::vector<placed_message>& all) {
    fmt::print(
        "{{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [{{\n"
        "    \"tool\": {{\"driver\": {{\"name\": \"ptxdsl\"}}}},\n    \"columnKind\": \"utf16CodeUnits\",\n    \"results\": [");
    for (std::size_t i = 0; i < all.size(); ++i) {
        const placed_message& p = all[i];
        fmt::print(
            "{}\n      {{\"ruleId\": {}, \"level\": \"{}\", \"message\": {{\"text\": {}}}, \"locations\": [{{\"physicalLocation\": {{\"artifactLocation\": {{\"uri\": {}}}, "
            "\"region\": {{\"startLine\": {}, \"startColumn\": {}, \"endLine\": {}, \"endColumn\": {}}}}}}}]}}",
            i == 0 ? "" : ",", json_string(p.id), ptx::name(p.severity), json_string(p.text), json_string(p.file),
            p.begin.line, p.begin.column, p.end.line, p.end.column);
    }
    fmt::print("{}]\n  }}]\n}}\n", all.empty() ? "" : "\n    ");
}

inline int check_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--json", "--sarif", "--syntax-only"}, {});
    if (!a.problem.empty()) return usage_error("check", a.problem);
    if (a.rest.empty()) return usage_error("check", "no file");
    if (a.has("--json") && a.has("--sarif")) return usage_error("check", "--json and --sarif exclude each other");
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
        if (!m.tree.ok() && status == good) status = found_errors;
        if (for_machines)
            place_messages(m, placed);
        else
            print_messages(name, m.source, m.tree.messages);
    }
    if (a.has("--json")) print_json(placed);
    if (a.has("--sarif")) print_sarif(placed);
    return status;
}

}  // namespace tool
