// SPDX-License-Identifier: Apache-2.0
// Every typed scalar call with every legal combination of types, for both targets, through ptxas.
//
// Options and exit codes: ../all_calls.hpp.

#include "../all_calls.hpp"

#include "made_calls.hpp"

#include <ptxdsl/dsl/printf.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>
#include <utility>

namespace px = ptxdsl;
using namespace px;         // NOLINT(google-build-using-namespace)
using namespace all_calls;  // NOLINT(google-build-using-namespace)

namespace {

template <target Tgt>
void integers(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    each<u16, u32, u64, s16, s32, s64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> a = s.template get<T>(), b = s.template get<T>(), c = s.template get<T>();
        s.put(k.add(a, b)), s.put(k.sub(a, b)), s.put(k.mul_lo(a, b)), s.put(k.mul_hi(a, 3)), s.put(k.mad_lo(a, b, c)),
            s.put(k.mad_hi(a, b, c));
        s.put(k.sad(a, b, c)), s.put(k.div(a, b)), s.put(k.rem(a, b)), s.put(k.min(a, b)), s.put(k.max(a, b));
        s.put(k.mov(a)), s.put(k.template mov<T>(7)), s.put(k.and_(a, b)), s.put(k.or_(a, 1)), s.put(k.xor_(a, b)),
            s.put(k.not_(a)), s.put(k.cnot(a));
        s.put(k.shl(a, 3u)), s.put(k.shr(a, s.template get<u32>())), s.put(k.selp(a, b, s.template get<pred>())),
            s.put(k.selp(a, 1, unless(s.template get<pred>())));
        s.put(k.slct(a, b, s.template get<s32>())), s.put(k.slct(a, b, s.template get<f32>())),
            s.put(k.template slct<px::ftz>(a, b, s.template get<f32>()));
        s.put(k.template setp<px::eq>(a, b)), s.put(k.template setp<px::lt>(a, 5)),
            s.put(k.template setp<px::ge, px::and_>(a, b, s.template get<pred>()));
        const auto [p, q] = k.template setp_pq<px::le>(a, b);
        s.put(p), s.put(q);
        s.put(k.template setp_pq<px::le, px::xor_>(a, b, unless(p)).q);
        each<u32, s32, f32>([&](auto to) {
            using D = typename decltype(to)::t;
            s.put(k.template set<D, px::gt>(a, b)), s.put(k.template set<D, px::ne, px::or_>(a, b, p));
        });
        s.put(a + b), s.put(a - b), s.put(a * b), s.put(a / b), s.put(a % b), s.put(a & b), s.put(a | b), s.put(a ^ b),
            s.put(~a), s.put(a << 2u), s.put(a >> 2u);
        s.put((a == b) && (a < b || a > 1)), s.put(!(a <= b)), s.put(a >= b), s.put(a != b), s.put(1 + a);
        reg<T> x = k.mov(a);
        x += b, x -= b, x *= b, x &= b, x |= b, x ^= b, x <<= 1u, x >>= 1u;
        s.put(x);
        if constexpr (bits_of<T> != 64) s.put(k.mul_wide(a, b)), s.put(k.mad_wide(a, b, k.mul_wide(a, 3)));
        if constexpr (signed_integer<T>) s.put(k.abs(a)), s.put(k.neg(a)), s.put(-a);
        if constexpr (unsigned_integer<T>) s.put(k.template setp<px::lo>(a, b)), s.put(k.template setp<px::hs>(a, b));
    });
    each<u32, s32, u64, s64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> a = s.template get<T>(), b = s.template get<T>();
        const reg<u32> n = s.template get<u32>();
        s.put(k.popc(a)), s.put(k.clz(a)), s.put(k.bfind(a)), s.put(k.template bfind<px::shiftamt>(a)),
            s.put(k.brev(a)), s.put(k.bfe(a, n, 8u)), s.put(k.bfi(a, b, 4u, n));
        s.put(k.add_cc(a, b)), s.put(k.template addc<px::cc>(a, b)), s.put(k.addc(a, b)), s.put(k.sub_cc(a, b)),
            s.put(k.template subc<px::cc>(a, b)), s.put(k.subc(a, b));
        s.put(k.mad_lo_cc(a, b, a)), s.put(k.template madc_lo<px::cc>(a, b, a)), s.put(k.madc_lo(a, b, a));
        s.put(k.mad_hi_cc(a, b, a)), s.put(k.template madc_hi<px::cc>(a, b, a)), s.put(k.madc_hi(a, b, a));
    });
    each<u32, s32>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> a = s.template get<T>(), b = s.template get<T>();
        s.put(k.mul24_lo(a, b)), s.put(k.mul24_hi(a, b)), s.put(k.mad24_lo(a, b, a)), s.put(k.mad24_hi(a, b, a)),
            s.put(k.szext_clamp(a, 5u)), s.put(k.szext_wrap(a, 5u));
        each<u32, s32>([&](auto other) {
            using U = typename decltype(other)::t;
            using R = std::conditional_t<std::is_same_v<T, u32> && std::is_same_v<U, u32>, u32, s32>;
            const reg<U> c = s.template get<U>();
            s.put(k.dp4a(a, c, s.template get<R>())), s.put(k.dp2a_lo(a, c, s.template get<R>())),
                s.put(k.dp2a_hi(a, c, s.template get<R>()));
        });
    });
    const reg<s32> i = s.template get<s32>();
    const reg<u32> u = s.template get<u32>();
    s.put(k.template add<px::sat>(i, i)), s.put(k.template sub<px::sat>(i, i)),
        s.put(k.template mad_hi<px::sat>(i, i, i)), s.put(k.template mad24_hi<px::sat>(i, i, i));
    s.put(k.template min<px::relu>(i, i)), s.put(k.template max<px::relu>(i, i));
    s.put(k.fns(u, 0u, 1)), s.put(k.bmsk_clamp(u, 4u)), s.put(k.bmsk_wrap(0u, u));
    each<u32, s32, b32, f16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> a = s.template get<T>(), b = s.template get<T>();
        s.put(k.template lop3<0xE8>(a, b, a)), s.put(k.template lop3_and<0x96>(a, b, a, s.template get<pred>()).d),
            s.put(k.template lop3_or<0x96>(a, b, a, unless(s.template get<pred>())).p);
        s.put(k.shf_l_clamp(a, b, u)), s.put(k.shf_l_wrap(a, b, 3u)), s.put(k.shf_r_clamp(a, b, u)),
            s.put(k.shf_r_wrap(a, b, u));
        s.put(k.prmt(a, b, 0x5410u)), s.put(k.template prmt<px::f4e>(a, b, u)),
            s.put(k.template prmt<px::rc16>(a, b, u));
    });
    each<u16x2, s16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> a = s.template get<T>(), b = s.template get<T>();
        s.put(k.add(a, b)), s.put(k.min(a, b)), s.put(k.max(a, b));
    });
    s.put(k.template min<px::relu>(s.template get<s16x2>(), s.template get<s16x2>()));
    const reg<pred> p = s.template get<pred>(), q = s.template get<pred>();
    s.put(k.and_(p, q)), s.put(k.or_(p, q)), s.put(k.xor_(p, q)), s.put(k.not_(p)), s.put(p ^ q),
        s.put(k.template mov<pred>(true)), s.put(k.mov(p));
}

