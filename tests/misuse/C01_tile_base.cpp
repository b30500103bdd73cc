// SPDX-License-Identifier: Apache-2.0
// C01: a swizzled tile whose base is not a multiple of the swizzle's repeat.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using hopper = px::builder<px::sm_90a>;
using wide = px::tile<bf16, 64, 64>;                                  // 128-byte swizzle: 1024
using narrow = px::tile<bf16, 64, 16, px::k_major, px::swizzle_32b>;  // 32-byte swizzle: 256

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    static_cast<void>(k.smem_array<u32>(5));  // the allocator aligns what comes next
    static_cast<void>(k.smem<wide>(2));
    static_cast<void>(k.smem_at<narrow>(32768 + 256, 1));
    static_cast<void>(k.smem_at<wide>(36864, 1).stage(0).at(3, 5));  // slices keep the base's phase
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-C01 "lies at"

constexpr void body(hopper& k) {
    static_cast<void>(k.smem_at<wide>(128, 1, "a"));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-C01 "256"

constexpr void body(hopper& k) {
    static_cast<void>(k.smem_at<narrow>(128, 1, "a"));  // here-2
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
