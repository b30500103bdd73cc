// SPDX-License-Identifier: Apache-2.0
// Warpgroup matrix multiply (PTX ISA 9.7.15): `k.wgmma.fence()`, `k.wgmma.mma_async(acc, a, b)`, …
// Shape, types and majors come from the operands' tile types; nothing is stated twice.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/matrix.hpp>
#include <ptxdsl/dsl/shared.hpp>

namespace ptxdsl {

namespace detail {
/// A register's place in a fragment (a C++ constant) and where the author wrote it.
struct fragment_place {
    unsigned index;
    location where;
    template <meta::integral Index>
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr fragment_place(Index i, location at = location::current()) noexcept
        : index(static_cast<unsigned>(i)), where(at) {}
};
}  // namespace detail

/// Registers of one warpgroup's accumulator for m64nN: element (row, col) of thread and register is
/// `wgmma_accumulator(scalar, N).at(…)`. f32 and s32: N/2 registers; f16: N/4 registers of packed pairs.
template <class T, unsigned N>
class [[nodiscard]] accumulator {
public:
    static constexpr fragment_layout layout = wgmma_accumulator(scalar_of<T>, N);
    static constexpr unsigned n = N;
    static constexpr unsigned size = layout.registers();
    using value_type = T;
    using register_type = meta::conditional_t<meta::is_same_v<T, f16>, f16x2, T>;

    constexpr accumulator(ir::program& p, std::uint32_t first) noexcept : prog_(&p), first_(first) {}
    /// Register `i` (C++ constant), in the hardware's order.
    [[nodiscard]] constexpr reg<register_type> operator[](detail::fragment_place i) const {
        if (i.index >= size)
            prog_->report("D03", i.where, {"register ", i.index, " of an accumulator of ", std::uint32_t{size}});
        return {*prog_, first_ + (i.index < size ? i.index : 0)};
    }
    [[nodiscard]] constexpr std::uint32_t first() const noexcept { return first_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }

private:
    ir::program* prog_;
    std::uint32_t first_;
};

/// Registers of a 64-row A operand (RS form): 4 registers of 32 bits.
template <class T>
class [[nodiscard]] a_fragment {
public:
    static constexpr fragment_layout layout = wgmma_a_fragment(scalar_of<T>);
    static constexpr unsigned size = layout.registers();
    using value_type = T;
    constexpr a_fragment(ir::program& p, std::uint32_t first) noexcept : prog_(&p) {
        for (unsigned i = 0; i < size; ++i) words_[i] = ir::head(ir::operand_kind::reg, first + i);
    }
    /// Registers that exist already, in the order of the fragment: what `k.ldmatrix<px::x4>` returns, say.
    constexpr explicit a_fragment(const vec<b32, size>& v) noexcept : prog_(v.program()) {
        for (unsigned i = 0; i < size; ++i) words_[i] = v.words()[i];
    }
    [[nodiscard]] constexpr reg<b32> operator[](detail::fragment_place i) const {
        if (prog_ == nullptr) return {nullptr, ir::lost_register, {}};
        if (i.index >= size)
            prog_->report("D07", i.where, {"register ", i.index, " of an A fragment of ", std::uint32_t{size}});
        return {*prog_, ir::payload_of(words_[i.index < size ? i.index : 0])};
    }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        bool consecutive = true;
        for (unsigned i = 1; i < size; ++i) consecutive = consecutive && words_[i] == words_[0] + i;
        o.words[0] = ir::head(consecutive ? ir::operand_kind::range : ir::operand_kind::vec, size);
        if (consecutive) {
            o.words[1] = ir::payload_of(words_[0]);
            o.count = 2;
        } else {
            o.more = words_;
            o.more_count = size;
        }
        return o;
    }

private:
    ir::program* prog_;
    std::uint32_t words_[size] = {};
};

