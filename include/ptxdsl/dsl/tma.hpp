// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies (PTX ISA 9.7.9.25 to 9.7.9.28) and tensor maps. A map's box, swizzle and element type come from
// the tile it fills; bytes on barriers come from the tile as well.
#pragma once

#include <ptxdsl/dsl/mbarrier.hpp>
#include <ptxdsl/dsl/param.hpp>

namespace ptxdsl {

namespace detail {
[[nodiscard]] consteval map_swizzle map_swizzle_of(swizzle_mode s) noexcept {
    switch (s) {
        case swizzle_mode::b32: return map_swizzle::b32;
        case swizzle_mode::b64: return map_swizzle::b64;
        case swizzle_mode::b128: return map_swizzle::b128;
        case swizzle_mode::b128_base32: return map_swizzle::b128_atom_32b;
        default: return map_swizzle::none;
    }
}
/// The tensor map that fills a tile: box of one panel in the two innermost dimensions, one element in the others.
template <class Tile, unsigned Rank>
[[nodiscard]] consteval tensor_map_spec spec_of() noexcept {
    tensor_map_spec s;
    s.element = Tile::layout.element;
    s.rank = Rank;
    s.swizzle = map_swizzle_of(Tile::layout.swizzle);
    s.box[0] = Tile::layout.box().inner;
    if (Rank > 1) s.box[1] = Tile::layout.box().outer;
    return s;
}
}  // namespace detail

/// A tensor map parameter for tiles of type `Tile`: passed by value, made on the host from the same tile type.
/// `Rank` counts the tensor's dimensions, innermost first; a tile covers the two innermost.
/// `Writes`: the kernel stores or reduces through the map.
template <class Tile, unsigned Rank = 2, bool Writes = false>
class tma_map {
public:
    using tile_type = Tile;
    static constexpr unsigned rank = Rank;
    static constexpr tensor_map_spec spec = detail::spec_of<Tile, Rank>();
    static_assert(Rank >= 1 && Rank <= 5, "PTXDSL-F01: a tensor map has 1 to 5 dimensions");
    static_assert(tma_error(Tile::layout) != tile_error::inner_not_16,
                  "PTXDSL-F02: the contiguous bytes of a tensor copy's box are a multiple of 16");
    static_assert(tma_error(Tile::layout) != tile_error::box_side, "PTXDSL-F02: no side of a tensor copy's box exceeds 256 elements");
    static_assert(tma_error(Tile::layout) != tile_error::inner_not_span && tma_error(Tile::layout) != tile_error::inner_over_span,
                  "PTXDSL-F02: the box is wider than the swizzle span (32, 64 or 128 bytes)");
    static_assert(tma_error(Tile::layout) != tile_error::element_not_tma, "PTXDSL-F02: tensor copies have no such element type");

    constexpr tma_map(ir::program& p, std::uint32_t address) noexcept : prog_(&p), address_(address) {}
    [[nodiscard]] constexpr std::uint32_t address() const noexcept { return address_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }

private:
    ir::program* prog_;
    std::uint32_t address_;  ///< register id of the map's generic address
};
/// A map the kernel stores through.
template <class Tile, unsigned Rank = 2>
using tma_map_out = tma_map<Tile, Rank, true>;

/// Coordinates of a box's first element, innermost dimension first; registers or literals.
template <unsigned N>
struct coordinates {
    std::uint32_t words[N] = {};
    ir::span fresh[N] = {};
    static constexpr unsigned size = N;

