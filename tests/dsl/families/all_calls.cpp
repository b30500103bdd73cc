// SPDX-License-Identifier: Apache-2.0
// Every call of the opt-in families (textures and surfaces, video, wmma, multimem) with its legal types, for both
// targets, through ptxas.
//
// Options and exit codes: ../all_calls.hpp.

#include "../all_calls.hpp"

#include <ptxdsl/dsl/multimem.hpp>
#include <ptxdsl/dsl/texture.hpp>
#include <ptxdsl/dsl/video.hpp>
#include <ptxdsl/dsl/wmma.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <type_traits>

namespace px = ptxdsl;
using namespace px;         // NOLINT(google-build-using-namespace)
using namespace all_calls;  // NOLINT(google-build-using-namespace)

namespace {

// ---- textures and surfaces
// ------------------------------------------------------------------------------------------------

template <tok Geom, class K, class C>
constexpr void sample(K& k, reg<u64> t, byte_ptr to, const C& c) {
    constexpr auto g = detail::geometry_of(Geom);
    constexpr bool depth = Geom != tok::_3d && Geom != tok::_2dms && Geom != tok::a2dms &&
                           !std::is_same_v<typename detail::coordinate_type<Geom, C>::type, s32>;
    constexpr bool samples = Geom == tok::_2dms || Geom == tok::a2dms;
    const auto f = k.ld(to.as<f32>());
    const auto i = k.ld(to.as<s32>());
    const auto variants = [&](auto... e) {
        each<u32, s32, f32, f16, f16x2>([&](auto d) {
            using D = typename decltype(d)::t;
            put(k, to, k.template tex<Geom, D>(t, c, e...)), put(k, to, k.template tex_base<Geom, D>(t, c, e...));
            const auto p = k.template tex_p<Geom, D>(t, c, e...);
            put(k, to, p.d), put(k, to, p.resident);
            if constexpr (!samples) {
                using type = typename detail::coordinate_type<Geom, C>::type;
                put(k, to, k.template tex_level<Geom, D>(t, c, k.ld(to.as<type>()), e...));
                if constexpr (g.gradient == 1)
                    put(k, to, k.template tex_grad<Geom, D>(t, c, px::coord(f), px::coord(f), e...));
                else if constexpr (g.gradient == 2)
                    put(k, to, k.template tex_grad<Geom, D>(t, c, px::coord(f, f), px::coord(f, f), e...));
                else
                    put(k, to, k.template tex_grad<Geom, D>(t, c, px::coord(f, f, f), px::coord(f, f, f), e...));
            }
        });
    };
    const auto with_depth = [&](auto... e) {
        variants(e...);
        if constexpr (depth) variants(e..., f);
    };
    with_depth();
    if constexpr (g.offsets == 1) with_depth(px::coord(i));
    if constexpr (g.offsets == 2) with_depth(px::coord(i, i));
    if constexpr (g.offsets == 3) with_depth(px::coord(i, i, i));
}

template <target Tgt>
void textures(builder<Tgt, texture_calls>& k, reg<u64> t, byte_ptr to) {
    const auto x = k.ld(to.as<f32>());
    const auto i = k.ld(to.as<s32>());
    const auto n = k.ld(to.as<u32>());
    sample<px::_1d>(k, t, to, px::coord(x)), sample<px::_1d>(k, t, to, px::coord(i));
    sample<px::_2d>(k, t, to, px::coord(x, x)), sample<px::_2d>(k, t, to, px::coord(i, i));
    sample<px::_3d>(k, t, to, px::coord(x, x, x)), sample<px::_3d>(k, t, to, px::coord(i, i, i));
    sample<px::a1d>(k, t, to, px::coord(n, x)), sample<px::a1d>(k, t, to, px::coord(n, i));
    sample<px::a2d>(k, t, to, px::coord(n, x, x)), sample<px::a2d>(k, t, to, px::coord(n, i, i));
    sample<px::cube>(k, t, to, px::coord(x, x, x)), sample<px::acube>(k, t, to, px::coord(n, x, x, x));
    sample<px::_2dms>(k, t, to, px::coord(n, i, i)), sample<px::a2dms>(k, t, to, px::coord(n, n, i, i));
    each<u32, s32, f32>([&](auto d) {
        using D = typename decltype(d)::t;
        each_tok<tok::r, tok::g, tok::b, tok::a>([&](auto c) {
            put(k, to, k.template tld4<c(), px::_2d, D>(t, px::coord(x, x))),
                put(k, to, k.template tld4<c(), px::a2d, D>(t, px::coord(n, x, x), px::coord(i, i), x));
            put(k, to, k.template tld4<c(), px::cube, D>(t, px::coord(x, x, x), x)),
                put(k, to, k.template tld4<c(), px::acube, D>(t, px::coord(n, x, x, x)));
        });
    });
    each_tok<tok::width, tok::height, tok::depth, tok::channel_data_type, tok::channel_order, tok::normalized_coords,
             tok::array_size, tok::num_mipmap_levels, tok::num_samples, tok::force_unnormalized_coords,
             tok::filter_mode, tok::addr_mode_0, tok::addr_mode_1, tok::addr_mode_2>(
        [&](auto q) { put(k, to, k.template txq<q()>(t)); });
    each_tok<tok::width, tok::height, tok::depth>(
        [&](auto q) { put(k, to, k.template txq_level<q()>(t, n)), put(k, to, k.template txq_level<q()>(t, 1u)); });
    each_tok<tok::texref, tok::samplerref, tok::surfref>([&](auto q) { put(k, to, k.template istypep<q()>(t)); });
}

template <tok Geom, class K, class C>
constexpr void surface(K& k, reg<u64> s, byte_ptr to, const C& c) {
    each_tok<px::trap, px::clamp, px::zero>([&](auto m) {
        each<b8, b16, b32, b64>([&](auto d) {
            using T = typename decltype(d)::t;
            const auto v = k.template suld_b<Geom, T, m()>(s, c);
            k.template sust_b<Geom, m()>(s, c, v);
            const auto v2 = k.template suld_b<Geom, T, px::cg, px::v2, m()>(s, c);
            k.template sust_b<Geom, px::cs, m()>(s, c, v2);
            if constexpr (bits_of<T> < 64) {
                const auto v4 = k.template suld_b<Geom, T, px::v4, m()>(s, c);
                k.template sust_b<Geom, m()>(s, c, v4);
            }
        });
        if constexpr (Geom == tok::_1d || Geom == tok::_2d || Geom == tok::_3d) {
            k.template sust_p<Geom, m()>(s, c, k.ld(to.as<b32>()));
            k.template sust_p<Geom, m()>(s, c, k.ld(to.as<packet<b32, 2>>())),
                k.template sust_p<Geom, m()>(s, c, k.ld(to.as<packet<b32, 4>>()));
            each<u32, s32, u64>(
                [&](auto d) { k.template sured_b<tok::add, Geom, m()>(s, c, k.ld(to.as<typename decltype(d)::t>())); });
            each<u32, s32, u64, s64>([&](auto d) {
                const auto v = k.ld(to.as<typename decltype(d)::t>());
                k.template sured_b<tok::min, Geom, m()>(s, c, v), k.template sured_b<tok::max, Geom, m()>(s, c, v);
            });
            each_tok<tok::add, tok::min, tok::max, tok::and_, tok::or_>(
                [&](auto op) { k.template sured_p<op(), Geom, m()>(s, c, k.ld(to.as<b32>())); });
            each_tok<tok::and_, tok::or_>(
                [&](auto op) { k.template sured_b<op(), Geom, m()>(s, c, k.ld(to.as<b32>())); });
            each_tok<tok::min, tok::max>(
                [&](auto op) { k.template sured_p<op(), Geom, m()>(s, c, k.ld(to.as<b64>())); });
        }
    });
}
template <target Tgt>
void surfaces(builder<Tgt, texture_calls>& k, reg<u64> s, byte_ptr to) {
    const auto i = k.ld(to.as<s32>());
    const auto n = k.ld(to.as<u32>());
    surface<px::_1d>(k, s, to, px::coord(i)), surface<px::_2d>(k, s, to, px::coord(i, i)),
        surface<px::_3d>(k, s, to, px::coord(i, i, i));
    surface<px::a1d>(k, s, to, px::coord(n, i)), surface<px::a2d>(k, s, to, px::coord(n, i, i));
    each_tok<tok::width, tok::height, tok::depth, tok::channel_data_type, tok::channel_order, tok::array_size,
             tok::memory_layout>([&](auto q) { put(k, to, k.template suq<q()>(s)); });
}

// ---- video
// ----------------------------------------------------------------------------------------------------------------

template <class F>
constexpr void signs(F f) {
    each<u32, s32>([&](auto d) { each<u32, s32>([&](auto a) { each<u32, s32>([&](auto b) { f(d, a, b); }); }); });
}
template <target Tgt>
void video(builder<Tgt, video_calls>& k, byte_ptr data) {
    signs([&](auto td, auto ta, auto tb) {
        using D = typename decltype(td)::t;
        const auto a = k.ld(data.as<typename decltype(ta)::t>());
        const auto b = k.ld(data.as<typename decltype(tb)::t>());
        const auto c = k.ld(data.as<D>());
        const auto u = k.ld(data.as<u32>());
#define PTXDSL_SCALAR(op)                                                                                             \
    put(k, data, k.template op<D>(a, b)),                                                                             \
        put(k, data, k.template op<D, px::sat>(px::part<"b0">(a), px::part<"h1">(b)));                                \
    put(k, data, k.template op<D, tok::add>(a, px::part<"b3">(b), c)),                                                \
        put(k, data, k.template op<D, px::sat, tok::min>(a, b, c));                                                   \
    put(k, data, k.template op<D, tok::max>(a, b, c)), put(k, data, k.template op##_into<"h1", D, px::sat>(a, b, c)); \
    put(k, data, k.template op##_into<"b2", D>(px::part<"h0">(a), b, c))
        PTXDSL_SCALAR(vadd);
        PTXDSL_SCALAR(vsub);
        PTXDSL_SCALAR(vabsdiff);
        PTXDSL_SCALAR(vmin);
        PTXDSL_SCALAR(vmax);
#undef PTXDSL_SCALAR
        put(k, data, k.template vshl<D, tok::clamp>(a, u)),
            put(k, data, k.template vshl<D, px::sat, tok::wrap, tok::add>(px::part<"b1">(a), px::part<"h0">(u), c));
        put(k, data, k.template vshr<D, tok::wrap>(a, u)),
            put(k, data, k.template vshr_into<"b0", D, tok::clamp>(a, u, c)),
            put(k, data, k.template vshl_into<"h0", D, tok::clamp>(a, u, c));
        put(k, data, k.template vmad<D>(a, b, c)),
            put(k, data, k.template vmad<D, tok::po, px::sat, tok::shr7>(px::part<"b0">(a), b, c));
        put(k, data, k.template vmad<D, px::sat, tok::shr15>(px::minus(a), px::part<"h1">(b), c)),
            put(k, data, k.template vmad<D>(a, px::minus(px::part<"b2">(b)), c));
        put(k, data, k.template vmad<D>(a, b, px::minus(c)));
        each_tok<px::eq, px::ne, px::lt, px::le, px::gt, px::ge>([&](auto cmp) {
            put(k, data, k.template vset<cmp()>(a, b)),
                put(k, data, k.template vset<cmp(), tok::add>(px::part<"b0">(a), b, u)),
                put(k, data, k.template vset_into<"b1", cmp()>(a, b, u));
            put(k, data, k.template vset2<cmp()>(a, b, u)),
                put(k, data, k.template vset2_into<"h1", cmp(), tok::add>(px::part<"h32">(a), b, u));
            put(k, data, k.template vset4<cmp(), tok::add>(a, b, u)),
                put(k, data, k.template vset4_into<"b310", cmp()>(px::part<"b7654">(a), b, u));
        });
#define PTXDSL_SIMD(op, to, sel)                                                        \
    put(k, data, k.template op<D>(a, b, c)),                                            \
        put(k, data, k.template op<D, px::sat>(px::part<sel>(a), px::part<sel>(b), c)); \
    put(k, data, k.template op<D, tok::add>(a, b, c)),                                  \
        put(k, data, k.template op##_into<to, D, tok::add>(a, px::part<sel>(b), c))
        PTXDSL_SIMD(vadd2, "h0", "h31");
        PTXDSL_SIMD(vsub2, "h1", "h01");
        PTXDSL_SIMD(vavrg2, "h10", "h22");
        PTXDSL_SIMD(vabsdiff2, "h0", "h31");
        PTXDSL_SIMD(vmin2, "h0", "h31");
        PTXDSL_SIMD(vmax2, "h0", "h31");
        PTXDSL_SIMD(vadd4, "b0", "b0123");
        PTXDSL_SIMD(vsub4, "b3210", "b7777");
        PTXDSL_SIMD(vavrg4, "b31", "b4567");
        PTXDSL_SIMD(vabsdiff4, "b210", "b0123");
        PTXDSL_SIMD(vmin4, "b2", "b0246");
        PTXDSL_SIMD(vmax4, "b1", "b0123");
#undef PTXDSL_SIMD
    });
}

// ---- wmma
// -----------------------------------------------------------------------------------------------------------------

template <class D, class A, class B, unsigned M, unsigned N, unsigned K, tok LA, tok LB, tok... Mods, target Tgt>
constexpr void product(builder<Tgt, wmma_calls>& k, byte_ptr data) {
    const auto a = k.template wmma_make<wmma_a<A, M, N, K>>("a");
    const auto b = k.template wmma_make<wmma_b<B, M, N, K>>("b");
    const auto c = k.template wmma_make<wmma_acc<D, M, N, K>>("c");
    const auto d = k.template wmma_make<wmma_acc<D, M, N, K>>("d");
    const auto shared = k.template smem_array<b32>(64, "rows");
    const auto memory = [&]<class T>(type<T>) {
        if constexpr (bits_of<T> < 8)
            return data.as<u8>();
        else
            return data.as<T>();
    };
    k.template wmma_load<LA>(a, memory(type<A>()), 16u), k.template wmma_load<LB>(b, memory(type<B>()));
    if constexpr (std::is_same_v<D, f32>)
        k.template wmma_load<px::col>(c, shared.template as<f32>(), k.ld(data.as<u32>()));
    else
        k.template wmma_load<px::row>(c, data.as<D>());
    k.template wmma_mma<LA, LB, Mods...>(d, a, b, c), k.template wmma_mma<LA, LB, Mods...>(d, a, b, d);
    for (unsigned i = 0; i < d.size; ++i) static_cast<void>(d[i]);
    k.template wmma_store<px::row>(data.as<D>(), d), k.template wmma_store<px::col>(data.as<D>(), d, 32u);
    if constexpr (std::is_same_v<D, f32>) k.template wmma_store<px::row>(shared.template as<f32>(), d);
}
template <class D, class A, unsigned M, unsigned N, unsigned K, tok... Mods, target Tgt>
constexpr void layouts(builder<Tgt, wmma_calls>& k, byte_ptr data) {
    product<D, A, A, M, N, K, px::row, px::col, Mods...>(k, data),
        product<D, A, A, M, N, K, px::row, px::row, Mods...>(k, data);
    product<D, A, A, M, N, K, px::col, px::col, Mods...>(k, data),
        product<D, A, A, M, N, K, px::col, px::row, Mods...>(k, data);
}
template <class D, class A, tok... Mods, target Tgt>
constexpr void shapes(builder<Tgt, wmma_calls>& k, byte_ptr data) {
    layouts<D, A, 16, 16, 16, Mods...>(k, data), layouts<D, A, 8, 32, 16, Mods...>(k, data),
        layouts<D, A, 32, 8, 16, Mods...>(k, data);
}
template <target Tgt>
void wmma(builder<Tgt, wmma_calls>& k, byte_ptr data) {
    shapes<f32, f16>(k, data), shapes<f16, f16>(k, data), shapes<f32, bf16>(k, data);
    shapes<s32, s8>(k, data), shapes<s32, u8, px::satfinite>(k, data);
    layouts<f32, tf32, 16, 16, 8>(k, data);
    layouts<f64, f64, 8, 8, 4>(k, data), layouts<f64, f64, 8, 8, 4, px::rz>(k, data);
    product<s32, s4, s4, 8, 8, 32, px::row, px::col>(k, data),
        product<s32, u4, u4, 8, 8, 32, px::row, px::col, px::satfinite>(k, data);
    product<s32, b1, b1, 8, 8, 128, px::row, px::col, px::xor_, px::popc>(k, data),
        product<s32, b1, b1, 8, 8, 128, px::row, px::col, px::and_, px::popc>(k, data);
}

// ---- multimem
// -------------------------------------------------------------------------------------------------------------

template <class T, class K>
constexpr void reduce_floats(K& k, byte_ptr data) {
    const auto p = data.as<T>();
    put(k, data, k.multimem_ld_reduce_add(p)), put(k, data, k.template multimem_ld_reduce_add<px::relaxed, px::gpu>(p));
    const auto v = k.ld(p);
    k.multimem_st(p, v), k.template multimem_st<px::release, px::sys>(p, v);
}
template <target Tgt>
void multimem(builder<Tgt, multimem_calls>& k, byte_ptr data) {
    each<u32, s32, u64, s64>([&](auto t) {
        const auto p = data.as<typename decltype(t)::t>();
        const auto v = k.ld(p);
        put(k, data, k.multimem_ld_reduce_min(p)),
            put(k, data, k.template multimem_ld_reduce_max<px::acquire, px::sys>(p));
        k.multimem_red_min(p, v), k.template multimem_red_max<px::release, px::cluster>(p, v), k.multimem_st(p, v);
        if constexpr (!std::is_same_v<typename decltype(t)::t, s64>)
            put(k, data, k.multimem_ld_reduce_add(p)), k.multimem_red_add(p, v);
    });
    each<b32, b64>([&](auto t) {
        const auto p = data.as<typename decltype(t)::t>();
        const auto v = k.ld(p);
        put(k, data, k.multimem_ld_reduce_and(p)), put(k, data, k.template multimem_ld_reduce_or<px::weak>(p)),
            put(k, data, k.multimem_ld_reduce_xor(p));
        k.multimem_red_and(p, v), k.template multimem_red_or<px::relaxed, px::cta>(p, v), k.multimem_red_xor(p, v),
            k.template multimem_st<px::weak>(p, v);
    });
    each<f32, f64, packet<f32, 2>, packet<f32, 4>, f16x2, bf16x2, packet<f16x2, 2>, packet<f16x2, 4>, packet<bf16x2, 4>,
         packet<f16, 2>, packet<bf16, 4>>([&](auto t) {
        using T = typename decltype(t)::t;
        reduce_floats<T>(k, data);
        k.multimem_red_add(data.as<T>(), k.ld(data.as<T>()));
    });
    each<f16x2, packet<bf16x2, 2>, packet<f16, 4>>([&](auto t) {
        const auto p = data.as<typename decltype(t)::t>();
        put(k, data, k.multimem_ld_reduce_min(p)),
            put(k, data, k.template multimem_ld_reduce_max<px::acquire, px::gpu>(p));
        put(k, data, k.template multimem_ld_reduce_add<px::acc::f32>(p)),
            put(k, data, k.template multimem_ld_reduce_add<px::relaxed, px::gpu, px::acc::f32>(p));
    });
    const auto eight = data.as<packet<bf16, 8>>();
    k.multimem_st(eight, k.multimem_ld_reduce_add(eight)),
        k.multimem_red_add(eight, k.template multimem_ld_reduce_add<px::acc::f32>(eight));
    if constexpr (is_blackwell(Tgt)) {
        each<e4m3x4, e5m2x4, packet<e4m3x4, 2>, packet<e5m2x4, 4>, packet<e4m3x2, 2>, packet<e5m2x2, 8>>([&](auto t) {
            const auto p = data.as<typename decltype(t)::t>();
            put(k, data, k.multimem_ld_reduce_min(p)), put(k, data, k.template multimem_ld_reduce_add<px::acc::f16>(p));
            k.multimem_st(p, k.multimem_ld_reduce_max(p));
        });
    }
}

/// Several families at once, guards, and a helper that wants a plain builder.
template <target Tgt>
constexpr reg<u32> helper(builder<Tgt>& k, byte_ptr data) {
    return k.ld(data.as<u32>());
}
template <target Tgt>
void together(builder<Tgt, video_calls, texture_calls>& k, reg<u64> t, byte_ptr data) {
    const auto x = helper<Tgt>(k, data);
    const auto p = x != 0u;
    k.at(p).st(data.as<u32>(), x);
    auto v = k.at(p).template vadd<u32>(x, x);
    auto w = k.at(p).template txq<tok::width>(t);
    k.at(p).st(data.as<u32>(), v), k.at(p).st(data.as<u32>(), w);
}

// ---- the run
// --------------------------------------------------------------------------------------------------------------

template <target Tgt>
void all(runner& r, const char* arch) {
    r.calls("textures", &textures<Tgt>, arch), r.calls("surfaces", &surfaces<Tgt>, arch),
        r.calls("video", &video<Tgt>, arch);
    r.calls("wmma", &wmma<Tgt>, arch), r.calls("multimem", &multimem<Tgt>, arch),
        r.calls("together", &together<Tgt>, arch);
}

}  // namespace

int main(int argc, char** argv) {
    runner r(argc, argv, "family");
    all<sm_90a>(r, "sm_90a");
    all<sm_100a>(r, "sm_100a");
    return r.result();
}
