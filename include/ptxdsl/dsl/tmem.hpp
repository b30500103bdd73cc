// SPDX-License-Identifier: Apache-2.0
// Handles on tensor memory (sm_100a; PTX ISA 9.7.16): 128 lanes of up to 512 columns of 32 bits. They carry element
// type, extents, columns and cta_group in their types, so that widths (I07), groups (I01), kinds (I04), shapes (I05)
// and the instruction descriptor (I06) follow from them. What a warp loads and stores lies in its quarter of the lanes,
// a view of its own (I10).
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/mbarrier.hpp>
#include <ptxdsl/dsl/tcgen05_descriptor.hpp>
#include <ptxdsl/dsl/wgmma.hpp>

namespace ptxdsl {

// Shapes and modifiers under their PTX spelling: `k.tcgen05.ld<px::shape_32x32b, px::x32>(acc)`.
inline constexpr tok shape_16x64b = tok::_16x64b, shape_16x128b = tok::_16x128b, shape_16x256b = tok::_16x256b,
                     shape_32x32b = tok::_32x32b;
inline constexpr tok shape_128x256b = tok::_128x256b, shape_4x256b = tok::_4x256b, shape_128x128b = tok::_128x128b;
inline constexpr tok shape_64x128b = tok::_64x128b, shape_32x128b = tok::_32x128b;
inline constexpr tok warpx2_02_13 = tok::warpx2__02_13, warpx2_01_23 = tok::warpx2__01_23;
using tok::b8x16, tok::b6x16_p32, tok::b4x16_p64, tok::block16, tok::block32;
using tok::x8, tok::x16, tok::x32, tok::x64, tok::x128, tok::warpx4, tok::ashift;
inline constexpr tok pack_16b = tok::pack__16b, unpack_16b = tok::unpack__16b;
inline constexpr tok collector_a_fill = tok::collector__a__fill, collector_a_use = tok::collector__a__use;
inline constexpr tok collector_a_lastuse = tok::collector__a__lastuse, collector_a_discard = tok::collector__a__discard;

/// Who uses a view of tensor memory: `tcgen05.mma`, `cp`, `shift`, `dealloc` address all lanes; `ld` and `st` the
/// quarter of a warp.
enum class tmem_lanes : u8 { all, quarter };

/// An address in tensor memory: register plus a constant (columns in the low half, lanes in the high half).
class tmem_address {
public:
    constexpr tmem_address(ir::program& p, std::uint32_t id, std::uint32_t offset, ir::span fresh = {}) noexcept
        : prog_(&p), id_(id), offset_(offset), fresh_(fresh) {}
    constexpr tmem_address(const tmem_address& o) noexcept
        : prog_(o.prog_), id_(o.id_), offset_(o.offset_), warp_(o.warp_), warp_where_(o.warp_where_) {}
    constexpr tmem_address(tmem_address&&) noexcept = default;
    constexpr ~tmem_address() = default;
    tmem_address& operator=(const tmem_address&) = delete;
    tmem_address& operator=(tmem_address&&) = delete;

    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] constexpr std::uint32_t offset() const noexcept { return offset_; }
    [[nodiscard]] constexpr ir::span fresh() const noexcept { return fresh_; }
    /// The operand that stands for the warp whose lanes these are; 0: they are nobody's.
    [[nodiscard]] constexpr std::uint32_t warp() const noexcept { return warp_; }
    [[nodiscard]] constexpr std::uint32_t warp_location() const noexcept { return warp_where_; }
    template <class Program>
    constexpr void set_warp(Program& p, std::uint32_t word, location where) {
        warp_ = word, warp_where_ = p.new_location(where);
    }
    /// `columns` further.
    [[nodiscard]] constexpr tmem_address moved(std::uint32_t columns) const noexcept {
        tmem_address a = *this;
        a.offset_ += columns;
        return a;
    }
    /// `[base+offset]`
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = ir::head(ir::operand_kind::address, 0);
        o.words[1] = ir::head(ir::operand_kind::reg, id_);
        o.words[2] = offset_;
        o.count = 3;
        o.fresh = fresh_;
        return o;
    }
    /// `base + index * columns` in a new register: one `mad.lo.u32`.
    template <class Region = shared_region>
    [[nodiscard]] constexpr tmem_address indexed(const operand<u32>& index, std::uint32_t columns) const {
        Region r;
        r.prog = prog_;
        r.base = ir::head(ir::operand_kind::reg, id_);
        r.fresh = fresh_;
        const Region at = detail::indexed(r, index, columns);
        tmem_address a(*prog_, ir::payload_of(at.base), offset_, at.fresh);
        a.warp_ = warp_, a.warp_where_ = warp_where_;
        return a;
    }

