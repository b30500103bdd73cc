// SPDX-License-Identifier: Apache-2.0
// The operands of an instruction as the table asks for them.
#pragma once

#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>
#include <ptxdsl/parse/check_declarations.hpp>
#include <ptxdsl/parse/modifier_order.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// Reads the operands of the instruction at hand, whose words are in `tokens_`.
class operand_reader : protected declaration_checker {
protected:
    using declaration_checker::declaration_checker;
    using tok = isa::tok;
    static constexpr unsigned max_operands = 20;

    /// An operand as the table wants it, and what it may be instead.
    struct operand {
        isa::operand_shape shape;
        u32 node = 0;
        bool either_float = false;  ///< a decimal float fits f32 and f64
        bool any_element = false;   ///< a vector of immediates and sinks only
        isa::scalar types[3] = {};  ///< types of a vector's registers
        unsigned n_types = 0;
    };

    constexpr void operand_node(u32 n, bool branches) {
        if (v_.kind(n) == node_kind::pair) {
            const u32 second = v_[n + 1].end;
            operand_node(n + 1, false);
            operand_node(second, false);
            return;
        }
        if (n_operands_ == max_operands) {
            failed_ = true;
            return error("P26", n, "more than ", u32{max_operands}, " operands");
        }
        operand& o = operands_[n_operands_++] = {};
        o.node = n;
        switch (v_.kind(n)) {
            case node_kind::name: branches ? branch_target(n, o) : name(n, o); break;
            case node_kind::negation:
                name(n + 1, o);
                // Elsewhere than in vmad ptxas takes `-a` for registers, too; only there it is in the ISA.
                o.shape.minus = tokens_[0] == tok::vmad;
                break;
            case node_kind::offset: name(n + 1, o); break;
            case node_kind::complement:
                name(n + 1, o);
                if (o.shape.kind == isa::shape_kind::pred) o.shape.kind = isa::shape_kind::not_pred;
                break;
            case node_kind::index: indexed(n, o); break;
            case node_kind::sink: o.shape.kind = isa::shape_kind::sink; break;
            case node_kind::vector: vector(n, o); break;
            case node_kind::address: address(n, o); break;
            default: immediate(n, o); break;
        }
    }
    constexpr void immediate(u32 n, operand& o) {
        const constant_value c = constant_reader(v_).of(n);
        o.shape.kind = isa::shape_kind::imm;
        o.shape.value = c.value;
        o.shape.type = !c.is_float ? isa::scalar::s64 : c.is_double ? isa::scalar::f64 : isa::scalar::f32;
        o.either_float = c.is_float && !c.is_bits;
        if (!c.is_float && computes_predicate()) o.shape.kind = isa::shape_kind::pred;
    }
    /// `mov.pred`, `and.pred` …: every integer there is a truth value.
    [[nodiscard]] constexpr bool computes_predicate() const noexcept {
        const tok o = tokens_[0];
        return n_tokens_ == 2 && tokens_[1] == tok::pred &&
               (o == tok::mov || o == tok::and_ || o == tok::or_ || o == tok::xor_ || o == tok::not_);
    }
    constexpr void branch_target(u32 n, operand& o) {
        o.shape.kind = isa::shape_kind::label;
        if (names_.find_label(v_[n].atom) != symbol_table::none) return;
        if (tokens_[0] == tok::brx && names_.find(v_[n].atom) != symbol_table::none) return name(n, o);
        known_label(n);
        failed_ = true;
    }
    constexpr void name(u32 n, operand& o) {
        const bool has_component = v_.has_children(n);
        const u32 s = names_.find(v_[n].atom);
        if (s == symbol_table::none) return special_or_label(n, has_component, o);
        const symbol& found = names_[s];
        if (found.kind != symbol_kind::reg) {
            o.shape.kind = isa::shape_kind::symbol;
            o.shape.type = found.type;
            o.shape.sp = found.sp;
            return;
        }
        o.shape.type = found.type;
        o.shape.kind = found.type == isa::scalar::pred ? isa::shape_kind::pred : isa::shape_kind::reg;
        if (has_component && found.vector == 1) {
            const std::string_view c = v_.atom(n + 1);
            o.shape.selector = isa::selector_of(c.data() + 1, c.size() - 1);
        }
        if (found.vector != 1 && !has_component) {
            o.shape.kind = isa::shape_kind::vec;
            o.shape.count = found.vector;
            o.types[0] = found.type;
            o.n_types = 1;
        }
    }
    constexpr void special_or_label(u32 n, bool has_component, operand& o) {
        const std::string_view base = v_.atom(n);
        for (unsigned i = 0; base[0] == '%' && i < static_cast<unsigned>(isa::special::count_); ++i) {
            const isa::special_info& r = isa::info(static_cast<isa::special>(i));
            if (r.name.substr(0, base.size()) != base) continue;
            const std::string_view rest = r.name.substr(base.size());
            const std::string_view given = has_component ? v_.atom(n + 1) : std::string_view();
            const bool other_component = rest == ".x" && (given.empty() || given == ".w");  // a vector of four; .w is 0
            if (rest != given && !other_component) continue;
            return special(n, r, has_component, o);
        }
        if (names_.find_label(v_[n].atom) != symbol_table::none) {
            o.shape.kind = isa::shape_kind::label;
            return;
        }
        if (base[0] == '%' && has_component)
            error("P21", n, "'", base, v_.atom(n + 1), "' is neither declared nor a special register");
        else
            known(n);
        failed_ = true;
    }
    [[nodiscard]] static constexpr bool has_16_bits(std::string_view special) noexcept {
        const std::string_view base = special.substr(0, special.find('.'));
        return base == "%tid" || base == "%ntid" || base == "%ctaid" || base == "%nctaid";
    }
    /// `%tid` without a component is a vector of four.
    constexpr void special(u32 n, const isa::special_info& r, bool has_component, operand& o) {
        o.shape.kind = r.type == isa::scalar::pred ? isa::shape_kind::pred : isa::shape_kind::special;
        o.shape.type = r.type;
        // `mov` and `cvt` read special registers (chapter 10); the table writes kernels and needs `mov` only.
        if (tokens_[0] == tok::cvt) o.shape.kind = isa::shape_kind::reg;
        // The lower halves of thread and block indices, as PTX 1.x had them (10.1 to 10.4), and of %gridid (10.11).
        const unsigned read = tokens_[0] == tok::mov && n_tokens_ == 2 ? isa::bits(isa::token_type(tokens_[1])) : 0;
        if ((read == 16 && (has_16_bits(r.name) || r.name == "%gridid")) || (read == 32 && r.name == "%gridid")) {
            o.shape.kind = isa::shape_kind::reg;
            o.shape.type = read == 16 ? isa::scalar::u16 : isa::scalar::u32;
        }
        if (r.name.size() != v_.atom(n).size() && !has_component) {
            o.shape.kind = isa::shape_kind::vec;
            o.shape.count = 4;
            o.types[0] = r.type;
            o.n_types = 1;
        }
        if (version_ < r.since) {
            error("P27", n, r.name, " needs .version ", u32{r.since.major}, '.', u32{r.since.minor});
            failed_ = true;
        } else if (!asked_target().at_least(r.sm)) {
            error("P28", n, r.name, " needs target sm_", u32{r.sm});
            failed_ = true;
        }
    }
    constexpr void indexed(u32 n, operand& o) {
        address_base(n + 1, o);
        const u32 i = v_[n + 1].end;
        if (v_.kind(i) == node_kind::name || v_.kind(i) == node_kind::offset) {
            operand unused;
            name(v_.kind(i) == node_kind::offset ? i + 1 : i, unused);
        }
        o.shape.kind = isa::shape_kind::address;
        // `mov d, a[1]` takes the address
        if (tokens_[0] == tok::mov) o.shape.kind = isa::shape_kind::symbol;
    }
    constexpr void address(u32 n, operand& o) {
        const u32 base = n + 1;
        const u32 inner = v_.kind(base) == node_kind::offset ? base + 1 : base;
        o.shape.kind = isa::shape_kind::address;
        if (v_.kind(inner) == node_kind::name) address_base(inner, o);
        if (needs_64_bits() && o.shape.sp != space::param && !names_space())
            o.shape.sp = space::generic;  // any variable has a generic address
        const u32 rest = v_[base].end;
        if (rest == v_[n].end) return;
        if (v_.kind(rest) == node_kind::component) {
            o.shape.unified = true;
            return;
        }
        o.shape.kind = isa::shape_kind::tensor_address;
        o.shape.type = isa::scalar::none;
        for (u32 c = rest; c < v_[n].end; c = v_[c].end) {
            operand part;
            if (v_.kind(c) == node_kind::vector)
                vector(c, part), o.shape.count = static_cast<std::uint16_t>(v_.children(c));
            else
                name(c, part), o.shape.count = 1;
            if (v_[c].end != v_[n].end)
                o.shape.sampler = true;
            else if (is_texture() && part.n_types < 2)
                o.shape.type = part.shape.type;
        }
    }
    [[nodiscard]] constexpr bool is_texture() const noexcept {
        const tok o = tokens_[0];
        return o == tok::tex || o == tok::tld4 || o == tok::suld || o == tok::sust || o == tok::sured;
    }
    constexpr void address_base(u32 n, operand& o) {
        operand b;
        name(n, b);
        if (failed_) return;
        o.shape.type = b.shape.type;
        o.shape.sp = b.shape.kind == isa::shape_kind::symbol ? b.shape.sp : space::generic;
        if (b.shape.kind == isa::shape_kind::symbol) return;
        const isa::scalar_info& t = isa::info(b.shape.type);
        const bool integer = t.cls == isa::type_class::bits || t.cls == isa::type_class::unsigned_int ||
                             t.cls == isa::type_class::signed_int;
        if (b.shape.kind == isa::shape_kind::reg && integer && (t.bits == 64 || (t.bits == 32 && !needs_64_bits())))
            return;
        if (b.shape.kind == isa::shape_kind::reg && integer && t.bits == 32) {
            failed_ = true;
            return error("P29", n, "an address in generic or global memory has 64 bits, '", v_.atom(n), "' has 32");
        }
        error("P29", n, "an address is a 32-bit or 64-bit integer register, not '", v_.atom(n), "' of type .", t.name);
        failed_ = true;
    }
    /// Whether the instruction reads or writes generic or global memory through its addresses.
    [[nodiscard]] constexpr bool needs_64_bits() const noexcept {
        if (!address_64_) return false;
        const tok o = tokens_[0];
        if (o != tok::ld && o != tok::st && o != tok::atom && o != tok::red && o != tok::ldu && o != tok::mbarrier &&
            o != tok::prefetch && o != tok::prefetchu)
            return false;
        for (unsigned i = 1; i < n_tokens_; ++i) {
            const tok t = tokens_[i];
            if (t == tok::shared || t == tok::shared__cta || t == tok::shared__cluster || t == tok::local ||
                t == tok::param || t == tok::const_ || t == tok::param__entry || t == tok::param__func ||
                t == tok::async)
                return false;
        }
        return true;
    }
    [[nodiscard]] constexpr bool names_space() const noexcept {
        for (unsigned i = 1; i < n_tokens_; ++i)
            if (tokens_[i] == tok::global) return true;
        return false;
    }
    constexpr void vector(u32 n, operand& o) {
        o.shape.kind = isa::shape_kind::vec;
        o.shape.count = static_cast<std::uint16_t>(v_.children(n));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::sink) o.shape.sinks = true;
            if (v_.kind(c) != node_kind::name) continue;
            operand e;
            name(c, e);
            add_type(o, e.shape.type);
        }
        o.any_element = o.n_types == 0;
        if (o.shape.count == 1 && !o.any_element) o.shape.kind = isa::shape_kind::reg;
        o.shape.type = o.types[0];
    }
    static constexpr void add_type(operand& o, isa::scalar t) noexcept {
        for (unsigned i = 0; i < o.n_types; ++i)
            if (o.types[i] == t) return;
        if (o.n_types < 3) o.types[o.n_types++] = t;
    }

    bool failed_ = false;  ///< a message says what is wrong with the instruction
    tok tokens_[reordering::most] = {};
    unsigned n_tokens_ = 0;
    operand operands_[max_operands] = {};
    unsigned n_operands_ = 0;
};

}  // namespace ptxdsl::ptx::detail
