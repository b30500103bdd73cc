// SPDX-License-Identifier: Apache-2.0
// E06: more bytes than the transaction count of a phase holds (1048575).
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

template <u32 Bytes>
constexpr void body(hopper& k, px::global_ptr<const float, 16> in, px::reg<u32> n) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    const auto a = k.smem_array<float>(32, "a");
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.mbarrier_init(full.stage(0));
        k.fence_mbarrier_init();
        k.mbarrier_arrive_expect_tx(full.stage(0), Bytes);  // here-1
        k.cp_async_bulk(a, in, n, full.stage(0));
    });
}

#if PTXDSL_CASE == 0
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body<1048560>>>();
#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E06
constexpr auto ptx = px::assemble<px::kernel<"test", body<1048576>>>();
#endif
