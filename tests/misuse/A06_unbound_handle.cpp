// SPDX-License-Identifier: Apache-2.0
// A06: a handle that is used before anything has been assigned to it.
#include <ptxdsl/ptxdsl.hpp>

#include <string_view>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    px::reg<u32> x;
    px::reg<px::pred> p;
    px::global_ptr<u32> to;
    x = n + 1u, p = n == 0u, to = out + n;
    k.at(p).st(to, x);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A06 "handle"

constexpr void wrong(hopper& k, px::global_ptr<u32> out) {
    px::reg<u32> x;
    k.st(out, x);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A06 "handle"

constexpr void wrong(hopper& k, px::global_ptr<u32> out) {
    px::reg<u32> x;
    k.st(out, x + 1u);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A06 "condition"

constexpr void wrong(hopper& k, px::global_ptr<u32> out) {
    px::reg<px::pred> p;
    k.at(p).st(out, 1u);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A06 "condition"

constexpr void wrong(hopper& k, px::global_ptr<u32> out) {
    px::reg<px::pred> p;
    k.if_(px::unless(p), [&] { k.st(out, 1u); });  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A06 "handle"

constexpr void wrong(hopper& k, px::global_ptr<u32>) {
    px::global_ptr<u32> to;
    k.st(to, 1u);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A06 "handle"

constexpr void wrong(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    px::reg<u32> sum;
    k.for_(n, [&](px::reg<u32> i) { sum += i; });  // here-6
    k.st(out, sum);
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A06 "device function"

constexpr px::reg<u32> nothing(hopper&, px::reg<u32>) { return {}; }
constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) { k.st(out, k.call<"nothing", nothing>(n)); }
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 8
// control-8: a call that is assigned under a guard writes the handle's register, which had a value

constexpr void body(hopper& k, px::reg<u32> n, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    auto x = k.mov<u32>(0);
    x = k.at(tid == 0u).add(x, n);
    k.st(out + tid, x);
}
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
static_assert(ptx.text().find("@%p0 add.u32 %r2, %r2, %r0;") != std::string_view::npos);

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A06 "handle"

constexpr void wrong(hopper& k) {
    px::reg<px::bf16x2> v[4];
    const auto tiles = k.smem<px::tile<px::bf16, 16, 64>>(1, "tiles");
    const auto line = k.tile_line(tiles[0], k.and_(k.mov(px::tid.x), 15u));
    k.stmatrix(line.chunk(0), v[0], v[1], v[2], v[3]);  // here-9
}

#endif
