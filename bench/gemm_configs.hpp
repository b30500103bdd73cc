// SPDX-License-Identifier: Apache-2.0
// Our contenders of bench_gemm: kernels and configurations by name. Add a line to try another one.
#pragma once

#include "../examples/gemm_hopper_launch.hpp"
#include "harness.hpp"

namespace bench {

/// Operands of one problem on the device.
struct gemm_operands {
    px::device_ptr<const px::bf16> a, b;
    px::device_ptr<px::bf16> c;
    std::uint64_t m, n, k;
};

struct gemm_entry {
    std::string name;
    std::function<px::result<contender>(const px::context&, const gemm_operands&)> make;
};

/// The example's kernel with configuration `C`.
template <gemm_hopper::config C>
[[nodiscard]] gemm_entry example_entry(std::string_view name) {
    const std::string full(name);
    return {full, [full](const px::context& ctx, const gemm_operands& o) -> px::result<contender> {
                auto p = gemm_hopper::problem<C, px::bf16>::make(ctx, o.a, o.b, o.c, o.m, o.n, o.k);
                if (!p) return p.error();
                return contender{full, [problem = std::move(*p)](px::stream_ref s) { return problem.launch(s); }};
            }};
}

[[nodiscard]] inline std::vector<gemm_entry> gemm_entries() {
    std::vector<gemm_entry> all;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (all.push_back(example_entry<gemm_hopper::configs[I].c>(gemm_hopper::configs[I].name)), ...);
    }(std::make_index_sequence<std::size(gemm_hopper::configs)>{});
    return all;
}

}  // namespace bench
