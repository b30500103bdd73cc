// SPDX-License-Identifier: Apache-2.0
// The escape hatches: any instruction by its text, checked against the table like the typed calls, and raw text.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/control.hpp>
#include <ptxdsl/dsl/convert.hpp>
#include <ptxdsl/dsl/pointer.hpp>

namespace ptxdsl {

/// `_`: a result nobody wants.
struct sink_t {};
inline constexpr sink_t sink{};

/// `a|b`: two results of one instruction, either may be `px::sink`.
template <class A, class B>
struct joined {
    A&& a;
    B&& b;
};
template <class A, class B>
joined(A&&, B&&) -> joined<A, B>;

namespace detail {

/// Operands that say themselves what they are to the table and how they are written (dsl/operands.hpp).
template <class V>
concept described_operand = requires(const V& v, const context& k) {
    isa::operand_shape(V::shape);
    raw_operand(v.raw(k));
};

template <class>
inline constexpr bool is_joined = false;
template <class A, class B>
inline constexpr bool is_joined<joined<A, B>> = true;

/// Words of an instruction's text: `"add.rn.f32"`.
struct inst_tokens {
    tok t[24] = {};
    std::uint32_t w[12] = {};
    std::uint32_t n = 0;
    bool known = true;
};
[[nodiscard]] constexpr inst_tokens parse_inst(string_view text) noexcept {
    inst_tokens r;
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t end = text.find('.', begin);
        if (end == string_view::npos) end = text.size();
        const tok t = isa::find_token(text.substr(begin, end - begin));
        r.known = r.known && t != tok::none && r.n < 24;
        if (r.n == 24) break;
        r.w[r.n / 2] |= static_cast<std::uint32_t>(t) << (r.n % 2 == 0 ? 0 : 16);
        r.t[r.n++] = t;
        begin = end + 1;
    }
    return r;
}

struct inst_shapes {
    isa::operand_shape s[16] = {};
    bool chosen[16] = {};  ///< a literal whose value is known when the kernel is written, not by the type
    std::uint32_t n = 0;

