// SPDX-License-Identifier: Apache-2.0
// Video instructions: arithmetic on bytes and halves of words (PTX ISA 9.7.16, 9.7.17). Opt-in:
//
//   #include <ptxdsl/dsl/video.hpp>
//   constexpr void blend(px::builder<px::sm_90a, px::video_calls>& k, …) { … k.vadd<px::s32,
//   px::sat>(px::part<"b0">(a), px::part<"h1">(b)) … }
//
// The first template argument is the result's type; those of the operands are their registers'. Modifiers in PTX order.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/dsl/builder.hpp>

#include <type_traits>

namespace ptxdsl {

/// A register of which an instruction reads a part, or the negative. Made by `px::part` and `px::minus`.
template <class T, isa::video_selector Selector, bool Minus>
struct video_operand {
    ir::program* prog;
    std::uint32_t id;
    ir::span expression;
};

namespace detail {

template <class>
inline constexpr bool is_video_operand = false;
template <class T, isa::video_selector S, bool Minus>
inline constexpr bool is_video_operand<video_operand<T, S, Minus>> = true;

/// The packed selector of a literal, 0 when it is none.
template <fixed_string Text>
inline constexpr isa::video_selector selector_text = isa::selector_of(Text.view().data(), Text.view().size());

/// Type and form of one operand.
template <class A>
struct video_source {
    using type = source_t<A>;
    static constexpr isa::operand_shape shape{isa::shape_kind::reg, scalar_of<type>};
    template <class V>
    [[nodiscard]] static constexpr raw_operand raw(ir::program&, V&& a, location where) {
        return as_operand<type>(static_cast<V&&>(a), where);
    }
};
template <class T, isa::video_selector S, bool Minus>
struct video_source<video_operand<T, S, Minus>> {
    using type = T;
    static constexpr isa::operand_shape shape{isa::shape_kind::reg, scalar_of<T>, 1, space::generic, 0, S, Minus};
    [[nodiscard]] static constexpr raw_operand raw(ir::program& p, const video_operand<T, S, Minus>& a, location) {
        raw_operand o = pair_operand(p, reg_word(a.id), ir::selected(S, Minus));
        o.prog = a.prog;
        o.fresh = a.expression;
        return o;
    }
};
template <>
struct video_source<absent> {
    using type = u32;
    static constexpr isa::operand_shape shape{};
};
template <class A>
using video_source_of = video_source<
    std::conditional_t<is_video_operand<std::remove_cvref_t<A>> || is_absent<A>, std::remove_cvref_t<A>, A>>;

/// A form with its operands, so that the table judges selectors and signs, too.
template <target Tgt, isa::video_selector To, class D, class A, class B, class C, tok... Toks>
struct video_form : compact_form<Tgt, Toks...> {
    using base = compact_form<Tgt, Toks...>;
    static constexpr isa::operand_shape shapes[4] = {{isa::shape_kind::reg, scalar_of<D>, 1, space::generic, 0, To},
                                                     video_source_of<A>::shape,
                                                     video_source_of<B>::shape,
                                                     video_source_of<C>::shape};
    static constexpr isa::verdict verdict = isa::find(base::packed.t, base::count, shapes, is_absent<C> ? 3 : 4, Tgt);
};

template <isa::video_selector S, class T, isa::video_selector Old, bool Minus>
[[nodiscard]] constexpr video_operand<T, S, Minus> select_again(const video_operand<T, Old, Minus>& x) noexcept {
    static_assert(Old == 0, "PTXDSL-A14: an operand has one selector");
    return {x.prog, x.id, x.expression};
}
template <class T, isa::video_selector S, bool Minus>
[[nodiscard]] constexpr video_operand<T, S, !Minus> negate_again(const video_operand<T, S, Minus>& x) noexcept {
    return {x.prog, x.id, x.expression};
}

template <class R>
inline constexpr bool is_video_register = traits<R>::is_reg || is_video_operand<std::remove_cvref_t<R>>;

}  // namespace detail

/// Part of a word: `px::part<"b0">(x)` one of `b0` … `b3`, `h0`, `h1`; `"h10"` two halves, `"b7654"` four bytes of both
/// sources.
template <fixed_string Selector, class R>
[[nodiscard]] constexpr auto part(R&& x) noexcept {
    using V = std::remove_cvref_t<R>;
    static_assert(detail::selector_text<Selector> != 0,
                  "PTXDSL-A14: a video selector is b or h and up to four digits: b0, h1, h10, b3210");
    if constexpr (detail::is_video_operand<V>) {
        return detail::select_again<detail::selector_text<Selector>>(x);
    } else {
        static_assert(detail::traits<R>::is_reg, "PTXDSL-A14: only registers have parts");
        return video_operand<typename detail::traits<R>::value, detail::selector_text<Selector>, false>{
            x.program(), x.id(), std::is_lvalue_reference_v<R> ? ir::span{} : x.expression()};
    }
}
/// `-x`: the product or the third operand of `k.vmad`.
template <class R>
[[nodiscard]] constexpr auto minus(R&& x) noexcept {
    using V = std::remove_cvref_t<R>;
    if constexpr (detail::is_video_operand<V>) {
        return detail::negate_again(x);
    } else {
        static_assert(detail::traits<R>::is_reg, "PTXDSL-A14: only registers can be negated here");
        return video_operand<typename detail::traits<R>::value, 0, true>{
            x.program(), x.id(), std::is_lvalue_reference_v<R> ? ir::span{} : x.expression()};
    }
}

template <target Tgt>
class video_calls {
public:
    constexpr video_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    /// `vadd.D.A.B{.M} d, a, b{, c};` `k.vadd<px::s32, px::sat, px::tok::add>(a, b, c)`. PTX ISA 9.7.16.1.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vadd(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vadd, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vadd.D.A.B{.M} d, a, b, c;` with the result merged into part `To` of `c`: `k.vadd_into<"h1", px::s32>(a, b, c)`
    /// writes `d.h1`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vadd_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vadd, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub.D.A.B{.M} d, a, b{, c};` `k.vsub<px::s32, px::sat, px::tok::add>(a, b, c)`. PTX ISA 9.7.16.1.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vsub(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vsub, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub.D.A.B{.M} d, a, b, c;` with the result merged into part `To` of `c`: `k.vsub_into<"h1", px::s32>(a, b, c)`
    /// writes `d.h1`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vsub_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vsub, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vabsdiff.D.A.B{.M} d, a, b{, c};` `k.vabsdiff<px::s32, px::sat, px::tok::add>(a, b, c)`. PTX ISA 9.7.16.1.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vabsdiff(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vabsdiff, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                     static_cast<C&&>(c));
    }
    /// `vabsdiff.D.A.B{.M} d, a, b, c;` with the result merged into part `To` of `c`: `k.vabsdiff_into<"h1",
    /// px::s32>(a, b, c)` writes `d.h1`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vabsdiff_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vabsdiff, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                             static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin.D.A.B{.M} d, a, b{, c};` `k.vmin<px::s32, px::sat, px::tok::add>(a, b, c)`. PTX ISA 9.7.16.1.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vmin(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vmin, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin.D.A.B{.M} d, a, b, c;` with the result merged into part `To` of `c`: `k.vmin_into<"h1", px::s32>(a, b, c)`
    /// writes `d.h1`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmin_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmin, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax.D.A.B{.M} d, a, b{, c};` `k.vmax<px::s32, px::sat, px::tok::add>(a, b, c)`. PTX ISA 9.7.16.1.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vmax(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vmax, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax.D.A.B{.M} d, a, b, c;` with the result merged into part `To` of `c`: `k.vmax_into<"h1", px::s32>(a, b, c)`
    /// writes `d.h1`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmax_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmax, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vshl.D.A.u32{.M} d, a, b{, c};` `k.vshl<px::u32, px::tok::clamp>(a, b)`; M is `.sat`, `.clamp` or `.wrap`,
    /// second operation. PTX ISA 9.7.16.2.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vshl(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vshl, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vshl.D.A.u32{.M} d, a, b, c;` with the result merged into part `To` of `c`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vshl_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vshl, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vshr.D.A.u32{.M} d, a, b{, c};` `k.vshr<px::u32, px::tok::clamp>(a, b)`; M is `.sat`, `.clamp` or `.wrap`,
    /// second operation. PTX ISA 9.7.16.2.
    template <class D, tok... M, class A, class B, class C = detail::absent>
    constexpr auto vshr(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return arithmetic<tok::vshr, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vshr.D.A.u32{.M} d, a, b, c;` with the result merged into part `To` of `c`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vshr_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vshr, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                         static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmad.D.A.B{.M} d, a, b, c;` M is `.po`, `.sat`, `.shr7` or `.shr15`; `px::minus(a)` negates the product or `c`.
    /// PTX ISA 9.7.16.3.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vmad(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmad, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset.A.B.M d, a, b{, c};` 1 where the comparison holds: `k.vset<px::lt>(a, b)`. PTX ISA 9.7.16.4.
    template <tok... M, class A, class B, class C = detail::absent>
    constexpr auto vset(A&& a, B&& b, C&& c = C{}, location where = location::current()) const {
        return comparison<tok::vset, 0, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset.A.B.M d, a, b, c;` with the result merged into part `To` of `c`.
    template <fixed_string To, tok... M, class A, class B, class C>
    constexpr auto vset_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return comparison<tok::vset, detail::selector_text<To>, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                                      static_cast<C&&>(c));
    }
    /// `vadd2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vadd2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vadd2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vadd2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vadd2_into<"h1", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vadd2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vadd2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vsub2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vsub2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vsub2_into<"h1", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vsub2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vsub2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vavrg2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vavrg2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vavrg2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                   static_cast<C&&>(c));
    }
    /// `vavrg2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vavrg2_into<"h1", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vavrg2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vavrg2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                           static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vabsdiff2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vabsdiff2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vabsdiff2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                      static_cast<C&&>(c));
    }
    /// `vabsdiff2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vabsdiff2_into<"h1",
    /// px::u32>(a, b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vabsdiff2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vabsdiff2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                              static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vmin2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmin2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vmin2_into<"h1", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmin2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmin2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax2.D.A.B{.M} d, a, b, c;` all halves; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vmax2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmax2, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax2.D.A.B{.M} d, a, b, c;` the halves that `To` names, the others from `c`: `k.vmax2_into<"h1", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmax2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmax2, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset2.A.B.M d, a, b, c;` all halves: `k.vset2<px::lt>(a, b, c)`; M is the comparison, then `.add`. PTX
    /// ISA 9.7.17.
    template <tok... M, class A, class B, class C>
    constexpr auto vset2(A&& a, B&& b, C&& c, location where = location::current()) const {
        return comparison<tok::vset2, 0, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset2.A.B.M d, a, b, c;` the halves that `To` names.
    template <fixed_string To, tok... M, class A, class B, class C>
    constexpr auto vset2_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return comparison<tok::vset2, detail::selector_text<To>, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                                       static_cast<C&&>(c));
    }
    /// `vadd4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vadd4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vadd4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vadd4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vadd4_into<"b20", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vadd4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vadd4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vsub4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vsub4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vsub4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vsub4_into<"b20", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vsub4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vsub4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vavrg4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vavrg4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vavrg4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                   static_cast<C&&>(c));
    }
    /// `vavrg4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vavrg4_into<"b20", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vavrg4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vavrg4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                           static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vabsdiff4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vabsdiff4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vabsdiff4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                      static_cast<C&&>(c));
    }
    /// `vabsdiff4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vabsdiff4_into<"b20",
    /// px::u32>(a, b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vabsdiff4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vabsdiff4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                              static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vmin4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmin4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmin4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vmin4_into<"b20", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmin4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmin4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax4.D.A.B{.M} d, a, b, c;` all bytes; M is `.sat` or `.add`. PTX ISA 9.7.17.
    template <class D, tok... M, class A, class B, class C>
    constexpr auto vmax4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmax4, 0, D, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vmax4.D.A.B{.M} d, a, b, c;` the bytes that `To` names, the others from `c`: `k.vmax4_into<"b20", px::u32>(a,
    /// b, c)`.
    template <fixed_string To, class D, tok... M, class A, class B, class C>
    constexpr auto vmax4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return arithmetic<tok::vmax4, detail::selector_text<To>, D, M...>(where, static_cast<A&&>(a),
                                                                          static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset4.A.B.M d, a, b, c;` all bytes: `k.vset4<px::lt>(a, b, c)`; M is the comparison, then `.add`. PTX
    /// ISA 9.7.17.
    template <tok... M, class A, class B, class C>
    constexpr auto vset4(A&& a, B&& b, C&& c, location where = location::current()) const {
        return comparison<tok::vset4, 0, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `vset4.A.B.M d, a, b, c;` the bytes that `To` names.
    template <fixed_string To, tok... M, class A, class B, class C>
    constexpr auto vset4_into(A&& a, B&& b, C&& c, location where = location::current()) const {
        return comparison<tok::vset4, detail::selector_text<To>, M...>(where, static_cast<A&&>(a), static_cast<B&&>(b),
                                                                       static_cast<C&&>(c));
    }

private:
    [[nodiscard]] static consteval bool is_shift(tok op) noexcept { return op == tok::vshl || op == tok::vshr; }
    template <class A>
    static constexpr tok type_of = isa::type_token(scalar_of<typename detail::video_source_of<A>::type>);

    template <tok Op, isa::video_selector To, class D, tok... M, class A, class B, class C>
    constexpr reg<D> arithmetic(location where, A&& a, B&& b, C&& c) const {
        if constexpr (registers<A, B, C>()) {
            using F = detail::video_form<Tgt, To, D, A, B, C, Op, isa::type_token(scalar_of<D>), type_of<A>,
                                         is_shift(Op) ? tok::u32 : type_of<B>, M...>;
            require_video<F>();
            return emit<F, D, To>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
        } else {
            return {};
        }
    }
    template <tok Op, isa::video_selector To, tok... M, class A, class B, class C>
    constexpr reg<u32> comparison(location where, A&& a, B&& b, C&& c) const {
        if constexpr (registers<A, B, C>()) {
            using F = detail::video_form<Tgt, To, u32, A, B, C, Op, type_of<A>, type_of<B>, M...>;
            require_video<F>();
            return emit<F, u32, To>(where, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
        } else {
            return {};
        }
    }
    template <class A, class B, class C>
    static constexpr bool registers() noexcept {
        constexpr bool all = detail::is_video_register<A> && detail::is_video_register<B> &&
                             (detail::is_absent<C> || detail::is_video_register<C>);
        static_assert(all,
                      "PTXDSL-A14: a video instruction takes registers, and px::part or px::minus of them; load "
                      "literals with k.mov");
        return all;
    }
    template <class F>
    static constexpr auto require_video() noexcept {
        using status = isa::verdict::status;
        static_assert(F::verdict.st != status::operand_count,
                      "PTXDSL-A16: this form takes another number of operands: c belongs to a second operation, to a "
                      "part written, and to halves and bytes");
        static_assert(F::verdict.st != status::bad_operand,
                      "PTXDSL-A14: the instruction takes no such type, selector or sign for one of its operands (parts "
                      "are b0 to b3, h0 and h1; halves hxy with 0 to "
                      "3; bytes bwxyz with 0 to 7; only vmad negates, and only one operand)");
        if constexpr (F::verdict.st != status::operand_count && F::verdict.st != status::bad_operand)
            detail::require<F>();
    }
    template <class F, class D, isa::video_selector To, class A, class B, class C>
    constexpr auto emit(location where, A&& a, B&& b, C&& c) const {
        const std::uint32_t d = p_->new_reg(scalar_of<D>);
        detail::raw_operand to = detail::reg_operand(*p_, d);
        if constexpr (To != 0) to = detail::pair_operand(*p_, detail::reg_word(d), ir::selected(To, false));
        const detail::raw_operand x = detail::video_source_of<A>::raw(*p_, static_cast<A&&>(a), where);
        const detail::raw_operand y = detail::video_source_of<B>::raw(*p_, static_cast<B&&>(b), where);
        const detail::context k{*p_, guard_};
        if constexpr (detail::is_absent<C>)
            return reg<D>(*p_, d, detail::effect<F>(k, where, to, x, y));
        else
            return reg<D>(*p_, d,
                          detail::effect<F>(k, where, to, x, y,
                                            detail::video_source_of<C>::raw(*p_, static_cast<C&&>(c), where)));
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
