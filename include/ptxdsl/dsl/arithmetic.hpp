// SPDX-License-Identifier: Apache-2.0
// Integer, floating-point, logic, shift, comparison and selection instructions (PTX ISA 9.7.1 to 9.7.8).
//
// Modifiers are template arguments in PTX order: `k.fma<px::rn, px::ftz>(a, b, c)`. Types follow the registers.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/generated/arithmetic.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::detail {

/// A half operand of a mixed precision instruction (`add.f32.f16`).
template <class A>
inline constexpr bool is_half_reg =
    meta::is_same_v<typename traits<A>::value, f16> || meta::is_same_v<typename traits<A>::value, bf16>;
template <class A>
inline constexpr bool is_f32_operand = meta::is_same_v<typename traits<A>::value, f32> ||
                                       (!traits<A>::is_reg && meta::is_floating_point_v<meta::remove_cvref_t<A>>);

/// Three-input `min`, `max`: same words as the two-input form, so its operands decide.
template <target Tgt, tok... Toks>
struct three_input_form : form<Tgt, Toks...> {
    static constexpr isa::operand_shape shapes[] = {{isa::shape_kind::reg, isa::scalar::f32},
                                                    {isa::shape_kind::reg, isa::scalar::f32},
                                                    {isa::shape_kind::reg, isa::scalar::f32},
                                                    {isa::shape_kind::reg, isa::scalar::f32}};
    static constexpr isa::verdict verdict = [] {
        isa::verdict v = isa::find(form<Tgt, Toks...>::tokens, sizeof...(Toks), shapes, 4, Tgt);
        if (!v.ok() && isa::find(form<Tgt, Toks...>::tokens, sizeof...(Toks), shapes, 4, sm_100a).ok())
            v.st = isa::verdict::status::wrong_target;
        return v;
    }();
};

[[nodiscard]] consteval bool is_boolean(tok t) noexcept { return t == tok::and_ || t == tok::or_ || t == tok::xor_; }
[[nodiscard]] consteval bool is_unsigned_compare(tok t) noexcept {
    return t == tok::lo || t == tok::ls || t == tok::hi || t == tok::hs;
}

template <target Tgt>
class arithmetic_family : public generated_arithmetic<Tgt, arithmetic_family<Tgt>> {
    using generated = generated_arithmetic<Tgt, arithmetic_family<Tgt>>;
    using generated::ctx;

public:
    // What follows from a row of isa/forms is in the base; here are the calls whose forms differ in more than a type.
    using generated::max;
    using generated::min;

    // ---- arithmetic of every type -------------------------------------------------------------------------------

