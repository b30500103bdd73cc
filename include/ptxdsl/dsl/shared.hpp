// SPDX-License-Identifier: Apache-2.0
// Shared memory: the allocator, typed tiles and their stages. Alignment, TMA box, matrix descriptor and element
// addressing all come from the one tile type (dsl/tile.hpp).
//
// All allocations of a kernel live in one array `smem`; it becomes dynamic shared memory by itself once the kernel
// needs more than 48 KiB. An allocation emits one `mov.u32 %base, smem+offset`, so that stages can be indexed by
// registers.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/dsl/tile.hpp>

namespace ptxdsl {

/// Where an allocation lies and what it is, shared by all handles on it.
struct shared_region {
    ir::program* prog = nullptr;
    std::uint32_t allocation = 0;
    std::uint32_t base = 0;                   ///< one-word operand: the register that holds the address
    std::int32_t offset = 0;                  ///< bytes added to `base`
    std::uint32_t stage = ir::unknown_count;  ///< constant stage, when known
    bool off_repeat = false;                  ///< `base` may lie inside a swizzle repeat (parts at run-time indices)
    ir::span fresh{};
};

namespace detail {

/// A 32-bit shared address in a register: `base + offset`. Emits one `add.u32` when there is an offset, else nothing.
template <class Region>
constexpr reg<u32> address_register(const Region& r, location where) {
    const reg<u32> base(*r.prog, ir::payload_of(r.base), r.fresh);
    if (r.offset == 0) return reg<u32>(*r.prog, base.id(), r.fresh);
    const std::uint32_t dst = r.prog->new_reg(isa::scalar::u32);
    raw_operand from = reg_operand(*r.prog, base.id());
    from.fresh = r.fresh;
    raw_operand by;
    by.words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(r.offset));
    const raw_operand list[] = {reg_operand(*r.prog, dst), from, by};
    const ir::span s = emit(*r.prog, ref<common_form<tok::add, tok::u32>>(), 0, where, list, 3);
    return reg<u32>(*r.prog, dst, s);
}

/// `base + index * stride` as a new region: one `mad.lo.u32`. The author wrote the base first; PTX has it last.
template <class Region>
constexpr Region indexed(const Region& r, const operand<u32>& index, std::uint32_t stride) {
    auto& p = *r.prog;
    ir::span spans[] = {r.fresh, index.fresh};
    ir::span all;
    if (!p.settle(spans, 2, all, index.where))
        p.report("K05", index.where,
                 {"object and index are both nested calls that emit several instructions; give one a name first"});
    const std::uint32_t dst = p.new_reg(isa::scalar::u32);
    raw_operand by = index;
    by.fresh = {};
    raw_operand size;
    size.words[0] = ir::head(ir::operand_kind::small_int, stride);
    const raw_operand list[] = {reg_operand(p, dst), by, size, reg_operand(p, ir::payload_of(r.base))};
    emit(p, ref<common_form<tok::mad, tok::lo, tok::u32>>(), 0, index.where, list, 4);
    Region out = r;
    out.base = ir::head(ir::operand_kind::reg, dst);
    out.stage = ir::unknown_count;
    out.fresh = {all.begin, p.words.size()};
    return out;
}

/// A constant stage: no instruction, but the index is checked (C03).
template <class Region>
constexpr Region staged(const Region& r, std::int64_t stage, std::uint32_t stages, std::uint32_t stride,
                        location where) {
    Region out = r;
    if (stage < 0 || stage >= static_cast<std::int64_t>(stages)) {
        r.prog->report("C03", where,
                       {"stage ", stage, " of '", r.prog->text(r.prog->allocations[r.allocation].id), "', which has ",
                        stages, " stages"});
        return out;
    }
    out.offset += static_cast<std::int32_t>(stage) * static_cast<std::int32_t>(stride);
    out.stage = static_cast<std::uint32_t>(stage);
    return out;
}

/// C03: a register that walks the slots of a pipeline chooses among fewer stages than it has slots.
template <class Region>
constexpr void check_slots(const Region& r, const operand<u32>& slot, std::uint32_t stages) {
    if (r.allocation == ir::unknown_count || ir::kind_of(slot.words[0]) != ir::operand_kind::reg) return;
    const std::uint32_t slots = r.prog->slots_of(ir::payload_of(slot.words[0]));
    if (slots > stages)
        r.prog->report("C03", slot.where,
                       {"stage ", slots - 1, " of '", r.prog->text(r.prog->allocations[r.allocation].id),
                        "', which has ", stages, ": the pipeline whose slots choose it has ", slots});
}

/// A stage by literal or by register: the literal is checked, the register costs one `mad.lo.u32`.
template <class Region>
constexpr Region selected(const Region& r, const operand<u32>& slot, std::uint32_t stages, std::uint32_t stride) {
    if (!slot.is_literal()) {
        check_slots(r, slot, stages);
        return indexed(r, slot, stride);
    }
    const bool fits = ir::kind_of(slot.words[0]) == ir::operand_kind::small_int;
    return staged(r, fits ? ir::small_value(slot.words[0]) : -1, stages, stride, slot.where);
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

/// One panel of a tile, as a tile of its own.
template <class Tile>
using panel_of = meta::conditional_t<
    Tile::layout.order == k_major,
    tile<typename Tile::element_type, Tile::rows, Tile::layout.panel_inner(), k_major, Tile::layout.swizzle>,
    tile<typename Tile::element_type, Tile::layout.panel_inner(), Tile::cols, mn_major, Tile::layout.swizzle>>;

template <class Tile>
class shared_tile;

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
    /// The first element of a plain tile as a pointer to elements. Emits nothing. Tiles of other layouts have none,
    /// since pointer arithmetic would ignore their swizzle (C07): `at` and `k.element` apply it.
    [[nodiscard]] constexpr auto pointer() const& noexcept { return copy().pointer(); }
    [[nodiscard]] constexpr auto pointer() && noexcept {
        static_assert(
            layout.is_plain(),
            "PTXDSL-C07: pointer arithmetic would ignore this tile's swizzle; k.tile_element(tile, row, col), k.tile_line(tile, "
            "row) and tile.at(row, col) apply it, tile.byte_pointer() is the address for whole-tile copies");
        using T = typename Tile::element_type;
        r_.prog->read_otherwise(r_.allocation);
        return ptr<space::shared, T, 16>(*r_.prog, r_.base, r_.offset, r_.fresh);
    }
    /// The first byte, for copies of the whole tile, whatever its layout. Emits nothing.
    [[nodiscard]] constexpr ptr<space::shared, b8, 16> byte_pointer() const& noexcept { return copy().byte_pointer(); }
    [[nodiscard]] constexpr ptr<space::shared, b8, 16> byte_pointer() && noexcept {
        r_.prog->read_otherwise(r_.allocation);
        return ptr<space::shared, b8, 16>(*r_.prog, r_.base, r_.offset, r_.fresh).swizzled(layout.pattern().mask != 0);
    }
    /// Address of the first byte in a register. One `add.u32` when the stage is not the first, else nothing.
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) const& {
        return copy().address(where);
    }
    [[nodiscard]] constexpr reg<u32> address(location where = location::current()) && {
        r_.prog->read_otherwise(r_.allocation);
        return detail::address_register(r_, where);
    }
    /// Element (row, col), constants; swizzle applied. Emits nothing. For registers `k.tile_element(tile, row, col)`.
    [[nodiscard]] constexpr auto at(u32 row, u32 col, location where = location::current()) const& {
        return copy().at(row, col, where);
    }
    [[nodiscard]] constexpr auto at(u32 row, u32 col, location where = location::current()) && {
        if (row >= Tile::rows || col >= Tile::cols)
            r_.prog->report("C03", where,
                            {"element (", row, ", ", col, ") of a tile of ", Tile::rows, " x ", Tile::cols});
        if (r_.off_repeat)
            r_.prog->report(
                "C07", where,
                {"this part starts inside a swizzle repeat at a run-time place; k.tile_element(tile, row, col) computes "
                 "the address"});
        using T = typename Tile::element_type;
        r_.prog->read_otherwise(r_.allocation);
        const u32 byte = layout.pattern().apply(static_cast<u32>(r_.offset) + layout.linear_offset(row, col));
        return ptr<space::shared, T>(*r_.prog, r_.base, static_cast<std::int32_t>(byte), r_.fresh);
    }
    /// Panel `i` as a tile of its own, for its copy. Emits nothing.
    [[nodiscard]] constexpr auto panel(u32 i, location where = location::current()) const& {
        return copy().panel(i, where);
    }
    [[nodiscard]] constexpr auto panel(u32 i, location where = location::current()) && {
        if (i >= layout.panels())
            r_.prog->report("C03", where, {"panel ", i, " of a tile of ", layout.panels(), " panels"});
        shared_region r = r_;
        r.offset += static_cast<std::int32_t>(layout.panel(i).byte_offset);
        return tile_stage<panel_of<Tile>>(r);
    }
    /// The part of this tile that starts at row `index * Part::rows`: a tile of its own, for split copies and 64-row
    /// operands. A C++ constant emits nothing, a register one `mad.lo.u32`.
    template <class Part>
    [[nodiscard]] constexpr auto part(const operand<u32>& index) const& {
        return copy().template part<Part>(index);
    }
    template <class Part>
    [[nodiscard]] constexpr auto part(const operand<u32>& index) && {
        check_part<Part>();
        constexpr u32 step = layout.row_slice(Part::rows);
        shared_region r = detail::selected(r_, index, Tile::rows / Part::rows, step);
        if (!index.is_literal()) r.off_repeat = r.off_repeat || step % layout.pattern().repeat != 0;
        r.stage = r_.stage;
        return tile_stage<Part>(r);
    }
    /// The same memory as a tile of another type: an epilogue in the main loop's tiles. Emits nothing.
    template <class Other>
    [[nodiscard]] constexpr auto as() const& noexcept {
        return copy().template as<Other>();
    }
    template <class Other>
    [[nodiscard]] constexpr auto as() && noexcept {
        static_assert(Other::bytes <= Tile::bytes, "PTXDSL-C05: the view is larger than the tile it lies in");
        static_assert(Other::alignment <= Tile::alignment,
                      "PTXDSL-C01: the view's swizzle repeats in more bytes than this tile is aligned to");
        r_.prog->read_otherwise(r_.allocation);
        return tile_stage<Other>(r_);
    }

private:
    /// This stage as a value with a name: what produced it takes no further part in the order of a call's arguments.
    [[nodiscard]] constexpr tile_stage copy() const noexcept { return tile_stage(*this); }
    template <class Part>
    static constexpr auto check_part() noexcept {
        constexpr bool same = meta::is_same_v<typename Part::element_type, typename Tile::element_type> &&
                              Part::layout.order == layout.order && Part::layout.swizzle == layout.swizzle &&
                              Part::cols == Tile::cols;
        static_assert(same, "PTXDSL-F03: a part of a tile has its element type, swizzle, major and column count");
        static_assert(!same || Tile::rows % Part::rows == 0,
                      "PTXDSL-F03: the tile's rows are not a multiple of the part's");
        static_assert(
            !same || (layout.order == k_major && layout.panels() == 1) || Part::rows == Tile::rows ||
                layout.order == mn_major,
            "PTXDSL-F03: rows of a tile of several panels are not contiguous, so they are no tile of their own");
    }
    shared_region r_;
};

