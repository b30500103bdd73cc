// SPDX-License-Identifier: Apache-2.0
// The verifier's rules over the kernels of a text.
#pragma once

#include <ptxdsl/parse/lower.hpp>
#include <ptxdsl/verify/verify.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

/// Whether compilers wrote the module for a debugger (`.target …, debug`).
[[nodiscard]] constexpr bool is_for_debugger(const tree_view& v) noexcept {
    const std::uint32_t t = v.child(0, node_kind::target);
    for (std::uint32_t c = t + 1; t != 0 && c < v[t].end; c = v[c].end)
        if (v.atom(c) == "debug") return true;
    return false;
}

/// Verifies the kernels and device functions of a module without errors, and adds what is wrong with them to `out`.
///
/// The rules are those of docs/misuse that a text can break provably; the rest is silent.
constexpr void verify_module(const tree_view& v, diagnostics& out) {
    const bool debugger = is_for_debugger(v);
    lowering(v).run([&](const lowered_kernel& k, std::uint32_t) {
        verify::report found;
        found.words = verify::wording::ptx;
        // Unoptimised code and functions keep accumulators in memory between calls; ptxas then waits after each wgmma.
        found.accumulators_move = debugger || k.is_function;
        verify::run(k.read(v), found);
        for (const ir::finding& f : found.findings) {
            const bool guarded = v.has_children(f.where) && v.kind(f.where + 1) == node_kind::guard;
            const std::uint32_t token = guarded ? v[f.where + 1].token + 1 : v[f.where].token;
            const char id[4] = {f.id[0], f.id[1], f.id[2], '\0'};
            out.add(f.warning ? severity::warning : severity::error, id, v.tokens[token].offset,
                    v.words[v.tokens[token].spelling].size, found.text(f));
        }
    });
    out.sort();
}

}  // namespace ptxdsl::ptx
