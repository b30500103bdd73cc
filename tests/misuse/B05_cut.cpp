// SPDX-License-Identifier: Apache-2.0
// B05: a product of 64 bits, cut to 32, that moves a pointer.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b8, px::f32, px::s32, px::s64, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::global_ptr<f32> p, px::reg<u64> row, px::reg<u64> pitch) {
    const auto offset = k.mul_lo(row, pitch);
    k.st(p.byte_offset(offset), 1.0f);
    k.st(p + offset, 1.0f);
    k.st(p + k.cvt<u32>(k.rem(offset, 64u)), 1.0f);  // what remains of a division is small
    k.st(p + (k.cvt<u32>(offset) & 63u), 1.0f);
    k.st(p + k.cvt<u32>(row), 1.0f);  // the author knows of how many rows a tensor is
    k.st(p, k.cvt<f32, px::rn>(k.cvt<u32>(offset)));
}

#elif PTXDSL_CASE == 1
// warn-1: PTXDSL-B05 "cut to 32"
constexpr void body(hopper& k, px::global_ptr<f32> p, px::reg<u64> row, px::reg<u64> pitch) {
    const auto offset = k.mul_lo(row, pitch);
    k.st((p.as<b8>() + k.cvt<u32>(offset)).assume_aligned<4>().as<f32>(), 1.0f);  // here-1
}

#elif PTXDSL_CASE == 2
// warn-2: PTXDSL-B05 "cut to 32"
constexpr void body(hopper& k, px::global_ptr<f32> p, px::reg<u32> row, px::reg<u32> pitch) {
    const auto first = k.cvt<u32>(k.mul_wide(row, pitch));
    k.st(p + k.add(first, k.mov(px::tid.x)), 1.0f);  // here-2
}

#elif PTXDSL_CASE == 3
// warn-3: PTXDSL-B05 "cut to 32"
constexpr void body(hopper& k, px::global_ptr<f32> p, px::reg<s64> row) {
    k.st(p + k.cvt<s32>((row << 12u) + k.cvt<s64>(k.mov(px::tid.x).as<s32>())), 1.0f);  // here-3
}
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
