// SPDX-License-Identifier: Apache-2.0
// Integer, floating-point, logic, shift, comparison and selection instructions (PTX ISA 9.7.1 to 9.7.8).
//
// Modifiers are template arguments in PTX order: `k.fma<px::rn, px::ftz>(a, b, c)`. Types follow the registers.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::detail {

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
    static constexpr isa::operand_shape shapes[] = {{isa::operand_kind::reg, isa::scalar::f32},
                                                    {isa::operand_kind::reg, isa::scalar::f32},
                                                    {isa::operand_kind::reg, isa::scalar::f32},
                                                    {isa::operand_kind::reg, isa::scalar::f32}};
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
class arithmetic_family : public family<Tgt, arithmetic_family<Tgt>> {
    using family<Tgt, arithmetic_family<Tgt>>::ctx;

public:
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
    /// `mul{.M}.T d, a, b;` of floating types; integers say which half: `mul_lo`, `mul_hi`, `mul_wide`. PTX
    /// ISA 9.7.3.5, 9.7.4.3.
    template <tok... M, class A, class B = absent>
    constexpr auto mul(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mul, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
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
    /// `mad.R{.M}.T d, a, b, c;` of f32 and f64; integers: `mad_lo`, `mad_hi`, `mad_wide`. PTX ISA 9.7.3.7.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto mad(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                            static_cast<C&&>(c));
    }
    /// `div{.M}.T d, a, b;` — floats choose `k.div<px::rn>`, `<px::approx>` or `<px::full>`. PTX ISA 9.7.1.8, 9.7.3.8.
    template <tok... M, class A, class B = absent>
    constexpr auto div(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::div, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `rem.T d, a, b;` PTX ISA 9.7.1.9.
    template <class A, class B = absent>
    constexpr auto rem(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::rem>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `abs{.M}.T d, a;` PTX ISA 9.7.1.10, 9.7.3.9, 9.7.4.6.
    template <tok... M, class A = absent>
    constexpr auto abs(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::abs, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `neg{.M}.T d, a;` PTX ISA 9.7.1.11, 9.7.3.10, 9.7.4.5.
    template <tok... M, class A = absent>
    constexpr auto neg(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::neg, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `min{.M}.T d, a, b;` — signed for signed registers; `<px::relu>`, `<px::ftz, px::NaN>`, `<px::xorsign,
    /// px::abs>`. PTX ISA 9.7.1.12, 9.7.3.11, 9.7.4.7.
    template <tok... M, class A, class B = absent>
    constexpr auto min(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::min, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `min{.M}.f32 d, a, b, c;` sm_100. PTX ISA 9.7.3.11.
    template <tok... M, class A, class B, class C>
        requires(!meta::is_same_v<meta::remove_cvref_t<C>, location>)
    constexpr auto min(A&& a, B&& b, C&& c, location where = location::current()) const {
        return three_inputs<tok::min, M...>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }
    /// `max{.M}.T d, a, b;` PTX ISA 9.7.1.13, 9.7.3.12, 9.7.4.8.
    template <tok... M, class A, class B = absent>
    constexpr auto max(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::max, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `max{.M}.f32 d, a, b, c;` sm_100. PTX ISA 9.7.3.12.
    template <tok... M, class A, class B, class C>
        requires(!meta::is_same_v<meta::remove_cvref_t<C>, location>)
    constexpr auto max(A&& a, B&& b, C&& c, location where = location::current()) const {
        return three_inputs<tok::max, M...>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }

    // ---- integer arithmetic (PTX ISA 9.7.1) -----------------------------------------------------------------------

    /// `mul.lo.T d, a, b;` PTX ISA 9.7.1.3.
    template <class A, class B = absent>
    constexpr auto mul_lo(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mul, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mul.hi.T d, a, b;` PTX ISA 9.7.1.3.
    template <class A, class B = absent>
    constexpr auto mul_hi(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mul, tok::hi>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mul.wide.T d, a, b;` — the result is twice as wide. PTX ISA 9.7.1.3.
    template <class A, class B = absent>
    constexpr auto mul_wide(A&& a, B&& b = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        return same<Tgt, typing::own, typename twice<T>::type, tok::mul, tok::wide>(ctx(), where, static_cast<A&&>(a),
                                                                                    static_cast<B&&>(b));
    }
    /// `mad.lo.T d, a, b, c;` PTX ISA 9.7.1.4.
    template <class A, class B, class C = absent>
    constexpr auto mad_lo(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                               static_cast<C&&>(c));
    }
    /// `mad.hi{.sat}.T d, a, b, c;` PTX ISA 9.7.1.4.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto mad_hi(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad, tok::hi, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                     static_cast<C&&>(c));
    }
    /// `mad.wide.T d, a, b, c;` — `c` and the result are twice as wide as `a`, `b`. PTX ISA 9.7.1.4.
    template <class A, class B, class C = absent>
    constexpr auto mad_wide(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        using W = typename twice<T>::type;
        return checked<form<Tgt, tok::mad, tok::wide, type_word<typing::own, T>>, W>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<W>(static_cast<C&&>(c), where));
    }
    /// `mul24.lo.T d, a, b;` PTX ISA 9.7.1.5.
    template <class A, class B = absent>
    constexpr auto mul24_lo(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mul24, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mul24.hi.T d, a, b;` PTX ISA 9.7.1.5.
    template <class A, class B = absent>
    constexpr auto mul24_hi(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mul24, tok::hi>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mad24.lo.T d, a, b, c;` PTX ISA 9.7.1.6.
    template <class A, class B, class C = absent>
    constexpr auto mad24_lo(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad24, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                 static_cast<C&&>(c));
    }
    /// `mad24.hi{.sat}.T d, a, b, c;` PTX ISA 9.7.1.6.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto mad24_hi(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad24, tok::hi, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                       static_cast<C&&>(c));
    }
    /// `sad.T d, a, b, c;` PTX ISA 9.7.1.7.
    template <class A, class B, class C = absent>
    constexpr auto sad(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::sad>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `popc.b32 d, a;` `d` is u32. PTX ISA 9.7.1.14.
    template <class A = absent>
    constexpr auto popc(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, u32, tok::popc>(ctx(), where, static_cast<A&&>(a));
    }
    /// `clz.b32 d, a;` `d` is u32. PTX ISA 9.7.1.15.
    template <class A = absent>
    constexpr auto clz(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, u32, tok::clz>(ctx(), where, static_cast<A&&>(a));
    }
    /// `bfind{.shiftamt}.T d, a;` `d` is u32. PTX ISA 9.7.1.16.
    template <tok... M, class A = absent>
    constexpr auto bfind(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::own, u32, tok::bfind, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `fns.b32 d, mask, base, offset;` `offset` is s32. PTX ISA 9.7.1.17.
    template <class A, class B, class C = absent>
    constexpr auto fns(A&& mask, B&& base, C&& offset = {}, location where = location::current()) const {
        return checked<form<Tgt, tok::fns, tok::b32>, u32>(ctx(), where, as_operand<u32>(static_cast<A&&>(mask), where),
                                                           as_operand<u32>(static_cast<B&&>(base), where),
                                                           as_operand<s32>(static_cast<C&&>(offset), where));
    }
    /// `brev.b32 d, a;` PTX ISA 9.7.1.18.
    template <class A = absent>
    constexpr auto brev(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::brev>(ctx(), where, static_cast<A&&>(a));
    }
    /// `bfe.T d, a, pos, len;` sign-extends for signed `a`; positions are u32. PTX ISA 9.7.1.19.
    template <class A, class B, class C = absent>
    constexpr auto bfe(A&& a, B&& pos, C&& len = {}, location where = location::current()) const {
        using T = source_t<A>;
        return checked<form<Tgt, tok::bfe, type_word<typing::own, T>>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<u32>(static_cast<B&&>(pos), where),
            as_operand<u32>(static_cast<C&&>(len), where));
    }
    /// `bfi.b32 f, a, b, pos, len;` `a` into `b`; positions are u32. PTX ISA 9.7.1.20.
    template <class A, class B, class C, class D = absent>
    constexpr auto bfi(A&& a, B&& b, C&& pos, D&& len = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        return checked<form<Tgt, tok::bfi, type_word<typing::bits, T>>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<u32>(static_cast<C&&>(pos), where), as_operand<u32>(static_cast<D&&>(len), where));
    }
    /// `szext.clamp.T d, a, b;` `b` is u32. PTX ISA 9.7.1.21.
    template <class A, class B = absent>
    constexpr auto szext_clamp(A&& a, B&& b = {}, location where = location::current()) const {
        return counted<typing::own, tok::szext, tok::clamp>(static_cast<A&&>(a), static_cast<B&&>(b), where);
    }
    /// `szext.wrap.T d, a, b;` PTX ISA 9.7.1.21.
    template <class A, class B = absent>
    constexpr auto szext_wrap(A&& a, B&& b = {}, location where = location::current()) const {
        return counted<typing::own, tok::szext, tok::wrap>(static_cast<A&&>(a), static_cast<B&&>(b), where);
    }
    /// `bmsk.clamp.b32 d, a, b;` a mask of `b` bits from bit `a` on. PTX ISA 9.7.1.22.
    template <class A, class B = absent>
    constexpr auto bmsk_clamp(A&& a, B&& b = {}, location where = location::current()) const {
        return checked<form<Tgt, tok::bmsk, tok::clamp, tok::b32>, u32>(
            ctx(), where, as_operand<u32>(static_cast<A&&>(a), where), as_operand<u32>(static_cast<B&&>(b), where));
    }
    /// `bmsk.wrap.b32 d, a, b;` PTX ISA 9.7.1.22.
    template <class A, class B = absent>
    constexpr auto bmsk_wrap(A&& a, B&& b = {}, location where = location::current()) const {
        return checked<form<Tgt, tok::bmsk, tok::wrap, tok::b32>, u32>(
            ctx(), where, as_operand<u32>(static_cast<A&&>(a), where), as_operand<u32>(static_cast<B&&>(b), where));
    }
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

    // ---- extended precision (PTX ISA 9.7.2): the carry flag orders these calls, so give each a name --------------

    /// `add.cc.T d, a, b;` writes the carry. PTX ISA 9.7.2.1.
    template <class A, class B = absent>
    constexpr auto add_cc(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::add, tok::cc>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `addc{.cc}.T d, a, b;` reads the carry. PTX ISA 9.7.2.2.
    template <tok... M, class A, class B = absent>
    constexpr auto addc(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::addc, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `sub.cc.T d, a, b;` writes the borrow. PTX ISA 9.7.2.3.
    template <class A, class B = absent>
    constexpr auto sub_cc(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::sub, tok::cc>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `subc{.cc}.T d, a, b;` reads the borrow. PTX ISA 9.7.2.4.
    template <tok... M, class A, class B = absent>
    constexpr auto subc(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::subc, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mad.lo.cc.T d, a, b, c;` writes the carry. PTX ISA 9.7.2.5.
    template <class A, class B, class C = absent>
    constexpr auto mad_lo_cc(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad, tok::lo, tok::cc>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                        static_cast<C&&>(c));
    }
    /// `mad.hi.cc.T d, a, b, c;` writes the carry. PTX ISA 9.7.2.5.
    template <class A, class B, class C = absent>
    constexpr auto mad_hi_cc(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::mad, tok::hi, tok::cc>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                        static_cast<C&&>(c));
    }
    /// `madc.lo{.cc}.T d, a, b, c;` reads the carry. PTX ISA 9.7.2.6.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto madc_lo(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::madc, tok::lo, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                      static_cast<C&&>(c));
    }
    /// `madc.hi{.cc}.T d, a, b, c;` reads the carry. PTX ISA 9.7.2.6.
    template <tok... M, class A, class B, class C = absent>
    constexpr auto madc_hi(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        return uniform<Tgt, tok::madc, tok::hi, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                      static_cast<C&&>(c));
    }

    // ---- floating point (PTX ISA 9.7.3, 9.7.4) ----------------------------------------------------------------------

    /// `rcp.M.T d, a;` — `k.rcp<px::approx, px::ftz>(x)`, `k.rcp<px::rn>(x)`. PTX ISA 9.7.3.13.
    template <tok... M, class A = absent>
    constexpr auto rcp(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::rcp, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `sqrt.M.T d, a;` PTX ISA 9.7.3.15.
    template <tok... M, class A = absent>
    constexpr auto sqrt(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::sqrt, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `rsqrt.approx{.ftz}.T d, a;` PTX ISA 9.7.3.16.
    template <tok... M, class A = absent>
    constexpr auto rsqrt(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::rsqrt, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `sin.approx{.ftz}.f32 d, a;` PTX ISA 9.7.3.18.
    template <tok... M, class A = absent>
    constexpr auto sin(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::sin, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `cos.approx{.ftz}.f32 d, a;` PTX ISA 9.7.3.19.
    template <tok... M, class A = absent>
    constexpr auto cos(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::cos, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `lg2.approx{.ftz}.f32 d, a;` PTX ISA 9.7.3.20.
    template <tok... M, class A = absent>
    constexpr auto lg2(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::lg2, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `ex2.approx{.ftz}.T d, a;` bf16 types need `.ftz`. PTX ISA 9.7.3.21, 9.7.4.10.
    template <tok... M, class A = absent>
    constexpr auto ex2(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::ex2, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `tanh.approx.T d, a;` PTX ISA 9.7.3.22, 9.7.4.9.
    template <tok... M, class A = absent>
    constexpr auto tanh(A&& a = {}, location where = location::current()) const {
        return uniform<Tgt, tok::tanh, M...>(ctx(), where, static_cast<A&&>(a));
    }
    /// `testp.OP.T p, a;` — `k.testp<px::finite>(x)`. PTX ISA 9.7.3.1.
    template <tok Op, class A = absent>
    constexpr auto testp(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::own, pred, tok::testp, Op>(ctx(), where, static_cast<A&&>(a));
    }
    /// `copysign.T d, a, b;` the sign of `a` on `b`. PTX ISA 9.7.3.2.
    template <class A, class B = absent>
    constexpr auto copysign(A&& a, B&& b = {}, location where = location::current()) const {
        return uniform<Tgt, tok::copysign>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
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
    /// `selp.T d, a, b, p;` `a` where `p`, else `b`. PTX ISA 9.7.6.3.
    template <class A, class B, class P = absent>
    constexpr auto selp(A&& a, B&& b, P&& p = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        return checked<form<Tgt, tok::selp, type_word<typing::plain, T>>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            pred_operand(static_cast<P&&>(p), where));
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

    /// `and.b32 d, a, b;` or `and.pred`. PTX ISA 9.7.8.1.
    template <class A, class B = absent>
    constexpr auto and_(A&& a, B&& b = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::and_>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `or.b32 d, a, b;` or `or.pred`. PTX ISA 9.7.8.2.
    template <class A, class B = absent>
    constexpr auto or_(A&& a, B&& b = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::or_>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `xor.b32 d, a, b;` or `xor.pred`. PTX ISA 9.7.8.3.
    template <class A, class B = absent>
    constexpr auto xor_(A&& a, B&& b = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::xor_>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `not.b32 d, a;` or `not.pred`. PTX ISA 9.7.8.4.
    template <class A = absent>
    constexpr auto not_(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::not_>(ctx(), where, static_cast<A&&>(a));
    }
    /// `cnot.b32 d, a;` 1 where `a` is 0, else 0. PTX ISA 9.7.8.5.
    template <class A = absent>
    constexpr auto cnot(A&& a = {}, location where = location::current()) const {
        return same<Tgt, typing::bits, void, tok::cnot>(ctx(), where, static_cast<A&&>(a));
    }
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
    /// `shl.b32 d, a, n;` `n` is u32 whatever the width of `a`. PTX ISA 9.7.8.8.
    template <class A, class B = absent>
    constexpr auto shl(A&& a, B&& n = {}, location where = location::current()) const {
        return counted<typing::bits, tok::shl>(static_cast<A&&>(a), static_cast<B&&>(n), where);
    }
    /// `shr.T d, a, n;` arithmetic for signed `a`, logical otherwise. PTX ISA 9.7.8.9.
    template <class A, class B = absent>
    constexpr auto shr(A&& a, B&& n = {}, location where = location::current()) const {
        return counted<typing::own, tok::shr>(static_cast<A&&>(a), static_cast<B&&>(n), where);
    }
    /// `shf.l.clamp.b32 d, lo, hi, n;` PTX ISA 9.7.8.7.
    template <class A, class B, class C = absent>
    constexpr auto shf_l_clamp(A&& lo, B&& hi, C&& n = {}, location where = location::current()) const {
        return funnel<tok::l, tok::clamp>(static_cast<A&&>(lo), static_cast<B&&>(hi), static_cast<C&&>(n), where);
    }
    /// `shf.l.wrap.b32 d, lo, hi, n;` PTX ISA 9.7.8.7.
    template <class A, class B, class C = absent>
    constexpr auto shf_l_wrap(A&& lo, B&& hi, C&& n = {}, location where = location::current()) const {
        return funnel<tok::l, tok::wrap>(static_cast<A&&>(lo), static_cast<B&&>(hi), static_cast<C&&>(n), where);
    }
    /// `shf.r.clamp.b32 d, lo, hi, n;` PTX ISA 9.7.8.7.
    template <class A, class B, class C = absent>
    constexpr auto shf_r_clamp(A&& lo, B&& hi, C&& n = {}, location where = location::current()) const {
        return funnel<tok::r, tok::clamp>(static_cast<A&&>(lo), static_cast<B&&>(hi), static_cast<C&&>(n), where);
    }
    /// `shf.r.wrap.b32 d, lo, hi, n;` PTX ISA 9.7.8.7.
    template <class A, class B, class C = absent>
    constexpr auto shf_r_wrap(A&& lo, B&& hi, C&& n = {}, location where = location::current()) const {
        return funnel<tok::r, tok::wrap>(static_cast<A&&>(lo), static_cast<B&&>(hi), static_cast<C&&>(n), where);
    }
    /// `prmt.b32{.MODE} d, a, b, c;` — `k.prmt(a, b, 0x5410u)`, `k.prmt<px::rc16>(a, b, c)`; `c` is u32. PTX
    /// ISA 9.7.9.7.
    template <tok... Mode, class A, class B, class C = absent>
    constexpr auto prmt(A&& a, B&& b, C&& c = {}, location where = location::current()) const {
        using T = typename same_type<A, B>::operand_value;
        return checked<form<Tgt, tok::prmt, type_word<typing::bits, T>, Mode...>, T>(
            ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where),
            as_operand<u32>(static_cast<C&&>(c), where));
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
    /// `Op.T d, a, n` with a u32 count.
    template <typing How, tok... Op, class A, class B>
    constexpr auto counted(A&& a, B&& n, location where) const {
        using T = source_t<A>;
        using F = form<Tgt, Op..., type_word<How, T>>;
        require<F>();
        return value<F, T>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                           as_operand<u32>(static_cast<B&&>(n), where));
    }
    template <tok Side, tok Mode, class A, class B, class C>
    constexpr auto funnel(A&& lo, B&& hi, C&& n, location where) const {
        using T = typename same_type<A, B>::operand_value;
        using F = form<Tgt, tok::shf, Side, Mode, type_word<typing::bits, T>>;
        require<F>();
        return value<F, T>(ctx(), where, as_operand<T>(static_cast<A&&>(lo), where),
                           as_operand<T>(static_cast<B&&>(hi), where), as_operand<u32>(static_cast<C&&>(n), where));
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
