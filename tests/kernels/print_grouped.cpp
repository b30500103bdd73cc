// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of the library's grouped products, one file a kernel, to the folder named on the command line. Exit
// code 1 when one does not assemble, or the verifier warns of it.
#include "print_kernels.hpp"

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/grouped/kernels.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;

namespace {

template <gemm_config C, class T, bool Gated>
void grouped(const std::string& name, const grouped_variant& v) {
    const auto p = px::assemble_at_run_time("grouped_gemm", &grouped_gemm_body<C, T, Gated>, gemm_attributes<C>, v);
    if (p.warnings() != 0) {
        std::printf("%s: %.*s\n", name.c_str(), static_cast<int>(p.warning().size()), p.warning().data());
        ++print_kernels::failures;
    }
    print_kernels::write(name, p);
}

template <std::size_t I>
void forms() {
    constexpr gemm_config plain = grouped_configs<false>[I], gated = grouped_configs<true>[I];
    const auto name = [](const gemm_config& c) {
        return std::to_string(c.bm) + "x" + std::to_string(c.bn) + (c.cluster_n > 1 ? "_pair_" : "_");
    };
    grouped<plain, px::bf16, false>(name(plain) + "bf16", {});
    grouped<plain, px::f16, false>(name(plain) + "f16_masked", {.act = activation::gelu, .masked = true});
    grouped<gated, px::bf16, true>(name(gated) + "bf16_silu_gated_masked", {.act = activation::silu, .masked = true});
    grouped<gated, px::f16, true>(name(gated) + "f16_gated", {});
}

template <std::size_t... I>
void all(std::index_sequence<I...>) {
    (forms<I>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
    return print_kernels::run(argc, argv, [] { all(std::make_index_sequence<std::size(grouped_configs<false>)>{}); });
}
