// SPDX-License-Identifier: Apache-2.0
// I08: registers read before their tcgen05.ld has arrived, columns loaded before the tcgen05.st that wrote them is
// done.
//
// expect-1: PTXDSL-I08 "wait_ld"
// expect-2: PTXDSL-I08 "wait_st"
// expect-3: PTXDSL-I08 "wait_ld"
// control-4: several loads, one wait
// warn-5: PTXDSL-I08 "nothing"
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using blackwell = px::builder<px::sm_100a>;

constexpr void body(blackwell& k) {
    const auto out = k.smem_array<f32>(4, "out");
    const auto slot = k.tcgen05.make_slot<64>();
    k.tcgen05.alloc(slot);
    k.bar_sync();
    const auto memory = k.tcgen05.load(slot);
    const auto rows = k.tcgen05.quarter(memory, 0u).slice<f32, 8>();
    const auto zero = k.tcgen05.make_registers<f32, 1>("zero");
    zero[0] = k.mov<f32>(0.0f);
    k.tcgen05.st<px::shape_32x32b, px::x1>(rows, zero);
#if PTXDSL_CASE == 5  // other columns are loaded; still, nothing says when these are written
    const auto w = k.tcgen05.ld<px::shape_32x32b, px::x1>(rows, 4);
    k.tcgen05.wait_ld();
    k.st(out, w[0]);
#else
#if PTXDSL_CASE != 2
    k.tcgen05.wait_st();
#endif
    const auto v = k.tcgen05.ld<px::shape_32x32b, px::x1>(rows);  // here-2
#if PTXDSL_CASE == 0 || PTXDSL_CASE == 2
    k.tcgen05.wait_ld();
    k.st(out, v[0]);
#elif PTXDSL_CASE == 1
    k.st(out, v[0]);  // here-1
    k.tcgen05.wait_ld();
#elif PTXDSL_CASE == 3  // the wait of another load came before
    k.tcgen05.wait_ld();
    const auto w = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows);
    k.st(out, k.add<px::rn>(v[0], w[1]));  // here-3
    k.tcgen05.wait_ld();
#elif PTXDSL_CASE == 4
    const auto w = k.tcgen05.ld<px::shape_32x32b, px::x2>(rows, 4);
    k.tcgen05.wait_ld();
    k.st(out, k.add<px::rn>(v[0], w[1]));
#endif
#endif
    k.tcgen05.dealloc(memory);
    k.tcgen05.relinquish_alloc_permit(slot);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {32}}>>();
