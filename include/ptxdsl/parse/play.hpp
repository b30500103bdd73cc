// SPDX-License-Identifier: Apache-2.0
// The kernels of a text, played on the machine. For run time; <ptxdsl/parse.hpp> does not include it.
#pragma once

#include <ptxdsl/machine/play.hpp>
#include <ptxdsl/parse/lower.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxdsl::ptx {

/// Something of a text that playing it did not follow.
struct not_followed {
    std::uint32_t offset = 0;  ///< byte of the text; meaningless without `placed`
    bool placed = false;
    std::string kernel;
    std::string reason;
};

namespace detail {

/// The token a node's message points at: behind the guard, as those of the verifier do.
[[nodiscard]] constexpr std::uint32_t played_token(const tree_view& v, std::uint32_t node) noexcept {
    const bool guarded = v.has_children(node) && v.kind(node + 1) == node_kind::guard;
    return guarded ? v[node + 1].token + 1 : v[node].token;
}
/// The line of a byte of the text, from 1.
[[nodiscard]] inline std::uint32_t line_of(std::string_view source, std::uint32_t offset) noexcept {
    std::uint32_t line = 1;
    for (std::uint32_t k = 0; k < offset && k < source.size(); ++k) line += source[k] == '\n' ? 1 : 0;
    return line;
}
/// Whether what a finding says may be right in a text: compilers place the fence of the proxies where they like, and a
/// launch may be smaller than `.maxntid`.
[[nodiscard]] inline bool is_doubtful(const machine::finding& f, const ir::view& m) noexcept {
    return f.warning || f.disputed || !m.attrs.reqntid.given();
}

}  // namespace detail

/// Plays the kernels of a module without errors; adds what it finds to `out` and returns what it did not follow.
/// `source` is the module's text.
inline std::vector<not_followed> play_module(const tree_view& v, std::string_view source, diagnostics& out,
                                             const machine::options& o = {}) {
    std::vector<not_followed> rest;
    lowering(v).run([&](const lowered_kernel& k, std::uint32_t) {
        if (k.is_function) return;
        const ir::view m = k.read(v);
        const string_view id = m.text(m.kernel);
        const machine::result r = machine::play(m, o);
        const auto offset = [&](std::uint32_t node) { return v.tokens[detail::played_token(v, node)].offset; };
        for (const machine::finding& f : r.findings) {
            std::string words = f.first.who + " " + f.text;
            const std::size_t other = words.find('%');
            if (other != std::string::npos)
                words.replace(other, 1,
                              "line " + std::to_string(detail::line_of(source, offset(f.second.where))) + " (" +
                                  f.second.who + ")");
            const char* const row = machine::id_of(f.kind);
            const char name[4] = {row[0], row[1], row[2], '\0'};
            const std::uint32_t token = detail::played_token(v, f.first.where);
            out.add(detail::is_doubtful(f, m) ? severity::warning : severity::error, name, v.tokens[token].offset,
                    v.words[v.tokens[token].spelling].size, words);
        }
        for (const machine::uncovered& u : r.coverage)
            rest.push_back({u.placed ? offset(u.where) : 0, u.placed, std::string(id.data(), id.size()), u.reason});
    });
    out.sort();
    return rest;
}

}  // namespace ptxdsl::ptx
