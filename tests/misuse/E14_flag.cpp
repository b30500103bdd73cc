// SPDX-License-Identifier: Apache-2.0
// E14: a flag in global memory that one thread sets back while others may still wait for it.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::global_ptr<u32> flags) {
    const auto flag = flags + k.mov(px::ctaid.x);
    k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
    k.bar_sync();  // all have seen it
    k.at(k.mov(px::tid.x) == 0u).st<px::relaxed, px::gpu>(flag, 0u);
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-E14 "flag"

constexpr void body(hopper& k, px::global_ptr<u32> flags) {
    const auto flag = flags + k.mov(px::ctaid.x);
    k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
    k.at(k.mov(px::tid.x) == 0u).st<px::relaxed, px::gpu>(flag, 0u);  // here-1
}

#elif PTXDSL_CASE == 2
// control-2: each thread has a flag of its own

constexpr void body(hopper& k, px::global_ptr<u32> flags) {
    const auto flag = flags + k.mov(px::tid.x);
    k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
    k.at(k.mov(px::tid.x) == 0u).st<px::relaxed, px::gpu>(flag, 0u);
}

#elif PTXDSL_CASE == 3
// control-3: the thread that waits tells the others at a barrier

constexpr void body(hopper& k, px::global_ptr<u32> flags) {
    const auto flag = flags + k.mov(px::ctaid.x);
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.do_while([&] { return k.ld<px::acquire, px::gpu>(flag) == 0u; });
        k.st<px::relaxed, px::gpu>(flag, 0u);
    });
    k.bar_sync();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
