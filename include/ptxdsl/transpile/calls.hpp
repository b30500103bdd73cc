// SPDX-License-Identifier: Apache-2.0
// One instruction as a C++ statement: a typed call where the builder has one, else `k.inst`, else text.
#pragma once

#include <ptxdsl/parse/print.hpp>
#include <ptxdsl/transpile/generated/typed_calls.hpp>
#include <ptxdsl/transpile/memory_calls.hpp>
#include <ptxdsl/transpile/object_calls.hpp>
#include <ptxdsl/transpile/reader.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace ptxdsl::ptx {

/// How the instructions of a module were written.
struct call_counts {
    std::size_t typed = 0, checked = 0, text = 0;
};

/// Names of C++ handles for what instructions use. The function being written implements it.
class handle_source {
public:
    handle_source() = default;
    handle_source(const handle_source&) = delete;
    handle_source& operator=(const handle_source&) = delete;
    virtual ~handle_source() = default;
    /// What was asked for since the last call belongs to a statement, or to an attempt that came to nothing.
    virtual void keep(bool used) = 0;
    /// A register as a `T`; as it was declared when `T` is none.
    virtual std::string reg(register_ref r, isa::scalar as) = 0;
    /// The array that a register of a range belongs to.
    virtual std::string array(register_ref r) = 0;
    /// The accumulator that has just these registers; empty when there is none.
    virtual std::string accumulator(const std::vector<argument>& registers) = 0;
    /// A label by its spelling.
    virtual std::string label(std::uint32_t spelling) = 0;
    /// A variable, function or parameter by its spelling.
    virtual std::string named(std::uint32_t spelling) = 0;
};

/// Writes statements.
class call_writer : private object_calls<call_writer>, private memory_calls<call_writer> {
    friend object_calls<call_writer>;
    friend memory_calls<call_writer>;

public:
    call_writer(const tree_view& v, const naming_scope& names, handle_source& handles, ptxdsl::target on)
        : v_(v), names_(names), handles_(handles), reader_(v, names), on_(on) {
        const u32 t = v.child(0, node_kind::target);
        for (u32 c = t + 1; t != 0 && c < v[t].end; ++c) exact_ |= v.atom(c) == "debug";
    }

    call_counts counts;
    /// What the last statement is when it is a plain `bra`.
    struct branch {
        bool is = false, negated = false;
        std::uint32_t label = 0;  ///< spelling
        std::string guard;
        bool uniform = false;  ///< guarded, and with `.uni`
    };
    branch last_branch;

    [[nodiscard]] std::string statement(std::uint32_t n) {
        instruction i = reader_.read(n);
        last_branch = {};
        std::string s;
        if (i.op() == isa::tok::call && i.known) {
            if (kept(call(i, s))) return ++counts.typed, s;
        } else if (settle_words(i, on_)) {
            if (kept(typed(i, s))) return ++counts.typed, s;
            if (kept(inst(i, s))) return ++counts.checked, uniform_branch(i), s;
        }
        ++counts.text;
        return text(n);
    }
    /// The four instructions from `n` on when they make a matrix descriptor (`k.wgmma.descriptor_bits`), and where they
    /// end; empty for others.
    [[nodiscard]] std::string descriptor(std::uint32_t n, std::uint32_t& end) {
        if (v_.atom(n) != "and") return {};
        static constexpr struct {
            tok op, type, from;
            std::size_t operands;
        } steps[4] = {{tok::and_, tok::b32, tok::none, 3},
                      {tok::shr, tok::u32, tok::none, 3},
                      {tok::cvt, tok::u64, tok::u32, 2},
                      {tok::or_, tok::b64, tok::none, 3}};
        instruction i[4];
        for (int s = 0; s < 4; ++s, n = v_[n].end) {
            if (n >= v_.n_nodes || v_.kind(n) != node_kind::instruction) return {};
            i[s] = reader_.read(n);
            const bool words = i[s].known && i[s].op() == steps[s].op && i[s].t[1] == steps[s].type &&
                               i[s].n == (steps[s].from == tok::none ? 2u : 3u) &&
                               (steps[s].from == tok::none || i[s].t[2] == steps[s].from);
            if (!words || i[s].guarded || i[s].a.size() != steps[s].operands || i[s].a[0].kind != argument_kind::reg ||
                i[s].a[1].kind != argument_kind::reg || (s > 0 && !same(i[s].a[1].reg, i[s - 1].a[0].reg)))
                return {};
        }
        end = n;
        return descriptor_text(i);
    }
    [[nodiscard]] const instruction_reader& reader() const { return reader_; }

private:
    using u32 = std::uint32_t;
    using tok = isa::tok;
    using scalar = isa::scalar;