namespace detail {
template <class T>
inline constexpr bool is_tile_handle = false;
template <class Tile>
inline constexpr bool is_tile_handle<tile_stage<Tile>> = true;
template <class Tile>
inline constexpr bool is_tile_handle<shared_tile<Tile>> = true;

template <class T>
constexpr auto refuse_tile_arithmetic() noexcept {
    static_assert(
        always_false<T>,
        "PTXDSL-C07: a tile is no pointer, and arithmetic on one would ignore its swizzle; k.tile_element(tile, row, col) "
        "and tile.at(row, col) apply it, tile.pointer() + n is for plain tiles, tiles[i] for stages");
}
}  // namespace detail
template <class A, class B>
    requires(detail::is_tile_handle<A> || detail::is_tile_handle<B>)
constexpr auto operator+(const A&, const B&) {
    detail::refuse_tile_arithmetic<A>();
}
template <class A, class B>
    requires(detail::is_tile_handle<A> || detail::is_tile_handle<B>)
constexpr auto operator-(const A&, const B&) {
    detail::refuse_tile_arithmetic<A>();
}

namespace detail {
/// Where a call takes one stage and is given all of them.
template <class Ring>
constexpr auto refuse_ring() noexcept {
    static_assert(
        always_false<Ring>,
        "PTXDSL-C03: this is a ring of stages, and the call takes one: full[0], tiles[0], or [i] with a register i");
}
}  // namespace detail

