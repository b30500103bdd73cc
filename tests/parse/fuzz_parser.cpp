// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for lexer, parser, printers and checker, and the laws that hold for every input:
// the tokens print the bytes back; what parses prints to something that parses to the same tree.
#include <ptxdsl/parse.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ptx = ptxdsl::ptx;

namespace {

void law(bool holds, const char* which) {
    if (holds) return;
    std::fprintf(stderr, "law broken: %s\n", which);
    std::abort();
}

bool same_tree(const ptx::tree_view& a, const ptx::tree_view& b) {
    if (a.n_nodes != b.n_nodes) return false;
    for (std::uint32_t i = 0; i < a.n_nodes; ++i)
        if (a.kind(i) != b.kind(i) || a[i].end != b[i].end || a[i].flags != b[i].flags || a.atom(i) != b.atom(i))
            return false;
    return true;
}

void print_and_read(const ptx::tree& t, ptx::layout l) {
    const ptx::tree_view v = t.read();
    ptx::text once;
    ptx::print_canonical(v, once, l);
    const ptx::tree again = ptxdsl::parse(once.view());
    law(again.ok(), "canonical text parses");
    law(same_tree(v, again.read()), "canonical text has the same tree");
    ptx::text twice;
    const ptx::tree_view w = again.read();
    ptx::print_canonical(w, twice, l);
    law(once.view() == twice.view(), "the layout is stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    ptx::tree t = ptxdsl::parse(source);
    ptx::text bytes;
    ptx::print_lossless(t.read(), bytes);
    law(bytes.view() == source, "lossless");
    for (const ptx::diagnostic& d : t.messages) law(d.offset <= size, "messages lie in the text");
    if (!t.ok()) return 0;
    print_and_read(t, ptx::layout::canonical);
    print_and_read(t, ptx::layout::lines);
    const ptx::tree_view v = t.read();
    ptx::check_module(v, t.messages);
    for (std::uint32_t n = 1; n < v[0].end; n = v[n].end)
        if (v.kind(n) == ptx::node_kind::entry) static_cast<void>(ptx::facts_of(v, n));
    return 0;
}
