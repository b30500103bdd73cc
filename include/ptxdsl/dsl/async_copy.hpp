// SPDX-License-Identifier: Apache-2.0
// `cp.async` (PTX ISA 9.7.9.25.3), asynchronous stores and reductions (9.7.9.12, 9.7.13.7), tensor maps changed by the
// kernel (9.7.9.29, 9.7.9.30) and the fences of their proxies (9.7.13.4). Bulk and tensor copies are in
// dsl/bulk_copy.hpp and dsl/tensor_copy.hpp.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/tensor_copy.hpp>

namespace ptxdsl::detail {

/// Fields of a tensor map that `tensormap.replace` sets by an immediate.
[[nodiscard]] constexpr bool is_enumerated_field(tok f) noexcept {
    return f == tok::elemtype || f == tok::interleave_layout || f == tok::swizzle_mode || f == tok::swizzle_atomicity ||
           f == tok::fill_mode;
}
/// Fields with one value a dimension.
[[nodiscard]] constexpr bool is_indexed_field(tok f) noexcept {
    return f == tok::box_dim || f == tok::global_dim || f == tok::global_stride || f == tok::element_stride;
}

/// A predicate, as it is or negated.
template <class P>
inline constexpr bool is_condition =
    meta::is_same_v<typename traits<P>::value, pred> || meta::is_same_v<meta::remove_cvref_t<P>, negated>;

template <target Tgt>
class async_copy_family : public family<Tgt, async_copy_family<Tgt>> {
    using family<Tgt, async_copy_family<Tgt>>::ctx;

public:
    // ---- cp.async
    // ----------------------------------------------------------------------------------------------------
    // `k.cp_async<px::ca, 16>(dst, src)`: `.ca` and 4, 8 or 16 bytes, or `.cg` and 16 (B06). A prefetch size follows:
    // `k.cp_async<px::cg, 16, px::L2::_128B>(…)`; a cache policy as the last argument adds `.L2::cache_hint`.

