// SPDX-License-Identifier: Apache-2.0
// ptxdsl transpile
#pragma once

#include "common.hpp"

#include <ptxdsl/transpile.hpp>

namespace tool {

inline constexpr std::string_view transpile_help = R"(usage: ptxdsl transpile FILE [-o OUTPUT] [--sugar] [--stats]

Turns a PTX module into C++ that prints it: every instruction a call of the builder, with the names of the PTX.
Compiled (g++ 12, clang 19 or newer, C++20) and run, the program writes PTX of which ptxas makes the same cubin.

  -o OUTPUT   write to a file instead of standard output
  --sugar     readable: registers named by what they hold, branches as if_, else_ and loops, repeated groups of calls as
              C++ loops, C++ names in comments; where that could change the cubin the plain form stays
  --stats     say on standard error how the instructions were written: typed calls, calls checked against the
              instruction table (k.inst), unchecked text (k.raw)

Exit status: 0 done, 1 the file has errors, 2 wrong usage.
)";

inline int transpile_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--stats", "--sugar"}, {"-o"});
    if (!a.problem.empty()) return usage_error("transpile", a.problem);
    if (a.rest.size() != 1) return usage_error("transpile", "one file is read");
    module_file m;
    if (!load(a.rest[0], m)) return bad_usage;
    if (!m.tree.ok()) {
        print_messages(m.name, m.source, m.tree.messages);
        return found_errors;
    }
    const std::size_t slash = m.name.rfind('/');
    const std::string file(
        shown_name(slash == m.name.npos ? std::string_view(m.name) : std::string_view(m.name).substr(slash + 1)));
    ptx::transpile_options o;
    o.file = file;
    o.sugar = a.has("--sugar");
    const ptx::transpiled t = ptx::transpile(m.tree.read(), o);
    if (a.has("--stats"))
        fmt::print(stderr, "{}: {} typed calls, {} checked against the table, {} as text\n", shown_name(m.name),
                   t.counts.typed, t.counts.checked, t.counts.text);
    const std::string_view to = a.value("-o");
    if (to.empty()) return write_all(t.text) ? good : bad_usage;
    std::ofstream out(std::string(to), std::ios::binary);
    out << t.text;
    out.close();
    if (!out) fmt::print(stderr, "ptxdsl: cannot write '{}': {}\n", to, std::strerror(errno));
    return out ? good : bad_usage;
}

}  // namespace tool
