// SPDX-License-Identifier: Apache-2.0
// Warpgroup matrix multiply (PTX ISA 9.7.15): `k.wgmma.fence()`, `k.wgmma.mma_async(acc, a, b)`, …
// Shape, types and majors come from the operands' tile types; nothing is stated twice.
#pragma once

#include <ptxdsl/dsl/fragment.hpp>
#include <ptxdsl/dsl/shared.hpp>

namespace ptxdsl {

/// Registers of one warpgroup's accumulator for m64nN: element (row, col) of thread and register is
/// `wgmma_accumulator(scalar, N).at(…)`. f32 and s32: N/2 registers; f16: N/4 registers of packed pairs.
template <class T, unsigned N>
class [[nodiscard]] accumulator {
public:
    static constexpr fragment_layout layout = wgmma_accumulator(scalar_of<T>, N);
    static constexpr unsigned n = N;
    static constexpr unsigned size = layout.registers();
    using value_type = T;
    using register_type = std::conditional_t<std::is_same_v<T, f16>, f16x2, T>;

    constexpr accumulator(ir::program& p, std::uint32_t first) noexcept : prog_(&p), first_(first) {}
    /// Register `i` (C++ constant), in the hardware's order.
    [[nodiscard]] constexpr reg<register_type> operator[](unsigned i) const {
        if (i >= size) prog_->report("D03", prog_->locations.back(), "register ", i, " of an accumulator of ", std::uint32_t{size});
        return {*prog_, first_ + (i < size ? i : 0)};
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
    constexpr a_fragment(ir::program& p, std::uint32_t first) noexcept : prog_(&p), first_(first) {}
    [[nodiscard]] constexpr reg<b32> operator[](unsigned i) const {
        if (i >= size) prog_->report("D07", prog_->locations.back(), "register ", i, " of an A fragment of ", std::uint32_t{size});
        return {*prog_, first_ + (i < size ? i : 0)};
    }
    [[nodiscard]] constexpr std::uint32_t first() const noexcept { return first_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }

private:
    ir::program* prog_;
    std::uint32_t first_;
};

/// A shared-memory matrix descriptor (PTX ISA 9.7.15.5.1) in a 64-bit register, for tiles of type `Tile`.
template <class Tile>
class [[nodiscard]] matrix_descriptor {
public:
    using tile_type = Tile;
    constexpr matrix_descriptor(const shared_region& r, std::uint32_t id, std::uint32_t stages, ir::span fresh = {}) noexcept
        : r_(r), id_(id), stages_(stages), fresh_(fresh) {}
    constexpr matrix_descriptor(const matrix_descriptor& o) noexcept : r_(o.r_), id_(o.id_), stages_(o.stages_) {}
    constexpr matrix_descriptor(matrix_descriptor&&) noexcept = default;
    constexpr ~matrix_descriptor() = default;
    matrix_descriptor& operator=(const matrix_descriptor&) = delete;
    matrix_descriptor& operator=(matrix_descriptor&&) = delete;

    // A named descriptor is copied first, which forgets that it once was a nested call; see `ir::span`.

