// SPDX-License-Identifier: Apache-2.0
// Shared memory: the allocator, typed tiles and their stages. Alignment, TMA box, matrix descriptor and element
// addressing all come from the one tile type (dsl/tile.hpp).
//
// All allocations of a kernel live in one array `smem`; it becomes dynamic shared memory by itself once the kernel needs
// more than 48 KiB. An allocation emits one `mov.u32 %base, smem+offset`, so that stages can be indexed by registers.
#pragma once

#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/dsl/tile.hpp>

namespace ptxdsl {

/// Where an allocation lies and what it is, shared by all handles on it.
struct shared_region {
    ir::program* prog = nullptr;
    std::uint32_t allocation = 0;
    std::uint32_t base = 0;                    ///< one-word operand: the register that holds the address
    std::int32_t offset = 0;                   ///< bytes added to `base`
    std::uint32_t stage = ir::unknown_count;   ///< constant stage, when known
    ir::span fresh{};
};

namespace detail {

/// A 32-bit shared address in a register: `base + offset`. Emits one `add.u32` when there is an offset, else nothing.
constexpr reg<u32> address_register(const shared_region& r, location where) {
    const reg<u32> base(*r.prog, ir::payload_of(r.base), r.fresh);
    if (r.offset == 0) return reg<u32>(*r.prog, base.id(), r.fresh);
    constexpr std::uint32_t packed = static_cast<std::uint32_t>(tok::add) | static_cast<std::uint32_t>(tok::u32) << 16;
    const std::uint32_t dst = r.prog->new_reg(isa::scalar::u32);
    raw_operand from = reg_operand(*r.prog, base.id());
    from.fresh = r.fresh;
    raw_operand by;
    by.words[0] = ir::head(ir::operand_kind::small, static_cast<std::uint32_t>(r.offset));
    const raw_operand list[] = {reg_operand(*r.prog, dst), from, by};
    const ir::span s = emit(*r.prog, {&packed, 2, isa::verdict::no_form, {1, 0}}, 0, where, list, 3);
    return reg<u32>(*r.prog, dst, s);
}

/// `base + index * stride` as a new region: one `mad.lo.u32`. The author wrote the base first; PTX has it last.
constexpr shared_region indexed(const shared_region& r, const operand<u32>& index, std::uint32_t stride) {
    constexpr std::uint32_t packed[] = {static_cast<std::uint32_t>(tok::mad) | static_cast<std::uint32_t>(tok::lo) << 16,
                                        static_cast<std::uint32_t>(tok::u32)};
    ir::program& p = *r.prog;
    ir::span spans[] = {r.fresh, index.fresh};
    ir::span all;
    if (!p.settle(spans, 2, all))
        p.report("K05", index.where, "object and index are both nested calls that emit several instructions; give one a name first");
    const std::uint32_t dst = p.new_reg(isa::scalar::u32);
    raw_operand by = index;
    by.fresh = {};
    raw_operand size;
    size.words[0] = ir::head(ir::operand_kind::small, stride);
    const raw_operand list[] = {reg_operand(p, dst), by, size, reg_operand(p, ir::payload_of(r.base))};
    emit(p, {packed, 3, isa::verdict::no_form, {1, 0}}, 0, index.where, list, 4);
    shared_region out = r;
    out.base = ir::head(ir::operand_kind::reg, dst);
    out.stage = ir::unknown_count;
    out.fresh = {all.begin, p.words.size()};
    return out;
}

/// A constant stage: no instruction, but the index is checked (C03).
constexpr shared_region staged(const shared_region& r, std::int64_t stage, std::uint32_t stages, std::uint32_t stride,
                               location where) {
    shared_region out = r;
    if (stage < 0 || stage >= static_cast<std::int64_t>(stages)) {
        r.prog->report("C03", where, "stage ", stage, " of '", r.prog->text(r.prog->allocations[r.allocation].id), "', which has ",
                       stages, " stages");
        return out;
    }
    out.offset += static_cast<std::int32_t>(stage) * static_cast<std::int32_t>(stride);
    out.stage = static_cast<std::uint32_t>(stage);
    out.fresh = {};
    return out;
}

[[nodiscard]] constexpr raw_operand address_operand_of(const shared_region& r) noexcept {
    raw_operand o;
    o.prog = r.prog;
    o.words[0] = ir::head(ir::operand_kind::address, 0);
    o.words[1] = r.base;
    o.words[2] = static_cast<std::uint32_t>(r.offset);
    o.count = 3;
    o.fresh = r.fresh;
    return o;
}

}  // namespace detail

/// One stage of a shared tile (or a slice of it): what copies fill and tensor cores read.
template <class Tile>
class [[nodiscard]] tile_stage {
public:
    using tile_type = Tile;
    static constexpr tile_layout layout = Tile::layout;