    constexpr void put(isa::shape_kind kind, isa::scalar type = isa::scalar::none, std::uint16_t count = 1,
                       space sp = space::generic) noexcept {
        s[n].kind = kind, s[n].type = type, s[n].count = count, s[n].sp = sp;
        ++n;
    }
    /// `Truth`: `true` and `false` stand for predicates; else they are the numbers 1 and 0.
    template <class A, bool Truth = false>
    constexpr void add() noexcept {
        using V = meta::remove_cvref_t<A>;
        if constexpr (Truth && meta::is_same_v<V, bool>) {
            put(isa::shape_kind::pred);
        } else if constexpr (is_joined<V>) {
            add_joined(static_cast<const V*>(nullptr));
        } else if constexpr (described_operand<V>) {
            s[n++] = V::shape;
        } else if constexpr (traits<V>::is_reg) {
            using T = typename traits<V>::value;
            if constexpr (meta::is_same_v<T, pred>)
                put(isa::shape_kind::pred);
            else
                put(isa::shape_kind::reg, scalar_of<T>);
        } else if constexpr (traits<V>::is_special) {
            put(isa::shape_kind::special, scalar_of<typename traits<V>::value>);
        } else if constexpr (meta::is_same_v<V, negated>) {
            put(isa::shape_kind::not_pred);
        } else if constexpr (meta::is_same_v<V, sink_t>) {
            put(isa::shape_kind::sink);
        } else if constexpr (is_label<V>) {
            put(isa::shape_kind::label);
        } else if constexpr (is_vec<V>) {
            put(isa::shape_kind::vec, scalar_of<typename V::value_type>, V::size);
        } else if constexpr (is_ptr_v<V>) {
            put(isa::shape_kind::address, scalar_of<typename V::address_type>, 1, V::state_space);
        } else if constexpr (meta::is_arithmetic_v<V>) {
            constexpr isa::scalar type = meta::is_same_v<V, float>    ? isa::scalar::f32
                                         : meta::is_same_v<V, double> ? isa::scalar::f64
                                                                      : isa::scalar::s64;
            chosen[n] = type == isa::scalar::s64;
            put(isa::shape_kind::imm, type);
        }
    }
    template <class A, class B>
    constexpr void add_joined(const joined<A, B>*) noexcept {
        add<A>();
        add<B>();
    }
};

/// The table's verdict. A literal's value is no part of its type: a value that fits is assumed here, and the actual one
/// is checked when the kernel is written.
[[nodiscard]] constexpr isa::verdict match_inst(const inst_tokens& t, inst_shapes& o, target on) noexcept {
    isa::verdict v = isa::find(t.t, t.n, o.s, o.n, on);
    for (bool moved = true;
         moved && v.st == isa::verdict::status::bad_operand && v.operand < o.n && o.chosen[v.operand];) {
        const std::uint8_t at = v.operand;
        moved = false;
        for (std::int64_t guess = 1; guess <= 1 << 20 && !moved; guess *= 2) {
            o.s[at].value = guess;
            v = isa::find(t.t, t.n, o.s, o.n, on);
            moved = v.st != isa::verdict::status::bad_operand || v.operand != at;
        }
    }
    return v;
}

/// Instructions that do another thing to signed than to unsigned registers (row A10).
[[nodiscard]] constexpr bool follows_sign(tok op) noexcept {
    return op == tok::shr || op == tok::min || op == tok::max || op == tok::setp || op == tok::set || op == tok::div ||
           op == tok::rem;
}
/// A register whose sign contradicts the type word `t`.
template <class A>
[[nodiscard]] constexpr bool wrong_sign(isa::scalar t) noexcept {
    using isa::type_class;
    if constexpr (traits<A>::is_reg) {
        using T = typename traits<A>::value;
        const type_class c = isa::info(t).cls;
        return isa::bits(t) == bits_of<T> &&
               ((c == type_class::signed_int && class_of<T> == type_class::unsigned_int) ||
                (c == type_class::unsigned_int && class_of<T> == type_class::signed_int));
    } else {
        return false;
    }
}

template <class A>
inline constexpr bool is_inst_operand =
    traits<A>::is_reg || traits<A>::is_special || meta::is_arithmetic_v<A> || meta::is_same_v<A, negated> ||
    meta::is_same_v<A, sink_t> || is_label<A> || meta::is_same_v<A, absent> || is_vec<A> || is_ptr_v<A> ||
    is_joined<A> || described_operand<A>;

/// The words of an instruction: of its text, or one by one (dsl/module_instructions.hpp).
template <fixed_string Text>
struct text_words {
    static constexpr inst_tokens packed = parse_inst(Text.view());
};

template <target Tgt, class Words, class... O>
struct inst_form {
    static constexpr const inst_tokens& packed = Words::packed;
    static constexpr std::uint32_t count = packed.n;
    template <bool Truth>
    [[nodiscard]] static constexpr inst_shapes shapes_of() noexcept {
        inst_shapes s;
        (s.template add<O, Truth>(), ...);
        return s;
    }
    [[nodiscard]] static constexpr isa::verdict verdict_of(inst_shapes s) noexcept {
        return packed.known ? match_inst(packed, s, Tgt) : isa::verdict{};
    }
    static constexpr bool has_truth = (meta::is_same_v<meta::remove_cvref_t<O>, bool> || ...);
    static constexpr bool truth = has_truth && !verdict_of(shapes_of<false>()).ok();
    static constexpr inst_shapes shapes = shapes_of<truth>();
    static constexpr isa::verdict verdict = verdict_of(shapes);
    static constexpr bool operands_known = (is_inst_operand<meta::remove_cvref_t<O>> && ...);
    static constexpr isa::scalar type = isa::token_type(packed.t[count - 1]);
    static constexpr bool signs_fit = [] {
        if (!follows_sign(packed.t[0])) return true;
        const bool shift = packed.t[0] == tok::shr;
        std::uint32_t i = 0;
        return !((i++ < 2u + (shift ? 0u : 8u) && wrong_sign<O>(type)) || ...);
    }();
    static constexpr bool has_literal = [] {
        for (bool c : shapes.chosen)
            if (c) return true;
        return false;
    }();
};

/// One sentence for operand `Number` (from 1) of `k.inst`.
template <unsigned Number, isa::shape_kind Given>
constexpr auto refuse_operand() noexcept {
    using enum isa::shape_kind;
    constexpr bool predicate = Given == pred || Given == not_pred;
    constexpr bool literal = Given == imm || Given == isa::shape_kind::special || Given == isa::shape_kind::label;
    constexpr bool place = Given == address || Given == tensor_address;
    static_assert(!predicate,
                  "PTXDSL-A02: the form wants no predicate here (the operand's number is in the note below)");
    static_assert(
        !literal,
        "PTXDSL-A14: the form takes no such literal, special register or label here (the operand's number is in the note below)");
    static_assert(
        !place,
        "PTXDSL-B01: the form takes no address of this state space here (the operand's number is in the note below)");
    static_assert(
        Given != vec,
        "PTXDSL-A07: the form takes no vector of this length and type here (the operand's number is in the note below)");
    static_assert(
        predicate || literal || place || Given == vec,
        "PTXDSL-A01: the form takes no register of this type here (the operand's number is in the note below)");
}

template <class F>
constexpr auto require_inst() noexcept {
    using status = isa::verdict::status;
    constexpr status st = F::verdict.st;
    static_assert(F::packed.known && st != status::unknown_opcode,
                  "PTXDSL-A15: the instruction table does not know a word of this text (it is in the note below)");
    static_assert(F::operands_known,
                  "PTXDSL-A14: this is no operand; k.inst takes registers, literals, pointers, vectors, px::sink");
    static_assert(st != status::bad_modifiers || !F::packed.known,
                  "PTXDSL-A15: PTX has no form of this instruction with these modifiers in this order");
    static_assert(st != status::wrong_target, "PTXDSL-A11: this kernel's target does not have this instruction");
    static_assert(st != status::operand_count, "PTXDSL-A16: the instruction takes another number of operands");
    if constexpr (st == status::bad_operand)
        refuse_operand<F::verdict.operand + 1u, F::shapes.s[F::verdict.operand].kind>();
    static_assert(
        st != status::ok || F::signs_fit,
        "PTXDSL-A10: signed register in an unsigned instruction (or the reverse); the typed calls follow the register's type");
}

/// Emits an instruction of the author's words and operands.
template <target Tgt>
struct inst_emitter {
    template <class F, class... O>
    static constexpr ir::span run(const context& k, location where, O&&... o) {
        if constexpr (!F::verdict.ok()) {
            return {};
        } else {
            if constexpr (F::has_literal) check_values<F>(k, where, o...);
            raw_operand list[16];
            std::uint32_t n = 0;
            (put(k, list, n, static_cast<O&&>(o)), ...);
            return emit(k.p, {F::packed.w, F::count, F::verdict.form, F::verdict.since}, k.guard, where, list, n);
        }
    }
    template <class A>
    static constexpr auto put(const context& k, raw_operand* list, std::uint32_t& n, A&& a) {
        using V = meta::remove_cvref_t<A>;
        if constexpr (!is_absent<V>) list[n++] = raw_of(k, static_cast<A&&>(a));
    }
    template <class A>
    [[nodiscard]] static constexpr auto raw_of(const context& k, A&& a) {
        using V = meta::remove_cvref_t<A>;
        raw_operand o;
        if constexpr (is_joined<V>) {
            const raw_operand x = raw_of(k, a.a), y = raw_of(k, a.b);
            o = pair_operand(k.p, x.words[0], y.words[0]);
            if (x.prog != nullptr) o.prog = x.prog;
        } else if constexpr (described_operand<V>) {
            o = a.raw(k);
        } else if constexpr (traits<V>::is_reg) {
            o.prog = a.program();
            o.words[0] = reg_word(a.id());
            if constexpr (!meta::is_lvalue_reference_v<A>) o.fresh = a.expression();
        } else if constexpr (traits<V>::is_special) {
            o.words[0] = ir::head(ir::operand_kind::special, static_cast<std::uint32_t>(V::id));
        } else if constexpr (meta::is_same_v<V, negated>) {
            o = pred_operand(a, location());
        } else if constexpr (meta::is_same_v<V, sink_t>) {
            o.words[0] = ir::head(ir::operand_kind::sink, 0);
        } else if constexpr (is_label<V>) {
            o.prog = a.program();
            o.words[0] = ir::head(ir::operand_kind::label, a.id());
            ++k.p.labels[a.id()].used;
        } else if constexpr (is_vec<V>) {
            o = vector_operand(static_cast<A&&>(a));
        } else if constexpr (is_ptr_v<V>) {
            o = address_operand(static_cast<A&&>(a));
        } else if constexpr (meta::is_floating_point_v<V>) {
            o = operand<meta::conditional_t<meta::is_same_v<V, float>, f32, f64>>(a);
        } else {
            o = operand<meta::conditional_t<meta::is_signed_v<V>, s64, u64>>(
                static_cast<meta::conditional_t<meta::is_signed_v<V>, s64, u64>>(a));
        }
        return o;
    }
    /// The actual values of integer literals: the form's range (A14) and the width of its types (A03).
    template <class F, class... O>
    static constexpr auto check_values(const context& k, location where, const O&... o) {
        inst_shapes s = F::shapes;
        std::uint32_t at = 0;
        (set_value<O>(s, at, o), ...);
        unsigned width = 0;  // a predicate's type says nothing about the mask beside it
        for (std::uint32_t i = 0; i < F::count; ++i)
            if (const unsigned w = isa::bits(isa::token_type(F::packed.t[i])); w > width && w >= 8) width = w;
        for (std::uint32_t i = 0; i < s.n; ++i)
            if (s.chosen[i] && width != 0 && width < 64 &&
                (s.s[i].value < -(std::int64_t{1} << (width - 1)) || s.s[i].value > (std::int64_t{1} << width) - 1))
                k.p.report("A03", where,
                           {"operand ", i + 1, " of ", isa::spelling(F::packed.t[0]),
                            " is a literal outside [-2^(w-1), 2^w - 1] of its type"});
        const isa::verdict v = isa::find(F::packed.t, F::count, s.s, s.n, Tgt);
        if (!v.ok())
            k.p.report("A14", where,
                       {"operand ", std::uint32_t{v.operand} + 1, " of ", isa::spelling(F::packed.t[0]),
                        " is a literal the form does not take: ", s.s[v.operand < s.n ? v.operand : 0].value});
    }
    template <class A>
    static constexpr auto set_value(inst_shapes& s, std::uint32_t& at, const A& a) noexcept {
        if constexpr (meta::is_integral_v<A>) s.s[at].value = static_cast<std::int64_t>(a);
        if constexpr (is_joined<A>)
            at += 2;
        else if constexpr (!is_absent<A>)
            ++at;
    }
};

template <target Tgt>
class inst_family : public family<Tgt, inst_family<Tgt>> {
    using family<Tgt, inst_family<Tgt>>::ctx;

public:
    /// Emits `Text a, b, …;` — `k.inst<"add.rn.f32">(d, x, y)`: any instruction, checked against the table. Operands in
    /// PTX order, results first (`k.new_reg<T>()` declares one): registers, literals (`true` and `false` where a
    /// predicate is read), pointers (as addresses), `px::vec`, `px::joined{p, q}`, `px::unless(p)`, `px::sink`, special
    /// registers, labels.
    template <fixed_string Text, class A = absent, class B = absent, class C = absent, class D = absent,
              class E = absent, class G = absent, class H = absent, class Index = absent, class J = absent,
              class K = absent, class L = absent, class N = absent>
    constexpr auto inst(A&& a = A{}, B&& b = B{}, C&& c = C{}, D&& d = D{}, E&& e = E{}, G&& g = G{}, H&& h = H{},
                        Index&& i = Index{}, J&& j = J{}, K&& k = K{}, L&& l = L{}, N&& n = N{},
                        location where = location::current()) const {
        using F = inst_form<Tgt, text_words<Text>, A, B, C, D, E, G, H, Index, J, K, L, N>;
        require_inst<F>();
        inst_emitter<Tgt>::template run<F>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                           static_cast<D&&>(d), static_cast<E&&>(e), static_cast<G&&>(g),
                                           static_cast<H&&>(h), static_cast<Index&&>(i), static_cast<J&&>(j),
                                           static_cast<K&&>(k), static_cast<L&&>(l), static_cast<N&&>(n));
    }
    /// Emits `text` as a line of its own. The only unchecked door: nothing knows what the line reads or writes.
    constexpr auto raw(string_view text, location where = location::current()) const {
        ir::program& p = ctx().p;
        const ir::name n = p.intern(text);
        p.begin_record(ir::record::text, 0, where);
        p.push(n.offset);
        p.push(n.length);
        p.end_record();
    }
};

}  // namespace detail
}  // namespace ptxdsl