    /// Descriptor of stage `i`: one `add.s64` (none for stage 0).
    [[nodiscard]] constexpr matrix_descriptor stage(std::uint32_t i, location where = location::current()) && {
        if (i >= stages_) r_.prog->report("C03", where, "stage ", i, " of a tile of ", stages_, " stages");
        matrix_descriptor d = plus(Tile::layout.stage_stride() * i, where);
        d.r_.stage = i;
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor stage(std::uint32_t i, location where = location::current()) const& {
        return matrix_descriptor(*this).stage(i, where);
    }
    /// Descriptor of the stage in `slot`: one `mad.wide.u32`.
    [[nodiscard]] constexpr matrix_descriptor operator[](const operand<u32>& slot) && {
        matrix_descriptor d = indexed(slot, Tile::layout.stage_stride());
        d.r_.stage = ir::unknown_count;
        d.stages_ = 1;
        return d;
    }
    [[nodiscard]] constexpr matrix_descriptor operator[](const operand<u32>& slot) const& { return matrix_descriptor(*this)[slot]; }
    /// Descriptor of the `i`-th instruction K step (32 bytes of a K-major row): one `add.s64` (none for step 0).
    [[nodiscard]] constexpr matrix_descriptor k_slice(std::uint32_t i, location where = location::current()) && {
        if (i >= Tile::layout.k_slices())
            r_.prog->report("D01", where, "K step ", i, " of a tile that has ", Tile::layout.k_slices());
        return plus(Tile::layout.k_slice(i), where);
    }
    [[nodiscard]] constexpr matrix_descriptor k_slice(std::uint32_t i, location where = location::current()) const& {
        return matrix_descriptor(*this).k_slice(i, where);
    }
    /// Descriptor of the rows from `first_row` on: one `add.s64` (none for 0). 64-row parts of a taller A tile.
    [[nodiscard]] constexpr matrix_descriptor row_slice(std::uint32_t first_row, location where = location::current()) && {
        if (row_slice_error(Tile::layout, first_row, 8) != tile_error::ok)
            r_.prog->report("C03", where, "a slice at row ", first_row, " of a tile of ", Tile::rows, " rows");
        return plus(Tile::layout.row_slice(first_row), where);
    }
    [[nodiscard]] constexpr matrix_descriptor row_slice(std::uint32_t first_row, location where = location::current()) const& {
        return matrix_descriptor(*this).row_slice(first_row, where);
    }
    /// Descriptor of the `index`-th part of `rows_each` rows, `index` in a register: one `mad.wide.u32`.
    [[nodiscard]] constexpr matrix_descriptor rows_at(const operand<u32>& index, std::uint32_t rows_each) && {
        return indexed(index, Tile::layout.row_slice(rows_each));
    }
    [[nodiscard]] constexpr matrix_descriptor rows_at(const operand<u32>& index, std::uint32_t rows_each) const& {
        return matrix_descriptor(*this).rows_at(index, rows_each);
    }

    [[nodiscard]] constexpr const shared_region& region() const noexcept { return r_; }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        detail::raw_operand o = detail::reg_operand(*r_.prog, id_);
        o.fresh = fresh_;
        return o;
    }

private:
    /// `mad.wide.u32 d, index, bytes >> 4, this`: the address field counts 16-byte units.
    constexpr matrix_descriptor indexed(const operand<u32>& index, std::uint32_t bytes) const {
        constexpr std::uint32_t packed[] = {static_cast<std::uint32_t>(tok::mad) | static_cast<std::uint32_t>(tok::wide) << 16,
                                            static_cast<std::uint32_t>(tok::u32)};
        ir::program& p = *r_.prog;
        ir::span spans[] = {fresh_, index.fresh};
        ir::span all;
        if (!p.settle(spans, 2, all))
            p.report("K05", index.where, "descriptor and index are both nested calls that emit several instructions; name one first");
        const std::uint32_t dst = p.new_reg(isa::scalar::u64, "desc");
        detail::raw_operand by = index;
        by.fresh = {};
        detail::raw_operand stride;
        stride.words[0] = ir::head(ir::operand_kind::small, bytes >> 4);
        const detail::raw_operand list[] = {detail::reg_operand(p, dst), by, stride, detail::reg_operand(p, id_)};
        detail::emit(p, {packed, 3, isa::verdict::no_form, {1, 0}}, 0, index.where, list, 4);
        return {r_, dst, stages_, {all.begin, p.words.size()}};
    }
    constexpr matrix_descriptor plus(std::uint32_t bytes, location where) const {
        if (bytes == 0) return {r_, id_, stages_, fresh_};
        constexpr std::uint32_t packed = static_cast<std::uint32_t>(tok::add) | static_cast<std::uint32_t>(tok::s64) << 16;
        ir::program& p = *r_.prog;
        const std::uint32_t dst = p.new_reg(isa::scalar::u64, "desc");
        detail::raw_operand by;
        by.words[0] = ir::head(ir::operand_kind::small, bytes >> 4);
        const detail::raw_operand list[] = {detail::reg_operand(p, dst), as_raw(), by};
        const ir::span s = detail::emit(p, {&packed, 2, isa::verdict::no_form, {1, 0}}, 0, where, list, 3);
        return {r_, dst, stages_, s};
    }
    shared_region r_;
    std::uint32_t id_;
    std::uint32_t stages_;
    ir::span fresh_;
};

namespace detail {

/// The `m64nNkK` token.
[[nodiscard]] constexpr tok wgmma_shape(unsigned n, unsigned k) noexcept {
    char text[16] = {'m', '6', '4', 'n'};
    unsigned at = 4;
    if (n >= 100) text[at++] = static_cast<char>('0' + n / 100);
    if (n >= 10) text[at++] = static_cast<char>('0' + n / 10 % 10);
    text[at++] = static_cast<char>('0' + n % 10);
    text[at++] = 'k';
    if (k >= 100) text[at++] = static_cast<char>('0' + k / 100);
    if (k >= 10) text[at++] = static_cast<char>('0' + k / 10 % 10);
    text[at++] = static_cast<char>('0' + k % 10);
    return isa::find_token(std::string_view(text, at));
}

template <class A, class B>
inline constexpr bool wgmma_pair = std::is_same_v<A, B> || ((std::is_same_v<A, e4m3> || std::is_same_v<A, e5m2>)&&(std::is_same_v<B, e4m3> || std::is_same_v<B, e5m2>)) ||
                                   ((std::is_same_v<A, s8> || std::is_same_v<A, u8>)&&(std::is_same_v<B, s8> || std::is_same_v<B, u8>));
template <class T>
inline constexpr bool wgmma_16bit = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
inline constexpr bool wgmma_int = std::is_same_v<T, s8> || std::is_same_v<T, u8>;

/// Element type token: tf32 tiles may be declared as f32, which the tensor core reads as tf32.
template <class T>
[[nodiscard]] constexpr tok wgmma_type() noexcept {
    return std::is_same_v<T, f32> ? tok::tf32 : isa::type_token(scalar_of<T>);
}

/// `scale-d`: false starts the accumulator at zero (its registers are not read), true adds to it; a predicate decides
/// at run time.
struct scale_d {
    raw_operand o;
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr scale_d(bool accumulate) noexcept { o.words[0] = ir::head(ir::operand_kind::small, accumulate ? 1 : 0); }
    constexpr scale_d(const reg<pred>& p) noexcept : o(reg_operand(*p.program(), p.id())) {}
    // NOLINTEND(google-explicit-constructor)
};

template <target Tgt>
class wgmma_calls {
public:
    constexpr wgmma_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    /// Declares the registers of an m64nN accumulator. Emits nothing.
    template <class T, unsigned N>
    [[nodiscard]] constexpr accumulator<T, N> make_accumulator(std::string_view name = "acc") const {
        static_assert(N % 8 == 0 && N >= 8 && N <= 256, "PTXDSL-D04: the N of wgmma is a multiple of 8 from 8 to 256");
        static_assert(std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, s32>,
                      "PTXDSL-D02: wgmma accumulates in f32, f16 or s32");
        using R = typename accumulator<T, N>::register_type;
        return {*p_, p_->new_regs(scalar_of<R>, accumulator<T, N>::size, name)};
    }
    /// Declares the registers of an A operand. Emits nothing.
    template <class T>
    [[nodiscard]] constexpr a_fragment<T> make_a_fragment(std::string_view name = "a") const {
        return {*p_, p_->new_regs(isa::scalar::b32, a_fragment<T>::size, name)};
    }
    /// Makes the descriptor of stage 0. Emits four instructions: `shr.u32`, `and.b32`, `cvt.u64.u32`, `or.b64`; derive the
    /// others from it with `[slot]`, `stage`, `k_slice`, `row_slice`.
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(const shared_tile<Tile>& t, location where = location::current()) const {
        shared_region r = t.region();
        r.stage = 0;
        return make_descriptor<Tile>(r, t.stages(), where);
    }
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(tile_stage<Tile> t, location where = location::current()) const {
        return make_descriptor<Tile>(t.region(), 1, where);
    }

