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

inline auto late() {  // a function by its name or its address, a lambda
    const auto twice = [](hopper& k, px::global_ptr<f32> data) { scale(k, 2, data); };
    return px::assemble_at_run_time("scale", scale, px::attributes{}, 2u) &&
           px::assemble_at_run_time("scale", &scale, px::attributes{}, 2u) && px::assemble_at_run_time("scale", twice);
}

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

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-J07 "J07_constants.cpp:47" "begins here"

constexpr px::reg<u32> with_a_result(hopper& k, px::reg<u32> n) {
    return k.add(n, n);  // here-3
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", with_a_result>>();

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-J07

constexpr void builder_by_value(hopper, px::global_ptr<f32>) {}
constexpr auto ptx = px::assemble<px::kernel<"wrong", builder_by_value>>();  // here-4

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-J07

constexpr auto ptx = px::assemble<px::kernel<"wrong", [](auto& k) { k.trap(); }>>();  // here-5

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-J07

auto late_and_generic() {
    return px::assemble_at_run_time("wrong", [](auto& k) { k.trap(); });  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-J07 "not constexpr" "px::assemble_at_run_time"

void not_constexpr(hopper& k, px::global_ptr<f32> data) { k.st(data, 1.0f); }
constexpr auto ptx = px::assemble<px::kernel<"wrong", not_constexpr>>();  // here-7

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-J07 "cannot be evaluated at compile time"

u32 chosen_at_run_time();
constexpr auto body = [](hopper& k, px::global_ptr<u32> data) { k.st(data, chosen_at_run_time()); };
constexpr auto ptx = px::assemble<px::kernel<"wrong", body>>();  // here-8

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-J07 "a note below has the line"

constexpr void past_the_end(hopper& k, px::global_ptr<u32> data) {
    u32 table[2] = {1, 2};
    for (u32 i = 0; i < 3; ++i) k.st(data + i, table[i]);
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", past_the_end>>();  // here-9

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-J07

auto late_result() {
    return px::assemble_at_run_time("wrong", [](hopper& k, px::reg<u32> n) { return k.add(n, n); });  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-J07 "begins here"

constexpr auto ptx = px::assemble<px::kernel<"wrong", [](hopper& k, px::reg<u32> n) {
    const auto twice = k.add(n, n);  // here-12
    return twice;
}>>();

#elif PTXDSL_CASE == 10
// control-10: such a body is assembled when the program runs

u32 chosen_at_run_time();
auto late() {
    return px::assemble_at_run_time(
        "late", +[](hopper& k, px::global_ptr<u32> data) { k.st(data, chosen_at_run_time()); });
}

#endif
