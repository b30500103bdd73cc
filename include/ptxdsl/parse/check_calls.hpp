// SPDX-License-Identifier: Apache-2.0
// What a call passes against what its function takes (PTX ISA 9.0, 7.1, 9.7.12.5): number, types, sizes and alignment,
// and the types that the calling convention does not pass.
#pragma once

#include <ptxdsl/parse/symbols.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// A parameter, or what is passed for one.
struct passed {
    isa::scalar type = isa::scalar::none;  ///< none: of an opaque type, not judged
    std::uint64_t vector = 1, elements = 1, align = 0;
    bool array = false, reg = false, open = false;  ///< `open`: an array without a size

    [[nodiscard]] constexpr isa::type_class cls() const noexcept { return isa::info(type).cls; }
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return isa::bits(type) * vector * elements; }
    [[nodiscard]] constexpr std::uint64_t alignment() const noexcept {
        const std::uint64_t own = isa::bits(type) * vector / 8;
        return align > own ? align : own;
    }
};

/// The declaration or parameter that `declarator` stands in.
[[nodiscard]] constexpr std::uint32_t declaration_of(const tree_view& v, std::uint32_t declarator) noexcept {
    std::uint32_t n = declarator;
    while (n != 0 &&
           ((v.kind(n) != node_kind::declaration && v.kind(n) != node_kind::parameter) || v[n].end <= declarator))
        --n;
    return n;
}
[[nodiscard]] constexpr passed passed_of(const tree_view& v, std::uint32_t declaration, std::uint32_t declarator) {
    passed p;
    for (std::uint32_t c = declaration + 1; c < v[declaration].end; c = v[c].end) {
        switch (v.kind(c)) {
            case node_kind::space: p.reg = v.atom(c) == ".reg"; break;
            case node_kind::type: p.type = scalar_named(v.atom(c)); break;
            case node_kind::vector_type: p.vector = static_cast<std::uint64_t>(v.atom(c)[2] - '0'); break;
            case node_kind::align: p.align = integer_value(v.atom(c)); break;
            default: break;
        }
    }
    for (std::uint32_t c = declarator + 1; c < v[declarator].end; c = v[c].end) {
        if (v.kind(c) != node_kind::dimension) continue;
        p.array = true, p.open = p.open || v[c].atom == 0;
        p.elements *= v[c].atom == 0 ? 1 : integer_value(v.atom(c));
    }
    return p;
}
/// Predicates and integers of 8 and 16 bits: ptxas passes none of them; `.b8`, `.b16` and `.f16` it does.
[[nodiscard]] constexpr bool is_never_passed(const passed& p) noexcept {
    const isa::type_class k = p.cls();
    const bool integer = k == isa::type_class::unsigned_int || k == isa::type_class::signed_int;
    return !p.array && p.vector == 1 && (k == isa::type_class::predicate || (integer && isa::bits(p.type) <= 16));
}
/// Whether some function returns several values: ptxas then gives up its calling convention, and passes everything.
[[nodiscard]] constexpr bool has_several_results(const tree_view& v) noexcept {
    for (std::uint32_t c = 1; c < v[0].end; c = v[c].end) {
        const std::uint32_t r = v.kind(c) == node_kind::function ? v.child(c, node_kind::results) : 0;
        if (r != 0 && v.children(r) > 1) return true;
    }
    return false;
}
/// What keeps `given` from being passed for `taken`; empty: nothing.
[[nodiscard]] constexpr std::string_view why_not_passed(const passed& taken, const passed& given) noexcept {
    using enum isa::type_class;
    if (taken.type == isa::scalar::none || given.type == isa::scalar::none || taken.open || given.open) return {};
    if (taken.array && given.reg) return "a register for an array";
    if (taken.array != given.array || taken.bits() != given.bits()) return "another size";
    if (taken.array && taken.alignment() != given.alignment()) return "another alignment";
    const bool floats = taken.cls() == floating, floats_given = given.cls() == floating;
    const auto is_number = [](isa::type_class k) { return k == floating || k == unsigned_int || k == signed_int; };
    if (floats != floats_given && is_number(taken.cls()) && is_number(given.cls()))
        return floats ? "an integer for a float" : "a float for an integer";
    if ((taken.cls() == predicate) != (given.cls() == predicate)) return "another kind of register";
    return {};
}
/// The same for an immediate.
[[nodiscard]] constexpr std::string_view why_not_passed(const passed& taken, const constant_value& given) noexcept {
    if (taken.array && !taken.open) return "a number for an array";
    if (taken.cls() == isa::type_class::floating && !given.is_float) return "an integer for a float";
    if ((taken.cls() == isa::type_class::unsigned_int || taken.cls() == isa::type_class::signed_int) && given.is_float)
        return "a float for an integer";
    return taken.cls() == isa::type_class::predicate ? "a number for a predicate" : std::string_view();
}
/// `argument(number, parameter)` for each pair of `arguments` and `parameters` (nodes or 0); false when there are more
/// of one than of the other.
template <class Argument>
constexpr bool for_each_argument(const tree_view& v, std::uint32_t arguments, std::uint32_t parameters,
                                 Argument argument) {
    std::uint32_t a = arguments == 0 ? 0 : arguments + 1, p = parameters == 0 ? 0 : parameters + 1;
    const std::uint32_t a_end = arguments == 0 ? 0 : v[arguments].end, p_end = parameters == 0 ? 0 : v[parameters].end;
    for (; a < a_end && p < p_end; a = v[a].end, p = v[p].end) argument(a, p);
    if (p < p_end && v[p].end == p_end) {  // the last one may take nothing
        const std::uint32_t d = v.child(p, node_kind::declarator);
        if (d != 0 && passed_of(v, p, d).open) p = p_end;
    }
    return a >= a_end && p >= p_end;
}

}  // namespace ptxdsl::ptx::detail