    constexpr explicit tile_stage(const shared_region& r) noexcept : r_(r) {}
    constexpr tile_stage(const tile_stage& o) noexcept : r_(o.r_) { r_.fresh = {}; }
    constexpr tile_stage(tile_stage&&) noexcept = default;
    constexpr ~tile_stage() = default;
    tile_stage& operator=(const tile_stage&) = delete;
    tile_stage& operator=(tile_stage&&) = delete;

    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    /// The address of the first byte as a pointer to elements. Emits nothing. The swizzle is not applied by pointer
    /// arithmetic: use `at` for single elements (C07).
    [[nodiscard]] constexpr auto pointer() const noexcept {
        using T = typename Tile::element_type;
        return ptr<space::shared, T, (Tile::alignment < 16 ? Tile::alignment : 16u)>(*r_.prog, r_.base, r_.offset);
    }
    /// Address of the first byte in a register. One `add.u32` when the stage is not the first, else nothing.
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) const& {
        return detail::address_register(settled(r_), where);
    }
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) && { return detail::address_register(r_, where); }
    /// Element (row, col), constants; swizzle applied. Emits nothing.
    [[nodiscard]] constexpr auto at(u32 row, u32 col, location where = location::current()) const {
        if (row >= Tile::rows || col >= Tile::cols)
            r_.prog->report("C03", where, "element (", row, ", ", col, ") of a tile of ", Tile::rows, " x ", Tile::cols);
        using T = typename Tile::element_type;
        return ptr<space::shared, T>(*r_.prog, r_.base, r_.offset + static_cast<std::int32_t>(layout.byte_offset(row, col)));
    }
    /// Panel `i` as a tile of its own, for its copy. Emits nothing.
    [[nodiscard]] constexpr auto panel(u32 i, location where = location::current()) const {
        using Panel = std::conditional_t<layout.order == k_major,
                                         tile<typename Tile::element_type, Tile::rows, layout.panel_inner(), k_major, layout.swizzle>,
                                         tile<typename Tile::element_type, layout.panel_inner(), Tile::cols, mn_major, layout.swizzle>>;
        if (i >= layout.panels()) r_.prog->report("C03", where, "panel ", i, " of a tile of ", layout.panels(), " panels");
        shared_region r = settled(r_);
        r.offset += static_cast<std::int32_t>(layout.panel(i).byte_offset);
        return tile_stage<Panel>(r);
    }
    /// The part of this tile that starts at row `index * Part::rows`: a tile of its own, for split copies and 64-row
    /// operands. Emits nothing for a constant index.
    template <class Part>
    [[nodiscard]] constexpr tile_stage<Part> part(int index, location where = location::current()) const {
        check_part<Part>();
        shared_region r = settled(r_);
        const u32 i = static_cast<u32>(index);
        if (index < 0 || (i + 1) * Part::rows > Tile::rows)
            r_.prog->report("C03", where, "part ", i, " of ", Part::rows, " rows in a tile of ", Tile::rows);
        r.offset += static_cast<std::int32_t>(layout.row_slice(i * Part::rows));
        return tile_stage<Part>(r);
    }
    /// The same for a run-time index: one `mad.lo.u32`.
    template <class Part>
    [[nodiscard]] constexpr tile_stage<Part> part(const operand<u32>& index) const& {
        return tile_stage(*this).template part<Part>(index);
    }
    template <class Part>
    [[nodiscard]] constexpr tile_stage<Part> part(const operand<u32>& index) && {
        check_part<Part>();
        shared_region r = detail::indexed(r_, index, layout.row_slice(Part::rows));
        r.stage = r_.stage;
        return tile_stage<Part>(r);
    }

private:
    [[nodiscard]] static constexpr shared_region settled(shared_region r) noexcept {
        r.fresh = {};
        return r;
    }
    template <class Part>
    static constexpr void check_part() noexcept {
        constexpr bool same = std::is_same_v<typename Part::element_type, typename Tile::element_type> &&
                              Part::layout.order == layout.order && Part::layout.swizzle == layout.swizzle &&
                              Part::cols == Tile::cols;
        static_assert(same, "PTXDSL-F03: a part of a tile has its element type, swizzle, major and column count");
        static_assert(!same || Tile::rows % Part::rows == 0, "PTXDSL-F03: the tile's rows are not a multiple of the part's");
        static_assert(!same || (layout.order == k_major && layout.panels() == 1) || Part::rows == Tile::rows || layout.order == mn_major,
                      "PTXDSL-F03: rows of a tile of several panels are not contiguous, so they are no tile of their own");
    }
    shared_region r_;
};

/// `stages` tiles, each as aligned as the first.
template <class Tile>
class [[nodiscard]] shared_tile {
public:
    using tile_type = Tile;
    constexpr shared_tile(const shared_region& r, std::uint32_t stages) noexcept : r_(r), stages_(stages) {}

