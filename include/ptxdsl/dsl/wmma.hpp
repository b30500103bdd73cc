// SPDX-License-Identifier: Apache-2.0
// The older warp-level matrix instructions, whose fragments have no documented layout (PTX ISA 9.7.14.4). Opt-in:
//
//   #include <ptxdsl/dsl/wmma.hpp>
//   constexpr void product(px::builder<px::sm_90a, px::wmma_calls>& k, …)
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/dsl/builder.hpp>

#include <type_traits>

namespace ptxdsl {

using tok::row, tok::col;

enum class wmma_role : std::uint8_t { a, b, accumulator };

namespace detail {

[[nodiscard]] constexpr isa::scalar wmma_register(wmma_role r, isa::scalar t) noexcept {
    if (t == isa::scalar::f16) return isa::scalar::f16x2;
    return r == wmma_role::accumulator || t == isa::scalar::f64 ? t : isa::scalar::b32;
}
/// Registers of one thread. Fragments of f16 hold every element of A and B twice.
[[nodiscard]] constexpr unsigned wmma_registers(wmma_role r, isa::scalar t, unsigned m, unsigned n,
                                                unsigned k) noexcept {
    const unsigned elements = r == wmma_role::a ? m * k : r == wmma_role::b ? n * k : m * n;
    const unsigned held =
        elements / 32 * (t == isa::scalar::f16 && r != wmma_role::accumulator ? 512 / (elements / 32) / 32 * 2 : 1);
    return held * isa::bits(t) / isa::bits(wmma_register(r, t));
}

}  // namespace detail

/// A fragment of `wmma`: which registers it has follows from the shape, which element sits where does not.
template <wmma_role Role, class T, unsigned M, unsigned N, unsigned K>
class wmma_fragment {
public:
    static constexpr wmma_role role = Role;
    static constexpr unsigned m = M, n = N, k = K;
    using value_type = T;
    static constexpr isa::scalar register_type = detail::wmma_register(Role, scalar_of<T>);
    static constexpr unsigned size = Role != wmma_role::accumulator && scalar_of<T> == isa::scalar::f16
                                         ? 8
                                         : detail::wmma_registers(Role, scalar_of<T>, M, N, K);
    static_assert(size >= 1 && size <= 8, "PTXDSL-D03: no wmma has a fragment of this shape");

