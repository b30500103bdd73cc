// SPDX-License-Identifier: Apache-2.0
// H04: setmaxnreg not a multiple of 8 in 24..256; roles over the block's registers; dec above or inc below the entry
// count.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::u32;
using hopper = px::builder<px::sm_90a>;
constexpr px::attributes three{.reqntid = {384}, .minnctapersm = 1};  // 65536 / 384: 168 registers at entry

template <class A, class B>
constexpr void roles(hopper& k, const A& producer, const B& consumers) {
    k.if_(k.mov(px::tid.x) < 128u, [&] { k.role(128, producer); }).else_([&] { k.role(256, consumers); });
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k) {
    roles(k, [&] { k.setmaxnreg_dec<40>(); }, [&] { k.setmaxnreg_inc<232>(); });  // 64512 of 64512
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-H04

constexpr void body(hopper& k) {
    roles(
        k, [&] { k.setmaxnreg_dec<40>(); },
        [&] {
            k.setmaxnreg_inc<240>();  // here-1
        });
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H04

constexpr void body(hopper& k) {
    k.setmaxnreg_dec<44>();  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-H04

constexpr void body(hopper& k) {
    k.setmaxnreg_inc<264>();  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-H04 "start with 168"

constexpr void body(hopper& k) {
    roles(
        k,
        [&] {
            k.setmaxnreg_dec<176>();  // here-4
        },
        [&] {});
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-H04 "start with 168"

constexpr void body(hopper& k) {
    roles(
        k, [&] {},
        [&] {
            k.setmaxnreg_inc<160>();  // here-5
        });
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-H04 "128 x 40"

constexpr void body(hopper& k) {
    const auto group = k.shr(k.mov(px::tid.x), 7u);
    k.if_(group == 0u, [&] { k.setmaxnreg_dec<40>(); });
    k.if_(group == 1u, [&] { k.setmaxnreg_inc<240>(); });
    k.if_(group == 2u, [&] {
        k.setmaxnreg_inc<240>();  // here-6
    });
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-H04 "3 warps"

constexpr void body(hopper& k) {
    k.if_(k.mov(px::tid.x) < 32u, [&] {
        k.setmaxnreg_dec<40>();  // here-7
    });
}

#elif PTXDSL_CASE == 8
// control-8: what a warpgroup that does not ask keeps counts as well: 40, 168 and 232 are less than three times 168

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    k.if_(tid < 128u, [&] { k.setmaxnreg_dec<40>(); }).else_([&] {
        k.if_(tid >= 256u, [&] { k.setmaxnreg_inc<232>(); });
    });
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-H04 "3 warps"

constexpr void body(hopper& k) {
    k.at(k.mov(px::tid.x) < 32u).setmaxnreg_dec<40>();  // here-9
}

#elif PTXDSL_CASE == 10
// control-10: guards that whole warpgroups follow

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    k.at(tid < 128u).setmaxnreg_dec<40>();
    k.at(tid >= 256u).setmaxnreg_inc<232>();
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-H04 "128 x 40"

constexpr void body(hopper& k) {
    const auto tid = k.mov(px::tid.x);
    k.at(tid < 128u).setmaxnreg_dec<40>();
    k.at(k.and_(tid >= 128u, tid < 256u)).setmaxnreg_inc<240>();
    k.at(tid >= 256u).setmaxnreg_inc<240>();  // here-11
}

#endif
#if PTXDSL_CASE != 2 && PTXDSL_CASE != 3  // those are refused where they are written
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, three>>();
#endif