    /// `cp.async.CACHE.shared.global{.PREFETCH} [dst], [src], Bytes;` PTX ISA 9.7.9.25.3.1.
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src,
                            call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::none, T, A, B, Prefetch...>(where, take(dst), take(src));
    }
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, cache_policy policy,
                            call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::L2__cache_hint, T, A, B, Prefetch...>(where, take(dst), take(src), policy.o);
    }
    /// `… [dst], [src], Bytes, n;` copies the first `n` bytes and fills the rest with zeros.
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& n,
                            call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::none, T, A, B, Prefetch...>(where, take(dst), take(src), n);
    }
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& n,
                            cache_policy policy, call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::L2__cache_hint, T, A, B, Prefetch...>(where, take(dst), take(src), n, policy.o);
    }
    /// `… [dst], [src], Bytes, ignore;` fills with zeros where `ignore` is true, without reading the source.
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B, class P>
        requires is_condition<P>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, P&& ignore,
                            call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::none, T, A, B, Prefetch...>(where, take(dst), take(src),
                                                            pred_operand(static_cast<P&&>(ignore), where));
    }
    template <tok Cache, unsigned Bytes, tok... Prefetch, class T, unsigned A, class U, unsigned B, class P>
        requires is_condition<P>
    constexpr auto cp_async(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, P&& ignore, cache_policy policy,
                            call_site where = call_site::current()) const {
        copy<Cache, Bytes, tok::L2__cache_hint, T, A, B, Prefetch...>(
            where, take(dst), take(src), pred_operand(static_cast<P&&>(ignore), where), policy.o);
    }
    /// B01, B07: from global memory to the own block's.
    template <tok Cache, unsigned Bytes, tok... Prefetch, space D, class T, unsigned A, space S, class U, unsigned B,
              class... Rest>
        requires(D != space::shared || S != space::global)
    constexpr auto cp_async(ptr<D, T, A>, ptr<S, U, B>, const Rest&...) const {
        static_assert(
            D != space::shared_cluster,
            "PTXDSL-B07: cp.async writes the own block's shared memory; this destination is a mapped (mapa) address");
        static_assert(
            D == space::shared_cluster,
            "PTXDSL-B01: cp.async copies from global to shared memory: k.cp_async<px::cg, 16>(shared address, global address)");
    }
    /// `cp.async.commit_group;` PTX ISA 9.7.9.25.3.2.
    constexpr auto cp_async_commit_group(location where = location::current()) const {
        effect<form<Tgt, tok::cp, tok::async, tok::commit_group>>(ctx(), where);
    }
    /// `cp.async.wait_group N;` All but the N latest groups of this thread are complete. PTX ISA 9.7.9.25.3.3.
    template <unsigned N>
    constexpr auto cp_async_wait_group(location where = location::current()) const {
        effect<form<Tgt, tok::cp, tok::async, tok::wait_group>>(ctx(), where, operand<u32>(N, where));
    }
    template <class A>
    constexpr auto cp_async_wait_group(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of groups is an immediate; write k.cp_async_wait_group<0>()");
    }
    /// `cp.async.wait_all;`
    constexpr auto cp_async_wait_all(location where = location::current()) const {
        effect<form<Tgt, tok::cp, tok::async, tok::wait_all>>(ctx(), where);
    }
    /// `cp.async.mbarrier.arrive.shared::cta.b64 [bar];` One arrival when this thread's earlier copies are complete;
    /// the pending count is raised by one first, so the arrival adds nothing to the barrier's count. PTX
    /// ISA 9.7.13.15.14.
    template <class R>
    constexpr auto cp_async_mbarrier_arrive(mbarrier<R> bar, location where = location::current()) const {
        ctx().p.note_next(ir::note::barrier_arrive, bar.region().allocation, bar.region().stage, 0, 0);
        effect<form<Tgt, tok::cp, tok::async, tok::mbarrier, tok::arrive, tok::shared__cta, tok::b64>>(
            ctx(), where, address_operand_of(bar.region()));
    }
    /// `cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];` The arrival is one of those the barrier counts.
    template <class R>
    constexpr auto cp_async_mbarrier_arrive_noinc(mbarrier<R> bar, location where = location::current()) const {
        ctx().p.note_next(ir::note::barrier_arrive, bar.region().allocation, bar.region().stage, 1, 0);
        effect<form<Tgt, tok::cp, tok::async, tok::mbarrier, tok::arrive, tok::noinc, tok::shared__cta, tok::b64>>(
            ctx(), where, address_operand_of(bar.region()));
    }
    template <class R>
    constexpr auto cp_async_mbarrier_arrive(remote_mbarrier<R>, location = location::current()) const {
        own_barrier<R>();
    }
    template <class R>
    constexpr auto cp_async_mbarrier_arrive_noinc(remote_mbarrier<R>, location = location::current()) const {
        own_barrier<R>();
    }

    // ---- asynchronous stores and reductions
    // ---------------------------------------------------------------------------

    /// `st.async.shared::cluster.mbarrier::complete_tx::bytes.T [a], v, [bar];` Stores into a block of the cluster; the
    /// barrier there counts the bytes. A pointer to `packet<T, 2>` or `packet<T, 4>` stores a vector. PTX ISA 9.7.9.12.
    template <class T, unsigned A, class V, class R>
    constexpr auto st_async(ptr<space::shared_cluster, T, A> a, V&& v, remote_mbarrier<R> bar,
                            location where = location::current()) const {
        using E = typename ptr<space::shared_cluster, T, A>::scalar_type;
        constexpr unsigned n = ptr<space::shared_cluster, T, A>::lanes;
        check_write<T, A>();
        using F = compact_form<Tgt, tok::st, tok::async, tok::shared__cluster, tok::mbarrier__complete_tx__bytes,
                               n == 2   ? tok::v2
                               : n == 4 ? tok::v4
                               : n == 8 ? tok::v8
                                        : tok::none,
                               type_word<typing::plain, E>>;
        require<F, rule::b04>();
        ctx().p.note_next(ir::note::barrier_noarity, bar.local().allocation);
        if constexpr (n == 1) {
            effect<F>(ctx(), where, take(a), as_operand<E>(static_cast<V&&>(v), where), bar.address_operand());
        } else {
            static_assert(meta::is_same_v<meta::remove_cvref_t<V>, vec<E, n>>,
                          "PTXDSL-A07: the vector stored has another length or element type than the pointer's packet");
            raw_operand list = vector_of(v.program(), v.words(), n);
            if constexpr (!meta::is_lvalue_reference_v<V>) list.fresh = v.expression();
            effect<F>(ctx(), where, take(a), list, bar.address_operand());
        }
    }
    /// `st.async{.M}.global.T [a], v;` (sm_100a): `k.st_async<px::release, px::gpu>(p, v)`.
    template <tok... M, class T, unsigned A, class V = absent>
    constexpr auto st_async(ptr<space::global, T, A> a, V&& v = {}, location where = location::current()) const {
        using E = typename ptr<space::global, T, A>::scalar_type;
        check_write<T, A>();
        using F = form<Tgt, tok::st, tok::async, M..., tok::global, type_word<typing::plain, E>>;
        require<F, rule::b04>();
        effect<F>(ctx(), where, take(a), as_operand<E>(static_cast<V&&>(v), where));
    }
    /// `red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.OP.T [a], v, [bar];` PTX ISA 9.7.13.7.
    template <tok Op, class T, unsigned A, class V, class R>
    constexpr auto red_async(ptr<space::shared_cluster, T, A> a, V&& v, remote_mbarrier<R> bar,
                             location where = location::current()) const {
        check_write<T, A>();
        using F = form<Tgt, tok::red, tok::async, tok::relaxed, tok::cluster, tok::shared__cluster,
                       tok::mbarrier__complete_tx__bytes, Op, red_type<Op, T>>;
        require<F, rule::b08>();
        ctx().p.note_next(ir::note::barrier_noarity, bar.local().allocation);
        effect<F>(ctx(), where, take(a), as_operand<T>(static_cast<V&&>(v), where), bar.address_operand());
    }
    /// `red.async{.M}.global.OP.T [a], v;` (sm_100a): `k.red_async<px::tok::add, px::release, px::gpu>(p, v)`.
    template <tok Op, tok... M, class T, unsigned A, class V = absent>
    constexpr auto red_async(ptr<space::global, T, A> a, V&& v = {}, location where = location::current()) const {
        check_write<T, A>();
        using F = form<Tgt, tok::red, tok::async, M..., tok::global, Op, red_type<Op, T>>;
        require<F, rule::b08>();
        effect<F>(ctx(), where, take(a), as_operand<T>(static_cast<V&&>(v), where));
    }
    /// B07: both the address and the barrier are those of a block of the cluster.
    template <class T, unsigned A, class V, class R>
    constexpr auto st_async(ptr<space::shared_cluster, T, A>, const V&, mbarrier<R>,
                            location = location::current()) const {
        far_barrier<R>();
    }
    template <tok Op, class T, unsigned A, class V, class R>
    constexpr auto red_async(ptr<space::shared_cluster, T, A>, const V&, mbarrier<R>,
                             location = location::current()) const {
        far_barrier<R>();
    }
    /// `st.bulk.weak.shared::cta [a], bytes, 0;` (sm_100a) fills with zeros; a multiple of 8 bytes. PTX ISA 9.7.9.13.
    template <class T, unsigned A, class N = absent>
    constexpr auto st_bulk(ptr<space::shared, T, A> a, N&& bytes = {}, location where = location::current()) const {
        static_assert(A >= 8, "PTXDSL-B03: st.bulk takes an address known to be aligned to 8 bytes");
        using F = form<Tgt, tok::st, tok::bulk, tok::weak, tok::shared__cta>;
        require<F>();
        effect<F>(ctx(), where, take(a), as_operand<u64>(static_cast<N&&>(bytes), where), operand<u32>(0u, where));
    }

    // ---- tensor maps that the kernel changes (PTX ISA 9.7.9.29)
    // ----------------------------------------------------------- The map lies in 128-byte aligned shared or global
    // memory; `k.fence_proxy_tensormap_acquire` before its next use.

    /// `tensormap.replace.tile.FIELD{.space}.b1024.b32 [map], value;` for `global_address` (64 bits) and `rank`:
    /// `k.tensormap_replace<px::tok::global_address>(map, address)`.
    template <tok Field, space S, class T, unsigned A, class V>
    constexpr auto tensormap_replace(ptr<S, T, A> map, V&& value, location where = location::current()) const {
        static_assert(
            !is_indexed_field(Field) && !is_enumerated_field(Field),
            "PTXDSL-F10: this field of a tensor map takes its index or value as a template argument: "
            "k.tensormap_replace<px::tok::box_dim, 1>(map, n), k.tensormap_replace<px::tok::fill_mode, 0>(map)");
        replace<Field, S, T, A>(where, take(map), map_value<Field>(static_cast<V&&>(value), where));
    }
    /// `tensormap.replace.tile.FIELD{.space}.b1024.b32 [map], Index, value;` for `box_dim`, `global_dim`,
    /// `element_stride` (32 bits) and `global_stride` (64 bits).
    template <tok Field, unsigned Index, space S, class T, unsigned A, class V>
    constexpr auto tensormap_replace(ptr<S, T, A> map, V&& value, location where = location::current()) const {
        static_assert(is_indexed_field(Field), "PTXDSL-F10: this field of a tensor map has no index");
        static_assert(Index < 5, "PTXDSL-F01: a tensor map has 1 to 5 dimensions");
        replace<Field, S, T, A>(where, take(map), operand<u32>(Index, where),
                                map_value<Field>(static_cast<V&&>(value), where));
    }
    /// `tensormap.replace.tile.FIELD{.space}.b1024.b32 [map], Value;` for `elemtype`, `interleave_layout`,
    /// `swizzle_mode`, `swizzle_atomicity`, `fill_mode`.
    template <tok Field, unsigned Value, space S, class T, unsigned A>
    constexpr auto tensormap_replace(ptr<S, T, A> map, location where = location::current()) const {
        static_assert(is_enumerated_field(Field),
                      "PTXDSL-F10: this field of a tensor map takes a value in a register, after the map");
        constexpr unsigned last = Field == tok::elemtype            ? 15
                                  : Field == tok::swizzle_mode      ? 4
                                  : Field == tok::swizzle_atomicity ? 3
                                  : Field == tok::interleave_layout ? 2
                                                                    : 1;
        static_assert(Value <= last, "PTXDSL-F10: this field of a tensor map has no such value");
        replace<Field, S, T, A>(where, take(map), operand<u32>(Value, where));
    }
    /// `tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [dst], [src], 128;`
    /// Publishes a map built in shared memory: `k.tensormap_cp_fenceproxy<px::gpu>(dst, src)`. PTX ISA 9.7.9.30.
    template <tok Scope, class T, unsigned A, class U, unsigned B>
    constexpr auto tensormap_cp_fenceproxy(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src,
                                           location where = location::current()) const {
        static_assert(A >= 128 && B >= 128, "PTXDSL-F10: a tensor map is 128-byte aligned; declare or assume it");
        using F = form<Tgt, tok::tensormap, tok::cp_fenceproxy, tok::global, tok::shared__cta, tok::tensormap__generic,
                       tok::release, Scope, tok::sync, tok::aligned>;
        require<F, rule::b04>();
        effect<F>(ctx(), where, take(dst), take(src), operand<u32>(128u, where));
    }
    /// A map that lies in global memory, as a handle: one `cvta.global.u64` (and one `add.s64` when the pointer has a
    /// constant offset).
    template <tensor_map_type Map, class T, unsigned A>
    [[nodiscard]] constexpr Map map_in_memory(ptr<space::global, T, A> p, location where = location::current()) const {
        static_assert(A >= 64, "PTXDSL-F10: a tensor map is 128-byte aligned; declare or assume it");
        reg<u64> at(ctx().p, ir::payload_of(p.base()), p.expression());
        std::uint32_t id = at.id();
        if (p.offset() != 0)
            id = value<form<Tgt, tok::add, tok::s64>, u64>(
                     ctx(), where, operand<u64>(static_cast<reg<u64>&&>(at), where), operand<u64>(p.offset(), where))
                     .id();
        const reg<u64> generic =
            value<form<Tgt, tok::cvta, tok::global, tok::u64>, u64>(ctx(), where, reg_operand(ctx().p, id));
        return {ctx().p, generic.id()};
    }

    // ---- proxy fences (PTX ISA 9.7.13.4)
    // ----------------------------------------------------------------------------------

    /// `fence.proxy.tensormap::generic.release.SCOPE;` after a map was written:
    /// `k.fence_proxy_tensormap_release<px::gpu>()`.
    template <tok Scope>
    constexpr auto fence_proxy_tensormap_release(location where = location::current()) const {
        proxy_fence<tok::tensormap__generic, tok::release, Scope>(where);
    }
    /// `fence.proxy.tensormap::generic.acquire.SCOPE [map], 128;` before a changed map is used.
    template <tok Scope, space S, class T, unsigned A>
    constexpr auto fence_proxy_tensormap_acquire(ptr<S, T, A> map, location where = location::current()) const {
        static_assert(S == space::global || S == space::generic,
                      "PTXDSL-B01: the tensormap fence takes a generic or global address");
        static_assert(A >= 128, "PTXDSL-F10: a tensor map is 128-byte aligned; declare or assume it");
        using F = form<Tgt, tok::fence, tok::proxy, tok::tensormap__generic, tok::acquire, Scope>;
        require<F, rule::b04>();
        effect<F>(ctx(), where, take(map), operand<u32>(128u, where));
    }
    template <tok Scope, tensor_map_type Map>
    constexpr auto fence_proxy_tensormap_acquire(const Map& map, location where = location::current()) const {
        using F = form<Tgt, tok::fence, tok::proxy, tok::tensormap__generic, tok::acquire, Scope>;
        require<F, rule::b04>();
        effect<F>(ctx(), where, map.address_operand(), operand<u32>(128u, where));
    }
    /// `fence.proxy.alias;` between accesses to one location through different virtual addresses.
    constexpr auto fence_proxy_alias(location where = location::current()) const { proxy_fence<tok::alias>(where); }
    /// `fence.proxy.async.global;`
    constexpr auto fence_proxy_async_global(location where = location::current()) const {
        proxy_fence<tok::async, tok::global>(where);
    }
    /// `fence.proxy.async.shared::cluster;`
    constexpr auto fence_proxy_async_shared_cluster(location where = location::current()) const {
        proxy_fence<tok::async, tok::shared__cluster>(where);
    }
    /// `fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;`
    constexpr auto fence_proxy_async_generic_acquire(location where = location::current()) const {
        proxy_fence<tok::async__generic, tok::acquire, tok::sync_restrict__shared__cluster, tok::cluster>(where);
    }
    /// `fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;`
    constexpr auto fence_proxy_async_generic_release(location where = location::current()) const {
        proxy_fence<tok::async__generic, tok::release, tok::sync_restrict__shared__cta, tok::cluster>(where);
    }

    /// What takes something else, with its sentence.
    template <unsigned Bytes, class D = void>
    constexpr auto cp_async(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: cp_async<16> copies from a global pointer to a shared one: k.cp_async<16>(to, from); "
            "tile.at(row, col) and k.tile_line(tile, row).chunk(c) are such pointers");
    }

