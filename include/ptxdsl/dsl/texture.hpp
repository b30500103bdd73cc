// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces through 64-bit handles, the host's cuTexObjectCreate and cuSurfObjectCreate (PTX
// ISA 9.7.10, 9.7.11). Opt-in:
//
//   #include <ptxdsl/dsl/texture.hpp>
//   constexpr void sample(px::builder<px::sm_90a, px::texture_calls>& k, px::reg<u64> image, …) {
//       const auto pixel = k.tex<px::_2d, f32>(image, px::coord(x, y));   // pixel[0] … pixel[3]
//
// The sampler is the texture object's (unified mode). Geometries are `px::_1d`, `_2d`, `_3d`, `a1d`, `a2d`, `cube`,
// `acube`,
// `_2dms`, `a2dms`; array geometries begin with the u32 index of the layer, `_2dms` with the sample, `a2dms` with both.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/dsl/builder.hpp>

#include <type_traits>

namespace ptxdsl {

using tok::_1d, tok::_2d, tok::_3d, tok::a1d, tok::a2d, tok::cube, tok::acube, tok::_2dms, tok::a2dms;
using tok::trap, tok::clamp, tok::zero;

/// Coordinates or offsets of a texture access, in registers: `px::coord(x, y)`. Nested calls among them are emitted
/// left to right.
template <class... T>
struct texture_coordinates {
    static constexpr unsigned size = sizeof...(T);
    ir::program* prog = nullptr;
    std::uint32_t words[size] = {};
    ir::span expression{};
};
template <class... R>
[[nodiscard]] constexpr auto coord(R&&... r) {
    static_assert((detail::traits<R>::is_reg && ...),
                  "PTXDSL-A14: coordinates are registers; load literals with k.mov");
    static_assert(sizeof...(R) >= 1 && sizeof...(R) <= 4, "PTXDSL-A07: a texture access has one to four coordinates");
    if constexpr ((detail::traits<R>::is_reg && ...) && sizeof...(R) >= 1 && sizeof...(R) <= 4) {
        texture_coordinates<typename detail::traits<R>::value...> c;
        unsigned i = 0;
        ((c.words[i++] = detail::list_word(c.prog, r.program(), detail::reg_word(r.id()))), ...);
        if (c.prog == nullptr) return c;
        ir::span spans[] = {std::is_lvalue_reference_v<R> || r.program() != c.prog ? ir::span{} : r.expression()...};
        c.expression = detail::settle_spans(*c.prog, spans, sizeof...(R),
                                            c.prog->locations.empty() ? location() : c.prog->locations.back());
        return c;
    } else {
        return texture_coordinates<u32>{};
    }
}

/// What `k.tex_p` returns: the texels, and whether they are resident.
template <class T, unsigned N>
struct texels {
    vec<T, N> d;
    reg<pred> resident;
};

namespace detail {

/// What a geometry asks of its coordinates.
struct texture_geometry {
    unsigned given = 0;     ///< coordinates the author gives
    unsigned words = 0;     ///< elements PTX wants; the last coordinate fills up, it is ignored
    unsigned integers = 0;  ///< u32 coordinates at the front
    unsigned offsets = 0;   ///< offsets there may be
    unsigned gradient = 0;  ///< elements of each derivative
};
[[nodiscard]] consteval texture_geometry geometry_of(tok g) noexcept {
    switch (g) {
        case tok::_1d: return {1, 1, 0, 1, 1};
        case tok::_2d: return {2, 2, 0, 2, 2};
        case tok::_3d: return {3, 4, 0, 3, 3};
        case tok::a1d: return {2, 2, 1, 1, 1};
        case tok::a2d: return {3, 4, 1, 2, 2};
        case tok::cube: return {3, 4, 0, 0, 3};
        case tok::acube: return {4, 4, 1, 0, 3};
        case tok::_2dms: return {3, 4, 1, 2, 0};
        case tok::a2dms: return {4, 4, 2, 2, 0};
        default: return {};
    }
}

template <class>
inline constexpr bool is_coordinates = false;
template <class... T>
inline constexpr bool is_coordinates<texture_coordinates<T...>> = true;

/// Number `Index` of a list of types, u32 past its end.
template <unsigned Index, class... T>
struct type_at {
    using type = u32;
};
template <class First, class... Rest>
struct type_at<0, First, Rest...> {
    using type = First;
};
template <unsigned Index, class First, class... Rest>
    requires(Index != 0)
struct type_at<Index, First, Rest...> : type_at<Index - 1, Rest...> {};

/// The type of the coordinates behind the integers at the front; void when the list does not fit the geometry.
template <tok Geom, class C>
struct coordinate_type {
    using type = void;
};
template <tok Geom, class... T>
    requires(sizeof...(T) == geometry_of(Geom).given)
struct coordinate_type<Geom, texture_coordinates<T...>> {
    static constexpr unsigned front = geometry_of(Geom).integers;
    using rest = typename type_at<front, T...>::type;
    static constexpr bool fits = [] {
        unsigned i = 0;
        bool ok = true;
        ((ok = ok && (i < front ? std::is_same_v<T, u32> : std::is_same_v<T, rest>), ++i), ...);
        return ok && (std::is_same_v<rest, s32> || std::is_same_v<rest, f32>);
    }();
    using type = std::conditional_t<fits, rest, void>;
};

template <class T, class C>
inline constexpr bool all_of_type = false;
template <class T, class... U>
inline constexpr bool all_of_type<T, texture_coordinates<U...>> = (std::is_same_v<T, U> && ...);

}  // namespace detail

template <target Tgt>
class texture_calls {
public:
    constexpr texture_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    // ---- textures
    // ----------------------------------------------------------------------------------------------------- `D` is u32,
    // s32, f32 or f16 (four results) or f16x2 (two). `e` are offsets, `px::coord(dx, dy)` of s32 registers; `f` is the
    // depth to compare with. Either may be left out.