/// A shared-memory matrix descriptor (PTX ISA 9.7.15.5.1) in a 64-bit register, for tiles of type `Tile`.
template <class Tile>
class [[nodiscard]] matrix_descriptor {
public:
    using tile_type = Tile;
    constexpr matrix_descriptor(const shared_region& r, std::uint32_t id, std::uint32_t stages,
                                ir::span fresh = {}) noexcept
        : r_(r), id_(id), stages_(stages), fresh_(fresh) {}
    template <class Other>
        requires(!meta::is_same_v<Other, Tile>)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr matrix_descriptor(const matrix_descriptor<Other>& o) noexcept : matrix_descriptor(o.region(), 0, 1) {
        static_assert(detail::always_false<Other>,
                      "PTXDSL-D06: this descriptor was made for another tile type: its strides, swizzle and major are "
                      "in its bits");
    }
    constexpr matrix_descriptor(const matrix_descriptor& o) noexcept
        : r_(o.r_),
          id_(o.id_),
          stages_(o.stages_),
          first_row_(o.first_row_),
          part_(o.part_),
          parts_(o.parts_),
          part_where_(o.part_where_) {}
    constexpr matrix_descriptor(matrix_descriptor&&) noexcept = default;
    constexpr ~matrix_descriptor() = default;
    matrix_descriptor& operator=(const matrix_descriptor&) = delete;
    matrix_descriptor& operator=(matrix_descriptor&&) = delete;

    // A named descriptor is copied first, which forgets that it once was a nested call; see `ir::span`.

