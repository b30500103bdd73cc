// SPDX-License-Identifier: Apache-2.0
// Reads instructions from the tree: operands become registers, numbers and names of the scope they stand in.
#pragma once

#include <ptxdsl/transpile/instruction.hpp>

#include <bit>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxdsl::ptx {

/// The names visible at a place of the module, with their handles.
class naming_scope {
public:
    explicit naming_scope(const tree_view& v) : table_(v) {}

    void open() { table_.open_scope(); }
    void close() { table_.close_scope(); }
    std::uint32_t declare(const symbol& s, handle h) {
        table_.declare(s);
        handles.push_back(std::move(h));
        return of_node_[s.node] = static_cast<std::uint32_t>(handles.size() - 1);
    }
    /// The symbol a word stands for as register, variable or function; null when it is none.
    [[nodiscard]] const symbol* find(std::uint32_t spelling) const {
        const std::uint32_t s = table_.find(spelling);
        return s == symbol_table::none ? nullptr : &table_[s];
    }
    [[nodiscard]] const symbol* find_label(std::uint32_t spelling) const {
        const std::uint32_t s = table_.find_label(spelling);
        return s == symbol_table::none ? nullptr : &table_[s];
    }
    [[nodiscard]] std::uint32_t handle_of(const symbol& s) const { return of_node_.at(s.node); }

    std::vector<handle> handles;

private:
    symbol_table table_;
    std::unordered_map<std::uint32_t, std::uint32_t> of_node_;
};

/// Reads one instruction after the other.
class instruction_reader {
public:
    instruction_reader(const tree_view& v, const naming_scope& names) : v_(v), names_(names) {}

    [[nodiscard]] instruction read(std::uint32_t n) const {
        instruction i;
        i.node = n;
        i.known = true;
        u32 c = n + 1;
        const u32 end = v_[n].end;
        if (c < end && v_.kind(c) == node_kind::guard) {
            i.guarded = true;
            i.negated = v_[c].flags == node::negated;
            i.known = reference(c, i.guard);
            ++c;
        }
        add_word(i, v_.atom(n));
        if (i.t[0] == isa::tok::none || isa::detail::opcode_first[static_cast<unsigned>(i.t[0])] == 0) i.known = false;
        for (; c < end && v_.kind(c) == node_kind::modifier; ++c) add_word(i, v_.atom(c).substr(1));
        for (; c < end; c = v_[c].end) i.a.push_back(operand(c, i));
        return i;
    }
    [[nodiscard]] argument element(std::uint32_t n, const instruction& i) const { return operand(n, i); }
    /// The register a name stands for. False: it stands for something else.
    [[nodiscard]] bool reference(std::uint32_t n, register_ref& out) const {
        const symbol* const s = names_.find(v_[n].atom);
        if (s == nullptr || s->kind != symbol_kind::reg) return false;
        out.handle = names_.handle_of(*s);
        out.number = 0;
        if (s->range == 0) return true;
        for (char d : v_.atom(n).substr(v_.word(s->name).size()))
            out.number = out.number * 10 + static_cast<u32>(d - '0');
        return true;
    }

private:
    using u32 = std::uint32_t;

