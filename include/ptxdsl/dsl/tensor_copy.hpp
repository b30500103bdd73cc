// SPDX-License-Identifier: Apache-2.0
// Copies through a tensor map (PTX ISA 9.7.9.27): loads, stores, reductions and prefetches of tiles, and the
// coordinates they take. The bytes that a barrier expects come from the tile.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/bulk_copy.hpp>
#include <ptxdsl/dsl/tensor_map.hpp>

namespace ptxdsl {

/// Integers a tensor copy takes together: coordinates, im2col offsets. Registers or literals.
template <unsigned N>
struct coordinates {
    std::uint32_t words[N] = {};
    ir::program* prog = nullptr;  ///< of the registers among them
    ir::span fresh{};             ///< of the nested calls among them, which are in order
    static constexpr unsigned size = N;

    constexpr coordinates() noexcept = default;
    constexpr coordinates(const coordinates& o) noexcept { copy(o); }
    constexpr coordinates(coordinates&& o) noexcept : fresh(o.fresh) { copy(o); }
    constexpr ~coordinates() = default;
    coordinates& operator=(const coordinates&) = delete;
    coordinates& operator=(coordinates&&) = delete;

private:
    constexpr void copy(const coordinates& o) noexcept {
        for (unsigned i = 0; i < N; ++i) words[i] = o.words[i];
        prog = o.prog;
    }
};
/// Offsets of an im2col copy, made by `px::offsets(…)`.
template <unsigned N>
struct im2col_offsets {
    coordinates<N> list;
};

namespace detail {

/// Coordinates are signed; PTX takes any 32-bit integer register.
template <class C>
[[nodiscard]] constexpr auto as_coordinate(C&& c) {
    using V = meta::remove_cvref_t<C>;
    if constexpr (traits<V>::is_reg) {
        using T = typename traits<V>::value;
        static_assert(meta::is_same_v<T, s32> || meta::is_same_v<T, u32> || meta::is_same_v<T, b32>,
                      "PTXDSL-F01: a tensor coordinate is a 32-bit integer register or a literal");
        return operand<T>(static_cast<C&&>(c));
    } else {
        static_assert(meta::is_integral_v<V>,
                      "PTXDSL-F01: a tensor coordinate is a 32-bit integer register or a literal");
        return operand<s32>(c);
    }
}
template <class C>
[[nodiscard]] constexpr auto as_offset(C&& c) {
    using V = meta::remove_cvref_t<C>;
    if constexpr (traits<V>::is_reg) {
        using T = typename traits<V>::value;
        static_assert(meta::is_same_v<T, u16> || meta::is_same_v<T, s16> || meta::is_same_v<T, b16>,
                      "PTXDSL-F08: an im2col offset is a 16-bit register or a literal");
        return operand<T>(static_cast<C&&>(c));
    } else {
        static_assert(meta::is_integral_v<V>, "PTXDSL-F08: an im2col offset is a 16-bit register or a literal");
        return operand<u16>(c);
    }
}
/// Collects the operands of one list and puts the nested calls among them into order.
template <unsigned N>
constexpr auto collect(coordinates<N>& out, const raw_operand (&list)[N]) {
    ir::span spans[N] = {};
    ir::program* p = nullptr;
    for (unsigned i = 0; i < N; ++i) {
        out.words[i] = list_word(p, list[i].prog, list[i].words[0]);
        spans[i] = list[i].prog == p ? list[i].fresh : ir::span{};
    }
    if (p == nullptr) return;
    out.prog = p;
    ir::span all;
    if (!p->settle(spans, N, all))
        p->report(
            "K05", p->locations.back(),
            {"two nested calls in one list of coordinates emit several instructions each; give one a name first"});
    if (all.begin != all.end) out.fresh = {all.begin, p->words.size()};
}

}  // namespace detail

/// Coordinates of a box's first element, innermost dimension first.
template <class... C>
[[nodiscard]] constexpr auto coords(C&&... c) {
    coordinates<sizeof...(C)> out;
    const detail::raw_operand list[] = {detail::as_coordinate(static_cast<C&&>(c))...};
    detail::collect(out, list);
    return out;
}
/// Offsets of an im2col copy, innermost spatial dimension first; 16-bit registers or literals.
template <class... C>
[[nodiscard]] constexpr auto offsets(C&&... c) {
    im2col_offsets<sizeof...(C)> out;
    const detail::raw_operand list[] = {detail::as_offset(static_cast<C&&>(c))...};
    detail::collect(out.list, list);
    return out;
}

/// `.cta_group::1`, `.cta_group::2` (sm_100a): `k.cp_async_bulk_tensor<px::cta_group_2>(…)`.
inline constexpr tok cta_group_1 = tok::cta_group__1;
inline constexpr tok cta_group_2 = tok::cta_group__2;

namespace detail {

/// `[map, {c0, c1, …}]`
template <unsigned N>
[[nodiscard]] constexpr raw_operand tensor_operand(const map_handle& map, const coordinates<N>& c) noexcept {
    raw_operand o;
    o.prog = c.prog == nullptr ? map.program() : c.prog;  // of another kernel: the instruction says so
    o.words[0] = ir::head(ir::operand_kind::tensor, N);
    o.words[1] = ir::head(ir::operand_kind::reg, map.address());
    o.count = 2;
    o.more = c.words;
    o.more_count = N;
    o.fresh = c.fresh;
    return o;
}
/// `{o0, o1, …}`
template <unsigned N>
[[nodiscard]] constexpr raw_operand offset_operand(const coordinates<N>& c) noexcept {
    raw_operand o = vector_of(c.prog, c.words, N);
    o.fresh = c.fresh;
    return o;
}

[[nodiscard]] consteval tok dimension_token(unsigned rank) noexcept {
    constexpr tok tokens[] = {tok::none, tok::_1d, tok::_2d, tok::_3d, tok::_4d, tok::_5d};
    return tokens[rank];
}

template <class B>
inline constexpr bool is_remote_barrier = false;
template <class R>
inline constexpr bool is_remote_barrier<remote_mbarrier<R>> = true;
template <class B>
inline constexpr bool is_local_barrier = false;
template <class R>
inline constexpr bool is_local_barrier<mbarrier<R>> = true;
/// A barrier a copy can complete on.
template <class B>
concept copy_barrier = is_local_barrier<B> || is_remote_barrier<B>;

template <tok... M>
inline constexpr tok cta_group_of = [] {
    tok g = tok::none;
    ((g = M == tok::cta_group__1 || M == tok::cta_group__2 ? M : g), ...);
    return g;
}();

/// Tensor copies are bulk copies with a map: barriers, masks and groups are the same.
template <target Tgt>
class tensor_copy_family : public bulk_copy_family<Tgt> {
    using bulk_copy_family<Tgt>::barrier_operand;
    using bulk_copy_family<Tgt>::check_mask;
    using bulk_copy_family<Tgt>::ctx;
    using bulk_copy_family<Tgt>::note_copy;
    using bulk_copy_family<Tgt>::receivers;
    template <tok... Toks>
    using bulk_if = compact_form<Tgt, tok::cp, tok::async, tok::bulk, Toks...>;

public:
    // ---- tensor loads. `M`: `px::shared_cta`, `px::cta_group_1`, `px::cta_group_2`, in any order
    // ------------------------