private:
    template <space S, class T, unsigned A>
    [[nodiscard]] static constexpr raw_operand take(ptr<S, T, A>& p) noexcept {
        return address_operand(static_cast<ptr<S, T, A>&&>(p));
    }
    template <tok... M>
    constexpr auto proxy_fence(location where) const {
        using F = form<Tgt, tok::fence, tok::proxy, M...>;
        require<F, rule::b04>();
        effect<F>(ctx(), where);
    }
    template <tok Cache, unsigned Bytes, tok Hint, class T, unsigned A, unsigned B, tok... Prefetch, class... O>
    constexpr auto copy(location where, const raw_operand& dst, const raw_operand& src, const O&... rest) const {
        constexpr bool size =
            (Cache == tok::ca && (Bytes == 4 || Bytes == 8 || Bytes == 16)) || (Cache == tok::cg && Bytes == 16);
        static_assert(size, "PTXDSL-B06: cp.async copies 4, 8 or 16 bytes with .ca, 16 with .cg");
        static_assert(!size || (A >= Bytes && B >= Bytes),
                      "PTXDSL-B03: both addresses of cp.async are aligned to the size of the copy; declare or "
                      "assume it");
        static_assert(!meta::is_const_v<T>, "PTXDSL-B02: cp.async to a pointer to const");
        using F = compact_form<Tgt, tok::cp, tok::async, Cache, tok::shared, tok::global, Hint, Prefetch...>;
        if constexpr (size) {
            require<F, rule::b04>();
            effect<F>(ctx(), where, dst, src, operand<u32>(Bytes, where), rest...);
        }
    }
    template <class T, unsigned A>
    static constexpr auto check_write() noexcept {
        static_assert(!meta::is_const_v<T>,
                      "PTXDSL-B02: store through a pointer to const; the kernel declared this memory read-only");
        static_assert(A >= sizeof(T), "PTXDSL-B03: the address is not known to be aligned to the size of this access");
    }
    template <tok Op, class T>
    static constexpr tok red_type =
        Op == tok::and_ || Op == tok::or_ || Op == tok::xor_ ? type_word<typing::bits, T>
                                                             : isa::type_token(scalar_of<T>);
    template <class R>
    static constexpr auto own_barrier() {
        static_assert(always_false<R>,
                      "PTXDSL-B07: cp.async arrives on a barrier of the own block; this one is mapped (mapa)");
    }
    template <class R>
    static constexpr auto far_barrier() {
        static_assert(always_false<R>,
                      "PTXDSL-B07: a store into another block completes on a barrier of that block: k.mapa(bar, rank)");
    }
    template <tok Field, class V>
    [[nodiscard]] static constexpr auto map_value(V&& v, location where) {
        constexpr bool wide = Field == tok::global_address || Field == tok::global_stride;
        if constexpr (traits<V>::is_reg) {
            using T = typename traits<V>::value;
            static_assert(bits_of<T> == (wide ? 64 : 32),
                          "PTXDSL-A01: this field of a tensor map has another width than the register");
            return as_operand<T>(static_cast<V&&>(v), where);
        } else {
            return as_operand<meta::conditional_t<wide, u64, u32>>(static_cast<V&&>(v), where);
        }
    }
    template <tok Field, space S, class T, unsigned A, class... O>
    constexpr auto replace(location where, const raw_operand& map, const O&... rest) const {
        static_assert(S == space::global || S == space::shared,
                      "PTXDSL-B01: tensormap.replace changes a map in global memory or in the own block's "
                      "shared memory");
        static_assert(A >= 128, "PTXDSL-F10: a tensor map is 128-byte aligned; declare or assume it");
        static_assert(!meta::is_const_v<T>, "PTXDSL-B02: tensormap.replace through a pointer to const");
        if constexpr (S == space::global || S == space::shared) {
            using F = form<Tgt, tok::tensormap, tok::replace, tok::tile, Field,
                           S == space::global ? tok::global : tok::shared__cta, tok::b1024,
                           Field == tok::global_address || Field == tok::global_stride ? tok::b64 : tok::b32>;
            require<F, rule::f08>();
            effect<F>(ctx(), where, map, rest...);
        }
    }
};

}  // namespace ptxdsl::detail
