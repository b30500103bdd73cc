// SPDX-License-Identifier: Apache-2.0
// D01: rows of an operand tile that nobody multiplies.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using left = px::tile<bf16, 64, 64>;
using tall = px::tile<bf16, 128, 64>;

template <unsigned N, class Multiply>
constexpr void product(hopper& k, px::global_ptr<f32> out, Multiply multiply) {
    const auto acc = k.wgmma.make_accumulator<f32, N>();
    k.wgmma.fence();
    multiply(acc);
    k.wgmma.commit_group();
    k.wgmma.wait_group<0>();
    k.st(out + k.mov(px::tid.x), acc[0]);
}

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto a = k.smem<left>(1, "a");
    const auto b = k.smem<tall>(1, "b"), c = k.smem<tall>(1, "c");
    product<64>(k, out, [&](const auto& acc) {
        const auto da = k.wgmma.descriptor(a);
        const auto db = k.wgmma.descriptor(b), dc = k.wgmma.descriptor(c);
        k.wgmma.mma_async(acc, da, db.row_slice(64), false);
        k.wgmma.mma_async(acc, da, db);
        k.wgmma.mma_async(acc, da, dc);
    });
    k.st(out, k.cvt<f32>(k.ld(c[0].at(100, 0))));  // the other rows of c are read in another way
}

#elif PTXDSL_CASE == 1
// warn-1: PTXDSL-D01 "tile 'b' has 128 rows, of which 64 are multiplied"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto a = k.smem<left>(1, "a");
    const auto b = k.smem<tall>(1, "b");
    product<64>(k, out, [&](const auto& acc) {
        const auto da = k.wgmma.descriptor(a);
        const auto db = k.wgmma.descriptor(b);
        for (u32 s = 0; s < 4; ++s) k.wgmma.mma_async(acc, da.k_slice(s), db.k_slice(s), s != 0);  // here-1
    });
}

#elif PTXDSL_CASE == 2
// warn-2: PTXDSL-D01 "tile 'a' has 128 rows, of which 64 are multiplied"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto a = k.smem<tall>(1, "a"), b = k.smem<tall>(1, "b");
    product<128>(k, out, [&](const auto& acc) {
        k.wgmma.mma_async(acc, k.wgmma.descriptor(a).row_slice(64), k.wgmma.descriptor(b), false);  // here-2
    });
}
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
