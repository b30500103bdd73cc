// SPDX-License-Identifier: Apache-2.0
// C07: elements of a swizzled tile through its bytes.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using hopper = px::builder<px::sm_90a>;
using swizzled = px::tile<bf16, 64, 64>;
using plain = px::tile<bf16, 64, 64, px::k_major, px::no_swizzle>;

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::reg<bf16> v) {
    const auto c = k.smem<swizzled>(1, "c");
    const auto p = k.smem<plain>(1, "p");
    const auto tid = k.mov(px::tid.x);
    k.st(p[0].byte_pointer().as<bf16>() + tid, v);
    k.st(c[0].byte_pointer().as<bf16>() + 3, v);
    // All of it, sixteen bytes at a time: where they lie is not asked.
    const auto zero = k.mov<u32>(0);
    k.st(c[0].byte_pointer().as<px::packet<u32, 4>>() + tid, px::vec{zero, zero, zero, zero});
    // Who computes the exchange knows of it.
    const auto row = tid >> 3u, chunk = (tid & 7u) ^ (row & 7u);
    k.st(c[0].byte_pointer().as<bf16>() + k.mad_lo(row, 64u, chunk << 3u), v);
}

#elif PTXDSL_CASE == 1
// warn-1: PTXDSL-C07 "indexed through its bytes"
constexpr void body(hopper& k, px::reg<bf16> v) {
    const auto c = k.smem<swizzled>(1, "c");
    k.st(c[0].byte_pointer().as<bf16>() + k.mov(px::tid.x), v);  // here-1
}

#elif PTXDSL_CASE == 2
// warn-2: PTXDSL-C07 "indexed through its bytes"
constexpr void body(hopper& k, px::global_ptr<bf16> out) {
    const auto c = k.smem<swizzled>(2, "c");
    const auto tid = k.mov(px::tid.x);
    const auto bytes = c[tid & 1u].byte_pointer();
    k.st(out, k.ld((bytes + 2 * tid).assume_aligned<2>().as<bf16>()));  // here-2
}
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
