// SPDX-License-Identifier: Apache-2.0
// The comment at the end of the output that shows how to launch its first kernel.
#pragma once

#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>

#include <string>

namespace ptxdsl::ptx::detail {

/// Storage of one kernel parameter in C++, zero.
[[nodiscard]] inline std::string argument_declaration(const storage& s, const std::string& name) {
    const auto integer = [&](const char* type) { return std::string("std::") + type + " " + name + " = 0;"; };
    if (s.is_array || s.bytes > 8)
        return "alignas(" + std::to_string(s.align) + ") unsigned char " + name + "[" + std::to_string(s.bytes) +
               "] = {};";
    if (s.type == isa::scalar::f32) return "float " + name + " = 0;";
    if (s.type == isa::scalar::f64) return "double " + name + " = 0;";
    switch (s.bytes) {
        case 1: return integer("uint8_t");
        case 2: return integer("uint16_t");
        case 4: return integer("uint32_t");
        default: return integer("uint64_t");
    }
}
[[nodiscard]] inline std::string dimensions(const three& t) {
    return "{" + std::to_string(t.value[0]) + ", " + std::to_string(t.value[1]) + ", " + std::to_string(t.value[2]) +
           "}";
}
/// The block size: what the kernel requires, else a warp or two, within what it allows.
[[nodiscard]] inline std::string block_of(const tree_view& v, std::uint32_t entry) {
    const three required = tuning_of(v, entry, ".reqntid");
    if (required.product() != 0) return dimensions(required);
    const three most = tuning_of(v, entry, ".maxntid");
    return most.product() != 0 ? dimensions(most) : "{128}";
}
inline void print_launch(const tree_view& v, std::uint32_t entry, std::string& out) {
    cpp::names names;
    for (const char* taken : {"ctx", "stream", "ptx", "loaded", "arguments"}) names.reserve(taken);
    std::string declarations, list;
    const std::uint32_t parameters = v.child(entry, node_kind::parameters);
    for (std::uint32_t c = parameters + 1; parameters != 0 && c < v[parameters].end; c = v[c].end) {
        const std::uint32_t d = v.child(c, node_kind::declarator);
        const std::string name = names.make(v.atom(d));
        const storage s = storage_of(v, c, d);
        declarations +=
            "//     " + argument_declaration(s, name) + (s.is_pointer ? "  // a device address" : "") + "\n";
        list += (list.empty() ? "&" : ", &") + name;
    }
    const std::string name = cpp::quoted(v.atom(entry));
    out += declarations;
    if (!list.empty()) out += "//     void* arguments[] = {" + list + "};\n";
    out += "//     px::check(px::launch_untyped(loaded, " + name +
           ", stream, {.grid = {1}, .block = " + block_of(v, entry) + "}, " + (list.empty() ? "{}" : "arguments") +
           "));\n";
}

/// How to load the module and launch its first kernel, as lines of comment.
inline void print_launch_stub(const tree_view& v, std::string& out) {
    std::uint32_t entry = 0;
    for (std::uint32_t n = 1; n < v[0].end && entry == 0; n = v[n].end)
        if (v.kind(n) == node_kind::entry && v.child(n, node_kind::body) != 0) entry = n;
    if (entry == 0) return;
    out += R"(
// How to launch it, with ptxdsl::runtime linked and <ptxdsl/runtime.hpp> and <cstdint> included. Grid and arguments are yours to fill in.
//
// void launch() {
//     const auto ctx = px::check(px::context::primary(0));
//     const auto stream = px::check(px::stream::create(ctx));
//     const auto ptx = px::assemble_module<the_target>(write_module);
//     const auto loaded = px::check(px::load_module(ctx, ptx.text()));
)";
    print_launch(v, entry, out);
    out += "//     px::check(stream.synchronize());\n// }\n";
}

}  // namespace ptxdsl::ptx::detail
