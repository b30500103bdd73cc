// SPDX-License-Identifier: Apache-2.0
// Addresses inside a tile that ignore its swizzle.
//
// expect-1: PTXDSL-C07
// expect-2: PTXDSL-C07
// expect-3: PTXDSL-C07
// expect-4: PTXDSL-C07 "no pointer"
// expect-5: PTXDSL-C07 "no pointer"
// expect-6: PTXDSL-C07 "no pointer"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using plain_tile = px::tile<f32, 64, 32, px::k_major, px::no_swizzle>;
constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<px::b8, 16> out, px::reg<u32> n) {
    const auto t = k.smem<px::tile<f32, 64, 32>>(2, "t");
    const auto plain = k.smem<plain_tile>(1, "plain");
    const auto cores = k.smem<px::tile<f32, 64, 32, px::k_major, px::core_matrices>>(1, "cores");
    const auto flat = k.smem<px::tile<f32, 4, 64>>(1, "flat");
    static_cast<void>(t), static_cast<void>(plain), static_cast<void>(cores), static_cast<void>(flat),
        static_cast<void>(out), static_cast<void>(n);
#if PTXDSL_CASE == 0
    static_cast<void>(k.ld(k.tile_element(t[0], n, 3u)));
    static_cast<void>(k.ld(t[1].at(1, 2)));
    static_cast<void>(k.ld(plain[0].pointer() + n));
    k.cp_async_bulk(out, t[0].byte_pointer(), 4096u);
    static_cast<void>(k.tile_line(t[0], n).chunk(2));
    static_cast<void>(k.tile_line(t[0], n).chunk(n & 7u));
#elif PTXDSL_CASE == 1  // pointer arithmetic
    static_cast<void>(k.ld(t[0].pointer() + n));  // here-1
#elif PTXDSL_CASE == 2  // a core-matrix tile is no row-major array either
    static_cast<void>(cores[0].pointer());  // here-2
#elif PTXDSL_CASE == 3  // a line of panels that start inside the swizzle repeat
    static_cast<void>(k.tile_line(flat[0], n));  // here-3
#elif PTXDSL_CASE == 4  // a stage is no pointer
    static_cast<void>(t[0] + n);  // here-4
#elif PTXDSL_CASE == 5  // nor are all of them
    static_cast<void>(t + 1);  // here-5
#elif PTXDSL_CASE == 6
    static_cast<void>(n + plain[0]);  // here-6
#endif
}