    constexpr wmma_fragment(ir::program& p, std::uint32_t first) noexcept : prog_(&p), first_(first) {}
    /// Element group `i` as its register: arithmetic on all of them in turn is arithmetic on the whole matrix.
    [[nodiscard]] constexpr auto operator[](unsigned i) const {
        if (i >= size)
            prog_->report("D03", prog_->locations.back(),
                          {"register ", std::uint32_t{i}, " of a fragment of ", std::uint32_t{size}});
        using R = std::conditional_t<register_type == isa::scalar::f16x2, f16x2,
                                     std::conditional_t<register_type == isa::scalar::b32, b32, T>>;
        return reg<R>(*prog_, first_ + (i < size ? i : 0));
    }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = ir::head(ir::operand_kind::range, size);
        o.words[1] = first_;
        o.count = 2;
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t first_;
};

/// A, B and C/D of `wmma.mma`: `px::wmma_a<f16, 16, 16, 16>`, `px::wmma_acc<f32, 16, 16, 16>`.
template <class T, unsigned M, unsigned N, unsigned K>
using wmma_a = wmma_fragment<wmma_role::a, T, M, N, K>;
template <class T, unsigned M, unsigned N, unsigned K>
using wmma_b = wmma_fragment<wmma_role::b, T, M, N, K>;
template <class T, unsigned M, unsigned N, unsigned K>
using wmma_acc = wmma_fragment<wmma_role::accumulator, T, M, N, K>;

namespace detail {
template <class>
inline constexpr bool is_wmma = false;
template <wmma_role Role, class T, unsigned M, unsigned N, unsigned K>
inline constexpr bool is_wmma<wmma_fragment<Role, T, M, N, K>> = true;
}  // namespace detail

template <target Tgt>
class wmma_calls {
public:
    constexpr wmma_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    /// Declares the registers of a fragment: `k.wmma_make<px::wmma_acc<f32, 16, 16, 16>>()`. Emits nothing.
    template <class F>
    [[nodiscard]] constexpr F wmma_make(string_view name = {}) const {
        static_assert(detail::is_wmma<F>, "PTXDSL-D03: wmma_make makes px::wmma_a, px::wmma_b and px::wmma_acc");
        return {*p_, p_->new_regs(F::register_type, F::size, name)};
    }
    /// `wmma.load.a.sync.aligned.L.mMnNkK{.space}.T {r…}, [p]{, stride};` — `k.wmma_load<px::row>(a, p, stride)`: whose
    /// part and shape it is follows from the fragment. `stride` counts elements. PTX ISA 9.7.14.4.3.
    template <tok Layout, class F, class P, class S = detail::absent>
    constexpr auto wmma_load(const F& to, P&& p, S&& stride = S{}, location where = location::current()) const {
        static_assert(detail::is_wmma<F>, "PTXDSL-D03: wmma_load fills px::wmma_a, px::wmma_b or px::wmma_acc");
        if constexpr (detail::is_wmma<F> && check<F, P, false>()) {
            constexpr tok part = F::role == wmma_role::a ? tok::a : F::role == wmma_role::b ? tok::b : tok::c;
            using G = detail::compact_form<Tgt, tok::wmma, tok::load, part, tok::sync, tok::aligned, Layout,
                                           detail::shape_token(F::m, F::n, F::k), space_of<P>,
                                           isa::type_token(scalar_of<typename F::value_type>)>;
            require_wmma<G>();
            if constexpr (detail::is_absent<S>)
                detail::effect<G>(ctx(), where, to.as_raw(), detail::address_operand(static_cast<P&&>(p)));
            else
                detail::effect<G>(ctx(), where, to.as_raw(), detail::address_operand(static_cast<P&&>(p)),
                                  detail::as_operand<u32>(static_cast<S&&>(stride), where));
        }
    }
    /// `wmma.store.d.sync.aligned.L.mMnNkK{.space}.T [p], {r…}{, stride};` — `k.wmma_store<px::row>(p, d, stride)`. PTX
    /// ISA 9.7.14.4.4.
    template <tok Layout, class P, class F, class S = detail::absent>
    constexpr auto wmma_store(P&& p, const F& from, S&& stride = S{}, location where = location::current()) const {
        static_assert(detail::is_wmma<F>, "PTXDSL-D03: wmma_store stores a px::wmma_acc");
        if constexpr (detail::is_wmma<F> && check<F, P, true>()) {
            static_assert(F::role == wmma_role::accumulator,
                          "PTXDSL-D03: wmma_store stores an accumulator, px::wmma_acc");
            using G = detail::compact_form<Tgt, tok::wmma, tok::store, tok::d, tok::sync, tok::aligned, Layout,
                                           detail::shape_token(F::m, F::n, F::k), space_of<P>,
                                           isa::type_token(scalar_of<typename F::value_type>)>;
            require_wmma<G>();
            if constexpr (detail::is_absent<S>)
                detail::effect<G>(ctx(), where, detail::address_operand(static_cast<P&&>(p)), from.as_raw());
            else
                detail::effect<G>(ctx(), where, detail::address_operand(static_cast<P&&>(p)), from.as_raw(),
                                  detail::as_operand<u32>(static_cast<S&&>(stride), where));
        }
    }
    /// `wmma.mma{.M}.sync.aligned.L.L.mMnNkK{.M}.D.A.B.C{.satfinite} {d…}, {a…}, {b…}, {c…};` — `k.wmma_mma<px::row,
    /// px::col>(d, a, b, c)`; `d` and `c` may be one fragment. `px::satfinite` for integers, `px::xor_, px::popc` for
    /// single bits, a rounding for f64. PTX ISA 9.7.14.4.5.
    template <tok LayoutA, tok LayoutB, tok... M, class D, class A, class B, class C>
    constexpr auto wmma_mma(const D& d, const A& a, const B& b, const C& c,
                            location where = location::current()) const {
        if constexpr (check_roles<D, A, B, C>()) {
            constexpr bool half = scalar_of<typename A::value_type> == isa::scalar::f16;
            using G = detail::compact_form<
                Tgt, tok::wmma, tok::mma, (is_bit_operation(M) ? M : tok::none)..., tok::sync, tok::aligned, LayoutA,
                LayoutB, detail::shape_token(A::m, A::n, A::k), (is_rounding(M) ? M : tok::none)...,
                isa::type_token(scalar_of<typename D::value_type>),
                half ? tok::none : isa::type_token(scalar_of<typename A::value_type>),
                half ? tok::none : isa::type_token(scalar_of<typename B::value_type>),
                isa::type_token(scalar_of<typename C::value_type>), (M == tok::satfinite ? M : tok::none)...>;
            require_wmma<G>();
            detail::effect<G>(ctx(), where, d.as_raw(), a.as_raw(), b.as_raw(), c.as_raw());
        }
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    [[nodiscard]] static consteval bool is_bit_operation(tok t) noexcept {
        return t == tok::xor_ || t == tok::and_ || t == tok::popc;
    }
    [[nodiscard]] static consteval bool is_rounding(tok t) noexcept {
        return t == tok::rn || t == tok::rz || t == tok::rm || t == tok::rp;
    }

    template <class G>
    static constexpr auto require_wmma() noexcept {
        using status = isa::verdict::status;
        static_assert(G::verdict.st == status::ok || G::verdict.st == status::wrong_target,
                      "PTXDSL-D04: wmma has no instruction of this shape, layout and types");
        if constexpr (G::verdict.st == status::wrong_target) detail::require<G>();
    }
    template <class P>
    static constexpr tok space_of = std::remove_cvref_t<P>::state_space == space::global   ? tok::global
                                    : std::remove_cvref_t<P>::state_space == space::shared ? tok::shared
                                                                                           : tok::none;
    template <class F, class P, bool Writes>
    static constexpr bool check() noexcept {
        using Ptr = std::remove_cvref_t<P>;
        static_assert(detail::is_ptr_v<Ptr>, "PTXDSL-B01: wmma takes an address in global or shared memory");
        if constexpr (detail::is_ptr_v<Ptr>) {
            constexpr bool where = Ptr::state_space == space::global || Ptr::state_space == space::shared ||
                                   Ptr::state_space == space::generic;
            static_assert(where,
                          "PTXDSL-B01: wmma loads from and stores to global memory and the own block's shared memory");
            static_assert(std::is_same_v<std::remove_cv_t<typename Ptr::element_type>, typename F::value_type> ||
                              bits_of<typename F::value_type> < 8,
                          "PTXDSL-A01: the address points to another type than the fragment's elements");
            static_assert(!Writes || !std::is_const_v<typename Ptr::element_type>,
                          "PTXDSL-B02: write through a pointer to const; the kernel declared this memory read-only");
            return where;
        } else {
            return false;
        }
    }
    template <class D, class A, class B, class C>
    static constexpr bool check_roles() noexcept {
        constexpr bool fragments = detail::is_wmma<D> && detail::is_wmma<A> && detail::is_wmma<B> && detail::is_wmma<C>;
        static_assert(fragments, "PTXDSL-D03: wmma_mma multiplies px::wmma_a by px::wmma_b into px::wmma_acc");
        if constexpr (fragments) {
            constexpr bool roles = D::role == wmma_role::accumulator && C::role == wmma_role::accumulator &&
                                   A::role == wmma_role::a && B::role == wmma_role::b;
            static_assert(roles, "PTXDSL-D07: the fragments of wmma_mma are D, A, B, C in this order");
            constexpr bool shapes = A::m == B::m && A::n == B::n && A::k == B::k && D::m == A::m && D::n == A::n &&
                                    D::k == A::k && C::m == A::m && C::n == A::n && C::k == A::k;
            static_assert(shapes, "PTXDSL-D01: the fragments of one wmma have one shape");
            return roles && shapes;
        } else {
            return false;
        }
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