    /// Descriptor of stage `i`: one `add.s64` (none for stage 0).
    [[nodiscard]] constexpr matrix_descriptor stage(std::uint32_t i, location where = location::current()) && {
        if (i >= stages_) r_.prog->report("C03", where, {"stage ", i, " of a tile of ", stages_, " stages"});
        matrix_descriptor d = plus(Tile::layout.stage_stride() * i, where);
        d.r_.stage = i;
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor stage(std::uint32_t i, location where = location::current()) const& {
        return matrix_descriptor(*this).stage(i, where);
    }
    /// Descriptor of the stage in `slot`: one `mad.wide.u32`.
    [[nodiscard]] constexpr matrix_descriptor operator[](const operand<u32>& slot) && {
        detail::check_slots(r_, slot, stages_);
        matrix_descriptor d = indexed(slot, Tile::layout.stage_stride());
        d.r_.stage = ir::unknown_count;
        d.stages_ = 1;
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor operator[](const operand<u32>& slot) const& {
        return matrix_descriptor(*this)[slot];
    }
    /// Descriptor of the `i`-th instruction K step (32 bytes of a K-major row): one `add.s64` (none for step 0).
    [[nodiscard]] constexpr matrix_descriptor k_slice(std::uint32_t i, location where = location::current()) && {
        if (i >= Tile::layout.k_slices())
            r_.prog->report("D01", where, {"K step ", i, " of a tile that has ", Tile::layout.k_slices()});
        return plus(Tile::layout.k_slice(i), where);
    }
    [[nodiscard]] constexpr matrix_descriptor k_slice(std::uint32_t i, location where = location::current()) const& {
        return matrix_descriptor(*this).k_slice(i, where);
    }
    /// Descriptor of the rows from `first_row` on: one `add.s64` (none for 0). 64-row parts of a taller A tile.
    [[nodiscard]] constexpr matrix_descriptor row_slice(std::uint32_t first_row,
                                                        location where = location::current()) && {
        if (row_slice_error(Tile::layout, first_row, 8) != tile_error::ok)
            r_.prog->report("C03", where, {"a slice at row ", first_row, " of a tile of ", Tile::rows, " rows"});
        matrix_descriptor d = plus(Tile::layout.row_slice(first_row), where);
        d.first_row_ += first_row;
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor row_slice(std::uint32_t first_row,
                                                        location where = location::current()) const& {
        return matrix_descriptor(*this).row_slice(first_row, where);
    }
    /// Descriptor of the `index`-th part of `rows_each` rows, `index` in a register: one `mad.wide.u32`. Parts begin
    /// where the swizzle does, every eight rows (with MN-major tiles: every 128 bytes, or whole panels), and a part
    /// that lies behind the tile is refused where the register's value is known (C03).
    [[nodiscard]] constexpr matrix_descriptor rows_at(const operand<u32>& index, std::uint32_t rows_each) && {
        check_parts(rows_each, index.where);
        if (index.is_literal() && std::int64_t{rows_each} * ir::small_value(index.words[0]) >= Tile::rows)
            r_.prog->report("C03", index.where,
                            {"part ", std::int64_t{ir::small_value(index.words[0])}, " of ", rows_each,
                             " rows of a tile of ", std::uint32_t{Tile::rows}});
        matrix_descriptor d = indexed(index, Tile::layout.row_slice(rows_each));
        d.part_ = index.words[0], d.parts_ = rows_each == 0 ? 1 : Tile::rows / rows_each;
        d.part_where_ = r_.prog->new_location(index.where);
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor rows_at(const operand<u32>& index, std::uint32_t rows_each) const& {
        return matrix_descriptor(*this).rows_at(index, rows_each);
    }

    /// C03, D01, I05: an instruction reads `rows` rows from here on.
    constexpr void reads(std::uint32_t rows, bool of_tcgen05, location where) const {
        ir::program& p = *r_.prog;
        if (first_row_ + rows > Tile::rows && parts_ == 0)
            p.report("C03", where,
                     {"this reads ", rows, " rows from row ", first_row_, " on of a tile of ",
                      std::uint32_t{Tile::rows}, " rows"});
        if (r_.allocation == ir::unknown_count) return;
        if (parts_ != 0) p.note_next(ir::note::part_of_tile, part_, parts_, r_.allocation, part_where_);
        ir::operand_rows* const seen = p.rows_of(r_.allocation, Tile::rows / 8, where);
        if (seen == nullptr) return;
        seen->of_tcgen05 = of_tcgen05;
        seen->all = seen->all || parts_ != 0;
        if (first_row_ + rows <= Tile::rows) seen->read |= ir::operand_rows::bits(first_row_ / 8, (rows + 7) / 8);
    }
    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o = detail::reg_operand(*r_.prog, id_);
        o.fresh = fresh_;
        return o;
    }

private:
    constexpr matrix_descriptor(const matrix_descriptor& o, std::uint32_t id, ir::span fresh) noexcept
        : matrix_descriptor(o) {
        id_ = id, fresh_ = fresh;
    }
    /// C03: where parts of so many rows begin.
    constexpr void check_parts(std::uint32_t rows_each, location where) const {
        constexpr tile_layout t = Tile::layout;
        if (rows_each == 0 || rows_each > Tile::rows)
            r_.prog->report("C03", where,
                            {"parts of ", rows_each, " rows of a tile of ", std::uint32_t{Tile::rows}, " rows"});
        else if (row_slice_error(t, rows_each == Tile::rows ? 0 : rows_each, 1) != tile_error::ok ||
                 (t.order == mn_major && t.panels() > 1 && rows_each % t.panel_inner() != 0))
            r_.prog->report("C03", where,
                            {"parts of ", rows_each, " rows begin in the middle of ",
                             t.order == k_major ? "eight rows, inside the swizzle: take a multiple of 8"
                                                : "a panel: take whole ones"});
    }
    /// `mad.wide.u32 d, index, bytes >> 4, this`: the address field counts 16-byte units.
    constexpr matrix_descriptor indexed(const operand<u32>& index, std::uint32_t bytes) const {
        ir::program& p = *r_.prog;
        ir::span spans[] = {fresh_, index.fresh};
        ir::span all;
        if (!p.settle(spans, 2, all, index.where))
            p.report("K05", index.where,
                     {"descriptor and index are both nested calls that emit several instructions; name one first"});
        const std::uint32_t dst = p.new_reg(isa::scalar::u64, "desc");
        detail::raw_operand by = index;
        by.fresh = {};
        detail::raw_operand stride;
        stride.words[0] = ir::head(ir::operand_kind::small_int, bytes >> 4);
        const detail::raw_operand list[] = {detail::reg_operand(p, dst), by, stride, detail::reg_operand(p, id_)};
        detail::emit(p, detail::ref<detail::common_form<tok::mad, tok::wide, tok::u32>>(), 0, index.where, list, 4);
        return {*this, dst, {all.begin, p.words.size()}};
    }
    constexpr matrix_descriptor plus(std::uint32_t bytes, location where) const {
        if (bytes == 0) return {*this, id_, fresh_};
        ir::program& p = *r_.prog;
        const std::uint32_t dst = p.new_reg(isa::scalar::u64, "desc");
        detail::raw_operand by;
        by.words[0] = ir::head(ir::operand_kind::small_int, bytes >> 4);
        const detail::raw_operand list[] = {detail::reg_operand(p, dst), as_raw(), by};
        const ir::span s = detail::emit(p, detail::ref<detail::common_form<tok::add, tok::s64>>(), 0, where, list, 3);
        return {*this, dst, s};
    }
    shared_region r_;
    std::uint32_t id_;
    std::uint32_t stages_;
    ir::span fresh_{};
    std::uint32_t first_row_ = 0;
    std::uint32_t part_ = 0, parts_ = 0,
                  part_where_ = 0;  ///< the operand that chooses among its parts, and how many there are
};

namespace detail {

template <class T>
inline constexpr bool is_accumulator = false;
template <class T, unsigned N>
inline constexpr bool is_accumulator<accumulator<T, N>> = true;
template <class T>
inline constexpr bool is_a_fragment = false;
template <class T>
inline constexpr bool is_a_fragment<a_fragment<T>> = true;
template <class T>
inline constexpr bool is_descriptor = false;
template <class Tile>
inline constexpr bool is_descriptor<matrix_descriptor<Tile>> = true;
template <class T>
inline constexpr bool is_shared_tile = false;
template <class Tile>
inline constexpr bool is_shared_tile<tile_stage<Tile>> = true;
template <class Tile>
inline constexpr bool is_shared_tile<shared_tile<Tile>> = true;

template <class T>
inline constexpr bool wgmma_16bit = meta::is_same_v<T, f16> || meta::is_same_v<T, bf16>;
template <class T>
inline constexpr bool wgmma_int = meta::is_same_v<T, s8> || meta::is_same_v<T, u8> || meta::is_same_v<T, b1>;
template <class T>
inline constexpr bool wgmma_fp8 = meta::is_same_v<T, e4m3> || meta::is_same_v<T, e5m2>;
template <class T>
inline constexpr bool wgmma_element =
    wgmma_16bit<T> || wgmma_int<T> || wgmma_fp8<T> || meta::is_same_v<T, tf32> || meta::is_same_v<T, f32>;

template <class A, class B>
inline constexpr bool wgmma_pair =
    wgmma_element<A> && wgmma_element<B> &&
    (meta::is_same_v<A, B> || (wgmma_fp8<A> && wgmma_fp8<B>) ||
     (wgmma_int<A> && wgmma_int<B> && bits_of<A> == 8 && bits_of<B> == 8) || (bits_of<A> == 32 && bits_of<B> == 32));

/// Element type token: tf32 tiles may be declared as f32, which the tensor core reads as tf32.
template <class T>
[[nodiscard]] constexpr tok wgmma_type() noexcept {
    return meta::is_same_v<T, f32> ? tok::tf32 : isa::type_token(scalar_of<T>);
}

/// `scale-d`: false starts the accumulator at zero (its registers are not read), true adds to it; a predicate decides
/// at run time.
struct scale_d {
    raw_operand o;
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr scale_d(bool accumulate) noexcept {
        o.words[0] = ir::head(ir::operand_kind::small_int, accumulate ? 1 : 0);
    }
    constexpr scale_d(const reg<pred>& p) noexcept : o(operand<pred>(p)) {}
    constexpr scale_d(reg<pred>&& p) noexcept : o(operand<pred>(static_cast<reg<pred>&&>(p))) {}
    constexpr scale_d(negated p) noexcept : o(pred_operand(p, location())) {}
    // NOLINTEND(google-explicit-constructor)
};

/// A descriptor's register, and the instructions that made it.
struct matrix_bits {
    std::uint32_t id;
    ir::span fresh;
};
/// `(address >> 4) & 0x3fff | high` in a new 64-bit register: `shr.u32`, `and.b32`, `cvt.u64.u32`, `or.b64`.
template <target Tgt>
constexpr matrix_bits descriptor_register(const context& k, const shared_region& r, std::uint64_t high,
                                          location where) {
    const std::uint32_t begin = r.fresh.end == k.p.words.size() ? r.fresh.begin : k.p.words.size();
    const reg<u32> address = address_register(r, where);
    const reg<u32> shifted =
        value<form<Tgt, tok::shr, tok::u32>, u32>(k, where, operand<u32>(address, where), operand<u32>(4, where));
    const reg<u32> field =
        value<form<Tgt, tok::and_, tok::b32>, u32>(k, where, operand<u32>(shifted, where), operand<u32>(0x3fff, where));
    const reg<u64> wide = value<form<Tgt, tok::cvt, tok::u64, tok::u32>, u64>(k, where, operand<u32>(field, where));
    const reg<u64> d =
        value<form<Tgt, tok::or_, tok::b64>, u64>(k, where, operand<u64>(wide, where), operand<u64>(high, where));
    k.p.rename(d.id(), "desc");
    return {d.id(), {begin, k.p.words.size()}};
}

template <target Tgt>
class wgmma_calls {
public:
    constexpr wgmma_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    /// Declares the registers of an m64nN accumulator. Emits nothing.
    template <class T, unsigned N>
    [[nodiscard]] constexpr accumulator<T, N> make_accumulator(string_view name = "acc") const {
        static_assert(N % 8 == 0 && N >= 8 && N <= 256, "PTXDSL-D04: the N of wgmma is a multiple of 8 from 8 to 256");
        static_assert(meta::is_same_v<T, f32> || meta::is_same_v<T, f16> || meta::is_same_v<T, s32>,
                      "PTXDSL-D02: wgmma accumulates in f32, f16 or s32");
        using R = typename accumulator<T, N>::register_type;
        return {*p_, p_->new_regs(scalar_of<R>, accumulator<T, N>::size, name)};
    }
    /// Declares the registers of an A operand. Emits nothing.
    template <class T>
    [[nodiscard]] constexpr a_fragment<T> make_a_fragment(string_view name = "a") const {
        return {*p_, p_->new_regs(isa::scalar::b32, a_fragment<T>::size, name)};
    }
    /// Makes the descriptor of stage 0. Emits four instructions: `shr.u32`, `and.b32`, `cvt.u64.u32`, `or.b64`; derive
    /// the others from it with `[slot]`, `stage`, `k_slice`, `row_slice`.
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(const shared_tile<Tile>& t,
                                                               location where = location::current()) const {
        shared_region r = t.region();
        r.stage = 0;
        return make_descriptor<Tile>(r, t.stages(), where);
    }
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(tile_stage<Tile> t,
                                                               location where = location::current()) const {
        return make_descriptor<Tile>(t.region(), 1, where);
    }

    /// A descriptor the author computed: states that `bits` describes a tile of type `Tile`, with that major and
    /// swizzle. Emits nothing.
    template <class Tile, major Major = Tile::layout.order, swizzle_mode Swizzle = Tile::layout.swizzle, class U>
    [[nodiscard]] constexpr auto raw_descriptor(const reg<U>& bits) const {
        static_assert(bits_of<U> == 64, "PTXDSL-D06: a matrix descriptor is 64 bits wide");
        static_assert(Major == Tile::layout.order,
                      "PTXDSL-D05: this descriptor's transpose flag contradicts the tile's major");
        static_assert(
            Major == k_major || Tile::layout.element_bits == 16,
            "PTXDSL-D05: only f16 and bf16 operands have a transpose flag; this MN-major tile has another element type");
        static_assert(Swizzle == Tile::layout.swizzle,
                      "PTXDSL-D06: this descriptor is for another swizzle than the tile's");
        shared_region r;
        r.prog = p_;
        r.allocation = ir::unknown_count;
        return matrix_descriptor<Tile>(r, bits.id(), 1);
    }

    /// `wgmma.fence.sync.aligned;` Orders register and shared writes before the wgmmas that follow.
    constexpr auto fence(location where = location::current()) const { plain<tok::fence>(where); }
    /// `wgmma.commit_group.sync.aligned;`
    constexpr auto commit_group(location where = location::current()) const { plain<tok::commit_group>(where); }
    /// `wgmma.wait_group.sync.aligned N;` At most the N latest groups are still pending.
    template <unsigned N>
    constexpr auto wait_group(location where = location::current()) const {
        using F = form<Tgt, tok::wgmma, tok::wait_group, tok::sync, tok::aligned>;
        require<F>();
        effect<F>(ctx(), where, operand<u32>(N, where));
    }
    template <class A>
    constexpr auto wait_group(A&&) const {
        static_assert(always_false<A>,
                      "PTXDSL-A14: the number of groups is an immediate; write k.wgmma.wait_group<0>()");
    }

    /// `wgmma.mma_async.sync.aligned.m64nNkK.D.A.B {d…}, a-desc, b-desc, scale-d, scale-a, scale-b{, trans-a,
    /// trans-b};`
    ///
    /// `A`: a tile of 64 rows (or a `row_slice` of a taller one), `B`: a tile of N rows; their columns are K.
    /// `accumulate` false starts at zero. `ScaleA`, `ScaleB`: 1 or -1. Single bits (`px::b1`) multiply with
    /// `.and.popc`. PTX ISA 9.7.15.5.2.
    template <int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TileA, class TileB>
    constexpr auto mma_async(const accumulator<T, N>& d, matrix_descriptor<TileA> a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileA>(), check_operand<TileB>();
        ss<ScaleA, ScaleB, tok::none>(d, a, b, accumulate, where);
    }
    /// The RS form: A in registers, which nothing may touch until `wait_group` covers the instruction (D09). `{d…},
    /// {a0, a1, a2, a3}, b-desc, scale-d, scale-a, scale-b{, trans-b}`.
    template <int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TA, class TileB>
    constexpr auto mma_async(const accumulator<T, N>& d, const a_fragment<TA>& a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileB>();
        rs<ScaleA, ScaleB, tok::none>(d, a, b, accumulate, where);
    }
    /// Integers with `.satfinite`: `k.wgmma.mma_async<px::satfinite>(acc, a, b)`.
    template <tok Sat, class T, unsigned N, class TileA, class TileB>
    constexpr auto mma_async(const accumulator<T, N>& d, matrix_descriptor<TileA> a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileA>(), check_operand<TileB>();
        ss<1, 1, Sat>(d, a, b, accumulate, where);
    }
    template <tok Sat, class T, unsigned N, class TA, class TileB>
    constexpr auto mma_async(const accumulator<T, N>& d, const a_fragment<TA>& a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileB>();
        rs<1, 1, Sat>(d, a, b, accumulate, where);
    }
    /// `wgmma.mma_async.sp.sync.aligned.m64nNkK.D.A.B {d…}, a-desc, b-desc, metadata, Selector, scale-d, …;` A is 2:4
    /// compressed: a tile of 64 rows and half of B's columns; K is twice the dense K. `metadata` is one register, of
    /// the threads that `Selector` names. PTX ISA 9.7.15.6.3.
    template <unsigned Selector, int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TileA, class TileB, class E>
        requires traits<E>::is_reg
    constexpr auto mma_async_sp(const accumulator<T, N>& d, matrix_descriptor<TileA> a, matrix_descriptor<TileB> b,
                                E&& metadata, scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileA>(), check_operand<TileB>();
        using M = typename traits<E>::value;
        check_selector<typename TileA::element_type, Selector, M>();
        ss<ScaleA, ScaleB, tok::none>(d, a, b, accumulate, where, operand<M>(static_cast<E&&>(metadata), where),
                                      operand<u32>(Selector, where));
    }
    template <unsigned Selector, int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TA, class TileB, class E>
        requires traits<E>::is_reg
    constexpr auto mma_async_sp(const accumulator<T, N>& d, const a_fragment<TA>& a, matrix_descriptor<TileB> b,
                                E&& metadata, scale_d accumulate = true, location where = location::current()) const {
        check_operand<TileB>();
        using M = typename traits<E>::value;
        check_selector<TA, Selector, M>();
        rs<ScaleA, ScaleB, tok::none>(d, a, b, accumulate, where, operand<M>(static_cast<E&&>(metadata), where),
                                      operand<u32>(Selector, where));
    }
    /// What is no operand of a wgmma, with its sentence.
    template <int ScaleA = 1, int ScaleB = 1, class D, class A, class B, class... Rest>
        requires(!(is_accumulator<D> && (is_descriptor<A> || is_a_fragment<A>) && is_descriptor<B>))
    constexpr auto mma_async(const D&, const A&, const B&, const Rest&...) const {
        constexpr bool acc = is_accumulator<D>;
        static_assert(
            acc,
            "PTXDSL-D03: D of wgmma is the accumulator of its shape and type, k.wgmma.make_accumulator<px::f32, N>(); other "
            "registers have another number or order");
        constexpr bool raw = traits<A>::is_reg || traits<B>::is_reg;
        static_assert(
            !acc || !raw,
            "PTXDSL-D06: a register is no matrix descriptor; k.wgmma.descriptor(tile) makes one with the tile's swizzle and "
            "major, k.wgmma.raw_descriptor<Tile>(bits) states what an own one describes");
        constexpr bool tiles = is_shared_tile<A> || is_shared_tile<B>;
        static_assert(!acc || raw || !tiles,
                      "PTXDSL-D06: wgmma reads a tile through its descriptor: k.wgmma.descriptor(tile)");
        static_assert(
            !acc || raw || tiles,
            "PTXDSL-D07: A of wgmma is a descriptor or the four registers of k.wgmma.make_a_fragment<T>(), B a "
            "descriptor; fragments of mma.sync have another shape");
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto descriptor(anything, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: a matrix descriptor is that of a tile or of one stage: k.wgmma.descriptor(a), k.wgmma.descriptor(a[i]); bits of your own are k.wgmma.raw_descriptor<Tile>(bits)");
    }
    template <class D = void>
    constexpr auto mma_async(anything, anything = {}, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: mma_async takes an accumulator, A (a descriptor or a fragment), the descriptor of B, and whether it accumulates: true, false or a predicate");
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    template <tok Op>
    constexpr auto plain(location where) const {
        using F = form<Tgt, tok::wgmma, Op, tok::sync, tok::aligned>;
        require<F>();
        effect<F>(ctx(), where);
    }
    template <bool Sparse, tok Sat, class T, unsigned N, class A, class B>
    using shape = compact_form<Tgt, tok::wgmma, tok::mma_async, Sparse ? tok::sp : tok::none, tok::sync, tok::aligned,
                               shape_token(64, N, (Sparse ? 512 : 256) / bits_of<A>), isa::type_token(scalar_of<T>),
                               wgmma_type<A>(), wgmma_type<B>(), bits_of<A> == 1 ? tok::and_ : tok::none,
                               bits_of<A> == 1 ? tok::popc : tok::none, Sat>;

    [[nodiscard]] static constexpr raw_operand immediate(int v) noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(v));
        return o;
    }
    template <class T, unsigned N>
    [[nodiscard]] static constexpr raw_operand range(const accumulator<T, N>& d) noexcept {
        raw_operand o;
        o.prog = d.program();
        o.words[0] = ir::head(ir::operand_kind::range, accumulator<T, N>::size);
        o.words[1] = d.first();
        o.count = 2;
        return o;
    }
    /// `sparse`: nothing, or metadata and selector.
    template <int ScaleA, int ScaleB, tok Sat, class T, unsigned N, class TileA, class TileB, class... Sparse>
    constexpr auto ss(const accumulator<T, N>& d, const matrix_descriptor<TileA>& a, const matrix_descriptor<TileB>& b,
                      const scale_d& accumulate, location where, const Sparse&... sparse) const {
        using TA = typename TileA::element_type;
        using TB = typename TileB::element_type;
        constexpr bool is_sparse = sizeof...(Sparse) != 0;
        if constexpr (check_types<is_sparse, Sat, T, N, TA, TB, ScaleA, ScaleB>()) {
            check_a<TileA, TileB, is_sparse>();
            check_b<TileB, N, is_sparse>();
            using F = shape<is_sparse, Sat, T, N, TA, TB>;
            note_read(a.region());
            note_read(b.region());
            a.reads(64, false, where), b.reads(N, false, where);
            if constexpr (wgmma_int<TA>)
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o);
            else if constexpr (wgmma_16bit<TA>)
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o, immediate(ScaleA),
                          immediate(ScaleB), immediate(TileA::layout.order == mn_major ? 1 : 0),
                          immediate(TileB::layout.order == mn_major ? 1 : 0));
            else
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o, immediate(ScaleA),
                          immediate(ScaleB));
        }
    }
    template <int ScaleA, int ScaleB, tok Sat, class T, unsigned N, class TA, class TileB, class... Sparse>
    constexpr auto rs(const accumulator<T, N>& d, const a_fragment<TA>& a, const matrix_descriptor<TileB>& b,
                      const scale_d& accumulate, location where, const Sparse&... sparse) const {
        using TB = typename TileB::element_type;
        constexpr bool is_sparse = sizeof...(Sparse) != 0;
        if constexpr (check_types<is_sparse, Sat, T, N, TA, TB, ScaleA, ScaleB>()) {
            check_b<TileB, N, is_sparse>();
            using F = shape<is_sparse, Sat, T, N, TA, TB>;
            note_read(b.region());
            b.reads(N, false, where);
            if constexpr (wgmma_int<TA>)
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o);
            else if constexpr (wgmma_16bit<TA>)
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o, immediate(ScaleA),
                          immediate(ScaleB), immediate(TileB::layout.order == mn_major ? 1 : 0));
            else
                effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), sparse..., accumulate.o, immediate(ScaleA),
                          immediate(ScaleB));
        }
    }
    template <class A, unsigned Selector, class E>
    static constexpr auto check_selector() noexcept {
        static_assert(bits_of<E> == 32, "PTXDSL-D07: the sparsity metadata is one 32-bit register");
        static_assert(Selector <= (bits_of<A> == 8 ? 0u : 1u),
                      "PTXDSL-D07: the sparsity selector names a group of threads this shape has not");
    }
    template <bool Sparse, tok Sat, class T, unsigned N, class A, class B, int ScaleA, int ScaleB>
    static constexpr bool check_types() noexcept {
        constexpr bool pair = wgmma_pair<A, B>;
        static_assert(
            pair,
            "PTXDSL-D02: the element types of A and B are no legal wgmma pair (f16xf16, bf16xbf16, tf32xtf32, "
            "e4m3/e5m2 mixes, s8/u8 mixes)");
        constexpr bool acc = wgmma_int<A> ? meta::is_same_v<T, s32>
                                          : meta::is_same_v<T, f32> || (meta::is_same_v<T, f16> &&
                                                                        !meta::is_same_v<A, bf16> && bits_of<A> != 32);
        static_assert(!pair || acc,
                      "PTXDSL-D02: this accumulator type is not legal for these element types (integers: s32; bf16 and "
                      "tf32: f32; f16 and fp8: f16 or f32)");
        static_assert((ScaleA == 1 || ScaleA == -1) && (ScaleB == 1 || ScaleB == -1),
                      "PTXDSL-D13: scale-a and scale-b are 1 or -1");
        static_assert(!wgmma_int<A> || (ScaleA == 1 && ScaleB == 1),
                      "PTXDSL-D13: integer wgmma has no scale-a and scale-b");
        static_assert(!pair || Sat == tok::none || (Sat == tok::satfinite && wgmma_int<A> && bits_of<A> == 8),
                      "PTXDSL-D02: .satfinite exists for 8-bit integer wgmma only");
        if constexpr (pair && acc) {
            using status = isa::verdict::status;
            constexpr status st = shape<Sparse, Sat, T, N, A, B>::verdict.st;
            static_assert(st != status::wrong_target,
                          "PTXDSL-A11: this kernel's target does not have wgmma, which exists on sm_90a only");
            static_assert(st == status::ok || st == status::wrong_target,
                          "PTXDSL-D04: wgmma has no instruction of this shape for these types");
        }
        return pair && acc;
    }
    /// The layout as the tensor core reads it: f32 tiles are read as tf32.
    template <class Tile>
    [[nodiscard]] static constexpr tile_layout operand_layout() noexcept {
        tile_layout t = Tile::layout;
        if (t.element == isa::scalar::f32) t.element = isa::scalar::tf32;
        return t;
    }
    /// (Element types are left to D02.)
    template <class Tile>
    static constexpr auto check_operand() noexcept {
        constexpr tile_error e = operand_error(operand_layout<Tile>(), Tgt);
        static_assert(e != tile_error::mn_major_type,
                      "PTXDSL-C06: sm_90a reads MN-major operands of 16-bit types only; make this tile K-major");
        static_assert(e != tile_error::plain_layout,
                      "PTXDSL-C02: the tensor core reads no plain row-major tile; give it a swizzle, or core_matrices");
        static_assert(e != tile_error::inner_not_span,
                      "PTXDSL-C02: the contiguous row of an operand tile is the swizzle span or a multiple of it");
        static_assert(e != tile_error::outer_not_core,
                      "PTXDSL-D01: the strided extent of an operand tile is a multiple of 8");
        static_assert(e != tile_error::k_not_step,
                      "PTXDSL-D04: the K extent of this tile is no multiple of the instruction's K (32 bytes)");
        static_assert(e == tile_error::ok || e == tile_error::element_type || e == tile_error::mn_major_type ||
                          e == tile_error::plain_layout || e == tile_error::inner_not_span ||
                          e == tile_error::outer_not_core || e == tile_error::k_not_step,
                      "PTXDSL-C02: no tensor core of this target reads this layout");
    }
    template <class TileA, class TileB, bool Sparse>
    static constexpr auto check_a() noexcept {
        static_assert(Sparse || TileA::cols == TileB::cols,
                      "PTXDSL-D01: A and B have different K extents; were the two tiles swapped?");
        static_assert(!Sparse || 2 * TileA::cols == TileB::cols,
                      "PTXDSL-D01: a 2:4 compressed A has half of B's K extent");
        static_assert(TileA::rows % 64 == 0,
                      "PTXDSL-D01: A has 64 rows, or a multiple with row_slice; were the two tiles swapped?");
    }
    template <class TileB, unsigned N, bool Sparse>
    static constexpr auto check_b() noexcept {
        static_assert(!Sparse || TileB::cols % (2 * TileB::layout.k_step()) == 0,
                      "PTXDSL-D04: the K extent of B is no multiple of the sparse instruction's K");
        static_assert(TileB::rows % N == 0,
                      "PTXDSL-D01: the N of the accumulator does not divide the rows of B; were the two tiles "
                      "swapped?");
    }
    constexpr auto note_read(const shared_region& r) const {
        if (r.allocation != ir::unknown_count) p_->note_next(ir::note::tile_async_read, r.allocation, r.stage);
    }
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> make_descriptor(const shared_region& r, std::uint32_t stages,
                                                                    location where) const {
        const matrix_bits d = descriptor_register<Tgt>(ctx(), r, wgmma_descriptor_base(Tile::layout), where);
        return {r, d.id, stages, d.fresh};
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace detail
}  // namespace ptxdsl
