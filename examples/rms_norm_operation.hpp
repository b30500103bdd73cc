// SPDX-License-Identifier: Apache-2.0
// RMS norm for rows_check.hpp.
#pragma once

#include "../tools/util/rms_norm_kernel.hpp"
#include "rows_check.hpp"

namespace demo {

inline constexpr float rms_norm_eps = 1e-6f;

struct rms_norm_operation {
    static constexpr std::string_view name = "rms_norm";
    static constexpr std::string_view help = "y = x / sqrt(mean(x^2) + 1e-6) * weight for every row, on the GPU";
    static constexpr bool weights = true;
    static constexpr double relative = 4e-6, absolute = 1e-37;
    static constexpr double large = 1e15;  // a million such squares still fit f32

    template <class T, px::u32 Width>
    static constexpr auto body = &rms_norm::rms_norm<T, Width>;

    template <class Kernel, class T>
    static px::result<void> launch(const Kernel& k, px::stream_ref s, const px::device_buffer<T>& x,
                                   const px::device_buffer<T>& w, px::device_buffer<T>& y, px::u32 row_count,
                                   px::u32 columns) {
        return px::launch(s, k.kernel, k.grid(row_count), x, w, y, row_count, columns, rms_norm_eps);
    }
    static void reference(std::span<const double> x, std::span<const double> w, std::span<double> y) {
        double sum = 0;
        for (const double v : x) sum += v * v;
        const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(rms_norm_eps));
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * w[i];
    }
};

}  // namespace demo
