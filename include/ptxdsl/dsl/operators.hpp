// SPDX-License-Identifier: Apache-2.0
// Operators on registers (declared in dsl/handles.hpp). Each emits exactly one instruction; which one follows the
// register's type: `>>` of a signed register is `shr.s32`, `<` of an unsigned one `setp.lt.u32`.
//
// Operands arrive as `operand<T>`, whose converting constructor notes the author's line: C++ gives operators no other
// way to know it.
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>

namespace ptxdsl {

namespace detail {

/// Packed tokens `Ops.type`, absent ones (`tok::none`) left out.
struct operator_tokens {
    std::uint32_t words[2] = {};
    std::uint32_t count = 0;
    constexpr void add(tok t) noexcept {
        if (t == tok::none) return;
        words[count / 2] |= static_cast<std::uint32_t>(t) << (count % 2 == 0 ? 0 : 16);
        ++count;
    }
};

template <tok... Ops>
[[nodiscard]] constexpr operator_tokens tokens_of(isa::scalar type) noexcept {
    operator_tokens t;
    (t.add(Ops), ...);
    t.add(isa::type_token(type));
    return t;
}

/// Operators do not know the kernel's target; every form they use exists on all of them. Since: bf16 arithmetic 7.8.
[[nodiscard]] constexpr form_ref operator_form(const operator_tokens& t, isa::scalar type) noexcept {
    const bool brain = type == isa::scalar::bf16 || type == isa::scalar::bf16x2;
    return {t.words, t.count, isa::verdict::no_form, brain ? ptx_version{7, 8} : ptx_version{4, 2}};
}

template <class T, class R, tok... Ops, class U>
constexpr reg<R> operate(isa::scalar type, const operand<T>& a, const operand<U>& b) {
    ir::program& p = a.prog != nullptr ? *a.prog : *b.prog;
    const operator_tokens t = tokens_of<Ops...>(type);
    const location where = a.prog != nullptr ? a.where : b.where;
    check_literal({p, 0}, a, where);
    check_literal({p, 0}, b, where);
    const std::uint32_t dst = p.new_reg(scalar_of<R>);
    const raw_operand operands[] = {reg_operand(p, dst), a, b};
    const ir::span s = emit(p, operator_form(t, type), 0, where, operands, 3);
    return reg<R>(p, dst, s);
}

template <class T, tok... Ops>
constexpr reg<T> operate(isa::scalar type, const operand<T>& a) {
    ir::program& p = *a.prog;
    const operator_tokens t = tokens_of<Ops...>(type);
    const std::uint32_t dst = p.new_reg(scalar_of<T>);
    const raw_operand operands[] = {reg_operand(p, dst), a};
    const ir::span s = emit(p, operator_form(t, type), 0, a.where, operands, 2);
    return reg<T>(p, dst, s);
}

template <class T, tok... Ops, class U>
constexpr void operate_in_place(const reg<T>& d, isa::scalar type, const operand<U>& b) {
    ir::program& p = *d.program();
    const operator_tokens t = tokens_of<Ops...>(type);
    check_literal({p, 0}, b, b.where);
    const raw_operand operands[] = {reg_operand(p, d.id()), reg_operand(p, d.id()), b};
    emit(p, operator_form(t, type), 0, b.where, operands, 3);
}

/// Mixed operand types: one sentence instead of a list of candidates (A01, A02).
template <class A, class B>
constexpr void refuse_mixed() noexcept {
    constexpr bool data = std::is_same_v<A, pred> || std::is_same_v<B, pred>;
    static_assert(!data || always_false<A>,
                  "PTXDSL-A02: a predicate is used as data (or data as a predicate); k.selp turns a predicate into a value, "
                  "k.setp a value into a predicate");
    static_assert(data || always_false<A>, "PTXDSL-A01: the operands of this operator have different scalar types; convert one "
                                           "with k.cvt (both types are in the note below)");
}

template <class A, class B>
concept mixed = !std::is_same_v<A, B>;

}  // namespace detail

template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator+(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator-(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator*(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator&(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator|(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<A> operator^(const reg<A>& a, const reg<B>&) { detail::refuse_mixed<A, B>(); return a; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<pred> operator==(const reg<A>&, const reg<B>&) { detail::refuse_mixed<A, B>(); return {}; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<pred> operator<(const reg<A>&, const reg<B>&) { detail::refuse_mixed<A, B>(); return {}; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<pred> operator>(const reg<A>&, const reg<B>&) { detail::refuse_mixed<A, B>(); return {}; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<pred> operator<=(const reg<A>&, const reg<B>&) { detail::refuse_mixed<A, B>(); return {}; }
template <class A, class B>
    requires detail::mixed<A, B>
constexpr reg<pred> operator>=(const reg<A>&, const reg<B>&) { detail::refuse_mixed<A, B>(); return {}; }

}  // namespace ptxdsl
