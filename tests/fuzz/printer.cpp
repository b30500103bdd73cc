// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the printers. Laws of every text that parses: each layout parses to the same tree and prints
// itself again unchanged; the layout with comments keeps them all; that with lines keeps the line of every statement.
#include "laws.hpp"

#include <ptxdsl/parse.hpp>

namespace ptx = ptxdsl::ptx;

namespace {

bool same_tree(const ptx::tree_view& a, const ptx::tree_view& b) {
    if (a.n_nodes != b.n_nodes) return false;
    for (std::uint32_t i = 0; i < a.n_nodes; ++i)
        if (a.kind(i) != b.kind(i) || a[i].end != b[i].end || a[i].flags != b[i].flags || a.atom(i) != b.atom(i))
            return false;
    return true;
}

std::size_t comments(const ptx::tree_view& v) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < v.n_tokens; ++i) {
        const std::string_view s = v.word(v.tokens[i].trivia);
        for (std::size_t k = 0; k + 1 < s.size(); ++k) {
            if (s[k] == '#') k = s.find('\n', k) == s.npos ? s.size() - 1 : s.find('\n', k);  // a line marker
            if (s[k] != '/') continue;
            ++n;
            const bool block = s[k + 1] == '*';
            const std::size_t end = block ? s.find("*/", k + 2) : s.find('\n', k);
            if (end == s.npos) break;
            k = block ? end + 1 : end;
        }
    }
    return n;
}

void same_lines(std::string_view from, const ptx::tree_view& a, std::string_view to, const ptx::tree_view& b) {
    for (std::uint32_t i = 1; i < a.n_nodes && i < 4000; ++i) {
        if (a.kind(i) == ptx::node_kind::dwarf) {  // what is in it stands on its line
            i = a[i].end - 1;
            continue;
        }
        const bool statement = a.kind(i) == ptx::node_kind::instruction || a.kind(i) == ptx::node_kind::label ||
                               a.kind(i) == ptx::node_kind::declaration;
        if (statement)
            fuzz::law(ptx::position_of(from, a.offset(i)).line <= ptx::position_of(to, b.offset(i)).line,
                      "no statement moves up");
    }
}

void print_and_read(std::string_view source, const ptx::tree_view& v, ptx::layout l) {
    ptx::text once;
    ptx::print_canonical(v, once, l);
    const ptx::tree again = ptxdsl::parse(once.view());
    const ptx::tree_view w = again.read();
    fuzz::law(again.ok(), "printed text parses");
    fuzz::law(same_tree(v, w), "printed text has the same tree");
    ptx::text twice;
    ptx::print_canonical(w, twice, l);
    fuzz::law(once.view() == twice.view(), "the layout is stable");
    if (l == ptx::layout::commented) fuzz::law(comments(v) == comments(w), "comments are kept");
    if (l == ptx::layout::lines && source.size() < 4096) same_lines(source, v, once.view(), w);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source = fuzz::text(data, size);
    const ptx::tree t = ptxdsl::parse(source);
    if (!t.ok()) return 0;
    for (const ptx::layout l : {ptx::layout::canonical, ptx::layout::commented, ptx::layout::lines})
        print_and_read(source, t.read(), l);
    return 0;
}
