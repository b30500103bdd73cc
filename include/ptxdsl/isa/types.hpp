// SPDX-License-Identifier: Apache-2.0
// Scalar and packed types of PTX ISA 9.0, chapter 5.2 ("Types"), and the C++ types that stand for them.
#pragma once

#include <ptxdsl/detail/string_view.hpp>

#include <cstddef>
#include <cstdint>

namespace ptxdsl {

namespace isa {

/// Every type a PTX instruction can name. The spelling is `name(scalar)`, without the leading dot.
// clang-format off
enum class scalar : std::uint8_t {
    none, pred,
    b8, b16, b32, b64, b128,
    u8, u16, u32, u64,
    s8, s16, s32, s64,
    f16, f16x2, bf16, bf16x2, tf32, f32, f32x2, f64,
    u16x2, s16x2,
    e4m3, e5m2, e4m3x2, e5m2x2, e4m3x4, e5m2x4,
    e2m1, e2m3, e3m2, e2m1x2, e2m3x2, e3m2x2, e2m1x4, e2m3x4, e3m2x4,
    ue8m0, ue4m3, ue8m0x2,
    u4, s4, b1, b4, b6,
};
// clang-format on

/// What the bits of a type mean; decides which instruction family an operator picks.
enum class type_class : std::uint8_t { none, predicate, bits, unsigned_int, signed_int, floating, packed };

/// Facts of one scalar type. `reg` is the type of the register that holds it (PTX ISA 5.2.2: `.bf16`, the fp8
/// and the sub-byte types have no register of their own).
struct scalar_info {
    string_view name;
    std::uint16_t bits;
    type_class cls;
    scalar reg;
};

namespace detail {
inline constexpr scalar_info scalar_table[] = {
    {"none"_sv, 0, type_class::none, scalar::none},        {"pred"_sv, 1, type_class::predicate, scalar::pred},
    {"b8"_sv, 8, type_class::bits, scalar::b16},           {"b16"_sv, 16, type_class::bits, scalar::b16},
    {"b32"_sv, 32, type_class::bits, scalar::b32},         {"b64"_sv, 64, type_class::bits, scalar::b64},
    {"b128"_sv, 128, type_class::bits, scalar::b128},      {"u8"_sv, 8, type_class::unsigned_int, scalar::u16},
    {"u16"_sv, 16, type_class::unsigned_int, scalar::u16}, {"u32"_sv, 32, type_class::unsigned_int, scalar::u32},
    {"u64"_sv, 64, type_class::unsigned_int, scalar::u64}, {"s8"_sv, 8, type_class::signed_int, scalar::s16},
    {"s16"_sv, 16, type_class::signed_int, scalar::s16},   {"s32"_sv, 32, type_class::signed_int, scalar::s32},
    {"s64"_sv, 64, type_class::signed_int, scalar::s64},   {"f16"_sv, 16, type_class::floating, scalar::b16},
    {"f16x2"_sv, 32, type_class::packed, scalar::b32},     {"bf16"_sv, 16, type_class::floating, scalar::b16},
    {"bf16x2"_sv, 32, type_class::packed, scalar::b32},    {"tf32"_sv, 32, type_class::floating, scalar::b32},
    {"f32"_sv, 32, type_class::floating, scalar::f32},     {"f32x2"_sv, 64, type_class::packed, scalar::b64},
    {"f64"_sv, 64, type_class::floating, scalar::f64},     {"u16x2"_sv, 32, type_class::packed, scalar::b32},
    {"s16x2"_sv, 32, type_class::packed, scalar::b32},     {"e4m3"_sv, 8, type_class::floating, scalar::b16},
    {"e5m2"_sv, 8, type_class::floating, scalar::b16},     {"e4m3x2"_sv, 16, type_class::packed, scalar::b16},
    {"e5m2x2"_sv, 16, type_class::packed, scalar::b16},    {"e4m3x4"_sv, 32, type_class::packed, scalar::b32},
    {"e5m2x4"_sv, 32, type_class::packed, scalar::b32},    {"e2m1"_sv, 4, type_class::floating, scalar::b16},
    {"e2m3"_sv, 6, type_class::floating, scalar::b16},     {"e3m2"_sv, 6, type_class::floating, scalar::b16},
    {"e2m1x2"_sv, 8, type_class::packed, scalar::b16},     {"e2m3x2"_sv, 16, type_class::packed, scalar::b16},
    {"e3m2x2"_sv, 16, type_class::packed, scalar::b16},    {"e2m1x4"_sv, 16, type_class::packed, scalar::b16},
    {"e2m3x4"_sv, 32, type_class::packed, scalar::b32},    {"e3m2x4"_sv, 32, type_class::packed, scalar::b32},
    {"ue8m0"_sv, 8, type_class::floating, scalar::b16},    {"ue4m3"_sv, 8, type_class::floating, scalar::b16},
    {"ue8m0x2"_sv, 16, type_class::packed, scalar::b16},   {"u4"_sv, 4, type_class::unsigned_int, scalar::b32},
    {"s4"_sv, 4, type_class::signed_int, scalar::b32},     {"b1"_sv, 1, type_class::bits, scalar::b32},
    {"b4"_sv, 4, type_class::bits, scalar::b32},           {"b6"_sv, 6, type_class::bits, scalar::b32},
};
}  // namespace detail

[[nodiscard]] constexpr const scalar_info& info(scalar s) noexcept {
    return detail::scalar_table[static_cast<std::size_t>(s)];
}
[[nodiscard]] constexpr string_view name(scalar s) noexcept { return info(s).name; }
[[nodiscard]] constexpr unsigned bits(scalar s) noexcept { return info(s).bits; }

}  // namespace isa

// The C++ types that name PTX types. Types the host has are the host's own; the rest are storage of the same size,
// so that tensors, kernel parameters and tiles speak one vocabulary on both sides of a launch.
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

/// Predicate type: `reg<pred>` is a predicate register. It has no memory form.
struct pred {};

// NOLINTBEGIN(readability-identifier-naming)
struct b8 {
    std::uint8_t bits;
};
struct b16 {
    std::uint16_t bits;
};
struct b32 {
    std::uint32_t bits;
};
struct b64 {
    std::uint64_t bits;
};
struct alignas(16) b128 {
    std::uint64_t lo, hi;
};
struct f16 {
    std::uint16_t bits;
};
struct bf16 {
    std::uint16_t bits;
};
struct tf32 {
    std::uint32_t bits;
};
struct e4m3 {
    std::uint8_t bits;
};
struct e5m2 {
    std::uint8_t bits;
};
struct e2m3 {
    std::uint8_t bits;
};
struct e3m2 {
    std::uint8_t bits;
};
struct e2m1 {
    std::uint8_t bits;
};  ///< tiles pack two into a byte
struct ue8m0 {
    std::uint8_t bits;
};
struct ue4m3 {
    std::uint8_t bits;
};
struct f16x2 {
    std::uint32_t bits;
};
struct bf16x2 {
    std::uint32_t bits;
};
struct f32x2 {
    std::uint64_t bits;
};
struct u16x2 {
    std::uint32_t bits;
};
struct s16x2 {
    std::uint32_t bits;
};
struct e4m3x2 {
    std::uint16_t bits;
};
struct e5m2x2 {
    std::uint16_t bits;
};
struct e4m3x4 {
    std::uint32_t bits;
};
struct e5m2x4 {
    std::uint32_t bits;
};
struct e2m1x2 {
    std::uint8_t bits;
};
// NOLINTEND(readability-identifier-naming)

/// The PTX type a C++ type stands for; `scalar::none` when it stands for none.
template <class T>
inline constexpr isa::scalar scalar_of = isa::scalar::none;
template <class T>
inline constexpr isa::scalar scalar_of<const T> = scalar_of<T>;

template <> inline constexpr isa::scalar scalar_of<pred> = isa::scalar::pred;
template <> inline constexpr isa::scalar scalar_of<u8> = isa::scalar::u8;
template <> inline constexpr isa::scalar scalar_of<u16> = isa::scalar::u16;
template <> inline constexpr isa::scalar scalar_of<u32> = isa::scalar::u32;
template <> inline constexpr isa::scalar scalar_of<u64> = isa::scalar::u64;
template <> inline constexpr isa::scalar scalar_of<s8> = isa::scalar::s8;
template <> inline constexpr isa::scalar scalar_of<s16> = isa::scalar::s16;
template <> inline constexpr isa::scalar scalar_of<s32> = isa::scalar::s32;
template <> inline constexpr isa::scalar scalar_of<s64> = isa::scalar::s64;
template <> inline constexpr isa::scalar scalar_of<f32> = isa::scalar::f32;
template <> inline constexpr isa::scalar scalar_of<f64> = isa::scalar::f64;
template <> inline constexpr isa::scalar scalar_of<b8> = isa::scalar::b8;
template <> inline constexpr isa::scalar scalar_of<b16> = isa::scalar::b16;
template <> inline constexpr isa::scalar scalar_of<b32> = isa::scalar::b32;
template <> inline constexpr isa::scalar scalar_of<b64> = isa::scalar::b64;
template <> inline constexpr isa::scalar scalar_of<b128> = isa::scalar::b128;
template <> inline constexpr isa::scalar scalar_of<f16> = isa::scalar::f16;
template <> inline constexpr isa::scalar scalar_of<bf16> = isa::scalar::bf16;
template <> inline constexpr isa::scalar scalar_of<tf32> = isa::scalar::tf32;
template <> inline constexpr isa::scalar scalar_of<e4m3> = isa::scalar::e4m3;
template <> inline constexpr isa::scalar scalar_of<e5m2> = isa::scalar::e5m2;
template <> inline constexpr isa::scalar scalar_of<e2m3> = isa::scalar::e2m3;
template <> inline constexpr isa::scalar scalar_of<e3m2> = isa::scalar::e3m2;
template <> inline constexpr isa::scalar scalar_of<e2m1> = isa::scalar::e2m1;
template <> inline constexpr isa::scalar scalar_of<ue8m0> = isa::scalar::ue8m0;
template <> inline constexpr isa::scalar scalar_of<ue4m3> = isa::scalar::ue4m3;
template <> inline constexpr isa::scalar scalar_of<f16x2> = isa::scalar::f16x2;
template <> inline constexpr isa::scalar scalar_of<bf16x2> = isa::scalar::bf16x2;
template <> inline constexpr isa::scalar scalar_of<f32x2> = isa::scalar::f32x2;
template <> inline constexpr isa::scalar scalar_of<u16x2> = isa::scalar::u16x2;
template <> inline constexpr isa::scalar scalar_of<s16x2> = isa::scalar::s16x2;
template <> inline constexpr isa::scalar scalar_of<e4m3x2> = isa::scalar::e4m3x2;
template <> inline constexpr isa::scalar scalar_of<e5m2x2> = isa::scalar::e5m2x2;
template <> inline constexpr isa::scalar scalar_of<e4m3x4> = isa::scalar::e4m3x4;
template <> inline constexpr isa::scalar scalar_of<e5m2x4> = isa::scalar::e5m2x4;
template <> inline constexpr isa::scalar scalar_of<e2m1x2> = isa::scalar::e2m1x2;

/// A C++ type that stands for a PTX type.
template <class T>
concept ptx_type = scalar_of<T> != isa::scalar::none;

template <class T>
inline constexpr unsigned bits_of = isa::bits(scalar_of<T>);
template <class T>
inline constexpr isa::type_class class_of = isa::info(scalar_of<T>).cls;

template <class T>
concept integer_type = class_of<T> == isa::type_class::unsigned_int || class_of<T> == isa::type_class::signed_int;
template <class T>
concept signed_integer = class_of<T> == isa::type_class::signed_int;
template <class T>
concept unsigned_integer = class_of<T> == isa::type_class::unsigned_int;
template <class T>
concept floating_type = class_of<T> == isa::type_class::floating;

}  // namespace ptxdsl
