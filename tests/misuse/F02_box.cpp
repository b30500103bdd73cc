// SPDX-License-Identifier: Apache-2.0
// A box no tensor map has.
//
// expect-1: PTXDSL-F02
// expect-2: PTXDSL-F02
// expect-3: PTXDSL-F02
// expect-4: PTXDSL-F02
// expect-5: PTXDSL-F02
// expect-6: PTXDSL-F02
// expect-7: PTXDSL-F02
// expect-8: PTXDSL-F02
// expect-9: PTXDSL-F02 "4- and 6-bit"
// expect-10: PTXDSL-F02 "in units of 32"
// expect-11: PTXDSL-F02 "128 elements"

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f16, px::f32, px::u8;
template <class Tile>
constexpr void use(px::builder<px::sm_90a>& k) {
    static_cast<void>(px::tma_map<Tile>(k.program(), 0));
}
template <class Tile>
constexpr void pixels(px::builder<px::sm_90a>& k) {
    static_cast<void>(px::im2col_map<Tile, 4>(k.program(), 0));
}
constexpr void body(px::builder<px::sm_90a>& k) {
    static_cast<void>(k);
#if PTXDSL_CASE == 0
    use<px::tile<bf16, 256, 64>>(k);
    use<px::tile<f32, 64, 32>>(k);
    use<px::tile<u8, 64, 256, px::k_major, px::no_swizzle>>(k);
    use<px::tile<bf16, 64, 128>>(k);
    pixels<px::tile<f16, 1024, 64>>(k);
#elif PTXDSL_CASE == 1   // a row of 24 bytes
    use<px::tile<bf16, 64, 12, px::k_major, px::no_swizzle>>(k);  // here-1
#elif PTXDSL_CASE == 2   // 512 rows
    use<px::tile<bf16, 512, 64>>(k);  // here-2
#elif PTXDSL_CASE == 3   // 257 columns
    use<px::tile<u8, 8, 272, px::k_major, px::no_swizzle>>(k);  // here-3
#elif PTXDSL_CASE == 4   // a side of 0
    use<px::tile<bf16, 0, 64>>(k);  // here-4
#elif PTXDSL_CASE == 5   // wider than the swizzle span
    use<px::tile<bf16, 64, 96>>(k);  // here-5
#elif PTXDSL_CASE == 6   // im2col: over 1024 pixels
    pixels<px::tile<f16, 1032, 64>>(k);  // here-6
#elif PTXDSL_CASE == 7   // im2col: over 256 channels
    pixels<px::tile<f16, 64, 512, px::k_major, px::no_swizzle>>(k);  // here-7
#elif PTXDSL_CASE == 8   // a gather of eight rows
    static_cast<void>(px::gather_map<px::tile<bf16, 8, 64>>::rank);  // here-8
#elif PTXDSL_CASE == 9   // packed elements
    using packed = px::tile<px::e2m1, 64, 128>;
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const px::tma_map<packed> map(k.program(), 0);
    k.cp_async_bulk_tensor(k.smem<packed>()[0], map, px::coords(0u, 0u), full[0]);  // here-9
#elif PTXDSL_CASE == 10  // a swizzle that only sm_100a has
    using wide = px::tile<f32, 64, 32, px::mn_major, px::swizzle_128b_base32>;
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const px::tma_map<wide> map(k.program(), 0);
    k.cp_async_bulk_tensor(k.smem<wide>()[0], map, px::coords(0u, 0u), full[0]);  // here-10
#elif PTXDSL_CASE == 11  // 6-bit elements in byte containers, 64 of them
    use<px::tile<px::e2m3, 64, 64, px::k_major, px::no_swizzle>>(k);  // here-11
#endif
}
