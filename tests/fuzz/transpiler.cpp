// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the transpiler: any module that parses becomes C++, plain and sugared, without a crash, with all
// its instructions, and the same text each time. What the C++ prints is the corpus test's business.
#include "laws.hpp"

#include <ptxdsl/transpile.hpp>

namespace ptx = ptxdsl::ptx;

namespace {

/// Braces, brackets and quotes of the output, outside of comments: each one opened is closed.
bool balanced(const std::string& s) {
    std::string open;
    for (std::size_t i = 0; i < s.size(); ++i) {
        const char c = s[i];
        if (c == '/' && i + 1 < s.size() && s[i + 1] == '/') {
            while (i < s.size() && s[i] != '\n') ++i;
        } else if (c == '"' || c == '\'') {
            for (++i; i < s.size() && s[i] != c && s[i] != '\n'; ++i)
                if (s[i] == '\\') ++i;
            if (i >= s.size() || s[i] == '\n') return false;
        } else if (c == '{' || c == '(' || c == '[') {
            open += c == '{' ? '}' : c == '(' ? ')' : ']';
        } else if (c == '}' || c == ')' || c == ']') {
            if (open.empty() || open.back() != c) return false;
            open.pop_back();
        }
    }
    return open.empty();
}

std::size_t instructions(const ptx::tree_view& v) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < v.n_nodes; ++i) n += v.kind(i) == ptx::node_kind::instruction;
    return n;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source = fuzz::text(data, size);
    const ptx::tree t = ptxdsl::parse(source);
    if (!t.ok()) return 0;
    for (const bool sugar : {false, true}) {
        ptx::transpile_options o;
        o.sugar = sugar;
        const ptx::transpiled once = ptx::transpile(t.read(), o);
        fuzz::law(balanced(once.text), "balanced brackets");
        fuzz::law(once.counts.typed + once.counts.checked + once.counts.text == instructions(t.read()),
                  "every instruction is written once");
        fuzz::law(ptx::transpile(t.read(), o).text == once.text, "the same text each time");
    }
    return 0;
}
