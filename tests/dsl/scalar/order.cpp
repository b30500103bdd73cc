// SPDX-License-Identifier: Apache-2.0
// Nested calls, which C++ may evaluate in any order, give one text: constant evaluation and run time are compared here,
// compilers and optimisation levels by ../determinism.py, which compares what this prints.

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>

namespace px = ptxdsl;
using px::bf16x2, px::f32, px::s32, px::u32, px::u64;

constexpr void nested(px::builder<px::sm_90a>& k, px::global_ptr<const f32, 16> x, px::global_ptr<f32, 16> y,
                      px::reg<u32> n, px::reg<f32> a) {
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.st(y + i, k.fma_rn(k.ld(x + i), k.ld(x + (i + 1u)), k.add(k.ld(x + (i + 2u)), k.mul<px::rn>(a, k.ld(x)))));
    k.st(y + k.shl(i, k.and_(n, 3u)), k.selp(k.ld(x), k.ld(x + 1), k.setp<px::lt>(k.add(i, n), k.sub(n, i))));
    k.st((y + i).as<px::packet<f32, 4>>().assume_aligned<16>(),
         px::vec{k.ld(x), k.ld(x + i), k.add(a, k.ld(x + 2)), a});
    k.st(y.as<bf16x2>(), k.cvt<bf16x2, px::rn>(px::hi(k.ld(x + i)), px::lo(k.ld(x + 7))));
    k.st(y.as<u64>(), k.mov_pack<u64>(k.popc(i), k.clz(k.add(i, n))));
    k.st(y, k.shfl_sync_bfly(k.ld(x), k.xor_(i, 1u), 31u, k.activemask()));
    k.red_add(k.cvta(y + i), k.mul<px::rn>(k.ld(x + 1), k.ld(x + 2)));
    k.st(y, (k.ld(x) + k.ld(x + 1)) * (k.ld(x + 2) - k.ld(x + 3)));
    k.st(y.as<u32>(), ((i << k.popc(n)) & (n >> 3u)) + (i ^ n) * k.mov(px::laneid));
    k.inst<"st.global.f32">(y + i, k.fma_rn(k.ld(x), k.ld(x + 1), k.ld(x + 2)));
    k.if_((k.ld(x) < k.ld(y)) && !(k.ld(x + 1) > k.ld(y + 1)),
          [&] { k.st(y + k.mov(px::tid.x), k.slct(a, k.ld(x), k.cvt<s32>(k.sub(i, n)))); });
    k.st(y, k.mov_b32<f32>(k.lop3<0x96>(k.mov(px::tid.x), k.mov(px::tid.y), k.mov(px::tid.z)).as<px::b32>()));
    k.st(y, k.atom_add((y + i), k.ld(x + i)));
    k.st(y, k.ld(k.to_generic(k.to_shared(k.cvta(y + i)))));
}

// Helper functions that emit several instructions: what stands beside the result comes first, in one order from all.
using hopper = px::builder<px::sm_90a>;
constexpr auto cube(hopper& k, px::reg<f32> x) {
    const auto square = x * x;
    return k.fma<px::rn>(square, x, square);
}
constexpr auto load(hopper& k, const px::global_ptr<const f32>& p) { return k.ld(p); }
constexpr auto clear_and_load(hopper& k, px::global_ptr<f32, 16> p, px::global_ptr<const f32, 16> q) {
    k.st(p, 0.0f);
    return k.ld(q);
}
constexpr auto wrapped(hopper& k, px::reg<u32> i) {
    const auto end = i + 7u;
    return k.and_(end, 31u);
}
constexpr auto is_inside(hopper& k, px::reg<u32> i, px::reg<u32> n) {
    const auto twice = i << 1u;
    return k.setp<px::lt>(twice, n);
}
constexpr auto clamped(hopper& k, px::reg<f32> x) {
    auto y = x * 2.0f;
    k.if_(y > 1.0f, [&] { y = 1.0f; });
    return k.add(y, 0.5f);
}
template <class T>
constexpr auto sum_of_squares(hopper& k, px::reg<T> a, px::reg<T> b) {
    const auto square = a * a;
    return k.template fma<px::rn>(b, b, square);
}

constexpr void helped(hopper& k, px::global_ptr<const f32, 16> x, px::global_ptr<f32, 16> y, px::reg<u32> n,
                      px::reg<f32> a) {
    const auto i = k.mov(px::tid.x);
    k.st(y + i, cube(k, a));
    k.st(y, k.ld(x) + cube(k, a));
    k.st(y, k.sub(cube(k, a), k.ld(x)));
    k.st(y, k.fma<px::rn>(k.ld(x), k.ld(x + 1), cube(k, a)));
    k.st(y, k.fma<px::rn>(k.ld(x), cube(k, a), k.ld(x + 1)));
    k.st(y, k.add(load(k, x), cube(k, a)));
    k.st(y + i, k.add(k.ld(x), k.mul<px::rn>(k.ld(x + 1), cube(k, k.ld(x + 2)))));
    k.st(y + i, clear_and_load(k, y, x));
    k.st(y + wrapped(k, i), k.ld(x + i));
    k.st(y + i, k.ld(x + wrapped(k, i)));
    k.st(y + i, k.selp(k.ld(x), k.ld(x + 1), is_inside(k, i, n)));
    k.st(y + i, clamped(k, a));
    k.st(y + i, sum_of_squares(k, a, k.ld(x)));
    const auto twice = [&](px::reg<f32> v) {
        const auto w = v + v;
        return w + v;
    };
    k.st(y + i, twice(k.ld(x)));
    k.for_(n, [&](px::reg<u32> j) {
        k.st(y + j, cube(k, k.ld(x + j)));
        const auto xj = x + j;
        k.st(y + j, k.add(load(k, xj), cube(k, a)));
    });
    k.st(y, k.add(load(k, x), load(k, x + 1)));  // one instruction each
}

constexpr auto compiled = px::assemble<px::kernel<"nested", nested>>();
constexpr auto compiled_helped = px::assemble<px::kernel<"helped", helped>>();

bool is_same(px::string_view compiled_text, const auto& late) {
    std::fputs(compiled_text.data(), stdout);
    if (late.ok() && late.text() == compiled_text) return true;
    std::puts("// run time differs:");
    std::puts(late.ok() ? late.text().data() : late.error().data());
    return false;
}

int main() {
    const bool same = is_same(compiled.text(), px::assemble_at_run_time("nested", &nested));
    return is_same(compiled_helped.text(), px::assemble_at_run_time("helped", &helped)) && same ? 0 : 1;
}