    void add_word(instruction& i, std::string_view word) const {
        if (i.n == detail::reordering::most) return void(i.known = false);
        const isa::tok t = isa::find_token(word);
        if (t == isa::tok::none) i.known = false;
        i.t[i.n++] = t;
    }
    [[nodiscard]] argument operand(u32 n, const instruction& i) const {
        argument a;
        a.node = n;
        switch (v_.kind(n)) {
            case node_kind::name: name(n, i, a); break;
            case node_kind::complement: complement(n, a); break;
            case node_kind::sink:
                a.kind = argument_kind::sink;
                a.shape.kind = isa::shape_kind::sink;
                break;
            case node_kind::offset: symbol_offset(n, a); break;
            case node_kind::address: address(n, i, a); break;
            case node_kind::vector: list(n, i, a); break;
            case node_kind::pair: pair(n, i, a); break;
            case node_kind::literal:
            case node_kind::group:
            case node_kind::expression: constant(n, i, a); break;
            default: break;
        }
        return a;
    }
    void complement(u32 n, argument& a) const {
        if (v_.has_children(n + 1) || !reference(n + 1, a.reg)) return;
        if (names_.handles[a.reg.handle].type != isa::scalar::pred) return;
        a.kind = argument_kind::not_pred;
        a.shape.kind = isa::shape_kind::not_pred;
    }
    void name(u32 n, const instruction& i, argument& a) const {
        const bool has_component = v_.has_children(n);
        if (i.op() == isa::tok::bra && names_.find_label(v_[n].atom) != nullptr) return label(n, a);
        const symbol* const s = names_.find(v_[n].atom);
        if (s == nullptr) return special_or_label(n, has_component, a);
        if (has_component) return;
        if (s->kind == symbol_kind::reg) return register_name(n, a);
        a.kind = argument_kind::symbol;
        a.shape.kind = isa::shape_kind::symbol;
    }
    void register_name(u32 n, argument& a) const {
        if (!reference(n, a.reg) || !names_.handles[a.reg.handle].plain) return;
        const isa::scalar type = names_.handles[a.reg.handle].type;
        a.kind = argument_kind::reg;
        a.shape.kind = type == isa::scalar::pred ? isa::shape_kind::pred : isa::shape_kind::reg;
        if (type != isa::scalar::pred) a.shape.type = type;
    }
    void label(u32 n, argument& a) const {
        static_cast<void>(n);
        a.kind = argument_kind::label;
        a.shape.kind = isa::shape_kind::label;
    }
    void special_or_label(u32 n, bool has_component, argument& a) const {
        std::string spelled(v_.atom(n));
        if (has_component) spelled += v_.atom(n + 1);
        for (unsigned r = 0; spelled[0] == '%' && r < static_cast<unsigned>(isa::special::count_); ++r) {
            if (isa::info(static_cast<isa::special>(r)).name != spelled) continue;
            a.kind = argument_kind::special;
            a.special = static_cast<isa::special>(r);
            a.shape.kind = isa::shape_kind::special;
            a.shape.type = isa::info(a.special).type;
            return;
        }
        if (!has_component && names_.find_label(v_[n].atom) != nullptr) label(n, a);
    }
    [[nodiscard]] bool offset_value(u32 n, std::int64_t& v) const {
        const constant_value c = constant_reader(v_).of(n);
        v = c.value;
        return !c.is_float && c.value >= INT32_MIN && c.value <= INT32_MAX;
    }
    void symbol_offset(u32 n, argument& a) const {
        const symbol* const s = names_.find(v_[n + 1].atom);
        if (s == nullptr || s->kind == symbol_kind::reg || !offset_value(v_[n + 1].end, a.value)) return;
        a.kind = argument_kind::symbol;
        a.shape.kind = isa::shape_kind::symbol;
    }
    /// `[a]`, `[a+4]`, `[4]`, `[t, {x, y}]`.
    void address(u32 n, const instruction& i, argument& a) const {
        u32 base = n + 1;
        if (v_.kind(base) == node_kind::offset) {
            if (!offset_value(v_[base + 1].end, a.value)) return;
            a.zero = a.value == 0;
            ++base;
        }
        if (v_.kind(base) == node_kind::name && !address_base(base, a)) return;
        if (v_.kind(base) != node_kind::name && !offset_value(base, a.value)) return;
        a.shape.kind = isa::shape_kind::address;
        const u32 rest = v_[n + 1].end;
        if (rest == v_[n].end) return void(a.kind = argument_kind::address);
        if (v_.kind(rest) != node_kind::vector || v_[rest].end != v_[n].end || a.value != 0 ||
            v_.kind(base) != node_kind::name)
            return;
        for (u32 c = rest + 1; c < v_[rest].end; c = v_[c].end) a.parts.push_back(operand(c, i));
        for (const argument& p : a.parts)
            if (!is_element(p)) return;
        a.kind = argument_kind::tensor;
        a.shape = {isa::shape_kind::tensor_address, isa::scalar::none, static_cast<std::uint16_t>(a.parts.size()),
                   space::generic, 0};
    }
    [[nodiscard]] bool address_base(u32 n, argument& a) const {
        if (v_.has_children(n)) return false;
        const symbol* const s = names_.find(v_[n].atom);
        if (s == nullptr) return false;
        if (s->kind != symbol_kind::reg) return true;
        if (!reference(n, a.reg) || !names_.handles[a.reg.handle].plain) return false;
        a.has_base = true;
        a.shape.type = names_.handles[a.reg.handle].type;
        return true;
    }
    [[nodiscard]] static bool is_element(const argument& p) {
        return (p.kind == argument_kind::reg) || p.kind == argument_kind::integer || p.kind == argument_kind::sink ||
               p.kind == argument_kind::floating;
    }
    void list(u32 n, const instruction& i, argument& a) const {
        isa::scalar type = isa::scalar::none;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            a.parts.push_back(operand(c, i));
            if (!is_element(a.parts.back())) return;
            if (type == isa::scalar::none)
                type =
                    a.parts.back().shape.kind == isa::shape_kind::reg ? a.parts.back().shape.type : isa::scalar::none;
        }
        if (a.parts.size() == 1 && !is_fragment(i)) {  // `{ %r1 }` is %r1
            const argument only = a.parts[0];
            return void(a = only);
        }
        a.kind = argument_kind::list;
        a.shape = {isa::shape_kind::vec, type == isa::scalar::none ? element_type(i) : type,
                   static_cast<std::uint16_t>(a.parts.size()), space::generic, 0};
    }
    /// Matrix instructions want the braces around one register, too.
    [[nodiscard]] static bool is_fragment(const instruction& i) {
        using isa::tok;
        const tok o = i.op();
        return o == tok::mma || o == tok::wmma || o == tok::ldmatrix || o == tok::stmatrix || o == tok::tcgen05;
    }
    /// The type of a list without registers: that of the instruction, as a register's.
    [[nodiscard]] static isa::scalar element_type(const instruction& i) {
        isa::scalar t = i.type();
        if (i.op() == isa::tok::mov) t = isa::bits(t) == 64 ? isa::scalar::b32 : isa::scalar::b16;
        return t == isa::scalar::none || t == isa::scalar::pred ? isa::scalar::b32 : t;
    }
    void pair(u32 n, const instruction& i, argument& a) const {
        a.parts.push_back(operand(n + 1, i));
        a.parts.push_back(operand(v_[n + 1].end, i));
        for (const argument& p : a.parts)
            if (p.kind != argument_kind::reg && p.kind != argument_kind::sink) return;
        a.kind = argument_kind::pair;
    }
    void constant(u32 n, const instruction& i, argument& a) const {
        const constant_value c = constant_reader(v_).of(n);
        a.shape.kind = isa::shape_kind::imm;
        if (!c.is_float) {
            a.kind = argument_kind::integer;
            a.shape.type = isa::scalar::s64;
            a.value = in_range(c.value, i);
            a.hex = v_.kind(n) == node_kind::literal && v_.atom(n).size() > 2 && (v_.atom(n)[1] | 0x20) == 'x';
            return;
        }
        bool negative = false;
        u32 at = n;
        while (v_.kind(at) == node_kind::group || v_.kind(at) == node_kind::expression ||
               v_.kind(at) == node_kind::operation) {
            if (v_.kind(at) == node_kind::operation && v_.atom(at) == "-")
                negative = !negative;
            else if (v_.kind(at) == node_kind::operation && v_.atom(at) != "+")
                return;
            ++at;
        }
        if (v_.kind(at) != node_kind::literal || v_[at].end != v_[n].end)
            return;  // arithmetic on floats: ptxas' business
        floating(v_.atom(at), negative, c, i, a);
    }
    /// ptxas cuts wider values to the instruction's type; the builder would refuse them. A predicate's type says
    /// nothing about the other operands: masks have 32 bits.
    [[nodiscard]] static std::int64_t in_range(std::int64_t v, const instruction& i) {
        unsigned width = 0;
        for (unsigned w = 0; w < i.n; ++w)
            if (const unsigned bits = isa::bits(isa::token_type(i.t[w])); bits > width && bits >= 8 && bits <= 64)
                width = bits;
        if (width == 0 || width >= 64) return v;
        if (v >= -(std::int64_t{1} << (width - 1)) && v <= (std::int64_t{1} << width) - 1) return v;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(v) & ((std::uint64_t{1} << width) - 1));
    }
    static void floating(std::string_view s, bool negative, const constant_value& c, const instruction& i,
                         argument& a) {
        a.kind = argument_kind::floating;
        if (c.is_bits) {
            std::uint64_t bits = 0;
            std::from_chars(s.data() + 2, s.data() + s.size(), bits, 16);
            if (negative) bits ^= std::uint64_t{1} << (c.is_double ? 63 : 31);
            a.bits = bits;
            a.shape.type = c.is_double ? isa::scalar::f64 : isa::scalar::f32;
            return;
        }
        double v = std::strtod(std::string(s).c_str(), nullptr);
        if (negative) v = -v;
        a.is_decimal = true;
        const bool narrow = isa::bits(i.type()) == 32;
        a.shape.type = narrow ? isa::scalar::f32 : isa::scalar::f64;
        a.bits = narrow ? std::bit_cast<std::uint32_t>(static_cast<float>(v)) : std::bit_cast<std::uint64_t>(v);
    }

    const tree_view& v_;
    const naming_scope& names_;
};

}  // namespace ptxdsl::ptx