private:
    ir::program* prog_;
    std::uint32_t id_, offset_;
    ir::span fresh_{};
    std::uint32_t warp_ = 0, warp_where_ = 0;
};

/// `Stages` matrices of `Width` columns each, one behind the other. `Derived` is the typed view.
template <class Derived, unsigned Width>
class tmem_view : public tmem_address {
public:
    static constexpr unsigned columns = Width;
    constexpr explicit tmem_view(const tmem_address& at, unsigned stages = 1) noexcept
        : tmem_address(at), stages_(stages) {}
    constexpr explicit tmem_view(tmem_address&& at, unsigned stages = 1) noexcept
        : tmem_address(static_cast<tmem_address&&>(at)), stages_(stages) {}
    /// Stage `slot`: a C++ constant is checked (C03) and emits nothing, a register costs one `mad.lo.u32`.
    [[nodiscard]] constexpr Derived operator[](const operand<u32>& slot) const {
        if (!slot.is_literal()) return Derived(indexed(slot, Width));
        const bool inside = ir::kind_of(slot.words[0]) == ir::operand_kind::small_int &&
                            ir::small_value(slot.words[0]) >= 0 &&
                            static_cast<unsigned>(ir::small_value(slot.words[0])) < stages_;
        if (!inside)
            program()->report("C03", slot.where,
                              {"stage of a tensor-memory view of ", std::uint32_t{stages_}, " stages: out of range"});
        return Derived(moved(inside ? static_cast<std::uint32_t>(ir::small_value(slot.words[0])) * Width : 0));
    }
    [[nodiscard]] constexpr unsigned stages() const noexcept { return stages_; }

private:
    unsigned stages_;
};

namespace detail {
[[nodiscard]] constexpr u32 group_number(tok group) noexcept { return group == tok::cta_group__2 ? 2 : 1; }
/// Columns an M x N accumulator has in each CTA: 32-bit cells, of 128 lanes where M of one CTA is 128 (layouts A, D,
/// F); a narrower M of a pair or of `.ws` spreads N over the lanes it leaves free (layouts B, E, G; PTX
/// ISA 9.7.16.10.5).
[[nodiscard]] constexpr u32 accumulator_columns(u32 m, u32 n, u32 group, bool ws) noexcept {
    return ws ? n * m / 128 : group == 2 && m == 128 ? n / 2 : n;
}
}  // namespace detail

/// An accumulator whose author vouches for its M and N: see `tmem_accumulator::assume_shape`.
template <class D>
class [[nodiscard]] assumed_shape : public D {
public:
    constexpr explicit assumed_shape(const D& d) noexcept : D(d) {}
    static constexpr bool shape_assumed = true;
};

/// D of `tcgen05.mma`: M x N elements, each in a column of 32 bits. Rows are lanes.
template <class T, unsigned M, unsigned N, tok Group, tmem_lanes Lanes = tmem_lanes::all, bool Ws = false>
class [[nodiscard]] tmem_accumulator
    : public tmem_view<tmem_accumulator<T, M, N, Group, Lanes, Ws>,
                       detail::accumulator_columns(M, N, detail::group_number(Group), Ws)> {
public:
    using tmem_view<tmem_accumulator, detail::accumulator_columns(M, N, detail::group_number(Group), Ws)>::tmem_view;
    using value_type = T;
    using register_type = meta::conditional_t<bits_of<T> == 32, T, b32>;
    static constexpr unsigned m = M, n = N;
    static constexpr tok group = Group;
    static constexpr tmem_lanes lanes = Lanes;
    static constexpr bool weight_stationary = Ws, is_accumulator = true;
    /// States that the instruction exists for this M and N where sources differ and the narrower is refused (I05).
    /// Emits nothing.
    [[nodiscard]] constexpr assumed_shape<tmem_accumulator> assume_shape() const noexcept {
        return assumed_shape<tmem_accumulator>(*this);
    }
};

