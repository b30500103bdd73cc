// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of the library's attention kernels, one file a kernel, to the folder named on the command line. Exit
// code 1 when one does not assemble, or the verifier warns of it.
#include "print_kernels.hpp"

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/kernels/attention/decode_kernels.hpp>
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

/// Of few queries over keys in pages, and what puts the parts together.
template <decode_config C, class T>
void decode(const std::string& name, const attention_form& f) {
    const auto p = px::assemble_at_run_time("attention_decode", &decode_body<C, T>, decode_attributes<C>, f);
    if (p.warnings() != 0) {
        std::printf("%s: %.*s\n", name.c_str(), static_cast<int>(p.warning().size()), p.warning().data());
        ++print_kernels::failures;
    }
    print_kernels::write(name, p);
}
template <decode_config C>
void decode_forms() {
    const std::string name = "decode_d" + std::to_string(C.d) + "_box" + std::to_string(C.box) + "_";
    decode<C, px::bf16>(name + "full", {});
    decode<C, px::f16>(name + "causal_lse", {.right = true, .lse = true});
    decode<C, px::bf16>(name + "all", {.right = true, .left = true, .softcap = true, .lse = true});
    print_kernels::write("combine_d" + std::to_string(C.dv) + "_" + std::to_string(C.box),
                         px::assemble_at_run_time("attention_combine", &combine_body<C.dv, px::bf16>,
                                                  combine_attributes, attention_form{.lse = true}, C.bn));
}

template <std::size_t... I>
void all_pages(std::index_sequence<I...>) {
    (decode_forms<decode_configs[I]>(), ...);
}
template <std::size_t... I>
void all(std::index_sequence<I...>) {
    (forms<attention_configs[I]>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
    return print_kernels::run(argc, argv, [] {
        all(std::make_index_sequence<std::size(attention_configs)>{});
        all_pages(std::make_index_sequence<std::size(decode_configs)>{});
    });
}
