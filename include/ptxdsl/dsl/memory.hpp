// SPDX-License-Identifier: Apache-2.0
// Loads, stores, prefetches and cache policies (PTX ISA 9.7.9).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/convert.hpp>
#include <ptxdsl/dsl/pointer.hpp>

namespace ptxdsl::detail {

[[nodiscard]] consteval tok vector_token(unsigned n) noexcept {
    return n == 2 ? tok::v2 : n == 4 ? tok::v4 : n == 8 ? tok::v8 : tok::none;
}

/// Where a qualifier stands: `op.first.space.second.L2::cache_hint.prefetch.vector.type`.
enum class place : std::uint8_t { first, second, hint, prefetch, vector };
[[nodiscard]] consteval place place_of(tok t) noexcept {
    switch (t) {
        case tok::weak:
        case tok::volatile_:
        case tok::relaxed:
        case tok::acquire:
        case tok::release:
        case tok::acq_rel:
        case tok::mmio:
        case tok::cta:
        case tok::cluster:
        case tok::gpu:
        case tok::sys: return place::first;
        case tok::L2__cache_hint: return place::hint;
        case tok::L2__64B:
        case tok::L2__128B:
        case tok::L2__256B: return place::prefetch;
        case tok::v2:
        case tok::v4:
        case tok::v8: return place::vector;
        default: return place::second;
    }
}
[[nodiscard]] consteval tok only(tok t, place p) noexcept { return place_of(t) == p ? t : tok::none; }

/// Elements of one access: the packet's, or those of `.v2`, `.v4`, `.v8` among the modifiers.
template <class Ptr, tok... M>
inline constexpr unsigned lanes_of = (Ptr::lanes * ... * (place_of(M) == place::vector ? isa::token_count_of(M) : 1u));

/// What every access through a pointer must satisfy (rows A07, B02, B03).
template <class Ptr, bool Writes, tok... M>
constexpr auto check_access() noexcept {
    static_assert(!Writes || !meta::is_const_v<typename Ptr::element_type>,
                  "PTXDSL-B02: write through a pointer to const; the kernel declared this memory read-only");
    static_assert(!Writes || Ptr::state_space != space::constant, "PTXDSL-B02: write to the constant space");
    static_assert(Ptr::lanes == 1 || lanes_of<Ptr, M...> == Ptr::lanes,
                  "PTXDSL-A07: the pointer's packet is a vector already; leave out .v2, .v4, .v8");
    static_assert(
        Ptr::align >= sizeof(typename Ptr::scalar_type) * lanes_of<Ptr, M...>,
        "PTXDSL-B03: the address is not known to be aligned to the size of this access; declare the pointer with "
        "that alignment (px::global_ptr<T, 16>) or state it with p.assume_aligned<16>()");
}

/// Vectors longer than 128 bits, or of 8 elements, where there are none (row A07).
template <class F, class Ptr, unsigned N>
constexpr auto check_vector() noexcept {
    constexpr bool wide = N == 8 || sizeof(typename Ptr::scalar_type) * N > 16;
    static_assert(
        !wide || F::verdict.ok(),
        "PTXDSL-A07: a vector holds 128 bits and at most 4 elements; 256 bits (v8 of 32-bit, v4 of 64-bit elements) are "
        "for global memory on sm_100 and newer");
}

template <class T, unsigned N>
[[nodiscard]] constexpr auto new_vector(ir::program& p) {
    vec<T, N> v(p);
    for (unsigned i = 0; i < N; ++i) v.set(i, p.new_reg(scalar_of<T>));
    return v;
}

/// The value of a store or atomic: a register or literal, or a vector of `N`.
template <class T, unsigned N, class V>
[[nodiscard]] constexpr auto memory_operand(V&& v, location where) {
    if constexpr (N == 1) {
        static_assert(!is_vec<meta::remove_cvref_t<V>>,
                      "PTXDSL-A07: a vector is written through a pointer to single elements; use "
                      "px::packet<T, N> as its element type or the modifier px::vN");
        if constexpr (is_vec<meta::remove_cvref_t<V>>)
            return raw_operand{};
        else
            return as_operand<T>(static_cast<V&&>(v), where);
    } else {
        static_assert(meta::is_same_v<meta::remove_cvref_t<V>, vec<T, N>>,
                      "PTXDSL-A07: the vector has another length or element type than the access");
        if constexpr (is_vec<meta::remove_cvref_t<V>>)
            return vector_operand(static_cast<V&&>(v));
        else
            return raw_operand{};
    }
}

/// The cache policy behind the operands, a register; a literal there is an operand too many.
template <class H>
[[nodiscard]] constexpr auto policy_operand(H&& policy, location where) {
    constexpr bool literal = meta::is_arithmetic_v<meta::remove_cvref_t<H>>;
    static_assert(
        !literal,
        "PTXDSL-A16: this call has an operand too many: behind its operands stands a cache policy, a register "
        "that k.createpolicy_fractional, createpolicy_range or createpolicy_cvt_L2 made");
    if constexpr (literal)
        return operand<b64>(reg<b64>(), where);
    else
        return as_operand<b64>(static_cast<H&&>(policy), where);
}

template <target Tgt>
class memory_family : public family<Tgt, memory_family<Tgt>> {
    using family<Tgt, memory_family<Tgt>>::ctx;

public:
    /// `ld{.M}.space{.vec}.T d, [p]{, policy};` — qualifiers in PTX order: `k.ld<px::relaxed, px::gpu>(p)`,
    /// `k.ld<px::nc, px::L1::no_allocate>(p)`. A pointer to `packet<T, N>`, or `px::v4` among the qualifiers, loads a
    /// `vec<T, N>`. A policy (`k.createpolicy_…`) adds `.L2::cache_hint`. PTX ISA 9.7.9.8, 9.7.9.9.
    template <tok... M, class P = absent, class H = absent>
    constexpr auto ld(P&& p = {}, H&& policy = H{}, location where = location::current()) const {
        return load<tok::ld, M...>(static_cast<P&&>(p), static_cast<H&&>(policy), where);
    }
    /// `ldu{.global}{.vec}.T d, [p];` an address that is the same in all threads. PTX ISA 9.7.9.10.
    template <tok... M, class P = absent>
    constexpr auto ldu(P&& p = {}, location where = location::current()) const {
        return load<tok::ldu, M...>(static_cast<P&&>(p), absent{}, where);
    }
    /// `st{.M}.space{.vec}.T [p], v{, policy};` PTX ISA 9.7.9.11.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto st(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: st takes an address (px::global_ptr, px::shared_ptr …)");
        if constexpr (is_ptr_v<Ptr>) {
            constexpr unsigned n = lanes_of<Ptr, M...>;
            using F = qualified<tok::st, Ptr, H, M...>;
            check_access<Ptr, true, M...>();
            check_vector<F, Ptr, n>();
            require<F, rule::b04>();
            const auto data = memory_operand<typename Ptr::scalar_type, n>(static_cast<V&&>(v), where);
            if constexpr (is_absent<H>)
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), data);
            else
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), data,
                          policy_operand(static_cast<H&&>(policy), where));
        }
    }

    // ---- caches (PTX ISA 9.7.9.14 to 9.7.9.18)
    // ------------------------------------------------------------------------

    /// `prefetch.space.L1 [p];` PTX ISA 9.7.9.15.
    template <class P = absent>
    constexpr auto prefetch_L1(P&& p = {}, location where = location::current()) const {
        touch<false, 1, tok::prefetch, tok::L1>(static_cast<P&&>(p), where);
    }
    /// `prefetch.space.L2 [p];` PTX ISA 9.7.9.15.
    template <class P = absent>
    constexpr auto prefetch_L2(P&& p = {}, location where = location::current()) const {
        touch<false, 1, tok::prefetch, tok::L2>(static_cast<P&&>(p), where);
    }
    /// `prefetch.global.L2::evict_last [p];` PTX ISA 9.7.9.15.
    template <class P = absent>
    constexpr auto prefetch_L2_evict_last(P&& p = {}, location where = location::current()) const {
        touch<false, 1, tok::prefetch, tok::L2__evict_last>(static_cast<P&&>(p), where);
    }
    /// `prefetch.global.L2::evict_normal [p];` PTX ISA 9.7.9.15.
    template <class P = absent>
    constexpr auto prefetch_L2_evict_normal(P&& p = {}, location where = location::current()) const {
        touch<false, 1, tok::prefetch, tok::L2__evict_normal>(static_cast<P&&>(p), where);
    }
    /// `prefetchu.L1 [p];` generic addresses. PTX ISA 9.7.9.15.
    template <class P = absent>
    constexpr auto prefetchu_L1(P&& p = {}, location where = location::current()) const {
        touch<false, 1, tok::prefetchu, tok::L1>(static_cast<P&&>(p), where);
    }
    /// `applypriority.global.L2::evict_normal [p], 128;` PTX ISA 9.7.9.16.
    template <class P = absent>
    constexpr auto applypriority_L2_evict_normal(P&& p = {}, location where = location::current()) const {
        touch<false, 128, tok::applypriority, tok::L2__evict_normal>(static_cast<P&&>(p), where);
    }
    /// `discard.global.L2 [p], 128;` the 128 bytes lose their values. PTX ISA 9.7.9.17.
    template <class P = absent>
    constexpr auto discard_L2(P&& p = {}, location where = location::current()) const {
        touch<true, 128, tok::discard, tok::L2>(static_cast<P&&>(p), where);
    }
    /// `createpolicy.fractional.PRIMARY{.SECONDARY}.b64 d, fraction;` —
    /// `k.createpolicy_fractional<px::L2::evict_last>(0.5f)`. PTX ISA 9.7.9.18.
    template <tok... M, class A = float>
    constexpr auto createpolicy_fractional(A&& fraction = 1.0f, location where = location::current()) const {
        return checked<form<Tgt, tok::createpolicy, tok::fractional, M..., tok::b64>, b64>(
            ctx(), where, as_operand<f32>(static_cast<A&&>(fraction), where));
    }
    /// `createpolicy.range.global.PRIMARY{.SECONDARY}.b64 d, [p], primary_size, total_size;` PTX ISA 9.7.9.18.
    template <tok... M, class P, class A, class B = absent>
    constexpr auto createpolicy_range(P&& p, A&& primary_size, B&& total_size = {},
                                      location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: createpolicy.range takes a global address");
        return checked<compact_form<Tgt, tok::createpolicy, tok::range, space_token(Ptr::state_space), M..., tok::b64>,
                       b64, rule::b01>(ctx(), where, address_operand(static_cast<P&&>(p)),
                                       as_operand<u32>(static_cast<A&&>(primary_size), where),
                                       as_operand<u32>(static_cast<B&&>(total_size), where));
    }
    /// `createpolicy.cvt.L2.b64 d, a;` from the access property word of the CUDA API. PTX ISA 9.7.9.18.
    template <class A = absent>
    constexpr auto createpolicy_cvt_L2(A&& property = {}, location where = location::current()) const {
        using T = source_t<A>;
        return checked<form<Tgt, tok::createpolicy, tok::cvt, tok::L2, tok::b64>, b64>(
            ctx(), where, as_operand<T>(static_cast<A&&>(property), where));
    }

