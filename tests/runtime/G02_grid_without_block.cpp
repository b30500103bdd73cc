// SPDX-License-Identifier: Apache-2.0
// A bare grid and a kernel that declares no block size.
// expect-1: PTXDSL-G02 "a bare grid launches a kernel that declares no block size"
// expect-2: PTXDSL-G02 "a bare grid launches a kernel that declares no block size"
// expect-3: PTXDSL-G02 "a bare grid launches a kernel that declares no block size"
// expect-4: PTXDSL-G02 "a bare grid launches a kernel that declares no block size"
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

namespace px = ptxdsl;

constexpr void body(px::builder<px::sm_90a>& k, px::global_ptr<px::f32> p, px::reg<px::u32> n) {
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.if_(i < n, [&] { k.st(p + i, 1.0f); });
}
constexpr auto ptx = px::assemble<px::kernel<"k", body>>();
constexpr auto bounded = px::assemble<px::kernel<"k", body, px::attributes{.maxntid = {128}}>>();
constexpr auto required = px::assemble<px::kernel<"k", body, px::attributes{.reqntid = {128}}>>();

#if PTXDSL_CASE == 0

void launches(const px::stream& s, px::device_ptr<px::f32> p, const px::loaded<decltype(bounded)>& l) {
    static_cast<void>(px::launch(s, ptx, px::launch_config{.grid = {4}, .block = {128}}, p, 512u));
    static_cast<void>(px::launch(s, required, px::grid{4}, p, 512u));
    static_cast<void>(l.launch(s, px::launch_config{.grid = {4}, .block = {64}}, p, 512u));
}

#elif PTXDSL_CASE == 1

void launches(const px::stream& s, px::device_ptr<px::f32> p) {
    static_cast<void>(px::launch(s, ptx, px::grid{4}, p, 512u));  // here-1
}

#elif PTXDSL_CASE == 2

void launches(const px::stream& s, px::device_ptr<px::f32> p) {
    static_cast<void>(px::launch(s, bounded, px::grid{4}, p, 512u));  // here-2
}

#elif PTXDSL_CASE == 3

void launches(px::stream_ref s, px::device_ptr<px::f32> p, const px::loaded<decltype(ptx)>& l) {
    static_cast<void>(l.launch(s, px::grid{4}, p, 512u));  // here-3
}

#elif PTXDSL_CASE == 4

void launches(px::stream_ref s, px::device_ptr<px::f32> p, const px::loaded<decltype(ptx)>& l) {
    static_cast<void>(px::launch(s, l, px::grid{4}, p, 512u));  // here-4
}

#endif
