// SPDX-License-Identifier: Apache-2.0
// Declarations as the builder's calls say them.
#pragma once

#include <ptxdsl/parse/print.hpp>
#include <ptxdsl/parse/symbols.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxdsl::ptx {

/// A node as the canonical printer writes it.
[[nodiscard]] inline std::string printed(const tree_view& v, std::uint32_t n) {
    text t;
    canonical_printer(v, t).one(n);
    return std::string(t.view());
}

[[nodiscard]] inline std::string linkage_name(std::string_view s) {
    if (s == ".extern") return "px::linkage::extern_";
    return "px::linkage::" + std::string(s.substr(1));
}

/// What stands in front of the names of a declaration or parameter.
struct declaration_head {
    isa::scalar type = isa::scalar::none;
    std::string_view space;
    ptxdsl::space sp = ptxdsl::space::generic;
    unsigned lanes = 1;
    bool written = true;  ///< false: the builder has no call for it
    std::string options;  ///< designated initialisers, in the order of `px::variable_options`
};

namespace detail {

[[nodiscard]] inline bool has_cpp_type(isa::scalar s) {
    switch (s) {
        case isa::scalar::none:
        case isa::scalar::e2m1:
        case isa::scalar::e2m3:
        case isa::scalar::e3m2:
        case isa::scalar::e2m3x2:
        case isa::scalar::e3m2x2:
        case isa::scalar::e2m1x4:
        case isa::scalar::e2m3x4:
        case isa::scalar::e3m2x4:
        case isa::scalar::ue4m3:
        case isa::scalar::ue8m0x2:
        case isa::scalar::u4:
        case isa::scalar::s4:
        case isa::scalar::b1:
        case isa::scalar::b4:
        case isa::scalar::b6: return false;
        default: return true;
    }
}

[[nodiscard]] inline bool named_space(std::string_view s, ptxdsl::space& out) {
    if (s == ".global")
        out = space::global;
    else if (s == ".shared")
        out = space::shared;
    else if (s == ".const")
        out = space::constant;
    else if (s == ".local")
        out = space::local;
    else if (s == ".param")
        out = space::param;
    else
        return s == ".reg";
    return true;
}

}  // namespace detail

[[nodiscard]] inline declaration_head read_head(const tree_view& v, std::uint32_t n) {
    declaration_head h;
    std::string link, align, lanes, attribute, pointer;
    for (std::uint32_t c = n + 1; c < v[n].end; c = v[c].end) {
        switch (v.kind(c)) {
            case node_kind::linkage: link = linkage_name(v.atom(c)); break;
            case node_kind::space:
                h.space = v.atom(c);
                h.written = h.written && !v.has_children(c) && detail::named_space(h.space, h.sp);
                break;
            case node_kind::align:
                align = std::to_string(integer_value(v.atom(c)));
                h.written =
                    h.written && h.type == isa::scalar::none;  // behind the type it means something else to ptxas
                break;
            case node_kind::vector_type:
                h.lanes = static_cast<unsigned>(v.atom(c)[2] - '0'), lanes = std::to_string(h.lanes);
                break;
            case node_kind::type: h.type = scalar_named(v.atom(c)); break;
            case node_kind::pointer:
                pointer = printed(v, c).substr(4), pointer = pointer.empty() ? " " : pointer;
                break;
            case node_kind::attribute_list:
                attribute = printed(v, c), attribute = attribute.substr(11, attribute.size() - 12);
                break;
            default: break;
        }
    }
    const auto add = [&](const char* name, const std::string& value) {
        h.options += (h.options.empty() ? "." : ", .") + std::string(name) + " = " + value;
    };
    if (!link.empty()) add("linkage", link);
    if (!align.empty()) add("align", align);
    if (!lanes.empty()) add("lanes", lanes);
    if (!attribute.empty()) add("attribute", cpp::quoted(attribute));
    if (!pointer.empty()) add("pointer", cpp::quoted(pointer));
    if (h.type == isa::scalar::none || !detail::has_cpp_type(h.type)) h.written = false;
    return h;
}

/// `{.align = 4, .extent = "[8]"}` of one declarator, with a comma before it; empty when there is nothing to say.
[[nodiscard]] inline std::string declarator_options(const tree_view& v, const declaration_head& h, std::uint32_t d) {
    std::string extent, init, all = h.options;
    for (std::uint32_t c = d + 1; c < v[d].end; c = v[c].end) {
        if (v.kind(c) == node_kind::dimension || v.kind(c) == node_kind::range) extent += printed(v, c);
        if (v.kind(c) == node_kind::initializer) init = printed(v, c).substr(3);
    }
    const auto add = [&](const char* name, const std::string& value) {
        all += (all.empty() ? "." : ", .") + std::string(name) + " = " + cpp::quoted(value);
    };
    if (!extent.empty()) add("extent", extent);
    if (!init.empty()) add("init", init);
    return all.empty() ? all : ", {" + all + "}";
}

}  // namespace ptxdsl::ptx
