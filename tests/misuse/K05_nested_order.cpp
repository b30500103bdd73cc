// SPDX-License-Identifier: Apache-2.0
// K05: two nested calls in one argument list that emit several instructions each: C++ does not fix their order.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

/// Emits two instructions.
constexpr auto clear_and_load(hopper& k, const px::global_ptr<f32>& p, const px::global_ptr<f32>& q) {
    k.st(p, 0.0f);
    return k.ld(q);
}

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    const auto x = clear_and_load(k, a, b);  // a name fixes the order
    const auto y = clear_and_load(k, b, a);
    k.st(out, k.add(x, y));
    k.st(out, k.add(k.ld(a), k.mul(k.ld(b), k.ld(b))));     // nested calls of the library are brought into order
    k.st(out + k.mov(px::tid.x), clear_and_load(k, a, b));  // one helper: what it emits beside its result comes first
    auto n = k.mov<u32>(0);
    k.st(out + (n += 1u), x);  // an assignment that is the only nested call
}

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-K05

constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    k.st(out, k.add(clear_and_load(k, a, b), clear_and_load(k, b, a)));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-K05

/// The result has a name in the helper: what was emitted behind it is noticed.
constexpr auto load_and_clear(hopper& k, const px::global_ptr<f32>& p) {
    auto x = k.ld(p);
    k.st(p, 0.0f);
    return x;
}
constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    k.st(out, k.add(load_and_clear(k, a), load_and_clear(k, b)));  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-K05

struct loaded {
    px::reg<f32> x;
};
constexpr loaded load_and_clear(hopper& k, const px::global_ptr<f32>& p) {
    loaded l{k.ld(p)};
    k.st(p, 0.0f);
    return l;
}
constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    k.st(out, k.add(load_and_clear(k, a).x, k.ld(b)));  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-K05

constexpr auto doubled(const px::reg<f32>& x) {
    const auto y = x + x;
    return y + x;
}
constexpr auto cleared(hopper& k, const px::global_ptr<f32>& p) {
    k.st(p, 0.0f);
    return k.ld(p);
}
constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    const auto x = k.ld(b);
    k.st(out, k.add(doubled(x), cleared(k, a)));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-K05

constexpr auto load_and_clear(hopper& k, const px::global_ptr<f32>& p) {
    auto x = k.ld(p);
    k.st(p, 0.0f);
    return x;
}
constexpr void body(hopper& k, px::global_ptr<f32> a, px::global_ptr<f32> b, px::global_ptr<f32> out) {
    k.st(out, k.add(k.ld(a), load_and_clear(k, b)));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-K05 "an assignment and another nested call"

constexpr void body(hopper& k, px::global_ptr<u32> out, px::reg<u32> first) {
    auto i = k.mov(first);
    k.st(out + i, i += 1u);  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-K05 "an assignment and another nested call"

constexpr void body(hopper& k, px::global_ptr<u32> out, px::reg<u32> first) {
    auto m = k.mov(first);
    k.st(out + m, m = k.add(first, 2u));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-K05 "an operand assigns the register that another one reads"

constexpr void body(hopper& k, px::global_ptr<f32> out, px::reg<f32> first) {
    auto x = k.mov(first);
    k.st(out, k.add(x, x += first));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-K05

/// Moves the index on and hands its register out: nothing tells the call that it was written.
constexpr auto& next(px::reg<u32>& i) {
    i += 1u;
    return i;
}
constexpr void body(hopper& k, px::global_ptr<u32> out, px::reg<u32> first) {
    auto i = k.mov(first);
    k.st(out + i, next(i));  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-K05 "an assignment and another nested call"

constexpr void body(hopper& k, px::global_ptr<f32> out, px::global_ptr<u32> steps) {
    auto first = k.mov<u32>(0);
    k.for_(first = k.ld(steps), k.ld(steps + 1), 1u, [&](px::reg<u32> i) { k.st(out + i, 0.0f); });  // here-10
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
