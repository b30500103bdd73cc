// SPDX-License-Identifier: Apache-2.0
// Descriptors of tcgen05 as text, field by field, for logs and tests: `px::describe(instruction)`,
// `px::describe_tile(bits)`. In constant evaluation or at run time. Not part of the umbrella header.
#pragma once

#include <ptxdsl/dsl/tcgen05_descriptor.hpp>
#include <ptxdsl/ir/sentence.hpp>

namespace ptxdsl {

/// A line of text that owns its characters.
struct descriptor_text {
    ir::sentence_text line{};
    [[nodiscard]] constexpr string_view view() const noexcept { return {line.text, line.size}; }
};

namespace detail {

/// `0x` and eight or sixteen digits.
constexpr void add_hex(ir::sentence_text& line, u64 value, u32 digits) noexcept {
    line.add("0x");
    for (u32 i = digits; i-- != 0;) {
        const char digit = "0123456789abcdef"[value >> (4 * i) & 15u];
        line.add(string_view(&digit, 1));
    }
}
constexpr void add_flag(ir::sentence_text& line, bool given, const char* text) noexcept {
    if (given) line.add(text);
}

}  // namespace detail

/// An instruction descriptor in words: `kind::f16 m128 n256 k16 d f32 a bf16 (k) b bf16 (mn), 0x08400490`.
[[nodiscard]] constexpr descriptor_text describe(const tcgen05_instruction& i) noexcept {
    descriptor_text t;
    ir::sentence_text& l = t.line;
    const auto major_name = [](major m) { return m == mn_major ? " (mn)" : " (k)"; };
    l.add({"kind::", name(i.kind), " m", i.m, " n", i.n, " k", k_extent(i.kind, i.sparse), " d ", isa::name(i.d), " a ",
           isa::name(i.a), major_name(i.a_major), " b ", isa::name(i.b), major_name(i.b_major)});
    if (i.scale != isa::scalar::none)
        l.add({" scales ", isa::name(i.scale), " ids ", u32{i.scale_a_id}, " ", u32{i.scale_b_id}});
    detail::add_flag(l, i.negate_a, " negate-a");
    detail::add_flag(l, i.negate_b, " negate-b");
    detail::add_flag(l, i.saturate, " saturate");
    if (i.sparse) l.add({" sparse selector ", u32{i.sparsity_selector}});
    if (i.max_shift != 0) l.add({" shift ", u32{i.max_shift}});
    l.add(", ");
    if (instruction_error(i) == tcgen05_error::ok)
        detail::add_hex(l, instruction_descriptor(i), 8);
    else
        l.add("no such instruction");
    return t;
}

/// A shared-memory descriptor taken apart: `start 9216 leading 16 stride 1024 swizzle 128B, 0x…`. Bytes.
[[nodiscard]] constexpr descriptor_text describe_tile(u64 descriptor) noexcept {
    descriptor_text t;
    ir::sentence_text& l = t.line;
    const auto bytes = [descriptor](u32 low) { return static_cast<u32>(descriptor >> low & 0x3fffu) * 16; };
    l.add({"start ", bytes(0), " leading ", bytes(16), " stride ", bytes(32)});
    if (const u32 base = static_cast<u32>(descriptor >> 49 & 7u); base != 0) l.add({" base offset ", base});
    constexpr const char* names[] = {"none", "128B base32",  "128B", "3 (reserved)",
                                     "64B",  "5 (reserved)", "32B",  "7 (reserved)"};
    l.add({" swizzle ", names[descriptor >> 61], ", "});
    detail::add_hex(l, descriptor, 16);
    return t;
}

}  // namespace ptxdsl
