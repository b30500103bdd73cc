// SPDX-License-Identifier: Apache-2.0
// Writes a kernel at run time and says what the verifier finds in it.
#pragma once

#include "catch.hpp"

#include <ptxdsl/ptxdsl.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ptxdsl_test {

namespace px = ptxdsl;
using px::bf16;
using px::f32;
using px::u32;
using builder = px::builder<px::sm_90a>;

inline std::string texts(const px::ir::view& m) {
    px::verify::report r;
    px::verify::run(m, r);
    std::string all;
    for (const px::ir::finding& f : r.findings) {
        if (!all.empty()) all += '\n';
        all += std::string(f.id, 3) + (f.warning ? "w: " : ": ") + std::string(r.text(f));
    }
    return all;
}

/// The ids of all findings, in order, separated by blanks; warnings with a `w`. "" for a clean kernel.
inline std::string ids_of(const std::string& all) {
    std::string ids;
    for (std::size_t at = 0; at < all.size();) {
        if (!ids.empty()) ids += ' ';
        ids += all.substr(at, all.find(':', at) - at);
        at = all.find('\n', at);
        if (at == std::string::npos) break;
        ++at;
    }
    return ids;
}

/// Leaves the text of a program without findings in the directory PTXDSL_KEEP_PTX, where that is set: a script shows
/// the texts to ptxas.
inline void keep_text(const px::ir::program& p) {
    static int kept = 0;
    const char* const directory = std::getenv("PTXDSL_KEEP_PTX");
    if (directory == nullptr) return;
    const px::ir::view m = p.read();
    px::detail::emitter e(m, 64 * m.n.locations + 4096);
    e.run();
    std::ofstream file(std::string(directory) + '/' + std::to_string(++kept) + ".ptx", std::ios::binary);
    file << "// " << m.locations[m.n.locations / 2].file_name() << ':' << m.locations[m.n.locations / 2].line() << '\n';
    file.write(e.out.data(), e.out.size());
}

/// What the verifier says about `body`, a lambda `(builder& k, parameters…)`, one finding a line.
template <class Body>
std::string texts(const Body& body, const px::attributes& attributes = {}) {
    px::ir::program p;
    px::detail::write_program(p, "test", attributes, body);
    for (const px::ir::finding& f : p.findings) FAIL("the builder refuses: " << std::string(p.text(f.text)));
    const std::string all = texts(p.read());
    if (all.empty()) keep_text(p);
    return all;
}
template <class Body>
std::string ids(const Body& body, const px::attributes& attributes = {}) {
    const std::string all = texts(body, attributes);
    UNSCOPED_INFO(all);
    return ids_of(all);
}

/// The program of `body` with `change` applied to it, for states the builder does not let anyone write.
template <class Body, class Change>
std::string ids_after(const Body& body, const Change& change, const px::attributes& attributes = {}) {
    px::ir::program p;
    px::detail::write_program(p, "test", attributes, body);
    change(p);
    const std::string all = texts(p.read());
    UNSCOPED_INFO(all);
    return ids_of(all);
}

}  // namespace ptxdsl_test