    bool kept(bool used) {
        handles_.keep(used);
        return used;
    }
    [[nodiscard]] std::string text(u32 n) const {
        ptx::text out;
        canonical_printer(v_, out).one(n);
        return "k.raw(" + cpp::quoted(std::string(out.view()) + ";") + ");";
    }

    // ---- operands --------------------------------------------------------------------------------------------

    [[nodiscard]] scalar declared(register_ref r) const { return names_.handles[r.handle].type; }
    [[nodiscard]] std::string builder(const instruction& i) {
        if (!i.guarded) return "k";
        const std::string p = handles_.reg(i.guard, scalar::none);
        return i.negated ? "k.at(px::unless(" + p + "))" : "k.at(" + p + ")";
    }
    /// An unguarded `bra.uni` goes where `bra` goes, for all threads alike: constructs may stand for either. A guarded
    /// one says more than `bra`.
    void uniform_branch(const instruction& i) {
        if (i.op() == tok::bra && i.n == 2 && i.t[1] == tok::uni && i.a.size() == 1 &&
            i.a[0].kind == argument_kind::label)
            last_branch = {true, i.negated, v_[i.a[0].node].atom,
                           i.guarded ? handles_.reg(i.guard, scalar::none) : std::string(), i.guarded};
    }
    [[nodiscard]] static std::string number(const argument& a) {
        return a.shape.type == scalar::f32 ? cpp::f32_literal(static_cast<u32>(a.bits)) : cpp::f64_literal(a.bits);
    }
    [[nodiscard]] static std::string special(isa::special s) {
        std::string name(isa::info(s).name.substr(1));
        for (const std::string_view group : {"pm", "envreg"}) {
            if (name.substr(0, group.size()) != group || name.size() == group.size()) continue;
            const std::size_t end = name.find('_') == name.npos ? name.size() : name.find('_');
            return "px::" + std::string(group) + name.substr(end) + "<" +
                   name.substr(group.size(), end - group.size()) + ">";
        }
        return "px::" + name;
    }
    /// An operand as `k.inst` takes it.
    [[nodiscard]] std::string operand(const argument& a, const instruction& i) {
        switch (a.kind) {
            case argument_kind::reg: return handles_.reg(a.reg, unsigned_as_bits(a.reg, i));
            case argument_kind::not_pred: return "px::unless(" + handles_.reg(a.reg, scalar::none) + ")";
            case argument_kind::special: return special(a.special);
            case argument_kind::integer: return cpp::integer(a.value, a.hex);
            case argument_kind::truth: return a.value != 0 ? "true" : "false";
            case argument_kind::floating: return number(a);
            case argument_kind::sink: return "px::sink";
            case argument_kind::label: return handles_.label(v_[a.node].atom);
            case argument_kind::symbol: return symbol(a);
            case argument_kind::address: return "px::mem(" + address(a) + ")";
            case argument_kind::tensor: return "k.tensor(" + base(a) + elements(a, i) + ")";
            case argument_kind::list: return list(a, i);
            case argument_kind::pair:
                return "px::joined{" + operand(a.parts[0], i) + ", " + operand(a.parts[1], i) + "}";
            case argument_kind::unknown: break;
        }
        return {};
    }
    /// A register declared with a sign, where the instruction has another one.
    [[nodiscard]] scalar unsigned_as_bits(register_ref r, const instruction& i) const {
        const scalar t = declared(r);
        const isa::type_class c = isa::info(t).cls;
        if ((c != isa::type_class::signed_int && c != isa::type_class::unsigned_int) ||
            !ptxdsl::detail::follows_sign(i.op()) || isa::bits(t) < 16)
            return scalar::none;
        return isa::bits(t) == 16 ? scalar::b16 : isa::bits(t) == 32 ? scalar::b32 : scalar::b64;
    }
    [[nodiscard]] std::string symbol(const argument& a) {
        const u32 name = v_.kind(a.node) == node_kind::offset ? v_[a.node + 1].atom : v_[a.node].atom;
        const std::string s = handles_.named(name);
        return a.value == 0 ? s : s + " + " + std::to_string(a.value);
    }
    [[nodiscard]] u32 base_node(const argument& a) const {
        return v_.kind(a.node + 1) == node_kind::offset ? a.node + 2 : a.node + 1;
    }
    [[nodiscard]] std::string base(const argument& a) {
        if (a.has_base) return handles_.reg(a.reg, scalar::none);
        return handles_.named(v_[base_node(a)].atom);
    }
    /// `rd[1], 8`, `table`, `64`: what stands inside the brackets of an address.
    [[nodiscard]] std::string address(const argument& a) {
        if (!a.has_base && v_.kind(base_node(a)) != node_kind::name) return std::to_string(a.value);
        return a.value == 0 && !(a.zero && exact_) ? base(a) : base(a) + ", " + std::to_string(a.value);
    }
    [[nodiscard]] std::string elements(const argument& a, const instruction& i) {
        std::string s;
        for (const argument& p : a.parts) s += ", " + operand(p, i);
        return s;
    }
    [[nodiscard]] std::string list(const argument& a, const instruction& i) {
        bool consecutive = a.parts.size() > 2, downwards = a.parts.size() > 3, has_register = false;
        for (std::size_t p = 0; p < a.parts.size(); ++p) {
            const argument& x = a.parts[p];
            has_register |= x.kind == argument_kind::reg;
            const bool of_array = x.kind == argument_kind::reg && names_.handles[x.reg.handle].array &&
                                  x.reg.handle == a.parts[0].reg.handle;
            consecutive = consecutive && of_array && x.reg.number == a.parts[0].reg.number + p;
            downwards = downwards && of_array && x.reg.number + p == a.parts[0].reg.number;
        }
        if (consecutive || downwards)
            return "k.list_of<" + std::to_string(a.parts.size()) + ">(" + handles_.array(a.parts[0].reg) + ", " +
                   std::to_string(a.parts[0].reg.number) + (downwards ? ", -1)" : ")");
        std::string s = elements(a, i);
        return "k.list" + (has_register ? std::string() : "<" + cpp::type(a.shape.type) + ">") + "(" + s.substr(2) +
               ")";
    }
    /// An operand as a value of type `t`; empty when it is none.
    [[nodiscard]] std::string as(const argument& a, scalar t) {
        const isa::type_class cls = isa::info(t).cls;
        const bool is_float = t == scalar::f32 || t == scalar::f64;
        const bool is_integer =
            cls == isa::type_class::bits || cls == isa::type_class::signed_int || cls == isa::type_class::unsigned_int;
        switch (a.kind) {
            case argument_kind::reg: return holds(a.reg, t) ? handles_.reg(a.reg, t) : std::string();
            case argument_kind::integer:
                return is_integer && isa::bits(t) >= 16 && fits(a.value, isa::bits(t)) ? cpp::integer(a.value, a.hex)
                                                                                       : std::string();
            case argument_kind::floating: return is_float && a.shape.type == t ? number(a) : std::string();
            default: return {};
        }
    }
    [[nodiscard]] static bool fits(std::int64_t v, unsigned bits) {
        return bits >= 64 || (v >= -(std::int64_t{1} << (bits - 1)) && v <= (std::int64_t{1} << bits) - 1);
    }
    [[nodiscard]] bool holds(register_ref r, scalar t) const {
        const scalar d = declared(r);
        if ((d == scalar::pred) != (t == scalar::pred)) return false;
        return t == scalar::pred || (isa::bits(d) >= 16 && handle_fits(d, t));
    }
    [[nodiscard]] std::string predicate(const argument& a) {
        if (a.kind == argument_kind::not_pred) return operand(a, {});
        return a.kind == argument_kind::reg && declared(a.reg) == scalar::pred ? handles_.reg(a.reg, scalar::none)
                                                                               : std::string();
    }

