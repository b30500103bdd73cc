// SPDX-License-Identifier: Apache-2.0
// Warp communication and the small instructions around it (PTX ISA 9.7.13, 9.7.19).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/generated/warp.hpp>

namespace ptxdsl {

/// Every lane of a warp, the membermask of a converged warp.
inline constexpr u32 full_mask = 0xffffffffu;

namespace detail {

template <target Tgt>
class warp_family : public generated_warp<Tgt, warp_family<Tgt>> {
    using generated_warp<Tgt, warp_family<Tgt>>::ctx;

public:
    // ---- shfl.sync (PTX ISA 9.7.9.6): 32-bit values of any type; `b`, `c` and the mask are u32
    // -----------------------

    /// `shfl.sync.up.b32 d, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_up(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::up, false>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                       static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.down.b32 d, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_down(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::down, false>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                         static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.bfly.b32 d, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_bfly(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::bfly, false>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                         static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.idx.b32 d, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_idx(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::idx, false>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                        static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.up.b32 d|p, a, b, c, mask;` `p`: the source lane was in range. PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_up_p(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::up, true>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                      static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.down.b32 d|p, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_down_p(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::down, true>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                        static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.bfly.b32 d|p, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_bfly_p(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::bfly, true>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                        static_cast<K&&>(mask), where);
    }
    /// `shfl.sync.idx.b32 d|p, a, b, c, mask;` PTX ISA 9.7.9.6.
    template <class A, class B, class C, class K = absent>
    constexpr auto shfl_sync_idx_p(A&& a, B&& b, C&& c, K&& mask = {}, location where = location::current()) const {
        return shuffle<tok::idx, true>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                       static_cast<K&&>(mask), where);
    }

    // ---- votes and reductions (PTX ISA 9.7.13.10 to 9.7.13.13)
    // -------------------------------------------------------

