// SPDX-License-Identifier: Apache-2.0
// A C++ compiler as a child process, for the programs that `ptxdsl transpile` writes.
#pragma once

#include "ptxas.hpp"

#include <cstdlib>
#include <filesystem>

namespace tool {

/// What a compiled program printed.
struct program_output {
    bool good = false;
    std::string text;
    std::string problem;
};

/// Compiles and runs transpiled programs. What they include is compiled once, when the object is made.
class cxx_compiler {
public:
    cxx_compiler(bool wanted, std::string_view path, std::string_view include) : include_(include) {
        if (!wanted) {
            problem_ = "no C++ compiler is used";
            return;
        }
        if (include_.empty()) include_ = PTXDSL_INCLUDE_DIR;
        include_ = std::filesystem::absolute(include_).string();
        if (std::error_code problem; !std::filesystem::exists(include_ + "/ptxdsl/module.hpp", problem)) {
            problem_ = "there is no <ptxdsl/module.hpp> in '" + include_ + "' (--include)";
            return;
        }
        find(path);
        if (found()) precompile();
    }

    [[nodiscard]] bool found() const { return problem_.empty(); }
    [[nodiscard]] const std::string& problem() const { return problem_; }

    /// Compiles `source` in `where` without optimisation and with warnings as errors, and runs it.
    [[nodiscard]] program_output run(const scratch& where, const std::string& source) const {
        program_output out;
        const std::string& d = where.path();
        std::ofstream(d + "/module.cpp", std::ios::binary) << source;
        std::vector<std::string> compile = base();
        compile.insert(compile.end(), {"-Werror", "-include", header(), "-o", "module", "module.cpp"});
        if (tool::run(d, compile, d + "/log") != 0) {
            out.problem = "does not compile: " + first_error(d + "/log");
            return out;
        }
        std::filesystem::remove(d + "/out.ptx");
        if (tool::run(d, {d + "/module", "out.ptx"}, d + "/log") != 0) {
            out.problem = "fails: " + first_error(d + "/log");
            return out;
        }
        std::ifstream text(d + "/out.ptx", std::ios::binary);
        out.text.assign(std::istreambuf_iterator<char>(text), {});
        out.good = true;
        return out;
    }

private:
    void find(std::string_view path) {
        std::string name(path);
        if (name.empty() && std::getenv("CXX") != nullptr) name = std::getenv("CXX");
        if (name.empty()) name = "c++";
        if (name.find('/') != name.npos) {
            if (access(name.c_str(), X_OK) == 0) compiler_ = name;
        } else {
            const char* const all = std::getenv("PATH");
            const std::string list = all == nullptr ? "" : all;
            for (std::size_t begin = 0; begin <= list.size() && compiler_.empty();) {
                std::size_t end = list.find(':', begin);
                if (end == list.npos) end = list.size();
                const std::string file = list.substr(begin, end - begin) + "/" + name;
                if (access(file.c_str(), X_OK) == 0) compiler_ = file;
                begin = end + 1;
            }
        }
        compiler_ = from_anywhere(compiler_);
        if (compiler_.empty()) problem_ = "there is no C++ compiler '" + name + "' (--cxx)";
    }
    [[nodiscard]] std::vector<std::string> base() const {
        // With a stack protector, the default of some distributions, g++ takes time that grows with the square of a
        // function's length: minutes instead of seconds for ten thousand statements.
        return {compiler_,  "-std=c++20", "-O0",   "-fno-stack-protector", "-Wall", "-Wextra", "-Wconversion",
                "-Wshadow", "-I",         include_};
    }
    [[nodiscard]] std::string header() const { return precompiled_.path() + "/used.hpp"; }
    void precompile() {
        std::ofstream(header()) << "#include <ptxdsl/module.hpp>\n#include <cstdio>\n#include <cstring>\n";
        std::vector<std::string> command = base();
        const bool clang = std::filesystem::path(compiler_).filename().string().find("clang") != std::string::npos;
        command.insert(command.end(), {"-x", "c++-header", header(), "-o", header() + (clang ? ".pch" : ".gch")});
        if (tool::run(precompiled_.path(), command, precompiled_.path() + "/log") != 0)
            problem_ =
                "the C++ compiler does not take <ptxdsl/module.hpp>: " + first_error(precompiled_.path() + "/log");
    }
    /// The first line that says `error`, or the first one.
    [[nodiscard]] static std::string first_error(const std::string& log) {
        std::ifstream in(log);
        std::string line, first;
        while (std::getline(in, line)) {
            if (first.empty()) first = line;
            if (line.find("error") != line.npos) return line;
        }
        return first;
    }

    std::string compiler_, include_, problem_;
    scratch precompiled_;
};

}  // namespace tool
