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

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
