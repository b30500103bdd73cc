// SPDX-License-Identifier: Apache-2.0
// K01: names PTX does not take, which would become text that ptxas cannot read.
//
// expect-1: PTXDSL-K01
// expect-2: PTXDSL-K01
// expect-3: PTXDSL-K01 "smem"
// expect-4: PTXDSL-K01 "K01_names.cpp:" "row 1"
// expect-5: PTXDSL-K01 "K01_names.cpp:" "a-b"
// expect-6: PTXDSL-K01 "K01_names.cpp:" "my tile"
// expect-7: PTXDSL-K01 "K01_names.cpp:" "my function"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void twice(hopper& k, px::reg<u32> n) { k.nanosleep(n + n); }

constexpr void body(hopper& k, px::reg<u32> n) {
#if PTXDSL_CASE == 0
    const auto s = k.smem_array<f32>(4, "my_tile");
    const auto l = k.new_label("a$b");
    k.bra(l);
    k.place(l);
    k.st(s, k.mov<f32>(1.0f).named("row_1"));
    k.call<"twice_2", twice>(n);
#elif PTXDSL_CASE == 4
    static_cast<void>(k.add(n, n).named("row 1"));  // here-4
#elif PTXDSL_CASE == 5
    const auto l = k.new_label("a-b");  // here-5
    k.place(l);
#elif PTXDSL_CASE == 6
    static_cast<void>(k.smem_array<f32>(4, "my tile"));  // here-6
#elif PTXDSL_CASE == 7
    k.call<"my function", twice>(n);  // here-7
#endif
    static_cast<void>(k), static_cast<void>(n);
}

#if PTXDSL_CASE == 1
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"my kernel", body>>();  // here-1
#elif PTXDSL_CASE == 2
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"2nd", body>>();  // here-2
#elif PTXDSL_CASE == 3
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"smem", body>>();  // here-3
#else
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"my_kernel$1", body>>();
#endif