/// `stages` tiles, each as aligned as the first.
template <class Tile>
class [[nodiscard]] shared_tile {
public:
    using tile_type = Tile;
    constexpr shared_tile(const shared_region& r, std::uint32_t stages) noexcept : r_(r), stages_(stages) {}

    /// Stage `slot`: a C++ constant is checked against the number of stages (C03) and emits nothing, a register costs
    /// one `mad.lo.u32`.
    [[nodiscard]] constexpr tile_stage<Tile> operator[](const operand<u32>& slot) const {
        return tile_stage<Tile>(detail::selected(r_, slot, stages_, Tile::layout.stage_stride()));
    }
    [[nodiscard]] constexpr tile_stage<Tile> stage(int i, location where = location::current()) const {
        return tile_stage<Tile>(detail::staged(r_, i, stages_, Tile::layout.stage_stride(), where));
    }
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept { return stages_; }
    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    /// Bytes the copies of one stage bring.
    [[nodiscard]] static constexpr std::uint32_t bytes() noexcept { return Tile::layout.tx_bytes(); }

private:
    shared_region r_;
    std::uint32_t stages_;
};

/// One line of a tile (a row of a K-major tile, a column of an MN-major one) with its swizzle, made by `k.tile_line`.
template <class Tile>
class [[nodiscard]] tile_line {
public:
    constexpr tile_line(ir::program& p, std::uint32_t address, std::int32_t offset, ir::span fresh) noexcept
        : prog_(&p), address_(address), offset_(offset), fresh_(fresh) {}
    constexpr tile_line(const tile_line& o) noexcept : prog_(o.prog_), address_(o.address_), offset_(o.offset_) {}
    constexpr tile_line(tile_line&&) noexcept = default;
    constexpr ~tile_line() = default;
    tile_line& operator=(const tile_line&) = delete;
    tile_line& operator=(tile_line&&) = delete;

