// SPDX-License-Identifier: Apache-2.0
// C05: explicit offsets that overlap.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using tile = px::tile<px::bf16, 64, 64>;  // 8192 bytes
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    static_cast<void>(k.smem_at<tile>(0, 2, "a"));
    static_cast<void>(k.smem_at<tile>(16384, 1, "b"));
    static_cast<void>(k.smem<tile>(1, "c"));  // the library's own go behind
    const auto operand = k.smem<tile>(2, "operand");
    static_cast<void>(operand[0].as<px::tile<px::f32, 64, 32>>());  // two types, one allocation
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-C05

constexpr void body(hopper& k) {
    static_cast<void>(k.smem_at<tile>(0, 2, "a"));
    static_cast<void>(k.smem_at<tile>(8192, 1, "b"));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-C05

constexpr void body(hopper& k) {
    static_cast<void>(k.smem<tile>(1, "a"));
    static_cast<void>(k.smem_at<tile>(4096, 1, "b"));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-C05 "larger"

constexpr void body(hopper& k) {
    static_cast<void>(k.smem<tile>(1, "a")[0].as<px::tile<px::f32, 64, 64>>());  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-C01 "repeats"

constexpr void body(hopper& k) {
    const auto plain = k.smem<px::tile<px::f32, 64, 64, px::k_major, px::no_swizzle>>(1, "a");
    static_cast<void>(plain[0].as<tile>());  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-C05

constexpr void body(hopper& k) {
    const auto full = k.make_mbarrier_ring_at<"full">(0, 2, px::arrivals<1>);
    const auto done = k.make_mbarrier_ring_at<"done">(8, 2, px::arrivals<1>);  // here-5
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        for (int i = 0; i < 2; ++i) k.mbarrier_init(full[i]);
        k.mbarrier_arrive(done[0]);
    });
}

#elif PTXDSL_CASE == 6
// control-6: rings side by side

constexpr void body(hopper& k) {
    const auto full = k.make_mbarrier_ring_at<"full">(0, 2, px::arrivals<1>);
    const auto done = k.make_mbarrier_ring_at<"done">(16, 2, px::arrivals<1>);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        for (int i = 0; i < 2; ++i) k.mbarrier_init(full[i]), k.mbarrier_init(done[i]);
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