template <target Tgt>
void floats(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const reg<f32> a = s.template get<f32>(), b = s.template get<f32>(), c = s.template get<f32>();
    const reg<f64> x = s.template get<f64>(), y = s.template get<f64>(), z = s.template get<f64>();
    const reg<pred> p = s.template get<pred>();
    s.put(k.add(a, b)), s.put(k.template add<px::rn>(a, 1.0f)), s.put(k.template add<px::rz, px::ftz, px::sat>(a, b)),
        s.put(k.template sub<px::rm>(a, b)), s.put(k.template mul<px::rp>(a, b));
    s.put(k.template fma<px::rn>(a, b, c)), s.put(k.fma_rn(a, b, 2.0f)),
        s.put(k.template fma<px::rz, px::ftz, px::sat>(a, b, c)), s.put(k.template mad<px::rn>(a, b, c));
    s.put(k.template div<px::approx>(a, b)), s.put(k.template div<px::full, px::ftz>(a, b)),
        s.put(k.template div<px::rn>(a, b));
    s.put(k.abs(a)), s.put(k.template neg<px::ftz>(a)), s.put(k.template min<px::ftz, px::NaN>(a, b)),
        s.put(k.template max<px::NaN, px::xorsign, px::abs>(a, b)), s.put(k.min(a, b)), s.put(k.max(a, 0.0f));
    s.put(k.template rcp<px::approx, px::ftz>(a)), s.put(k.template rcp<px::rn>(a)),
        s.put(k.template sqrt<px::approx>(a)), s.put(k.template sqrt<px::rn, px::ftz>(a)),
        s.put(k.template rsqrt<px::approx>(a));
    s.put(k.template sin<px::approx>(a)), s.put(k.template cos<px::approx, px::ftz>(a)),
        s.put(k.template lg2<px::approx>(a)), s.put(k.template ex2<px::approx, px::ftz>(a)),
        s.put(k.template tanh<px::approx>(a));
    s.put(k.template testp<px::finite>(a)), s.put(k.template testp<px::subnormal>(x)), s.put(k.copysign(a, b)),
        s.put(k.copysign(x, y));
    s.put(k.template add<px::rn>(x, y)), s.put(k.sub(x, 1.0)), s.put(k.template mul<px::rz>(x, y)),
        s.put(k.template fma<px::rn>(x, y, z)), s.put(k.template mad<px::rn>(x, y, z)),
        s.put(k.template div<px::rn>(x, y));
    s.put(k.abs(x)), s.put(k.neg(x)), s.put(k.min(x, y)), s.put(k.max(x, y)), s.put(k.template rcp<px::rn>(x)),
        s.put(k.template rcp<px::approx, px::ftz>(x)), s.put(k.template sqrt<px::rn>(x)),
        s.put(k.template rsqrt<px::approx>(x));
    each<f32, f64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> u = s.template get<T>(), v = s.template get<T>();
        s.put(k.template setp<px::lt>(u, v)), s.put(k.template setp<px::geu, px::or_>(u, v, p)),
            s.put(k.template setp<px::num>(u, v)), s.put(k.template setp_pq<px::nan>(u, v).q);
        each<u32, s32, f32>([&](auto to) { s.put(k.template set<typename decltype(to)::t, px::ltu>(u, v)); });
        s.put(k.selp(u, v, p)), s.put(k.slct(u, v, a)), s.put(u + v), s.put(u - v), s.put(u * v), s.put(u / v),
            s.put(-u), s.put(u < v), s.put(u != v), s.put(k.mov(u));
    });
    s.put(k.template setp<px::lt, px::and_, px::ftz>(a, b, p)), s.put(k.template mov<f32>(1.5f)),
        s.put(k.template mov<f64>(1.5));
    each<f16, f16x2, bf16, bf16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        constexpr bool brain = std::is_same_v<T, bf16> || std::is_same_v<T, bf16x2>, pair = bits_of<T> == 32;
        const reg<T> u = s.template get<T>(), v = s.template get<T>();
        s.put(k.add(u, v)), s.put(k.template sub<px::rn>(u, v)), s.put(k.mul(u, v)), s.put(k.fma_rn(u, v, u)),
            s.put(k.template fma<px::rn, px::relu>(u, v, u));
        s.put(k.template fma<px::rn, px::oob, px::relu>(u, v, u)), s.put(k.neg(u)), s.put(k.abs(u)), s.put(k.min(u, v)),
            s.put(k.template max<px::NaN>(u, v)), s.put(k.template min<px::NaN, px::xorsign, px::abs>(u, v));
        s.put(k.template tanh<px::approx>(u));
        if constexpr (brain)
            s.put(k.template ex2<px::approx, px::ftz>(u));
        else
            s.put(k.template ex2<px::approx>(u)), s.put(k.template add<px::ftz, px::sat>(u, v)),
                s.put(k.template neg<px::ftz>(u));
        if constexpr (pair)
            s.put(k.template setp_pq<px::lt>(u, v).q), s.put(k.template setp_pq<px::lt, px::and_>(u, v, p).q),
                s.put(k.template set<T, px::lt>(u, v)), s.put(k.template set<u32, px::lt>(u, v));
        else
            s.put(k.template setp<px::lt>(u, v)), s.put(k.template setp<px::lt, px::and_>(u, v, p)),
                s.put(k.template set<T, px::lt>(u, v)), s.put(k.template set<u16, px::lt>(u, v)), s.put(u < v);
        s.put(k.selp(u, v, p)), s.put(k.mov(u)), s.put(u + v), s.put(u * v), s.put(u - v), s.put(-u);
        if constexpr (pair)
            s.put(k.template mov<T>(0x3F803F80u));
        else
            s.put(k.template mov<T>(1.0f));
    });
    if constexpr (is_blackwell(Tgt)) {
        const reg<f32x2> u = s.template get<f32x2>(), v = s.template get<f32x2>();
        s.put(k.template add<px::rn>(u, v)), s.put(k.template sub<px::rz, px::ftz>(u, v)), s.put(k.mul(u, v)),
            s.put(k.fma_rn(u, v, u));
        s.put(k.min(a, b, c)), s.put(k.template max<px::ftz, px::NaN, px::abs>(a, b, c));
        each<f16, bf16>([&](auto tag) {
            using T = typename decltype(tag)::t;
            const reg<T> h = s.template get<T>();
            s.put(k.template add<px::rn>(h, a)), s.put(k.template sub<px::rz, px::sat>(h, a)), s.put(k.add(h, a)),
                s.put(k.fma_rn(h, h, a));
        });
    }
}

