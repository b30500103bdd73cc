// SPDX-License-Identifier: Apache-2.0
// G04: a block exits while its peers may still write into its shared memory.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

template <class End>
constexpr void exchange(hopper& k, End end) {
    const auto done = k.make_mbarrier_ring<"done">(1, px::arrivals<2>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(done.stage(0)); });
    k.fence_mbarrier_init();
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.at(tid < 2u).mbarrier_arrive(k.mapa(done.stage(0), tid));  // thread i arrives at block i
    k.wait(done.stage(0), 0u);
    end();
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    exchange(k, [&] {
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    });
}

#elif PTXDSL_CASE == 1
// control-1: the wait on `done` is a handshake by itself

constexpr void body(hopper& k) {
    exchange(k, [] {});
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-G04

constexpr void body(hopper& k) {
    exchange(k, [&] {
        k.barrier_cluster_arrive();  // here-2
    });
}

#elif PTXDSL_CASE == 3
// control-3: the cluster meets behind the last access

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.st(k.mapa(box, 1u), 7u);
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-G04 "another"

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.st(k.mapa(box, 1u), 7u);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-G04 "another"

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto box = k.smem_array<u32>(32, "box");
    const auto tid = k.mov(px::tid.x);
    k.st(box + (tid & 31u), tid);
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.single_thread(tid == 0u, [&] {
        const auto x = k.ld(k.mapa(box, 1u));  // here-5
        k.st(out, x);
    });
}

#elif PTXDSL_CASE == 6
// control-6: each block maps its own rank, or the one block that runs the code

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    const auto tid = k.mov(px::tid.x) & 31u;
    const auto rank = k.mov(px::cluster_ctarank);
    k.st(k.mapa(box + tid, rank), tid);
    k.st(k.mapa(box + tid, k.mov(px::cluster_ctaid.x)), tid);
    const auto first = k.mapa(box + tid, 0u);
    k.if_(rank == 0u, [&] { k.st(first, tid); });
    k.at(rank == 0u).st(first, tid);
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-G04 "another"

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    const auto rank = k.mov(px::cluster_ctarank);
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.if_(rank != 0u, [&] {
        k.st(k.mapa(box, 0u), rank);  // here-7
    });
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-G04
// The launch gives the cluster, and the block maps another one whatever its size is.

constexpr void body(hopper& k) {
    const auto box = k.smem_array<u32>(32, "box");
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
    k.st(k.mapa(box, k.mov(px::cluster_ctarank) ^ 1u), 7u);  // here-8
}

#elif PTXDSL_CASE == 9
// control-9: in a cluster of one block, which the launch may give, this is the own one

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto box = k.smem_array<u32>(32, "box");
    k.st(k.mapa(box, 0u), 7u);
    k.st(k.mapa(box, n), 7u);
    k.st(k.mapa(box, k.rem(k.mov(px::cluster_ctarank) + 1u, k.mov(px::cluster_nctarank))), 7u);
}

#endif
[[maybe_unused]] constexpr auto ptx =
    px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}, .cluster = {PTXDSL_CASE < 8 ? 2 : 0}}>>();
