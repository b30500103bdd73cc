// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of the library's attention kernels, one file a kernel, to the folder named on the command line. Exit
// code 1 when one does not assemble, or the verifier warns of it.
#include "print_kernels.hpp"

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/attention/kernels.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace px = ptxdsl;
using namespace ptxdsl::kernels;

namespace {

template <attention_config C, class T>
void attention(const std::string& name, const attention_form& f) {
    const auto p = px::assemble_at_run_time("attention", &attention_body<C, T>, attention_attributes<C>, f);
    if (p.warnings() != 0) {
        std::printf("%s: %.*s\n", name.c_str(), static_cast<int>(p.warning().size()), p.warning().data());
        ++print_kernels::failures;
    }
    print_kernels::write(name, p);
}

template <attention_config C>
void forms() {
    const std::string name = "d" + std::to_string(C.d) + "x" + std::to_string(C.bn) + "_";
    attention<C, px::bf16>(name + "full", {});
    attention<C, px::bf16>(name + "causal_lse", {.right = true, .lse = true});
    attention<C, px::f16>(name + "window", {.right = true, .left = true});
    attention<C, px::bf16>(name + "packed", {.right = true, .packed = true});
    attention<C, px::f16>(name + "all", {true, true, true, true, true, true});
    attention<C, px::bf16>(name + "left_softcap_used", {.left = true, .softcap = true, .used = true});
}

template <std::size_t... I>
void all(std::index_sequence<I...>) {
    (forms<attention_configs[I]>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
    return print_kernels::run(argc, argv, [] { all(std::make_index_sequence<std::size(attention_configs)>{}); });
}
