// SPDX-License-Identifier: Apache-2.0
// H05: block barrier 0 that some live warps never reach on their path.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;

template <class A, class B>
constexpr void roles(hopper& k, const A& first, const B& others) {
    k.if_(k.mov(px::tid.x) < 32u, [&] { k.role(32, first); }).else_([&] { k.role(128, others); });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    roles(k, [&] { k.bar_sync(); }, [&] { k.bar_sync(); });  // both arms of a role branch have one
    k.bar_sync();
}

#elif PTXDSL_CASE == 1
// control-1: the other role has no more barriers and exits; only live warps count

constexpr void body(hopper& k) {
    k.bar_sync();
    roles(k, [&] { k.nanosleep(20u); }, [&] { k.bar_sync(); });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H05

constexpr void body(hopper& k) {
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.bar_sync();  // here-2
    });
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-H05 "128"

constexpr void body(hopper& k) {
    roles(
        k, [&] { k.nanosleep(20u); },
        [&] {
            k.bar_sync();  // here-3
        });
    k.bar_sync();
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-H05 "only 64 of them"

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 64u, [&] {
        k.bar_sync();  // here-4
    });
    k.bar_sync();
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-H05 "only 64 of them"

constexpr void body(hopper& k) {
    k.at(k.mov(px::tid.x) < 64u).bar_sync();  // here-5
    k.bar_sync();
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-H05 "only 64 of them"

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    k.if_(k.and_(tid >= 32u, tid < 96u), [&] {
        k.bar_sync();  // here-6
    });
    k.bar_sync();
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-H05 "only 96 of them"

constexpr void body(hopper& k) {
    const auto warp = k.shr(k.mov(px::tid.x), 5u);
    k.if_(k.or_(k.not_(warp > 1u), warp == 4u), [&] {
        k.bar_sync();  // here-7
    });
    k.bar_sync();
}

#elif PTXDSL_CASE == 8
// control-8: each warp comes to one of the two, whatever the condition is made of

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    const auto middle = k.and_(tid >= 32u, tid < 96u);
    k.if_(middle, [&] { k.bar_sync(); }).else_([&] { k.bar_sync(); });
    k.at(middle).bar_sync();
    k.at(!middle).bar_sync();
    k.bar_sync();
}

#elif PTXDSL_CASE == 9
// control-9: without .aligned one lane stands for its warp, whose others have nothing left to do

constexpr void body(hopper& k, px::global_ptr<u32> out) {
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 32u, [&] {
         k.single_thread(k.elect_sync(), [&] {
             k.st(out, 1u);
             k.inst<"barrier.cta.sync">(0u);
         });
     }).else_([&] {
        k.inst<"barrier.cta.sync">(0u);
        k.st(out + tid, k.ld(out));
    });
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-H05 "only 32 of them"

constexpr void body(hopper& k) {
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.inst<"barrier.cta.sync">(0u);  // here-10
    });
    k.bar_sync();
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {160}}>>();
