// SPDX-License-Identifier: Apache-2.0
// A05: a register of one kernel used in another.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<u32> i, px::global_ptr<u32> out) {
    px::reg<u32> late;
    late = i + 1u;
    k.st(out, late);
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    px::ir::program other;
    hopper elsewhere(other);
    const px::reg<u32> foreign = elsewhere.mov(px::tid.x);
    static_cast<void>(k.add(i, foreign));  // here-1
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> out) {
    px::ir::program other;
    hopper elsewhere(other);
    k.st(out, elsewhere.mov<u32>(1));  // here-2
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> i) {
    px::ir::program other;
    const px::reg<u32> foreign(other, other.new_reg(px::isa::scalar::u32));
    static_cast<void>(i + foreign);  // here-3
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> out) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto first = elsewhere.mov(px::tid.x) == 0u;
    k.at(first).st(out, 1u);  // here-4
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> out) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto first = elsewhere.mov(px::tid.x) == 0u;
    k.if_(first, [&] { k.st(out, 1u); });  // here-5
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A05 "A05_foreign_register.cpp:"

constexpr void wrong([[maybe_unused]] hopper& k) {
    px::ir::program other;
    hopper elsewhere(other);
    const auto first = elsewhere.mov(px::tid.x) == 0u;
    k.loop([&](px::loop_handle l) {
        l.break_if(first);  // here-6
    });
}
constexpr auto ptx = px::assemble<px::kernel<"wrong", wrong>>();

#endif