template <target Tgt>
void conversions(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    each<u8, u16, u32, u64, s8, s16, s32, s64>([&](auto from) {
        using A = typename decltype(from)::t;
        const reg<A> a = s.template get<A>();
        each<u8, u16, u32, u64, s8, s16, s32, s64>(
            [&](auto to) { s.put(k.template cvt<typename decltype(to)::t>(a)); });
        each<f16, f32, f64>([&](auto to) {
            using D = typename decltype(to)::t;
            s.put(k.template cvt<D, px::rn>(a)), s.put(k.template cvt<D, px::rz, px::sat>(a));
        });
        if constexpr (bits_of<A> >= 16) s.put(k.template cvt<bf16, px::rn>(a));
    });
    s.put(k.template cvt<u8, px::sat>(s.template get<s32>())),
        s.put(k.template cvt<s16, px::sat>(s.template get<s64>())),
        s.put(k.template cvt<u32, px::sat>(s.template get<s8>()));
    each<f16, f32, f64>([&](auto from) {
        using A = typename decltype(from)::t;
        const reg<A> a = s.template get<A>();
        each<u8, u16, u32, u64, s8, s16, s32, s64>([&](auto to) {
            using D = typename decltype(to)::t;
            s.put(k.template cvt<D, px::rni>(a)), s.put(k.template cvt<D, px::rzi, px::sat>(a));
        });
    });
    each<u16, u32, u64, s16, s32, s64>(
        [&](auto to) { s.put(k.template cvt<typename decltype(to)::t, px::rzi>(s.template get<bf16>())); });
    const reg<f32> f = s.template get<f32>(), g = s.template get<f32>();
    const reg<f64> d = s.template get<f64>();
    const reg<f16> h = s.template get<f16>();
    const reg<bf16> b = s.template get<bf16>();
    s.put(k.template cvt<f16, px::rn>(f)), s.put(k.template cvt<f16, px::rz, px::ftz, px::sat>(f)),
        s.put(k.template cvt<f16, px::rn>(d)), s.put(k.template cvt<bf16, px::rn>(f)),
        s.put(k.template cvt<bf16, px::rn>(d)), s.put(k.template cvt<bf16, px::rn>(h));
    s.put(k.template cvt<f16, px::rn>(b)), s.put(k.template cvt<f32>(h)), s.put(k.template cvt<f32, px::ftz>(h)),
        s.put(k.template cvt<f32>(b)), s.put(k.template cvt<f32, px::rn>(d)), s.put(k.template cvt<f32, px::rni>(f)),
        s.put(k.template cvt<f64>(f)), s.put(k.template cvt<f64>(h)), s.put(k.template cvt<f64>(b)),
        s.put(k.template cvt<f64, px::rmi>(d));
    s.put(k.template cvt<f16, px::rn, px::relu>(f)), s.put(k.template cvt<bf16, px::rz, px::relu, px::satfinite>(f)),
        s.put(k.template cvt<tf32, px::rna>(f)), s.put(k.template cvt<tf32, px::rn, px::relu>(f));
    s.put(k.template cvt<f16x2, px::rn>(px::hi(f), px::lo(g))),
        s.put(k.template cvt<bf16x2, px::rn, px::relu>(px::hi(f), px::lo(0.0f))),
        s.put(k.template cvt<bf16x2, px::rz, px::satfinite>(px::hi(f), px::lo(g)));
    s.put(k.template cvt<e4m3x2, px::rn, px::satfinite>(px::hi(f), px::lo(g))),
        s.put(k.template cvt<e5m2x2, px::rn, px::satfinite, px::relu>(px::hi(f), px::lo(g)));
    s.put(k.template cvt<e4m3x2, px::rn, px::satfinite>(s.template get<f16x2>())),
        s.put(k.template cvt<f16x2, px::rn>(s.template get<e4m3x2>())),
        s.put(k.template cvt<f16x2, px::rn, px::relu>(s.template get<e5m2x2>()));
    const reg<s32> i = s.template get<s32>(), j = s.template get<s32>();
    s.put(k.template cvt_pack<u16>(px::hi(i), px::lo(j))), s.put(k.template cvt_pack<s16>(px::hi(i), px::lo(j))),
        s.put(k.template cvt_pack<u8>(px::hi(i), px::lo(j), 0u)),
        s.put(k.template cvt_pack<s8>(px::hi(i), px::lo(j), s.template get<u32>())),
        s.put(k.template cvt_pack<tok::u4>(px::hi(i), px::lo(j), 0u));
    if constexpr (is_blackwell(Tgt)) s.put(k.template cvt<tf32, px::rn, px::satfinite>(f));
    if constexpr (is_blackwell(Tgt) && Tgt.suffix == 'a') {  // the family has no stochastic rounding
        const reg<u32> r = s.template get<u32>();
        s.put(k.template cvt<f16x2, px::rs>(px::hi(f), px::lo(g), r)),
            s.put(k.template cvt<bf16x2, px::rs, px::relu, px::satfinite>(px::hi(f), px::lo(g), r));
        s.put(k.template cvt<e4m3x4, px::rs, px::satfinite>(vec{f, g, f, g}, r)),
            s.put(k.template cvt<e5m2x4, px::rs, px::relu, px::satfinite>(vec{f, g, f, g}, r));
    }

    s.put(k.template mov_pack<b32>(h, s.template get<f16>())), s.put(k.template mov_pack<f16x2>(h, h)),
        s.put(k.template mov_pack<b64>(f, g)),
        s.put(k.template mov_pack<u64>(s.template get<u32>(), s.template get<u32>()));
    s.put(k.template mov_pack<b64>(h, h, h, h)),
        s.put(k.template mov_pack<b128>(s.template get<u64>(), s.template get<u64>())),
        s.put(k.template mov_pack<b128>(i, i, i, i)), s.put(k.template mov_pack<f64>(i, j));
    each<u32, b32, f16x2, bf16x2, u16x2, s16x2, f32, u64, b64, f64, f32x2, b128>(
        [&](auto tag) { s.put(k.mov_unpack(s.template get<typename decltype(tag)::t>())); });
    s.put(k.template mov_unpack<b16>(s.template get<b64>())), s.put(k.template mov_unpack<f32>(s.template get<b64>())),
        s.put(k.template mov_unpack<b32>(s.template get<b128>()));
    s.put(k.template mov_b16<u16>(h)), s.put(k.template mov_b32<u32>(f)), s.put(k.template mov_b32<f32>(i)),
        s.put(k.template mov_b64<b64>(d)), s.put(k.template mov_b64<f64>(s.template get<u64>()));
    s.put(i.template as<u32>()), s.put(h.template as<b16>()), s.put(s.template get<b32>().template as<bf16x2>());

    const generic_ptr<f32> gp = k.cvta(data.as<f32>() + i);
    s.put(k.ld(gp + 1)), s.put(k.ld(k.template cvta_to<space::global>(gp))), s.put(k.address(gp + 3)),
        s.put(k.address(data));
    s.put(k.template isspacep<space::global>(gp)), s.put(k.template isspacep<space::shared>(gp)),
        s.put(k.template isspacep<space::shared_cluster>(gp)), s.put(k.template isspacep<space::constant>(gp)),
        s.put(k.template isspacep<space::local>(gp)), s.put(k.template isspacep<space::param>(gp));
    const shared_ptr<f32> sp = k.to_shared(gp);
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();  // the other block has started (G06) …
    const shared_cluster_ptr<f32> remote = k.mapa(sp + 2, 1u);
    s.put(k.ld(remote)), s.put(k.ld(k.to_generic(sp))), s.put(k.getctarank(remote)), s.put(k.getctarank(gp)),
        s.put(k.ld(k.mapa(gp, i.template as<u32>()))), s.put(k.address(sp + 1));
    k.barrier_cluster_arrive(), k.barrier_cluster_wait();  // … and has not left (G04)
    const shared_cluster_ptr<f32> own = sp;
    s.put(k.ld(own));
    s.put(k.ld(as_ptr<space::global, const f32>(s.template get<u64>()) + 1));
}

