// SPDX-License-Identifier: Apache-2.0
// The narrow element types on the host: their values as float64, and float64 rounded to them.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

/// A float of `exponent` and `mantissa` bits without infinities of its own.
inline double small_float(unsigned bits, int exponent, int mantissa) {
    const unsigned e = bits >> mantissa & ((1u << exponent) - 1), m = bits & ((1u << mantissa) - 1);
    const int bias = (1 << (exponent - 1)) - 1;
    const double v = e == 0 ? std::ldexp(m, 1 - bias - mantissa)
                            : std::ldexp(m + (1u << mantissa), static_cast<int>(e) - bias - mantissa);
    return (bits >> (exponent + mantissa) & 1) != 0 ? -v : v;
}
/// One with infinities and NaN at the largest exponent.
inline double ieee_float(unsigned bits, int exponent, int mantissa) {
    const unsigned e = bits >> mantissa & ((1u << exponent) - 1), m = bits & ((1u << mantissa) - 1);
    if (e != (1u << exponent) - 1) return small_float(bits, exponent, mantissa);
    if (m != 0) return std::nan("");
    return (bits >> (exponent + mantissa) & 1) != 0 ? -HUGE_VAL : HUGE_VAL;
}
inline double wide(float v) { return v; }
inline double wide(ptxdsl::bf16 v) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(v.bits) << 16));
}
inline double wide(ptxdsl::f16 v) { return ieee_float(v.bits, 5, 10); }
inline double wide(ptxdsl::e5m2 v) { return ieee_float(v.bits, 5, 2); }
inline double wide(ptxdsl::e4m3 v) { return (v.bits & 0x7f) == 0x7f ? std::nan("") : small_float(v.bits, 4, 3); }

template <class T>
T narrow(double v) {
    const auto f = static_cast<float>(v);
    if constexpr (std::is_same_v<T, float>)
        return f;
    else if constexpr (std::is_same_v<T, ptxdsl::f16>)
        return {ptxdsl::detail::half_bits(f)};
    else
        return {ptxdsl::detail::brain_bits(f)};
}

/// Half a unit in the last place, relative.
template <class T>
inline constexpr double half_step = std::is_same_v<T, float>         ? 0x1p-24
                                    : std::is_same_v<T, ptxdsl::f16> ? 0x1p-11
                                                                     : 0x1p-8;
