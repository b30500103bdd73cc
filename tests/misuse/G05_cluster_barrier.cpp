// SPDX-License-Identifier: Apache-2.0
// G05: second barrier.cluster.arrive without wait, or wait without arrive.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    k.for_(n, [&](px::reg<u32>) {
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    });
    k.if_(n == 7u, [&] { k.barrier_cluster_arrive(); });  // two ifs of one condition: not provable
    k.if_(n == 7u, [&] { k.barrier_cluster_wait(); });
}

#elif PTXDSL_CASE == 1
// control-1: arrive, then exit

constexpr void body(hopper& k) { k.barrier_cluster_arrive(); }

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-G05

constexpr void body(hopper& k) {
    k.barrier_cluster_arrive();
    k.barrier_cluster_arrive();  // here-2
    k.barrier_cluster_wait();
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-G05

constexpr void body(hopper& k) {
    k.barrier_cluster_wait();  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-G05

constexpr void body(hopper& k, px::reg<u32> n) {
    k.for_(n, [&](px::reg<u32>) {
        k.barrier_cluster_arrive();  // here-4
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.cluster = {2}}>>();
