// SPDX-License-Identifier: Apache-2.0
// A block over 1024 threads, or of no size.
//
// expect-1: PTXDSL-H06
// expect-2: PTXDSL-H06
// expect-3: PTXDSL-H06
// expect-4: PTXDSL-H06 "64 threads along z"
// expect-5: PTXDSL-H06 "an extent" "is 0 and another is not"
// expect-6: PTXDSL-H06 ".reqntid and .maxntid exclude each other"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>&) {}
#if PTXDSL_CASE == 0
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {32, 32}}>>();
[[maybe_unused]] constexpr auto most = px::assemble<px::kernel<"misuse", body, px::attributes{.maxntid = {1024}}>>();
#elif PTXDSL_CASE == 1  // exact
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {1025}}>>();  // here-1
#elif PTXDSL_CASE == 2  // in three dimensions
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {32, 32, 2}}>>();  // here-2
#elif PTXDSL_CASE == 3  // at most
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.maxntid = {2048}}>>();  // here-3
#elif PTXDSL_CASE == 4
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {1, 1, 65}}>>();  // here-4
#elif PTXDSL_CASE == 5
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {128, 0}}>>();  // here-5
#elif PTXDSL_CASE == 6
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"misuse", body, px::attributes{.reqntid = {128}, .maxntid = {256}}>>();  // here-6
#endif
