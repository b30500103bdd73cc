// SPDX-License-Identifier: Apache-2.0
// The umbrella header's own type traits say what the standard's of the same name say.
#include "../catch.hpp"

#include <ptxdsl/detail/meta.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace meta = ptxdsl::meta;

namespace {

struct empty {};
struct derived : empty {
    int member;
};
struct from_int {
    from_int(int);  // NOLINT(google-explicit-constructor): that is what is asked about
};
struct only_explicit {
    explicit only_explicit(int);
};
struct immovable {
    immovable(const immovable&) = delete;
    immovable& operator=(const immovable&) = delete;
};
enum plain : int {};
enum class scoped : int {};
struct callable {
    int& operator()(int) const;
};
struct only_lvalue {
    void operator()() &;
};

template <class T>
constexpr bool same_of_one() {
    static_assert(meta::is_void_v<T> == std::is_void_v<T>);
    static_assert(meta::is_const_v<T> == std::is_const_v<T>);
    static_assert(meta::is_integral_v<T> == std::is_integral_v<T>);
    static_assert(meta::integral<T> == std::integral<T>);
    static_assert(meta::is_floating_point_v<T> == std::is_floating_point_v<T>);
    static_assert(meta::is_arithmetic_v<T> == std::is_arithmetic_v<T>);
    static_assert(meta::is_signed_v<T> == std::is_signed_v<T>);
    static_assert(meta::is_lvalue_reference_v<T> == std::is_lvalue_reference_v<T>);
    static_assert(std::is_same_v<meta::remove_const_t<T>, std::remove_const_t<T>>);
    static_assert(std::is_same_v<meta::remove_reference_t<T>, std::remove_reference_t<T>>);
    static_assert(std::is_same_v<meta::remove_cvref_t<T>, std::remove_cvref_t<T>>);
    static_assert(std::is_same_v<typename meta::type_identity<T>::type, T>);
    static_assert(meta::is_same_v<T, T> && !meta::is_same_v<T, only_lvalue>);
    static_assert(meta::same_as<T, T> && !meta::same_as<T, only_lvalue>);
    return true;
}
/// With its qualified forms and references.
template <class... T>
constexpr bool same_of_all() {
    return (... && (same_of_one<T>() && same_of_one<const T>() && same_of_one<volatile T>() &&
                    same_of_one<const volatile T>() && same_of_one<T&>() && same_of_one<const T&>() &&
                    same_of_one<T&&>() && same_of_one<T*>() && same_of_one<T* const>()));
}
static_assert(
    same_of_all<bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short, unsigned short,
                int, unsigned, long, unsigned long, long long, unsigned long long, float, double, long double,
                std::nullptr_t, std::byte, plain, scoped, empty, derived, int[3], void (*)(int)>());
static_assert(same_of_one<void>() && same_of_one<const void>() && same_of_one<void()>());

template <class From, class To>
inline constexpr bool same_conversion = meta::is_convertible_v<From, To> == std::is_convertible_v<From, To>;
static_assert(same_conversion<int, long> && same_conversion<int, empty> && same_conversion<int, from_int> &&
              same_conversion<int, only_explicit> && same_conversion<derived&, empty> &&
              same_conversion<immovable&, immovable> && same_conversion<plain, int> && same_conversion<scoped, int> &&
              same_conversion<int*, const int*> && same_conversion<const int*, int*>);

static_assert(meta::is_empty_v<empty> && !meta::is_empty_v<derived>);
static_assert(meta::is_base_of_v<empty, derived> && meta::is_base_of_v<empty, empty>);
static_assert(!meta::is_base_of_v<derived, empty> && !meta::is_base_of_v<int, int>);
static_assert(std::is_same_v<meta::conditional_t<true, int, long>, int>);
static_assert(std::is_same_v<meta::conditional_t<false, int, long>, long>);

static_assert(meta::is_invocable_v<callable&, int> && meta::is_invocable_v<callable, short>);
static_assert(!meta::is_invocable_v<callable> && !meta::is_invocable_v<callable, empty> && !meta::is_invocable_v<int>);
static_assert(meta::is_invocable_v<only_lvalue&> && !meta::is_invocable_v<only_lvalue>);
static_assert(!meta::is_invocable_v<const only_lvalue&>);
static_assert(meta::is_invocable_v<int (*)(long), int> && meta::is_invocable_v<int (&)(long), int>);
static_assert(std::is_same_v<meta::invoke_result_t<callable&, int>, std::invoke_result_t<callable&, int>>);
static_assert(std::is_same_v<meta::invoke_result_t<void (*)()>, void>);

}  // namespace

TEST_CASE("the umbrella's type traits are the standard's") {
    SUCCEED("what is compared is compared while this file compiles");
}
