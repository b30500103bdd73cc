// SPDX-License-Identifier: Apache-2.0
// Softmax for rows_check.hpp.
#pragma once

#include "rows_check.hpp"
#include "softmax_kernel.hpp"

namespace demo {

struct softmax_operation {
    static constexpr std::string_view name = "softmax";
    static constexpr std::string_view help = "y = exp(x - max(x)) / sum(exp(x - max(x))) for every row, on the GPU";
    static constexpr bool weights = false;
    // The exponent's argument is rounded in f32: at e^-87 that is 5e-6 of the result.
    static constexpr double relative = 2e-5, absolute = 1e-37;
    static constexpr double large = 3e38;

    template <class T, px::u32 Width>
    static constexpr auto body = &softmax::softmax<T, Width>;

    template <class Kernel, class T>
    static px::result<void> launch(const Kernel& k, px::stream_ref s, const px::device_buffer<T>& x,
                                   const px::device_buffer<T>&, px::device_buffer<T>& y, px::u32 row_count,
                                   px::u32 columns) {
        return px::launch(s, k.kernel, k.grid(row_count), x, y, row_count, columns);
    }
    static void reference(std::span<const double> x, std::span<const double>, std::span<double> y) {
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const double v : x) most = std::max(most, v);
        for (std::size_t i = 0; i < x.size(); ++i) sum += y[i] = std::exp(x[i] - most);
        for (double& v : y) v /= sum;
    }
};

}  // namespace demo
