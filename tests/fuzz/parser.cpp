// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for parser, checker and facts. Laws of every text: the tokens print the bytes back; nodes nest and
// lie in the text; messages lie in the text; checking changes nothing but the messages.
#include "laws.hpp"

#include <ptxdsl/parse.hpp>

namespace ptx = ptxdsl::ptx;

namespace {

void well_formed(const ptx::tree_view& v) {
    fuzz::law(v.n_nodes != 0 && v[0].end == v.n_nodes, "the module holds all nodes");
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < v.n_nodes; ++i) {
        while (!ends.empty() && ends.back() == i) ends.pop_back();
        fuzz::law(v[i].end > i && (ends.empty() || v[i].end <= ends.back()), "nodes nest");
        fuzz::law(v[i].token < v.n_tokens, "nodes begin with a token");
        fuzz::law(v[i].atom < v.n_words, "nodes have a word of the pool");
        ends.push_back(v[i].end);
    }
}

void in_text(const ptx::tree& t, std::size_t size) {
    for (const ptx::diagnostic& d : t.messages) {
        fuzz::law(d.offset <= size, "messages lie in the text");
        fuzz::law(!t.messages.text(d).empty(), "messages say something");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source = fuzz::text(data, size);
    ptx::tree t = ptxdsl::parse(source);
    ptx::text bytes;
    ptx::print_lossless(t.read(), bytes);
    fuzz::law(bytes.view() == source, "lossless");
    well_formed(t.read());
    in_text(t, size);
    bool has_error = false;
    for (std::uint32_t i = 0; i < t.nodes.size(); ++i) has_error |= t.nodes[i].kind == ptx::node_kind::error;
    fuzz::law(!has_error || !t.ok(), "what is not PTX has its message");
    if (!t.ok()) return 0;
    const ptx::tree_view v = t.read();
    ptx::check_module(v, t.messages);
    in_text(t, size);
    for (std::uint32_t n = 1; n < v[0].end; n = v[n].end)
        if (v.kind(n) == ptx::node_kind::entry) static_cast<void>(ptx::facts_of(v, n));
    return 0;
}
