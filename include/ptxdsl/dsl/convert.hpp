// SPDX-License-Identifier: Apache-2.0
// Moves, packing, conversions and address conversions (PTX ISA 9.7.9).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/dsl/tags.hpp>

namespace ptxdsl {

namespace detail {

/// The bits of `v` as a half, rounded to nearest even.
[[nodiscard]] constexpr std::uint16_t half_bits(float v) noexcept {
    const auto x = __builtin_bit_cast(std::uint32_t, v);
    const std::uint32_t sign = x >> 16 & 0x8000u, magnitude = x & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    const std::uint32_t exponent = magnitude >> 23;
    const bool subnormal = exponent < 113;
    const std::uint32_t shift = subnormal ? 126 - exponent : 13;
    const std::uint32_t mantissa = subnormal ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    const std::uint32_t rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
    std::uint32_t bits = mantissa >> shift;
    if (rest > middle || (rest == middle && (bits & 1u) != 0)) ++bits;
    return static_cast<std::uint16_t>(sign | bits);
}
/// The bits of `v` as a bfloat, rounded to nearest even.
[[nodiscard]] constexpr std::uint16_t brain_bits(float v) noexcept {
    const auto x = __builtin_bit_cast(std::uint32_t, v);
    if ((x & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(x >> 16 | 0x40u);
    return static_cast<std::uint16_t>((x + 0x7fffu + (x >> 16 & 1u)) >> 16);
}

/// What `k.mov_unpack(x)` cuts a value into.
template <class T>
struct unpacked {
    using type = meta::conditional_t<bits_of<T> == 128, b64, meta::conditional_t<bits_of<T> == 64, b32, b16>>;
};
template <> struct unpacked<f16x2> {
    using type = f16;
};
template <> struct unpacked<bf16x2> {
    using type = bf16;
};
template <> struct unpacked<u16x2> {
    using type = u16;
};
template <> struct unpacked<s16x2> {
    using type = s16;
};
template <> struct unpacked<f32x2> {
    using type = f32;
};
template <> struct unpacked<u32> {
    using type = u16;
};
template <> struct unpacked<u64> {
    using type = u32;
};

/// Up to four registers in braces, and the span of those that are nested calls.
struct braces {
    std::uint32_t ids[4] = {};
    ir::span spans[4] = {};
    std::uint32_t n = 0;
    ir::program* prog = nullptr;

    constexpr void add(const raw_operand& o) noexcept {
        ids[n] = list_word(prog, o.prog, o.words[0]);
        spans[n++] = o.prog == prog ? o.fresh : ir::span{};
    }
    template <class Context>
    [[nodiscard]] constexpr raw_operand operand(const Context& k, location where) {
        raw_operand o = vector_of(prog, ids, n);
        o.fresh = settle_spans(k.p, spans, n, where);
        return o;
    }
};

/// `p` as an operand that is no address: a register, or symbol+offset. `rest` is what the register leaves of the
/// offset.
struct bare_address : raw_operand {
    std::int32_t rest = 0;
};
template <class P>
[[nodiscard]] constexpr bare_address bare(P&& p) noexcept {
    bare_address o;
    o.prog = p.program();
    o.words[0] = p.base();
    if constexpr (!meta::is_lvalue_reference_v<P>) o.fresh = p.expression();
    if (ir::kind_of(p.base()) == ir::operand_kind::symbol) {
        o.words[1] = static_cast<std::uint32_t>(p.offset());
        o.count = 2;
    } else {
        o.rest = p.offset();
    }
    return o;
}

}  // namespace detail

/// The upper and the lower half of a packed conversion, named because `cvt` takes the upper one first and `mov {lo,
/// hi}` the lower one: `k.cvt<px::bf16x2, px::rn>(px::hi(a), px::lo(b))`.
template <class A>
struct high {
    A&& value;
};
template <class A>
struct low {
    A&& value;
};
/// `px::hi(a)` names an upper half; as a modifier it is `.hi`.
struct hi_tag {
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator tok() const noexcept { return tok::hi; }
    template <class A>
    [[nodiscard]] constexpr high<A> operator()(A&& a) const noexcept {
        return {static_cast<A&&>(a)};
    }
};
/// `px::lo(a)` names a lower half; as a modifier it is `.lo`.
struct lo_tag {
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator tok() const noexcept { return tok::lo; }
    template <class A>
    [[nodiscard]] constexpr low<A> operator()(A&& a) const noexcept {
        return {static_cast<A&&>(a)};
    }
};
inline constexpr hi_tag hi{};
inline constexpr lo_tag lo{};

/// A register that holds an address, as a typed pointer. Emits nothing; the author vouches for space, type and
/// alignment.
template <space S, class T, unsigned Align = alignof(T), class A>
[[nodiscard]] constexpr auto as_ptr(A&& address) noexcept {
    using P = ptr<S, T, Align>;
    static_assert(meta::is_same_v<typename detail::traits<A>::value, typename P::address_type>,
                  "PTXDSL-B01: an address is a u64 register, a shared-memory address a u32 register");
    if constexpr (meta::is_lvalue_reference_v<A>)
        return P(address.program(), ir::head(ir::operand_kind::reg, address.id()), 0, {});
    else
        return P(address.program(), ir::head(ir::operand_kind::reg, address.id()), 0, address.expression());
}

namespace detail {

template <class>
inline constexpr bool is_high = false;
template <class A>
inline constexpr bool is_high<high<A>> = true;
template <class>
inline constexpr bool is_low = false;
template <class A>
inline constexpr bool is_low<low<A>> = true;
template <class T>
inline constexpr bool is_vec = false;
template <class T, unsigned N>
inline constexpr bool is_vec<vec<T, N>> = true;

/// `.global`, `.shared`, `.shared::cluster` …; generic addresses have no word.
[[nodiscard]] consteval tok space_token(space s) noexcept {
    switch (s) {
        case space::global: return tok::global;
        case space::shared: return tok::shared;
        case space::shared_cluster: return tok::shared__cluster;
        case space::constant: return tok::const_;
        case space::local: return tok::local;
        case space::param: return tok::param;
        default: return tok::none;
    }
}

/// `mov.T d, %special;` with the version and target of the special register.
template <target Tgt, class T, isa::special Id>
struct special_form : form<Tgt, tok::mov, isa::type_token(scalar_of<T>)> {
    static constexpr isa::verdict verdict = [] {
        isa::verdict v = form<Tgt, tok::mov, isa::type_token(scalar_of<T>)>::verdict;
        if (v.since < isa::info(Id).since) v.since = isa::info(Id).since;
        if (!Tgt.at_least(isa::info(Id).sm)) v.st = isa::verdict::status::wrong_target;
        return v;
    }();
};

template <target Tgt>
class convert_family : public family<Tgt, convert_family<Tgt>> {
    using family<Tgt, convert_family<Tgt>>::ctx;

public:
    // ---- mov (PTX ISA 9.7.9.1 to 9.7.9.3) ---------------------------------------------------------------------------

    /// `mov.T d, a;` a new register with the value of a register, or of a special register (which only mov reads).
    template <class A>
        requires(traits<A>::is_reg || traits<A>::is_special)
    constexpr auto mov(A&& a, location where = location::current()) const {
        using T = typename traits<A>::value;
        if constexpr (traits<A>::is_special) {
            raw_operand o;
            o.words[0] = ir::head(ir::operand_kind::special, static_cast<std::uint32_t>(meta::remove_cvref_t<A>::id));
            return checked<special_form<Tgt, T, meta::remove_cvref_t<A>::id>, T>(ctx(), where, o);
        } else {
            return value<form<Tgt, tok::mov, mov_type<T>>, T>(ctx(), where, operand<T>(static_cast<A&&>(a), where));
        }
    }
    /// `mov.T d, literal;` — `k.mov<px::u32>(7)`, `k.mov<px::f32>(0.0f)`, `k.mov<px::bf16>(1.0f)` (its bits, rounded to
    /// nearest even), `k.mov<px::f16x2>(0x3C003C00u)` (bits), `k.mov<px::pred>(true)`.
    template <class T, class V>
        requires meta::is_arithmetic_v<V>
    constexpr auto mov(V v, location where = location::current()) const {
        constexpr isa::type_class cls = class_of<T>;
        using F = form<Tgt, tok::mov, mov_type<T>>;
        if constexpr (meta::is_same_v<T, f16> || meta::is_same_v<T, bf16>) {
            static_assert(meta::is_floating_point_v<V>,
                          "PTXDSL-A03: integer literal for a half register; write it as a float, for example 1.0f");
            const auto wide = static_cast<float>(v);
            const std::uint16_t bits = meta::is_same_v<T, f16> ? half_bits(wide) : brain_bits(wide);
            if (meta::is_same_v<T, f16> && (bits & 0x7fffu) == 0x7c00u && wide < 1e30f && wide > -1e30f)
                ctx().p.report("A03", where, {"literal outside the range of f16, whose largest value is 65504"});
            return value<F, T>(ctx(), where, operand<u16>(bits, where));
        } else if constexpr (cls == isa::type_class::predicate) {
            static_assert(meta::is_same_v<V, bool>, "PTXDSL-A02: a predicate register takes true or false");
            return value<F, T>(ctx(), where, operand<u32>(v ? 1 : 0, where));
        } else if constexpr (cls == isa::type_class::packed || (cls == isa::type_class::floating &&
                                                                !meta::is_same_v<T, f32> && !meta::is_same_v<T, f64>)) {
            static_assert(meta::is_integral_v<V>,
                          "PTXDSL-A03: a literal of this type is written as its bits: k.mov<px::f16x2>(0x3C003C00u)");
            using B = meta::conditional_t<bits_of<T> == 64, b64, meta::conditional_t<bits_of<T> == 32, b32, b16>>;
            return value<F, T>(ctx(), where, operand<B>(v, where));
        } else {
            return value<F, T>(ctx(), where, operand<T>(v, where));
        }
    }
    /// Refuses a literal whose type is not named, with a sentence (A03).
    template <class... Named, class V>
        requires(sizeof...(Named) == 0 && meta::is_arithmetic_v<V>)
    constexpr auto mov(V, location = location::current()) const {
        static_assert(always_false<V>,
                      "PTXDSL-A03: mov of a literal names the type of its register: k.mov<px::u32>(7), "
                      "k.mov<px::f32>(0.0f)");
        return reg<u32>();
    }
    /// Refuses a type beside a register, with a sentence (A14).
    template <class T, class A>
        requires(traits<A>::is_reg)
    constexpr auto mov(A&&, location = location::current()) const {
        static_assert(
            always_false<T>,
            "PTXDSL-A14: k.mov<T>(7) names the type of a literal; a register is copied by k.mov(x), converted by "
            "k.cvt<T>(x), its bits are copied by k.mov_b32<T>(x)");
        return reg<T>();
    }
    /// Refuses a destination in front, as PTX has it, with a sentence (A16).
    template <class D, class A>
        requires(traits<D>::is_reg && !meta::is_same_v<meta::remove_cvref_t<A>, location>)
    constexpr auto mov(D&&, A&&, location = location::current()) const {
        static_assert(always_false<D>,
                      "PTXDSL-A16: a call returns its result; d = k.mov(a) and d = 0.0f write the register d");
    }
    /// `mov.b16 d, a;` the same bits as a `T`.
    template <class T, class A = absent>
    constexpr auto mov_b16(A&& a = {}, location where = location::current()) const {
        return bits<16, tok::b16, T>(static_cast<A&&>(a), where);
    }
    /// `mov.b32 d, a;` the same bits as a `T`: `k.mov_b32<px::u32>(f)`.
    template <class T, class A = absent>
    constexpr auto mov_b32(A&& a = {}, location where = location::current()) const {
        return bits<32, tok::b32, T>(static_cast<A&&>(a), where);
    }
    /// `mov.b64 d, a;` the same bits as a `T`.
    template <class T, class A = absent>
    constexpr auto mov_b64(A&& a = {}, location where = location::current()) const {
        return bits<64, tok::b64, T>(static_cast<A&&>(a), where);
    }
    /// `mov.b32 d, {lo, hi};` — `k.mov_pack<px::b32>(lo, hi)`, two or four registers, lowest bits first. PTX
    /// ISA 9.7.9.3.
    template <class T, class A, class B = absent, class C = absent, class D = absent>
    constexpr auto mov_pack(A&& a, B&& b = {}, C&& c = C{}, D&& d = D{}, location where = location::current()) const {
        static_assert(is_absent<C> == is_absent<D>, "PTXDSL-A07: mov packs two or four registers");
        constexpr unsigned n = is_absent<C> ? 2 : 4;
        braces list;
        element<bits_of<T> / n>(list, static_cast<A&&>(a), where);
        element<bits_of<T> / n>(list, static_cast<B&&>(b), where);
        if constexpr (n == 4) {
            element<bits_of<T> / n>(list, static_cast<C&&>(c), where);
            element<bits_of<T> / n>(list, static_cast<D&&>(d), where);
        }
        return checked<form<Tgt, tok::mov, bit_word<T>>, T>(ctx(), where, list.operand(ctx(), where));
    }
    /// `mov.b32 {lo, hi}, a;` — `auto [lo, hi] = k.mov_unpack(x)`, lowest bits first; `k.mov_unpack<px::b16>(x)` names
    /// the element type. PTX ISA 9.7.9.3.
    template <class E = void, class A = absent>
    constexpr auto mov_unpack(A&& a = {}, location where = location::current()) const {
        using T = source_t<A>;
        using X = typename meta::conditional_t<meta::is_void_v<E>, unpacked<T>, meta::type_identity<E>>::type;
        constexpr unsigned n = bits_of<T> / bits_of<X>;
        static_assert(n == 2 || n == 4, "PTXDSL-A07: mov cuts a register into two or four parts");
        using F = form<Tgt, tok::mov, bit_word<T>>;
        require<F>();
        const context k = ctx();
        vec<X, n> d(k.p);
        for (unsigned i = 0; i < n; ++i) d.set(i, k.p.new_reg(scalar_of<X>));
        d.set_expression(effect<F>(k, where, vector_operand(d), as_operand<T>(static_cast<A&&>(a), where)));
        return d;
    }
    /// Declares a register without a value, to assign later or to pass to `k.inst`. Emits nothing.
    template <class T>
    [[nodiscard]] constexpr auto new_reg(string_view name = {}) const {
        return reg<T>(ctx().p, ctx().p.new_reg(scalar_of<T>, name), to_be_named);
    }

    // ---- cvt (PTX ISA 9.7.9.21, 9.7.9.22) ---------------------------------------------------------------------------

    /// `cvt{.M}.D.A d, a;` — `k.cvt<px::f32>(i8)`, `k.cvt<px::s32, px::rzi>(f)`, `k.cvt<px::bf16, px::rn>(f)`. Packed:
    /// `k.cvt<px::bf16x2, px::rn>(px::hi(a), px::lo(b))`; `.rs` takes the random bits last. PTX ISA 9.7.9.21.
    template <class D, tok... M, class A = absent, class B = absent, class C = absent>
    constexpr auto cvt(A&& a = {}, B&& b = B{}, C&& c = C{}, location where = location::current()) const {
        if constexpr (is_high<meta::remove_cvref_t<A>> || is_low<meta::remove_cvref_t<A>>) {
            static_assert(
                is_high<meta::remove_cvref_t<A>> && is_low<meta::remove_cvref_t<B>>,
                "PTXDSL-A13: a packed conversion names its halves, the upper one first: k.cvt<px::bf16x2, px::rn>(px::hi(a), px::lo(b))");
            if constexpr (is_high<meta::remove_cvref_t<A>> && is_low<meta::remove_cvref_t<B>>) {
                using F = form<Tgt, tok::cvt, M..., isa::type_token(scalar_of<D>), tok::f32>;
                require<F, rule::a09>();
                const operand<f32> upper = half<f32>(a, where), lower = half<f32>(b, where);
                if constexpr (is_absent<C>)
                    return value<F, D>(ctx(), where, upper, lower);
                else
                    return value<F, D>(ctx(), where, upper, lower, as_operand<u32>(static_cast<C&&>(c), where));
            } else {
                return reg<D>();
            }
        } else if constexpr (is_vec<meta::remove_cvref_t<A>>) {
            using F = form<Tgt, tok::cvt, M..., isa::type_token(scalar_of<D>), tok::f32>;
            require<F, rule::a09>();
            static_assert(meta::is_same_v<meta::remove_cvref_t<A>, vec<f32, 4>>,
                          "PTXDSL-A07: cvt to four packed elements takes a vec<f32, 4>");
            return value<F, D>(ctx(), where, vector_operand(static_cast<A&&>(a)),
                               as_operand<u32>(static_cast<B&&>(b), where));
        } else {
            static_assert(is_absent<B>,
                          "PTXDSL-A13: a packed conversion names its halves, the upper one first: "
                          "k.cvt<px::bf16x2, px::rn>(px::hi(a), px::lo(b))");
            using T = source_t<A>;
            using F = form<Tgt, tok::cvt, M..., isa::type_token(scalar_of<D>), isa::type_token(scalar_of<T>)>;
            require<F, rule::a09>();
            const operand<T> from = as_operand<T>(static_cast<A&&>(a), where);
            auto d = value<F, D>(ctx(), where, from);
            if constexpr (is_integral_class<T> && is_integral_class<D> && bits_of<T> == 64 && bits_of<D> == 32)
                note_cut(ctx().p, from.words[0], d.id());
            return d;
        }
    }
    /// `cvt.pack.sat.D.s32{.b32} d, a, b{, c};` — `k.cvt_pack<px::u8>(px::hi(a), px::lo(b), c)`; `c` fills the upper
    /// bits of results narrower than 16 bits. PTX ISA 9.7.9.22.
    template <class D, class A, class B = absent, class C = absent>
    constexpr auto cvt_pack(A&& a, B&& b = {}, C&& c = C{}, location where = location::current()) const {
        return cvt_pack<isa::type_token(scalar_of<D>)>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                                       where);
    }
    /// The same for results without a C++ type: `k.cvt_pack<px::tok::u4>(…)`.
    template <tok D, class A, class B = absent, class C = absent>
    constexpr auto cvt_pack(A&& a, B&& b = {}, C&& c = C{}, location where = location::current()) const {
        constexpr bool named = is_high<meta::remove_cvref_t<A>> && is_low<meta::remove_cvref_t<B>>;
        static_assert(
            named,
            "PTXDSL-A13: cvt.pack names its halves, the upper one first: k.cvt_pack<px::u8>(px::hi(a), px::lo(b), c)");
        if constexpr (!named) {
            return reg<u32>();
        } else if constexpr (is_absent<C>) {
            using F = form<Tgt, tok::cvt, tok::pack, tok::sat, D, tok::s32>;
            require<F, rule::a09>();
            return value<F, u32>(ctx(), where, half<s32>(a, where), half<s32>(b, where));
        } else {
            using F = form<Tgt, tok::cvt, tok::pack, tok::sat, D, tok::s32, tok::b32>;
            require<F, rule::a09>();
            return value<F, u32>(ctx(), where, half<s32>(a, where), half<s32>(b, where),
                                 as_operand<u32>(static_cast<C&&>(c), where));
        }
    }

    // ---- addresses (PTX ISA 9.7.9.18 to 9.7.9.24) -------------------------------------------------------------------

    /// `mov.u64 d, symbol+offset;` or `add.s64 d, base, offset;`: the address in a register (u32 for shared memory).
    template <class P = absent>
    constexpr auto address(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: address takes a pointer");
        using A = typename Ptr::address_type;
        const bare_address a = bare(static_cast<P&&>(p));
        if (a.rest == 0) return value<form<Tgt, tok::mov, isa::type_token(scalar_of<A>)>, A>(ctx(), where, a);
        return value<form<Tgt, tok::add, bits_of<A> == 64 ? tok::s64 : tok::s32>, A>(ctx(), where, a,
                                                                                     operand<s32>(a.rest, where));
    }
    /// `cvta.space.u64 d, a;` the generic address of a global, constant, local or param one. PTX ISA 9.7.9.20.
    template <class P = absent>
    constexpr auto cvta(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: cvta takes a pointer");
        static_assert(
            !is_narrow(Ptr::state_space),
            "PTXDSL-B01: cvta.shared reads a 64-bit register, shared addresses have 32; k.to_generic(p) widens first");
        static_assert(Ptr::state_space != space::generic, "PTXDSL-B01: this address is generic already");
        using F = compact_form<Tgt, tok::cvta, space_token(Ptr::state_space), tok::u64>;
        require<F, rule::b01>();
        const bare_address a = bare(static_cast<P&&>(p));
        const reg<u64> d = value<F, u64>(ctx(), where, a);
        return retarget<space::generic, Ptr>(d, a.rest);
    }
    /// `cvta.to.space.u64 d, a;` — `k.cvta_to<px::space::global>(generic)`. PTX ISA 9.7.9.20.
    template <space S, class P = absent>
    constexpr auto cvta_to(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: cvta.to takes a generic pointer");
        static_assert(Ptr::state_space == space::generic,
                      "PTXDSL-B01: cvta.to converts generic addresses; this one has a space already");
        static_assert(!is_narrow(S),
                      "PTXDSL-B01: shared addresses have 32 bits; k.to_shared(p) narrows the result of cvta.to.shared");
        using F = compact_form<Tgt, tok::cvta, tok::to, space_token(S), tok::u64>;
        require<F, rule::b01>();
        const bare_address a = bare(static_cast<P&&>(p));
        const reg<u64> d = value<F, u64>(ctx(), where, a);
        return retarget<S, Ptr>(d, a.rest);
    }
    /// Two instructions: `cvt.u64.u32 w, a; cvta.shared.u64 d, w;` the generic address of a shared one.
    template <class P = absent>
    constexpr auto to_generic(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: to_generic takes a pointer");
        static_assert(is_narrow(Ptr::state_space),
                      "PTXDSL-B01: to_generic widens shared addresses; for the others k.cvta(p)");
        using F = compact_form<Tgt, tok::cvta, space_token(Ptr::state_space), tok::u64>;
        return retarget<space::generic, Ptr>(
            value<F, u64>(ctx(), where,
                          operand<u64>(value<form<Tgt, tok::cvt, tok::u64, tok::u32>, u64>(
                                           ctx(), where, operand<u32>(address(static_cast<P&&>(p), where), where)),
                                       where)),
            0);
    }
    /// Two instructions: `cvta.to.shared.u64 w, a; cvt.u32.u64 d, w;` the shared address of a generic one.
    template <class P = absent>
    constexpr auto to_shared(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: to_shared takes a pointer");
        static_assert(Ptr::state_space == space::generic, "PTXDSL-B01: to_shared converts generic addresses");
        const bare_address a = bare(static_cast<P&&>(p));
        return retarget<space::shared, Ptr>(
            value<form<Tgt, tok::cvt, tok::u32, tok::u64>, u32>(
                ctx(), where,
                operand<u64>(value<form<Tgt, tok::cvta, tok::to, tok::shared, tok::u64>, u64>(ctx(), where, a), where)),
            a.rest);
    }
    /// `isspacep.space p, a;` — `k.isspacep<px::space::shared>(generic)`. PTX ISA 9.7.9.19.
    template <space S, class P = absent>
    constexpr auto isspacep(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: isspacep takes a generic pointer");
        static_assert(Ptr::state_space == space::generic,
                      "PTXDSL-B01: isspacep asks about generic addresses; this one has a space already");
        using F = compact_form<Tgt, tok::isspacep, space_token(S)>;
        require<F, rule::b01>();
        return value<F, pred>(ctx(), where, bare(static_cast<P&&>(p)));
    }
    /// `mapa.shared::cluster.u32 d, a, cta;` the same place in the shared memory of block `cta` of the cluster
    /// (`mapa.u64` for generic addresses). PTX ISA 9.7.9.23.
    template <class P, class C = absent>
        requires(is_ptr_v<P> || traits<P>::is_reg)
    constexpr auto mapa(P&& p, C&& cta = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: mapa takes a shared or generic pointer");
        static_assert(Ptr::state_space == space::shared || Ptr::state_space == space::generic,
                      "PTXDSL-B01: mapa takes an address of the own block's shared memory, or a generic one");
        constexpr bool narrow = is_narrow(Ptr::state_space);
        using F = compact_form<Tgt, tok::mapa, narrow ? tok::shared__cluster : tok::none, narrow ? tok::u32 : tok::u64>;
        require<F, rule::b01>();
        const bare_address a = bare(static_cast<P&&>(p));
        return retarget<narrow ? space::shared_cluster : space::generic, Ptr>(
            value<F, typename Ptr::address_type>(ctx(), where, a, as_operand<u32>(static_cast<C&&>(cta), where)),
            a.rest);
    }
    /// `getctarank.shared::cluster.u32 d, a;` the block of the cluster whose shared memory holds the address. PTX
    /// ISA 9.7.9.24.
    template <class P = absent>
    constexpr auto getctarank(P&& p = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: getctarank takes a pointer");
        static_assert(is_narrow(Ptr::state_space) || Ptr::state_space == space::generic,
                      "PTXDSL-B01: getctarank takes a shared or generic pointer");
        constexpr bool narrow = is_narrow(Ptr::state_space);
        return checked<
            compact_form<Tgt, tok::getctarank, narrow ? tok::shared__cluster : tok::none, narrow ? tok::u32 : tok::u64>,
            u32, rule::b01>(ctx(), where, bare(static_cast<P&&>(p)));
    }

private:
    template <class T>
    static constexpr tok mov_type = isa::type_token(ir::program::register_type(scalar_of<T>));
    /// Bit type of the size of `T`, for packing.
    template <class T>
    static constexpr tok bit_word = bits_of<T> == 128 ? tok::b128 : isa::type_token(bits_type<T>);

    template <unsigned Bits, tok Word, class T, class A>
    constexpr auto bits(A&& a, location where) const {
        using S = source_t<A>;
        static_assert(bits_of<S> == Bits && bits_of<T> == Bits,
                      "PTXDSL-A01: mov.b16, mov.b32 and mov.b64 copy bits between registers of exactly that size");
        return value<form<Tgt, tok::mov, Word>, T>(ctx(), where, as_operand<S>(static_cast<A&&>(a), where));
    }
    template <unsigned Bits, class A>
    static constexpr auto element(braces& list, A&& a, location where) {
        using T = source_t<A>;
        static_assert(bits_of<T> == Bits, "PTXDSL-A01: the registers packed together have not the size of the result");
        list.add(as_operand<T>(static_cast<A&&>(a), where));
    }
    /// The operand inside `px::hi(a)` or `px::lo(a)`.
    template <class T, template <class> class Half, class A>
    [[nodiscard]] static constexpr auto half(Half<A>& h, location where) {
        return as_operand<T>(static_cast<A&&>(h.value), where);
    }
    /// A pointer like `Ptr` in space `S` whose base is register `d`.
    template <space S, class Ptr, class A>
    [[nodiscard]] static constexpr auto retarget(const reg<A>& d, std::int32_t offset) noexcept {
        return ptr<S, typename Ptr::element_type, Ptr::align>(d.program(), reg_word(d.id()), offset, d.expression());
    }
};

}  // namespace detail
}  // namespace ptxdsl
