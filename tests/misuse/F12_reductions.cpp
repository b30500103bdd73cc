// SPDX-License-Identifier: Apache-2.0
// A reduction or multicast that does not exist.
//
// expect-1: PTXDSL-F12
// expect-2: PTXDSL-F12
// expect-3: PTXDSL-F12
// expect-4: PTXDSL-F12
// expect-5: PTXDSL-F12
// expect-6: PTXDSL-F12

#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::s32, px::u32;
using tile = px::tile<f32, 64, 32>;
constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<f32, 16> out, px::tma_map_out<tile> map) {
    const auto t = k.smem<tile>();
    const auto in = k.smem_array<f32>(64);
    const auto far = k.mapa(in, 1u);
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>)[0];
    static_cast<void>(t), static_cast<void>(in), static_cast<void>(far), static_cast<void>(bar), static_cast<void>(out),
        static_cast<void>(map);
#if PTXDSL_CASE == 0
    k.cp_reduce_async_bulk<px::tok::add>(out, in, 64u);
    k.cp_reduce_async_bulk<px::tok::min>(out.as<s32>(), in.as<s32>(), 64u);
    k.cp_reduce_async_bulk<px::tok::xor_>(out.as<u32>(), in.as<u32>(), 64u);
    k.cp_reduce_async_bulk<px::tok::max>(out.as<bf16>(), in.as<bf16>(), 64u);
    k.cp_reduce_async_bulk_tensor<px::tok::add>(map, px::coords(0, 0), t[0]);
#elif PTXDSL_CASE == 1  // min of f32
    k.cp_reduce_async_bulk<px::tok::min>(out, in, 64u);  // here-1
#elif PTXDSL_CASE == 2  // inc of s32
    k.cp_reduce_async_bulk<px::tok::inc>(out.as<s32>(), in.as<s32>(), 64u);  // here-2
#elif PTXDSL_CASE == 3  // add of 16-bit integers
    k.cp_reduce_async_bulk<px::tok::add>(out.as<px::u16>(), in.as<px::u16>(), 64u);  // here-3
#elif PTXDSL_CASE == 4  // a float into another block
    k.cp_reduce_async_bulk<px::tok::add>(far, in, 64u, k.mapa(bar, 1u));  // here-4
#elif PTXDSL_CASE == 5  // min of an f32 tensor
    k.cp_reduce_async_bulk_tensor<px::tok::min>(map, px::coords(0, 0), t[0]);  // here-5
#elif PTXDSL_CASE == 6  // a multicast into .shared::cta
    k.cp_async_bulk_tensor_multicast<px::shared_cta>(t[0], map, px::coords(0, 0), bar, 1);  // here-6
#endif
}
