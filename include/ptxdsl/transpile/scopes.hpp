// SPDX-License-Identifier: Apache-2.0
// What the names of a module mean while it is translated, and the C++ handles that stand for them.
#pragma once

#include <ptxdsl/parse/symbols.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxdsl::ptx {

/// Two register types of one class and size: which handle may stand for which instruction type (dsl/declared.hpp).
[[nodiscard]] inline bool handle_fits(isa::scalar declared, isa::scalar wanted) {
    const auto class_type = [](isa::scalar s) {
        switch (isa::info(s).reg) {
            case isa::scalar::u16:
            case isa::scalar::s16: return isa::scalar::b16;
            case isa::scalar::u32:
            case isa::scalar::s32: return isa::scalar::b32;
            case isa::scalar::u64:
            case isa::scalar::s64: return isa::scalar::b64;
            default: return isa::info(s).reg;
        }
    };
    const isa::scalar have = class_type(declared), want = class_type(wanted);
    const bool untyped =
        isa::info(declared).cls == isa::type_class::bits || isa::info(wanted).cls == isa::type_class::bits;
    return have == want || (untyped && isa::bits(have) == isa::bits(want));
}

/// The directive behind a label, when it is of this kind: a label in front of a list or prototype is its name.
[[nodiscard]] inline std::uint32_t directive_behind(const tree_view& v, std::uint32_t label, node_kind k) {
    const std::uint32_t n = v[label].end;
    return n < v.n_nodes && v.kind(n) == k ? n : 0;
}
/// Whether it is a list that names its labels one by one: `.branchtargets a, b`.
[[nodiscard]] inline bool lists_labels(const tree_view& v, std::uint32_t label) {
    const std::uint32_t n = directive_behind(v, label, node_kind::branch_targets);
    for (std::uint32_t c = n + 1; n != 0 && c < v[n].end; c = v[c].end)
        if (v.child(c, node_kind::range) != 0) return false;
    return n != 0;
}
[[nodiscard]] inline bool lists_functions(const tree_view& v, std::uint32_t label) {
    return directive_behind(v, label, node_kind::call_targets) != 0;
}
/// The formal parameters of a list as the arguments of `px::formals`; false when one is none of those it has.
[[nodiscard]] inline bool formals(const tree_view& v, std::uint32_t n, std::string& out) {
    for (std::uint32_t c = n + 1; n != 0 && c < v[n].end; c = v[c].end) {
        std::string type, space, align, extent;
        for (std::uint32_t p = c + 1; p < v[c].end; p = v[p].end) {
            const std::string text(v.atom(p));
            switch (v.kind(p)) {
                case node_kind::space: space = text; break;
                case node_kind::align: align = std::to_string(integer_value(text)); break;
                case node_kind::type: type = text; break;
                case node_kind::declarator:
                    if (text != "_" || v.children(p) > 1) return false;
                    if (v.children(p) == 1)
                        extent = v[p + 1].atom != 0 ? std::to_string(integer_value(v.atom(p + 1))) : "0";
                    break;
                default: return false;
            }
        }
        const bool bytes = !align.empty() && type == ".b8" && !extent.empty() && space == ".param";
        const bool plain = align.empty() && extent.empty();
        if (!bytes && (!plain || scalar_named(type) == isa::scalar::none)) return false;
        const std::string name = bytes ? std::string() : cpp::type(scalar_named(type));
        out += (out.empty() ? "" : ", ") + (bytes             ? "px::param_bytes<" + extent + ", " + align + ">"
                                            : space == ".reg" ? "px::in_reg<" + name + ">"
                                                              : name);
    }
    return true;
}
/// `px::formals<…>, px::formals<…>` of a prototype; empty when the builder has no such one.
[[nodiscard]] inline std::string prototype_types(const tree_view& v, std::uint32_t label) {
    const std::uint32_t n = directive_behind(v, label, node_kind::call_prototype);
    std::string results, parameters;
    for (std::uint32_t c = n + 1; n != 0 && c < v[n].end; c = v[c].end)
        if (v.kind(c) != node_kind::results && v.kind(c) != node_kind::parameters) return {};
    if (n == 0 || !formals(v, v.child(n, node_kind::results), results) ||
        !formals(v, v.child(n, node_kind::parameters), parameters))
        return {};
    return "px::formals<" + results + ">, px::formals<" + parameters + ">";
}
[[nodiscard]] inline bool is_prototype(const tree_view& v, std::uint32_t label) {
    return !prototype_types(v, label).empty();
}

/// The C++ handle of one PTX name: a register, a range of registers, a variable, a label.
struct handle {
    std::string cpp;          ///< its C++ name
    std::string declaration;  ///< the expression that makes it
    isa::scalar type = isa::scalar::none;
    bool array = false;  ///< registers of a range
    bool plain = true;   ///< false: the builder has no handle of its kind (vector registers, textures)
    bool used = false;
    std::size_t place = 0;  ///< the statement that declares it
    std::string_view ptx;   ///< its PTX name
    std::vector<std::pair<std::uint32_t, std::string>>
        aliases;                                             ///< registers of the range that have names of their own
    std::vector<std::string> groups;                         ///< declarations of accumulators among them
    std::vector<std::pair<isa::scalar, std::string>> views;  ///< `r.as<px::s32>()` under a name of its own
};

/// A register, as an operand names it.
struct register_ref {
    std::uint32_t handle = 0;
    std::uint32_t number = 0;
};

}  // namespace ptxdsl::ptx
