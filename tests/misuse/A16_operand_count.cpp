// SPDX-License-Identifier: Apache-2.0
// A16: a typed call with another number of operands. (operand_counts.py asks all calls on registers and addresses.)
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::reg<f32> x, px::reg<u32> n, px::global_ptr<f32> p) {
    auto y = k.add(x, x);
    y = k.fma<px::rn>(x, y, k.ld(p));
    k.st(p, y);
    k.st(p, y, k.createpolicy_fractional<px::L2::evict_last>());  // an operand that may be left out
    k.bar_sync();
    k.bar_sync(1u, 128u);
    static_cast<void>(k.bar_red_popc(n == 0u));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control, px::attributes{.reqntid = {128}}>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A16 "an operand too many" "d = k.add(a, b)"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    const auto d = k.new_reg<f32>();
    static_cast<void>(k.add(d, x, x));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A16 "another operand"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    static_cast<void>(k.mad_lo(n, n));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A16 "another operand"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.st(p);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A16 "an operand too many"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.cp_async_bulk_commit_group(n);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A16 "an operand too many"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.ret(n);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A16 "red wants another operand"

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<u32> p) {
    k.red_add(p);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A14 "k.cvt<T>(x)"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    static_cast<void>(k.mov<u32>(x));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B01 "ld takes an address"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32>) {
    static_cast<void>(k.ld());  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A16 "an operand too many"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32>) {
    k.bar_sync("all of them");  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A14 "truth table"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    static_cast<void>(k.lop3(n, n, n));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A16 "an operand too many" "cache policy"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.st(px::global_ptr<u32>(), n, 1);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A16 "an operand too many" "cache policy"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    static_cast<void>(k.atom_add(px::global_ptr<u32>(), n, 0u));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A16 "an operand too many" "cache policy"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32>) {
    static_cast<void>(k.ld(px::global_ptr<u32>(), 1));  // here-13
}

#endif