    constexpr coordinates() noexcept = default;
    constexpr coordinates(const coordinates& o) noexcept { copy(o); }
    constexpr coordinates(coordinates&& o) noexcept {
        copy(o);
        for (unsigned i = 0; i < N; ++i) fresh[i] = o.fresh[i];
    }
    constexpr ~coordinates() = default;
    coordinates& operator=(const coordinates&) = delete;
    coordinates& operator=(coordinates&&) = delete;

private:
    constexpr void copy(const coordinates& o) noexcept {
        for (unsigned i = 0; i < N; ++i) words[i] = o.words[i];
    }
};
namespace detail {

/// Coordinates are signed; PTX takes any 32-bit integer register.
template <class C>
[[nodiscard]] constexpr raw_operand as_coordinate(C&& c) {
    using V = std::remove_cvref_t<C>;
    if constexpr (traits<V>::is_reg) {
        using T = typename traits<V>::value;
        static_assert(std::is_same_v<T, s32> || std::is_same_v<T, u32> || std::is_same_v<T, b32>,
                      "PTXDSL-F01: a tensor coordinate is a 32-bit integer register or a literal");
        return operand<T>(static_cast<C&&>(c));
    } else {
        static_assert(std::is_integral_v<V>, "PTXDSL-F01: a tensor coordinate is a 32-bit integer register or a literal");
        return operand<s32>(c);
    }
}

}  // namespace detail

template <class... C>
[[nodiscard]] constexpr coordinates<sizeof...(C)> coords(C&&... c) {
    coordinates<sizeof...(C)> out;
    unsigned i = 0;
    const auto add = [&](const auto& o) {
        out.words[i] = o.words[0];
        out.fresh[i++] = o.fresh;
    };
    (add(detail::as_coordinate(static_cast<C&&>(c))), ...);
    return out;
}

namespace detail {

template <class Tile, unsigned Rank, bool W>
struct param_traits<tma_map<Tile, Rank, W>> {
    static constexpr bool is_param = true;
    using signature = tensor_map_param<tma_map<Tile, Rank, W>, W>;
    static constexpr ir::param describe() noexcept {
        ir::param p;
        p.kind = ir::param_kind::tensor_map;
        p.align = 128;
        return p;
    }
};

/// The generic address of a map parameter: `mov.b64 %t, name; cvta.param.u64 %map, %t;`.
template <class Tile, unsigned Rank, bool W>
struct param_loader<tma_map<Tile, Rank, W>> {
    template <target Tgt>
    static constexpr tma_map<Tile, Rank, W> load(builder<Tgt>& k, std::uint32_t symbol) {
        ir::program& p = k.program();
        const std::uint32_t raw = p.new_reg(isa::scalar::u64);
        const std::uint32_t generic = p.new_reg(isa::scalar::u64, "map");
        raw_operand from;
        from.words[0] = ir::head(ir::operand_kind::symbol, symbol);
        from.count = 2;
        emit_mov(p, isa::scalar::b64, raw, from, location());
        const raw_operand list[] = {reg_operand(p, generic), reg_operand(p, raw)};
        using F = form<Tgt, tok::cvta, tok::param, tok::u64>;
        emit(p, ref<F>(), 0, location(), list, 2);
        return {p, generic};
    }
};

/// `[map, {c0, c1, …}]`
template <class Map, unsigned N>
struct tensor_operand : raw_operand {
    std::uint32_t list[N] = {};
    constexpr tensor_operand(const Map& map, coordinates<N> c) noexcept {
        prog = map.program();
        words[0] = ir::head(ir::operand_kind::tensor, N);
        words[1] = ir::head(ir::operand_kind::reg, map.address());
        count = 2;
        for (unsigned i = 0; i < N; ++i) list[i] = c.words[i];
        more = list;
        more_count = N;
        for (unsigned i = 0; i < N; ++i)
            if (c.fresh[i].end != 0) fresh = fresh.end == 0 ? c.fresh[i] : ir::span{fresh.begin, c.fresh[i].end};
    }
    tensor_operand(const tensor_operand&) = delete;
};

[[nodiscard]] consteval tok dimension_token(unsigned rank) noexcept {
    constexpr tok tokens[] = {tok::none, tok::_1d, tok::_2d, tok::_3d, tok::_4d, tok::_5d};
    return tokens[rank];
}

template <target Tgt>
class tma_family : public family<Tgt, tma_family<Tgt>> {
    using family<Tgt, tma_family<Tgt>>::ctx;
    template <tok... Toks>
    using bulk = form<Tgt, tok::cp, tok::async, tok::bulk, Toks...>;

public:
    /// `cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dst], [map, {c…}], [bar];`
    /// Fills one tile (of one panel) from the box at `c`. One thread executes it; completion is counted on `bar`.
    template <class Tile, class Map, unsigned N, class R>
    constexpr void cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, mbarrier<R> bar,
                                        location where = location::current()) const {
        check_load<Tile, Map, N>();
        note_copy(bar, Tile::layout.tx_bytes(), 1);
        using F = bulk<tok::tensor, dimension_token(Map::rank), tok::shared__cluster, tok::global, tok::tile,
                       tok::mbarrier__complete_tx__bytes>;
        require<F, rule::f08>();
        const tensor_operand<Map, N> from(map, c);
        effect<F>(ctx(), where, address_operand_of(dst.region()), from, address_operand_of(bar.region()));
    }
    /// The same with `.multicast::cluster` and a 16-bit mask of the blocks whose shared memory (at the same offset)
    /// receives the box and whose barrier counts it.
    template <class Tile, class Map, unsigned N, class R>
    constexpr void cp_async_bulk_tensor_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c,
                                                  mbarrier<R> bar, const operand<u16>& mask,
                                                  location where = location::current()) const {
        check_load<Tile, Map, N>();
        check_mask(mask, where);
        note_copy(bar, Tile::layout.tx_bytes(), ctx().p.attrs.cluster_size());
        using F = bulk<tok::tensor, dimension_token(Map::rank), tok::shared__cluster, tok::global, tok::tile,
                       tok::mbarrier__complete_tx__bytes, tok::multicast__cluster>;
        require<F, rule::f08>();
        const tensor_operand<Map, N> from(map, c);
        effect<F>(ctx(), where, address_operand_of(dst.region()), from, address_operand_of(bar.region()), mask);
    }
    /// The load with an L2 cache policy from `k.createpolicy…`.
    template <class Tile, class Map, unsigned N, class R>
    constexpr void cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, mbarrier<R> bar,
                                        const reg<u64>& policy, location where = location::current()) const {
        check_load<Tile, Map, N>();
        note_copy(bar, Tile::layout.tx_bytes(), 1);
        using F = bulk<tok::tensor, dimension_token(Map::rank), tok::shared__cluster, tok::global, tok::tile,
                       tok::mbarrier__complete_tx__bytes, tok::L2__cache_hint>;
        require<F, rule::f08>();
        const tensor_operand<Map, N> from(map, c);
        effect<F>(ctx(), where, address_operand_of(dst.region()), from, address_operand_of(bar.region()), operand<u64>(policy, where));
    }
    /// `cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group [map, {c…}], [src];` Stores a tile; elements outside
    /// the tensor are dropped. The source may be reused after `commit_group` and `wait_group_read`.
    template <class Map, unsigned N, class Tile>
    constexpr void cp_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                        location where = location::current()) const {
        check_load<Tile, Map, N>();
        ctx().p.note_next(ir::note::bulk_store, src.region().allocation, src.region().stage);
        using F = bulk<tok::tensor, dimension_token(Map::rank), tok::global, tok::shared__cta, tok::tile, tok::bulk_group>;
        require<F, rule::f08>();
        const tensor_operand<Map, N> to(map, c);
        effect<F>(ctx(), where, to, address_operand_of(src.region()));
    }
    /// `cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP.tile.bulk_group [map, {c…}], [src];`
    template <tok Op, class Map, unsigned N, class Tile>
    constexpr void cp_reduce_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                               location where = location::current()) const {
        check_load<Tile, Map, N>();
        ctx().p.note_next(ir::note::bulk_store, src.region().allocation, src.region().stage);
        using F = form<Tgt, tok::cp, tok::reduce, tok::async, tok::bulk, tok::tensor, dimension_token(Map::rank), tok::global,
                       tok::shared__cta, Op, tok::tile, tok::bulk_group>;
        require<F, rule::f12>();
        const tensor_operand<Map, N> to(map, c);
        effect<F>(ctx(), where, to, address_operand_of(src.region()));
    }
    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src], bytes, [bar];` Sixteen-byte aligned,
    /// a multiple of 16 bytes.
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr void cp_async_bulk(ptr<space::shared, T, A> dst, ptr<space::global, U, B> src, const operand<u32>& bytes,
                                 mbarrier<R> bar, location where = location::current()) const {
        check_bulk<A, B>(bytes, where);
        note_copy(bar, literal_or_zero(bytes), 1);
        using F = bulk<tok::shared__cluster, tok::global, tok::mbarrier__complete_tx__bytes>;
        effect<F>(ctx(), where, address_operand(static_cast<decltype(dst)&&>(dst)), address_operand(static_cast<decltype(src)&&>(src)), bytes, address_operand_of(bar.region()));
    }
    /// `cp.async.bulk.global.shared::cta.bulk_group [dst], [src], bytes;`
    template <class T, unsigned A, class U, unsigned B>
    constexpr void cp_async_bulk(ptr<space::global, T, A> dst, ptr<space::shared, U, B> src, const operand<u32>& bytes,
                                 location where = location::current()) const {
        static_assert(!std::is_const_v<T>, "PTXDSL-B02: bulk store through a pointer to const");
        check_bulk<A, B>(bytes, where);
        effect<bulk<tok::global, tok::shared__cta, tok::bulk_group>>(ctx(), where, address_operand(static_cast<decltype(dst)&&>(dst)), address_operand(static_cast<decltype(src)&&>(src)), bytes);
    }
    /// `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], bytes, [bar];` To another block.
    template <class T, unsigned A, class U, unsigned B, class R>
    constexpr void cp_async_bulk(ptr<space::shared_cluster, T, A> dst, ptr<space::shared, U, B> src,
                                 const operand<u32>& bytes, remote_mbarrier<R> bar, location where = location::current()) const {
        check_bulk<A, B>(bytes, where);
        effect<bulk<tok::shared__cluster, tok::shared__cta, tok::mbarrier__complete_tx__bytes>>(
            ctx(), where, address_operand(static_cast<decltype(dst)&&>(dst)), address_operand(static_cast<decltype(src)&&>(src)), bytes, bar.address_operand());
    }
    /// `cp.async.bulk.commit_group;`
    constexpr void cp_async_bulk_commit_group(location where = location::current()) const {
        effect<bulk<tok::commit_group>>(ctx(), where);
    }
    /// `cp.async.bulk.wait_group N;` The writes of all but the N latest groups are complete.
    template <unsigned N>
    constexpr void cp_async_bulk_wait_group(location where = location::current()) const {
        effect<bulk<tok::wait_group>>(ctx(), where, operand<u32>(N, where));
    }
    /// `cp.async.bulk.wait_group.read N;` The sources of all but the N latest groups may be overwritten.
    template <unsigned N>
    constexpr void cp_async_bulk_wait_group_read(location where = location::current()) const {
        effect<bulk<tok::wait_group, tok::read>>(ctx(), where, operand<u32>(N, where));
    }
    /// `prefetch.tensormap [map];` Brings the map itself into the descriptor cache.
    template <class Tile, unsigned Rank, bool W>
    constexpr void prefetch_tensormap(const tma_map<Tile, Rank, W>& map, location where = location::current()) const {
        raw_operand a;
        a.prog = map.program();
        a.words[0] = ir::head(ir::operand_kind::address, 0);
        a.words[1] = ir::head(ir::operand_kind::reg, map.address());
        a.count = 3;
        effect<form<Tgt, tok::prefetch, tok::tensormap>>(ctx(), where, a);
    }
    /// `cp.async.bulk.prefetch.tensor.Nd.L2.global.tile [map, {c…}];`
    template <class Map, unsigned N>
    constexpr void cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c, location where = location::current()) const {
        static_assert(N == Map::rank, "PTXDSL-F01: the number of coordinates differs from the rank of the tensor map");
        using F = bulk<tok::prefetch, tok::tensor, dimension_token(Map::rank), tok::L2, tok::global, tok::tile>;
        const tensor_operand<Map, N> from(map, c);
        effect<F>(ctx(), where, from);
    }
    /// `fence.proxy.async.shared::cta;` Makes this thread's earlier shared writes visible to bulk copies and tensor cores;
    /// each writer executes it, then the block synchronises.
    constexpr void fence_proxy_async_shared_cta(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::proxy, tok::async, tok::shared__cta>>(ctx(), where);
    }
    /// `fence.proxy.async;` The same for every state space.
    constexpr void fence_proxy_async(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::proxy, tok::async>>(ctx(), where);
    }
    /// `fence.mbarrier_init.release.cluster;` Publishes barrier initialisation to the cluster and to the async proxy.
    constexpr void fence_mbarrier_init(location where = location::current()) const {
        effect<form<Tgt, tok::fence, tok::mbarrier_init, tok::release, tok::cluster>>(ctx(), where);
    }

private:
    template <class Tile, class Map, unsigned N>
    static constexpr void check_load() noexcept {
        static_assert(N == Map::rank, "PTXDSL-F01: the number of coordinates differs from the rank of the tensor map");
        using M = typename Map::tile_type;
        constexpr bool same_type = std::is_same_v<typename M::element_type, typename Tile::element_type>;
        static_assert(same_type, "PTXDSL-F03: the tile's element type differs from the tensor map's");
        static_assert(!same_type || M::layout.swizzle == Tile::layout.swizzle,
                      "PTXDSL-F03: the tile's swizzle differs from the tensor map's: the data would be permuted");
        static_assert(!same_type || M::layout.swizzle != Tile::layout.swizzle || M::layout.box() == Tile::layout.box(),
                      "PTXDSL-F03: the tile's shape differs from the box of the tensor map");
        static_assert(Tile::layout.panels() == 1 || M::layout.box() != Tile::layout.box(),
                      "PTXDSL-C02: this tile has several panels; copy each one: dst.panel(i)");
    }
    template <unsigned A, unsigned B>
    constexpr void check_bulk(const operand<u32>& bytes, location where) const {
        static_assert(A >= 16 && B >= 16, "PTXDSL-F09: both addresses of a bulk copy are 16-byte aligned; declare or assume it");
        if (bytes.is_literal() && ir::payload_of(bytes.words[0]) % 16 != 0)
            ctx().p.report("F09", where, "a bulk copy moves a multiple of 16 bytes, this one ", ir::payload_of(bytes.words[0]));
    }
    [[nodiscard]] static constexpr std::uint32_t literal_or_zero(const operand<u32>& o) noexcept {
        return o.is_literal() ? ir::payload_of(o.words[0]) : 0;
    }
    constexpr void check_mask(const operand<u16>& mask, location where) const {
        if (!mask.is_literal()) return;
        const std::uint32_t m = ir::payload_of(mask.words[0]);
        const std::uint32_t size = ctx().p.attrs.cluster_size();
        if (m == 0) ctx().p.report("F06", where, "multicast mask 0 delivers to nobody");
        else if (size < 16 && m >> size != 0)
            ctx().p.report("F06", where, "multicast mask ", m, " names a block outside the cluster of ", size);
    }
    template <class R>
    constexpr void note_copy(mbarrier<R> bar, std::uint32_t bytes, std::uint32_t receivers) const {
        ctx().p.note_next(ir::note::barrier_copy, bar.region().allocation, bar.region().stage, bytes, receivers);
    }
};

}  // namespace detail
}  // namespace ptxdsl
