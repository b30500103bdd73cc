// SPDX-License-Identifier: Apache-2.0
// A01, A02, A11, A14, K01: device functions, called by their name and by their address.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;
using blackwell = px::builder<px::sm_100a>;

constexpr px::reg<f32> dot(hopper& k, px::reg<f32> a, px::reg<f32> b) { return k.mul(a, b); }
constexpr px::reg<f32> sum(hopper& k, px::reg<f32> a, px::reg<f32> b) { return k.add(a, b); }
constexpr px::reg<f32> half(hopper& k, px::reg<f32> a) { return k.mul(a, 0.5f); }
constexpr px::reg<f32> newer(blackwell& k, px::reg<f32> a) { return k.mul(a, 0.5f); }
constexpr void rest(hopper& k, px::reg<u32> n) { k.nanosleep(n); }
using op = px::function_ptr<f32(f32, f32)>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::reg<f32> x, px::reg<u32> n, px::global_ptr<f32> out) {
    const px::reg<op> f = k.selp(k.address_of<"dot", dot>(), k.address_of<"sum", sum>(), n == 0u);
    const auto y = k.call(f, x, k.call<"half", half>(x));
    const auto z = k.call<px::callee<"dot", dot>, px::callee<"sum", sum>>(f, y, x);
    k.call(k.address_of<"rest", rest>(), n);
    k.at(n == 3u).call<"rest", rest>(n);
    k.st(out, z);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A01 "number of arguments"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call(k.address_of<"dot", dot>(), x));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A01 "number of arguments"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call(k.address_of<"dot", dot>(), x, x, x));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A01 "exactly its parameter's type"

constexpr void wrong(hopper& k, px::reg<f32> x, px::reg<u32> n) {
    static_cast<void>(k.call(k.address_of<"dot", dot>(), x, n));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A01 "exactly its parameter's type"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call(k.address_of<"dot", dot>(), x, 1.0f));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A14 "k.address_of"

constexpr void wrong(hopper& k, px::reg<px::u64> f, px::reg<f32> x) {
    static_cast<void>(k.call(f, x, x));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A01 "px::callee"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    const auto f = k.address_of<"dot", dot>();
    static_cast<void>(k.call<px::callee<"dot", dot>, px::callee<"half", half>>(f, x, x));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A01

constexpr void wrong(hopper& k, px::reg<u32> n) {  // addresses of functions of different types
    static_cast<void>(k.selp(k.address_of<"dot", dot>(), k.address_of<"half", half>(), n == 0u));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A11

constexpr void wrong(hopper& k, px::reg<f32>) {
    static_cast<void>(k.address_of<"newer", newer>());  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A11

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call<"newer", newer>(x));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A01 "number of arguments"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call<"dot", dot>(x));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A01 "exactly its parameter's type"

constexpr void wrong(hopper& k, px::reg<u32> n) {
    static_cast<void>(k.call<"half", half>(n));  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-K01 "twice"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    const auto y = k.call<"twice", dot>(x, x);
    static_cast<void>(k.call<"twice", sum>(y, y));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-K01 "wrong"

constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call<"wrong", dot>(x, x));  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A06

constexpr void wrong(hopper& k, px::reg<f32> x) {
    const px::reg<op> f = k.new_reg<op>();
    static_cast<void>(k.call(f, x, x));  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A06

constexpr void wrong(hopper& k, px::reg<f32> x) {
    const px::reg<f32> y = k.new_reg<f32>();
    static_cast<void>(k.call<"dot", dot>(x, y));  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A05

constexpr void wrong(hopper& k, px::reg<f32> x) {
    px::ir::program other;
    const px::reg<f32> y(other, other.new_reg(px::isa::scalar::f32));
    static_cast<void>(k.call<"dot", dot>(x, y));  // here-16
}

#elif PTXDSL_CASE == 17
// control-17: a function may call another, by its name and by its address

constexpr px::reg<f32> outer(hopper& k, px::reg<f32> x) {
    return k.call(k.address_of<"dot", dot>(), x, k.call<"half", half>(x));
}
constexpr void body(hopper& k, px::reg<f32> x, px::global_ptr<f32> out) { k.st(out, k.call<"outer", outer>(x)); }
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 18
// control-18: parameters by reference to const, functions that are noexcept

constexpr px::reg<f32> scaled(hopper& k, const px::reg<f32>& x, px::reg<f32> by) noexcept { return k.mul(x, by); }
constexpr px::reg<f32> doubled(hopper& k, const px::reg<f32>& x) { return k.add(x, x); }
constexpr void body(hopper& k, px::reg<f32> x, px::global_ptr<f32> out) {
    const px::reg<op> f = k.address_of<"scaled", scaled>();
    k.st(out, k.call(f, k.call<"doubled", doubled>(x), x));
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-A01 "an address goes as a register"

constexpr px::reg<f32> load(hopper& k, px::global_ptr<const f32> from) { return k.ld(from); }
constexpr void body(hopper& k, px::global_ptr<const f32> from) {
    static_cast<void>(k.call<"load", load>(from));  // here-19
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 20
// expect-20: PTXDSL-A02 "no predicates"

constexpr px::reg<px::pred> is_one(hopper&, px::reg<f32> x) { return x == 1.0f; }
constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call<"is_one", is_one>(x));  // here-20
}

#elif PTXDSL_CASE == 21
// expect-21: PTXDSL-A01 "a function and no lambda" "outside of the body"

constexpr auto twice = [](hopper& k, px::reg<f32> x) { return k.add(x, x); };
constexpr void wrong(hopper& k, px::reg<f32> x) {
    static_cast<void>(k.call<"twice", twice>(x));  // here-21
}

#endif
