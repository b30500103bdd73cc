// SPDX-License-Identifier: Apache-2.0
// The kernels of a text, played on the machine. For run time; <ptxdsl/parse.hpp> does not include it.
#pragma once

#include <ptxdsl/machine/play.hpp>
#include <ptxdsl/machine/words.hpp>
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
    bool ends = false;  ///< runs ended there; else they went on without it
};

/// A finding step by step: the run that leads to it and the last events before it.
struct trace {
    std::uint32_t offset = 0;  ///< byte of the text the finding is about
    std::string kernel;
    std::string id;  ///< of the finding: "E07"
    std::string finding;
    std::string run;                 ///< schedule and parameters
    std::vector<std::string> steps;  ///< "line 12: warp 0 lane 0 arrives at 'full', phase 1", oldest first
};
/// What playing a module gave besides messages.
struct played_module {
    std::vector<not_followed> rest;
    std::vector<trace> traces;
    std::vector<not_followed> followed;  ///< with `options::objects`: in `reason`, what was followed
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
    const bool of_any_size = f.kind == machine::fault::register_budget;
    return f.warning || f.disputed || (!m.attrs.reqntid.given() && !of_any_size);
}

}  // namespace detail

namespace detail {

/// The name of the kernel's parameter with this symbol (parse/lower.hpp numbers them in order).
[[nodiscard]] inline machine::message name_of_parameter(const tree_view& v, std::uint32_t kernel,
                                                        std::uint32_t symbol) {
    std::uint32_t n = ir::print_symbol + 1;
    for (std::uint32_t c = kernel + 1; c < v[kernel].end; ++c)
        if (v.kind(c) == node_kind::parameter && n++ == symbol)
            if (const std::uint32_t name = v.child(c, node_kind::declarator); name != 0)
                return string_view(v.atom(name));
    return "parameter " + machine::number(symbol - ir::print_symbol - 1);
}

}  // namespace detail

/// Plays the kernels of a module without errors; adds what it finds to `out` and returns what it did not follow.
/// `source` is the module's text.
inline played_module play_module(const tree_view& v, std::string_view source, diagnostics& out,
                                 const machine::options& o = {}) {
    played_module all;
    lowering(v).run([&](const lowered_kernel& k, std::uint32_t entry) {
        if (k.is_function) return;
        const ir::view m = k.read(v);
        const string_view id = m.text(m.kernel);
        const machine::result r = machine::play(m, o);
        const auto offset = [&](std::uint32_t node) { return v.tokens[detail::played_token(v, node)].offset; };
        for (const machine::finding& f : r.findings) {
            const std::string words = machine::sentence(f, [&](const machine::party& p) {
                return "line " + machine::number(detail::line_of(source, offset(p.where)));
            });
            const char* const row = machine::id_of(f.kind);
            const char name[4] = {row[0], row[1], row[2], '\0'};
            const std::uint32_t token = detail::played_token(v, f.first.where);
            out.add(detail::is_doubtful(f, m) ? severity::warning : severity::error, name, v.tokens[token].offset,
                    v.words[v.tokens[token].spelling].size, words);
            trace t{v.tokens[token].offset, std::string(id.data(), id.size()), name, words, {}, {}};
            t.run = machine::run_in_words(
                f.run, [&](std::uint32_t symbol) { return detail::name_of_parameter(v, entry, symbol); });
            for (const machine::event& e : f.trace)
                t.steps.push_back("line " + std::to_string(detail::line_of(source, offset(e.where))) + ": " +
                                  std::string(machine::who(m, e)) + " " + std::string(machine::words(m, e)));
            all.traces.push_back(t);
        }
        for (const machine::uncovered& u : r.coverage)
            all.rest.push_back(
                {u.placed ? offset(u.where) : 0, u.placed, std::string(id.data(), id.size()), u.reason, u.ends});
        if (o.objects)
            for (const machine::message& line : machine::followed_in_words(m, r))
                all.followed.push_back({0, false, std::string(id.data(), id.size()), line, false});
    });
    out.sort();
    return all;
}

}  // namespace ptxdsl::ptx
