// SPDX-License-Identifier: Apache-2.0
// Bulk copies without a tensor (PTX ISA 9.7.9.25), the groups that bulk stores complete in, and the fences between the
// async proxy and ordinary accesses. Copies through a tensor map are in dsl/tensor_copy.hpp.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/mbarrier.hpp>

namespace ptxdsl {

/// Destination in `.shared::cta` (PTX 8.6) instead of `.shared::cluster`: `k.cp_async_bulk_tensor<px::shared_cta>(…)`.
inline constexpr tok shared_cta = tok::shared__cta;

/// An L2 cache policy from `k.createpolicy_fractional…`: as the last argument it adds `.L2::cache_hint`.
struct cache_policy {
    detail::raw_operand o;
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr cache_policy(const reg<b64>& r) noexcept : o(operand<b64>(r)) {}
    constexpr cache_policy(reg<b64>&& r) noexcept : o(operand<b64>(static_cast<reg<b64>&&>(r))) {}
    constexpr cache_policy(const reg<u64>& r) noexcept : o(operand<u64>(r)) {}
    constexpr cache_policy(reg<u64>&& r) noexcept : o(operand<u64>(static_cast<reg<u64>&&>(r))) {}
    // NOLINTEND(google-explicit-constructor)
    /// A copy is of a policy that has a name: what made it is no nested call.
    constexpr cache_policy(const cache_policy& p) noexcept : o(p.o) { o.fresh = {}; }
    constexpr cache_policy(cache_policy&&) noexcept = default;
    constexpr cache_policy& operator=(const cache_policy&) noexcept = default;
    constexpr ~cache_policy() = default;
};

namespace detail {

/// F12: operations that bulk reductions have for an element type (PTX ISA 9.7.9.25.4.3).
[[nodiscard]] consteval bool is_bulk_reduction(tok op, isa::scalar s) noexcept {
    using enum isa::scalar;
    switch (op) {
        case tok::add:
            return s == u32 || s == s32 || s == u64 || s == s64 || s == f16 || s == bf16 || s == f32 || s == tf32 ||
                   s == f64;
        case tok::min:
        case tok::max: return s == u32 || s == s32 || s == u64 || s == s64 || s == f16 || s == bf16;
        case tok::inc:
        case tok::dec: return s == u32;
        case tok::and_:
        case tok::or_:
        case tok::xor_: return s == u32 || s == s32 || s == b32 || s == u64 || s == s64 || s == b64;
        default: return false;
    }
}
/// The type word of a bulk reduction.
[[nodiscard]] consteval tok bulk_reduction_type(tok op, isa::scalar s) noexcept {
    if (op == tok::and_ || op == tok::or_ || op == tok::xor_) return isa::bits(s) == 64 ? tok::b64 : tok::b32;
    return op == tok::add && s == isa::scalar::s64 ? tok::u64 : isa::type_token(s);
}

template <target Tgt>
class bulk_copy_family : public family<Tgt, bulk_copy_family<Tgt>> {
    template <tok... Toks>
    using bulk = form<Tgt, tok::cp, tok::async, tok::bulk, Toks...>;

protected:
    using family<Tgt, bulk_copy_family<Tgt>>::ctx;

public:
    /// What takes something else, with its sentence.
    template <class D = void>
    constexpr auto cp_async_bulk(anything, anything = {}, anything = {}, anything = {}, anything = {},
                                 anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: cp_async_bulk takes (to, from, bytes, barrier[i]) into shared memory and (to, from, bytes) out of it, pointers both: tile[i].byte_pointer() is that of a tile");
    }