    /// Stage `i`, a C++ constant; checked against the number of stages (C03). Emits nothing.
    [[nodiscard]] constexpr tile_stage<Tile> operator[](int i) const { return stage(i); }
    [[nodiscard]] constexpr tile_stage<Tile> stage(int i, location where = location::current()) const {
        return tile_stage<Tile>(detail::staged(r_, i, stages_, Tile::layout.stage_stride(), where));
    }
    /// Stage in a register: one `mad.lo.u32`.
    [[nodiscard]] constexpr tile_stage<Tile> operator[](const operand<u32>& slot) const {
        return tile_stage<Tile>(detail::indexed(r_, slot, Tile::layout.stage_stride()));
    }
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept { return stages_; }
    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    /// Bytes the copies of one stage bring.
    [[nodiscard]] static constexpr std::uint32_t bytes() noexcept { return Tile::layout.tx_bytes(); }

private:
    shared_region r_;
    std::uint32_t stages_;
};

namespace detail {

/// Reserves `stages * stage_bytes` bytes and emits the `mov` that holds their address.
constexpr shared_region allocate_shared(ir::program& p, ir::allocation a, std::string_view name, std::int64_t offset, location where) {
    if (offset >= 0) {
        a.offset = static_cast<std::uint32_t>(offset);
        a.placed_by_author = true;
    } else {
        a.offset = (p.shared_bytes + a.align - 1) / a.align * a.align;
    }
    a.id = p.intern(name.empty() ? std::string_view("buffer") : name);
    a.where = p.new_location(where);
    if (p.shared_align < a.align) p.shared_align = a.align;
    if (p.shared_bytes < a.offset + a.bytes()) p.shared_bytes = a.offset + a.bytes();
    p.allocations.push_back(a);

    constexpr std::uint32_t packed = static_cast<std::uint32_t>(tok::mov) | static_cast<std::uint32_t>(tok::u32) << 16;
    const std::uint32_t dst = p.new_reg(isa::scalar::u32, name);
    raw_operand from;
    from.words[0] = ir::head(ir::operand_kind::symbol, ir::smem_symbol);
    from.words[1] = a.offset;
    from.count = 2;
    const raw_operand list[] = {reg_operand(p, dst), from};
    emit(p, {&packed, 2, isa::verdict::no_form, {1, 0}}, 0, where, list, 2);
    return {&p, p.allocations.size() - 1, ir::head(ir::operand_kind::reg, dst), 0, ir::unknown_count, {}};
}

/// C02, C06: sentences for a tile no tensor core or copy can use.
template <class Tile>
constexpr void require_tile() noexcept {
    constexpr tile_error e = shape_error(Tile::layout);
    static_assert(e != tile_error::empty, "PTXDSL-C02: a tile has at least one row and one column");
    static_assert(e != tile_error::partial_byte, "PTXDSL-C02: the contiguous extent of a tile is a whole number of bytes");
    static_assert(e != tile_error::inner_not_span && e != tile_error::inner_over_span,
                  "PTXDSL-C02: a tile's contiguous row is the swizzle span or a multiple of it (128, 64 or 32 bytes)");
    static_assert(e == tile_error::ok || e == tile_error::empty || e == tile_error::partial_byte ||
                      e == tile_error::inner_not_span || e == tile_error::inner_over_span,
                  "PTXDSL-C02: this tile shape does not fit its swizzle");
}

template <target Tgt>
class shared_family : public family<Tgt, shared_family<Tgt>> {
    using family<Tgt, shared_family<Tgt>>::ctx;

public:
    /// Reserves `stages` tiles: emits one `mov.u32 %name, smem+offset`.
    template <class Tile>
    constexpr shared_tile<Tile> smem(std::uint32_t stages = 1, std::string_view name = {}, location where = location::current()) const {
        return {allocate_tile<Tile>(stages, name, -1, where), stages};
    }
    /// The same at a byte offset the author chooses; overlaps (C05) and bad alignment (C01) are refused.
    template <class Tile>
    constexpr shared_tile<Tile> smem_at(std::uint32_t offset, std::uint32_t stages = 1, std::string_view name = {},
                                        location where = location::current()) const {
        return {allocate_tile<Tile>(stages, name, offset, where), stages};
    }
    /// Reserves `count` elements of `T`: emits one `mov.u32 %name, smem+offset`.
    template <class T, unsigned Align = (sizeof(T) < 16 ? 16u : unsigned{sizeof(T)})>
    constexpr ptr<space::shared, T, Align> smem_array(std::uint32_t count, std::string_view name = {},
                                                     location where = location::current()) const {
        ir::allocation a;
        a.stage_bytes = count * static_cast<std::uint32_t>(sizeof(T));
        a.align = Align;
        const shared_region r = allocate_shared(ctx().p, a, name, -1, where);
        return {ctx().p, r.base, r.offset};
    }

private:
    template <class Tile>
    constexpr shared_region allocate_tile(std::uint32_t stages, std::string_view name, std::int64_t offset, location where) const {
        require_tile<Tile>();
        ir::allocation a;
        a.kind = ir::allocation_kind::tile;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = Tile::layout.stage_stride();
        a.align = Tile::layout.alignment();
        a.repeat = Tile::layout.pattern().repeat;
        return allocate_shared(ctx().p, a, name.empty() ? std::string_view("tile") : name, offset, where);
    }
};

}  // namespace detail
}  // namespace ptxdsl
