// SPDX-License-Identifier: Apache-2.0
// Checks of declarations: variables, registers, parameters, their alignment and initial values.
#pragma once

#include <ptxdsl/parse/check_context.hpp>
#include <ptxdsl/parse/check_definitions.hpp>

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
        if (v_.child(n, node_kind::linkage) != 0) may_be_open_ = linkage_of(v_, n) == ".extern";
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
                case node_kind::pointer:
                    if (const u32 a = v_.child(c, node_kind::align); a != 0) alignment(a);
                    break;
                case node_kind::declarator: declarator(c, s); break;
                default: break;
            }
        }
        linkage(n, s);
        may_be_open_ = false;
    }
    /// `.common` is for `.global` (11.6.3), `.extern` for what another module gives its value (11.6.1).
    constexpr void linkage(u32 n, const symbol& s) {
        const u32 l = v_.child(n, node_kind::linkage), d = v_.child(n, node_kind::declarator);
        if (l != 0 && v_.atom(l) == ".common" && s.kind != symbol_kind::reg && s.sp != space::global)
            error("P32", l, "'.common' variables lie in '.global'");
        if (l != 0 && d != 0 && v_.atom(l) == ".extern" && v_.child(d, node_kind::initializer) != 0)
            error("P33", d, "'", v_.atom(d), "' is '.extern': the module that defines it gives it its initial value");
        if (depth_ == 0 && s.sp == space::param && d != 0)
            error("P32", d, "'.param' variable '", v_.atom(d), "' lies outside of a function");
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
        if (array) dimensions(n, i != 0);
        if (i != 0) {
            if (s.kind == symbol_kind::reg ||
                (s.sp != space::global && s.sp != space::constant && s.sp != space::generic))
                error("P33", n, "only .global and .const variables have initial values");
            initial_value(i + 1, s.type);
            shape(i + 1, n, v_.child(n, node_kind::dimension), s.vector);
        }
        add(s);
    }
    /// `[]` has its size from the initial value, or from elsewhere (5.4.3, 5.4.4); only the first may.
    constexpr void dimensions(u32 n, bool has_value) {
        bool first = true;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::dimension) continue;
            const bool open = v_[c].atom == 0;
            if (!first && open)
                return error("P36", n, "only the first dimension of '", v_.atom(n), "' may be left open");
            const bool no_size = open ? !has_value : integer_value(v_.atom(c)) == 0;
            if (no_size && !(first && may_be_open_)) return error("P36", n, "array '", v_.atom(n), "' has no size");
            first = false;
        }
    }
    /// An initial value has one list for each dimension, and one for a vector: `{{1, 2}, {3, 4}}` (5.4.4). `dimension`
    /// is the one at hand, 0 behind the last.
    constexpr void shape(u32 value, u32 declarator, u32 dimension, u32 vector) {
        const bool list = v_.kind(value) == node_kind::aggregate;
        if (v_.kind(value) == node_kind::field ||
            (list && v_.has_children(value) && v_.kind(value + 1) == node_kind::field))
            return;
        const bool wanted = dimension != 0 || vector != 1;
        if (list != wanted)
            return error("P33", value,
                         wanted ? "a list '{ }' is expected here, one for each dimension of '"
                                : "a number is expected here, not a list: '",
                         v_.atom(declarator), wanted ? "'" : "' has no more dimensions");
        if (!list) return;
        const u32 given = v_.children(value);
        if (dimension == 0) {
            if (given != vector)
                error("P33", value, "a vector of ", vector, " elements has as many initial values, not ", given);
            return;
        }
        if (v_[dimension].atom != 0 && given > integer_value(v_.atom(dimension)))
            return error("P33", value, "more initial values than elements: ", given, " for [", v_.atom(dimension),
                         "] of '", v_.atom(declarator), "'");
        u32 next = v_[dimension].end;
        if (next >= v_[declarator].end || v_.kind(next) != node_kind::dimension) next = 0;
        for (u32 c = value + 1; c < v_[value].end; c = v_[c].end) {
            const u32 errors = out_.errors();
            shape(c, declarator, next, vector);
            if (out_.errors() != errors) return;  // one message for each value
        }
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
        const isa::type_class cls = isa::info(type).cls;
        const bool is_float = type == isa::scalar::f32 || type == isa::scalar::f64;
        const bool is_integer = cls == isa::type_class::unsigned_int || cls == isa::type_class::signed_int;
        u32 masked = 0;  // up to here an address stands in a mask
        for (u32 c = n; c < v_[n].end; ++c) {
            const node_kind k = v_.kind(c);
            if (k == node_kind::field) return;
            const bool address = k == node_kind::name || k == node_kind::generic;
            if (k == node_kind::mask) masked = v_[c].end;
            if ((address || k == node_kind::mask) && !holds_address(type))
                return error("P33", c, "an address initialises variables of type .u64, .u32 or .u8, not .",
                             isa::name(type));
            if (address && c >= masked && type == isa::scalar::u8)
                return error("P33", c, "a variable of type .u8 holds one byte of an address: 0xff(", v_.atom(c), ")");
            if (address && known(c)) {
                const symbol& s = names_[names_.find(v_[c].atom)];
                if (s.kind == symbol_kind::variable && s.sp != space::global && s.sp != space::constant)
                    return error("P33", c, "'", v_.atom(c),
                                 "' lies neither in .global nor in .const; only their addresses are initial values");
            }
            if (k != node_kind::literal && k != node_kind::expression && k != node_kind::group) continue;
            const bool given_float = constant_reader(v_).of(c).is_float;
            if (is_float && !given_float)
                error("P33", c, "a variable of type .", isa::name(type),
                      " is initialised by a float: write 1.0, not 1");
            if (is_integer && given_float)
                return error("P33", c, "a variable of type .", isa::name(type), " is initialised by an integer");
            if (type == isa::scalar::f16)
                return error("P33", c, "variables of type .f16 have no initial values; take .b16 and the bits");
            c = v_[c].end - 1;
        }
    }
    constexpr void add(const symbol& s) {
        const u32 before = names_.declare(s);
        if (before == symbol_table::none) return;
        const symbol& other = names_[before];
        if (other.kind == s.kind && (s.kind == symbol_kind::function || is_same_variable(other, s))) return;
        error("P20", s.node, s.kind >= symbol_kind::label ? "label '" : "'", v_.word(s.name),
              "' is declared twice in this scope");
    }

    /// Whether a variable of the module is declared again: `.extern` says that it is defined, here or elsewhere, with
    /// the same type and size.
    [[nodiscard]] constexpr bool is_same_variable(const symbol& a, const symbol& b) const {
        if (depth_ != 0 || a.kind != symbol_kind::variable || a.type != b.type || a.sp != b.sp || a.vector != b.vector)
            return false;
        const u32 da = declaration_of(v_, a.node), db = declaration_of(v_, b.node);
        const bool extern_a = linkage_of(v_, da) == ".extern", extern_b = linkage_of(v_, db) == ".extern";
        if ((!extern_a && !extern_b) || v_.child(db, node_kind::linkage) == 0) return false;
        const passed p = passed_of(v_, da, a.node), q = passed_of(v_, db, b.node);
        return p.open || q.open || p.elements == q.elements;
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