    /// What the fields of a descriptor say (PTX ISA 9.7.15.5.1.2).
    [[nodiscard]] static std::string descriptor_comment(std::uint64_t fields) {
        static constexpr const char* swizzles[] = {"no swizzle", "swizzle 128B", "swizzle 64B", "swizzle 32B"};
        const std::uint64_t leading = fields >> 16 & 0x3fff, stride = fields >> 32 & 0x3fff;
        if ((fields & 0x3fffc000c000ffffu) != 0) return {};
        return std::string("  // ") + swizzles[fields >> 62] + ", leading " + std::to_string(leading * 16) +
               " bytes, stride " + std::to_string(stride * 16);
    }
    [[nodiscard]] static bool same(register_ref a, register_ref b) {
        return a.handle == b.handle && a.number == b.number;
    }
    [[nodiscard]] std::string descriptor_text(const instruction (&i)[4]) {
        const auto is_number = [](const argument& a) { return a.kind == argument_kind::integer && a.value >= 0; };
        if (!is_number(i[0].a[2]) || i[0].a[2].value > 0x3ffff || !is_number(i[1].a[2]) || i[1].a[2].value != 4 ||
            !is_number(i[3].a[2]))
            return {};
        for (int s = 0; s < 4; ++s)
            if (isa::bits(declared(i[s].a[0].reg)) != (s < 2 ? 32u : 64u) ||
                isa::info(declared(i[s].a[0].reg)).cls == isa::type_class::floating)
                return {};
        if (isa::bits(declared(i[0].a[1].reg)) != 32 ||
            isa::info(declared(i[0].a[1].reg)).cls == isa::type_class::floating)
            return {};
        std::string steps;
        for (int s = 0; s < 3; ++s) steps += ", " + handles_.reg(i[s].a[0].reg, scalar::none);
        std::string out = handles_.reg(i[3].a[0].reg, scalar::none) + " = k.wgmma.descriptor_bits(" +
                          handles_.reg(i[0].a[1].reg, scalar::none) + ", " + cpp::integer(i[0].a[2].value, true) +
                          ", " + cpp::hexadecimal(static_cast<std::uint64_t>(i[3].a[2].value)) + steps + ");";
        out += descriptor_comment(static_cast<std::uint64_t>(i[3].a[2].value));
        counts.typed += 4;
        kept(true);
        last_branch = {};
        return out;
    }

