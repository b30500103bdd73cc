// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies (PTX ISA 9.7.9.25 to 9.7.9.28) and tensor maps. A map's box, swizzle and element type come
// from the tile it fills; bytes on barriers come from the tile as well.
#pragma once

#include <ptxdsl/detail/meta.hpp>
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

/// What every tensor map handle is: the generic address of 128 bytes.
class map_handle {
public:
    constexpr map_handle(ir::program& p, std::uint32_t address) noexcept : prog_(&p), address_(address) {}
    [[nodiscard]] constexpr std::uint32_t address() const noexcept { return address_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr detail::raw_operand address_operand() const noexcept {
        detail::raw_operand a;
        a.prog = prog_;
        a.words[0] = ir::head(ir::operand_kind::address, 0);
        a.words[1] = ir::head(ir::operand_kind::reg, address_);
        a.count = 3;
        return a;
    }

private:
    ir::program* prog_;
    std::uint32_t address_;  ///< register id of the map's generic address
};

/// A tensor map parameter for tiles of type `Tile`: passed by value, made on the host from the same tile type.
/// `Rank` counts the tensor's dimensions, innermost first; a tile covers the two innermost.
/// `Writes`: the kernel stores or reduces through the map.
template <class Tile, unsigned Rank = 2, bool Writes = false>
class tma_map : public map_handle {
public:
    using tile_type = Tile;
    static constexpr unsigned rank = Rank;
    static constexpr unsigned coordinate_count = Rank;
    static constexpr unsigned offset_count = 0;
    static constexpr bool writes = Writes;
    static constexpr tensor_map_spec spec = detail::spec_of<Tile, Rank>();
    static constexpr tok load_mode = tok::tile, store_mode = tok::tile;
    static_assert(Rank >= 1 && Rank <= 5, "PTXDSL-F01: a tensor map has 1 to 5 dimensions");
    static_assert(Rank != 1 || Tile::layout.outer() == 1, "PTXDSL-F01: a map of one dimension fills tiles of one line");
    static_assert(tma_error(Tile::layout) != tile_error::inner_not_16,
                  "PTXDSL-F02: the contiguous bytes of a tensor copy's box are a multiple of 16");
    static_assert(tma_error(Tile::layout) != tile_error::inner_not_128,
                  "PTXDSL-F02: a box of 4- or 6-bit elements in byte containers is 128 elements wide");
    static_assert(tma_error(Tile::layout) != tile_error::box_side,
                  "PTXDSL-F02: no side of a tensor copy's box exceeds 256 elements");
    static_assert(tma_error(Tile::layout) != tile_error::inner_not_span &&
                      tma_error(Tile::layout) != tile_error::inner_over_span,
                  "PTXDSL-F02: the box is wider than the swizzle span (32, 64 or 128 bytes)");
    static_assert(tma_error(Tile::layout) != tile_error::element_not_tma,
                  "PTXDSL-F02: tensor copies have no such element type");
    static_assert(tma_error(Tile::layout) != tile_error::empty && tma_error(Tile::layout) != tile_error::partial_byte,
                  "PTXDSL-F02: a side of the box is 0, or its contiguous side is no whole number of bytes");
    using map_handle::map_handle;
};
/// A map the kernel stores through.
template <class Tile, unsigned Rank = 2>
using tma_map_out = tma_map<Tile, Rank, true>;

/// Corners of an im2col map's pixel box along W, H, D; `upper` counts from the far end (cuTensorMapEncodeIm2col).
struct im2col_corners {
    std::int32_t lower[3] = {};
    std::int32_t upper[3] = {};
    constexpr bool operator==(const im2col_corners&) const = default;
};
namespace detail {
template <class Tile, unsigned Rank>
[[nodiscard]] consteval tensor_map_spec im2col_spec_of(const im2col_corners& c) noexcept {
    tensor_map_spec s = spec_of<Tile, Rank>();
    s.kind = map_kind::im2col;
    s.box[0] = s.box[1] = 1;
    for (unsigned i = 0; i < 3; ++i) s.lower[i] = c.lower[i], s.upper[i] = c.upper[i];
    s.channels = Tile::layout.box().inner;
    s.pixels = Tile::layout.box().outer;
    return s;
}
template <class Tile, unsigned Rank>
[[nodiscard]] consteval tensor_map_spec im2col_wide_spec_of(im2col_wide_mode mode, std::int32_t lower,
                                                            std::int32_t upper) noexcept {
    tensor_map_spec s = im2col_spec_of<Tile, Rank>({{lower, 0, 0}, {upper, 0, 0}});
    s.kind = map_kind::im2col_wide;
    s.wide = mode;
    return s;
}
template <class Tile>
[[nodiscard]] consteval tensor_map_spec row_spec_of() noexcept {
    tensor_map_spec s = spec_of<Tile, 2>();
    s.box[1] = 1;
    return s;
}
template <class Tile>
constexpr auto require_im2col_tile() noexcept {
    static_assert(Tile::layout.order == k_major,
                  "PTXDSL-F02: an im2col tile has pixels as rows and channels as columns, K-major");
    static_assert(shape_error(Tile::layout) == tile_error::ok,
                  "PTXDSL-F02: the channels of an im2col tile exceed the swizzle span");
    static_assert(Tile::layout.box().inner <= 256 && Tile::layout.box().outer <= 1024,
                  "PTXDSL-F02: an im2col copy takes at most 256 channels and 1024 pixels");
    static_assert(Tile::layout.box().inner * Tile::layout.element_bits / 8 % 16 == 0,
                  "PTXDSL-F02: the channels of an im2col copy are a multiple of 16 bytes");
}
}  // namespace detail

/// An im2col tensor map: a tile has `rows` pixels and `cols` channels of a tensor of 3 to 5 dimensions (C, W{, H{, D}},
/// N).
template <class Tile, unsigned Rank, im2col_corners Corners = im2col_corners{}, bool Writes = false>
class im2col_map : public map_handle {
public:
    using tile_type = Tile;
    static constexpr unsigned rank = Rank;
    static constexpr unsigned coordinate_count = Rank;
    static constexpr unsigned offset_count = Rank - 2;
    static constexpr bool writes = Writes;
    static constexpr tensor_map_spec spec = detail::im2col_spec_of<Tile, Rank>(Corners);
    static constexpr tok load_mode = tok::im2col, store_mode = tok::im2col_no_offs;
    static_assert(Rank >= 3 && Rank <= 5, "PTXDSL-F01: an im2col map has 3 to 5 dimensions");
    constexpr im2col_map(ir::program& p, std::uint32_t address) noexcept : map_handle(p, address) {
        detail::require_im2col_tile<Tile>();
    }
};

/// An im2col map of `im2col::w` or `im2col::w::128` (sm_100a): columns along W only, two offsets (halo, start).
template <class Tile, unsigned Rank, im2col_wide_mode Mode = im2col_wide_mode::w, std::int32_t Lower = 0,
          std::int32_t Upper = 0>
class im2col_wide_map : public map_handle {
public:
    using tile_type = Tile;
    static constexpr unsigned rank = Rank;
    static constexpr unsigned coordinate_count = Rank;
    static constexpr unsigned offset_count = 2;
    static constexpr bool writes = false;
    static constexpr tensor_map_spec spec = detail::im2col_wide_spec_of<Tile, Rank>(Mode, Lower, Upper);
    static constexpr tok load_mode = Mode == im2col_wide_mode::w ? tok::im2col__w : tok::im2col__w__128,
                         store_mode = tok::none;
    static_assert(Rank >= 3 && Rank <= 5, "PTXDSL-F01: an im2col map has 3 to 5 dimensions");
    constexpr im2col_wide_map(ir::program& p, std::uint32_t address) noexcept : map_handle(p, address) {
        detail::require_im2col_tile<Tile>();
    }
};

/// A map for `tile::gather4` and `tile::scatter4` (sm_100a): the four rows of a tile come from four rows of a matrix.
/// Coordinates are the first column and the four rows.
template <class Tile, bool Writes = false>
class gather_map : public map_handle {
public:
    using tile_type = Tile;
    static constexpr unsigned rank = 2;
    static constexpr unsigned coordinate_count = 5;
    static constexpr unsigned offset_count = 0;
    static constexpr bool writes = Writes;
    static constexpr tensor_map_spec spec = detail::row_spec_of<Tile>();
    static constexpr tok load_mode = tok::tile__gather4, store_mode = tok::tile__scatter4;
    static_assert(Tile::rows == 4 && Tile::layout.order == k_major,
                  "PTXDSL-F02: gather4 and scatter4 move four rows: a K-major tile of 4 rows");
    static_assert(
        tma_error(Tile::layout) == tile_error::ok,
        "PTXDSL-F02: the box of a gather is a row of a multiple of 16 bytes, not wider than the swizzle span and 256 elements");
    using map_handle::map_handle;
};

/// Any tensor map handle.
template <class M>
concept tensor_map_type = meta::is_base_of_v<map_handle, M> && requires { M::spec.rank; };

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
        out.words[i] = list[i].words[0];
        spans[i] = list[i].fresh;
        if (list[i].prog != nullptr) p = list[i].prog;
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
};

