// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the transpiler: any module that parses becomes C++, plain and sugared, without a crash, and
// the same text each time. What the C++ prints is the corpus test's business.
#include <ptxdsl/transpile.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace ptx = ptxdsl::ptx;

namespace {

void law(bool holds, const char* which) {
    if (holds) return;
    std::fprintf(stderr, "law broken: %s\n", which);
    std::abort();
}

/// Braces of the output outside of strings and comments: each one opened is closed.
bool balanced(const std::string& s) {
    long depth = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (s[i] == '/' && i + 1 < s.size() && s[i + 1] == '/') {
            while (i < s.size() && s[i] != '\n') ++i;
        } else if (s[i] == '"' || s[i] == '\'') {
            const char quote = s[i];
            for (++i; i < s.size() && s[i] != quote; ++i)
                if (s[i] == '\\') ++i;
            if (i >= s.size()) return false;
        } else if (s[i] == '{') {
            ++depth;
        } else if (s[i] == '}' && --depth < 0) {
            return false;
        }
    }
    return depth == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    const ptx::tree t = ptxdsl::parse(source);
    if (!t.ok()) return 0;
    for (const bool sugar : {false, true}) {
        ptx::transpile_options o;
        o.sugar = sugar;
        const ptx::transpiled once = ptx::transpile(t.read(), o);
        law(balanced(once.text), "balanced braces");
        law(ptx::transpile(t.read(), o).text == once.text, "the same text each time");
    }
    return 0;
}
