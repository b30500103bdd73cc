// SPDX-License-Identifier: Apache-2.0
// Checks of declarations: variables, registers, parameters, their alignment and initial values.
#pragma once

#include <ptxdsl/parse/check_context.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// Declares what a declaration names, and checks it.
class declaration_checker : protected check_context {
protected:
    using check_context::check_context;

    [[nodiscard]] static constexpr ptxdsl::space space_named(std::string_view s) noexcept {
        if (s == ".global") return space::global;
        if (s == ".shared") return space::shared;
        if (s == ".const") return space::constant;
        if (s == ".local") return space::local;
        if (s == ".param") return space::param;
        return space::generic;
    }
    /// Reads what stands in front of the names and declares them.
    constexpr void declaration(u32 n) {
        symbol s;
        if (const u32 l = v_.child(n, node_kind::linkage)) may_be_open_ = v_.atom(l) == ".extern";
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            switch (v_.kind(c)) {
                case node_kind::space:
                    s.kind = v_.atom(c) == ".reg" ? symbol_kind::reg : symbol_kind::variable;
                    s.sp = space_named(v_.atom(c));
                    break;
                case node_kind::vector_type: s.vector = static_cast<std::uint8_t>(v_.atom(c)[2] - '0'); break;
                case node_kind::type:
                    s.type = scalar_named(v_.atom(c));
                    if (s.type == isa::scalar::none && !without_body_) opaque(c, s, n);
                    break;
                case node_kind::align: alignment(c); break;
                case node_kind::declarator: declarator(c, s); break;
                default: break;
            }
        }
        may_be_open_ = false;
    }
    /// `.texref`, `.samplerref`, `.surfref` (5.3): variables of the module, or parameters of a kernel.
    constexpr void opaque(u32 n, const symbol& s, u32 declaration) {
        const u32 d = v_.child(declaration, node_kind::declarator);
        if (d != 0 && v_.child(d, node_kind::dimension) != 0) return;
        if (s.vector != 1)
            error("P32", n, "'", v_.atom(n), "' has no vectors");
        else if (v_.atom(n) == ".samplerref" && !is_independent())
            error("P32", n, "'.samplerref' needs '.target texmode_independent'");
        else if (s.kind == symbol_kind::reg || (depth_ == 0 ? s.sp != space::global : !of_entry_))
            error("P32", n, "'", v_.atom(n),
                  "' is the type of a '.global' variable of the module or of a kernel's '.param'");
    }
    [[nodiscard]] constexpr bool is_independent() const noexcept {
        const u32 t = v_.child(0, node_kind::target);
        for (u32 w = t + 1; t != 0 && w < v_[t].end; ++w)
            if (v_.atom(w) == "texmode_independent") return true;
        return false;
    }
    /// Vectors have 128 bits at most and no predicates (5.4.2); parameters are scalars or arrays of them.
    constexpr void vector_variable(u32 n, const symbol& s) {
        if (s.type == isa::scalar::pred)
            error("P32", n, "'", v_.atom(n), "': predicates have no vectors");
        else if (isa::bits(s.type) * s.vector > 128)
            error("P32", n, "vector '", v_.atom(n), "' has ", u32{isa::bits(s.type) * s.vector},
                  " bits; 128 are possible");
        else if (s.sp == space::param)
            error("P32", n, "'.param' variable '", v_.atom(n), "' cannot be a vector; an array can hold one");
    }
    constexpr void alignment(u32 n) {
        const std::uint64_t a = integer_value(v_.atom(n));
        if (a == 0 || (a & (a - 1)) != 0) error("P31", n, "an alignment is a power of two, not ", v_.atom(n));
    }
    constexpr void declarator(u32 n, symbol s) {
        if (v_.atom(n) == "_") return error("P34", n, "only the parameters of a '.callprototype' have no name");
        s.name = v_[n].atom;
        s.node = n;
        const u32 range = v_.child(n, node_kind::range);
        const bool array = v_.child(n, node_kind::dimension) != 0;
        if (range != 0) s.range = range_of(range);
        // PTX ISA 7.1: the ABI has neither; ptxas says so of any text of PTX 3.0 or later.
        if (depth_ == 0 && version_ >= ptx_version{3, 0} && (s.kind == symbol_kind::reg || s.sp == space::local))
            error("P32", n, s.kind == symbol_kind::reg ? "register '" : "'.local' variable '", v_.atom(n),
                  "' lies outside of a function; since PTX 3.0 it is declared in one");
        if (s.kind == symbol_kind::reg && array) error("P32", n, "register '", v_.atom(n), "' cannot be an array");
        if (s.vector != 1) vector_variable(n, s);
        if (of_entry_ && s.sp != space::param)
            error("P32", n, "parameter '", v_.atom(n), "' of a kernel lies in '.param'");
        else if (s.sp == space::param && s.vector == 1 && !array && !without_body_ && isa::name(s.type) == "f16x2")
            error("P32", n, "'.param' variable '", v_.atom(n), "' cannot be of type .f16x2; use .b32");
        if (s.kind != symbol_kind::reg && s.type == isa::scalar::pred)
            error("P32", n, "predicates are registers: '", v_.atom(n), "' lies in memory");
        const u32 i = v_.child(n, node_kind::initializer);
        // `[]` has its size from the initial value, or from elsewhere (5.4.3, 5.4.4).
        if (const u32 d = v_.child(n, node_kind::dimension); d != 0 && v_[d].atom == 0 && i == 0 && !may_be_open_)
            error("P36", n, "array '", v_.atom(n), "' has no size");
        if (i != 0) {
            if (s.kind == symbol_kind::reg ||
                (s.sp != space::global && s.sp != space::constant && s.sp != space::generic))
                error("P33", n, "only .global and .const variables have initial values");
            initial_value(i + 1, s.type);
        }
        add(s);
    }
    constexpr u32 range_of(u32 n) {
        const std::uint64_t count = integer_value(v_.atom(n));
        if (count == 0) error("P32", n, "a range has at least one register");
        return count > 0x7fffffffu ? 0x7fffffffu : count == 0 ? 1 : static_cast<u32>(count);
    }
    [[nodiscard]] static constexpr bool holds_address(isa::scalar t) noexcept {
        return t == isa::scalar::u64 || t == isa::scalar::u32 || t == isa::scalar::u8 || t == isa::scalar::none;
    }
    /// Floats for floats, integers for integers; `.b32` takes either (5.4.4).
    constexpr void initial_value(u32 n, isa::scalar type) {
        const bool is_float = type == isa::scalar::f32 || type == isa::scalar::f64;
        for (u32 c = n; c < v_[n].end; ++c) {
            const node_kind k = v_.kind(c);
            if (k == node_kind::field) return;
            if ((k == node_kind::name || k == node_kind::generic || k == node_kind::mask) && !holds_address(type))
                return error("P33", c, "an address initialises variables of type .u64, .u32 or .u8, not .",
                             isa::name(type));
            if (k == node_kind::name || k == node_kind::generic) known(c);
            if (k != node_kind::literal && k != node_kind::expression && k != node_kind::group) continue;
            if (is_float && !constant_reader(v_).of(c).is_float)
                error("P33", c, "a variable of type .", isa::name(type),
                      " is initialised by a float: write 1.0, not 1");
            c = v_[c].end - 1;
        }
    }
    constexpr void add(const symbol& s) {
        const u32 before = names_.declare(s);
        if (before == symbol_table::none) return;
        const symbol& other = names_[before];
        const bool redeclared = other.kind == s.kind && (s.kind == symbol_kind::function ||
                                                         (other.type == s.type && other.sp == s.sp && depth_ == 0));
        if (redeclared) return;
        error("P20", s.node, s.kind >= symbol_kind::label ? "label '" : "'", v_.word(s.name),
              "' is declared twice in this scope");
    }

    /// As `declaration`, but nothing is declared.
    constexpr void prototype_parameter(u32 n, bool result) {
        const u32 sp = v_.child(n, node_kind::space), t = v_.child(n, node_kind::type),
                  d = v_.child(n, node_kind::declarator);
        const u32 size = d == 0 ? 0 : v_.child(d, node_kind::dimension);
        if (const u32 a = v_.child(n, node_kind::align); a != 0) alignment(a);
        if (sp != 0 && v_.atom(sp) != ".reg" && v_.atom(sp) != ".param")
            error("P32", sp, "parameters of functions lie in '.reg' or '.param', not in '", v_.atom(sp), "'");
        if (t != 0 && scalar_named(v_.atom(t)) == isa::scalar::none)
            error("P32", t, "'", v_.atom(t), "' is no type of a function's parameter");
        if (size != 0 && t != 0 && scalar_named(v_.atom(t)) == isa::scalar::pred)
            error("P32", t, "predicates have no arrays");
        else if (size != 0 && v_[size].end != v_[d].end)
            error("P32", size, "an array of parameters has one dimension");
        else if (size != 0 && result && integer_value(v_.atom(size)) == 0)
            error("P36", d, "a result that is an array has a size");
    }

    bool may_be_open_ = false;  ///< the array declared now may do without a size
    bool without_body_ = false;
    bool of_entry_ = false;  ///< the declaration at hand is a parameter of a kernel
};

}  // namespace ptxdsl::ptx::detail