    /// `cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dst], [map, {c…}], [bar];`
    /// Fills one tile (of one panel) from the box at `c`; with a `gather_map` `.tile::gather4`. One thread executes it;
    /// completion is counted on `bar`, in this block (in the pair's with `.cta_group::2`). PTX ISA 9.7.9.27.1.2.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                        call_site where = call_site::current()) const {
        check_load<Tile, Map, N, 0>();
        load<false, false, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, 1);
    }
    /// The load with `.L2::cache_hint`.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                        cache_policy policy, call_site where = call_site::current()) const {
        check_load<Tile, Map, N, 0>();
        load<false, true, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, 1, policy.o);
    }
    /// The im2col load: `… [dst], [map, {c…}], [bar], {offsets};`
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar, unsigned O>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                        im2col_offsets<O> o, call_site where = call_site::current()) const {
        check_load<Tile, Map, N, O>();
        load<false, false, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, 1,
                                            offset_operand(o.list));
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar, unsigned O>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                        im2col_offsets<O> o, cache_policy policy,
                                        call_site where = call_site::current()) const {
        check_load<Tile, Map, N, O>();
        load<false, true, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, 1, offset_operand(o.list),
                                           policy.o);
    }
    /// `cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [dst],
    /// [map, {c…}], [bar], mask;` A 16-bit mask of the blocks whose shared memory (at the same offset) receives the box
    /// and whose barrier counts it.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto cp_async_bulk_tensor_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                                  const operand<u16>& mask,
                                                  call_site where = call_site::current()) const {
        check_load<Tile, Map, N, 0>();
        check_mask(mask, where);
        load<true, false, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, receivers(mask), mask);
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto cp_async_bulk_tensor_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                                  const operand<u16>& mask, cache_policy policy,
                                                  call_site where = call_site::current()) const {
        check_load<Tile, Map, N, 0>();
        check_mask(mask, where);
        load<true, true, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, receivers(mask), mask,
                                          policy.o);
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar, unsigned O>
    constexpr auto cp_async_bulk_tensor_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                                  im2col_offsets<O> o, const operand<u16>& mask,
                                                  call_site where = call_site::current()) const {
        check_load<Tile, Map, N, O>();
        check_mask(mask, where);
        load<true, false, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, receivers(mask),
                                           offset_operand(o.list), mask);
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar, unsigned O>
    constexpr auto cp_async_bulk_tensor_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                                  im2col_offsets<O> o, const operand<u16>& mask, cache_policy policy,
                                                  call_site where = call_site::current()) const {
        check_load<Tile, Map, N, O>();
        check_mask(mask, where);
        load<true, true, Tile, Map, M...>(where, dst.region(), tensor_operand(map, c), bar, receivers(mask),
                                          offset_operand(o.list), mask, policy.o);
    }
    /// F04: a load has a barrier.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile>, const Map&, coordinates<N>,
                                        location = location::current()) const {
        static_assert(always_false<Tile>,
                      "PTXDSL-F04: a tensor load completes on an mbarrier, its last argument; nothing else tells when "
                      "the tile is there");
    }
    /// C03: one stage of tiles and barriers.
    template <tok... M, class Tile, class... A>
    constexpr auto cp_async_bulk_tensor(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, class R, class... A>
    constexpr auto cp_async_bulk_tensor(tile_stage<Tile>, const Map&, coordinates<N>, const mbarrier_ring<R>&,
                                        const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class Tile, class... A>
    constexpr auto cp_async_bulk_tensor_multicast(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, class R, class... A>
    constexpr auto cp_async_bulk_tensor_multicast(tile_stage<Tile>, const Map&, coordinates<N>, const mbarrier_ring<R>&,
                                                  const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class Tile, class... A>
    constexpr auto load_tile(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, class R, class... A>
    constexpr auto load_tile(tile_stage<Tile>, const Map&, coordinates<N>, const mbarrier_ring<R>&, const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, class Tile, class... A>
    constexpr auto load_tile_multicast(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, class R, class... A>
    constexpr auto load_tile_multicast(tile_stage<Tile>, const Map&, coordinates<N>, const mbarrier_ring<R>&,
                                       const A&...) const {
        refuse_ring<R>();
    }
    template <tok... M, tensor_map_type Map, unsigned N, class Tile, class... A>
    constexpr auto cp_async_bulk_tensor(const Map&, coordinates<N>, const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    /// Fills a tile of several panels: one `cp.async.bulk.tensor` a panel, and one `add.s32` for each further panel
    /// when the innermost coordinate is a register.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto load_tile(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                             call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor<M...>(panel, map, at, bar, where);
        });
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto load_tile(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar, cache_policy policy,
                             call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor<M...>(panel, map, at, bar, static_cast<cache_policy&&>(policy), where);
        });
    }
    /// The same with multicast.
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto load_tile_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                       const operand<u16>& mask, call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor_multicast<M...>(panel, map, at, bar, mask, where);
        });
    }
    template <tok... M, class Tile, tensor_map_type Map, unsigned N, copy_barrier Bar>
    constexpr auto load_tile_multicast(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                                       const operand<u16>& mask, cache_policy policy,
                                       call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor_multicast<M...>(panel, map, at, bar, mask, static_cast<cache_policy&&>(policy), where);
        });
    }

    // ---- tensor stores, reductions, prefetch
    // --------------------------------------------------------------------------

    /// `cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group [map, {c…}], [src];` Stores a tile; elements outside
    /// the tensor are dropped. `.im2col_no_offs` with an `im2col_map`, `.tile::scatter4` with a `gather_map`. The
    /// source may be reused after `commit_group` and `wait_group_read`. PTX ISA 9.7.9.27.1.2.
    template <tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                        call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        store<tok::none, tok::none, Map>(where, tensor_operand(map, c), src.region(), Tile::layout.tx_bytes());
    }
    template <tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src, cache_policy policy,
                                        call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        store<tok::none, tok::L2__cache_hint, Map>(where, tensor_operand(map, c), src.region(), Tile::layout.tx_bytes(),
                                                   policy.o);
    }
    /// Stores a tile of several panels: one `cp.async.bulk.tensor` a panel, and one `add.s32` for each further panel
    /// when the innermost coordinate is a register.
    template <tensor_map_type Map, unsigned N, class Tile>
    constexpr auto store_tile(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                              call_site where = call_site::current()) const {
        int none = 0;
        each_panel<Tile>(src, c, none, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor(map, at, panel, where);
        });
    }
    template <tensor_map_type Map, unsigned N, class Tile>
    constexpr auto store_tile(const Map& map, coordinates<N> c, tile_stage<Tile> src, cache_policy policy,
                              call_site where = call_site::current()) const {
        int none = 0;
        each_panel<Tile>(src, c, none, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor(map, at, panel, static_cast<cache_policy&&>(policy), where);
        });
    }
    /// `cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP.tile.bulk_group [map, {c…}], [src];` —
    /// `k.cp_reduce_async_bulk_tensor<px::tok::add>(map, c, src)`. PTX ISA 9.7.9.27.1.3.
    template <tok Op, tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_reduce_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                               call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        check_reduction<Op, Tile>();
        store<Op, tok::none, Map>(where, tensor_operand(map, c), src.region(), Tile::layout.tx_bytes());
    }
    template <tok Op, tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_reduce_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                               cache_policy policy, call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        check_reduction<Op, Tile>();
        store<Op, tok::L2__cache_hint, Map>(where, tensor_operand(map, c), src.region(), Tile::layout.tx_bytes(),
                                            policy.o);
    }
    /// `cp.async.bulk.prefetch.tensor.Nd.L2.global.tile [map, {c…}];` PTX ISA 9.7.9.27.1.4.
    template <tensor_map_type Map, unsigned N>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c,
                                                 call_site where = call_site::current()) const {
        check_map<Map, N, 0>();
        fetch<tok::none, Map>(where, tensor_operand(map, c));
    }
    template <tensor_map_type Map, unsigned N>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c, cache_policy policy,
                                                 call_site where = call_site::current()) const {
        check_map<Map, N, 0>();
        fetch<tok::L2__cache_hint, Map>(where, tensor_operand(map, c), policy.o);
    }
    template <tensor_map_type Map, unsigned N, unsigned O>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c, im2col_offsets<O> o,
                                                 call_site where = call_site::current()) const {
        check_map<Map, N, O>();
        fetch<tok::none, Map>(where, tensor_operand(map, c), offset_operand(o.list));
    }
    template <tensor_map_type Map, unsigned N, unsigned O>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c, im2col_offsets<O> o,
                                                 cache_policy policy, call_site where = call_site::current()) const {
        check_map<Map, N, O>();
        fetch<tok::L2__cache_hint, Map>(where, tensor_operand(map, c), offset_operand(o.list), policy.o);
    }

    /// `prefetch.tensormap [map];` Brings the map itself into the descriptor cache. PTX ISA 9.7.9.15.
    template <tensor_map_type Map>
    constexpr auto prefetch_tensormap(const Map& map, location where = location::current()) const {
        effect<form<Tgt, tok::prefetch, tok::tensormap>>(ctx(), where, map.address_operand());
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto cp_async_bulk_tensor(anything, anything = {}, anything = {}, anything = {}, anything = {},
                                        anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: cp_async_bulk_tensor loads (tile[i], map, px::coords(…), barrier[i]) or stores (map, px::coords(…), tile[i])");
    }
    template <class D = void>
    constexpr auto cp_async_bulk_tensor_multicast(anything, anything = {}, anything = {}, anything = {}, anything = {},
                                                  anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: cp_async_bulk_tensor_multicast takes (tile[i], map, px::coords(…), barrier[i], mask), the mask a px::u16");
    }
    template <class D = void>
    constexpr auto cp_async_bulk_prefetch_tensor(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>, "PTXDSL-A14: cp_async_bulk_prefetch_tensor takes (map, px::coords(…))");
    }

