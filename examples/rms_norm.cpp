// SPDX-License-Identifier: Apache-2.0
// RMS norm of random rows, checked against float64 and timed. The kernel: rms_norm_kernel.hpp.
#include "rms_norm_kernel.hpp"
#include "rows_demo.hpp"

namespace px = ptxdsl;

namespace {

constexpr float eps = 1e-6f;

struct operation {
    static constexpr std::string_view name = "rms_norm";
    static constexpr std::string_view help = "y = x / sqrt(mean(x^2) + 1e-6) * weight for every row, on the GPU";
    static constexpr bool weights = true;
    static constexpr double relative = 4e-6, absolute = 1e-37;
    static constexpr double large = 1e15;  // a million such squares still fit f32

    template <class T, px::u32 Width>
    static constexpr auto body = &rms_norm::rms_norm<T, Width>;

    template <class Kernel, class T>
    static px::result<void> launch(const Kernel& k, const px::stream& s, const px::device_buffer<T>& x, const px::device_buffer<T>& w,
                                   px::device_buffer<T>& y, px::u32 row_count, px::u32 columns) {
        return px::launch(s, k.kernel, k.grid(row_count), x, w, y, row_count, columns, eps);
    }
    static void reference(std::span<const double> x, std::span<const double> w, std::span<double> y) {
        double sum = 0;
        for (const double v : x) sum += v * v;
        const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(eps));
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * w[i];
    }
};

// The kernel for rows of 4096 f32, as a constant of this program.
constexpr rows::plan plan = rows::plan_for_columns<px::f32, 4>(4096);
constexpr auto rms_norm_4096 = px::assemble<px::kernel<"rms_norm", rms_norm::rms_norm<px::f32, 4>, px::attributes{.reqntid = {plan.block()}}, plan>>();

}  // namespace

int main(int argc, char** argv) { return demo::rows_main<operation>(argc, argv, rms_norm_4096, "ld.global.nc.L1::no_allocate"); }
