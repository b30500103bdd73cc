// SPDX-License-Identifier: Apache-2.0
// A06: each handle that can be empty, or be made of an empty one, names no register of the kernel.
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace px = ptxdsl;
using px::bf16, px::bf16x2, px::f32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;
using pair = px::packet<f32, 2>;
using tile = px::tile<bf16, 64, 64>;

#if PTXDSL_CASE == 0

// Empty ones of these cannot be written.
static_assert(!std::is_default_constructible_v<px::tile_stage<tile>>);
static_assert(!std::is_default_constructible_v<px::shared_tile<tile>>);
static_assert(!std::is_default_constructible_v<px::mbarrier<px::ring<"full">>>);
static_assert(!std::is_default_constructible_v<px::mbarrier_ring<px::ring<"full">>>);
static_assert(!std::is_default_constructible_v<px::pipeline<"load">>);
static_assert(!std::is_default_constructible_v<px::pipeline_state<"load", px::pipeline_role::producer>>);
static_assert(!std::is_default_constructible_v<px::arrival_token<px::ring<"full">>>);
static_assert(!std::is_default_constructible_v<px::matrix_descriptor<tile>>);
static_assert(!std::is_default_constructible_v<px::accumulator<f32, 64>>);
static_assert(!std::is_default_constructible_v<px::a_fragment<bf16>>);
static_assert(!std::is_default_constructible_v<px::mma_a<bf16, 16, 16>>);
static_assert(!std::is_default_constructible_v<px::tma_map<tile>>);
static_assert(!std::is_default_constructible_v<px::tensor_memory<64, px::cta_group_1>>);
static_assert(!std::is_default_constructible_v<px::tmem_registers<f32, 4>>);