template <target Tgt>
void memory(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const generic_ptr<u8, 128> gen = k.cvta(data).template assume_aligned<128>();
    const shared_ptr<u8, 128> sh = k.to_shared(gen).template assume_aligned<128>();
    const shared_cluster_ptr<u8, 128> dsm = k.mapa(sh, 0u);
    const auto policy = k.template createpolicy_fractional<px::L2::evict_last>();
    each<u8, s8, b8, u16, s16, b16, u32, s32, b32, u64, s64, b64, f32, f64, f16, bf16, f16x2, bf16x2, b128, e4m3,
         e5m2x2, tf32, f32x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const auto g = data.as<T>();
        k.st(g, k.ld(g)), k.st(sh.as<T>(), k.ld(sh.as<T>())), k.st(dsm.as<T>(), k.ld(dsm.as<T>())),
            k.st(gen.as<T>(), k.ld(gen.as<T>()));
        k.template st<px::volatile_>(g, k.template ld<px::volatile_>(g)),
            k.template st<px::relaxed, px::gpu>(g, k.template ld<px::relaxed, px::sys>(g));
        k.template st<px::release, px::cluster>(sh.as<T>(), k.template ld<px::acquire, px::cta>(sh.as<T>())),
            k.template st<px::cs>(g, k.template ld<px::cg>(g)),
            k.template st<px::wt>(g, k.template ld<px::weak, px::cv>(g));
        k.st(g, k.template ld<px::nc>(g)), k.st(g, k.template ld<px::ca, px::nc, px::L2::_128B>(g)),
            k.st(g, k.template ld<px::nc, px::L1::no_allocate>(g)), k.st(g, k.ldu(g));
        k.template st<px::L1::evict_first>(g, k.template ld<px::L1::evict_last, px::L2::_64B>(g)),
            k.st(g, k.ld(g, policy), policy),
            k.st(g, k.template ld<px::nc, px::L1::evict_last, px::L2::_256B>(g, policy));
        k.template st<px::mmio, px::relaxed, px::sys>(g, k.template ld<px::mmio, px::relaxed, px::sys>(g));
        if constexpr (bits_of<T> <= 64) {
            const auto two = k.template ld<px::v2>(g);
            k.template st<px::v2>(g, two), k.st(data.as<packet<T, 2>>(), k.ld(data.as<packet<T, 2>>())),
                k.template st<px::relaxed, px::gpu, px::v2>(g, k.template ld<px::v2, px::nc>(g));
            k.st(sh.as<packet<T, 2>>(), vec{two[1], two[0]});
        }
        if constexpr (bits_of<T> <= 32)
            k.st(data.as<packet<T, 4>>(), k.ld(data.as<packet<T, 4>>())),
                k.st(sh.as<packet<T, 4>>(), k.ld(sh.as<packet<T, 4>>()));
        if constexpr (is_blackwell(Tgt) && bits_of<T> == 32)
            k.template st<px::v8>(g, k.template ld<px::v8>(g)),
                k.template st<px::L2::evict_last>(data.as<packet<T, 8>>(),
                                                  k.template ld<px::nc, px::L2::evict_first>(data.as<packet<T, 8>>()));
        if constexpr (is_blackwell(Tgt) && bits_of<T> == 64) k.template st<px::v4>(g, k.template ld<px::v4>(g));
    });
    const auto [lo2, hi2] = k.ld(data.as<packet<f32, 2>>());
    k.st(data.as<f32>() + 4, lo2 + hi2), k.st(data.as<f32>() - 4, 0.5f), k.st(data.as<u16>(), 1);
    k.prefetch_L1(data), k.prefetch_L2(gen), k.prefetch_L2_evict_last(data), k.prefetch_L2_evict_normal(data),
        k.prefetchu_L1(gen), k.applypriority_L2_evict_normal(data), k.discard_L2(data);
    s.put(k.template createpolicy_fractional<px::L2::evict_first, px::L2::evict_unchanged>(0.5f)),
        s.put(k.template createpolicy_range<px::L2::evict_last>(data, 128u, s.template get<u32>())),
        s.put(k.createpolicy_cvt_L2(s.template get<u64>()));
}

