// SPDX-License-Identifier: Apache-2.0
// Whether C is A * B^T: a float64 reference for all of C where that is affordable; for large products a sample of rows
// and columns, and a projection that every element of C takes part in.
#pragma once

#include "demo.hpp"

#include <mutex>

namespace demo {

/// A is m x k, B is n x k, C is m x n, row-major.
struct gemm_size {
    std::uint64_t m, n, k;
};

struct gemm_verdict {
    double worst = 0;          ///< largest |error|
    double worst_allowed = 0;  ///< largest |error| / tolerance
    std::size_t wrong = 0;
    std::size_t checked = 0;
    std::uint64_t row = 0, column = 0;  ///< the first wrong element
    double found = 0, wanted = 0;
    [[nodiscard]] bool ok() const { return wrong == 0; }
    void join(const gemm_verdict& o) {
        if (wrong == 0 && o.wrong != 0) row = o.row, column = o.column, found = o.found, wanted = o.wanted;
        worst = std::max(worst, o.worst), worst_allowed = std::max(worst_allowed, o.worst_allowed);
        wrong += o.wrong, checked += o.checked;
    }
};

/// How far an element may be off, for inputs uniform in [-1, 1): what rounding the result to `Out` costs, and 2^-19 of
/// the sum of |a b| (about k / 4) for the tensor core's f32 sums. The results' own spread is sqrt(k) / 3, thousands of
/// times more, so zeros, a missing k-block or a neighbour's value fail.
template <class Out>
[[nodiscard]] double gemm_tolerance(double reference, std::uint64_t k) {
    const double rounding = sizeof(Out) == 2 ? 1.01 * epsilon<Out> / 2 : epsilon<Out>;
    return rounding * std::abs(reference) + 0x1p-19 * static_cast<double>(k) / 4 + 1e-7;
}

[[nodiscard]] inline std::vector<float> widened(const std::vector<bf16>& v) {
    std::vector<float> f(v.size());
    in_parallel(v.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) f[i] = to_float(v[i]);
    });
    return f;
}

/// Inner product in double; products of two bf16 are exact in float.
[[nodiscard]] inline double inner(const float* a, const float* b, std::uint64_t k) {
    double s[4] = {};
    std::uint64_t i = 0;
    for (; i + 4 <= k; i += 4)
        for (unsigned j = 0; j < 4; ++j) s[j] += static_cast<double>(a[i + j] * b[i + j]);
    for (; i < k; ++i) s[0] += static_cast<double>(a[i] * b[i]);
    return s[0] + s[1] + s[2] + s[3];
}

/// One problem's operands on the host, and checks of results.
class gemm_reference {
public:
    gemm_reference(gemm_size size, const std::vector<bf16>& a, const std::vector<bf16>& b)
        : s_(size), a_(widened(a)), b_(widened(b)) {}

    template <class Out>
    [[nodiscard]] gemm_verdict check(const std::vector<Out>& c, std::uint64_t tile_m, std::uint64_t tile_n) const {
        if (s_.m * s_.n * s_.k <= full_limit) return elements(c, everything(s_.m), everything(s_.n));
        gemm_verdict v = elements(c, sample(s_.m, tile_m, 24), everything(s_.n));
        v.join(elements(c, everything(s_.m), sample(s_.n, tile_n, 24)));
        v.join(projection(c));
        return v;
    }

private:
    using indices = std::vector<std::uint64_t>;
    static constexpr std::uint64_t full_limit = std::uint64_t{1} << 31;

    static indices everything(std::uint64_t n) {
        indices all(n);
        for (std::uint64_t i = 0; i < n; ++i) all[i] = i;
        return all;
    }
    /// First and last, both sides of the last tile's border, and `count` at random.
    static indices sample(std::uint64_t n, std::uint64_t tile, std::uint64_t count) {
        const std::uint64_t edge = n / tile * tile;
        indices some{0, n - 1, std::min(edge, n - 1), edge == 0 ? 0 : edge - 1};
        generator g(n);
        while (some.size() < count) some.push_back(g.below(n));
        return some;
    }

    template <class Out>
    [[nodiscard]] gemm_verdict elements(const std::vector<Out>& c, const indices& rows, const indices& columns) const {
        gemm_verdict all;
        std::mutex lock;
        in_parallel(rows.size() * columns.size(), [&](std::size_t begin, std::size_t end) {
            gemm_verdict mine;
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t row = rows[i / columns.size()], column = columns[i % columns.size()];
                const double wanted = inner(&a_[row * s_.k], &b_[column * s_.k], s_.k);
                see<Out>(mine, static_cast<double>(to_float(c[row * s_.n + column])), wanted,
                         gemm_tolerance<Out>(wanted, s_.k), row, column);
            }
            const std::lock_guard hold(lock);
            all.join(mine);
        });
        return all;
    }

    template <class Out>
    static void see(gemm_verdict& v, double found, double wanted, double tolerance, std::uint64_t row,
                    std::uint64_t column) {
        const double error = std::abs(found - wanted);
        ++v.checked;
        if (error <= tolerance) {
            v.worst = std::max(v.worst, error);
            v.worst_allowed = std::max(v.worst_allowed, error / tolerance);
        } else if (v.wrong++ == 0) {
            v.row = row, v.column = column, v.found = found, v.wanted = wanted;
            v.worst = error, v.worst_allowed = error / tolerance;
        }
    }

    /// Compares C v with A (B^T v) for a random vector v of signs: O(m n + (m + n) k) instead of O(m n k), and an
    /// element off by its own size shows in its row, where the rounding of all others adds up to about sqrt(n)
    /// roundings.
    template <class Out>
    [[nodiscard]] gemm_verdict projection(const std::vector<Out>& c) const {
        std::vector<double> sign(s_.n), bv(s_.k, 0.0);
        generator g(s_.m + s_.n);
        for (double& v : sign) v = (g.next() >> 63) != 0 ? 1.0 : -1.0;
        std::mutex lock;
        in_parallel(s_.n, [&](std::size_t begin, std::size_t end) {
            std::vector<double> mine(s_.k, 0.0);
            for (std::size_t j = begin; j < end; ++j)
                for (std::size_t i = 0; i < s_.k; ++i) mine[i] += sign[j] * static_cast<double>(b_[j * s_.k + i]);
            const std::lock_guard hold(lock);
            for (std::size_t i = 0; i < s_.k; ++i) bv[i] += mine[i];
        });
        gemm_verdict all;
        const double typical = std::sqrt(static_cast<double>(s_.k)) / 3, each = gemm_tolerance<Out>(typical, s_.k);
        const double tolerance = 6 * std::sqrt(static_cast<double>(s_.n)) * each;
        in_parallel(s_.m, [&](std::size_t begin, std::size_t end) {
            gemm_verdict mine;
            for (std::size_t r = begin; r < end; ++r) {
                double wanted = 0, found = 0;
                for (std::size_t i = 0; i < s_.k; ++i) wanted += static_cast<double>(a_[r * s_.k + i]) * bv[i];
                for (std::size_t j = 0; j < s_.n; ++j)
                    found += sign[j] * static_cast<double>(to_float(c[r * s_.n + j]));
                gemm_verdict one;
                see<Out>(one, found, wanted, tolerance, r, 0);
                one.worst = one.wrong != 0 ? one.worst : 0;  // a row's error is no element's
                mine.join(one);
            }
            const std::lock_guard hold(lock);
            all.join(mine);
        });
        return all;
    }

    gemm_size s_;
    std::vector<float> a_, b_;
};

}  // namespace demo