    /// `tex.G.vec.D.C {d…}, [a, {c…}]{, e, f};` `k.tex<px::_2d, f32>(image, px::coord(x, y))`. PTX ISA 9.7.10.3.
    template <tok Geom, class D, class T, class C, class E = detail::absent, class F = detail::absent>
    constexpr auto tex(T&& texture, C&& c, E&& e = E{}, F&& f = F{}, location where = location::current()) const {
        return sample<tok::none, Geom, D, false>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                                 static_cast<E&&>(e), static_cast<F&&>(f))
            .d;
    }
    /// `tex.G.vec.D.C {d…}|p, [a, {c…}]{, e, f};` with a predicate: the texels were resident.
    template <tok Geom, class D, class T, class C, class E = detail::absent, class F = detail::absent>
    constexpr auto tex_p(T&& texture, C&& c, E&& e = E{}, F&& f = F{}, location where = location::current()) const {
        return sample<tok::none, Geom, D, true>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                                static_cast<E&&>(e), static_cast<F&&>(f));
    }
    /// `tex.base.G.vec.D.C {d…}, [a, {c…}]{, e, f};` the largest level of a mipmap.
    template <tok Geom, class D, class T, class C, class E = detail::absent, class F = detail::absent>
    constexpr auto tex_base(T&& texture, C&& c, E&& e = E{}, F&& f = F{}, location where = location::current()) const {
        return sample<tok::base, Geom, D, false>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                                 static_cast<E&&>(e), static_cast<F&&>(f))
            .d;
    }
    /// `tex.level.G.vec.D.C {d…}, [a, {c…}], lod{, e, f};` the level is given; its type is that of the coordinates.
    template <tok Geom, class D, class T, class C, class L, class E = detail::absent, class F = detail::absent>
    constexpr auto tex_level(T&& texture, C&& c, L&& lod, E&& e = E{}, F&& f = F{},
                             location where = location::current()) const {
        return sample<tok::level, Geom, D, false>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                                  static_cast<E&&>(e), static_cast<F&&>(f),
                                                  level_operand<Geom, C>(static_cast<L&&>(lod), where))
            .d;
    }
    /// `tex.grad.G.vec.D.C {d…}, [a, {c…}], {dx…}, {dy…}{, e, f};` the level follows from the derivatives,
    /// `px::coord(…)` of f32.
    template <tok Geom, class D, class T, class C, class X, class Y, class E = detail::absent, class F = detail::absent>
    constexpr auto tex_grad(T&& texture, C&& c, X&& dx, Y&& dy, E&& e = E{}, F&& f = F{},
                            location where = location::current()) const {
        return sample<tok::grad, Geom, D, false>(
                   where, static_cast<T&&>(texture), static_cast<C&&>(c), static_cast<E&&>(e), static_cast<F&&>(f),
                   gradient<Geom>(static_cast<X&&>(dx)), gradient<Geom>(static_cast<Y&&>(dy)))
            .d;
    }
    /// `tld4.M.G.v4.D.f32 {d…}, [a, {c…}]{, e, f};` one component of the four texels around a point:
    /// `k.tld4<px::tok::r, px::_2d, f32>(image, c)`. PTX ISA 9.7.10.4.
    template <tok Component, tok Geom, class D, class T, class C, class E = detail::absent, class F = detail::absent>
    constexpr auto tld4(T&& texture, C&& c, E&& e = E{}, F&& f = F{}, location where = location::current()) const {
        using V = std::remove_cvref_t<C>;
        static_assert(std::is_same_v<typename detail::coordinate_type<Geom, V>::type, f32>,
                      "PTXDSL-A01: tld4 takes f32 coordinates of its geometry (arrays: the u32 layer first)");
        using Form =
            detail::compact_form<Tgt, tok::tld4, Component, Geom, tok::v4, isa::type_token(scalar_of<D>), tok::f32>;
        return access<Form, Geom, D, 4, false>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                               static_cast<E&&>(e), static_cast<F&&>(f))
            .d;
    }
    /// `txq.M.b32 d, [a];` `k.txq<px::tok::width>(image)`: also sampler attributes. PTX ISA 9.7.10.5.
    template <tok Query, class T>
    constexpr auto txq(T&& texture, location where = location::current()) const {
        return detail::checked<detail::form<Tgt, tok::txq, Query, tok::b32>, u32>(
            ctx(), where, handle(static_cast<T&&>(texture), where));
    }
    /// `txq.level.M.b32 d, [a], lod;` the extents of one level. PTX ISA 9.7.10.5.
    template <tok Query, class T, class L>
    constexpr auto txq_level(T&& texture, L&& lod, location where = location::current()) const {
        return detail::checked<detail::form<Tgt, tok::txq, tok::level, Query, tok::b32>, u32>(
            ctx(), where, handle(static_cast<T&&>(texture), where),
            detail::as_operand<u32>(static_cast<L&&>(lod), where));
    }
    /// `istypep.M p, a;` whether a handle is one of a `texref`, `samplerref` or `surfref`:
    /// `k.istypep<px::tok::texref>(h)`. PTX ISA 9.7.10.6.
    template <tok Kind, class T>
    constexpr auto istypep(T&& h, location where = location::current()) const {
        return detail::checked<detail::form<Tgt, tok::istypep, Kind>, pred>(
            ctx(), where, detail::as_operand<u64>(static_cast<T&&>(h), where));
    }

    // ---- surfaces
    // ----------------------------------------------------------------------------------------------------- Geometries
    // `_1d`, `_2d`, `_3d`, `a1d`, `a2d`; coordinates are s32 (x in bytes for .b), with the u32 layer first for arrays.
    // The last modifier says what happens outside of the surface: `px::trap`, `px::clamp`, `px::zero`.

    /// `suld.b.G{.M}{.vec}.T.M d, [a, {c…}];` `k.suld_b<px::_2d, b32, px::trap>(s, c)`, with `px::v2` or `px::v4` a
    /// vector. PTX ISA 9.7.11.1.
    template <tok Geom, class T, tok... M, class S, class C>
    constexpr auto suld_b(S&& surface, C&& c, location where = location::current()) const {
        constexpr unsigned n = lanes<M...>;
        using Form = surface_form<tok::suld, tok::b, Geom, isa::type_token(scalar_of<T>), M...>;
        detail::require<Form>();
        if constexpr (n == 1) {
            return detail::value<Form, T>(ctx(), where,
                                          place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where));
        } else {
            vec<T, n> d = detail::new_vector<T, n>(*p_);
            const detail::raw_operand to = detail::vector_operand(static_cast<const vec<T, n>&>(d));
            d.set_expression(detail::effect<Form>(
                ctx(), where, to, place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where)));
            return d;
        }
    }
    /// `sust.b.G{.M}{.vec}.T.M [a, {c…}], v;` `k.sust_b<px::_2d, px::zero>(s, c, v)`; a `px::vec` stores a vector. PTX
    /// ISA 9.7.11.2.
    template <tok Geom, tok... M, class S, class C, class V>
    constexpr auto sust_b(S&& surface, C&& c, V&& v, location where = location::current()) const {
        store<tok::b, Geom, M...>(static_cast<S&&>(surface), static_cast<C&&>(c), static_cast<V&&>(v), where);
    }
    /// `sust.p.G{.vec}.b32.M [a, {c…}], v;` converts to the surface's format. PTX ISA 9.7.11.2.
    template <tok Geom, tok... M, class S, class C, class V>
    constexpr auto sust_p(S&& surface, C&& c, V&& v, location where = location::current()) const {
        store<tok::p, Geom, M...>(static_cast<S&&>(surface), static_cast<C&&>(c), static_cast<V&&>(v), where);
    }
    /// `sured.b.M.G.T.M [a, {c…}], v;` `k.sured_b<px::tok::add, px::_2d, px::trap>(s, c, v)`. PTX ISA 9.7.11.3.
    template <tok Op, tok Geom, tok Mode, class S, class C, class V>
    constexpr auto sured_b(S&& surface, C&& c, V&& v, location where = location::current()) const {
        using T = detail::source_t<V>;
        constexpr bool bits = Op == tok::and_ || Op == tok::or_;
        using Form = detail::form<Tgt, tok::sured, tok::b, Op, Geom,
                                  isa::type_token(bits ? detail::bits_type<T> : scalar_of<T>), Mode>;
        detail::require<Form, rule::b08>();
        detail::effect<Form>(ctx(), where, place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where),
                             detail::as_operand<T>(static_cast<V&&>(v), where));
    }
    /// `sured.p.M.G.b32.M [a, {c…}], v;` in the surface's format; 64 bits for min and max. PTX ISA 9.7.11.3.
    template <tok Op, tok Geom, tok Mode, class S, class C, class V>
    constexpr auto sured_p(S&& surface, C&& c, V&& v, location where = location::current()) const {
        using T = detail::source_t<V>;
        using Form = detail::form<Tgt, tok::sured, tok::p, Op, Geom, isa::type_token(detail::bits_type<T>), Mode>;
        detail::require<Form, rule::b08>();
        detail::effect<Form>(ctx(), where, place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where),
                             detail::as_operand<T>(static_cast<V&&>(v), where));
    }
    /// `suq.M.b32 d, [a];` `k.suq<px::tok::width>(s)`. PTX ISA 9.7.11.4.
    template <tok Query, class S>
    constexpr auto suq(S&& surface, location where = location::current()) const {
        return detail::checked<detail::form<Tgt, tok::suq, Query, tok::b32>, u32>(
            ctx(), where, handle(static_cast<S&&>(surface), where));
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }

    /// `[a]` of a query.
    template <class H>
    [[nodiscard]] constexpr detail::raw_operand handle(H&& h, location where) const {
        const operand<u64> a = detail::as_operand<u64>(static_cast<H&&>(h), where);
        static_assert(detail::traits<H>::is_reg, "PTXDSL-A14: a texture or surface is a 64-bit handle in a register");
        detail::raw_operand o = a;
        o.words[0] = ir::head(ir::operand_kind::address, 0), o.words[1] = a.words[0], o.words[2] = 0;
        o.count = 3;
        return o;
    }
    /// The elements of a list, the last one repeated up to `N`.
    template <unsigned N>
    struct filled {
        std::uint32_t words[N + 1] = {};
        ir::program* prog = nullptr;
        ir::span fresh{};

        template <class C>
        constexpr auto take(const C& c, unsigned first) noexcept {
            for (unsigned i = 0; i < N; ++i) words[first + i] = c.words[i < C::size ? i : C::size - 1];
            prog = c.prog;
            fresh = c.expression;
        }
        [[nodiscard]] constexpr detail::raw_operand as_vector() const noexcept {
            detail::raw_operand o = detail::vector_of(prog, words, N);
            o.fresh = fresh;
            return o;
        }
    };
    /// `[a, {c…}]`; owns its words, so it lives until the instruction is emitted.
    struct place_operand {
        std::uint32_t words[5] = {};
        detail::raw_operand o{};
        // NOLINTNEXTLINE(google-explicit-constructor)
        constexpr operator detail::raw_operand() const noexcept {
            detail::raw_operand r = o;
            r.more = words;
            return r;
        }
    };
    /// The rules for coordinates, a sentence each. (Named where an access begins, so that the author's line is near.)
    template <tok Geom, bool Surface, class V>
    struct checked_place {
        using type = typename detail::coordinate_type<Geom, V>::type;
        static constexpr bool fits = !std::is_void_v<type> && (!Surface || std::is_same_v<type, s32>);
        static_assert(detail::is_coordinates<V>,
                      "PTXDSL-A14: the place in a texture or surface is given by px::coord(x, y)");
        static_assert(!detail::is_coordinates<V> || fits,
                      "PTXDSL-F01: these coordinates do not fit the geometry: one for each dimension, all s32 or all "
                      "f32 (surfaces: s32), behind the u32 sample and layer");
    };
    /// The same for offsets and the depth to compare with.
    template <tok Geom, class E, class F>
    struct checked_extras {
        static constexpr bool has_offsets = detail::is_coordinates<E>;
        static constexpr unsigned n = detail::geometry_of(Geom).offsets;
        static constexpr bool typed = !has_offsets || (n != 0 && detail::all_of_type<s32, E>);
        static constexpr bool has_depth = !detail::is_absent<F> || (!has_offsets && !detail::is_absent<E>);
        [[nodiscard]] static constexpr bool counted() noexcept {
            if constexpr (has_offsets && typed)
                return E::size == n;
            else
                return true;
        }
        static_assert(typed,
                      "PTXDSL-F01: offsets are px::coord(…) of s32 registers, one for each dimension; cube maps have "
                      "none");
        static_assert(counted(), "PTXDSL-F01: there is one offset for each dimension of the geometry");
        static_assert(has_offsets || detail::is_absent<E> || detail::is_absent<F>,
                      "PTXDSL-A14: the offsets of a texture access are px::coord(dx, dy)");
        static_assert(!has_depth || (Geom != tok::_3d && Geom != tok::_2dms && Geom != tok::a2dms),
                      "PTXDSL-F08: three-dimensional and multi-sample textures are no depth textures");
        static constexpr bool done = true;
    };
    template <tok Geom, bool Surface, class H, class C>
    [[nodiscard]] constexpr place_operand place(H&& h, C&& c, location where) const {
        using V = std::remove_cvref_t<C>;
        constexpr bool fits = checked_place<Geom, Surface, V>::fits;
        place_operand r;
        if constexpr (fits) {
            constexpr unsigned n = detail::geometry_of(Geom).words;
            const operand<u64> a = detail::as_operand<u64>(static_cast<H&&>(h), where);
            r.words[0] = a.words[0];
            for (unsigned i = 0; i < n; ++i) r.words[1 + i] = c.words[i < V::size ? i : V::size - 1];
            r.o.prog = c.prog;
            r.o.words[0] = ir::head(ir::operand_kind::tensor, n);
            r.o.more_count = n + 1;
            ir::span spans[] = {a.fresh, std::is_lvalue_reference_v<C> ? ir::span{} : c.expression};
            r.o.fresh = detail::settle_spans(*p_, spans, 2, where);
        }
        return r;
    }
    template <tok Geom, class C, class L>
    [[nodiscard]] static constexpr detail::raw_operand level_operand(L&& lod, location where) {
        using type = typename detail::coordinate_type<Geom, std::remove_cvref_t<C>>::type;
        return detail::as_operand<std::conditional_t<std::is_void_v<type>, f32, type>>(static_cast<L&&>(lod), where);
    }
    /// `{dx…}` of three-dimensional geometries has four elements.
    template <tok Geom, class X>
    [[nodiscard]] static constexpr auto gradient(X&& x) {
        using V = std::remove_cvref_t<X>;
        constexpr unsigned n = detail::geometry_of(Geom).gradient;
        constexpr bool fits = n != 0 && detail::all_of_type<f32, V>;
        static_assert(fits,
                      "PTXDSL-F01: a derivative is px::coord(…) of f32 registers, one for each dimension; multi-sample "
                      "textures have none");
        filled<n == 3 ? 4 : n == 0 ? 1 : n> r;
        if constexpr (fits) {
            static_assert(V::size == n, "PTXDSL-F01: a derivative has one element for each dimension of the geometry");
            r.take(x, 0);
        }
        return r;
    }
    template <tok Geom, class E>
    [[nodiscard]] static constexpr auto offsets(E&& e) {
        using V = std::remove_cvref_t<E>;
        constexpr unsigned n = detail::geometry_of(Geom).offsets;
        constexpr bool fits = n != 0 && detail::all_of_type<s32, V>;
        filled<n == 3 ? 4 : n == 0 ? 1 : n> r;
        if constexpr (fits) {
            r.take(e, 0);
        }
        return r;
    }
    template <tok Lod, tok Geom, class D, bool Resident, class T, class C, class E, class F, class... L>
    constexpr auto sample(location where, T&& texture, C&& c, E&& e, F&& f, const L&... lod) const {
        using type = typename checked_place<Geom, false, std::remove_cvref_t<C>>::type;
        static_assert(checked_extras<Geom, std::remove_cvref_t<E>, std::remove_cvref_t<F>>::done);
        constexpr bool pairs = scalar_of<D> == isa::scalar::f16x2;
        using Form =
            detail::compact_form<Tgt, tok::tex, Lod, Geom, pairs ? tok::v2 : tok::v4, isa::type_token(scalar_of<D>),
                                 std::is_same_v<type, s32> ? tok::s32 : tok::f32>;
        return access<Form, Geom, D, pairs ? 2 : 4, Resident>(where, static_cast<T&&>(texture), static_cast<C&&>(c),
                                                              static_cast<E&&>(e), static_cast<F&&>(f), lod...);
    }
    /// A derivative or a level, whichever the call has.
    template <unsigned N>
    [[nodiscard]] static constexpr detail::raw_operand raw_of(const filled<N>& x) noexcept {
        return x.as_vector();
    }
    [[nodiscard]] static constexpr detail::raw_operand raw_of(const detail::raw_operand& x) noexcept { return x; }

    template <class Form, tok Geom, class D, unsigned N, bool Resident, class T, class C, class E, class F, class... L>
    constexpr texels<D, N> access(location where, T&& texture, C&& c, E&& e, F&& f, const L&... lod) const {
        static_assert(checked_extras<Geom, std::remove_cvref_t<E>, std::remove_cvref_t<F>>::done);
        detail::require<Form>();
        const place_operand at = place<Geom, false>(static_cast<T&&>(texture), static_cast<C&&>(c), where);
        texels<D, N> r{detail::new_vector<D, N>(*p_), {}};
        std::uint32_t results[N + 1] = {};
        for (unsigned i = 0; i < N; ++i) results[i] = r.d.words()[i];
        detail::raw_operand list[8];
        std::uint32_t n = 0;
        detail::raw_operand& to = list[n++];
        to.prog = p_;
        to.words[0] = ir::head(ir::operand_kind::vec, Resident ? N + 1 : N);
        to.more = results, to.more_count = Resident ? N + 1 : N;
        if constexpr (Resident) {
            const std::uint32_t id = p_->new_reg(isa::scalar::pred);
            results[N] = detail::reg_word(id);
            r.resident = reg<pred>(*p_, id).same();
        }
        list[n++] = at;
        ((list[n++] = raw_of(lod)), ...);
        if constexpr (detail::is_coordinates<std::remove_cvref_t<E>>) {
            const auto by = offsets<Geom>(static_cast<E&&>(e));
            list[n++] = by.as_vector();
            if constexpr (!detail::is_absent<F>) list[n++] = depth<Geom>(static_cast<F&&>(f), where);
            r.d.set_expression(detail::emit(*p_, detail::ref<Form>(), guard_, where, list, n));
        } else {
            if constexpr (!detail::is_absent<E>) list[n++] = depth<Geom>(static_cast<E&&>(e), where);
            if constexpr (detail::is_absent<E> && !detail::is_absent<F>)
                list[n++] = depth<Geom>(static_cast<F&&>(f), where);
            r.d.set_expression(detail::emit(*p_, detail::ref<Form>(), guard_, where, list, n));
        }
        return r;
    }
    template <tok Geom, class F>
    [[nodiscard]] static constexpr detail::raw_operand depth(F&& f, location where) {
        return detail::as_operand<f32>(static_cast<F&&>(f), where);
    }

    template <class T>
    static constexpr tok word_of = bits_of<T> == 8 ? tok::b8 : isa::type_token(detail::bits_type<T>);
    template <tok... M>
    static constexpr unsigned lanes = (1u * ... *
                                       (M == tok::v2   ? 2u
                                        : M == tok::v4 ? 4u
                                                       : 1u));
    [[nodiscard]] static consteval bool is_mode(tok t) noexcept {
        return t == tok::trap || t == tok::clamp || t == tok::zero;
    }
    [[nodiscard]] static consteval bool is_vector(tok t) noexcept { return t == tok::v2 || t == tok::v4; }
    /// The author's modifiers are cache operator, vector and mode, in any order.
    template <tok Op, tok Kind, tok Geom, tok Type, tok... M>
    using surface_form = detail::compact_form<Tgt, Op, Kind, Geom, (is_mode(M) || is_vector(M) ? tok::none : M)...,
                                              (is_vector(M) ? M : tok::none)..., Type, (is_mode(M) ? M : tok::none)...>;
    template <tok Kind, tok Geom, tok... M, class S, class C, class V>
    constexpr auto store(S&& surface, C&& c, V&& v, location where) const {
        using Value = std::remove_cvref_t<V>;
        if constexpr (detail::is_vec<Value>) {
            using Form = surface_form<tok::sust, Kind, Geom, word_of<typename Value::value_type>,
                                      detail::vector_token(Value::size), M...>;
            detail::require<Form>();
            detail::effect<Form>(ctx(), where, place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where),
                                 detail::vector_operand(static_cast<V&&>(v)));
        } else {
            using T = detail::source_t<V>;
            using Form = surface_form<tok::sust, Kind, Geom, word_of<T>, M...>;
            detail::require<Form>();
            detail::effect<Form>(ctx(), where, place<Geom, true>(static_cast<S&&>(surface), static_cast<C&&>(c), where),
                                 detail::as_operand<T>(static_cast<V&&>(v), where));
        }
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
