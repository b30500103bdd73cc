// SPDX-License-Identifier: Apache-2.0
// One row of attention in float64, and how far off a kernel's may be.
#pragma once

#include "host_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ptxdsl_test {

/// A row as it should be, and how far off each part of it may be.
struct row_reference {
    std::vector<double> out, allowed;
    double lse = -std::numeric_limits<double>::infinity(), lse_allowed = 0;
};

/// What a row is computed of: 16-bit elements of type `T`.
struct row_problem {
    const std::uint16_t* query = nullptr;
    std::int64_t keys = 0;
    std::size_t size = 0, value_size = 0;
    double scale = 1, softcap = 0;
};

/// The row in float64. `key(j)` and `value(j)` point at elements, `sees(j)`: whether the query sees key `j`. What is
/// allowed: the rounding of the result; that of the weights to 16 bits, which is random, so that its effect grows like
/// the root of their number (seven times its deviation); and what the sums of the products of queries and keys are off
/// in f32.
template <class T, class Key, class Value, class Sees>
row_reference attention_row(const row_problem& p, const Key& key, const Value& value, const Sees& sees) {
    constexpr double rounding = half_step<T>, nothing = -std::numeric_limits<double>::infinity();
    std::vector<double> query(p.size), w(static_cast<std::size_t>(p.keys));
    for (std::size_t e = 0; e < p.size; ++e) query[e] = wide(T{p.query[e]});
    double high = nothing, largest = 0;
    for (std::int64_t j = 0; j < p.keys; ++j) {
        double& x = w[static_cast<std::size_t>(j)];
        x = nothing;
        if (!sees(j)) continue;
        double sum = 0, size = 0;
        const std::uint16_t* const from = key(j);
        for (std::size_t e = 0; e < query.size(); ++e) {
            const double product = query[e] * wide(T{from[e]});
            sum += product, size += std::abs(product);
        }
        x = p.softcap != 0 ? p.softcap * std::tanh(p.scale * sum / p.softcap) : p.scale * sum;
        largest = std::max(largest, p.scale * size);
        high = std::max(high, x);
    }
    row_reference r;
    r.out.assign(p.value_size, 0);
    std::vector<double> squares(r.out.size(), 0), sizes(r.out.size(), 0);
    r.allowed = squares;
    if (std::isinf(high)) return r;
    double total = 0;
    for (double& x : w) total += x = std::exp(x - high);
    for (std::int64_t j = 0; j < p.keys; ++j) {
        const double weight = w[static_cast<std::size_t>(j)] / total;
        if (weight == 0) continue;
        const std::uint16_t* const from = value(j);
        for (std::size_t e = 0; e < r.out.size(); ++e) {
            const double x = weight * wide(T{from[e]});
            r.out[e] += x, squares[e] += x * x, sizes[e] += std::abs(x);
        }
    }
    const double logits_off = 0x1p-21 * (largest + p.softcap);
    for (std::size_t e = 0; e < r.out.size(); ++e)
        r.allowed[e] = 1.02 * rounding * std::abs(r.out[e]) + 7 * 0.4 * rounding * std::sqrt(squares[e]) +
                       (logits_off + 0x1p-19) * sizes[e] + 0x1p-25;
    r.lse = high + std::log(total);
    r.lse_allowed = logits_off + 0x1p-20 * (1 + std::abs(r.lse));
    return r;
}

/// Whether a row is off: its elements, and its logarithm if there is one.
template <class T>
bool is_off(const row_reference& r, const std::uint16_t* out, const float* lse) {
    for (std::size_t e = 0; e < r.out.size(); ++e) {
        const double x = wide(T{out[e]});
        if (!(std::abs(x - r.out[e]) <= r.allowed[e])) return true;
    }
    if (lse == nullptr) return false;
    const double x = static_cast<double>(*lse);
    return std::isinf(r.lse) ? x != r.lse : !(std::abs(x - r.lse) <= r.lse_allowed);
}

}  // namespace ptxdsl_test
