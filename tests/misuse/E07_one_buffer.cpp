// SPDX-License-Identifier: Apache-2.0
// E07: what a copy brings is used before anybody has waited for it, or nobody ever waits.
#include "buffer.hpp"

constexpr void body(hopper& k, map_t map, out_t out, px::reg<u32> n) {
    static_cast<void>(n), static_cast<void>(map);
#if PTXDSL_CASE == 0
    with_buffer(k, map, [&](const auto& b) {
        b.load();
        k.nanosleep(20u);
        b.wait(0);
        k.st(out, b.read());
    });
#elif PTXDSL_CASE == 1
    // control-1: one thread waits, the others meet it
    with_buffer(k, map, [&](const auto& b) {
        b.load();
        k.single_thread(b.tid == 0u, [&] { b.wait(0); });
        k.bar_sync();
        k.st(out, b.read());
    });
#elif PTXDSL_CASE == 2
    // control-2: a case that copies, and another that reads what was there
    with_buffer(k, map, [&](const auto& b) {
        k.if_(n == 0u, [&] { b.load(); }).else_([&] { k.st(out, b.read()); });
        k.if_(n == 0u, [&] { b.wait(0); });
    });
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-E07 "read"
    with_buffer(k, map, [&](const auto& b) {
        b.load();
        const auto x = b.read();
        b.wait(0);
        k.st(out, x);
    });
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-E07 "read"
    with_buffer(k, map, [&](const auto& b) {
        const auto d = k.wgmma.descriptor(b.a);
        const auto acc = k.wgmma.make_accumulator<f32, 64>();
        b.load();
        k.wgmma.fence();
        k.wgmma.mma_async(acc, d, d, false);  // here-4
        k.wgmma.commit_group();
        k.wgmma.wait_group<0>();
        b.wait(0);
    });
#elif PTXDSL_CASE == 5
    // control-5: each thread waits for its own copies, then all meet
    const auto a = k.smem<tile>(1, "a");
    const auto tid = k.mov(px::tid.x);
    k.cp_async<px::cg, 16>(k.tile_line(a.stage(0), tid & 63u).chunk(0),
                           px::global_ptr<const bf16, 16>(k.program(), out.base()));
    k.cp_async_commit_group();
    k.cp_async_wait_group<0>();
    k.bar_sync();
    k.st(out, k.ld(k.tile_element(a.stage(0), 0u, tid)));
#elif PTXDSL_CASE == 6
    // expect-6: PTXDSL-E07 "cp.async"
    const auto a = k.smem<tile>(1, "a");
    const auto tid = k.mov(px::tid.x);
    k.cp_async<px::cg, 16>(k.tile_line(a.stage(0), tid & 63u).chunk(0),
                           px::global_ptr<const bf16, 16>(k.program(), out.base()));
    k.cp_async_commit_group();
    k.bar_sync();
    const auto x = k.ld(k.tile_element(a.stage(0), 0u, tid));  // here-6
    k.st(out, x);
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
