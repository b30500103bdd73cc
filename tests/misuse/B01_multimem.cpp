// SPDX-License-Identifier: Apache-2.0
// B01, A08, B02 of `multimem` (an opt-in header): addresses of other spaces, elements without registers.
#include <ptxdsl/dsl/multimem.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::e4m3, px::f32, px::u32;
using hopper = px::builder<px::sm_90a, px::multimem_calls>;

constexpr void body(hopper& k, px::global_ptr<f32> p, [[maybe_unused]] px::global_ptr<const f32> q,
                    [[maybe_unused]] px::global_ptr<e4m3> bytes, px::reg<f32> x) {
    static_cast<void>(k), static_cast<void>(p), static_cast<void>(x);
#if PTXDSL_CASE == 0
    k.multimem_st(p, k.multimem_ld_reduce_add(p));
    k.multimem_red_add(p, x);
    static_cast<void>(k.multimem_ld_reduce_add(q));
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-B01
    static_cast<void>(k.multimem_ld_reduce_add(k.smem_array<f32>(4, "box")));  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-B01
    static_cast<void>(k.multimem_ld_reduce_add(x));  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-B01
    k.multimem_st(k.smem_array<f32>(4, "box"), x);  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-A08
    static_cast<void>(k.multimem_ld_reduce_add(bytes));  // here-4
#elif PTXDSL_CASE == 5
    // expect-5: PTXDSL-B02
    k.multimem_st(q, x);  // here-5
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-B02
    k.multimem_red_add(q, x);  // here-6
#endif
}
#if PTXDSL_CASE == 0  // the others are refused as they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