/// A of `tcgen05.mma` in tensor memory: M rows of K elements, packed into columns of 32 bits.
template <class T, unsigned M, unsigned K, tok Group, tmem_lanes Lanes = tmem_lanes::all>
class [[nodiscard]] tmem_operand
    : public tmem_view<tmem_operand<T, M, K, Group, Lanes>,
                       K * tile<T, 8, K, k_major, core_matrices>::layout.element_bits / 32> {
public:
    using tmem_view<tmem_operand, K * tile<T, 8, K, k_major, core_matrices>::layout.element_bits / 32>::tmem_view;
    using element_type = T;
    using register_type = b32;
    static constexpr tile_layout layout = tile<T, 8, K, k_major, core_matrices>::layout;
    static constexpr unsigned rows = M, cols = K;
    static constexpr tok group = Group;
    static constexpr tmem_lanes lanes = Lanes;
    static constexpr bool is_a_operand = true;
    /// The `i`-th instruction K step. Emits nothing.
    [[nodiscard]] constexpr tmem_operand k_slice(std::uint32_t i, location where = location::current()) const {
        if (i >= layout.k_slices())
            this->program()->report("D01", where,
                                    {"K step ", i, " of a tensor-memory operand that has ", layout.k_slices()});
        return tmem_operand(tmem_address(*this->program(), this->id(), this->offset() + i * 8));
    }
};

/// Block scales of `Rows` rows: one word of scales for each row and stage, 32 rows a column (what `cp.32x128b.warpx4`
/// writes).
template <class S, unsigned Rows, tok Group, tmem_lanes Lanes = tmem_lanes::all>
class [[nodiscard]] tmem_scales : public tmem_view<tmem_scales<S, Rows, Group, Lanes>, (Rows + 127) / 128 * 4> {
public:
    using tmem_view<tmem_scales, (Rows + 127) / 128 * 4>::tmem_view;
    using value_type = S;
    using register_type = b32;
    static constexpr unsigned rows = Rows;
    static constexpr tok group = Group;
    static constexpr tmem_lanes lanes = Lanes;
    static constexpr bool is_scales = true;
};

/// Plain columns: sparsity metadata, operands of `cp` and `shift`, scratch of `ld` and `st`.
template <class T, unsigned Columns, tok Group, tmem_lanes Lanes = tmem_lanes::all>
class [[nodiscard]] tmem_columns : public tmem_view<tmem_columns<T, Columns, Group, Lanes>, Columns> {
public:
    using tmem_view<tmem_columns, Columns>::tmem_view;
    using value_type = T;
    using register_type = T;
    static constexpr tok group = Group;
    static constexpr tmem_lanes lanes = Lanes;
};

namespace detail {
/// A view that lies inside an allocation of `Columns` columns. (In a declaration, so that g++ names the author's line.)
template <unsigned Columns, class View, unsigned Column, unsigned Stages>
struct fitting_view {
    static_assert(Column + Stages * View::columns <= Columns,
                  "PTXDSL-I07: this view is wider than the tensor memory that was allocated; allocate more columns or "
                  "take a narrower one");
    using type = View;
};
}  // namespace detail

/// An allocation of tensor memory, or a warp's quarter of its lanes. Views take a constant first column.
template <unsigned Columns, tok Group, tmem_lanes Lanes = tmem_lanes::all>
class [[nodiscard]] tensor_memory : public tmem_address {
public:
    static constexpr unsigned columns = Columns;
    static constexpr tok group = Group;
    static constexpr tmem_lanes lanes = Lanes;
    using tmem_address::tmem_address;
    template <class View, unsigned Column, unsigned Stages>
    using view = typename detail::fitting_view<Columns, View, Column, Stages>::type;
    constexpr explicit tensor_memory(tmem_address&& a) noexcept : tmem_address(static_cast<tmem_address&&>(a)) {}