    /// `add{.M}.T d, a, b;` — `k.add(i, j)`, `k.add<px::rn, px::ftz>(a, b)`, `k.add<px::sat>(i, j)`; `add.f32.f16` when
    /// `a` is a half and `b` an f32 (sm_100). PTX ISA 9.7.1.1, 9.7.3.3, 9.7.4.1, 9.7.5.1.
    template <tok... M, class A, class B = absent>
    constexpr auto add(A&& a, B&& b = {}, location where = location::current()) const {
        if constexpr (is_half_reg<A> && is_f32_operand<B>)
            return mixed_sum<tok::add, M...>(static_cast<A&&>(a), static_cast<B&&>(b), where);
        else
            return uniform<Tgt, tok::add, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `sub{.M}.T d, a, b;` PTX ISA 9.7.1.2, 9.7.3.4, 9.7.4.2, 9.7.5.2.
    template <tok... M, class A, class B = absent>
    constexpr auto sub(A&& a, B&& b = {}, location where = location::current()) const {
        if constexpr (is_half_reg<A> && is_f32_operand<B>)
            return mixed_sum<tok::sub, M...>(static_cast<A&&>(a), static_cast<B&&>(b), where);
        else
            return uniform<Tgt, tok::sub, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `fma.R{.M}.T d, a, b, c;` — `k.fma<px::rn>(a, b, c)`; `fma.rn.f32.f16` when `a`, `b` are halves and `c` an f32
    /// (sm_100). PTX ISA 9.7.3.6, 9.7.4.4, 9.7.5.3.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto fma(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        if constexpr (is_half_reg<A> && meta::is_same_v<typename traits<A>::value, typename traits<B>::value> &&
                      is_f32_operand<C>) {
            using H = typename traits<A>::value;
            return checked<form<Tgt, tok::fma, M..., tok::f32, isa::type_token(scalar_of<H>)>, f32>(
                ctx(), where, as_operand<H>(static_cast<A&&>(a), where), as_operand<H>(static_cast<B&&>(b), where),
                as_operand<f32>(static_cast<C&&>(c), where));
        } else {
            return uniform<Tgt, tok::fma, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                static_cast<C&&>(c));
        }
    }
    /// `fma.rn.T d, a, b, c;`
    template <class A, class B, class C = absent>
    constexpr auto fma_rn(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        if constexpr (is_half_reg<A> && is_f32_operand<C>)
            return fma<tok::rn>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
        else
            return uniform<Tgt, tok::fma, tok::rn>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                   static_cast<C&&>(c));
    }
    /// `min{.M}.f32 d, a, b, c;` sm_100. PTX ISA 9.7.3.11.
    template <tok... M, class A, class B, class C>
        requires(!meta::is_same_v<meta::remove_cvref_t<C>, location>)
    constexpr auto min(A&& a, B&& b, C&& c, location where = location::current()) const {
        return three_inputs<tok::min, M...>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }
    /// `max{.M}.f32 d, a, b, c;` sm_100. PTX ISA 9.7.3.12.
    template <tok... M, class A, class B, class C>
        requires(!meta::is_same_v<meta::remove_cvref_t<C>, location>)
    constexpr auto max(A&& a, B&& b, C&& c, location where = location::current()) const {
        return three_inputs<tok::max, M...>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }

    // ---- integer arithmetic (PTX ISA 9.7.1) -----------------------------------------------------------------------

    /// `dp4a.A.B d, a, b, c;` four byte products; `a`, `b` u32 or s32, `c` and `d` s32 unless both are u32. PTX
    /// ISA 9.7.1.23.
    template <class A, class B, class C = absent>
    constexpr auto dp4a(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return dot<tok::dp4a, tok::none>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }
    /// `dp2a.lo.A.B d, a, b, c;` PTX ISA 9.7.1.24.
    template <class A, class B, class C = absent>
    constexpr auto dp2a_lo(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return dot<tok::dp2a, tok::lo>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }
    /// `dp2a.hi.A.B d, a, b, c;` PTX ISA 9.7.1.24.
    template <class A, class B, class C = absent>
    constexpr auto dp2a_hi(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return dot<tok::dp2a, tok::hi>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }

    // ---- comparison and selection (PTX ISA 9.7.6, 9.7.7) ------------------------------------------------------------

    /// `setp.OP{.BOOL}{.M}.T p, a, b{, c};` — `k.setp<px::lt>(a, b)`, `k.setp<px::lt, px::and_>(a, b, px::unless(c))`;
    /// the operators `<`, `==` … emit the first form. PTX ISA 9.7.6.2.
    template <tok Op, tok... M, class A, class B = absent, class C = absent>
    constexpr auto setp(A&& a, B&& b = {}, C&& c = C{}, location where = location::current()) const {
        using T = typename compared<Op, C, A, B, M...>::type;
        using F = form<Tgt, tok::setp, Op, M..., type_word<typing::own, T>>;
        require<F, rule::a10>();
        static_assert(class_of<T> != isa::type_class::packed,
                      "PTXDSL-A15: setp of a packed type has two results: k.setp_pq");
        if constexpr (is_absent<C>) {
            return value<F, pred>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                                  as_operand<T>(static_cast<B&&>(b), where));
        } else {
            return value<F, pred>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                                  as_operand<T>(static_cast<B&&>(b), where), pred_operand(static_cast<C&&>(c), where));
        }
    }
    /// `setp.OP{.BOOL}{.M}.T p|q, a, b{, c};` — `auto [p, q] = k.setp_pq<px::lt>(a, b)`; packed types compare each
    /// half. PTX ISA 9.7.6.2.
    template <tok Op, tok... M, class A, class B = absent, class C = absent>
    constexpr auto setp_pq(A&& a, B&& b = {}, C&& c = C{}, location where = location::current()) const {
        using T = typename compared<Op, C, A, B, M...>::type;
        using F = form<Tgt, tok::setp, Op, M..., type_word<typing::own, T>>;
        require<F, rule::a10>();
        static_assert(!meta::is_same_v<T, f16> && !meta::is_same_v<T, bf16>,
                      "PTXDSL-A15: setp of f16 and bf16 has one result");
        if constexpr (is_absent<C>) {
            return pair_value<F, pred_pair>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                                            as_operand<T>(static_cast<B&&>(b), where));
        } else {
            return pair_value<F, pred_pair>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                                            as_operand<T>(static_cast<B&&>(b), where),
                                            pred_operand(static_cast<C&&>(c), where));
        }
    }
    /// `set.OP{.BOOL}{.M}.D.T d, a, b{, c};` — `k.set<px::u32, px::lt>(a, b)`: all ones (1.0 for floating `D`) or zero.
    /// PTX ISA 9.7.6.1.
    template <class D, tok Op, tok... M, class A, class B = absent, class C = absent>
    constexpr auto set(A&& a, B&& b = {}, C&& c = C{}, location where = location::current()) const {
        using T = typename compared<Op, C, A, B, M...>::type;
        using F = form<Tgt, tok::set, Op, M..., type_word<typing::own, D>, type_word<typing::own, T>>;
        require<F, rule::a10>();
        if constexpr (is_absent<C>) {
            return value<F, D>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                               as_operand<T>(static_cast<B&&>(b), where));
        } else {
            return value<F, D>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                               as_operand<T>(static_cast<B&&>(b), where), pred_operand(static_cast<C&&>(c), where));
        }
    }
    /// `slct{.ftz}.T.C d, a, b, c;` `a` where `c >= 0`, else `b`; `c` is s32 or f32. PTX ISA 9.7.6.4.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto slct(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        using S = source_t<C>;
        return checked<form<Tgt, tok::slct, M..., type_word<typing::plain, T>, type_word<typing::own, S>>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<S>(static_cast<C&&>(c), where));
    }

    // ---- logic and shifts (PTX ISA 9.7.8) ---------------------------------------------------------------------------

    /// `lop3.b32 d, a, b, c, Lut;` — `k.lop3<0xE8>(a, b, c)`. PTX ISA 9.7.8.6.
    template <int Lut, class A, class B, class C = absent>
    constexpr auto lop3(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        using T = typename same_type<A, B, C>::operand_value;
        return checked<form<Tgt, tok::lop3, type_word<typing::bits, T>>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<T>(static_cast<C&&>(c), where), lut_operand<Lut>());
    }
    /// `lop3.and.b32 d|p, a, b, c, Lut, q;` `p = (d != 0) && q`. PTX ISA 9.7.8.6.
    template <int Lut, class A, class B, class C, class Q = absent>
    constexpr auto lop3_and(A&& a, B&& b, C&& c, Q&& q = {}, location where = location::current()) const {
        return lop3_boolean<Lut, tok::and_>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                            static_cast<Q&&>(q), where);
    }
    /// `lop3.or.b32 d|p, a, b, c, Lut, q;` `p = (d != 0) || q`. PTX ISA 9.7.8.6.
    template <int Lut, class A, class B, class C, class Q = absent>
    constexpr auto lop3_or(A&& a, B&& b, C&& c, Q&& q = {}, location where = location::current()) const {
        return lop3_boolean<Lut, tok::or_>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                           static_cast<Q&&>(q), where);
    }
    /// Refuses a table given as an operand (A14): `k.lop3<0xE8>(a, b, c)`.
    template <class A, class... More>
    constexpr auto lop3(A&&, More&&...) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the truth table of lop3 is an immediate; write k.lop3<0xE8>(a, b, c)");
    }

