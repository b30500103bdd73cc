// SPDX-License-Identifier: Apache-2.0
// Functions, kernels and aliases of a module against each other (PTX ISA 9.0, 5.1, 7.1, 11.2, 11.6): what is declared
// again is the same, and has one body.
#pragma once

#include <ptxdsl/parse/check_calls.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// The word of a declaration's linkage; empty without one.
[[nodiscard]] constexpr std::string_view linkage_of(const tree_view& v, std::uint32_t n) noexcept {
    const std::uint32_t l = v.child(n, node_kind::linkage);
    return l == 0 ? std::string_view() : v.atom(l);
}
[[nodiscard]] constexpr std::uint32_t directive_of(const tree_view& v, std::uint32_t n,
                                                   std::string_view word) noexcept {
    for (std::uint32_t c = n + 1; c < v[n].end; c = v[c].end)
        if (v.kind(c) == node_kind::tuning && v.atom(c) == word) return c;
    return 0;
}

/// Whether two parameters are declared alike; their names may differ.
[[nodiscard]] constexpr bool same_parameter(const tree_view& v, std::uint32_t a, std::uint32_t b) noexcept {
    const std::uint32_t da = v.child(a, node_kind::declarator), db = v.child(b, node_kind::declarator);
    if (da == 0 || db == 0) return true;
    const passed p = passed_of(v, a, da), q = passed_of(v, b, db);
    return p.type == q.type && p.vector == q.vector && p.elements == q.elements && p.array == q.array &&
           p.open == q.open && p.reg == q.reg && p.alignment() == q.alignment();
}
[[nodiscard]] constexpr bool same_list(const tree_view& v, std::uint32_t a, std::uint32_t b, node_kind list) noexcept {
    a = v.child(a, list), b = v.child(b, list);
    if ((a == 0 ? 0 : v.children(a)) != (b == 0 ? 0 : v.children(b))) return false;
    if (a == 0 || b == 0) return true;
    for (std::uint32_t p = a + 1, q = b + 1; p < v[a].end; p = v[p].end, q = v[q].end)
        if (!same_parameter(v, p, q)) return false;
    return true;
}
/// Whether what was declared with linkage `a` may follow with `b`: with the same, or without a word for one that is
/// seen outside.
[[nodiscard]] constexpr bool agree(std::string_view a, std::string_view b) noexcept {
    return a == b || (b.empty() && (a == ".visible" || a == ".weak"));
}
/// In what a head of a function differs from an earlier one; empty: in nothing that counts.
[[nodiscard]] constexpr std::string_view difference(const tree_view& v, std::uint32_t a, std::uint32_t b) noexcept {
    using namespace std::string_view_literals;
    if (v.kind(a) != v.kind(b)) return "as a kernel and as a device function"sv;
    if (!same_list(v, a, b, node_kind::results)) return "with other results"sv;
    if (!same_list(v, a, b, node_kind::parameters)) return "with other parameters"sv;
    if (!agree(linkage_of(v, a), linkage_of(v, b))) return "with another linkage"sv;
    if ((directive_of(v, a, ".noreturn") == 0) != (directive_of(v, b, ".noreturn") == 0))
        return "with and without '.noreturn'"sv;
    return {};
}

/// The last declaration of each function and kernel, by spelling.
class function_list {
public:
    constexpr explicit function_list(const tree_view& v) : nodes_(v.n_words) { nodes_.resize(v.n_words, 0); }
    [[nodiscard]] constexpr std::uint32_t& operator[](std::uint32_t spelling) noexcept { return nodes_[spelling]; }

private:
    ptxdsl::detail::dynarray<std::uint32_t> nodes_;
};

/// An alias is a declared device function, and stands for a defined one with the same head.
template <class Report>
constexpr void check_alias(const tree_view& v, function_list& functions, std::uint32_t n, Report report) {
    const std::uint32_t name = n + 1, meant = v[name].end;
    for (const std::uint32_t c : {name, meant}) {
        const std::uint32_t f = functions[v[c].atom];
        if (f == 0 || v.kind(f) == node_kind::entry)
            return report("P32", c, "an alias is a device function and stands for one; '", v.atom(c),
                          f == 0 ? "' is none" : "' is a kernel");
    }
    const std::uint32_t f = functions[v[name].atom], of = functions[v[meant].atom];
    if (v.child(f, node_kind::body) != 0)
        report("P20", name, "'", v.atom(name), "' has a body and cannot be an alias too");
    else if (linkage_of(v, of) == ".weak")
        report("P32", meant, "'", v.atom(meant), "' is '.weak', and no alias stands for such a function");
    else if (!same_list(v, f, of, node_kind::results) || !same_list(v, f, of, node_kind::parameters))
        report("P32", name, "the alias '", v.atom(name), "' has other parameters or results than '", v.atom(meant),
               "'");
}

/// Calls `report(id, node, parts...)` for what is wrong.
template <class Report>
constexpr void check_definitions(const tree_view& v, Report report) {
    using u32 = std::uint32_t;
    function_list functions(v);
    for (u32 c = 1; c < v[0].end; c = v[c].end) {
        if (v.kind(c) != node_kind::entry && v.kind(c) != node_kind::function) continue;
        const bool body = v.child(c, node_kind::body) != 0;
        if (body && linkage_of(v, c) == ".extern")
            report("P32", c, "'.extern' says that '", v.atom(c), "' is defined elsewhere, but it has a body here");
        if (const u32 d = directive_of(v, c, ".noreturn"); d != 0 && v.child(c, node_kind::results) != 0)
            report("P35", d, "'.noreturn' is for functions without results");
        u32& last = functions[v[c].atom];
        if (last != 0) {
            if (const std::string_view how = difference(v, last, c); !how.empty())
                report("P20", c, "'", v.atom(c), "' is declared again ", how);
            else if (v.child(last, node_kind::body) != 0)
                report(
                    "P20", c, "'", v.atom(c),
                    body ? "' is defined twice" : "' is declared behind its definition; declare it in front of that");
        }
        last = c;
    }
    for (u32 c = 1; c < v[0].end; c = v[c].end) {
        if (v.kind(c) != node_kind::alias) continue;
        check_alias(v, functions, c, report);
        for (u32 o = 1; o < c; o = v[o].end)
            if (v.kind(o) == node_kind::alias && v[o + 1].atom == v[c + 1].atom)
                report("P20", c + 1, "'", v.atom(c + 1), "' is an alias already");
    }
}

}  // namespace ptxdsl::ptx::detail