template <target Tgt>
void atomics(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const generic_ptr<u8, 128> gen = k.cvta(data).template assume_aligned<128>();
    const shared_ptr<u8, 128> sh = k.to_shared(gen).template assume_aligned<128>();
    const shared_cluster_ptr<u8, 128> dsm = k.mapa(sh, 0u);
    const auto policy = k.template createpolicy_fractional<px::L2::evict_last>();
    each<u32, s32, u64, f32, f64, f16, f16x2, bf16, bf16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> v = s.template get<T>();
        s.put(k.atom_add(data.as<T>(), v)), s.put(k.template atom_add<px::relaxed, px::gpu>(data.as<T>(), v, policy)),
            s.put(k.template atom_add<px::acq_rel, px::cta>(sh.as<T>(), v)), s.put(k.atom_add(dsm.as<T>(), v)),
            s.put(k.atom_add(gen.as<T>(), v));
        k.red_add(data.as<T>(), v), k.template red_add<px::release, px::sys>(gen.as<T>(), v, policy),
            k.red_add(sh.as<T>(), v), k.template red_add<px::relaxed, px::cluster>(dsm.as<T>(), v);
    });
    each<u32, s32, u64, s64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> v = s.template get<T>();
        s.put(k.atom_min(data.as<T>(), v)), s.put(k.atom_max(sh.as<T>(), v)), k.red_min(data.as<T>(), v),
            k.red_max(sh.as<T>(), v);
    });
    each<u32, s32, u64, s64, b32, b64, f32>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> v = s.template get<T>();
        s.put(k.atom_exch(data.as<T>(), v)), s.put(k.atom_exch(dsm.as<T>(), v)),
            s.put(k.template atom_cas<px::acquire, px::gpu>(data.as<T>(), v, v)), s.put(k.atom_cas(sh.as<T>(), v, v));
        if constexpr (!floating_type<T>)
            s.put(k.atom_and(data.as<T>(), v)), s.put(k.atom_or(sh.as<T>(), v)),
                s.put(k.template atom_xor<px::relaxed, px::cta>(gen.as<T>(), v)), k.red_and(data.as<T>(), v),
                k.red_or(sh.as<T>(), v), k.red_xor(dsm.as<T>(), v);
    });
    s.put(k.atom_inc(data.as<u32>(), 7u)), s.put(k.atom_dec(sh.as<u32>(), 7u)), k.red_inc(data.as<u32>(), 7u),
        k.red_dec(sh.as<u32>(), 7u);
    s.put(k.atom_cas(data.as<u16>(), s.template get<u16>(), s.template get<u16>())),
        s.put(k.atom_cas(data.as<b128>(), s.template get<b128>(), s.template get<b128>())),
        s.put(k.atom_exch(data.as<b128>(), s.template get<b128>(), policy)),
        s.put(k.atom_exch(sh.as<b128>(), s.template get<b128>()));
    const auto four = data.as<packet<f32, 4>>();
    s.put(k.atom_add(four, k.ld(four))),
        s.put(
            k.template atom_add<px::relaxed, px::gpu, px::v2>(data.as<f32>(), k.ld(data.as<packet<f32, 2>>()), policy)),
        k.red_add(four, k.ld(four));
    each<f16, bf16>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const auto eight = data.as<packet<T, 4>>();
        s.put(k.atom_min(eight, k.ld(eight))), k.red_max(eight, k.ld(eight)),
            k.template red_add<px::relaxed, px::gpu>(eight, k.ld(eight), policy);
    });
    each<f16x2, bf16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const auto two = data.as<packet<T, 2>>();
        s.put(k.atom_add(two, k.ld(two))), k.red_add(two, k.ld(two));
    });
    k.template fence<px::sc, px::cta>(), k.template fence<px::acq_rel, px::gpu>(), k.template fence<px::sc, px::sys>(),
        k.template fence<px::acq_rel, px::cluster>(), k.template fence<px::acquire, px::gpu>(),
        k.template fence<px::release, px::cta>();
    k.template fence<px::acquire, px::sync_restrict_shared_cluster, px::cluster>(),
        k.template fence<px::release, px::sync_restrict_shared_cta, px::cluster>();
    k.template membar<px::cta>(), k.template membar<px::gl>(), k.template membar<px::sys>();
}