    /// D of `tcgen05.mma`, `Stages` of them from column `Column` on. Emits nothing.
    template <class T, unsigned M, unsigned N, unsigned Column = 0, unsigned Stages = 1>
    constexpr view<tmem_accumulator<T, M, N, Group, Lanes>, Column, Stages> accumulator() const {
        return at<tmem_accumulator<T, M, N, Group, Lanes>, Column, Stages>();
    }
    /// D of `tcgen05.mma.ws`. Emits nothing.
    template <class T, unsigned M, unsigned N, unsigned Column = 0, unsigned Stages = 1>
    constexpr view<tmem_accumulator<T, M, N, Group, Lanes, true>, Column, Stages> ws_accumulator() const {
        return at<tmem_accumulator<T, M, N, Group, Lanes, true>, Column, Stages>();
    }
    /// A of `tcgen05.mma`. Emits nothing.
    template <class T, unsigned M, unsigned K, unsigned Column = 0, unsigned Stages = 1>
    constexpr view<tmem_operand<T, M, K, Group, Lanes>, Column, Stages> a_operand() const {
        return at<tmem_operand<T, M, K, Group, Lanes>, Column, Stages>();
    }
    /// Block scales, one word of them a row and stage. Emits nothing.
    template <class S, unsigned Rows, unsigned Column, unsigned Stages = 1>
    constexpr view<tmem_scales<S, Rows, Group, Lanes>, Column, Stages> scales() const {
        return at<tmem_scales<S, Rows, Group, Lanes>, Column, Stages>();
    }
    /// Plain columns. Emits nothing.
    template <class T, unsigned Width, unsigned Column = 0, unsigned Stages = 1>
    constexpr view<tmem_columns<T, Width, Group, Lanes>, Column, Stages> slice() const {
        return at<tmem_columns<T, Width, Group, Lanes>, Column, Stages>();
    }

private:
    template <class View, unsigned Column, unsigned Stages>
    constexpr View at() const {
        return View(moved(Column), Stages);
    }
};

/// Four bytes of shared memory that receive the address of an allocation of `Columns` columns.
template <unsigned Columns, tok Group>
class [[nodiscard]] tensor_memory_slot {
public:
    constexpr explicit tensor_memory_slot(const shared_region& r) noexcept : r_(r) {}
    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }

private:
    shared_region r_;
};

/// Registers that `tcgen05.ld` writes and `tcgen05.st` reads, in the order of the instruction.
template <class T, unsigned N>
class [[nodiscard]] tmem_registers {
public:
    using value_type = T;
    static constexpr unsigned size = N;
    constexpr tmem_registers(ir::program& p, std::uint32_t first, ir::span fresh = {}) noexcept
        : prog_(&p), first_(first), fresh_(fresh) {}
    constexpr tmem_registers(const tmem_registers& o) noexcept : prog_(o.prog_), first_(o.first_) {}
    constexpr tmem_registers(tmem_registers&&) noexcept = default;
    constexpr ~tmem_registers() = default;
    tmem_registers& operator=(const tmem_registers&) = delete;
    tmem_registers& operator=(tmem_registers&&) = delete;
    /// Register `i` (a C++ constant). What `ld` wrote may be read after `wait_ld` (I08).
    [[nodiscard]] constexpr reg<T> operator[](detail::fragment_place i) const {
        if (i.index >= N)
            prog_->report("I09", i.where, {"register ", i.index, " of a tensor-memory load of ", std::uint32_t{N}});
        return {*prog_, first_ + (i.index < N ? i.index : 0)};
    }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = ir::head(ir::operand_kind::range, N);
        o.words[1] = first_;
        o.count = 2;
        o.fresh = fresh_;
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t first_;
    ir::span fresh_;
};

}  // namespace ptxdsl
