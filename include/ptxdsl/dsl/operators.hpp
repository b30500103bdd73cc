// SPDX-License-Identifier: Apache-2.0
// Operators on registers (declared in dsl/reg.hpp). Each emits exactly one instruction; which one follows the
// register's type: `>>` of a signed register is `shr.s32`, `<` of an unsigned one `setp.lt.u32`.
//
// Operands arrive as `operand<T>`, whose converting constructor notes the author's line: C++ gives operators no other
// way to know it.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>

namespace ptxdsl {

namespace detail {

/// The form `Ops.Type`, absent words (`tok::none`) left out. Operators do not know the kernel's target; every target
/// has the forms they use.
template <isa::scalar Type, tok... Ops>
[[nodiscard]] constexpr form_ref operator_form() noexcept {
    using F = compact_form<sm_90a, Ops..., isa::type_token(Type)>;
    static_assert(F::verdict.ok());
    return ref<F>();
}

template <class T, class R, isa::scalar Type, tok... Ops, class U>
constexpr reg<R> operate(const operand<T>& a, const operand<U>& b) {
    if (a.prog == nullptr && b.prog == nullptr) return {nullptr, ir::lost_literal, {}};  // A06 where it is used
    ir::program& p = a.prog != nullptr ? *a.prog : *b.prog;
    const location where = a.prog != nullptr ? a.where : b.where;
    check_literal({p, 0}, a, where);
    check_literal({p, 0}, b, where);
    const std::uint32_t dst = p.new_reg(scalar_of<R>);
    const raw_operand operands[] = {reg_operand(p, dst), a, b};
    const ir::span s = emit(p, operator_form<Type, Ops...>(), 0, where, operands, 3);
    return reg<R>(p, dst, s);
}

template <class T, isa::scalar Type, tok... Ops>
constexpr reg<T> operate(const operand<T>& a) {
    if (a.prog == nullptr) return {nullptr, ir::lost_literal, {}};
    ir::program& p = *a.prog;
    const std::uint32_t dst = p.new_reg(scalar_of<T>);
    const raw_operand operands[] = {reg_operand(p, dst), a};
    const ir::span s = emit(p, operator_form<Type, Ops...>(), 0, a.where, operands, 2);
    return reg<T>(p, dst, s);
}

template <class T, isa::scalar Type, tok... Ops, class U>
constexpr ir::span operate_in_place(reg<T>& d, const operand<U>& b) {
    if (d.program() == nullptr && b.prog == nullptr) return d.lose(), ir::span{};
    ir::program& p = d.program() != nullptr ? *d.program() : *b.prog;
    check_literal({p, 0}, b, b.where);
    raw_operand own = reg_operand(p, d.id());
    own.prog = d.program();
    const raw_operand operands[] = {own, own, b};
    return emit(p, operator_form<Type, Ops...>(), 0, b.where, operands, 3);
}

template <class T>
constexpr ir::span assign_literal(const reg<T>& d, const operand<T>& literal) {
    check_literal({*d.program(), 0}, literal, literal.where);
    return emit_mov<scalar_of<T>>(*d.program(), d.id(), literal, literal.where);
}

/// Families of operators, for the sentences below.
enum class op_kind : std::uint8_t { sum, quotient, remainder, logic, shift, order, equal, boolean };

template <op_kind K, class T>
[[nodiscard]] consteval bool has_operator() noexcept {
    switch (K) {
        case op_kind::sum:
        case op_kind::order: return has_arithmetic<T>;
        case op_kind::quotient: return is_integral_class<T> || meta::is_same_v<T, f32> || meta::is_same_v<T, f64>;
        case op_kind::remainder: return is_integral_class<T>;
        case op_kind::logic: return has_logic<T>;
        case op_kind::shift: return has_logic<T> && !meta::is_same_v<T, pred>;
        case op_kind::equal: return !meta::is_same_v<T, pred>;
        case op_kind::boolean: return meta::is_same_v<T, pred>;
    }
    return true;
}

/// Operands that C++ would refuse with a list of candidates; refused here in one sentence instead.
template <class A, class B, op_kind K>
[[nodiscard]] consteval bool refuses() noexcept {
    constexpr bool handle_a = traits<A>::is_reg || traits<A>::is_special,
                   handle_b = traits<B>::is_reg || traits<B>::is_special;
    if constexpr ((!handle_a && !meta::is_arithmetic_v<A>) || (!handle_b && !meta::is_arithmetic_v<B>) ||
                  (!handle_a && !handle_b))
        return false;
    else if constexpr (traits<A>::is_special || traits<B>::is_special)
        return true;
    else if constexpr (K == op_kind::shift && traits<B>::is_reg)
        return !meta::is_same_v<B, reg<u32>> || (handle_a && !has_operator<K, typename traits<A>::value>());
    else if constexpr (handle_a && handle_b)
        return !meta::is_same_v<A, B> || !has_operator<K, typename traits<A>::value>();
    else
        return !has_operator<K, first_value_t<A, B>>();
}
/// The register of an assignment.
template <class A>
struct handle_of {
    using type = A;
};
template <class R>
struct handle_of<assigned<R>> {
    using type = R;
};
template <class A, class B, op_kind K>
concept refused = refuses<typename handle_of<A>::type, typename handle_of<B>::type, K>();
template <class A>
concept const_handle = meta::is_const_v<meta::remove_reference_t<A>> && traits<A>::is_reg;

template <class A>
constexpr auto refuse_const() noexcept {
    static_assert(
        always_false<A>,
        "PTXDSL-A14: this handle is const, and the operator writes its register; declare it `auto x`, not `const auto x`");
}

template <class A>
constexpr auto refuse_step() noexcept {
    static_assert(always_false<A>, "PTXDSL-A15: registers have no ++ and --; write i += 1u, which is one add");
}

template <class A, class B, op_kind K>
constexpr auto refuse() noexcept {
    constexpr bool special = traits<A>::is_special || traits<B>::is_special;
    constexpr bool data = !special && (meta::is_same_v<A, reg<pred>> || meta::is_same_v<B, reg<pred>>);
    constexpr bool mixed =
        !special && !data && traits<A>::is_reg && traits<B>::is_reg &&
        (!meta::is_same_v<A, B> || (K == op_kind::shift && has_operator<K, typename traits<A>::value>()));
    static_assert(!special,
                  "PTXDSL-A14: a special register is an operand of mov only; read it first: auto t = k.mov(px::tid.x)");
    static_assert(
        !data,
        "PTXDSL-A02: a predicate is used as data (or data as a predicate); k.selp turns a predicate into a value, "
        "k.setp a value into a predicate");
    static_assert(
        !mixed,
        "PTXDSL-A01: the operands of this operator have different scalar types; convert one with k.cvt (both types "
        "are in the note below); a shift count is a u32");
    static_assert(special || data || mixed, "PTXDSL-A15: PTX has no such operation for registers of this type");
    return reg<u32>();
}

}  // namespace detail

/// Found through the handles' base class only. At namespace scope of `ptxdsl` these templates would be candidates of
/// every comparison in the library, which cost a quarter of its include time.
namespace handle_operators {

template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::sum>
constexpr auto operator+(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::sum>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::sum>
constexpr auto operator-(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::sum>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::sum>
constexpr auto operator*(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::sum>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::quotient>
constexpr auto operator/(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::quotient>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::remainder>
constexpr auto operator%(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::remainder>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::logic>
constexpr auto operator&(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::logic>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::logic>
constexpr auto operator|(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::logic>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::logic>
constexpr auto operator^(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::logic>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::shift>
constexpr auto operator<<(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::shift>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::shift>
constexpr auto operator>>(const A&, const B&) {
    return detail::refuse<A, B, detail::op_kind::shift>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::boolean>
constexpr auto operator&&(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::boolean>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::boolean>
constexpr auto operator||(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::boolean>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::equal>
constexpr auto operator==(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::equal>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::equal>
constexpr auto operator!=(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::equal>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::order>
constexpr auto operator<(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::order>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::order>
constexpr auto operator<=(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::order>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::order>
constexpr auto operator>(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::order>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<A, B, detail::op_kind::order>
constexpr auto operator>=(const A&, const B&) {
    static_cast<void>(detail::refuse<A, B, detail::op_kind::order>());
    return reg<pred>();
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::sum>
constexpr reg<A>& operator+=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::sum>());
    return a;
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::sum>
constexpr reg<A>& operator-=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::sum>());
    return a;
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::sum>
constexpr reg<A>& operator*=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::sum>());
    return a;
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::logic>
constexpr reg<A>& operator&=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::logic>());
    return a;
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::logic>
constexpr reg<A>& operator|=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::logic>());
    return a;
}
template <class A, class B>
    requires detail::refused<reg<A>, B, detail::op_kind::logic>
constexpr reg<A>& operator^=(reg<A>& a, const B&) {
    static_cast<void>(detail::refuse<reg<A>, B, detail::op_kind::logic>());
    return a;
}

template <class A>
    requires(class_of<A> == isa::type_class::unsigned_int)
constexpr auto operator-(const reg<A>& a) {
    static_assert(detail::always_false<A>,
                  "PTXDSL-A10: PTX negates signed and floating registers; write 0u - x, or -x.as<px::s32>()");
    return reg<A>(a);
}
template <class A>
constexpr auto operator++(reg<A>&) {
    detail::refuse_step<A>();
}
template <class A>
constexpr auto operator--(reg<A>&) {
    detail::refuse_step<A>();
}
template <class A>
constexpr auto operator++(reg<A>&, int) {
    detail::refuse_step<A>();
}
template <class A>
constexpr auto operator--(reg<A>&, int) {
    detail::refuse_step<A>();
}

// In place on a handle that is const: the register would be written, which its author has said it is not.
template <detail::const_handle A, class B>
constexpr auto operator+=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator-=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator*=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator&=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator|=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator^=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator<<=(A&&, const B&) {
    return detail::refuse_const<A>();
}
template <detail::const_handle A, class B>
constexpr auto operator>>=(A&&, const B&) {
    return detail::refuse_const<A>();
}

}  // namespace handle_operators
}  // namespace ptxdsl