    // ---- bulk copies without a tensor: 16-byte aligned addresses, a multiple of 16 bytes (F09)
    // ----------------------------

    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src], bytes, [bar];` PTX
    /// ISA 9.7.9.25.4.1.
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& bytes,
                                 mbarrier<R> bar, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        note_copy(bar, literal_or_zero(bytes), 1);
        effect<bulk<tok::shared__cluster, tok::global, tok::mbarrier__complete_tx__bytes>>(
            ctx(), where, take(dst), take(src), bytes, barrier_operand(bar));
    }
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& bytes,
                                 mbarrier<R> bar, cache_policy policy, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        note_copy(bar, literal_or_zero(bytes), 1);
        effect<bulk<tok::shared__cluster, tok::global, tok::mbarrier__complete_tx__bytes, tok::L2__cache_hint>>(
            ctx(), where, take(dst), take(src), bytes, barrier_operand(bar), policy.o);
    }
    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [dst], [src], bytes,
    /// [bar], mask;`
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk_multicast(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src,
                                           const operand<u32>& bytes, mbarrier<R> bar, const operand<u16>& mask,
                                           call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        check_mask(mask, where);
        note_copy(bar, literal_or_zero(bytes), receivers(mask));
        effect<bulk<tok::shared__cluster, tok::global, tok::mbarrier__complete_tx__bytes, tok::multicast__cluster>>(
            ctx(), where, take(dst), take(src), bytes, barrier_operand(bar), mask);
    }
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk_multicast(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src,
                                           const operand<u32>& bytes, mbarrier<R> bar, const operand<u16>& mask,
                                           cache_policy policy, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        check_mask(mask, where);
        note_copy(bar, literal_or_zero(bytes), receivers(mask));
        effect<bulk<tok::shared__cluster, tok::global, tok::mbarrier__complete_tx__bytes, tok::multicast__cluster,
                    tok::L2__cache_hint>>(ctx(), where, take(dst), take(src), bytes, barrier_operand(bar), mask,
                                          policy.o);
    }
    /// `cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [dst], [src], bytes, [bar];` (PTX 8.6)
    /// `k.cp_async_bulk<px::shared_cta>(dst, src, bytes, bar)`: the same copy, its destination named as the own
    /// block's.
    template <tok Destination, class T, unsigned A, class U, unsigned B, class R>
        requires(Destination == tok::shared__cta)
    constexpr auto cp_async_bulk(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& bytes,
                                 mbarrier<R> bar, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        note_copy(bar, literal_or_zero(bytes), 1);
        effect<bulk<Destination, tok::global, tok::mbarrier__complete_tx__bytes>>(ctx(), where, take(dst), take(src),
                                                                                  bytes, barrier_operand(bar));
    }
    template <tok Destination, class T, unsigned A, class U, unsigned B, class R>
        requires(Destination == tok::shared__cta)
    constexpr auto cp_async_bulk(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& bytes,
                                 mbarrier<R> bar, cache_policy policy, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        note_copy(bar, literal_or_zero(bytes), 1);
        effect<bulk<Destination, tok::global, tok::mbarrier__complete_tx__bytes, tok::L2__cache_hint>>(
            ctx(), where, take(dst), take(src), bytes, barrier_operand(bar), policy.o);
    }
    /// `cp.async.bulk.global.shared::cta.bulk_group [dst], [src], bytes;`
    template <class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async_bulk(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src, const operand<u32>& bytes,
                                 call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        effect<bulk<tok::global, tok::shared__cta, tok::bulk_group>>(ctx(), where, take(dst), take(src), bytes);
    }
    template <class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async_bulk(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src, const operand<u32>& bytes,
                                 cache_policy policy, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        effect<bulk<tok::global, tok::shared__cta, tok::bulk_group, tok::L2__cache_hint>>(ctx(), where, take(dst),
                                                                                          take(src), bytes, policy.o);
    }
    /// `cp.async.bulk.global.shared::cta.bulk_group.cp_mask [dst], [src], bytes, mask;` (sm_100a) bit i of the mask:
    /// byte i of every 16 is copied.
    template <class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async_bulk_cp_mask(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src,
                                         const operand<u32>& bytes, const operand<u16>& mask,
                                         location where = location::current()) const {
        check_bulk<T, A, B>(bytes, where);
        using F = bulk<tok::global, tok::shared__cta, tok::bulk_group, tok::cp_mask>;
        require<F>();
        effect<F>(ctx(), where, take(dst), take(src), bytes, mask);
    }
    /// `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], bytes, [bar];` To another
    /// block, whose barrier counts the bytes.
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk(ptr<space::shared_cluster, T, A> dst, ptr<space::shared, U, B> src,
                                 const operand<u32>& bytes, remote_mbarrier<R> bar,
                                 call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        ctx().p.note_next(ir::note::barrier_noarity, bar.local().allocation);
        effect<bulk<tok::shared__cluster, tok::shared__cta, tok::mbarrier__complete_tx__bytes>>(
            ctx(), where, take(dst), take(src), bytes, barrier_operand(bar));
    }
    /// B01: between global and shared memory.
    template <space D, class T, unsigned A, space S, class U, unsigned B, class... Rest>
        requires(D == S || (S != space::global && S != space::shared && S != space::shared_cluster) ||
                 (D != space::global && D != space::shared && D != space::shared_cluster))
    constexpr auto cp_async_bulk(ptr<D, T, A>, ptr<S, U, B>, const Rest&...) const {
        static_assert(
            always_false<T>,
            "PTXDSL-B01: cp.async.bulk copies between global and shared memory, or into another block's shared "
            "memory (k.mapa)");
    }
    /// B07: the source of a copy is in the own block.
    template <space S, class T, unsigned A, class U, unsigned B, class... Rest>
    constexpr auto cp_async_bulk(ptr<S, T, A>, ptr<space::shared_cluster, U, B>, const Rest&...) const {
        static_assert(
            always_false<T>,
            "PTXDSL-B07: a bulk copy reads the own block's shared memory; this source is a mapped (mapa) address");
    }
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_async_bulk(ptr<space::shared_cluster, T, A>, ptr<space::shared, U, B>, const operand<u32>&,
                                 mbarrier<R>, location = location::current()) const {
        static_assert(always_false<T>,
                      "PTXDSL-B07: a copy into another block completes on a barrier of that block: k.mapa(bar, rank)");
    }
    /// `cp.async.bulk.prefetch.L2.global [src], bytes;` PTX ISA 9.7.9.25.4.5.
    template <class U, unsigned B>
    constexpr auto cp_async_bulk_prefetch_L2(ptr<space::global, U, B> src, const operand<u32>& bytes,
                                             call_site where = call_site::current()) const {
        check_bulk<b8, 16, B>(bytes, where);
        effect<bulk<tok::prefetch, tok::L2, tok::global>>(ctx(), where, take(src), bytes);
    }
    template <class U, unsigned B>
    constexpr auto cp_async_bulk_prefetch_L2(ptr<space::global, U, B> src, const operand<u32>& bytes,
                                             cache_policy policy, call_site where = call_site::current()) const {
        check_bulk<b8, 16, B>(bytes, where);
        effect<bulk<tok::prefetch, tok::L2, tok::global, tok::L2__cache_hint>>(ctx(), where, take(src), bytes,
                                                                               policy.o);
    }
    /// `cp.reduce.async.bulk.global.shared::cta.bulk_group.OP{.noftz}.T [dst], [src], bytes;` T is the pointers'
    /// element type. PTX ISA 9.7.9.25.4.3.
    template <tok Op, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_reduce_async_bulk(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src,
                                        const operand<u32>& bytes, call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        reduce_global<Op, T, tok::none>(where, take(dst), take(src), bytes);
    }
    template <tok Op, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_reduce_async_bulk(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src,
                                        const operand<u32>& bytes, cache_policy policy,
                                        call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        reduce_global<Op, T, tok::L2__cache_hint>(where, take(dst), take(src), bytes, policy.o);
    }
    /// `cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.OP.T [dst], [src], bytes, [bar];`
    /// Into another block's shared memory.
    template <tok Op, class T, unsigned A, class U, unsigned B, class R>
    constexpr auto cp_reduce_async_bulk(ptr<space::shared_cluster, T, A> dst, ptr<space::shared, U, B> src,
                                        const operand<u32>& bytes, remote_mbarrier<R> bar,
                                        call_site where = call_site::current()) const {
        check_bulk<T, A, B>(bytes, where);
        constexpr isa::scalar s = scalar_of<meta::remove_const_t<T>>;
        using F = form<Tgt, tok::cp, tok::reduce, tok::async, tok::bulk, tok::shared__cluster, tok::shared__cta,
                       tok::mbarrier__complete_tx__bytes, Op, bulk_reduction_type(Op, s)>;
        require<F, rule::f12>();
        ctx().p.note_next(ir::note::barrier_noarity, bar.local().allocation);
        effect<F>(ctx(), where, take(dst), take(src), bytes, barrier_operand(bar));
    }
    /// `cp.async.bulk.commit_group;`
    constexpr auto cp_async_bulk_commit_group(location where = location::current()) const {
        effect<bulk<tok::commit_group>>(ctx(), where);
    }
    /// `cp.async.bulk.wait_group N;` The writes of all but the N latest groups are complete.
    template <unsigned N>
    constexpr auto cp_async_bulk_wait_group(location where = location::current()) const {
        effect<bulk<tok::wait_group>>(ctx(), where, operand<u32>(N, where));
    }
    template <class A>
    constexpr auto cp_async_bulk_wait_group(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of groups is an immediate; write k.cp_async_bulk_wait_group<0>()");
    }
    /// `cp.async.bulk.wait_group.read N;` The sources of all but the N latest groups may be overwritten.
    template <unsigned N>
    constexpr auto cp_async_bulk_wait_group_read(location where = location::current()) const {
        effect<bulk<tok::wait_group, tok::read>>(ctx(), where, operand<u32>(N, where));
    }
    template <class A>
    constexpr auto cp_async_bulk_wait_group_read(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of groups is an immediate; write k.cp_async_bulk_wait_group_read<0>()");
    }
    /// `fence.proxy.async.shared::cta;` Makes this thread's earlier shared writes visible to bulk copies and tensor
    /// cores; each writer executes it, then the block synchronises.
    constexpr auto fence_proxy_async_shared_cta(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::proxy, tok::async, tok::shared__cta>>(ctx(), where);
    }
    /// `fence.proxy.async;` The same for every state space.
    constexpr auto fence_proxy_async(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::proxy, tok::async>>(ctx(), where);
    }
    /// `fence.mbarrier_init.release.cluster;` Publishes barrier initialisation to the cluster and to the async proxy.
    constexpr auto fence_mbarrier_init(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::mbarrier_init, tok::release, tok::cluster>>(ctx(), where);
    }

protected:
    template <class R>
    [[nodiscard]] static constexpr raw_operand barrier_operand(const mbarrier<R>& b) noexcept {
        return address_operand_of(b.region());
    }
    template <class R>
    [[nodiscard]] static constexpr raw_operand barrier_operand(const remote_mbarrier<R>& b) noexcept {
        return b.address_operand();
    }
    constexpr auto check_mask(const operand<u16>& mask, location where) const {
        if (!mask.is_literal()) return;
        const std::uint32_t m = ir::payload_of(mask.words[0]) & 0xffffu;
        const ir::attributes& a = ctx().p.attrs;
        const std::uint32_t size = a.cluster_size();
        if (m == 0)
            ctx().p.report("F06", where, {"multicast mask 0 delivers to nobody"});
        else if (a.cluster.given() && size < 16 && m >> size != 0)
            ctx().p.report("F06", where, {"multicast mask ", m, " names a block outside the cluster of ", size});
    }
    /// What the notes of a multicast copy say: how many blocks the cluster has.
    [[nodiscard]] constexpr std::uint32_t receivers(const operand<u16>&) const { return ctx().p.attrs.cluster_size(); }
    template <class R>
    constexpr auto note_copy(const mbarrier<R>& bar, std::uint32_t bytes, std::uint32_t count) const {
        static_assert(
            !is_empty_ring<R>,
            "PTXDSL-E13: this is the empty barrier of the pipeline, which counts releases; a copy completes on the "
            "full one");
        ctx().p.note_next(ir::note::barrier_copy, bar.region().allocation, bar.region().stage, bytes, count);
    }

private:
    template <space S, class T, unsigned A>
    [[nodiscard]] static constexpr raw_operand take(ptr<S, T, A>& p) noexcept {
        return address_operand(static_cast<ptr<S, T, A>&&>(p));
    }
    template <tok Op, class T, tok Hint, class... O>
    constexpr auto reduce_global(location where, const O&... operands) const {
        constexpr isa::scalar s = scalar_of<meta::remove_const_t<T>>;
        constexpr bool half = s == isa::scalar::f16 || s == isa::scalar::bf16;
        using F = compact_form<Tgt, tok::cp, tok::reduce, tok::async, tok::bulk, tok::global, tok::shared__cta,
                               tok::bulk_group, Hint, Op, half && Op == tok::add ? tok::noftz : tok::none,
                               bulk_reduction_type(Op, s)>;
        require<F, rule::f12>();
        effect<F>(ctx(), where, operands...);
    }
    template <class T, unsigned A, unsigned B>
    constexpr auto check_bulk(const operand<u32>& bytes, location where) const {
        static_assert(!meta::is_const_v<T>,
                      "PTXDSL-B02: bulk copy to a pointer to const; the kernel declared this memory read-only");
        static_assert(
            A >= 16 && B >= 16,
            "PTXDSL-F09: both addresses of a bulk copy are 16-byte aligned: declare it (px::global_ptr<T, 16>, "
            "k.smem_array<T, 16>) or state it, (p + i).assume_aligned<16>()");
        if (bytes.is_literal() && ir::payload_of(bytes.words[0]) % 16 != 0)
            ctx().p.report("F09", where,
                           {"a bulk copy moves a multiple of 16 bytes, this one ", ir::payload_of(bytes.words[0])});
    }
    [[nodiscard]] static constexpr std::uint32_t literal_or_zero(const operand<u32>& o) noexcept {
        return o.is_literal() ? ir::payload_of(o.words[0]) : 0;
    }
};

}  // namespace detail
}  // namespace ptxdsl
