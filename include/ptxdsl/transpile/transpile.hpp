// SPDX-License-Identifier: Apache-2.0
// PTX in, C++ out: the whole output file.
#pragma once

#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/transpile/launch_stub.hpp>
#include <ptxdsl/transpile/module_writer.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace ptxdsl::ptx {

struct transpile_options {
    std::string_view file = "module.ptx";  ///< what the output calls its origin
    bool sugar = false;                    ///< readable constructs and names where they provably change nothing
};

/// The C++ source, and how its instructions were written.
struct transpiled {
    std::string text;
    call_counts counts;
};

namespace detail {

[[nodiscard]] inline std::string comment_text(std::string_view s) {
    std::string out;
    for (char c : s) out += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? ' ' : c;
    return out;
}
[[nodiscard]] inline std::string target_name(ptxdsl::target t) {
    std::string s = "{" + std::to_string(t.sm);
    return s + (t.suffix == 0 ? ", 0}" : std::string(", '") + t.suffix + "'}");
}

inline void print_preamble(std::string_view file, ptxdsl::target t, bool uses_strings, std::string& out) {
    out += "// " + comment_text(file) +
           " as C++, written by `ptxdsl transpile`. The program prints the PTX; --help says more.\n";
    out += "// clang-format off\n";
    out += R"(#include <ptxdsl/module.hpp>

#include <cstdio>
#include <cstring>
)";
    if (uses_strings) out += "#include <string>\n";
    out += "\nnamespace px = ptxdsl;\n\nnamespace {\n\n";
    out += "constexpr px::target the_target = " + target_name(t) + ";\n";
    out += "using module_builder = px::module_builder<the_target>;\n\n";
}
inline void print_main(std::string_view file, std::string& out) {
    out += R"(
}  // namespace

int main(int argc, char** argv) {
    const bool help = argc > 1 && std::strcmp(argv[1], "--help") == 0;
    if (help || argc > 2) {
        std::fprintf(help ? stdout : stderr, "usage: %s [FILE]\n\nWrites the PTX module made from )";
    std::string name;
    for (char c : detail::comment_text(file)) name += c == '"' ? '\'' : c == '%' ? '_' : c;
    out += name;
    out += R"( to FILE or to standard output.\n", argv[0]);
        return help ? 0 : 2;
    }
    const auto ptx = px::assemble_module<the_target>(write_module);
    if (!ptx.ok()) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(ptx.error().size()), ptx.error().data());
        return 1;
    }
    std::FILE* const to = argc == 2 ? std::fopen(argv[1], "wb") : stdout;
    if (to == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    const bool written = std::fwrite(ptx.text().data(), 1, ptx.text().size(), to) == ptx.text().size();
    return (std::fclose(to) == 0 && written) ? 0 : 1;
}
)";
}
/// `: name(int)` of a name that C++ compilers make; empty for others.
[[nodiscard]] inline std::string readable(std::string_view name) {
    if (name.substr(0, 2) != "_Z") return {};
    int status = 0;
    char* const s = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
    std::string out = status == 0 && s != nullptr ? ": " + comment_text(s) : std::string();
    std::free(s);
    return out;
}
inline void print_functions(const module_writer& w, const transpile_options& o, std::string& out) {
    for (const cpp_function& f : w.functions) {
        out += "// " + std::string(f.is_entry ? ".entry " : ".func ") + comment_text(f.ptx_name) +
               (o.sugar ? readable(f.ptx_name) : std::string()) + "\n";
        out += "void " + f.cpp_name + "(module_builder& m) {\n";
        print_lines(f.lines, 1, out);
        out += "}\n\n";
    }
    out += "void write_module(module_builder& m) {\n";
    print_lines(w.module_, 1, out);
    out += "}\n";
}

}  // namespace detail

/// C++ for a module that was read without errors. Compiled and run, it prints PTX of which ptxas makes the same cubin.
[[nodiscard]] inline transpiled transpile(const tree_view& v, const transpile_options& o = {}) {
    transpiled result;
    const line_use lines = module_writer::lines_of(v);
    const auto print = [&](const module_writer& w) {
        detail::print_preamble(o.file, w.target(), w.uses_strings, result.text);
        detail::print_functions(w, o, result.text);
        detail::print_main(o.file, result.text);
        detail::print_launch_stub(v, result.text);
        result.counts = w.counts();
    };
    module_writer writer(v, lines, o.sugar);
    if (writer.run()) return print(writer), result;
    module_writer placed(v, line_use::all, o.sugar);
    static_cast<void>(placed.run());
    return print(placed), result;
}

}  // namespace ptxdsl::ptx
