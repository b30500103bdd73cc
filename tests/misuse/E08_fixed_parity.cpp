// SPDX-License-Identifier: Apache-2.0
// E08: a wait that names one parity in all rounds of a loop, on a barrier that completes a phase in each of them.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using tile = px::tile<bf16, 64, 64>;
using map_t = px::tma_map<tile>;
using hopper = px::builder<px::sm_90a>;

struct buffer {
    px::shared_tile<tile> a;
    px::mbarrier_ring<px::ring<"full">> full;
};
/// One buffer and its barrier, initialised, for the one thread that fills it.
template <class Body>
constexpr void one_buffer(hopper& k, Body body) {
    const buffer b{k.smem<tile>(1, "a"), k.make_mbarrier_ring<"full">(1, px::arrivals<1>)};
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(b.full.stage(0)); });
    k.fence_mbarrier_init();
    k.bar_sync();
    body(b, tid);
}
constexpr void fill(hopper& k, const buffer& b, const map_t& map, const px::reg<u32>& i) {
    k.mbarrier_arrive_expect_tx(b.full.stage(0), b.a);
    k.cp_async_bulk_tensor(b.a.stage(0), map, px::coords(k.mul_lo(i, 64u), 0u), b.full.stage(0));
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        const auto parity = k.mov<u32>(0u);
        k.for_(steps, [&](px::reg<u32> i) {
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), parity);
            k.bar_sync();
            k.inst<"xor.b32">(parity, parity, 1);  // the next phase has the other parity
        });
    });
}

#elif PTXDSL_CASE == 1
// control-1: loaded once, waited for in every round: later waits are over at once

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        k.single_thread(tid == 0u, [&] { fill(k, b, map, tid); });
        k.for_(steps, [&](px::reg<u32>) { k.wait(b.full.stage(0), 0u); });
    });
}

#elif PTXDSL_CASE == 2
// control-2: two phases a round, one of each parity

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        k.for_(steps, [&](px::reg<u32> i) {
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), 0u);
            k.bar_sync();
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), 1u);
            k.bar_sync();
        });
    });
}

#elif PTXDSL_CASE == 3
// control-3: a loop of one round

constexpr void body(hopper& k, map_t map) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        k.for_(1u, [&](px::reg<u32> i) {
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), 0u);
        });
    });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-E08 "parity 0"

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        k.for_(steps, [&](px::reg<u32> i) {
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), 0u);  // here-4
            k.bar_sync();
        });
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-E08

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        const auto parity = k.mov<u32>(0u);  // nothing flips it
        k.for_(steps, [&](px::reg<u32> i) {
            k.single_thread(tid == 0u, [&] { fill(k, b, map, i); });
            k.wait(b.full.stage(0), parity);  // here-5
            k.bar_sync();
        });
    });
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-E08

constexpr void body(hopper& k, map_t map, px::reg<u32> steps) {
    one_buffer(k, [&](const buffer& b, const px::reg<u32>& tid) {
        const auto empty = k.make_mbarrier_ring<"empty">(1, px::arrivals<128>);
        k.single_thread(tid == 0u, [&] { k.mbarrier_init(empty.stage(0)); });
        k.bar_sync();
        k.if_(tid < 128u, [&] {
             k.role(128, [&] {
                 k.for_(steps, [&](px::reg<u32>) {
                     k.wait(b.full.stage(0), 0u);  // here-6
                     k.mbarrier_arrive(empty.stage(0));
                 });
             });
         }).else_([&] {
            k.single_thread(tid == 128u, [&] {
                const auto parity = k.mov<u32>(1u);
                k.for_(steps, [&](px::reg<u32> i) {
                    k.wait(empty.stage(0), parity);
                    fill(k, b, map, i);
                    k.inst<"xor.b32">(parity, parity, 1);
                });
            });
        });
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {256}}>>();
