// SPDX-License-Identifier: Apache-2.0
// Loads and stores (PTX ISA 9.7.9).
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>

namespace ptxdsl::detail {

/// `.global`, `.shared`, `.shared::cluster` …; generic addresses have no token.
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

[[nodiscard]] consteval tok vector_token(unsigned n) noexcept {
    return n == 2 ? tok::v2 : n == 4 ? tok::v4 : n == 8 ? tok::v8 : tok::none;
}
/// ld and st know the bit, integer and f32/f64 types; everything else moves as bits of its size (PTX ISA 5.2.2).
[[nodiscard]] consteval isa::scalar memory_type(isa::scalar s) noexcept {
    switch (isa::info(s).cls) {
        case isa::type_class::unsigned_int:
        case isa::type_class::signed_int:
        case isa::type_class::bits: return s;
        default: break;
    }
    if (s == isa::scalar::f32 || s == isa::scalar::f64) return s;
    switch (isa::bits(s)) {
        case 8: return isa::scalar::b8;
        case 16: return isa::scalar::b16;
        case 32: return isa::scalar::b32;
        case 64: return isa::scalar::b64;
        default: return isa::scalar::b128;
    }
}
/// The form whose token list is `Toks` without the absent ones (`tok::none`).
template <target Tgt, class Done, tok... Toks>
struct compact;
template <target Tgt, tok... Done>
struct compact<Tgt, std::integer_sequence<tok, Done...>> {
    using type = form<Tgt, Done...>;
};
template <target Tgt, tok... Done, tok First, tok... Rest>
struct compact<Tgt, std::integer_sequence<tok, Done...>, First, Rest...> {
    using type = typename std::conditional_t<First == tok::none, compact<Tgt, std::integer_sequence<tok, Done...>, Rest...>,
                                             compact<Tgt, std::integer_sequence<tok, Done..., First>, Rest...>>::type;
};
template <target Tgt, tok... Toks>
using compact_form = typename compact<Tgt, std::integer_sequence<tok>, Toks...>::type;

template <target Tgt>
class memory_family : public family<Tgt, memory_family<Tgt>> {
    using family<Tgt, memory_family<Tgt>>::ctx;

public:
    /// `ld{.M}.space{.vec}.T d, [p];` — qualifiers in PTX order: `k.ld<px::relaxed, px::gpu>(p)`. A pointer to
    /// `packet<T, N>` loads a `vec<T, N>`. PTX ISA 9.7.9.8.
    template <tok... M, class P>
    constexpr auto ld(P&& p, location where = location::current()) const {
        using Ptr = std::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: ld takes an address (px::global_ptr, px::shared_ptr …)");
        if constexpr (is_ptr_v<Ptr>) {
            using T = typename Ptr::scalar_type;
            constexpr unsigned n = Ptr::lanes;
            check_alignment<Ptr>();
            using F = qualified<tok::ld, Ptr, M...>;
            require<F, rule::b04>();
            if constexpr (n == 1) {
                return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)));
            } else {
                ptxdsl::vec<T, n> d = new_vector<T, n>();
                d.set_expression(effect<F>(ctx(), where, vector_operand(d), address_operand(static_cast<P&&>(p))));
                return d;
            }
        }
    }
    /// `st{.M}.space{.vec}.T [p], v;` PTX ISA 9.7.9.11.
    template <tok... M, class P, class V>
    constexpr void st(P&& p, V&& v, location where = location::current()) const {
        using Ptr = std::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: st takes an address (px::global_ptr, px::shared_ptr …)");
        if constexpr (is_ptr_v<Ptr>) {
            using T = typename Ptr::scalar_type;
            constexpr unsigned n = Ptr::lanes;
            static_assert(!std::is_const_v<typename Ptr::element_type>,
                          "PTXDSL-B02: store through a pointer to const; the kernel declared this memory read-only");
            static_assert(Ptr::state_space != space::constant, "PTXDSL-B02: store to the constant space");
            check_alignment<Ptr>();
            using F = qualified<tok::st, Ptr, M...>;
            require<F, rule::b04>();
            if constexpr (n == 1) {
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), as_operand<T>(static_cast<V&&>(v), where));
            } else {
                static_assert(std::is_same_v<std::remove_cvref_t<V>, vec<T, n>>,
                              "PTXDSL-A07: the vector stored has another length or element type than the pointer's packet");
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), vector_operand(v));
            }
        }
    }

private:
    template <tok Op, class Ptr, tok... M>
    using qualified = compact_form<Tgt, Op, M..., space_token(Ptr::state_space), vector_token(Ptr::lanes),
                                   isa::type_token(memory_type(scalar_of<typename Ptr::scalar_type>))>;

    template <class Ptr>
    static constexpr void check_alignment() noexcept {
        static_assert(Ptr::align >= sizeof(typename Ptr::element_type),
                      "PTXDSL-B03: the address is not known to be aligned to the size of this access; declare the pointer with "
                      "that alignment (px::global_ptr<T, 16>) or state it with p.assume_aligned<16>()");
    }
    template <class T, unsigned N>
    [[nodiscard]] constexpr vec<T, N> new_vector() const {
        ir::program& p = ctx().p;
        vec<T, N> v(p);
        for (unsigned i = 0; i < N; ++i) v.set(i, p.new_reg(scalar_of<T>));
        return v;
    }
    template <class T, unsigned N>
    [[nodiscard]] static constexpr raw_operand vector_operand(const vec<T, N>& v) noexcept {
        raw_operand o;
        o.prog = v.program();
        o.words[0] = ir::head(ir::operand_kind::vec, N);
        o.more = v.words();
        o.more_count = N;
        o.fresh = v.expression();
        return o;
    }
};

}  // namespace ptxdsl::detail
