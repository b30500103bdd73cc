// SPDX-License-Identifier: Apache-2.0
// The few type traits that the umbrella header needs, by their standard names. `<type_traits>` and `<concepts>` cost as
// much as a twentieth of the umbrella, which hardly uses them (docs/design.md, "What was decided against").
#pragma once

namespace ptxdsl::meta {

template <class T>
struct type_identity {
    using type = T;
};

template <class A, class B>
inline constexpr bool is_same_v = __is_same(A, B);
template <class A, class B>
concept same_as = __is_same(A, B) && __is_same(B, A);
template <class Base, class Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);
template <class T>
inline constexpr bool is_empty_v = __is_empty(T);

template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;
template <class T>
inline constexpr bool is_lvalue_reference_v = false;
template <class T>
inline constexpr bool is_lvalue_reference_v<T&> = true;

namespace detail {
template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<const T> : type_identity<T> {};
template <class T>
struct remove_cv : type_identity<T> {};
template <class T>
struct remove_cv<const T> : type_identity<T> {};
template <class T>
struct remove_cv<volatile T> : type_identity<T> {};
template <class T>
struct remove_cv<const volatile T> : type_identity<T> {};
template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <bool>
struct conditional {
    template <class A, class>
    using type = A;
};
template <>
struct conditional<false> {
    template <class, class B>
    using type = B;
};
}  // namespace detail

template <class T>
using remove_const_t = typename detail::remove_const<T>::type;
template <class T>
using remove_cv_t = typename detail::remove_cv<T>::type;
template <class T>
using remove_reference_t = typename detail::remove_reference<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <bool Condition, class A, class B>
using conditional_t = typename detail::conditional<Condition>::template type<A, B>;

template <class T>
inline constexpr bool is_void_v = __is_same(remove_cv_t<T>, void);

namespace detail {
/// The fundamental types, `const` and `volatile` taken off.
template <class T>
inline constexpr bool is_integral = false;
template <class T>
inline constexpr bool is_floating = false;
// clang-format off
template <> inline constexpr bool is_integral<bool> = true;
template <> inline constexpr bool is_integral<char> = true;
template <> inline constexpr bool is_integral<signed char> = true;
template <> inline constexpr bool is_integral<unsigned char> = true;
template <> inline constexpr bool is_integral<wchar_t> = true;
template <> inline constexpr bool is_integral<char8_t> = true;
template <> inline constexpr bool is_integral<char16_t> = true;
template <> inline constexpr bool is_integral<char32_t> = true;
template <> inline constexpr bool is_integral<short> = true;
template <> inline constexpr bool is_integral<unsigned short> = true;
template <> inline constexpr bool is_integral<int> = true;
template <> inline constexpr bool is_integral<unsigned> = true;
template <> inline constexpr bool is_integral<long> = true;
template <> inline constexpr bool is_integral<unsigned long> = true;
template <> inline constexpr bool is_integral<long long> = true;
template <> inline constexpr bool is_integral<unsigned long long> = true;
template <> inline constexpr bool is_floating<float> = true;
template <> inline constexpr bool is_floating<double> = true;
template <> inline constexpr bool is_floating<long double> = true;
// clang-format on
}  // namespace detail

template <class T>
inline constexpr bool is_integral_v = detail::is_integral<remove_cv_t<T>>;
template <class T>
concept integral = is_integral_v<T>;
template <class T>
inline constexpr bool is_floating_point_v = detail::is_floating<remove_cv_t<T>>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_signed_v = false;
template <class T>
    requires(is_arithmetic_v<T> && !is_same_v<remove_cv_t<T>, bool>)
inline constexpr bool is_signed_v<T> = static_cast<T>(-1) < static_cast<T>(0);

namespace detail {
template <class T>
T&& declval() noexcept;
template <class T>
void takes(T) noexcept;
}  // namespace detail

/// Of objects, not of void or arrays.
template <class From, class To>
inline constexpr bool is_convertible_v = requires { detail::takes<To>(detail::declval<From>()); };

/// Of what is called as `f(a…)`, not of pointers to members.
template <class F, class... A>
inline constexpr bool is_invocable_v = requires { detail::declval<F>()(detail::declval<A>()...); };
template <class F, class... A>
using invoke_result_t = decltype(detail::declval<F>()(detail::declval<A>()...));

}  // namespace ptxdsl::meta