private:
    template <bool Multicast, bool Hint, class Tile, class Map, tok... M, class Bar, class... O>
    constexpr auto load(location where, const shared_region& dst, const raw_operand& from, const Bar& bar,
                        std::uint32_t count, const O&... rest) const {
        constexpr tok group = cta_group_of<M...>;
        constexpr bool own = has_shared_cta<M...>;
        static_assert(
            ((M == tok::shared__cta || M == tok::cta_group__1 || M == tok::cta_group__2) && ...),
            "PTXDSL-F08: a tensor load takes px::shared_cta, px::cta_group_1 and px::cta_group_2 as modifiers; the others follow "
            "from its arguments");
        static_assert(!own || !Multicast, "PTXDSL-F12: a multicast load writes .shared::cluster");
        static_assert(group == tok::none || Tgt.has_narrow_tma(),
                      "PTXDSL-F08: this target has no .cta_group on tensor copies (sm_100a has)");
        static_assert(
            !is_remote_barrier<Bar> || group == tok::cta_group__2,
            "PTXDSL-B07: a tensor load completes on a barrier of the own block; only with .cta_group::2 on one of the pair");
        constexpr bool wide = group != tok::none && !Tgt.has_narrow_tma();
        using F =
            bulk_if<tok::tensor, dimension_token(Map::rank), own ? tok::shared__cta : tok::shared__cluster, tok::global,
                    Map::load_mode, tok::mbarrier__complete_tx__bytes, Multicast ? tok::multicast__cluster : tok::none,
                    wide ? tok::none : group, Hint ? tok::L2__cache_hint : tok::none>;
        check_target<Map, F>();
        check_inner<Map>(from, where);
        if constexpr (is_local_barrier<Bar>)
            note_copy(bar, Tile::layout.tx_bytes(), count);
        else  // of the pair's first block: it counts the bytes of both
            ctx().p.note_next(ir::note::barrier_copy, bar.local().allocation, bar.local().stage,
                              Tile::layout.tx_bytes(), 2u);
        effect<F>(ctx(), where, address_operand_of(dst), from, barrier_operand(bar), rest...);
    }
    template <tok... M>
    static constexpr bool has_shared_cta = ((M == tok::shared__cta) || ...);

    /// `bytes`: of the tile.
    template <tok Op, tok Hint, class Map, class... O>
    constexpr auto store(location where, const raw_operand& to, const shared_region& src, std::uint32_t bytes,
                         const O&... policy) const {
        using F = compact_form<Tgt, tok::cp, Op == tok::none ? tok::none : tok::reduce, tok::async, tok::bulk,
                               tok::tensor, dimension_token(Map::rank), tok::global, tok::shared__cta, Op,
                               Map::store_mode, tok::bulk_group, Hint>;
        check_target<Map, F>();
        check_inner<Map>(to, where);
        ctx().p.note_next(ir::note::bulk_store, src.allocation, src.stage, bytes);
        effect<F>(ctx(), where, to, address_operand_of(src), policy...);
    }
    template <tok Hint, class Map, class... O>
    constexpr auto fetch(location where, const raw_operand& from, const O&... rest) const {
        using F =
            bulk_if<tok::prefetch, tok::tensor, dimension_token(Map::rank), tok::L2, tok::global, Map::load_mode, Hint>;
        check_target<Map, F>();
        effect<F>(ctx(), where, from, rest...);
    }

    /// Calls `copy(panel, coordinates)` for each panel of `tile`, with everything in named registers.
    template <class Tile, unsigned N, class Bar, class Copy>
    constexpr auto each_panel(tile_stage<Tile>& tile, coordinates<N>& c, Bar& bar, location where,
                              const Copy& copy) const {
        ir::program& p = ctx().p;
        ir::span spans[] = {tile.region().fresh, c.fresh, {}};
        if constexpr (copy_barrier<Bar>) spans[2] = barrier_operand(bar).fresh;
        ir::span all;
        if (!p.settle(spans, 3, all, where))
            p.report("K05", where,
                     {"two nested calls in one argument list emit several instructions each; give one a name first"});
        const tile_stage<Tile> named = tile;  // NOLINT(performance-unnecessary-copy-initialization): a copy has a name
        for (u32 i = 0; i < Tile::layout.panels(); ++i) {
            coordinates<N> at = static_cast<const coordinates<N>&>(c);
            if (const u32 skip = Tile::layout.panel(i).inner_coordinate; skip != 0)
                at.words[0] = further(c.words[0], skip, where);
            copy(named.panel(i, where), at);
        }
    }
    [[nodiscard]] constexpr std::uint32_t further(std::uint32_t word, u32 skip, location where) const {
        if (ir::kind_of(word) == ir::operand_kind::small_int)
            return ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(ir::small_value(word)) + skip);
        const reg<s32> from(ctx().p, ir::payload_of(word));
        const reg<s32> to = value<form<Tgt, tok::add, tok::s32>, s32>(ctx(), where, operand<s32>(from, where),
                                                                      operand<s32>(skip, where));
        return ir::head(ir::operand_kind::reg, to.id());
    }

    template <class Map, unsigned N, unsigned O>
    static constexpr auto check_map() noexcept {
        constexpr bool gather = Map::load_mode == tok::tile__gather4;
        static_assert(!gather || N == 5,
                      "PTXDSL-F08: gather4 and scatter4 take five indices: the first column and four rows");
        static_assert(gather || N == Map::coordinate_count,
                      "PTXDSL-F01: the number of coordinates differs from the rank of the tensor map");
        static_assert(O == 0 || Map::offset_count != 0,
                      "PTXDSL-F08: im2col offsets with a map that is not an im2col map");
        static_assert(O != 0 || Map::offset_count == 0,
                      "PTXDSL-F08: a copy through an im2col map takes px::offsets(…), its argument after the barrier");
        static_assert(
            O == 0 || Map::offset_count == 0 || O == Map::offset_count,
            "PTXDSL-F08: the number of im2col offsets differs from the spatial dimensions of the map (two for im2col::w)");
    }
    template <class Tile, class Map>
    static constexpr auto check_tile() noexcept {
        using T = typename Map::tile_type;
        constexpr tile_error here = tma_error(T::layout, Tgt);
        static_assert(here != tile_error::element_not_tma,
                      "PTXDSL-F02: this target has no tensor maps of 4- and 6-bit elements (sm_100a has)");
        static_assert(
            here != tile_error::swizzle_target,
            "PTXDSL-F02: this target has no tensor maps of the 128-byte swizzle in units of 32 (sm_100a has)");
        constexpr bool same_type = meta::is_same_v<typename T::element_type, typename Tile::element_type>;
        static_assert(same_type, "PTXDSL-F03: the tile's element type differs from the tensor map's");
        static_assert(!same_type || T::layout.order == Tile::layout.order,
                      "PTXDSL-F03: the tile's major differs from the tensor map's");
        static_assert(!same_type || T::layout.swizzle == Tile::layout.swizzle,
                      "PTXDSL-F03: the tile's swizzle differs from the tensor map's: the data would be permuted");
        constexpr bool same_box = T::layout.box() == Tile::layout.box();
        static_assert(!same_type || T::layout.swizzle != Tile::layout.swizzle || same_box,
                      "PTXDSL-F03: the tile's shape differs from the box of the tensor map");
        static_assert(
            Tile::layout.panels() == 1 || !same_box,
            "PTXDSL-C02: this tile has several panels, one copy each: k.load_tile and k.store_tile issue them all, or copy dst.panel(i)");
    }
    template <class Tile, class Map, unsigned N, unsigned O>
    static constexpr auto check_load() noexcept {
        check_map<Map, N, O>();
        check_tile<Tile, Map>();
    }
    template <class Tile, class Map, unsigned N>
    static constexpr auto check_store() noexcept {
        check_map<Map, N, Map::offset_count>();
        static_assert(Map::store_mode != tok::none, "PTXDSL-F08: maps of im2col::w are for loads only");
        static_assert(
            Map::writes || Map::store_mode == tok::none,
            "PTXDSL-B02: store through a tensor map the kernel declared read-only; declare it as px::tma_map_out (Writes = true)");
        check_tile<Tile, Map>();
    }
    template <tok Op, class Tile>
    static constexpr auto check_reduction() noexcept {
        static_assert(
            is_bulk_reduction(Op, Tile::layout.element),
            "PTXDSL-F12: tensor reductions have no such operation for this element type (add: 32- and 64-bit integers, floats; min, "
            "max: integers and halves; inc, dec: u32; and, or, xor: 32- and 64-bit integers)");
    }
    /// F08 for the modes the target lacks, then the table.
    template <class Map, class F>
    static constexpr auto check_target() noexcept {
        constexpr bool plain = Map::load_mode == tok::tile || Map::load_mode == tok::im2col;
        static_assert(plain || Tgt.has_narrow_tma(),
                      "PTXDSL-F08: this target has no gather4, scatter4 and im2col::w tensor copies (sm_100a has)");
        if constexpr (plain || Tgt.has_narrow_tma()) require<F, rule::f08>();
    }
    /// F17: an H200 ends in an illegal-instruction error where a box begins elsewhere.
    template <class Map>
    constexpr void check_inner(const raw_operand& at, location where) const {
        if (Map::spec.interleave != map_interleave::none || ir::kind_of(at.more[0]) != ir::operand_kind::small_int)
            return;
        const std::int64_t first = ir::small_value(at.more[0]);
        if (first * isa::bits(Map::spec.element) % 128 != 0)
            ctx().p.report(
                "F17", where,
                {"the innermost coordinate ", first, " of this copy is no multiple of 16 bytes: one element has ",
                 std::uint32_t{isa::bits(Map::spec.element)}, " bits"});
    }
};

}  // namespace detail
}  // namespace ptxdsl
