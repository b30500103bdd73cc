// SPDX-License-Identifier: Apache-2.0
// G07: stores into another block handed over with a release that reaches the own block only.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void meet(hopper& k) {
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}
/// `hand_over(box, barrier)` works with a word and a barrier of block 1.
template <class HandOver>
constexpr void exchange(hopper& k, HandOver hand_over) {
    const auto own = k.smem_array<u32>(32, "box");
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<1>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(done.stage(0)); });
    k.fence_mbarrier_init();
    meet(k);
    k.single_thread(tid == 0u, [&] { hand_over(k.mapa(own, 1u), k.mapa(done.stage(0), 1u)); });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto& done) {
        k.st(box, x);
        k.mbarrier_arrive<px::release, px::cluster>(done);
    });
}

#elif PTXDSL_CASE == 1
// control-1: a fence of cluster scope releases, the arrive need not

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto& done) {
        k.st(box, x);
        k.fence<px::acq_rel, px::cluster>();
        k.mbarrier_arrive<px::release, px::cluster>(done);
    });
}

#elif PTXDSL_CASE == 2
// control-2: nothing was written: handing back a buffer that was only read

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    exchange(k, [&](const auto& box, const auto& done) {
        k.st(out, k.ld(box));
        k.mbarrier_arrive(done);
    });
}

#elif PTXDSL_CASE == 3
// control-3: st.async completes on the barrier by itself

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto& done) { k.st_async(box, x, done); });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-G07 ".release.cta"

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto& done) {
        k.st(box, x);
        k.mbarrier_arrive(done);  // here-4
    });
}

#elif PTXDSL_CASE == 5
// warn-5: PTXDSL-G07 ".release.cta"

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto& done) {
        k.st(box, x);
        k.mbarrier_arrive(done);  // here-5
    });
    meet(k);  // this publishes the store; whoever waits for `done` alone does not see it
}

#elif PTXDSL_CASE == 6
// warn-6: PTXDSL-G07 "scope .cta"

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto&) {
        k.st<px::release, px::cta>(box, x);  // the other block has no part in this scope
    });
    meet(k);
}

#elif PTXDSL_CASE == 7
// control-7: a flag of cluster scope

constexpr void body(hopper& k, px::reg<u32> x) {
    exchange(k, [&](const auto& box, const auto&) { k.st<px::release, px::cluster>(box, x); });
    meet(k);
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {2}}>>();
