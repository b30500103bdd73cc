// SPDX-License-Identifier: Apache-2.0
// F05: a bulk store after generic writes without fence.proxy.async by the writers and a rendezvous.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using tile = px::tile<px::bf16, 64, 64>;
using map_t = px::tma_map_out<tile>;
using hopper = px::builder<px::sm_90a>;

template <class Publish>
constexpr void store_tile(hopper& k, const map_t& map, const Publish& publish) {
    const auto c = k.smem<tile>(1, "c");
    const auto tid = k.mov(px::tid.x);
    k.st(k.shared_pointer<f32, 4>(k.mad_lo(tid, 4u, c.stage(0).address())), k.mov<f32>(1.0f));
    publish(tid);
    k.single_thread(tid == 0u, [&] {
        k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0));  // here-2 here-3 here-4 here-5
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group_read<0>();
    });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, map_t map) {
    store_tile(k, map, [&](const auto&) {
        k.fence_proxy_async_shared_cta();
        k.bar_sync();
    });
}

#elif PTXDSL_CASE == 1
// control-1: fences under conditions or in loops that run are the author's business; one writer needs no rendezvous

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    store_tile(k, map, [&](const auto&) {
        k.if_(n != 0u, [&] { k.fence_proxy_async(); });
        k.for_(2u, [&](px::reg<u32>) { k.fence_proxy_async(); });
        k.bar_sync();
    });
    const auto c = k.smem<tile>(1, "c");
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.st(k.shared_pointer<f32, 4>(c.stage(0).address()), k.mov<f32>(1.0f));
        k.fence_proxy_async_shared_cta();
        k.cp_async_bulk_tensor(map, px::coords(0u, 0u), c.stage(0));
        k.cp_async_bulk_commit_group();
        k.cp_async_bulk_wait_group_read<0>();
    });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F05

constexpr void body(hopper& k, map_t map) {
    store_tile(k, map, [&](const auto&) { k.bar_sync(); });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F05

constexpr void body(hopper& k, map_t map) {
    store_tile(k, map, [&](const auto&) { k.fence_proxy_async_shared_cta(); });
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-F05

constexpr void body(hopper& k, map_t map) {
    store_tile(k, map, [&](const auto& tid) {
        k.single_thread(tid == 0u, [&] { k.fence_proxy_async_shared_cta(); });  // one of the writers
        k.bar_sync();
    });
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-F05

constexpr void body(hopper& k, map_t map, px::reg<u32> n) {
    store_tile(k, map, [&](const auto&) {
        k.for_(n, [&](px::reg<u32>) { k.fence_proxy_async_shared_cta(); });  // may run zero times
        k.bar_sync();
    });
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