constexpr void body(hopper& k, px::global_ptr<pair, 8> to, px::reg<u32> n, px::reg<f32> a) {
    px::vec<f32, 2> v, w;
    v = k.ld(to), w = px::vec{a, v[0]};
    v[1] = a;
    k.st(to, v), k.st(to + 1, w);
    px::reg<u32> i;
    i = n;
    px::global_ptr<pair, 8> p;
    p = to;
    k.st((p + i).assume_aligned<8>(), px::vec{v[1], a});
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A06 "operand 2 of st is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<pair, 8> to) {
    px::vec<f32, 2> v;
    k.st(to, v);  // here-1
}
#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-A06 "operand 2 of st is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<pair, 8> to, px::reg<f32> a) {
    px::reg<f32> b;
    k.st(to, px::vec{a, b});  // here-2
}
#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A06 "operand 2 of add is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<f32> to, px::reg<f32> a) {
    px::vec<f32, 2> v;
    k.st(to, k.add(v[1], a));  // here-3
}
#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-A06 "what is assigned to here is part of a handle without registers"
constexpr void wrong(hopper& k, px::global_ptr<pair, 8> to, px::reg<f32> a) {
    px::vec<f32, 2> v;
    v[0] = k.add(a, 1.0f);  // here-4
    k.st(to, v);
}
#elif PTXDSL_CASE == 5
// expect-5: PTXDSL-A06 "operand 4 of mad is a handle without a register"
constexpr void wrong(hopper& k, px::reg<u32> n, px::reg<f32> a) {
    px::global_ptr<f32> p;
    k.st(p + n, a);  // here-5
}
#elif PTXDSL_CASE == 6
// expect-6: PTXDSL-A06 "operand 1 of st is a handle without a register"
constexpr void wrong(hopper& k, px::reg<f32> a) {
    px::global_ptr<px::b8> p;
    k.st((p + 4).as<f32>().assume_aligned<4>(), a);  // here-6
}
#elif PTXDSL_CASE == 7
// expect-7: PTXDSL-A06 "operand 2 of mad is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<f32> p, px::reg<f32> a) {
    px::reg<u32> i;
    k.st(p + i, a);  // here-7
}
#elif PTXDSL_CASE == 8
// expect-8: PTXDSL-A06 "operand 2 of mad is a handle without a register"
constexpr void wrong(hopper& k) {
    px::reg<u32> slot;
    const auto tiles = k.smem<tile>(2, "tiles");
    static_cast<void>(k.ld(tiles[slot].at(0, 0)));  // here-8
}
#elif PTXDSL_CASE == 9
// expect-9: PTXDSL-A06 "operand 2 of mad is a handle without a register"
constexpr void wrong(hopper& k) {
    px::reg<u32> slot;
    const auto full = k.make_mbarrier_ring<"full">(2, px::arrivals<1>);
    k.mbarrier_init(full[slot]);  // here-9
}
#elif PTXDSL_CASE == 10
// expect-10: PTXDSL-A06 "is a handle without a register"
constexpr void wrong(hopper& k) {
    px::reg<u32> parity;
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals<1>);
    static_cast<void>(k.mbarrier_try_wait_parity(full.stage(0), parity));  // here-10
}
#elif PTXDSL_CASE == 11
// expect-11: PTXDSL-A06 "operand 3 of st is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<f32> p, px::reg<f32> a) {
    px::reg<px::b64> policy;
    k.st(p, a, policy);  // here-11
}
#elif PTXDSL_CASE == 12
// expect-12: PTXDSL-A06 "is a handle without a register"
constexpr void wrong(hopper& k, px::reg<bf16x2> r) {
    px::reg<bf16x2> none;
    const px::mma_a<bf16, 16, 16> a(r, r, none, r);
    const px::mma_b<bf16, 16> b(r, r);
    const auto c = k.make_fragment<px::mma_acc<f32>>();
    k.mma_sync(c, a, b, c);  // here-12
}
#elif PTXDSL_CASE == 13
// expect-13: PTXDSL-A06 "operand 2 of ld is a handle without a register"
constexpr void wrong(hopper& k) {
    px::reg<u64> address;
    static_cast<void>(k.ld(px::as_ptr<px::space::global, f32>(address)));  // here-13
}
#elif PTXDSL_CASE == 14
// expect-14: PTXDSL-A06 "operand 2 of mov is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<u32> none;
    auto x = k.add(n, 1u);
    x = none;
    k.st(to, x);
}
#elif PTXDSL_CASE == 15
// expect-15: PTXDSL-A06 "operand 2 of add is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<px::s32> none;
    k.st(to, k.add(none.as<u32>().named("x"), n));  // here-15
}
#elif PTXDSL_CASE == 16
// expect-16: PTXDSL-A06 "is a handle without a register"
constexpr void wrong(hopper& k, px::reg<u64> n) {
    px::global_ptr<f32> p;
    k.st(p.byte_offset(n), 1.0f);  // here-16
}
#elif PTXDSL_CASE == 17
// expect-17: PTXDSL-A06 "is a handle without a register"
constexpr void wrong(hopper& k, px::global_ptr<u32> to) {
    px::reg<u32> none;
    k.st(to, 0u);
    k.switch_(none, px::case_<0>([&] { k.st(to, 1u); }), px::default_([&] { k.st(to, 2u); }));
}
#elif PTXDSL_CASE == 18
// expect-18: PTXDSL-A06 "a literal was assigned to it before it had one, and is lost"
constexpr void wrong(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<u32> m;
    k.if_(n == 0u, [&] { m = 1u; }).else_([&] { m = n; });
    k.st(to, m);
}
#elif PTXDSL_CASE == 19
// expect-19: PTXDSL-A06 "operand 2 of st" "a literal was assigned to it before it had one, and is lost"
constexpr void wrong(hopper& k, px::global_ptr<u32> to) {
    px::reg<u32> m;
    m = 3u;
    k.st(to, m);  // here-19
}
#elif PTXDSL_CASE == 20
// expect-20: PTXDSL-A06 "is lost"
constexpr void wrong(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<u32> m;
    k.st(to, 0u);
    m += 3u;
    m = n;
    k.st(to, m);
}
#elif PTXDSL_CASE == 21
// control-21: a literal for a handle that has a register, or gets one first
constexpr void body(hopper& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<u32> m;
    m = n;
    m = 3u;
    auto x = k.new_reg<u32>();
    k.if_(n == 0u, [&] { x = 1u; }).else_([&] { x = n; });
    k.st(to, m + x);
}
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body>>();
#endif
