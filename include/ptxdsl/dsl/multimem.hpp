// SPDX-License-Identifier: Apache-2.0
// Multimem instructions: one address for the same place in the memories of many devices (PTX ISA 9.7.9.15). Opt-in:
//
//   #include <ptxdsl/dsl/multimem.hpp>
//   constexpr void sum(px::builder<px::sm_90a, px::multimem_calls>& k, px::global_ptr<px::packet<f32, 4>, 16>
//   everywhere, …)
//
// Modifiers are semantics and scope, and for sums of narrow floats the type they are added in:
// `k.multimem_ld_reduce_add<px::relaxed, px::gpu, px::acc::f32>(p)`. A pointer to `packet<T, N>` moves a `vec<T, N>`.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/dsl/builder.hpp>

#include <type_traits>

namespace ptxdsl {

/// `.acc::f32` is `px::acc::f32`: the type in which a multimem sum is computed.
namespace acc {
inline constexpr tok f32 = tok::acc__f32;
inline constexpr tok f16 = tok::acc__f16;
}  // namespace acc

template <target Tgt>
class multimem_calls {
public:
    constexpr multimem_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    /// `multimem.ld_reduce{.M}.global.add{.acc}{.vec}.T d, [p];` the sum over all devices. PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_add(P&& p, location where = location::current()) const {
        return load<tok::add, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.ld_reduce{.M}.global.min{.vec}.T d, [p];` PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_min(P&& p, location where = location::current()) const {
        return load<tok::min, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.ld_reduce{.M}.global.max{.vec}.T d, [p];` PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_max(P&& p, location where = location::current()) const {
        return load<tok::max, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.ld_reduce{.M}.global.and.b32 d, [p];` PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_and(P&& p, location where = location::current()) const {
        return load<tok::and_, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.ld_reduce{.M}.global.or.b32 d, [p];` PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_or(P&& p, location where = location::current()) const {
        return load<tok::or_, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.ld_reduce{.M}.global.xor.b32 d, [p];` PTX ISA 9.7.9.15.1.
    template <tok... M, class P>
    constexpr auto multimem_ld_reduce_xor(P&& p, location where = location::current()) const {
        return load<tok::xor_, M...>(static_cast<P&&>(p), where);
    }
    /// `multimem.st{.M}.global{.vec}.T [p], v;` stores to all devices. PTX ISA 9.7.9.15.2.
    template <tok... M, class P, class V>
    constexpr auto multimem_st(P&& p, V&& v, location where = location::current()) const {
        store<tok::st, tok::none, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.add{.vec}.T [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_add(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::add, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.min.T [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_min(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::min, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.max.T [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_max(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::max, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.and.b32 [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_and(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::and_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.or.b32 [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_or(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::or_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }
    /// `multimem.red{.M}.global.xor.b32 [p], v;` PTX ISA 9.7.9.15.3.
    template <tok... M, class P, class V>
    constexpr auto multimem_red_xor(P&& p, V&& v, location where = location::current()) const {
        store<tok::red, tok::xor_, M...>(static_cast<P&&>(p), static_cast<V&&>(v), where);
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    [[nodiscard]] static consteval bool is_precision(tok t) noexcept {
        return t == tok::acc__f32 || t == tok::acc__f16;
    }
    [[nodiscard]] static consteval bool on_bits(tok op) noexcept {
        return op == tok::and_ || op == tok::or_ || op == tok::xor_;
    }

    template <tok Kind, tok Op, class T, unsigned N, tok... M>
    using multimem_form =
        detail::compact_form<Tgt, tok::multimem, Kind, (is_precision(M) ? tok::none : M)..., tok::global, Op,
                             (is_precision(M) ? M : tok::none)..., detail::vector_token(N),
                             on_bits(Op) ? isa::type_token(detail::bits_type<T>) : isa::type_token(scalar_of<T>)>;

    /// What every multimem address must be.
    template <class Ptr, bool Writes>
    static constexpr bool check() noexcept {
        static_assert(detail::is_ptr_v<Ptr>, "PTXDSL-B01: multimem takes an address (px::global_ptr)");
        if constexpr (detail::is_ptr_v<Ptr>) {
            constexpr bool global = Ptr::state_space == space::global;
            static_assert(global, "PTXDSL-B01: a multimem address is an address in global memory");
            constexpr bool byte = bits_of<typename Ptr::scalar_type> == 8;
            static_assert(
                !byte,
                "PTXDSL-A08: multimem elements of 8 bits have no registers; use px::e4m3x2, px::e4m3x4 and their like");
            constexpr bool writable = !Writes || !std::is_const_v<typename Ptr::element_type>;
            static_assert(writable,
                          "PTXDSL-B02: write through a pointer to const; the kernel declared this memory read-only");
            if constexpr (writable) detail::check_access<Ptr, Writes>();
            return global && !byte && writable;
        } else {
            return false;
        }
    }
    template <tok Op, tok... M, class P>
    constexpr auto load(P&& p, location where) const {
        using Ptr = std::remove_cvref_t<P>;
        if constexpr (check<Ptr, false>()) {
            using T = typename Ptr::scalar_type;
            using F = multimem_form<tok::ld_reduce, Op, T, Ptr::lanes, M...>;
            detail::require<F, rule::b08>();
            if constexpr (Ptr::lanes == 1) {
                return detail::value<F, T>(ctx(), where, detail::address_operand(static_cast<P&&>(p)));
            } else {
                vec<T, Ptr::lanes> d = detail::new_vector<T, Ptr::lanes>(*p_);
                const detail::raw_operand to = detail::vector_operand(static_cast<const vec<T, Ptr::lanes>&>(d));
                d.set_expression(detail::effect<F>(ctx(), where, to, detail::address_operand(static_cast<P&&>(p))));
                return d;
            }
        } else {
            return reg<u32>();
        }
    }
    template <tok Kind, tok Op, tok... M, class P, class V>
    constexpr auto store(P&& p, V&& v, location where) const {
        using Ptr = std::remove_cvref_t<P>;
        if constexpr (check<Ptr, true>()) {
            using T = typename Ptr::scalar_type;
            using F = multimem_form<Kind, Op, T, Ptr::lanes, M...>;
            detail::require<F, rule::b08>();
            const auto data = detail::memory_operand<T, Ptr::lanes>(static_cast<V&&>(v), where);
            detail::effect<F>(ctx(), where, detail::address_operand(static_cast<P&&>(p)), data);
        }
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