    // ---- what object_calls asks ------------------------------------------------------------------------------

    [[nodiscard]] std::string register_text(const argument& a, scalar as) { return handles_.reg(a.reg, as); }
    [[nodiscard]] std::string accumulator_name(const argument& a) {
        return a.kind == argument_kind::list ? handles_.accumulator(a.parts) : std::string();
    }
    /// An address in 32 bits: a register, or a variable.
    [[nodiscard]] bool is_shared_place(const argument& a) const {
        if (!a.has_base) return v_.kind(base_node(a)) == node_kind::name;
        const scalar t = declared(a.reg);
        return isa::bits(t) == 32 && isa::info(t).cls != isa::type_class::floating;
    }

    // ---- typed calls -----------------------------------------------------------------------------------------

    [[nodiscard]] static scalar twice(scalar t) {
        switch (t) {
            case scalar::u16: return scalar::u32;
            case scalar::s16: return scalar::s32;
            case scalar::u32: return scalar::u64;
            case scalar::s32: return scalar::s64;
            default: return scalar::none;
        }
    }
    [[nodiscard]] static scalar by_letter(char letter, scalar t) {
        switch (letter) {
            case 'T': return t;
            case 'W': return twice(t);
            case 'U': return scalar::u32;
            case 'S': return scalar::s32;
            case 'B': return scalar::b32;
            default: return scalar::pred;
        }
    }
    [[nodiscard]] static std::string words_of(const instruction& i) {
        std::string words;
        for (unsigned w = 0; w < i.n; ++w) {
            const std::string_view word = isa::spelling(i.t[w]);
            if (w != 0) words += '.';
            words.append(word);
        }
        return words;
    }
    /// Fences, commits, waits.
    [[nodiscard]] bool words_only(const instruction& i, std::string& out) {
        if (i.a.size() > 1) return false;
        const bool number = i.a.size() == 1;
        if (number && (i.a[0].kind != argument_kind::integer || i.a[0].value < 0)) return false;
        const std::string words = words_of(i);
        for (const plain_call& c : plain_calls) {
            if (c.number != number || words != c.words) continue;
            out = builder(i) + "." + c.call;
            if (number) out.append("<").append(std::to_string(i.a[0].value)).append(">");
            out.append("();");
            return true;
        }
        return false;
    }
    [[nodiscard]] bool typed(const instruction& i, std::string& out) {
        if (words_only(i, out)) return true;
        switch (i.op()) {
            case tok::bra:
            case tok::ret:
            case tok::exit:
            case tok::trap: return plain(i, out) || as_spelled(i, out);
            case tok::setp: return setp(i, out);
            case tok::cvt: return cvt(i, out);
            case tok::mov: return mov(i, out);
            case tok::ld: return load(i, out);
            case tok::st: return store(i, out);
            case tok::lop3: return lop3(i, out);
            case tok::brx: return branch_by_table(i, out);
            default: break;
        }
        if (object_call(i, out) || memory_call(i, out)) return true;
        for (const typed_call& c : typed_calls)
            if (c.op == i.op() && (c.fixed == tok::none || (i.n > 1 && i.t[1] == c.fixed)) &&
                i.a.size() == std::strlen(c.operands) + 1)
                return simple(c, i, out);
        return worded(i, out) || as_spelled(i, out);
    }
    /// Calls that are chosen by all words but the type.
    [[nodiscard]] bool worded(const instruction& i, std::string& out) {
        const scalar t = i.type();
        const std::string words = words_of(i);
        const std::string_view chosen =
            t == scalar::none ? std::string_view(words) : std::string_view(words).substr(0, words.rfind('.'));
        for (const worded_call& c : worded_calls) {
            if (chosen != c.words) continue;
            const bool has_result = c.result != ' ';
            if (i.a.size() != std::strlen(c.operands) + has_result) return false;
            std::string list;
            bool has_register = std::strchr(c.operands, 'T') == nullptr;
            if (!sources(i, has_result, c.operands, t, list, has_register) || !has_register) return false;
            const std::string call = std::string(c.call) + "(" + list + ")";
            if (has_result) return assigned(i, by_letter(c.result, t), call, out);
            out = builder(i) + "." + call + ";";
            return true;
        }
        return false;
    }
    /// The words behind each other that a pattern of `spelled_calls` leaves open; false when it is another instruction.
    [[nodiscard]] static bool matches(const instruction& i, std::string_view pattern, std::string& open) {
        const auto words_in = [](std::string_view s) {
            if (s.empty()) return 0u;
            return static_cast<unsigned>(std::count(s.begin(), s.end(), ' ') + 1 - std::count(s.begin(), s.end(), '+'));
        };
        unsigned w = 0;
        while (!pattern.empty()) {
            const std::size_t space = pattern.find(' ');
            const std::string_view part = pattern.substr(0, space);
            pattern = space == pattern.npos ? std::string_view() : pattern.substr(space + 1);
            const bool any = part == "+";
            const unsigned rest = words_in(pattern);
            if (w + rest + !any > i.n) return false;
            for (const unsigned end = any ? i.n - rest : w + 1; w < end; ++w) {
                if (any || part == "*")
                    open += (open.empty() ? "" : ", ") + cpp::word(i.t[w]);
                else if (isa::spelling(i.t[w]) != part)
                    return false;
            }
        }
        return w == i.n;
    }
    [[nodiscard]] bool as_spelled(const instruction& i, std::string& out) {
        for (const spelled_call& c : spelled_calls) {
            std::string words = c.first, list;
            if (!matches(i, c.words, words)) continue;
            if (i.a.size() > 8 || !operands(i, list)) return false;
            out = builder(i) + "." + c.call + angled(words) + "(" + list + ");";
            uniform_branch(i);
            return true;
        }
        return false;
    }
    /// All operands as `k.inst` takes them.
    [[nodiscard]] bool operands(const instruction& i, std::string& list) {
        for (const argument& a : i.a) {
            const std::string s = operand(a, i);
            if (s.empty()) return false;
            list += (list.empty() ? "" : ", ") + s;
        }
        return true;
    }
    [[nodiscard]] bool plain(const instruction& i, std::string& out) {
        if (i.n != 1 || i.a.size() != (i.op() == tok::bra ? 1u : 0u)) return false;
        if (i.op() == tok::bra && i.a[0].kind != argument_kind::label) return false;
        if (i.op() == tok::bra)
            last_branch = {true, i.negated, v_[i.a[0].node].atom,
                           i.guarded ? handles_.reg(i.guard, scalar::none) : std::string()};
        const std::string target = i.a.empty() ? std::string() : handles_.label(v_[i.a[0].node].atom);
        out = builder(i) + "." + std::string(isa::spelling(i.op())) + "(" + target + ");";
        return true;
    }
    [[nodiscard]] bool branch_by_table(const instruction& i, std::string& out) {
        const bool uniform = i.n == 3 && i.t[2] == tok::uni;
        if ((i.n != 2 && !uniform) || i.a.size() != 2 || i.a[0].kind != argument_kind::reg ||
            i.a[1].kind != argument_kind::label)
            return false;
        const auto* const s = names_.find_label(v_[i.a[1].node].atom);
        const std::string index = as(i.a[0], scalar::u32);
        if (s == nullptr || index.empty() || !lists_labels(v_, s->node)) return false;
        out = builder(i) + (uniform ? ".brx_idx_uni(" : ".brx_idx(") + index + ", " +
              handles_.label(v_[i.a[1].node].atom) + ");";
        return true;
    }
    /// Template arguments from the words [from, end - 1), which name neither types nor the carry.
    [[nodiscard]] static bool modifiers(const instruction& i, unsigned from, unsigned end, std::string& out) {
        for (unsigned w = from; w < end; ++w) {
            if (isa::token_type(i.t[w]) != scalar::none || i.t[w] == tok::cc) return false;
            out += (out.empty() ? "" : ", ") + cpp::word(i.t[w]);
        }
        return true;
    }
    [[nodiscard]] static std::string angled(const std::string& s) { return s.empty() ? s : "<" + s + ">"; }

