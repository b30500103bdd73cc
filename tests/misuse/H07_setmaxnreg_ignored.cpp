// SPDX-License-Identifier: Apache-2.0
// H07: setmaxnreg that the assembler ignores, because the register count at entry is not fixed.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k) {
    k.setmaxnreg_dec<40>();  // here-1 here-2
}

#if PTXDSL_CASE == 0
[[maybe_unused]] constexpr auto limited = px::assemble<px::kernel<"test", body, px::attributes{.maxnreg = 168}>>();
[[maybe_unused]] constexpr auto required =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {384}, .minnctapersm = 1}>>();
[[maybe_unused]] constexpr auto at_most =
    px::assemble<px::kernel<"test", body, px::attributes{.maxntid = {384}, .minnctapersm = 1}>>();
#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-H07
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {384}}>>();
#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H07
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
