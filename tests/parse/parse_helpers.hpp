// SPDX-License-Identifier: Apache-2.0
// Short ways to read PTX in the tests of the parser.
#pragma once

#include <ptxdsl/parse.hpp>

#include <string>
#include <string_view>

namespace ptxdsl_test {

namespace ptx = ptxdsl::ptx;

/// All messages, one a line: "3:14: error: expected …".
inline std::string messages(std::string_view source, const ptx::diagnostics& d) {
    std::string out;
    for (const ptx::diagnostic& m : d) {
        const ptx::position p = ptx::position_of(source, m.offset);
        out += std::to_string(p.line) + ':' + std::to_string(p.column) + ": " + std::string(ptx::name(m.severity)) +
               ": " + std::string(d.text(m)) + '\n';
    }
    return out;
}

/// What the parser says of a text; empty when it is PTX.
inline std::string parse_errors(std::string_view source) {
    const ptx::tree t = ptxdsl::parse(source);
    return messages(source, t.messages);
}

/// What parser and checker say.
inline std::string check_errors(std::string_view source) {
    ptx::tree t = ptxdsl::parse(source);
    if (t.ok()) {
        const ptx::tree_view v = t.read();
        ptx::check_module(v, t.messages);
    }
    return messages(source, t.messages);
}

inline std::string lossless(std::string_view source) {
    const ptx::tree t = ptxdsl::parse(source);
    ptx::text out;
    ptx::print_lossless(t.read(), out);
    return std::string(out.view());
}

inline std::string printed(std::string_view source, ptx::layout l = ptx::layout::canonical) {
    const ptx::tree t = ptxdsl::parse(source);
    if (!t.ok()) return messages(source, t.messages);
    ptx::text out;
    const ptx::tree_view v = t.read();
    ptx::print_canonical(v, out, l);
    return std::string(out.view());
}

/// A module around module-level text; that text begins on line 4.
inline std::string module_of(std::string_view text) {
    return ".version 8.8\n.target sm_90a\n.address_size 64\n" + std::string(text) + "\n";
}

/// A module around statements; they begin on line 7.
inline std::string kernel_of(std::string_view statements) {
    return module_of(
        ".global .u32 g[8]; .shared .u32 s[8];\n.entry k(.param .u64 P) {\n"
        ".reg .b32 %r<40>; .reg .b64 %rd<8>; .reg .pred %p<8>, q; .reg .f32 %f<8>; .reg .b16 %h<8>; .reg .f64 %d<4>;\n" +
        std::string(statements) + "\nret;\n}");
}

}  // namespace ptxdsl_test
