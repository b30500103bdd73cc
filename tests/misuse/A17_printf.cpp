// SPDX-License-Identifier: Apache-2.0
// A17: a format of k.printf and its arguments that do not belong together.
#if PTXDSL_CASE != 13
#include <ptxdsl/dsl/printf.hpp>
#endif
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void control(hopper& k, px::global_ptr<const f32> in, px::reg<u32> n, px::reg<px::bf16x2> pair) {
    const auto x = k.ld(in);
    k.printf<"100%%\n">();
    k.printf<"%u %d %x %5.3u %*d\n">(n, n, 0x10, n, 8, n);  // signed or not: as with C's printf
    k.printf<"%f %+.3e %g\n">(x, k.cvt<px::f64>(x), k.cvt<px::bf16, px::rn>(x));
    k.printf<"%ld %llx %p %p\n">(k.mul_wide(n, n), 1LL, in, in + n);
    k.printf<"%hd %c\n">(k.cvt<px::s16>(n), 'x');
    k.printf<"%08x\n">(k.mov_b32<u32>(pair));  // the bits of what is no number
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A17 "another number of arguments"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%u of %u\n">(n);  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A17 "another number of arguments"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"n\n">(n);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A17 "%d" "at most 32 bits"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x) {
    k.printf<"%d\n">(x);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A17 "%f" "f32"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%f\n">(n);  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A17 "at most 32 bits" "64 bits: %ld"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::u64> n) {
    k.printf<"%u\n">(n);  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A17 "integer of 64 bits"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%lu\n">(n);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A17 "64-bit address"

constexpr void wrong([[maybe_unused]] hopper& k) {
    const auto a = k.smem_array<f32>(32, "a");
    k.printf<"%p\n">(a);  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A17 "lacks a conversion"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%b\n">(n);  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A17 "lacks a conversion"

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.printf<"100%">();  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A02 "predicate"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%d\n">(n == 0u);  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A14 "special register"

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.printf<"%d\n">(px::tid.x);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A17 "at most 32 arguments"

constexpr void wrong([[maybe_unused]] hopper& k) {
    k.printf_at<"%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d">(
        px::location::current(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31, 32, 33);  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A17 "#include <ptxdsl/dsl/printf.hpp>"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u32> n) {
    k.printf<"%u\n">(n);  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A17 "%d" "at most 32 bits"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<px::bf16x2> pair) {
    k.printf<"%d\n">(pair);  // here-14
}

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-A17 "lacks a conversion" "precision (a number)"

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<f32> x, px::reg<u32> n) {
    k.printf<"%.*f\n">(n, x);  // here-19: the device prints `%.*f`
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-K01 "k.if_"

constexpr void body(hopper& k, px::reg<u32> n) {
    k.at(n == 0u).printf<"zero\n">();  // here-15
}
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-K01 "vprintf"

constexpr px::reg<u32> twice(hopper& k, px::reg<u32> n) { return k.add(n, n); }
constexpr void body(hopper& k, px::reg<u32> n) {
    k.printf<"%u\n">(n);
    static_cast<void>(k.call<"vprintf", twice>(n));  // here-16
}
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-A06

constexpr void body(hopper& k) {
    px::reg<u32> n;
    k.printf<"%u\n">(n);  // here-17
}
constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-E01 "arrivals"

constexpr void body(hopper& k) {  // a kernel that prints is checked as before
    const auto bar = k.make_mbarrier_ring<"full">(1, px::arrivals<64>);
    const auto tid = k.mov(px::tid.x);
    k.single_thread(tid == 0u, [&] { k.mbarrier_init(bar.stage(0)); });
    k.bar_sync();
    k.printf<"thread %u arrives\n">(tid);
    k.mbarrier_arrive(bar.stage(0));  // here-18
    k.wait(bar.stage(0), 0u);
}
constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();

#endif
