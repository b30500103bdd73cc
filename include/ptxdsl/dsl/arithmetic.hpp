// SPDX-License-Identifier: Apache-2.0
// Integer, floating-point, logic, shift and move instructions (PTX ISA 9.7.1 to 9.7.8).
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>

namespace ptxdsl::detail {

template <target Tgt>
class arithmetic_family : public family<Tgt, arithmetic_family<Tgt>> {
    using family<Tgt, arithmetic_family<Tgt>>::ctx;

public:
    /// `add{.M}.T d, a, b;` — modifiers in PTX order: `k.add<px::rn, px::ftz>(a, b)`, `k.add<px::sat>(i, j)`. PTX ISA 9.7.1.1, 9.7.3.3.
    template <tok... M, class A, class B>
    constexpr auto add(A&& a, B&& b, location where = location::current()) const {
        return uniform<Tgt, tok::add, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `sub{.M}.T d, a, b;` PTX ISA 9.7.1.2, 9.7.3.4.
    template <tok... M, class A, class B>
    constexpr auto sub(A&& a, B&& b, location where = location::current()) const {
        return uniform<Tgt, tok::sub, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mul{.M}.T d, a, b;` for floating types; integers say which half: `mul_lo`, `mul_hi`, `mul_wide`. PTX ISA 9.7.3.5.
    template <tok... M, class A, class B>
    constexpr auto mul(A&& a, B&& b, location where = location::current()) const {
        return uniform<Tgt, tok::mul, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mul.lo.T d, a, b;` PTX ISA 9.7.1.3.
    template <class A, class B>
    constexpr auto mul_lo(A&& a, B&& b, location where = location::current()) const {
        return uniform<Tgt, tok::mul, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b));
    }
    /// `mad.lo.T d, a, b, c;` PTX ISA 9.7.1.4.
    template <class A, class B, class C>
    constexpr auto mad_lo(A&& a, B&& b, C&& c, location where = location::current()) const {
        return uniform<Tgt, tok::mad, tok::lo>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `fma.R{.M}.T d, a, b, c;` — `k.fma<px::rn>(a, b, c)`. PTX ISA 9.7.3.6.
    template <tok... M, class A, class B, class C>
    constexpr auto fma(A&& a, B&& b, C&& c, location where = location::current()) const {
        return uniform<Tgt, tok::fma, M...>(ctx(), where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `fma.rn.T d, a, b, c;`
    template <class A, class B, class C>
    constexpr auto fma_rn(A&& a, B&& b, C&& c, location where = location::current()) const {
        return fma<tok::rn>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), where);
    }

    /// `mov.T d, %special;` — the only way to read a special register. PTX ISA 9.7.9.1, 10.
    template <class T, isa::sreg Id>
    constexpr reg<T> mov(special_register<T, Id>, location where = location::current()) const {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::special, static_cast<std::uint32_t>(Id));
        return value<form<Tgt, tok::mov, isa::type_token(scalar_of<T>)>, T>(ctx(), where, o);
    }
    /// `mov.T d, a;` — a new register with the value of `a`.
    template <class T>
    constexpr reg<T> mov(const reg<T>& a, location where = location::current()) const {
        return value<form<Tgt, tok::mov, isa::type_token(ir::program::register_type(scalar_of<T>))>, T>(ctx(), where, operand<T>(a, where));
    }
    /// `mov.T d, literal;` — `k.mov<px::u32>(7)`, `k.mov<px::f32>(0.0f)`.
    template <class T, class V>
        requires std::is_arithmetic_v<V>
    constexpr reg<T> mov(V v, location where = location::current()) const {
        return value<form<Tgt, tok::mov, isa::type_token(ir::program::register_type(scalar_of<T>))>, T>(ctx(), where, operand<T>(v, where));
    }

    /// `setp.OP.T p, a, b;` — `k.setp<px::lt>(a, b)`; the operators `<`, `==` … emit the same. PTX ISA 9.7.5.2.
    template <tok Op, tok... M, class A, class B>
    constexpr reg<pred> setp(A&& a, B&& b, location where = location::current()) const {
        using S = same_type<A, B>;
        using T = typename S::type;
        if constexpr (S::same && !std::is_void_v<T>) {
            using F = form<Tgt, tok::setp, Op, M..., isa::type_token(scalar_of<T>)>;
            require<F>();
            return value<F, pred>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where), as_operand<T>(static_cast<B&&>(b), where));
        } else {
            return {};
        }
    }
};

}  // namespace ptxdsl::detail