    /// Chunk `i` of 16 bytes (a C++ constant): one `xor.b32` in a swizzled tile, nothing for the first of a panel or in
    /// others.
    [[nodiscard]] constexpr auto chunk(u32 i, location where = location::current()) const& {
        return tile_line(*this).chunk(i, where);
    }
    [[nodiscard]] constexpr auto chunk(u32 i, location where = location::current()) && {
        constexpr u32 span = Tile::layout.row_stride();
        if (i * 16 >= Tile::layout.inner_bytes())
            prog_->report("C03", where,
                          {"chunk ", i, " of a line of ", Tile::layout.inner_bytes() / 16, " chunks of 16 bytes"});
        const u32 inside = i * 16 % span;
        const std::int32_t panel = offset_ + static_cast<std::int32_t>(i * 16 / span * Tile::layout.panel_stride());
        if (swizzled() && inside != 0) return pointer(exchange(raw(inside), where), panel);
        return pointer(address_, panel + static_cast<std::int32_t>(inside));
    }
    /// Chunk `c`, a register: `from(c).chunk(0)`.
    template <class R>
        requires(detail::traits<R>::is_reg)
    [[nodiscard]] constexpr auto chunk(R&& c, location where = location::current()) const& {
        return tile_line(*this).chunk(static_cast<R&&>(c), where);
    }
    template <class R>
        requires(detail::traits<R>::is_reg)
    [[nodiscard]] constexpr auto chunk(R&& c, location where = location::current()) && {
        return static_cast<tile_line&&>(*this)
            .from(detail::as_operand<u32>(static_cast<R&&>(c), where))
            .chunk(0, where);
    }
    /// The line seen from chunk `c` on: chunk `i` of the result is chunk `c ^ i`. Two instructions: `shl.b32`,
    /// `xor.b32`.
    [[nodiscard]] constexpr tile_line from(const operand<u32>& c) const& { return tile_line(*this).from(c); }
    [[nodiscard]] constexpr tile_line from(const operand<u32>& c) && {
        static_assert(
            Tile::layout.panels() == 1,
            "PTXDSL-C07: this tile has several panels; take the line of one: k.tile_line(tile.panel(i), row)");
        ir::span spans[] = {fresh_, c.fresh};
        ir::span all;
        if (!prog_->settle(spans, 2, all, c.where))
            prog_->report(
                "K05", c.where,
                {"line and chunk are both nested calls that emit several instructions; give one a name first"});
        const std::uint32_t bytes = prog_->new_reg(isa::scalar::u32);
        detail::raw_operand count = c;
        count.fresh = {};
        const detail::raw_operand list[] = {detail::reg_operand(*prog_, bytes), count, raw(4)};
        detail::emit(*prog_, detail::ref<detail::common_form<tok::shl, tok::b32>>(), 0, c.where, list, 3);
        const std::uint32_t at = exchange(detail::reg_operand(*prog_, bytes), c.where);
        return {*prog_, at, offset_, {all.begin, prog_->words.size()}};
    }

private:
    [[nodiscard]] static constexpr bool swizzled() noexcept { return Tile::layout.pattern().mask != 0; }
    [[nodiscard]] static constexpr detail::raw_operand raw(std::uint32_t v) noexcept {
        detail::raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::small_int, v);
        return o;
    }
    /// A line starts on a multiple of its span, so that exclusive or with the position inside it is the swizzled
    /// address.
    [[nodiscard]] constexpr std::uint32_t exchange(const detail::raw_operand& with, location where) const {
        const std::uint32_t dst = prog_->new_reg(isa::scalar::u32);
        const detail::raw_operand list[] = {detail::reg_operand(*prog_, dst), detail::reg_operand(*prog_, address_),
                                            with};
        detail::emit(*prog_, detail::ref<detail::common_form<tok::xor_, tok::b32>>(), 0, where, list, 3);
        return dst;
    }
    [[nodiscard]] constexpr auto pointer(std::uint32_t address, std::int32_t offset) const noexcept {
        ir::span all = fresh_;
        if (fresh_.end != 0) all.end = prog_->words.size();
        return ptr<space::shared, typename Tile::element_type, 16>(*prog_, ir::head(ir::operand_kind::reg, address),
                                                                   offset, all);
    }
    ir::program* prog_;
    std::uint32_t address_;
    std::int32_t offset_;
    ir::span fresh_;
};