private:
    /// Tokens of a load or store with the state space between its qualifiers.
    template <tok Op, class Ptr, class H, tok... M>
    using qualified = compact_form<Tgt, Op, only(M, place::first)..., space_token(Ptr::state_space),
                                   only(M, place::second)..., is_absent<H> ? tok::none : tok::L2__cache_hint,
                                   only(M, place::prefetch)..., vector_token(lanes_of<Ptr, M...>),
                                   isa::type_token(plain_type(scalar_of<typename Ptr::scalar_type>))>;

    template <tok Op, tok... M, class P, class H>
    constexpr auto load(P&& p, H&& policy, location where) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: ld takes an address (px::global_ptr, px::shared_ptr …)");
        if constexpr (is_ptr_v<Ptr>) {
            using T = typename Ptr::scalar_type;
            constexpr unsigned n = lanes_of<Ptr, M...>;
            using F = qualified<Op, Ptr, H, M...>;
            check_access<Ptr, false, M...>();
            static_assert(Op == tok::ld || Ptr::state_space == space::global || Ptr::state_space == space::generic,
                          "PTXDSL-B01: ldu loads from global memory");
            static_assert(
                !is_absent<H> || ((M != tok::L2__cache_hint) && ...),
                "PTXDSL-B04: .L2::cache_hint takes a cache policy, the last operand; the policy alone adds the qualifier");
            check_vector<F, Ptr, n>();
            require<F, rule::b04>();
            if constexpr (n == 1) {
                if constexpr (is_absent<H>)
                    return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)));
                else
                    return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)),
                                       policy_operand(static_cast<H&&>(policy), where));
            } else {
                vec<T, n> d = new_vector<T, n>(ctx().p);
                const raw_operand to = vector_operand(static_cast<const vec<T, n>&>(d));
                if constexpr (is_absent<H>)
                    d.set_expression(effect<F>(ctx(), where, to, address_operand(static_cast<P&&>(p))));
                else
                    d.set_expression(effect<F>(ctx(), where, to, address_operand(static_cast<P&&>(p)),
                                               policy_operand(static_cast<H&&>(policy), where)));
                return d;
            }
        } else {
            return reg<u32>();
        }
    }
    /// `Op.space.Level [p]{, 128};`
    template <bool Writes, unsigned Bytes, tok Op, tok Level, class P>
    constexpr auto touch(P&& p, location where) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: this instruction takes an address");
        if constexpr (is_ptr_v<Ptr>) {
            static_assert(!Writes || !meta::is_const_v<typename Ptr::element_type>,
                          "PTXDSL-B02: discard of memory the kernel declared read-only");
            static_assert(
                Ptr::align >= Bytes,
                "PTXDSL-B03: this instruction takes an address known to be aligned to 128 bytes: p.assume_aligned<128>()");
            using F = compact_form<Tgt, Op, space_token(Ptr::state_space), Level>;
            require<F, rule::b01>();
            if constexpr (Bytes == 1)
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)));
            else
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), operand<u32>(Bytes, where));
        }
    }
};

}  // namespace ptxdsl::detail
