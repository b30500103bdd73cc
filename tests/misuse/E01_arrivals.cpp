// SPDX-License-Identifier: Apache-2.0
// E01: the arrivals a phase can receive differ from the count the barrier is initialised with.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

template <u32 Count>
constexpr auto make(hopper& k, const px::reg<u32>& tid) {
    const auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<Count>);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    return bar;
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto tid = k.mov(px::tid.x);
    const auto all = make<128>(k, tid), one = make<1>(k, tid), warps = make<4>(k, tid), some = make<7>(k, tid);
    k.mbarrier_arrive(all.stage(0));
    k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(one.stage(0)); });
    k.single_thread(k.elect_sync(), [&] { k.mbarrier_arrive(warps.stage(0)); });  // one thread of each warp
    k.if_(tid < n, [&] { k.mbarrier_arrive(some.stage(0)); });                    // depends on data
    k.wait(all.stage(0), 0u);
    k.wait(one.stage(0), 0u);
    k.wait(warps.stage(0), 0u);
}

#elif PTXDSL_CASE == 1
// control-1: two roles add up; in ping-pong they take turns

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    const auto both = make<128>(k, tid), turns = make<64>(k, tid);
    const auto arrive = [&] {
        k.mbarrier_arrive(both.stage(0));
        k.mbarrier_arrive(turns.stage(0));
    };
    k.if_(tid < 64u, [&] { k.role(64, arrive); }).else_([&] { k.role(64, arrive); });
    k.wait(both.stage(0), 0u);
}

#elif PTXDSL_CASE == 2
// control-2: what the verifier cannot count, the author states

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    const auto bar = make<3>(k, tid);
    k.assume_arrivals(bar);
    k.single_thread(tid == 0u, [&] { k.mbarrier_arrive(bar.stage(0)); });
    k.wait(bar.stage(0), 0u);
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-E01

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    const auto bar = make<128>(k, tid);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_arrive(bar.stage(0));  // here-3
    });
    k.wait(bar.stage(0), 0u);
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-E01

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    const auto bar = make<1>(k, tid);
    k.mbarrier_arrive(bar.stage(0));  // here-4
    k.wait(bar.stage(0), 0u);
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-E01

constexpr void body(hopper& k, px::reg<u32> n) {
    const auto tid = k.mov(px::tid.x);
    const auto bar = make<2>(k, tid);
    k.single_thread(tid == 0u, [&] {
        k.for_(n, [&](px::reg<u32> i) {
            k.mbarrier_arrive(bar.stage(0));  // here-5
            k.wait(bar.stage(0), k.and_(i, 1u));
        });
    });
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-E01

constexpr void body(hopper& k, px::tma_map<px::tile<px::bf16, 64, 64>> map) {
    const auto tid = k.mov(px::tid.x);
    const auto bar = make<1>(k, tid);
    const auto a = k.smem<px::tile<px::bf16, 64, 64>>(1);
    k.single_thread(tid == 0u, [&] {
        k.mbarrier_expect_tx(bar.stage(0), 8192u);  // here-6
        k.cp_async_bulk_tensor(a.stage(0), map, px::coords(0u, 0u), bar.stage(0));
    });
    k.wait(bar.stage(0), 0u);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
