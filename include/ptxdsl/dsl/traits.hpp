// SPDX-License-Identifier: Apache-2.0
// What PTX does with the values of a type, and what C++ type stands for a register or a special register.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>

namespace ptxdsl {

using isa::tok;

/// Empty base of all handles: its namespace holds the operators that refuse wrong operands (dsl/operators.hpp).
namespace handle_operators {
struct tag {};
}  // namespace handle_operators

template <class T>
class reg;
template <class T, isa::special Id>
struct special_register;

namespace detail {

template <class T>
inline constexpr bool is_integral_class =
    class_of<T> == isa::type_class::unsigned_int || class_of<T> == isa::type_class::signed_int;
template <class T>
inline constexpr bool is_float_class =
    class_of<T> == isa::type_class::floating || class_of<T> == isa::type_class::packed;
template <class T>
inline constexpr bool has_arithmetic =
    (is_integral_class<T> && bits_of<T> >= 16) || meta::is_same_v<T, f32> || meta::is_same_v<T, f64> ||
    meta::is_same_v<T, f16> || meta::is_same_v<T, bf16> || meta::is_same_v<T, f16x2> || meta::is_same_v<T, bf16x2>;
template <class T>
inline constexpr bool has_logic =
    meta::is_same_v<T, pred> || (!is_float_class<T> && bits_of<T> >= 16 && bits_of<T> <= 64);

/// Type token of logic and left shifts, which PTX has for bit types only.
template <class T>
inline constexpr isa::scalar bits_type = meta::is_same_v<T, pred> ? isa::scalar::pred
                                         : bits_of<T> == 16       ? isa::scalar::b16
                                         : bits_of<T> == 32       ? isa::scalar::b32
                                         : bits_of<T> == 64       ? isa::scalar::b64
                                                                  : isa::scalar::none;
/// Type by which `ld`, `st`, `mov` and `selp` know a value: bit, integer and f32/f64 types are themselves, everything
/// else is bits of its size (PTX ISA 5.2.2).
[[nodiscard]] constexpr isa::scalar plain_type(isa::scalar s) noexcept {
    const isa::type_class cls = isa::info(s).cls;
    if (cls != isa::type_class::floating && cls != isa::type_class::packed) return s;
    if (s == isa::scalar::f32 || s == isa::scalar::f64) return s;
    switch (isa::bits(s)) {
        case 8: return isa::scalar::b8;
        case 16: return isa::scalar::b16;
        case 32: return isa::scalar::b32;
        default: return isa::scalar::b64;
    }
}
/// `.rn` where the type has roundings: without it ptxas may fuse a product and a sum behind the author's back.
template <class T>
inline constexpr tok rounding = is_float_class<T> ? tok::rn : tok::none;
template <class T>
inline constexpr tok low_half = is_float_class<T> ? tok::rn : tok::lo;

template <class T>
struct handle_traits {
    static constexpr bool is_reg = false;
    static constexpr bool is_special = false;
    using value = void;
};
template <class T>
struct handle_traits<reg<T>> {
    static constexpr bool is_reg = true;
    static constexpr bool is_special = false;
    using value = T;
};
template <class T, isa::special Id>
struct handle_traits<special_register<T, Id>> {
    static constexpr bool is_reg = false;
    static constexpr bool is_special = true;
    using value = T;
};
template <class A>
using traits = handle_traits<meta::remove_cvref_t<A>>;

/// First register type among the arguments, or void.
template <class...>
struct first_value {
    using type = void;
};
template <class A, class... Rest>
struct first_value<A, Rest...> {
    using type = typename meta::conditional_t<traits<A>::is_reg, meta::type_identity<typename traits<A>::value>,
                                              first_value<Rest...>>::type;
};
template <class... A>
using first_value_t = typename first_value<A...>::type;

/// True when every register among the arguments holds a `T`.
template <class T, class... A>
inline constexpr bool all_values = ((!traits<A>::is_reg || meta::is_same_v<typename traits<A>::value, T>) && ...);
template <class... A>
inline constexpr bool any_special = (traits<A>::is_special || ...);
}  // namespace detail

}  // namespace ptxdsl