template <target Tgt>
void warps(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const reg<pred> p = s.template get<pred>();
    const reg<u32> u = s.template get<u32>();
    each<u32, s32, b32, f32, f16x2>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> v = s.template get<T>();
        s.put(k.shfl_sync_up(v, 1u, 0u, full_mask)), s.put(k.shfl_sync_down(v, 1u, 31u, u)),
            s.put(k.shfl_sync_bfly(v, 16u, 31u, full_mask)), s.put(k.shfl_sync_idx(v, u, 31u, full_mask));
        const auto [d, ok] = k.shfl_sync_up_p(v, 1u, 0u, full_mask);
        s.put(d), s.put(ok), s.put(k.shfl_sync_down_p(v, 1u, 31u, full_mask).p),
            s.put(k.shfl_sync_bfly_p(v, 1u, 31u, full_mask).d), s.put(k.shfl_sync_idx_p(v, 1u, 31u, full_mask).p);
    });
    s.put(k.vote_sync_all(p, full_mask)), s.put(k.vote_sync_any(unless(p), full_mask)), s.put(k.vote_sync_uni(p, u)),
        s.put(k.vote_sync_ballot(p, full_mask));
    each<u32, s32, u64, b64>([&](auto tag) {
        using T = typename decltype(tag)::t;
        s.put(k.match_any_sync(s.template get<T>(), full_mask)), s.put(k.match_all_sync(s.template get<T>(), u)),
            s.put(k.match_all_sync_p(s.template get<T>(), full_mask).p);
    });
    each<u32, s32>([&](auto tag) {
        using T = typename decltype(tag)::t;
        const reg<T> v = s.template get<T>();
        s.put(k.redux_sync_add(v, full_mask)), s.put(k.redux_sync_min(v, full_mask)), s.put(k.redux_sync_max(v, u)),
            s.put(k.redux_sync_and(v, full_mask)), s.put(k.redux_sync_or(v, full_mask)),
            s.put(k.redux_sync_xor(v, full_mask));
    });
    if constexpr (is_blackwell(Tgt))
        s.put(k.redux_sync_min(s.template get<f32>(), full_mask)),
            s.put(k.template redux_sync_max<px::abs, px::NaN>(s.template get<f32>(), full_mask));
    s.put(k.activemask()), s.put(k.elect_sync()), s.put(k.elect_sync_p(full_mask).d);
    k.bar_warp_sync(), k.bar_warp_sync(u), k.nanosleep(100u), k.nanosleep(u), k.brkpt(), k.template pmevent<3>(),
        k.template pmevent_mask<5>(), k.griddepcontrol_wait(), k.griddepcontrol_launch_dependents();
    k.at(p).trap();
    const auto read = [&](auto special) { s.put(k.mov(special)); };
    const auto read_vector = [&](auto v) { read(v.x), read(v.y), read(v.z); };
    read_vector(px::tid), read_vector(px::ntid), read_vector(px::ctaid), read_vector(px::nctaid);
    read_vector(px::clusterid), read_vector(px::nclusterid), read_vector(px::cluster_ctaid),
        read_vector(px::cluster_nctaid);
    read(px::laneid), read(px::warpid), read(px::nwarpid), read(px::smid), read(px::nsmid), read(px::gridid);
    read(px::cluster_ctarank), read(px::cluster_nctarank), read(px::is_explicit_cluster);
    read(px::lanemask_eq), read(px::lanemask_le), read(px::lanemask_lt), read(px::lanemask_ge), read(px::lanemask_gt),
        read(px::clock), read(px::clock_hi), read(px::clock64);
    [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
        (read(px::pm<I>), ...), (read(px::pm_64<I>), ...);
    }(std::make_integer_sequence<unsigned, 8>());
    [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
        (read(px::envreg<I>), ...);
    }(std::make_integer_sequence<unsigned, 32>());
    read(px::globaltimer), read(px::globaltimer_lo), read(px::globaltimer_hi), read(px::reserved_smem_offset_begin),
        read(px::reserved_smem_offset_end), read(px::reserved_smem_offset_cap), read(px::reserved_smem_offset_0),
        read(px::reserved_smem_offset_1), read(px::total_smem_size), read(px::aggr_smem_size),
        read(px::dynamic_smem_size), read(px::current_graph_exec);
}

