// SPDX-License-Identifier: Apache-2.0
// B01: pointer of one state space used with an instruction of another.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr float read(hopper&, px::shared_cluster_ptr<f32>) { return 0; }
constexpr void control(hopper& k, px::global_ptr<f32> p, px::reg<u32> rank) {
    const px::generic_ptr<f32> g = k.cvta(p);
    const px::shared_ptr<f32> s = k.to_shared(g);
    const px::shared_cluster_ptr<f32> c = s;  // the own block's shared memory is part of the cluster's
    static_cast<void>(read(k, s));
    k.st(c, k.ld(s) + k.ld(g) + k.ld(p));
    k.st(k.mapa(s, rank), k.ld(k.cvta_to<px::space::global>(g)));
    k.prefetch_L2(p);
    k.prefetch_L1(g);
    static_cast<void>(k.isspacep<px::space::shared>(g));
    static_cast<void>(k.atom_add(s, 1.0f));
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::reg<u64> a) {
    static_cast<void>(k.ld(a));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> s) {
    k.prefetch_L2(s);  // here-2
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    k.prefetchu_L1(p);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> s) {
    static_cast<void>(k.ldu(s));  // here-4
}

#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> s) {
    static_cast<void>(k.cvta(s));  // here-5
}

#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.cvta_to<px::space::global>(p));  // here-6
}

#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.mapa(p, 0u));  // here-7
}

#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::local_ptr<f32> p) {
    static_cast<void>(k.atom_add(p, 1.0f));  // here-8
}

#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-B01

constexpr void helper(px::global_ptr<f32>) {}
constexpr void wrong(hopper&, px::shared_ptr<f32> s) {
    helper(s);  // here-9
}

#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32> p) {
    static_cast<void>(k.isspacep<px::space::global>(p));  // here-10
}

#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> s, px::reg<f32> d) {
    k.inst<"ld.global.f32">(d, s);  // here-11
}

#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-B01

constexpr void wrong(hopper&, px::reg<u64> a) {
    static_cast<void>(px::as_ptr<px::space::shared, f32>(a));  // here-12
}

#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::shared_ptr<f32> s) {
    static_cast<void>(k.createpolicy_range<px::L2::evict_last>(s, 16u, 16u));  // here-13
}

#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    static_cast<void>(k.ldmatrix<px::x2>(p));  // here-14
}

#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<px::f16, 16> p) {
    k.ldmatrix(k.make_fragment<px::mma_b<px::f16, 16>>("b"), p);  // here-15
}

#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p, px::reg<px::b32> r) {
    k.stmatrix(p, r);  // here-16
}

#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    k.cp_async<px::cg, 16>(p, p);  // here-17
}

#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    k.cp_async<px::cg, 16>(p, k.smem_array<f32>(4, "s"));  // here-18
}

#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-B01

constexpr void wrong([[maybe_unused]] hopper& k, px::global_ptr<f32, 16> p) {
    k.cp_async_bulk(p, p, 16u);  // here-19
}

#endif
