// SPDX-License-Identifier: Apache-2.0
// Writes a kernel at run time and says what playing it finds.
#pragma once

#include "catch.hpp"

#include <ptxdsl/machine.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <string>

namespace machine_test {

namespace px = ptxdsl;
using px::bf16;
using px::f32;
using px::u32;
using builder = px::builder<px::sm_90a>;
using blackwell = px::builder<px::sm_100a>;
using reg = px::reg<u32>;
using words = px::global_ptr<u32>;
using floats = px::global_ptr<f32, 16>;
using tile = px::tile<bf16, 64, 64>;
using load_map = px::tma_map<tile>;
using store_map = px::tma_map_out<tile>;

constexpr px::attributes block(u32 threads, u32 cluster = 0) { return {.reqntid = {threads}, .cluster = {cluster}}; }

inline std::string place(const px::ir::view& m, const px::machine::party& p) {
    if (!p.known) return "?";
    return "line " + std::to_string(m.locations[p.where].line()) + " (" + std::string(p.who) + ")";
}
inline std::string sentence_of(const px::ir::view& m, const px::machine::finding& f) {
    std::string s = f.text;
    const std::size_t other = s.find('%');
    if (other != std::string::npos) s.replace(other, 1, place(m, f.second));
    return std::string(f.warning ? "warning: " : "") + px::machine::name(f.kind) + ": " + place(m, f.first) + " " + s;
}

/// The kinds of the errors found, in order, separated by commas; "" for none. What was not followed follows a `|`.
/// `refused`: the builder refuses the kernel as well.
template <class Body>
std::string played(const Body& body, const px::attributes& attributes, bool refused = false) {
    px::ir::program p;
    px::detail::write_program(p, "test", attributes, body);
    if (refused) CHECK_FALSE(p.findings.empty());
    for (const px::ir::finding& f : p.findings)
        if (!refused) FAIL("the builder refuses: " << std::string(p.text(f.text)));
    const px::ir::view m = p.read();
    const px::machine::result r = px::machine::play(m);
    std::string kinds;
    for (const px::machine::finding& f : r.findings) {
        UNSCOPED_INFO(sentence_of(m, f));
        if (f.warning || kinds.find(px::machine::name(f.kind)) != std::string::npos) continue;
        kinds += (kinds.empty() ? "" : ", ") + std::string(px::machine::name(f.kind));
    }
    for (const px::machine::uncovered& u : r.coverage) {
        UNSCOPED_INFO("not followed: " << std::string(u.reason));
        kinds += "|" + std::string(u.reason);
    }
    return kinds;
}

/// Whether a kind is among those that `played` names.
inline bool has(const std::string& kinds, const char* kind) { return kinds.find(kind) != std::string::npos; }

}  // namespace machine_test