    [[nodiscard]] bool simple(const typed_call& c, const instruction& i, std::string& out) {
        const scalar t = i.type();
        const isa::type_class cls = isa::info(t).cls;
        const bool is_float = cls == isa::type_class::floating || cls == isa::type_class::packed;
        const bool is_integer = cls == isa::type_class::signed_int || cls == isa::type_class::unsigned_int;
        if (t == scalar::none || (c.types == 'f' && !is_float) || (c.types == 'i' && !is_integer)) return false;
        std::string words;
        const unsigned from = c.fixed == tok::none ? 1 : 2;
        if (!modifiers(i, from, i.n - 1, words) || (!c.modifiers && !words.empty())) return false;
        std::string list;
        bool has_register = false;
        return sources(i, 1, c.operands, t, list, has_register) && has_register &&
               assigned(i, by_letter(c.result, t), c.call + angled(words) + "(" + list + ")", out);
    }
    /// Operands from `first` on, by letters. `has_register`: one of the instruction's own type is a register.
    [[nodiscard]] bool sources(const instruction& i, std::size_t first, std::string_view letters, scalar t,
                               std::string& list, bool& has_register) {
        for (std::size_t s = 0; s < letters.size(); ++s) {
            const argument& a = i.a[s + first];
            const std::string text = letters[s] == 'P' ? predicate(a) : as(a, by_letter(letters[s], t));
            if (text.empty()) return false;
            has_register |= a.kind == argument_kind::reg && letters[s] == 'T';
            list += (s == 0 ? "" : ", ") + text;
        }
        return true;
    }
    /// `d = k.call(…);`
    [[nodiscard]] bool assigned(const instruction& i, scalar result, const std::string& call, std::string& out) {
        const argument& d = i.a[0];
        if (d.kind != argument_kind::reg || result == scalar::none || !holds(d.reg, result)) return false;
        out = handles_.reg(d.reg, scalar::none) + " = " + builder(i) + "." + call + ";";
        return true;
    }
    [[nodiscard]] bool setp(const instruction& i, std::string& out) {
        const scalar t = i.type();
        if (i.n < 3 || t == scalar::none || (i.a.size() != 3 && i.a.size() != 4) ||
            isa::info(t).cls == isa::type_class::packed)
            return false;
        std::string words;
        if (!modifiers(i, 1, i.n - 1, words)) return false;
        const bool unsigned_only = i.is(tok::lo) || i.is(tok::ls) || i.is(tok::hi) || i.is(tok::hs);
        if (unsigned_only && isa::info(t).cls != isa::type_class::unsigned_int) return false;
        const std::string a = as(i.a[1], t), b = as(i.a[2], t);
        if (a.empty() || b.empty() || (i.a[1].kind != argument_kind::reg && i.a[2].kind != argument_kind::reg))
            return false;
        std::string list = a + ", " + b;
        if (i.a.size() == 4) {
            const std::string c = predicate(i.a[3]);
            if (c.empty()) return false;
            list += ", " + c;
        }
        return assigned(i, scalar::pred, "setp" + angled(words) + "(" + list + ")", out);
    }
    [[nodiscard]] bool cvt(const instruction& i, std::string& out) {
        if (i.n < 3 || i.a.size() < 2 || i.a[1].kind != argument_kind::reg) return false;
        const scalar d = isa::token_type(i.t[i.n - 2]), s = i.type();
        if (d == scalar::none || s == scalar::none) return false;
        std::string words;
        if (!modifiers(i, 1, i.n - 2, words)) return false;
        if (i.a.size() == 3) return cvt_halves(i, d, words, out);
        if (i.a.size() != 2) return false;
        const std::string a = as(i.a[1], s);
        if (a.empty()) return false;
        return assigned(i, d, "cvt<" + cpp::type(d) + (words.empty() ? "" : ", " + words) + ">(" + a + ")", out);
    }
    /// `cvt.rn.bf16x2.f32 d, hi, lo;`
    [[nodiscard]] bool cvt_halves(const instruction& i, scalar d, const std::string& words, std::string& out) {
        if ((d != scalar::f16x2 && d != scalar::bf16x2) || i.type() != scalar::f32 || i.a[2].kind != argument_kind::reg)
            return false;
        const std::string high = as(i.a[1], scalar::f32), low = as(i.a[2], scalar::f32);
        if (high.empty() || low.empty()) return false;
        return assigned(i, d,
                        "cvt<" + cpp::type(d) + (words.empty() ? "" : ", " + words) + ">(px::hi(" + high +
                            "), px::lo(" + low + "))",
                        out);
    }
    [[nodiscard]] bool mov(const instruction& i, std::string& out) {
        if (i.n != 2 || i.a.size() != 2) return false;
        const scalar t = i.type();
        const argument& a = i.a[1];
        if (a.kind == argument_kind::special)
            return isa::info(a.special).type == t && assigned(i, t, "mov(" + special(a.special) + ")", out);
        if (a.kind == argument_kind::symbol && isa::bits(t) >= 32)
            return assigned(i, t, "move<" + cpp::type(t) + ">(" + symbol(a) + ")", out);
        if (several(i, out)) return true;
        if (t == scalar::pred && a.kind == argument_kind::integer)
            return assigned(i, t, std::string("mov<px::pred>(") + (a.value != 0 ? "true" : "false") + ")", out);
        if (a.kind == argument_kind::floating && isa::bits(t) == isa::bits(a.shape.type) &&
            isa::info(t).cls == isa::type_class::bits)
            return assigned(i, t, "move<" + cpp::type(t) + ">(" + number(a) + ")", out);
        const std::string text = as(a, t);
        if (text.empty()) return false;
        // The builder's mov prints the class of the register: .b32 for u32.
        const bool exact =
            isa::info(t).cls == isa::type_class::bits || t == scalar::f32 || t == scalar::f64 || t == scalar::pred;
        const bool copies = exact && a.kind == argument_kind::reg;
        if (exact) return assigned(i, t, copies ? "mov(" + text + ")" : "mov<" + cpp::type(t) + ">(" + text + ")", out);
        return assigned(i, t, "move<" + cpp::type(t) + ">(" + text + ")", out);
    }
    [[nodiscard]] bool lop3(const instruction& i, std::string& out) {
        if (i.n != 2 || i.a.size() != 5 || i.a[4].kind != argument_kind::integer) return false;
        const std::string a = as(i.a[1], scalar::b32), b = as(i.a[2], scalar::b32), c = as(i.a[3], scalar::b32);
        if (a.empty() || b.empty() || c.empty() ||
            (i.a[1].kind != argument_kind::reg && i.a[2].kind != argument_kind::reg &&
             i.a[3].kind != argument_kind::reg))
            return false;
        return assigned(i, scalar::b32,
                        "lop3<" + cpp::integer(i.a[4].value, true) + ">(" + a + ", " + b + ", " + c + ")", out);
    }