namespace detail {

/// Reserves `stages * stage_bytes` bytes and emits the `mov` that holds their address.
template <class Program>
constexpr shared_region allocate_shared(Program& p, ir::allocation a, string_view name, std::int64_t offset,
                                        location where) {
    if (offset >= 0) {
        a.offset = static_cast<std::uint32_t>(offset);
        a.placed_by_author = true;
    } else {
        a.offset = (p.shared_bytes + a.align - 1) / a.align * a.align;
    }
    a.id = p.intern(name.empty() ? string_view("buffer") : name);
    a.where = p.new_location(where);
    if (p.shared_align < a.align) p.shared_align = a.align;
    if (p.shared_bytes < a.offset + a.bytes()) p.shared_bytes = a.offset + a.bytes();
    p.allocations.push_back(a);

    const std::uint32_t dst = p.new_reg(isa::scalar::u32, name);
    raw_operand from;
    from.words[0] = ir::head(ir::operand_kind::symbol, ir::smem_symbol);
    from.words[1] = a.offset;
    from.count = 2;
    const raw_operand list[] = {reg_operand(p, dst), from};
    emit(p, ref<common_form<tok::mov, tok::u32>>(), 0, where, list, 2);
    return {&p, p.allocations.size() - 1, ir::head(ir::operand_kind::reg, dst), 0, ir::unknown_count, {}};
}

/// C02, C06: sentences for a tile no tensor core or copy can use.
template <class Tile>
constexpr auto require_tile() noexcept {
    constexpr tile_error e = shape_error(Tile::layout);
    static_assert(e != tile_error::empty, "PTXDSL-C02: a tile has at least one row and one column");
    static_assert(e != tile_error::partial_byte,
                  "PTXDSL-C02: the contiguous extent of a tile is a whole number of bytes");
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
    constexpr shared_tile<Tile> smem(std::uint32_t stages = 1, string_view name = {},
                                     location where = location::current()) const {
        return {allocate_tile<Tile>(stages, name, -1, where), stages};
    }
    /// The same at a byte offset the author chooses; overlaps (C05) and bad alignment (C01) are refused.
    template <class Tile>
    constexpr shared_tile<Tile> smem_at(std::uint32_t offset, std::uint32_t stages = 1, string_view name = {},
                                        location where = location::current()) const {
        return {allocate_tile<Tile>(stages, name, offset, where), stages};
    }
    /// Reserves `count` elements of `T`: emits one `mov.u32 %name, smem+offset`.
    template <class T, unsigned Align = (sizeof(T) < 16 ? 16u : unsigned{sizeof(T)})>
    constexpr ptr<space::shared, T, Align> smem_array(std::uint32_t count, string_view name = {},
                                                      location where = location::current()) const {
        ir::allocation a;
        a.stage_bytes = count * static_cast<std::uint32_t>(sizeof(T));
        a.align = Align;
        const std::uint32_t begin = ctx().p.words.size();
        const shared_region r = allocate_shared(ctx().p, a, name, -1, where);
        return {ctx().p, r.base, r.offset, {begin, ctx().p.words.size()}};
    }

    /// The author's own address arithmetic: `address + offset` as a pointer to `T`, stated to be `Align`-aligned. Emits
    /// nothing.
    template <class T, unsigned Align = alignof(T)>
    [[nodiscard]] constexpr ptr<space::shared, T, Align> shared_pointer(reg<u32> address,
                                                                        std::uint32_t offset = 0) const {
        return {address.program(), ir::head(ir::operand_kind::reg, address.id()), static_cast<std::int32_t>(offset),
                address.expression()};
    }

    /// Address of element (row, col) of a tile, registers or constants, swizzle applied. Emits up to six instructions
    /// in a swizzled tile (`mad`, `shl`, `add`, `shr`, `and`, `xor`), three more (`shr`, `and`, `mad`) when it has
    /// several panels, two
    /// (`mad`, `mad`) in a plain one, none when both are constants.
    template <class Tile, class R, class C>
    constexpr auto tile_element(tile_stage<Tile> t, R&& row, C&& col, location where = location::current()) const {
        using T = typename Tile::element_type;
        constexpr tile_layout layout = Tile::layout;
        static_assert(layout.element_bits >= 8,
                      "PTXDSL-C07: elements below a byte have no address; use the tile of the packed type");
        const operand<u32> r = as_operand<u32>(static_cast<R&&>(row), where),
                           c = as_operand<u32>(static_cast<C&&>(col), where);
        if constexpr (meta::is_integral_v<meta::remove_cvref_t<R>> && meta::is_integral_v<meta::remove_cvref_t<C>>) {
            return static_cast<tile_stage<Tile>&&>(t).at(static_cast<u32>(row), static_cast<u32>(col), where);
        } else {
            const std::uint32_t begin = settle_arguments(t.region().fresh, r, c, where);
            const operand<u32> contiguous = named(layout.order == k_major ? c : r),
                               strided = named(layout.order == k_major ? r : c);
            std::int32_t rest = t.region().offset;
            operand<u32> a = line_start<Tile>(t.region(), strided, rest, where);
            if constexpr (layout.is_plain()) {
                a = scaled_sum(contiguous, layout.element_bits / 8, a, where);
            } else {
                constexpr u32 span = layout.row_stride();
                if (contiguous.is_literal()) {
                    const u32 byte = static_cast<u32>(ir::small_value(contiguous.words[0])) * layout.element_bits / 8;
                    const u32 panel = byte / span * layout.panel_stride();
                    const bool outside = panel % layout.pattern().repeat == 0;
                    if (outside) rest += static_cast<std::int32_t>(panel);
                    if (const u32 inside = byte % span + (outside ? 0 : panel); inside != 0)
                        a = plus(a, operand<u32>(inside, where), where);
                } else {
                    operand<u32> byte = contiguous;
                    if constexpr (layout.element_bits > 8)
                        byte = step<tok::shl, tok::b32>(byte, log2(layout.element_bits / 8), where);
                    if constexpr (layout.panels() > 1) {
                        const operand<u32> panel = step<tok::shr, tok::u32>(byte, log2(span), where);
                        byte = step<tok::and_, tok::b32>(byte, span - 1, where);
                        a = scaled_sum(panel, layout.panel_stride(), a, where);
                    }
                    a = plus(a, byte, where);
                }
                a = exchange<Tile>(a, where);
            }
            return ptr<space::shared, T>(ctx().p, a.words[0], rest, ir::span{begin, ctx().p.words.size()});
        }
    }
    /// One line of a tile (row `index` of a K-major tile, column `index` of an MN-major one), for accesses of 16 bytes:
    /// `k.tile_line(c, row).chunk(3)`. Emits four instructions in a swizzled tile (`mad`, `shr`, `and`, `xor`), one in
    /// others.
    template <class Tile, class Index>
    constexpr ptxdsl::tile_line<Tile> tile_line(tile_stage<Tile> t, Index&& index,
                                                location where = location::current()) const {
        static_assert(Tile::layout.swizzles_by_row(),
                      "PTXDSL-C07: the panels of this tile start inside a swizzle repeat; take the line of "
                      "one panel: k.tile_line(tile.panel(i), row)");
        const operand<u32> i = as_operand<u32>(static_cast<Index&&>(index), where), none(0u, where);
        const std::uint32_t begin = settle_arguments(t.region().fresh, i, none, where);
        std::int32_t rest = t.region().offset;
        const operand<u32> a = exchange<Tile>(line_start<Tile>(t.region(), named(i), rest, where), where);
        return {ctx().p, ir::payload_of(a.words[0]), rest, {begin, ctx().p.words.size()}};
    }
    /// C03: a stage of the ring.
    template <class Tile, class... A>
    constexpr auto tile_element(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }
    template <class Tile, class... A>
    constexpr auto tile_line(const shared_tile<Tile>&, const A&...) const {
        refuse_ring<Tile>();
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto tile_element(anything, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tile_element takes one stage of a tile, a row and a column: k.tile_element(a[i], row, col)");
    }
    template <class D = void>
    constexpr auto tile_line(anything, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tile_line takes one stage of a tile and the number of a line: k.tile_line(a[i], row)");
    }

private:
    [[nodiscard]] static constexpr u32 log2(u32 v) noexcept {
        u32 n = 0;
        while ((1u << n) < v) ++n;
        return n;
    }
    /// An argument whose instructions are in place.
    [[nodiscard]] static constexpr operand<u32> named(operand<u32> o) noexcept {
        o.fresh = {};
        return o;
    }
    /// Brings nested arguments into order; returns where their instructions begin.
    [[nodiscard]] constexpr std::uint32_t settle_arguments(ir::span tile, const operand<u32>& a, const operand<u32>& b,
                                                           location where) const {
        ir::span spans[] = {tile, a.fresh, b.fresh};
        ir::span all;
        if (!ctx().p.settle(spans, 3, all, where))
            ctx().p.report(
                "K05", where,
                {"two nested calls in one argument list emit several instructions each; give one a name first"});
        return all.begin;
    }
    // Address arithmetic; every result has a name, so that it takes no further part in the order of arguments.
    [[nodiscard]] static constexpr operand<u32> named(const reg<u32>& r, location where) noexcept { return {r, where}; }
    template <tok Op, tok Type>
    [[nodiscard]] constexpr operand<u32> step(const operand<u32>& x, std::uint32_t v, location where) const {
        return named(value<form<Tgt, Op, Type>, u32>(ctx(), where, x, operand<u32>(v, where)), where);
    }
    [[nodiscard]] constexpr operand<u32> plus(const operand<u32>& x, const operand<u32>& y, location where) const {
        return named(value<form<Tgt, tok::add, tok::u32>, u32>(ctx(), where, x, y), where);
    }
    [[nodiscard]] constexpr operand<u32> scaled_sum(const operand<u32>& x, std::uint32_t by, const operand<u32>& add,
                                                    location where) const {
        return named(value<form<Tgt, tok::mad, tok::lo, tok::u32>, u32>(ctx(), where, x, operand<u32>(by, where), add),
                     where);
    }
    /// `base + index * row_stride`. A constant offset that keeps the swizzle's phase stays in `rest`, for the address
    /// operand.
    template <class Tile>
    [[nodiscard]] constexpr operand<u32> line_start(const shared_region& region, const operand<u32>& index,
                                                    std::int32_t& rest, location where) const {
        ctx().p.read_otherwise(region.allocation);
        shared_region base = region;
        base.fresh = {};
        if (static_cast<u32>(rest) % Tile::layout.pattern().repeat != 0)
            rest = 0;
        else
            base.offset = 0;
        const reg<u32> from = address_register(base, where);
        return scaled_sum(index, Tile::layout.row_stride(), operand<u32>(from, where), where);
    }
    /// `a ^ ((a >> shift) & mask)`; nothing in a tile without swizzle.
    template <class Tile>
    [[nodiscard]] constexpr operand<u32> exchange(const operand<u32>& a, location where) const {
        constexpr swizzle_pattern pattern = Tile::layout.pattern();
        if constexpr (pattern.mask == 0) {
            return a;
        } else {
            const operand<u32> bits =
                step<tok::and_, tok::b32>(step<tok::shr, tok::u32>(a, pattern.shift, where), pattern.mask, where);
            return named(value<form<Tgt, tok::xor_, tok::b32>, u32>(ctx(), where, a, bits), where);
        }
    }

    template <class Tile>
    constexpr shared_region allocate_tile(std::uint32_t stages, string_view name, std::int64_t offset,
                                          location where) const {
        require_tile<Tile>();
        ir::allocation a;
        a.kind = ir::allocation_kind::tile;
        a.stages = static_cast<std::uint16_t>(stages);
        a.stage_bytes = Tile::layout.stage_stride();
        a.align = Tile::layout.alignment();
        a.repeat = Tile::layout.pattern().repeat;
        return allocate_shared(ctx().p, a, name.empty() ? string_view("tile") : name, offset, where);
    }
};

}  // namespace detail
}  // namespace ptxdsl
