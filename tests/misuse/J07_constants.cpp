// SPDX-License-Identifier: Apache-2.0
// J07: the constants of a specialised kernel are part of its type; their number follows from the body.
#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

constexpr void scale(hopper& k, u32 unroll, px::global_ptr<f32> data) {
    for (u32 i = 0; i < unroll; ++i) k.st(data + i, k.ld(data + i) * 2.0f);
}

#if PTXDSL_CASE == 0

using by_two = px::kernel<"scale", scale, px::attributes{}, 2u>;
using by_four = px::kernel<"scale", scale, px::attributes{}, 4u>;
static_assert(!std::is_same_v<by_two, by_four>);  // another constant, another kernel: a launch cannot mix them up
static_assert(px::assemble<by_two>().text() != px::assemble<by_four>().text());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-J07

auto without_its_constant() {
    return px::assemble_at_run_time("scale", &scale, px::attributes{});  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-J07

auto with_one_too_many() {
    return px::assemble_at_run_time("scale", &scale, px::attributes{}, 2u, 4u);  // here-2
}

#endif
