// SPDX-License-Identifier: Apache-2.0
// Atomics, reductions and fences (PTX ISA 9.7.13.4, 9.7.13.7 to 9.7.13.9).
//
// Modifiers are semantics, scope: `k.atom_add<px::relaxed, px::gpu>(p, v)`. The type follows the pointer; `.noftz` of
// the half types and `.L2::cache_hint` of a policy operand are supplied. A pointer to `packet<T, N>` (or `px::v4`)
// takes a `vec<T, N>`.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/memory.hpp>

namespace ptxdsl::detail {

template <target Tgt>
class atomic_family : public family<Tgt, atomic_family<Tgt>> {
    using family<Tgt, atomic_family<Tgt>>::ctx;

public:
    /// `atom{.M}.space.add.T d, [p], v{, policy};` returns the value before. PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_add(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::add, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.min.T d, [p], v{, policy};` PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_min(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::min, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.max.T d, [p], v{, policy};` PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_max(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::max, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.inc.u32 d, [p], v{, policy};` `old >= v ? 0 : old + 1`. PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_inc(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::inc, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.dec.u32 d, [p], v{, policy};` `old == 0 || old > v ? v : old - 1`. PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_dec(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::dec, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.and.b32 d, [p], v{, policy};` PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_and(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::and_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.or.b32 d, [p], v{, policy};` PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_or(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::or_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.xor.b32 d, [p], v{, policy};` PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_xor(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::xor_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.exch.b32 d, [p], v{, policy};` 32, 64 and 128 bits. PTX ISA 9.7.13.7.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto atom_exch(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        return atom<tok::exch, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `atom{.M}.space.cas.b32 d, [p], expected, v;` 16 to 128 bits. PTX ISA 9.7.13.7.
    template <tok... M, class P, class E, class V = absent>
    constexpr auto atom_cas(P&& p, E&& expected, V&& v = {}, location where = location::current()) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: atom takes an address");
        if constexpr (is_ptr_v<Ptr>) {
            using T = typename Ptr::scalar_type;
            using F = atomic_form<tok::atom, tok::cas, Ptr, absent, M...>;
            static_assert(has_atomics<Ptr>, "PTXDSL-B01: atomics work on global, shared and generic memory");
            check_access<Ptr, true, M...>();
            require<F, rule::b08>();
            return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)),
                               as_operand<T>(static_cast<E&&>(expected), where),
                               as_operand<T>(static_cast<V&&>(v), where));
        } else {
            return reg<u32>();
        }
    }

    /// `red{.M}.space.add.T [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_add(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::add, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.min.T [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_min(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::min, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.max.T [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_max(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::max, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.inc.u32 [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_inc(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::inc, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.dec.u32 [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_dec(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::dec, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.and.b32 [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_and(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::and_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.or.b32 [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_or(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::or_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }
    /// `red{.M}.space.xor.b32 [p], v{, policy};` PTX ISA 9.7.13.8.
    template <tok... M, class P, class V = absent, class H = absent>
    constexpr auto red_xor(P&& p, V&& v = {}, H&& policy = H{}, location where = location::current()) const {
        red<tok::xor_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), static_cast<H&&>(policy), where);
    }

    /// `fence.M;` — `k.fence<px::sc, px::gpu>()`, `k.fence<px::acq_rel, px::cluster>()`,
    /// `k.fence<px::acquire, px::sync_restrict_shared_cluster, px::cluster>()`. PTX ISA 9.7.13.4.
    template <tok... M>
    constexpr auto fence(location where = location::current()) const {
        using F = form<Tgt, tok::fence, M...>;
        require<F, rule::b04>();
        effect<F>(ctx(), where);
    }
    /// `membar.M;` — `k.membar<px::gl>()`; `fence` is its successor. PTX ISA 9.7.13.4.
    template <tok... M>
    constexpr auto membar(location where = location::current()) const {
        using F = form<Tgt, tok::membar, M...>;
        require<F, rule::b04>();
        effect<F>(ctx(), where);
    }