private:
    /// What setp and set compare, with the sentences of rows A01, A02, A10.
    template <tok Op, class C, class A, class B, tok... M>
    struct compared {
        using type = typename same_type<A, B>::operand_value;
        static_assert(
            !is_unsigned_compare(Op) || class_of<type> == isa::type_class::unsigned_int,
            "PTXDSL-A10: lo, ls, hi, hs compare unsigned registers; write px::lt, px::le, px::gt, px::ge, which follow "
            "the register's type");
        static_assert(
            is_absent<C> != (is_boolean(M) || ...),
            "PTXDSL-A16: a comparison with .and, .or or .xor takes a predicate to combine with, and only then");
    };
    template <tok Op, tok... M, class A, class B>
    constexpr auto mixed_sum(A&& a, B&& b, location where) const {
        using H = typename traits<A>::value;
        using F = form<Tgt, Op, M..., tok::f32, isa::type_token(scalar_of<H>)>;
        require<F>();
        return value<F, f32>(ctx(), where, as_operand<H>(static_cast<A&&>(a), where),
                             as_operand<f32>(static_cast<B&&>(b), where));
    }
    template <tok Op, tok... M, class A, class B, class C>
    constexpr auto three_inputs(A&& a, B&& b, C&& c, location where) const {
        static_cast<void>(sizeof(same_type<A, B, C>));
        using F = three_input_form<Tgt, Op, M..., tok::f32>;
        require<F>();
        return value<F, f32>(ctx(), where, as_operand<f32>(static_cast<A&&>(a), where),
                             as_operand<f32>(static_cast<B&&>(b), where), as_operand<f32>(static_cast<C&&>(c), where));
    }
    template <tok Op, tok Half, class A, class B, class C>
    constexpr auto dot(A&& a, B&& b, C&& c, location where) const {
        using X = source_t<A>;
        using Y = source_t<B>;
        using R = meta::conditional_t<meta::is_same_v<X, u32> && meta::is_same_v<Y, u32>, u32, s32>;
        using F = compact_form<Tgt, Op, Half, type_word<typing::own, X>, type_word<typing::own, Y>>;
        require<F>();
        return value<F, R>(ctx(), where, as_operand<X>(static_cast<A&&>(a), where),
                           as_operand<Y>(static_cast<B&&>(b), where), as_operand<R>(static_cast<C&&>(c), where));
    }
    template <int Lut>
    [[nodiscard]] static constexpr auto lut_operand() noexcept {
        static_assert(Lut >= 0 && Lut <= 255, "PTXDSL-A03: the truth table of lop3 has 8 bits");
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(Lut));
        return o;
    }
    template <int Lut, tok Op, class A, class B, class C, class Q>
    constexpr auto lop3_boolean(A&& a, B&& b, C&& c, Q&& q, location where) const {
        using T = typename same_type<A, B, C>::operand_value;
        using F = form<Tgt, tok::lop3, Op, type_word<typing::bits, T>>;
        require<F>();
        return pair_value<F, value_pred<T>>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<T>(static_cast<C&&>(c), where), lut_operand<Lut>(), pred_operand(static_cast<Q&&>(q), where));
    }
};

}  // namespace ptxdsl::detail

#include <ptxdsl/detail/epilogue.hpp>
