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

namespace detail {

/// Which functions of a module can be called without an effect on what the machine follows: those that only compute or
/// use memory other than shared, and CUDA's own (PTX Writer's Guide, "System calls").
class callees {
public:
    explicit callees(const tree_view& v) : v_(v) {
        for (std::uint32_t n = 1; v_.n_nodes != 0 && n < v_[0].end; n = v_[n].end)
            if (v_.kind(n) == node_kind::function && v_.child(n, node_kind::body) != 0)
                all_.push_back({v_.atom(n), n, state::open});
    }
    /// What is known of the calls of one kernel.
    void add_calls(std::uint32_t kernel, machine::list<machine::known_call>& out) {
        for (std::uint32_t n = kernel + 1; n < v_[kernel].end; ++n) {
            if (!is_call(n)) continue;
            const std::string_view name = callee(n);
            if (name == "__assertfail")
                out.push_back({n, false});
            else if (computes(name))
                out.push_back({n, true});
        }
    }

private:
    enum class state : std::uint8_t { open, asked, yes, no };
    struct function {
        std::string_view name;
        std::uint32_t node = 0;
        state computes = state::open;
    };

    [[nodiscard]] bool is_call(std::uint32_t n) const {
        return v_.kind(n) == node_kind::instruction && v_.atom(n) == "call";
    }
    /// The name behind the results; empty for a call through a register.
    [[nodiscard]] std::string_view callee(std::uint32_t call) const {
        for (std::uint32_t c = call + 1; c < v_[call].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::name) return v_.atom(c);
        return {};
    }
    [[nodiscard]] bool computes(std::string_view name) {
        for (const std::string_view known : {"vprintf", "malloc", "free", "__nanosleep"})
            if (name == known) return true;
        for (std::size_t k = 0; k < all_.size(); ++k) {
            if (all_[k].name != name) continue;
            if (all_[k].computes == state::open) {
                all_[k].computes = state::asked;  // a function that calls itself does no more for that
                const bool yes = body_computes(all_[k].node);
                all_[k].computes = yes ? state::yes : state::no;
            }
            return all_[k].computes != state::no;
        }
        return false;
    }
    [[nodiscard]] bool body_computes(std::uint32_t node) {
        for (std::uint32_t n = node + 1; n < v_[node].end; ++n) {
            if (v_.kind(n) != node_kind::instruction) continue;
            if (is_call(n) ? !computes(callee(n)) : !touches_nothing(n)) return false;
        }
        return true;
    }
    [[nodiscard]] bool touches_nothing(std::uint32_t n) const {
        const isa::tok op = isa::find_token(v_.atom(n));
        if (machine::only_computes(op) || op == isa::tok::ret || op == isa::tok::bra) return true;
        if (op != isa::tok::ld && op != isa::tok::st) return false;
        for (std::uint32_t c = n + 1; c < v_[n].end; c = v_[c].end)
            for (const std::string_view word : {".global", ".local", ".const", ".param"})
                if (v_.kind(c) == node_kind::modifier && v_.atom(c).substr(0, word.size()) == word) return true;
        return false;
    }

    const tree_view& v_;
    std::vector<function> all_;
};
/// How many parameters a kernel has.
[[nodiscard]] inline std::uint32_t parameters_of(const tree_view& v, std::uint32_t kernel) {
    std::uint32_t n = 0;
    const std::uint32_t all = v.child(kernel, node_kind::parameters);
    for (std::uint32_t c = all + 1; all != 0 && c < v[all].end; c = v[c].end)
        n += v.kind(c) == node_kind::parameter ? 1 : 0;
    return n;
}

}  // namespace detail

/// Plays the kernels of a module without errors; adds what it finds to `out` and returns what it did not follow.
/// `source` is the module's text.
inline played_module play_module(const tree_view& v, std::string_view source, diagnostics& out,
                                 const machine::options& o = {}) {
    played_module all;
    detail::callees functions(v);
    lowering(v).run([&](const lowered_kernel& k, std::uint32_t entry) {
        if (k.is_function) return;
        const ir::view m = k.read(v);
        const string_view id = m.text(m.kernel);
        machine::options with = o;
        with.parameters = detail::parameters_of(v, entry);
        functions.add_calls(entry, with.calls);
        const machine::result r = machine::play(m, with);
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
