// SPDX-License-Identifier: Apache-2.0
// G03: constant peer rank outside the cluster.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> rank) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    static_cast<void>(k.mapa(bar.stage(0), 1u));
    static_cast<void>(k.mapa(bar.stage(0), rank));
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-G03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    static_cast<void>(k.mapa(bar.stage(0), 2u));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-G03

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    const auto rank = k.mov<u32>(5);
    static_cast<void>(k.mapa(bar.stage(0), rank));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-G03 "16 at most"
// The launch gives the cluster.

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    static_cast<void>(k.mapa(bar.stage(0), 20u));  // here-3
}

#elif PTXDSL_CASE == 4
// control-4: the launch may give so many

constexpr void body(hopper& k) {
    const auto bar = k.make_mbarrier_ring<"bar">(1, px::arrivals<1>);
    static_cast<void>(k.mapa(bar.stage(0), 15u));
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.cluster = {PTXDSL_CASE < 3 ? 2 : 0}}>>();
