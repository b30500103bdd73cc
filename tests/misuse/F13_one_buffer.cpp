// SPDX-License-Identifier: Apache-2.0
// F13: a copy into a buffer that threads may still read, or that was written through the generic proxy.
#include "buffer.hpp"

constexpr void body(hopper& k, map_t map, out_t out, px::reg<u32> n) {
    static_cast<void>(n);
#if PTXDSL_CASE == 0
    with_buffer(k, map, [&](const auto& b) {
        b.load();
        b.wait(0);
        k.st(out, b.read());
        k.bar_sync();  // all have read
        b.load();
        b.wait(1);
        k.st(out, b.read());
    });
#elif PTXDSL_CASE == 1
    // control-1: written, fenced by the writers, met
    with_buffer(k, map, [&](const auto& b) {
        k.st(k.tile_element(b.a.stage(0), b.tid & 63u, 0u), k.cvt<bf16, px::rn>(k.mov<f32>(0.0f)));
        k.fence_proxy_async();
        k.bar_sync();
        b.load();
        b.wait(0);
        k.st(out, b.read());
    });
#elif PTXDSL_CASE == 2
    // expect-2: PTXDSL-F13 "read"
    with_buffer(k, map, [&](const auto& b) {
        b.load();
        b.wait(0);
        k.st(out, b.read());
        b.load();
        b.wait(1);
        k.st(out, b.read());
    });
#elif PTXDSL_CASE == 3
    // expect-3: PTXDSL-F13 "read"
    with_buffer(k, map, [&](const auto& b) {  // the copy of the next round
        auto parity = k.mov<u32>(0);
        k.for_(n, [&](px::reg<u32>) {
            b.load();
            k.wait(b.full.stage(0), parity);
            k.st(out, b.read());
            parity ^= 1u;
        });
    });
#elif PTXDSL_CASE == 4
    // expect-4: PTXDSL-F13 "ordinary"
    with_buffer(k, map, [&](const auto& b) {
        k.st(k.tile_element(b.a.stage(0), b.tid & 63u, 0u), k.cvt<bf16, px::rn>(k.mov<f32>(0.0f)));
        k.bar_sync();
        b.load();
        b.wait(0);
        k.st(out, b.read());
    });
#endif
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, block>>();
