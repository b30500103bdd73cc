// SPDX-License-Identifier: Apache-2.0
// Tensor maps as a kernel sees them (PTX ISA 5.5): what box, swizzle and element type a map has comes from the tile
// it fills. Maps are parameters; the host makes them from the same type (runtime/tensor_map.hpp).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/param.hpp>
#include <ptxdsl/dsl/tile.hpp>

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
/// How the copy reads the elements of a tile: 4- and 6-bit ones lie packed in global memory, and the tile may give each
/// a byte.
[[nodiscard]] consteval map_format map_format_of(const tile_layout& t) noexcept {
    switch (isa::bits(t.element)) {
        case 4: return t.element_bits == 4 ? map_format::u4_align8 : map_format::u4_align16;
        case 6: return map_format::u6_align16;
        default: return map_format::natural;
    }
}
/// The tensor map that fills a tile: box of one panel in the two innermost dimensions, one element in the others.
template <class Tile, unsigned Rank>
[[nodiscard]] consteval tensor_map_spec spec_of() noexcept {
    tensor_map_spec s;
    s.element = Tile::layout.element;
    s.rank = Rank;
    s.swizzle = map_swizzle_of(Tile::layout.swizzle);
    s.format = map_format_of(Tile::layout);
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
        emit_mov<isa::scalar::b64>(p, raw, from, location());
        const raw_operand list[] = {reg_operand(p, generic), reg_operand(p, raw)};
        using F = form<Tgt, tok::cvta, tok::param, tok::u64>;
        emit(p, ref<F>(), 0, location(), list, 2);
        return {p, generic};
    }
};

}  // namespace detail
}  // namespace ptxdsl
