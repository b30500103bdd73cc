// SPDX-License-Identifier: Apache-2.0
// D01, D03, D04, D07 of `wmma` (an opt-in header): fragments of other shapes, roles and types, and where they lie.
#include <ptxdsl/dsl/wmma.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a, px::wmma_calls>;
using a_t = px::wmma_a<f16, 16, 16, 16>;
using b_t = px::wmma_b<f16, 16, 16, 16>;
using acc_t = px::wmma_acc<f32, 16, 16, 16>;

constexpr void body(hopper& k, px::global_ptr<const f16, 32> in, px::global_ptr<f32, 32> out,
                    [[maybe_unused]] px::global_ptr<const f32, 32> sums,
                    [[maybe_unused]] px::global_ptr<f16, 32> halves) {
    const auto a = k.wmma_make<a_t>("a");
    const auto b = k.wmma_make<b_t>("b");
    const auto acc = k.wmma_make<acc_t>("acc");
    k.wmma_load<px::row>(a, in, 16u);
    k.wmma_load<px::col>(b, in, 16u);
    for (u32 i = 0; i < acc.size; ++i) k.inst<"mov.f32">(acc[i], 0.0f);
#if PTXDSL_CASE == 0
    k.wmma_mma<px::row, px::col>(acc, a, b, acc);
#elif PTXDSL_CASE == 1
    // expect-1: PTXDSL-D07
    k.wmma_mma<px::row, px::col>(acc, b, a, acc);  // here-1
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-D01
    const auto wide = k.wmma_make<px::wmma_a<f16, 32, 8, 16>>("wide");
    k.wmma_mma<px::row, px::col>(acc, wide, b, acc);  // here-2
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-D03
    k.wmma_mma<px::row, px::col>(acc, a, k.ld(in), acc);  // here-3
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-D04
    const auto integers = k.wmma_make<px::wmma_acc<px::s32, 16, 16, 16>>("integers");
    for (u32 i = 0; i < integers.size; ++i) k.inst<"mov.b32">(integers[i], 0u);
    k.wmma_mma<px::row, px::col>(integers, a, b, integers);  // here-4
#elif PTXDSL_CASE == 5
    // expect-5: PTXDSL-D03
    k.wmma_store<px::row>(halves, a, 16u);  // here-5
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-D03
    static_cast<void>(k.wmma_make<f32>());  // here-6
#elif PTXDSL_CASE == 7
    // expect-7: PTXDSL-B01
    k.wmma_load<px::row>(a, 16u);  // here-7
#elif PTXDSL_CASE == 8
    // expect-8: PTXDSL-A01
    k.wmma_load<px::row>(a, sums, 16u);  // here-8
#elif PTXDSL_CASE == 9
    // expect-9: PTXDSL-B02
    k.wmma_store<px::row>(sums, acc, 16u);  // here-9
#elif PTXDSL_CASE == 10
    // expect-10: PTXDSL-D03
    static_cast<void>(acc[8]);
#endif
    k.wmma_store<px::row>(out, acc, 16u);
}
#if PTXDSL_CASE == 0 || PTXDSL_CASE == 10  // the others are refused as they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}}>>();
#endif