    /// `match.all.sync.b32 d|p, a, mask;` PTX ISA 9.7.13.11.
    template <class A, class K = absent>
    constexpr auto match_all_sync_p(A&& a, K&& mask = {}, location where = location::current()) const {
        using T = source_t<A>;
        using F = form<Tgt, tok::match, tok::all, tok::sync, type_word<typing::bits, T>>;
        require<F>();
        return pair_value<F, value_pred<u32>>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where),
                                              as_operand<u32>(static_cast<K&&>(mask), where));
    }
    /// `elect.sync _|p, mask;` `p` in one lane. PTX ISA 9.7.13.15.
    template <class K = u32>
    constexpr auto elect_sync(K&& mask = K{full_mask}, location where = location::current()) const {
        const context k = ctx();
        const operand<u32> m = as_operand<u32>(static_cast<K&&>(mask), where);
        const std::uint32_t p = k.p.new_reg(isa::scalar::pred);
        const ir::span s = effect<form<Tgt, tok::elect, tok::sync>>(
            k, where, pair_operand(k.p, ir::head(ir::operand_kind::sink, 0), reg_word(p)), m);
        return reg<pred>(k.p, p, s);
    }
    /// `elect.sync d|p, mask;` `d` is the elected lane. PTX ISA 9.7.13.15.
    template <class K = u32>
    constexpr auto elect_sync_p(K&& mask = K{full_mask}, location where = location::current()) const {
        return pair_value<form<Tgt, tok::elect, tok::sync>, value_pred<u32>>(
            ctx(), where, as_operand<u32>(static_cast<K&&>(mask), where));
    }
    /// `bar.warp.sync mask;` PTX ISA 9.7.13.2.
    template <class K = u32>
    constexpr auto bar_warp_sync(K&& mask = K{full_mask}, location where = location::current()) const {
        effect<form<Tgt, tok::bar, tok::warp, tok::sync>>(ctx(), where, as_operand<u32>(static_cast<K&&>(mask), where));
    }

    // ---- miscellaneous (PTX ISA 9.7.19)
    // --------------------------------------------------------------------------------

    /// `pmevent n;` — `k.pmevent<3>()`. PTX ISA 9.7.19.3.
    template <int N>
    constexpr auto pmevent(location where = location::current()) const {
        static_assert(N >= 0 && N <= 15, "PTXDSL-A03: pmevent takes an event number from 0 to 15");
        effect<form<Tgt, tok::pmevent>>(ctx(), where, operand<u32>(N, where));
    }
    /// Refuses an event number that is no constant (A14).
    template <class A = absent, class... More>
    constexpr auto pmevent(A&& = {}, More&&...) const {
        static_assert(always_false<A>, "PTXDSL-A14: pmevent takes an immediate; write k.pmevent<3>()");
    }
    /// `pmevent.mask bits;` PTX ISA 9.7.19.3.
    template <int Bits>
    constexpr auto pmevent_mask(location where = location::current()) const {
        static_assert(Bits >= 0 && Bits <= 0xffff, "PTXDSL-A03: pmevent.mask takes a 16-bit mask");
        effect<form<Tgt, tok::pmevent, tok::mask>>(ctx(), where, operand<u32>(Bits, where));
    }
    /// `alloca.T p, size{, align};` memory on the stack, `k.alloca_(size)`, `k.alloca_<16>(size)`; `T` is the type of
    /// the size, u32 or u64 (of a literal u64), and `p` a local address of it. (The C library's `alloca` may be a
    /// macro.) PTX ISA 9.7.17.3.
    template <unsigned Align = 0, class N = absent>
    constexpr auto alloca_(N&& size = {}, location where = location::current()) const {
        using V = first_value_t<N>;
        using T = meta::conditional_t<meta::is_void_v<V>, u64, V>;
        static_assert(Align == 0 || (Align & (Align - 1)) == 0, "PTXDSL-A03: an alignment is a power of two");
        using F = form<Tgt, tok::alloca, type_word<typing::own, T>>;
        require<F>();
        const operand<T> n = as_operand<T>(static_cast<N&&>(size), where);
        if constexpr (Align == 0)
            return value<F, T>(ctx(), where, n);
        else
            return value<F, T>(ctx(), where, n, operand<u32>(Align, where));
    }
    /// `stacksave.T d;` the stack pointer, `k.stacksave<u64>()`. PTX ISA 9.7.17.1.
    template <class T>
    constexpr reg<T> stacksave(location where = location::current()) const {
        return checked<form<Tgt, tok::stacksave, type_word<typing::own, T>>, T>(ctx(), where);
    }
    /// `stackrestore.T a;` PTX ISA 9.7.17.2.
    template <class A = absent>
    constexpr void stackrestore(A&& a = {}, location where = location::current()) const {
        static_assert(traits<A>::is_reg, "PTXDSL-A14: stackrestore takes a register, which k.stacksave has made");
        using T = source_t<A>;
        using F = form<Tgt, tok::stackrestore, type_word<typing::own, T>>;
        require<F>();
        effect<F>(ctx(), where, as_operand<T>(static_cast<A&&>(a), where));
    }

private:
    template <tok Mode, bool Valid, class A, class B, class C, class K>
    constexpr auto shuffle(A&& a, B&& b, C&& c, K&& mask, location where) const {
        using T = source_t<A>;
        static_assert(bits_of<T> == 32, "PTXDSL-A01: shfl.sync moves 32-bit registers; split others with k.mov_unpack");
        using F = form<Tgt, tok::shfl, tok::sync, Mode, tok::b32>;
        require<F>();
        const operand<T> from = as_operand<T>(static_cast<A&&>(a), where);
        const operand<u32> lane = as_operand<u32>(static_cast<B&&>(b), where),
                           clamp = as_operand<u32>(static_cast<C&&>(c), where),
                           members = as_operand<u32>(static_cast<K&&>(mask), where);
        if constexpr (Valid)
            return pair_value<F, value_pred<T>>(ctx(), where, from, lane, clamp, members);
        else
            return value<F, T>(ctx(), where, from, lane, clamp, members);
    }
};

}  // namespace detail
}  // namespace ptxdsl