/// A stack of the thread's own.
template <target Tgt>
void stack(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const auto each_width = [&](auto size) {
        using T = typename decltype(size)::value_type;
        const auto mark = k.template stacksave<T>();
        s.put(k.alloca_(size)), s.put(k.template alloca_<16>(size));
        k.stackrestore(mark);
    };
    each_width(s.template get<u32>()), each_width(s.template get<u64>());
}

template <target Tgt>
reg<f32> half_of(builder<Tgt>& k, reg<f32> x) {
    return k.mul(x, 0.5f);
}
template <target Tgt>
reg<f32> twice(builder<Tgt>& k, reg<f32> x) {
    return k.mul(x, 2.0f);
}
template <target Tgt>
void rest(builder<Tgt>& k, reg<u32> n, reg<u64>) {
    k.nanosleep(n);
}
template <target Tgt>
void twin(builder<Tgt>& k) {
    k.nanosleep(1u);
}

/// Branches by a table, device functions by name and by address.
template <target Tgt>
void jumps(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const reg<u32> n = s.template get<u32>();
    const reg<u64> wide = s.template get<u64>();
    const reg<pred> p = s.template get<pred>();
    const label a = k.new_label("a"), b = k.new_label("b");
    const branch_table both = k.branch_targets({a, b});
    k.at(p).brx_idx(n, both), k.at(unless(p)).brx_idx_uni(n, {b, a, b});
    k.brx_idx_uni(n, both), k.place(a);
    s.put(n), k.place(b);
    k.switch_table(n, case_<1>([&] { s.put(n); }), default_([&] { s.put(wide); }));
    k.switch_table(k.and_(n, 1u), case_<1>([&] { s.put(n); }), case_<0>([&] { s.put(wide); }));
    k.switch_table(n, case_<0>([&] { s.put(n); }));
    using half_callee = callee<"half_of", &half_of<Tgt>>;
    using twice_callee = callee<"twice", &twice<Tgt>>;
    auto x = s.template get<f32>();
    const auto f =
        k.selp(k.template address_of<"half_of", &half_of<Tgt>>(), k.template address_of<"twice", &twice<Tgt>>(), p);
    x = k.call(f, x), x = k.template call<half_callee, twice_callee>(f, k.add(x, 1.0f));
    x = k.template call<"twice", &twice<Tgt>>(x), k.template call<"rest", &rest<Tgt>>(n, wide);
    k.call(k.template address_of<"rest", &rest<Tgt>>(), n, wide);
    const auto g = k.template address_of<"twin", &twin<Tgt>>();
    k.call(g), k.template call<"twin", &twin<Tgt>>(), k.at(p).call(g);
    k.template call<callee<"twin", &twin<Tgt>>>(g);
    s.put(x), s.put(f == k.template address_of<"twice", &twice<Tgt>>());
}