    // ---- loads and stores ------------------------------------------------------------------------------------

    /// What the words of a load or store say when they are in the order that the typed calls emit.
    struct access {
        std::string words;  ///< template arguments
        ptxdsl::space sp = ptxdsl::space::generic;
        scalar type = scalar::none;
        unsigned lanes = 1;
        unsigned align = 0;  ///< what the access needs, where it is more than `px::mem` says by itself
    };
    [[nodiscard]] static bool space_of(tok t, ptxdsl::space& out) {
        switch (t) {
            case tok::global: out = space::global; return true;
            case tok::shared: out = space::shared; return true;
            case tok::shared__cluster: out = space::shared_cluster; return true;
            case tok::const_: out = space::constant; return true;
            case tok::local: out = space::local; return true;
            case tok::param: out = space::param; return true;
            default: return false;
        }
    }
    [[nodiscard]] static unsigned place(tok t) {
        switch (t) {
            case tok::weak:
            case tok::volatile_:
            case tok::relaxed:
            case tok::acquire:
            case tok::release:
            case tok::acq_rel:
            case tok::mmio:
            case tok::cta:
            case tok::cluster:
            case tok::gpu:
            case tok::sys: return 0;
            case tok::L2__64B:
            case tok::L2__128B:
            case tok::L2__256B: return 3;
            case tok::v2:
            case tok::v4:
            case tok::v8: return 4;
            default: return 2;
        }
    }
    [[nodiscard]] static bool read_access(const instruction& i, access& out) {
        out.type = i.type();
        if (out.type == scalar::none || out.type == scalar::b128 || i.is(tok::L2__cache_hint)) return false;
        unsigned before = 0;
        for (unsigned w = 1; w + 1 < i.n; ++w) {
            ptxdsl::space s;
            const bool is_space = space_of(i.t[w], s);
            if (isa::token_type(i.t[w]) != scalar::none || i.t[w] == tok::shared__cta || i.t[w] == tok::param__entry ||
                i.t[w] == tok::param__func)
                return false;
            const unsigned at = is_space ? 1 : place(i.t[w]);
            if (at < before || (is_space && before == 1)) return false;
            before = at;
            if (is_space)
                out.sp = s;
            else
                out.words += (out.words.empty() ? "" : ", ") + cpp::word(i.t[w]);
            if (at == 4) out.lanes = isa::token_count_of(i.t[w]);
        }
        return true;
    }
    /// `px::mem<space, T>(base, offset)`; empty when the base does not fit the space.
    [[nodiscard]] std::string typed_address(const argument& a, const access& x) {
        if (a.kind != argument_kind::address || (a.zero && exact_) ||
            (!a.has_base && v_.kind(base_node(a)) != node_kind::name))
            return {};
        if (a.has_base) {
            const bool narrow = x.sp == space::shared || x.sp == space::shared_cluster;
            const scalar t = declared(a.reg);
            const bool fits = isa::bits(t) == (narrow ? 32u : 64u) || (isa::bits(t) == 64 && x.sp == space::shared);
            if (!fits || isa::info(t).cls == isa::type_class::floating) return {};
        }
        return "px::mem<" + cpp::space_name(x.sp) + ", " + cpp::type(x.type) +
               (x.align == 0 ? std::string() : ", " + std::to_string(x.align)) + ">(" + address(a) + ")";
    }
    [[nodiscard]] bool load(const instruction& i, std::string& out) {
        access x;
        if (i.a.size() != 2 || !read_access(i, x)) return false;
        const std::string from = typed_address(i.a[1], x);
        if (from.empty()) return false;
        const std::string call = "ld" + angled(x.words) + "(" + from + ")";
        if (x.lanes == 1) return assigned(i, x.type, call, out);
        if (i.a[0].kind != argument_kind::list || i.a[0].parts.size() != x.lanes) return false;
        std::string list;
        for (const argument& d : i.a[0].parts) {
            if (d.kind != argument_kind::reg || !holds(d.reg, x.type)) return false;
            list += (list.empty() ? "" : ", ") + handles_.reg(d.reg, scalar::none);
        }
        out = "px::into(" + list + ") = " + builder(i) + "." + call + ";";
        return true;
    }
    [[nodiscard]] bool store(const instruction& i, std::string& out) {
        access x;
        if (i.a.size() != 2 || !read_access(i, x) || x.sp == space::constant) return false;
        const std::string to = typed_address(i.a[0], x);
        if (to.empty()) return false;
        std::string data;
        if (x.lanes == 1) {
            data = as(i.a[1], x.type);
            if (data.empty()) return false;
        } else {
            if (i.a[1].kind != argument_kind::list || i.a[1].parts.size() != x.lanes) return false;
            for (const argument& d : i.a[1].parts) {
                if (d.kind != argument_kind::reg || !holds(d.reg, x.type)) return false;
                data += (data.empty() ? "" : ", ") + handles_.reg(d.reg, x.type);
            }
            data = "px::vec{" + data + "}";
        }
        out = builder(i) + ".st" + angled(x.words) + "(" + to + ", " + data + ");";
        return true;
    }

