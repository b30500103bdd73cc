// SPDX-License-Identifier: Apache-2.0
// What every instruction family of the builder shares: operand checks with their sentences, and emission.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/reg.hpp>

namespace ptxdsl {

template <target Tgt, template <target> class... Families>
class builder;

/// Which row of docs/misuse a rejected modifier or type combination belongs to.
enum class rule : std::uint8_t { a15, a09, a10, b01, b04, b06, b08, d02, d04, e10, f08, f12, h01 };

namespace detail {

// How deep a refusal may lie: clang prints three lines for each template between the sentence and the author's line, so
// at most two functions of ours stand between a `static_assert` and the call (tests/misuse allows 12 lines before it).
// Calls and checks have deduced return types, also where they return nothing: g++ instantiates those where they are
// called and names the call. All others it instantiates in the middle of constant evaluation, and the author's line
// drowns.

/// An argument that was not given.
struct absent {};
template <class A>
inline constexpr bool is_absent = meta::is_same_v<meta::remove_cvref_t<A>, absent>;

/// What any argument converts to: a call of these is chosen where no other takes what it was given, and says in one
/// sentence what it takes (A14), where C++ would list candidates.
struct anything {
    constexpr anything() noexcept = default;
    template <class T>
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr anything(const T&) noexcept {}
};

/// Refuses, in one sentence, a form the table does not have. `R` picks the sentence for unknown combinations.
template <class F, rule R = rule::a15>
constexpr auto require() noexcept {
    using status = isa::verdict::status;
    constexpr status st = F::verdict.st;
    static_assert(st != status::wrong_target,
                  "PTXDSL-A11: this kernel's target does not have this instruction; the tokens are in the note below "
                  "(wgmma exists on sm_90a only, tcgen05 on sm_100a, sm_103a and, most of it, sm_100f and sm_103f)");
    constexpr bool ok = st == status::ok || st == status::wrong_target;
    static_assert(ok || R != rule::a15, "PTXDSL-A15: PTX has no instruction with these modifiers and operand types");
    static_assert(
        ok || R != rule::a09,
        "PTXDSL-A09: cvt needs exactly the rounding and saturation its type pair requires: a rounding modifier when "
        "the result cannot hold every value (px::rn, px::rzi …), none otherwise");
    static_assert(
        ok || R != rule::a10,
        "PTXDSL-A10: PTX has no such comparison for this type; the operators follow the register's type by themselves "
        "(px::lt of a signed register is signed; lo, ls, hi, hs and the unordered ones are for unsigned and floats)");
    static_assert(ok || R != rule::b01,
                  "PTXDSL-B01: this instruction does not exist for addresses of this state space");
    static_assert(
        ok || R != rule::b04,
        "PTXDSL-B04: PTX has no load or store with these qualifiers together (acquire, release and relaxed need a "
        "scope; volatile takes no cache operator; .nc only loads from global; mmio is relaxed.sys only)");
    static_assert(ok || R != rule::b06, "PTXDSL-B06: cp.async copies 4, 8 or 16 bytes, and 16 only with .cg");
    static_assert(
        ok || R != rule::b08,
        "PTXDSL-B08: PTX has no atom or red with this operation and type (integer add is u32, s32 or u64; f16 and "
        "bf16 add needs .noftz; min and max exist for integers and halves; vectors are .global only)");
    static_assert(ok || R != rule::d02, "PTXDSL-D02: wgmma has no instruction for these element and accumulator types");
    static_assert(ok || R != rule::d04, "PTXDSL-D04: wgmma has no instruction of this shape for these types");
    static_assert(
        ok || R != rule::e10,
        "PTXDSL-E10: a barrier of another block takes no wait and returns no token; arrive on it without a result");
    static_assert(ok || R != rule::f08,
                  "PTXDSL-F08: this form of the tensor copy does not exist on this target or for this map");
    static_assert(ok || R != rule::f12,
                  "PTXDSL-F12: bulk reductions and multicast have no such operation and type pair");
    static_assert(ok || R != rule::h01, "PTXDSL-H01: no such barrier form");
}

/// Checks shared by all instructions whose operands have one type (rows A01, A02, A14) and yields that type.
template <class... A>
struct same_type {
    using type = first_value_t<A...>;
    static_assert(
        (!is_absent<A> && ...),
        "PTXDSL-A16: this call wants another operand; what it takes is in docs/isa (the call is in the note below)");
    static_assert(!any_special<A...>,
                  "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
    static_assert(!meta::is_void_v<type>, "PTXDSL-A14: at least one operand must be a register");
    static constexpr bool has_pred = ((traits<A>::is_reg && meta::is_same_v<typename traits<A>::value, pred>) || ...);
    static constexpr bool same = all_values<type, A...>;
    static_assert(same || !has_pred,
                  "PTXDSL-A02: a predicate is used as data (or data as a predicate); k.selp turns a "
                  "predicate into a value, k.setp a value into a predicate");
    static_assert(same || has_pred,
                  "PTXDSL-A01: the operands have different scalar types; convert one with k.cvt (their "
                  "types are in the note below)");
    /// The type, or u32 after a refusal.
    using operand_value = meta::conditional_t<same && !meta::is_void_v<type>, type, u32>;
};

/// Types of which PTX has literals: integers, bits, f32 and f64.
template <class T>
inline constexpr bool takes_literal = !is_float_class<T> && !meta::is_same_v<T, pred>;
template <>
inline constexpr bool takes_literal<f32> = true;
template <>
inline constexpr bool takes_literal<f64> = true;

/// Turns an argument into an operand of type `T`, or says in one sentence why it is none.
template <class T, class A>
[[nodiscard]] constexpr auto as_operand(A&& a, location where) {
    using V = meta::remove_cvref_t<A>;
    static_assert(
        !is_absent<V>,
        "PTXDSL-A16: this call wants another operand; what it takes is in docs/isa (the call is in the note below)");
    if constexpr (is_absent<V>) {
        return operand<T>(reg<T>(), where);
    } else if constexpr (traits<V>::is_special) {
        static_assert(
            always_false<A>,
            "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
    } else if constexpr (traits<V>::is_reg) {
        using value = typename traits<V>::value;
        if constexpr (meta::is_same_v<value, T>) {
            return operand<T>(static_cast<A&&>(a), where);
        } else {
            static_assert(
                !meta::is_same_v<value, pred> && !meta::is_same_v<T, pred>,
                "PTXDSL-A02: a predicate is used as data (or data as a predicate); k.selp turns a predicate into a "
                "value, k.setp a value into a predicate");
            static_assert(
                meta::is_same_v<value, pred> || meta::is_same_v<T, pred>,
                "PTXDSL-A01: this operand has another scalar type than the instruction; convert it with k.cvt (both "
                "types are in the note below)");
            return operand<T>(reg<T>(), where);
        }
    } else if constexpr (meta::is_arithmetic_v<V>) {
        constexpr bool floating = meta::is_floating_point_v<V>;
        static_assert(floating || !(meta::is_same_v<T, f32> || meta::is_same_v<T, f64>),
                      "PTXDSL-A03: integer literal for a floating operand; write it as a float, for example 1.0f");
        static_assert(!floating || is_float_class<T>,
                      "PTXDSL-A03: floating literal for an integer operand; PTX would take its bits");
        static_assert(!meta::is_same_v<T, pred>,
                      "PTXDSL-A02: a literal where a predicate register is needed; use k.setp");
        static_assert(
            takes_literal<T> || meta::is_same_v<T, pred>,
            "PTXDSL-A14: this instruction takes no literal of a 16-bit or packed type; load it into a register first "
            "with k.mov");
        if constexpr (takes_literal<T> && floating == (meta::is_same_v<T, f32> || meta::is_same_v<T, f64>))
            return operand<T>(a, where);
        else
            return operand<T>(reg<T>(), where);
    } else if constexpr (meta::is_convertible_v<A&&, operand<T>>) {
        return operand<T>(static_cast<A&&>(a), where);
    } else {
        static_assert(always_false<A>, "PTXDSL-A14: this is neither a register nor a literal");
        return operand<T>(reg<T>(), where);
    }
}

/// Where a call emits: the program, and the guard `k.at(p)` put on it.
struct context {
    ir::program& p;
    std::uint32_t guard = 0;
};

/// K01: a guard is of one instruction.
template <class Context>
constexpr void refuse_guard(const Context& k, location where) {
    if (k.guard != 0)
        k.p.report(
            "K01", where,
            {"k.at(p) guards one instruction, not a construct of several; write k.if_(p, [&] { ... }) around it"});
}
/// A guard or condition: a register of this kernel (A05) that has been assigned to (A06).
template <class Program>
constexpr void check_condition(Program& p, const reg<pred>& c, location where) {
    if (c.program() == &p) return;
    if (c.program() != nullptr)
        p.report("A05", where, {"this condition is a register of another kernel"});
    else
        p.report("A06", where, {"this condition is a handle without a register: nothing has been assigned to it"});
}

template <class O>
constexpr auto check_literal(const context& k, const O& o, location where) {
    if constexpr (requires { o.out_of_range; }) {
        if (o.out_of_range)
            k.p.report("A03", where,
                       {"literal outside [-2^(w-1), 2^w - 1] of its operand's type; ptxas would cut it silently"});
    } else {
        static_cast<void>(k), static_cast<void>(o), static_cast<void>(where);
    }
}

/// Emits `F dst, operands…` with a new register of type `T` and returns it.
template <class F, class T, class... O>
constexpr auto value(const context& k, location where, const O&... operands) {
    (check_literal(k, operands, where), ...);
    const std::uint32_t dst = k.p.new_reg(scalar_of<T>);
    const ir::span s = emit_all(k.p, ref<F>(), k.guard, where, reg_operand(k.p, dst), operands...);
    return reg<T>(k.p, dst, s);
}

/// Emits `F operands…`, an instruction without a result (or whose results are among `operands`).
template <class F, class... O>
constexpr auto effect(const context& k, location where, const O&... operands) {
    (check_literal(k, operands, where), ...);
    return emit_all(k.p, ref<F>(), k.guard, where, operands...);
}

/// The usual arithmetic case: destination and operands of one type, which is also the last token.
template <target Tgt, tok Op, tok... M, class... A>
constexpr auto uniform(const context& k, location where, A&&... a) {
    using S = same_type<A...>;
    using T = typename S::type;
    static_assert(!meta::is_same_v<T, pred>, "PTXDSL-A02: a predicate is used as data; k.selp turns it into a value");
    if constexpr (S::same && !meta::is_void_v<T> && !meta::is_same_v<T, pred>) {
        using F = form<Tgt, Op, M..., isa::type_token(scalar_of<T>)>;
        require<F>();
        return value<F, T>(k, where, as_operand<T>(static_cast<A&&>(a), where)...);
    } else {
        return reg<u32>();
    }
}

/// What the type word of an instruction follows: the operands' own type, bits of their size, or the type `ld`, `mov`
/// and `selp` know them by.
enum class typing : std::uint8_t { own, bits, plain };

template <typing How, class T>
inline constexpr tok type_word = isa::type_token(How == typing::own    ? scalar_of<T>
                                                 : How == typing::bits ? bits_type<T>
                                                                       : plain_type(scalar_of<T>));

/// Emits `F d, operands…`, a form the table must have, and returns its result.
template <class F, class R, rule Rule = rule::a15, class... O>
constexpr auto checked(const context& k, location where, const O&... operands) {
    require<F, Rule>();
    return value<F, R>(k, where, operands...);
}

/// Operands of one type `T` whose type word is `How` of it; the result is an `R`, or a `T` when `R` is void.
template <target Tgt, typing How, class R, tok Op, tok... M, class... A>
constexpr auto same(const context& k, location where, A&&... a) {
    using S = same_type<A...>;
    using T = typename S::type;
    using D = meta::conditional_t<meta::is_void_v<R>, T, R>;
    constexpr bool logic = Op == tok::and_ || Op == tok::or_ || Op == tok::xor_ || Op == tok::not_;
    static_assert(logic || !meta::is_same_v<T, pred>,
                  "PTXDSL-A02: a predicate is used as data; k.selp turns it into a value");
    if constexpr (S::same && !meta::is_void_v<T>) {
        using F = form<Tgt, Op, M..., type_word<How, T>>;
        require<F>();
        return value<F, D>(k, where, as_operand<T>(static_cast<A&&>(a), where)...);
    } else {
        return reg<meta::conditional_t<meta::is_void_v<D>, u32, D>>();
    }
}

/// The type of the one operand that gives an instruction its type (rows A02, A14).
template <class A>
struct source {
    using value = typename traits<A>::value;
    static_assert(!traits<A>::is_special,
                  "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
    static_assert(traits<A>::is_special || traits<A>::is_reg,
                  "PTXDSL-A14: this operand must be a register, it gives the instruction its type");
    static_assert(!meta::is_same_v<value, pred>,
                  "PTXDSL-A02: a predicate is used as data; k.selp turns it into a value");
    using type = meta::conditional_t<traits<A>::is_reg && !meta::is_same_v<value, pred>, value, u32>;
};
template <class A>
using source_t = typename source<A>::type;

/// Result type of `mul.wide` and `mad.wide`.
template <class T>
struct twice {
    static_assert(always_false<T>, "PTXDSL-A15: the .wide forms exist for 16-bit and 32-bit integers");
    using type = u32;
};
template <> struct twice<u16> {
    using type = u32;
};
template <> struct twice<s16> {
    using type = s32;
};
template <> struct twice<u32> {
    using type = u64;
};
template <> struct twice<s32> {
    using type = s64;
};

/// Tokens like `form`, absent ones (`tok::none`) left out.
template <target Tgt, tok... Toks>
struct compact_form {
    struct list_t {
        tok t[sizeof...(Toks)] = {};
        std::uint32_t w[(sizeof...(Toks) + 1) / 2] = {};
        std::uint32_t n = 0;
        constexpr void add(tok k) noexcept {
            if (k == tok::none) return;
            w[n / 2] |= static_cast<std::uint32_t>(k) << (n % 2 == 0 ? 0 : 16);
            t[n++] = k;
        }
    };
    static constexpr list_t packed = [] {
        list_t l;
        (l.add(Toks), ...);
        return l;
    }();
    static constexpr std::uint32_t count = packed.n;
    static constexpr isa::verdict verdict = isa::find(packed.t, count, Tgt);
};

/// `a|b`, two results of one instruction.
[[nodiscard]] constexpr raw_operand pair_operand(ir::program& p, std::uint32_t a, std::uint32_t b) noexcept {
    raw_operand o;
    o.prog = &p;
    o.words[0] = ir::head(ir::operand_kind::pair, 2);
    o.words[1] = a;
    o.words[2] = b;
    o.count = 3;
    return o;
}
[[nodiscard]] constexpr std::uint32_t reg_word(std::uint32_t id) noexcept {
    return ir::head(ir::operand_kind::reg, id);
}

/// Emits `F d|p, operands…` with two new registers.
template <class F, class Result, class... O>
constexpr Result pair_value(const context& k, location where, const O&... operands) {
    (check_literal(k, operands, where), ...);
    const std::uint32_t first = k.p.new_reg(scalar_of<typename Result::first_type>);
    const std::uint32_t second = k.p.new_reg(isa::scalar::pred);
    const ir::span s =
        emit_all(k.p, ref<F>(), k.guard, where, pair_operand(k.p, reg_word(first), reg_word(second)), operands...);
    return {{k.p, first, s}, {k.p, second, s}};
}

/// Brings nested calls that become one operand (a vector) into order; returns what they cover together.
template <class Program>
constexpr ir::span settle_spans(Program& p, ir::span* spans, std::uint32_t n, location where) {
    ir::span all;
    if (!p.settle(spans, n, all, where))
        p.report(
            "K05", where,
            {"two nested calls in one argument list emit several instructions each, and C++ does not fix their order; "
             "give the first one a name"});
    return all.begin == all.end ? ir::span{} : all;
}

/// A predicate operand: a register, or `px::unless(p)`, printed `!%p`.
template <class P>
[[nodiscard]] constexpr auto pred_operand(P&& p, location where) {
    if constexpr (meta::is_same_v<meta::remove_cvref_t<P>, negated>) {
        raw_operand o;
        o.prog = p.p.program();
        o.words[0] = ir::head(ir::operand_kind::not_pred, p.p.id());
        o.fresh = p.fresh;
        return o;
    } else {
        constexpr bool fits = meta::is_same_v<typename traits<P>::value, pred> && traits<P>::is_reg;
        static_assert(fits, "PTXDSL-A02: a predicate register is needed here; k.setp makes one");
        if constexpr (fits)
            return as_operand<pred>(static_cast<P&&>(p), where);
        else
            return raw_operand{};
    }
}

/// Base of every instruction family; `Tag` is the family itself, so that a builder can derive from many.
template <target Tgt, class Tag>
class family {
public:
    static constexpr target the_target = Tgt;

protected:
    [[nodiscard]] constexpr const builder<Tgt>& self() const noexcept {
        return static_cast<const builder<Tgt>&>(static_cast<const Tag&>(*this));
    }
    [[nodiscard]] constexpr context ctx() const noexcept { return self().context(); }
};

}  // namespace detail

/// Two results of one instruction: `auto [less, not_less] = k.setp_pq<px::lt>(a, b)`.
struct pred_pair {
    using first_type = pred;
    reg<pred> p, q;
};
/// A value and the predicate that says something about it: `auto [v, valid] = k.shfl_sync_down_p(…)`.
template <class T>
struct value_pred {
    using first_type = T;
    reg<T> d;
    reg<pred> p;
};

}  // namespace ptxdsl