template <target Tgt>
reg<f32> told(builder<Tgt>& k, reg<f32> x) {
    k.template printf<"told %g\n">(x);
    return x;
}
template <target Tgt>
void printing(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    k.template printf<"no arguments\n">();
    k.template printf<"%d %i %u %x %c %hd %hu %#o\n">(
        s.template get<s32>(), s.template get<b32>(), s.template get<u32>(), s.template get<s16>(),
        s.template get<u8>(), s.template get<b16>(), s.template get<s8>(), s.template get<b8>());
    k.template printf<"%ld %llu %lx %*.2f %a %g %E %%\n">(
        s.template get<s64>(), s.template get<u64>(), s.template get<b64>(), s.template get<u32>(),
        s.template get<f32>(), s.template get<f64>(), s.template get<f16>(), s.template get<bf16>());
    k.template printf<"%p %s %p %d %ld %f\n">(data, data + 3, s.template get<u64>(), 'x', 1L, 1.0f);
    k.template printf<"no arguments\n">();
    k.template printf_at<"%p\n">(location::current(), k.cvta(data));
    s.put(k.template call<"told", &told<Tgt>>(s.template get<f32>()));
}

template <target Tgt>
void escapes(builder<Tgt>& k, global_ptr<u8, 128> data) {
    const source<Tgt> s{k, data};
    const reg<f32> a = s.template get<f32>(), d = k.template new_reg<f32>("d");
    const reg<u32> u = s.template get<u32>(), v = k.template new_reg<u32>();
    const reg<pred> p = s.template get<pred>(), q = k.template new_reg<pred>();
    k.template inst<"add.rn.f32">(d, a, 1.0f), k.template inst<"mad.lo.u32">(v, u, 3, k.mov(px::laneid)),
        k.template inst<"mov.u32">(v, px::smid), k.template inst<"ld.relaxed.gpu.global.f32">(d, data.as<f32>());
    k.template inst<"st.global.v2.f32">(data.as<f32>(), vec{d, a}),
        k.template inst<"setp.lt.and.u32">(joined{q, p}, u, v, unless(p)),
        k.template inst<"elect.sync">(joined{sink, q}, full_mask);
    k.at(p).template inst<"bar.warp.sync">(full_mask), k.template inst<"lop3.b32">(v, u, v, u, 0xE8),
        k.template inst<"membar.gl">(), k.template inst<"atom.global.add.u32">(v, data.as<u32>(), 1),
        k.template inst<"atom.global.add.u32">(sink, data.as<u32>(), 1);
    const label done = k.new_label("done");
    k.at(p).template inst<"bra.uni">(done);
    k.raw("// a line of the author's own");
    k.place(done);
    s.put(d), s.put(v), s.put(q);
}

template <target Tgt>
void all(runner& r, const char* arch) {
    r.calls("made", &made_calls<Tgt>, arch);
    r.kernel("integers", &integers<Tgt>, arch), r.kernel("floats", &floats<Tgt>, arch),
        r.kernel("conversions", &conversions<Tgt>, arch);
    r.kernel("memory", &memory<Tgt>, arch), r.kernel("atomics", &atomics<Tgt>, arch),
        r.kernel("warps", &warps<Tgt>, arch), r.kernel("stack", &stack<Tgt>, arch),
        r.kernel("jumps", &jumps<Tgt>, arch), r.kernel("printing", &printing<Tgt>, arch),
        r.kernel("escapes", &escapes<Tgt>, arch);
}

}  // namespace

int main(int argc, char** argv) {
    runner r(argc, argv, "scalar");
    all<sm_90a>(r, "sm_90a");
    all<sm_100a>(r, "sm_100a");
    return r.result();
}