private:
    [[nodiscard]] static consteval bool on_bits(tok op) noexcept {
        return op == tok::and_ || op == tok::or_ || op == tok::xor_ || op == tok::exch || op == tok::cas;
    }
    [[nodiscard]] static consteval bool is_half(isa::scalar s) noexcept {
        return s == isa::scalar::f16 || s == isa::scalar::f16x2 || s == isa::scalar::bf16 || s == isa::scalar::bf16x2;
    }
    template <tok Op, class T>
    static constexpr tok word = !on_bits(Op)        ? isa::type_token(scalar_of<T>)
                                : bits_of<T> == 128 ? tok::b128
                                                    : isa::type_token(bits_type<T>);

    template <tok Base, tok Op, class Ptr, class H, tok... M>
    using atomic_form =
        compact_form<Tgt, Base, only(M, place::first)..., space_token(Ptr::state_space), Op,
                     !on_bits(Op) && is_half(scalar_of<typename Ptr::scalar_type>) ? tok::noftz : tok::none,
                     (M == tok::noftz ? tok::none : only(M, place::second))...,
                     is_absent<H> ? tok::none : tok::L2__cache_hint, vector_token(lanes_of<Ptr, M...>),
                     word<Op, typename Ptr::scalar_type>>;

    template <class Ptr>
    static constexpr bool has_atomics = Ptr::state_space == space::global || is_narrow(Ptr::state_space) ||
                                        Ptr::state_space == space::generic || Ptr::state_space == space::constant;

    template <tok Op, tok... M, class P, class V, class H>
    constexpr auto atom(P&& p, V&& v, H&& policy, location where) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: atom takes an address (px::global_ptr, px::shared_ptr …)");
        static_assert(!is_ptr_v<Ptr> || !is_absent<V>, "PTXDSL-A16: atom wants another operand behind the address");
        if constexpr (is_ptr_v<Ptr> && !is_absent<V>) {
            using T = typename Ptr::scalar_type;
            constexpr unsigned n = lanes_of<Ptr, M...>;
            using F = atomic_form<tok::atom, Op, Ptr, H, M...>;
            static_assert(has_atomics<Ptr>, "PTXDSL-B01: atomics work on global, shared and generic memory");
            check_access<Ptr, true, M...>();
            require<F, rule::b08>();
            if constexpr (n == 1) {
                const operand<T> data = as_operand<T>(static_cast<V&&>(v), where);
                if constexpr (is_absent<H>)
                    return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)), data);
                else
                    return value<F, T>(ctx(), where, address_operand(static_cast<P&&>(p)), data,
                                       policy_operand(static_cast<H&&>(policy), where));
            } else {
                const raw_operand data = memory_operand<T, n>(static_cast<V&&>(v), where);
                vec<T, n> d = new_vector<T, n>(ctx().p);
                const raw_operand to = vector_operand(static_cast<const vec<T, n>&>(d));
                if constexpr (is_absent<H>)
                    d.set_expression(effect<F>(ctx(), where, to, address_operand(static_cast<P&&>(p)), data));
                else
                    d.set_expression(effect<F>(ctx(), where, to, address_operand(static_cast<P&&>(p)), data,
                                               policy_operand(static_cast<H&&>(policy), where)));
                return d;
            }
        } else {
            return reg<u32>();
        }
    }
    template <tok Op, tok... M, class P, class V, class H>
    constexpr auto red(P&& p, V&& v, H&& policy, location where) const {
        using Ptr = meta::remove_cvref_t<P>;
        static_assert(is_ptr_v<Ptr>, "PTXDSL-B01: red takes an address (px::global_ptr, px::shared_ptr …)");
        static_assert(!is_ptr_v<Ptr> || !is_absent<V>, "PTXDSL-A16: red wants another operand behind the address");
        if constexpr (is_ptr_v<Ptr> && !is_absent<V>) {
            using F = atomic_form<tok::red, Op, Ptr, H, M...>;
            static_assert(has_atomics<Ptr>, "PTXDSL-B01: atomics work on global, shared and generic memory");
            check_access<Ptr, true, M...>();
            require<F, rule::b08>();
            const auto data =
                memory_operand<typename Ptr::scalar_type, lanes_of<Ptr, M...>>(static_cast<V&&>(v), where);
            if constexpr (is_absent<H>)
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), data);
            else
                effect<F>(ctx(), where, address_operand(static_cast<P&&>(p)), data,
                          policy_operand(static_cast<H&&>(policy), where));
        }
    }
};

}  // namespace ptxdsl::detail
