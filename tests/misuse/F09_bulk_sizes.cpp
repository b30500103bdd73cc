// SPDX-License-Identifier: Apache-2.0
// F09: bulk copy size not a multiple of 16, addresses not 16-byte aligned.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using in_t = px::global_ptr<const f32, 16>;

template <class Bytes>
constexpr void copy(hopper& k, const in_t& in, Bytes&& bytes, int offset) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto a = k.smem_array<f32>(256, "a");
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full.stage(0), bytes);
        k.cp_async_bulk(a.byte_offset<16>(offset), in, bytes, full.stage(0));  // here-1 here-2 here-3
    });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, in_t in, px::reg<u32> bytes) {
    copy(k, in, 64u, 16);
    copy(k, in, bytes, 0);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F09

constexpr void body(hopper& k, in_t in) { copy(k, in, 60u, 0); }

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F09

constexpr void body(hopper& k, in_t in) { copy(k, in, k.mov<u32>(60), 0); }

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F09

constexpr void body(hopper& k, in_t in) { copy(k, in, 64u, 8); }

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F09

constexpr void body(hopper& k, px::global_ptr<const f32> in) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto a = k.smem_array<f32>(256, "a");
    k.cp_async_bulk(a, in, 64u, full.stage(0));  // here-4
}

#endif
#if PTXDSL_CASE != 4  // those are refused where they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