    // ---- the rest --------------------------------------------------------------------------------------------

    [[nodiscard]] bool inst(const instruction& i, std::string& out) {
        std::string list;
        if (i.a.size() > 12 || !operands(i, list)) return false;
        out = builder(i) + ".inst<\"" + words_of(i) + "\">(" + list + ");";
        return true;
    }
    /// `call{.uni} (results), callee, (arguments), prototype;`
    [[nodiscard]] bool call(const instruction& i, std::string& out) {
        std::string words, results = "px::sink", arguments = "px::sink", callee, prototype;
        if (!modifiers(i, 1, i.n, words) || i.guarded) return false;
        u32 c = i.node + 1;
        while (v_.kind(c) == node_kind::modifier) ++c;
        for (; c < v_[i.node].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::arguments) {
                if (!call_list(c, i, callee.empty() ? results : arguments)) return false;
                continue;
            }
            std::string& part = callee.empty() ? callee : prototype;
            register_ref r;
            if (reader_.reference(c, r))
                part = handles_.reg(r, scalar::none);
            else if (const auto* const s = names_.find_label(v_[c].atom);
                     !callee.empty() && s != nullptr && (is_prototype(v_, s->node) || lists_functions(v_, s->node)))
                part = handles_.label(v_[c].atom);
            else
                part = handles_.named(v_[c].atom);
        }
        out = "k.call_function" + angled(words) + "(" + results + ", " + callee + ", " + arguments +
              (prototype.empty() ? "" : ", " + prototype) + ");";
        return !callee.empty();
    }
    [[nodiscard]] bool call_list(u32 n, const instruction& i, std::string& out) {
        out = "k.list(";
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            const argument a = reader_.element(c, i);
            if (a.kind == argument_kind::unknown || a.kind == argument_kind::not_pred ||
                a.kind == argument_kind::special || a.kind == argument_kind::label)
                return false;
            if (a.kind == argument_kind::symbol && a.value != 0) return false;
            if (c != n + 1) out += ", ";
            out += operand(a, i);
        }
        out += ")";
        return true;
    }

    const tree_view& v_;
    const naming_scope& names_;
    handle_source& handles_;
    instruction_reader reader_;
    ptxdsl::target on_;
    bool exact_ = false;  ///< ptxas does not optimise: spellings matter that mean the same
};

}  // namespace ptxdsl::ptx