    /// `wgmma.fence.sync.aligned;` Orders register and shared writes before the wgmmas that follow.
    constexpr void fence(location where = location::current()) const { plain<tok::fence>(where); }
    /// `wgmma.commit_group.sync.aligned;`
    constexpr void commit_group(location where = location::current()) const { plain<tok::commit_group>(where); }
    /// `wgmma.wait_group.sync.aligned N;` At most the N latest groups are still pending.
    template <unsigned N>
    constexpr void wait_group(location where = location::current()) const {
        static_assert(N <= 7, "PTXDSL-D10: wgmma.wait_group takes 0 to 7 pending groups");
        using F = form<Tgt, tok::wgmma, tok::wait_group, tok::sync, tok::aligned>;
        require<F>();
        effect<F>(ctx(), where, operand<u32>(N, where));
    }

    /// `wgmma.mma_async.sync.aligned.m64nNkK.D.A.B {d…}, a-desc, b-desc, scale-d, scale-a, scale-b{, trans-a, trans-b};`
    ///
    /// `A`: a tile of 64 rows (or a `row_slice` of a taller one), `B`: a tile of N rows; their columns are K. `accumulate`
    /// false starts at zero. `ScaleA`, `ScaleB`: 1 or -1.
    template <int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TileA, class TileB>
    constexpr void mma_async(const accumulator<T, N>& d, matrix_descriptor<TileA> a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        ss<ScaleA, ScaleB>(d, a, b, accumulate, where);
    }
    /// The RS form: A in registers. `{d…}, {a0, a1, a2, a3}, b-desc, scale-d, scale-a, scale-b{, trans-b}`.
    template <int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class TA, class TileB>
    constexpr void mma_async(const accumulator<T, N>& d, const a_fragment<TA>& a, matrix_descriptor<TileB> b,
                             scale_d accumulate = true, location where = location::current()) const {
        using TB = typename TileB::element_type;
        check_types<T, N, TA, TB, ScaleA, ScaleB>();
        check_b<TileB, N>();
        raw_operand regs;
        regs.prog = p_;
        regs.words[0] = ir::head(ir::operand_kind::range, a_fragment<TA>::size);
        regs.words[1] = a.first();
        regs.count = 2;
        using F = shape<T, N, TA, TB>;
        if constexpr (wgmma_int<TA>) effect<F>(ctx(), where, range(d), regs, b.as_raw(), accumulate.o);
        else if constexpr (wgmma_16bit<TA>)
            effect<F>(ctx(), where, range(d), regs, b.as_raw(), accumulate.o, immediate(ScaleA), immediate(ScaleB),
                      immediate(TileB::layout.order == mn_major ? 1 : 0));
        else effect<F>(ctx(), where, range(d), regs, b.as_raw(), accumulate.o, immediate(ScaleA), immediate(ScaleB));
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    template <tok Op>
    constexpr void plain(location where) const {
        using F = form<Tgt, tok::wgmma, Op, tok::sync, tok::aligned>;
        require<F>();
        effect<F>(ctx(), where);
    }
    template <class T, unsigned N, class A, class B>
    using shape = form<Tgt, tok::wgmma, tok::mma_async, tok::sync, tok::aligned, wgmma_shape(N, 256 / bits_of<A>),
                       isa::type_token(scalar_of<T>), wgmma_type<A>(), wgmma_type<B>()>;

    [[nodiscard]] static constexpr raw_operand immediate(int v) noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::small, static_cast<std::uint32_t>(v));
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
    template <int ScaleA, int ScaleB, class T, unsigned N, class TileA, class TileB>
    constexpr void ss(const accumulator<T, N>& d, const matrix_descriptor<TileA>& a, const matrix_descriptor<TileB>& b,
                      const scale_d& accumulate, location where) const {
        using TA = typename TileA::element_type;
        using TB = typename TileB::element_type;
        check_types<T, N, TA, TB, ScaleA, ScaleB>();
        check_a<TileA, TileB>();
        check_b<TileB, N>();
        using F = shape<T, N, TA, TB>;
        note_read(a.region());
        note_read(b.region());
        if constexpr (wgmma_int<TA>) effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), accumulate.o);
        else if constexpr (wgmma_16bit<TA>)
            effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), accumulate.o, immediate(ScaleA), immediate(ScaleB),
                      immediate(TileA::layout.order == mn_major ? 1 : 0), immediate(TileB::layout.order == mn_major ? 1 : 0));
        else effect<F>(ctx(), where, range(d), a.as_raw(), b.as_raw(), accumulate.o, immediate(ScaleA), immediate(ScaleB));
    }
    template <class T, unsigned N, class A, class B, int ScaleA, int ScaleB>
    static constexpr void check_types() noexcept {
        constexpr bool pair = wgmma_pair<A, B>;
        static_assert(pair, "PTXDSL-D02: the element types of A and B are no legal wgmma pair (f16xf16, bf16xbf16, tf32xtf32, "
                            "e4m3/e5m2 mixes, s8/u8 mixes)");
        constexpr bool acc = wgmma_int<A> ? std::is_same_v<T, s32> : std::is_same_v<T, f32> || (std::is_same_v<T, f16> && !std::is_same_v<A, bf16> && bits_of<A> != 32);
        static_assert(!pair || acc, "PTXDSL-D02: this accumulator type is not legal for these element types (integers: s32; bf16 and "
                                    "tf32: f32; f16 and fp8: f16 or f32)");
        static_assert((ScaleA == 1 || ScaleA == -1) && (ScaleB == 1 || ScaleB == -1), "PTXDSL-D13: scale-a and scale-b are 1 or -1");
        static_assert(!wgmma_int<A> || (ScaleA == 1 && ScaleB == 1), "PTXDSL-D13: integer wgmma has no scale-a and scale-b");
        if constexpr (pair && acc) require<shape<T, N, A, B>, rule::d04>();
    }
    template <class TileA, class TileB>
    static constexpr void check_a() noexcept {
        constexpr tile_error e = operand_error(TileA::layout, Tgt);
        static_assert(e != tile_error::mn_major_type,
                      "PTXDSL-C06: sm_90a reads MN-major operands of 16-bit types only; make this tile K-major");
        static_assert(e == tile_error::ok || e == tile_error::mn_major_type, "PTXDSL-C02: no tensor core reads A in this layout");
        static_assert(TileA::cols == TileB::cols, "PTXDSL-D01: A and B have different K extents; were the two tiles swapped?");
        static_assert(TileA::rows % 64 == 0, "PTXDSL-D01: A has 64 rows, or a multiple with row_slice");
    }
    template <class TileB, unsigned N>
    static constexpr void check_b() noexcept {
        constexpr tile_error e = operand_error(TileB::layout, Tgt);
        static_assert(e != tile_error::mn_major_type,
                      "PTXDSL-C06: sm_90a reads MN-major operands of 16-bit types only; make this tile K-major");
        static_assert(e == tile_error::ok || e == tile_error::mn_major_type, "PTXDSL-C02: no tensor core reads B in this layout");
        static_assert(TileB::rows % N == 0, "PTXDSL-D01: the N of the accumulator does not divide the rows of B; were the two tiles "
                                            "swapped?");
    }
    constexpr void note_read(const shared_region& r) const {
        p_->note_next(ir::note::tile_async_read, r.allocation, r.stage);
    }
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> make_descriptor(const shared_region& r, std::uint32_t stages, location where) const {
        constexpr std::uint64_t high = wgmma_descriptor_base(Tile::layout);
        const reg<u32> address = address_register(r, where);
        const reg<u32> shifted = step<tok::shr, tok::u32>(address, 4, where);
        const reg<u32> field = step<tok::and_, tok::b32>(shifted, 0x3fff, where);
        const reg<u64> wide = value<form<Tgt, tok::cvt, tok::u64, tok::u32>, u64>(ctx(), where, operand<u32>(field, where));
        const reg<u64> d = value<form<Tgt, tok::or_, tok::b64>, u64>(ctx(), where, operand<u64>(wide, where), operand<u64>(high, where));
        p_->rename(d.id(), "desc");
        return {r, d.id(), stages};
    }
    template <tok Op, tok Type>
    [[nodiscard]] constexpr reg<u32> step(const reg<u32>& x, std::uint32_t v, location where) const {
        return value<form<Tgt, Op, Type>, u32>(ctx(), where, operand<u32>(x, where), operand<u32>(v, where));
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace detail
}  // namespace ptxdsl