namespace detail {

template <tensor_map_type Map>
struct param_traits<Map> {
    static constexpr bool is_param = true;
    using signature = tensor_map_param<Map, Map::writes>;
    static constexpr ir::param describe() noexcept {
        ir::param p;
        p.kind = ir::param_kind::tensor_map;
        p.align = 128;
        return p;
    }
};

/// The generic address of a map parameter: `mov.b64 %t, name; cvta.param.u64 %map, %t;`.
template <tensor_map_type Map>
struct param_loader<Map> {
    template <target Tgt>
    static constexpr Map load(builder<Tgt>& k, std::uint32_t symbol) {
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
template <unsigned N>
[[nodiscard]] constexpr raw_operand tensor_operand(const map_handle& map, const coordinates<N>& c) noexcept {
    raw_operand o;
    o.prog = map.program();
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

template <target Tgt>
class tma_family : public family<Tgt, tma_family<Tgt>> {
    using family<Tgt, tma_family<Tgt>>::ctx;
    template <tok... Toks>
    using bulk = form<Tgt, tok::cp, tok::async, tok::bulk, Toks...>;
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
                                        const cache_policy& policy, call_site where = call_site::current()) const {
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
                                        im2col_offsets<O> o, const cache_policy& policy,
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
                                                  const operand<u16>& mask, const cache_policy& policy,
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
                                                  im2col_offsets<O> o, const operand<u16>& mask,
                                                  const cache_policy& policy,
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
    constexpr auto load_tile(tile_stage<Tile> dst, const Map& map, coordinates<N> c, Bar bar,
                             const cache_policy& policy, call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor<M...>(panel, map, at, bar, policy, where);
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
                                       const operand<u16>& mask, const cache_policy& policy,
                                       call_site where = call_site::current()) const {
        each_panel<Tile>(dst, c, bar, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor_multicast<M...>(panel, map, at, bar, mask, policy, where);
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
        store<tok::none, tok::none, Map>(where, tensor_operand(map, c), src.region());
    }
    template <tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                        const cache_policy& policy, call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        store<tok::none, tok::L2__cache_hint, Map>(where, tensor_operand(map, c), src.region(), policy.o);
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
    constexpr auto store_tile(const Map& map, coordinates<N> c, tile_stage<Tile> src, const cache_policy& policy,
                              call_site where = call_site::current()) const {
        int none = 0;
        each_panel<Tile>(src, c, none, where, [&](const auto& panel, const coordinates<N>& at) {
            cp_async_bulk_tensor(map, at, panel, policy, where);
        });
    }
    /// `cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP.tile.bulk_group [map, {c…}], [src];` —
    /// `k.cp_reduce_async_bulk_tensor<px::tok::add>(map, c, src)`. PTX ISA 9.7.9.27.1.3.
    template <tok Op, tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_reduce_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                               call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        check_reduction<Op, Tile>();
        store<Op, tok::none, Map>(where, tensor_operand(map, c), src.region());
    }
    template <tok Op, tensor_map_type Map, unsigned N, class Tile>
    constexpr auto cp_reduce_async_bulk_tensor(const Map& map, coordinates<N> c, tile_stage<Tile> src,
                                               const cache_policy& policy,
                                               call_site where = call_site::current()) const {
        check_store<Tile, Map, N>();
        check_reduction<Op, Tile>();
        store<Op, tok::L2__cache_hint, Map>(where, tensor_operand(map, c), src.region(), policy.o);
    }
    /// `cp.async.bulk.prefetch.tensor.Nd.L2.global.tile [map, {c…}];` PTX ISA 9.7.9.27.1.4.
    template <tensor_map_type Map, unsigned N>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c,
                                                 call_site where = call_site::current()) const {
        check_map<Map, N, 0>();
        fetch<tok::none, Map>(where, tensor_operand(map, c));
    }
    template <tensor_map_type Map, unsigned N>
    constexpr auto cp_async_bulk_prefetch_tensor(const Map& map, coordinates<N> c, const cache_policy& policy,
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
                                                 const cache_policy& policy,
                                                 call_site where = call_site::current()) const {
        check_map<Map, N, O>();
        fetch<tok::L2__cache_hint, Map>(where, tensor_operand(map, c), offset_operand(o.list), policy.o);
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
                                 mbarrier<R> bar, const cache_policy& policy,
                                 call_site where = call_site::current()) const {
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
                                           const cache_policy& policy, call_site where = call_site::current()) const {
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
                                 mbarrier<R> bar, const cache_policy& policy,
                                 call_site where = call_site::current()) const {
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
                                 const cache_policy& policy, call_site where = call_site::current()) const {
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
                                             const cache_policy& policy, call_site where = call_site::current()) const {
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
                                        const operand<u32>& bytes, const cache_policy& policy,
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
    /// `prefetch.tensormap [map];` Brings the map itself into the descriptor cache. PTX ISA 9.7.9.15.
    template <tensor_map_type Map>
    constexpr auto prefetch_tensormap(const Map& map, location where = location::current()) const {
        effect<form<Tgt, tok::prefetch, tok::tensormap>>(ctx(), where, map.address_operand());
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

private:
    template <space S, class T, unsigned A>
    [[nodiscard]] static constexpr raw_operand take(ptr<S, T, A>& p) noexcept {
        return address_operand(static_cast<ptr<S, T, A>&&>(p));
    }
    template <class R>
    [[nodiscard]] static constexpr raw_operand barrier_operand(const mbarrier<R>& b) noexcept {
        return address_operand_of(b.region());
    }
    template <class R>
    [[nodiscard]] static constexpr raw_operand barrier_operand(const remote_mbarrier<R>& b) noexcept {
        return b.address_operand();
    }

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
        static_assert(group == tok::none || Tgt.sm >= 100,
                      "PTXDSL-F08: this target has no .cta_group on tensor copies (sm_100a has)");
        static_assert(
            !is_remote_barrier<Bar> || group == tok::cta_group__2,
            "PTXDSL-B07: a tensor load completes on a barrier of the own block; only with .cta_group::2 on one of the pair");
        constexpr bool wide = group != tok::none && Tgt.sm < 100;
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

    template <tok Op, tok Hint, class Map, class... O>
    constexpr auto store(location where, const raw_operand& to, const shared_region& src, const O&... policy) const {
        using F = compact_form<Tgt, tok::cp, Op == tok::none ? tok::none : tok::reduce, tok::async, tok::bulk,
                               tok::tensor, dimension_token(Map::rank), tok::global, tok::shared__cta, Op,
                               Map::store_mode, tok::bulk_group, Hint>;
        check_target<Map, F>();
        check_inner<Map>(to, where);
        ctx().p.note_next(ir::note::bulk_store, src.allocation, src.stage);
        effect<F>(ctx(), where, to, address_operand_of(src), policy...);
    }
    template <tok Hint, class Map, class... O>
    constexpr auto fetch(location where, const raw_operand& from, const O&... rest) const {
        using F =
            bulk_if<tok::prefetch, tok::tensor, dimension_token(Map::rank), tok::L2, tok::global, Map::load_mode, Hint>;
        check_target<Map, F>();
        effect<F>(ctx(), where, from, rest...);
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

    /// Calls `copy(panel, coordinates)` for each panel of `tile`, with everything in named registers.
    template <class Tile, unsigned N, class Bar, class Copy>
    constexpr auto each_panel(tile_stage<Tile>& tile, coordinates<N>& c, Bar& bar, location where,
                              const Copy& copy) const {
        ir::program& p = ctx().p;
        ir::span spans[] = {tile.region().fresh, c.fresh, {}};
        if constexpr (copy_barrier<Bar>) spans[2] = barrier_operand(bar).fresh;
        ir::span all;
        if (!p.settle(spans, 3, all))
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
        static_assert(plain || Tgt.sm >= 100,
                      "PTXDSL-F08: this target has no gather4, scatter4 and im2col::w tensor copies (sm_100a has)");
        if constexpr (plain || Tgt.sm >= 100) require<F, rule::f08>();
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
    [[nodiscard]] static constexpr std::uint32_t literal_or_zero(const operand<u32>& o) noexcept {
        return o.is_literal() ? ir::payload_of(o.words[0]) : 0;
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
};

}  // namespace detail
}  // namespace ptxdsl
