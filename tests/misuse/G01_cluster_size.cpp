// SPDX-License-Identifier: Apache-2.0
// A cluster over 8 blocks without the opt-in, or over 16 at all.
//
// expect-1: PTXDSL-G01
// expect-2: PTXDSL-G01
// expect-3: PTXDSL-G01

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>&) {}
#if PTXDSL_CASE == 0
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body, px::attributes{.cluster = {2, 4}}>>();
[[maybe_unused]] constexpr auto large =
    px::assemble<px::kernel<"misuse", body, px::attributes{.cluster = {16}, .non_portable_cluster = true}>>();
#elif PTXDSL_CASE == 1  // 16 without the opt-in
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.cluster = {16}}>>();  // here-1
#elif PTXDSL_CASE == 2  // 9 in two dimensions
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.cluster = {3, 3}}>>();  // here-2
#elif PTXDSL_CASE == 3  // 32
[[maybe_unused]] constexpr auto ptx = px::assemble<
    px::kernel<"misuse", body, px::attributes{.cluster = {32}, .non_portable_cluster = true}>>();  // here-3
#endif
