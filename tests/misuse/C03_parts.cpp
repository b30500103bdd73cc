// SPDX-License-Identifier: Apache-2.0
// C03: parts of tiles that begin inside the swizzle, end behind the tile or lie behind it; a pipeline with more slots
// than the tile has stages.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using tall = px::tile<bf16, 128, 64>;
using wide = px::tile<bf16, 128, 64, px::mn_major>;

/// Two consumer warpgroups behind one that loads: `multiply` gets the accumulator, both tiles and the warpgroup's
/// number.
template <class Multiply>
constexpr void consumers(hopper& k, px::global_ptr<f32> out, Multiply multiply) {
    const auto a = k.smem<tall>(2, "a"), b = k.smem<tall>(2, "b");
    const auto tid = k.mov(px::tid.x);
    k.if_(tid >= 128u, [&] {
        const auto acc = k.wgmma.make_accumulator<f32, 128>();
        const auto group = tid >> 7u;
        k.wgmma.fence();
        multiply(acc, a, b, group);
        k.wgmma.commit_group();
        k.wgmma.wait_group<0>();
        k.st(out + tid, acc[0]);
    });
}

#if PTXDSL_CASE == 0
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto& group) {
        const auto da = k.wgmma.descriptor(a), db = k.wgmma.descriptor(b);
        k.wgmma.mma_async(acc, da.row_slice(64), db, false);
        k.wgmma.mma_async(acc, da.rows_at(k.sub(group, 1u), 64), db);
        k.wgmma.mma_async(acc, da.rows_at(1u, 64), db);
    });
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-C03 "64 rows from row 96"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto&) {
        const auto da = k.wgmma.descriptor(a).row_slice(96), db = k.wgmma.descriptor(b);
        k.wgmma.mma_async(acc, da, db, false);  // here-1
    });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-C03 "parts of 60 rows" "a multiple of 8"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto& group) {
        const auto da = k.wgmma.descriptor(a).rows_at(k.sub(group, 1u), 60), db = k.wgmma.descriptor(b);  // here-2
        k.wgmma.mma_async(acc, da, db, false);
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-C03 "warp 8 takes part 2 of 'a'"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto& group) {
        const auto da = k.wgmma.descriptor(a).rows_at(group, 64), db = k.wgmma.descriptor(b);  // here-3
        k.wgmma.mma_async(acc, da, db, false);
    });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-C03 "part 2 of 64 rows"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto&) {
        const auto da = k.wgmma.descriptor(a).rows_at(2u, 64), db = k.wgmma.descriptor(b);  // here-4
        k.wgmma.mma_async(acc, da, db, false);
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-C03 "a panel"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto m = k.smem<wide>(1, "m");
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto& group) {
        const auto part = k.wgmma.descriptor(m).rows_at(group, 32);  // here-5
        static_cast<void>(part), static_cast<void>(acc), static_cast<void>(a), static_cast<void>(b);
    });
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-C03 "stage 2 of 'a', which has 2: the pipeline whose slots choose it has 3"
constexpr void body(hopper& k, px::global_ptr<f32> out) {
    const auto pipe = k.make_pipeline<"load">(3, px::arrivals<1>, px::arrivals<256>);
    consumers(k, out, [&](const auto& acc, const auto& a, const auto& b, const auto&) {
        const auto at = k.consumer_state(pipe);
        const auto da = k.wgmma.descriptor(a)[at.slot()], db = k.wgmma.descriptor(b);  // here-6
        k.wgmma.mma_async(acc, da, db, false);
    });
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-C03 "stage 2 of 'a', which has 2: the pipeline whose slots choose it has 3"
constexpr void body(hopper& k, px::tma_map<tall> map) {
    const auto a = k.smem<tall>(2, "a");
    const auto pipe = k.make_pipeline<"load">(3, px::arrivals<1>, px::arrivals<256>);
    const auto at = k.producer_state(pipe);
    k.cp_async_bulk_tensor(a[at.slot()], map, px::coords(0u, 0u), pipe.full(at));  // here-7
}
#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {384}}>>();
