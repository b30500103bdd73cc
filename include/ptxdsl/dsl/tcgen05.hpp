// SPDX-License-Identifier: Apache-2.0
// The fifth-generation tensor core of sm_100a (PTX ISA 9.7.16): `k.tcgen05.alloc(slot)`, `k.tcgen05.mma(d, a, b,
// accumulate)`, … What tensor memory's handles are is in dsl/tmem.hpp.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/tmem.hpp>

namespace ptxdsl {

/// What `tcgen05.mma` can be told beside its operands. Constants, most of them bits of the instruction descriptor.
struct mma_options {
    bool negate_a = false, negate_b = false;
    bool saturate = false;     ///< int8 only
    u8 sparsity_selector = 0;  ///< `mma_sp`
    u8 max_shift = 0;          ///< `mma_ws`
    u8 scale_a_id = 0;         ///< block scales: which bytes of the words, 0..3
    u8 scale_b_id = 0;
    u8 scale_input_d = 0;  ///< f16 and tf32 kinds: D is first divided by 2^n, n <= 15
};

namespace detail {

/// The kind that multiplies these element types: without scales, and with scales of type `scale` for blocks of `block`
/// elements.
[[nodiscard]] constexpr bool kind_of_types(const tile_layout& a, const tile_layout& b, isa::scalar scale, tok vec,
                                           tcgen05_kind& k) noexcept {
    using enum isa::scalar;
    const isa::scalar x = a.element, y = b.element;
    const bool packed = (a.element_bits == 4 || x == e2m1x2) && (b.element_bits == 4 || y == e2m1x2);
    if (scale != none) {
        const bool nv = scale == ue4m3 || vec == tok::block16 || vec == tok::scale_vec__4X;
        k = !packed ? tcgen05_kind::mxf8f6f4 : nv ? tcgen05_kind::mxf4nvf4 : tcgen05_kind::mxf4;
        return true;
    }
    if (x == f16 || x == bf16)
        k = tcgen05_kind::f16;
    else if (x == f32 || x == tf32)
        k = tcgen05_kind::tf32;
    else if (x == u8 || x == s8)
        k = tcgen05_kind::i8;
    else
        k = tcgen05_kind::f8f6f4;
    return !packed;
}
[[nodiscard]] constexpr tok kind_token(tcgen05_kind k) noexcept {
    constexpr tok tokens[] = {tok::kind__tf32,     tok::kind__f16,  tok::kind__f8f6f4,  tok::kind__i8,
                              tok::kind__mxf8f6f4, tok::kind__mxf4, tok::kind__mxf4nvf4};
    return tokens[static_cast<unsigned>(k)];
}
/// The block-size modifier the scale type implies, in the spelling of the lowest PTX version.
[[nodiscard]] constexpr tok scale_vector(tcgen05_kind k) noexcept {
    return k == tcgen05_kind::mxf8f6f4 ? tok::scale_vec__1X
           : k == tcgen05_kind::mxf4   ? tok::scale_vec__2X
                                       : tok::scale_vec__4X;
}
[[nodiscard]] constexpr bool is_scale_vector(tok t) noexcept {
    return t == tok::block16 || t == tok::block32 || t == tok::scale_vec__1X || t == tok::scale_vec__2X ||
           t == tok::scale_vec__4X;
}
template <tok... M>
inline constexpr tok scale_vector_of = [] {
    tok v = tok::none;
    ((v = is_scale_vector(M) ? M : v), ...);
    return v;
}();
/// The layout as the tensor core reads it: f32 tiles are read as tf32.
[[nodiscard]] constexpr tile_layout as_operand_layout(tile_layout t) noexcept {
    if (t.element == isa::scalar::f32) t.element = isa::scalar::tf32;
    return t;
}

template <class T>
concept tmem_accumulator_type = requires { requires T::is_accumulator; };
template <class T>
concept tmem_operand_type = requires { requires T::is_a_operand; };
template <class T>
concept tmem_scales_type = requires { requires T::is_scales; };
template <class T>
concept tmem_view_type = meta::is_base_of_v<tmem_address, T> && requires { T::columns; };

/// Registers a load or store of this shape has for each repeat, and columns it touches.
[[nodiscard]] constexpr unsigned registers_of_shape(tok shape) noexcept {
    return shape == tok::_16x128b ? 2 : shape == tok::_16x256b ? 4 : 1;
}
[[nodiscard]] constexpr unsigned columns_of_shape(tok shape) noexcept {
    return shape == tok::_16x64b ? 2 : shape == tok::_16x128b ? 4 : shape == tok::_16x256b ? 8 : 1;
}
/// Columns a `tcgen05.cp` writes: 32-bit cells of a row of the shape.
[[nodiscard]] constexpr unsigned columns_of_copy(tok shape) noexcept {
    return shape == tok::_128x256b || shape == tok::_4x256b ? 8 : 4;
}

/// A11, in the words of this family.
template <target Tgt>
constexpr auto require_tensor_memory() noexcept {
    static_assert(Tgt.has_tensor_memory(),
                  "PTXDSL-A11: this kernel's target has no tensor memory and no tcgen05 instructions, which exist on "
                  "sm_100a, sm_103a and their family targets; sm_90a multiplies with wgmma");
}

template <target Tgt>
class tcgen05_calls {
    template <tok... Toks>
    using tc = form<Tgt, tok::tcgen05, Toks...>;
    template <tok... Toks>
    using tc_if = compact_form<Tgt, tok::tcgen05, Toks...>;

public:
    constexpr tcgen05_calls(ir::program& p, std::uint32_t guard) noexcept : p_(&p), guard_(guard) {}

    // ---- allocation (PTX ISA 9.7.16.7)
    // ------------------------------------------------------------------------------------

    /// Reserves the four bytes that receive an allocation's address: emits one `mov.u32 %name, smem+offset`.
    template <unsigned Columns, tok Group = tok::cta_group__1>
    constexpr tensor_memory_slot<Columns, Group> make_slot(string_view name = "tmem_slot",
                                                           location where = location::current()) const {
        require_tensor_memory<Tgt>();
        static_assert(Columns >= 32 && Columns <= 512 && (Columns & (Columns - 1)) == 0,
                      "PTXDSL-I02: tensor memory is allocated in 32, 64, 128, 256 or 512 columns");
        static_assert(Group == tok::cta_group__1 || Group == tok::cta_group__2,
                      "PTXDSL-I01: the group of tcgen05 is px::cta_group_1 or px::cta_group_2");
        ir::allocation a;
        a.stage_bytes = 4;
        a.align = 4;
        return tensor_memory_slot<Columns, Group>(allocate_shared(*p_, a, name, -1, where));
    }
    /// `tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [slot], Columns;` One warp executes it (with a pair:
    /// one of each CTA).
    template <unsigned Columns, tok Group>
    constexpr auto alloc(const tensor_memory_slot<Columns, Group>& slot, location where = location::current()) const {
        using F = tc<tok::alloc, Group, tok::sync, tok::aligned, tok::shared__cta, tok::b32>;
        require<F>();
        check_pair<Group>(where);
        effect<F>(ctx(), where, address_operand_of(slot.region()), operand<u32>(Columns, where));
    }
    /// `ld.shared.u32 d, [slot];` The address that `alloc` wrote, behind a barrier.
    template <unsigned Columns, tok Group>
    constexpr tensor_memory<Columns, Group> load(const tensor_memory_slot<Columns, Group>& slot,
                                                 location where = location::current()) const {
        const std::uint32_t dst = p_->new_reg(isa::scalar::u32, "tmem");
        const ir::span s = emit_all(*p_, ref<form<Tgt, tok::ld, tok::shared, tok::u32>>(), guard_, where,
                                    reg_operand(*p_, dst), address_operand_of(slot.region()));
        return {*p_, dst, 0, s};
    }
    /// `tcgen05.dealloc.cta_group::G.sync.aligned.b32 address, Columns;` The warp that allocated it, once nobody uses
    /// it any more.
    template <unsigned Columns, tok Group, tmem_lanes Lanes>
    constexpr auto dealloc(const tensor_memory<Columns, Group, Lanes>& t, location where = location::current()) const {
        static_assert(Lanes == tmem_lanes::all,
                      "PTXDSL-I03: this is a warp's quarter of the lanes; free the allocation itself");
        using F = tc<tok::dealloc, Group, tok::sync, tok::aligned, tok::b32>;
        require<F>();
        effect<F>(ctx(), where, reg_operand(*p_, t.id()), operand<u32>(Columns, where));
    }
    /// `tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned;` This CTA allocates no more.
    template <unsigned Columns, tok Group>
    constexpr auto relinquish_alloc_permit(const tensor_memory_slot<Columns, Group>&,
                                           location where = location::current()) const {
        using F = tc<tok::relinquish_alloc_permit, Group, tok::sync, tok::aligned>;
        require<F>();
        effect<F>(ctx(), where);
    }
    /// The 32 lanes of a warp: `warp` is its number, of which the two low bits count. Emits `and.b32`, `shl.b32`,
    /// `add.u32`; nothing for a C++ constant.
    template <unsigned Columns, tok Group, class W>
    constexpr tensor_memory<Columns, Group, tmem_lanes::quarter> quarter(const tensor_memory<Columns, Group>& t,
                                                                         W&& warp,
                                                                         location where = location::current()) const {
        const operand<u32> w = as_operand<u32>(static_cast<W&&>(warp), where);
        if (w.is_literal()) {
            tensor_memory<Columns, Group, tmem_lanes::quarter> fixed(
                *p_, t.id(), t.offset() + (static_cast<std::uint32_t>(ir::small_value(w.words[0])) % 4 << 21));
            fixed.set_warp(*p_, w.words[0], where);
            return fixed;
        }
        const reg<u32> low = value<form<Tgt, tok::and_, tok::b32>, u32>(ctx(), where, w, operand<u32>(3u, where));
        const reg<u32> lane =
            value<form<Tgt, tok::shl, tok::b32>, u32>(ctx(), where, operand<u32>(low, where), operand<u32>(21u, where));
        const reg<u32> base(*p_, t.id());
        const reg<u32> at = value<form<Tgt, tok::add, tok::u32>, u32>(ctx(), where, operand<u32>(base, where),
                                                                      operand<u32>(lane, where));
        p_->rename(at.id(), "tmem_quarter");
        tensor_memory<Columns, Group, tmem_lanes::quarter> mine(*p_, at.id(), t.offset());
        mine.set_warp(*p_, w.words[0], where);
        return mine;
    }

    // ---- load, store, copy, shift (9.7.16.8, 9.7.16.9)
    // --------------------------------------------------------------------

    /// `tcgen05.ld.sync.aligned.SHAPE.NUM{.pack::16b}.b32 {d…}, [address];` — `k.tcgen05.ld<px::shape_32x32b,
    /// px::x32>(view, 64)`: from column 64 of the view on. A warp executes it, on its quarter. The registers may be
    /// read after `wait_ld`.
    template <tok Shape, tok Num, tok... M, tmem_view_type V>
    constexpr auto ld(V view, std::uint32_t column = 0, location where = location::current()) const {
        constexpr unsigned n = registers_of_shape(Shape) * isa::token_count_of(Num);
        using T = typename V::register_type;
        check_access<V>(view, columns_of_shape(Shape) * isa::token_count_of(Num), column, where);
        using F = tc<tok::ld, tok::sync, tok::aligned, Shape, Num, M..., tok::b32>;
        require<F>();
        const tmem_registers<T, n> d = make_registers<T, n>("t");
        const ir::span s = emit_all(*p_, ref<F>(), guard_, where, d.as_raw(), moved(static_cast<V&&>(view), column));
        return tmem_registers<T, n>(*p_, ir::payload_of(d[0].id()), s);
    }
    /// `tcgen05.ld.sync.aligned.16x32bx2.NUM{.pack::16b}.b32 {d…}, [address], Half;` Lanes 0..15 from the
    /// column, 16..31 from `Half` columns on.
    template <tok Num, unsigned Half, tok... M, tmem_view_type V>
    constexpr auto ld_16x32bx2(V view, std::uint32_t column = 0, location where = location::current()) const {
        constexpr unsigned n = isa::token_count_of(Num);
        using T = typename V::register_type;
        check_access<V>(view, Half + n, column, where);
        using F = tc<tok::ld, tok::sync, tok::aligned, tok::_16x32bx2, Num, M..., tok::b32>;
        require<F>();
        const tmem_registers<T, n> d = make_registers<T, n>("t");
        const ir::span s = emit_all(*p_, ref<F>(), guard_, where, d.as_raw(), moved(static_cast<V&&>(view), column),
                                    operand<u32>(Half, where));
        return tmem_registers<T, n>(*p_, ir::payload_of(d[0].id()), s);
    }
    /// `tcgen05.st.sync.aligned.SHAPE.NUM{.unpack::16b}.b32 [address], {r…};` Complete after `wait_st`.
    template <tok Shape, tok Num, tok... M, tmem_view_type V, class T, unsigned N>
    constexpr auto st(V view, const tmem_registers<T, N>& r, std::uint32_t column = 0,
                      location where = location::current()) const {
        static_assert(N == registers_of_shape(Shape) * isa::token_count_of(Num),
                      "PTXDSL-I09: this shape and repeat store another number of registers (a 16x128b repeat has two, "
                      "16x256b four, the others one)");
        check_access<V>(view, columns_of_shape(Shape) * isa::token_count_of(Num), column, where);
        using F = tc<tok::st, tok::sync, tok::aligned, Shape, Num, M..., tok::b32>;
        require<F>();
        effect<F>(ctx(), where, moved(static_cast<V&&>(view), column), r.as_raw());
    }
    /// `tcgen05.st.sync.aligned.16x32bx2.NUM{.unpack::16b}.b32 [address], Half, {r…};`
    template <tok Num, unsigned Half, tok... M, tmem_view_type V, class T, unsigned N>
    constexpr auto st_16x32bx2(V view, const tmem_registers<T, N>& r, std::uint32_t column = 0,
                               location where = location::current()) const {
        static_assert(N == isa::token_count_of(Num), "PTXDSL-I09: 16x32bx2 stores one register a repeat");
        check_access<V>(view, Half + N, column, where);
        using F = tc<tok::st, tok::sync, tok::aligned, tok::_16x32bx2, Num, M..., tok::b32>;
        require<F>();
        effect<F>(ctx(), where, moved(static_cast<V&&>(view), column), operand<u32>(Half, where), r.as_raw());
    }
    /// Declares registers for `st`. Emits nothing.
    template <class T, unsigned N>
    constexpr tmem_registers<T, N> make_registers(string_view name = "t") const {
        static_assert(bits_of<T> == 32, "PTXDSL-I09: tensor memory moves 32-bit registers; f16 pairs are b32 or f16x2");
        return {*p_, p_->new_regs(scalar_of<T>, N, name)};
    }
    /// `tcgen05.wait::ld.sync.aligned;` The registers of all loads before it are there.
    constexpr auto wait_ld(location where = location::current()) const {
        plain<tok::wait__ld, tok::sync, tok::aligned>(where);
    }
    /// `tcgen05.wait::st.sync.aligned;` The stores before it are done.
    constexpr auto wait_st(location where = location::current()) const {
        plain<tok::wait__st, tok::sync, tok::aligned>(where);
    }

    /// `tcgen05.cp.cta_group::G.SHAPE{.MULTICAST}{.b8x16.FORMAT} [to], descriptor;` — `k.tcgen05.cp<px::shape_32x128b,
    /// px::warpx4>(scales, d)`; formats: `px::b8x16, px::b6x16_p32`. One thread executes it; it is done when a later
    /// `commit` arrives.
    template <tok Shape, tok... M, tmem_view_type V, class Tile>
    constexpr auto cp(V to, matrix_descriptor<Tile> from, location where = location::current()) const {
        static_assert(
            V::lanes == tmem_lanes::all,
            "PTXDSL-I10: tcgen05.cp writes all lanes; take the view from the allocation, not from a warp's quarter");
        static_assert(V::columns >= columns_of_copy(Shape),
                      "PTXDSL-I07: this copy writes more columns than the view has (256b: 8, 128b: 4)");
        using F = tc<tok::cp, V::group, Shape, M...>;
        require<F>();
        note_read(from.region());
        p_->read_otherwise(from.region().allocation);
        effect<F>(ctx(), where, to.as_raw(), from.as_raw());
    }
    /// `tcgen05.shift.cta_group::G.down [address];` Moves 32-byte rows of a column one lane down.
    template <tmem_view_type V>
    constexpr auto shift(V at, location where = location::current()) const {
        static_assert(V::lanes == tmem_lanes::all,
                      "PTXDSL-I10: tcgen05.shift moves all lanes; take the view from the allocation");
        using F = tc<tok::shift, V::group, tok::down>;
        require<F>();
        effect<F>(ctx(), where, at.as_raw());
    }

    // ---- multiply (9.7.16.10)
    // ---------------------------------------------------------------------------------------------

    /// Descriptor of stage 0 of a shared tile (9.7.16.4.1). Emits `shr.u32`, `and.b32`, `cvt.u64.u32`, `or.b64`; derive
    /// the others with
    /// `[slot]`, `stage`, `k_slice`, `row_slice`.
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(const shared_tile<Tile>& t,
                                                               location where = location::current()) const {
        require_tensor_memory<Tgt>();
        shared_region r = t.region();
        r.stage = 0;
        const matrix_bits d =
            descriptor_register<Tgt>(ctx(), r, tcgen05_descriptor_base(as_operand_layout(Tile::layout)), where);
        return {r, d.id, t.stages(), d.fresh};
    }
    template <class Tile>
    [[nodiscard]] constexpr matrix_descriptor<Tile> descriptor(tile_stage<Tile> t,
                                                               location where = location::current()) const {
        require_tensor_memory<Tgt>();
        const matrix_bits d = descriptor_register<Tgt>(ctx(), t.region(),
                                                       tcgen05_descriptor_base(as_operand_layout(Tile::layout)), where);
        return {t.region(), d.id, 1, d.fresh};
    }

    /// `tcgen05.mma.cta_group::G.kind::K{.M} [d], a, b, idesc, accumulate{, scale_input_d};` One thread executes it.
    /// `a`: a descriptor or a tensor-memory operand; `b`: a descriptor. Kind and instruction descriptor come from the
    /// types. `accumulate`: false starts at zero, a predicate decides at run time. `M`: `px::collector_a_fill` …,
    /// `px::ashift`. PTX ISA 9.7.16.10.9.1.
    template <tok... M, class D, class A, class B>
        requires(!tmem_scales_type<B>)
    constexpr auto mma(D d, A a, B b, scale_d accumulate, const mma_options& o = {},
                       location where = location::current()) const {
        if constexpr (is_product<D, A, B>()) {
            using P = planned<D, A, B, void, tok::none, false, false>;
            using F = tc_if<tok::mma, D::group, kind_token(P::p.kind), M...>;
            if constexpr (check<P, F>()) {
                note_read(a), note_read(b);
                read_rows(a, D::m / group_number(D::group), where), read_rows(b, D::n / group_number(D::group), where);
                write_columns(d, accumulate, where);
                raw_operand list[6] = {d.as_raw(), a.as_raw(), b.as_raw(), idesc(P::p, o, where), accumulate.o};
                emit(*p_, ref<F>(), guard_, where, list, scaled(list, 5, P::p, o, where));
            }
        }
    }
    /// The same with lanes of D that stay as they are: `{m0…m3}` (with a pair `{m0…m7}`), bit i of word w: lane 32 w +
    /// i.
    template <tok... M, class D, class A, class B, unsigned N>
    constexpr auto mma(D d, A a, B b, scale_d accumulate, vec<b32, N> disable_output_lane, const mma_options& o = {},
                       location where = location::current()) const {
        if constexpr (is_product<D, A, B>()) {
            static_assert(N == 4 * group_number(D::group),
                          "PTXDSL-I09: the mask of output lanes has four registers with cta_group::1, eight with ::2");
            using P = planned<D, A, B, void, tok::none, false, false>;
            using F = tc_if<tok::mma, D::group, kind_token(P::p.kind), M...>;
            if constexpr (check<P, F>()) {
                note_read(a), note_read(b);
                read_rows(a, D::m / group_number(D::group), where), read_rows(b, D::n / group_number(D::group), where);
                write_columns(d, accumulate, where);
                raw_operand list[7] = {d.as_raw(),
                                       a.as_raw(),
                                       b.as_raw(),
                                       idesc(P::p, o, where),
                                       vector_operand(static_cast<vec<b32, N>&&>(disable_output_lane)),
                                       accumulate.o};
                emit(*p_, ref<F>(), guard_, where, list, scaled(list, 6, P::p, o, where));
            }
        }
    }
    /// `tcgen05.mma.cta_group::G.kind::K.block_scale.V{.M} [d], a, b, idesc, [scale_a], [scale_b], accumulate;` Kind
    /// and block size follow from the element and scale types; `px::block16`, `px::block32` spell the size otherwise
    /// (PTX 8.8).
    template <tok... M, class D, class A, class B, tmem_scales_type SA, tmem_scales_type SB>
    constexpr auto mma(D d, A a, B b, SA scale_a, SB scale_b, scale_d accumulate, const mma_options& o = {},
                       location where = location::current()) const {
        block<false, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), scale_a, scale_b, accumulate,
                           o, where);
    }
    /// `tcgen05.mma.sp.cta_group::G.kind::K{.M} [d], a, b, [metadata], idesc, accumulate{, scale_input_d};` A is 2:4
    /// compressed: half of B's columns.
    template <tok... M, class D, class A, class B, tmem_view_type E>
    constexpr auto mma_sp(D d, A a, B b, E metadata, scale_d accumulate, const mma_options& o = {},
                          location where = location::current()) const {
        if constexpr (is_product<D, A, B>()) {
            using P = planned<D, A, B, void, tok::none, true, false>;
            using F = tc_if<tok::mma, tok::sp, D::group, kind_token(P::p.kind), M...>;
            if constexpr (check<P, F>()) {
                note_read(a), note_read(b);
                read_rows(a, D::m / group_number(D::group), where), read_rows(b, D::n / group_number(D::group), where);
                write_columns(d, accumulate, where);
                raw_operand list[7] = {d.as_raw(),  a.as_raw(), b.as_raw(), metadata.as_raw(), idesc(P::p, o, where),
                                       accumulate.o};
                emit(*p_, ref<F>(), guard_, where, list, scaled(list, 6, P::p, o, where));
            }
        }
    }
    /// The sparse form with block scales: `[d], a, b, [metadata], idesc, [scale_a], [scale_b], accumulate`.
    template <tok... M, class D, class A, class B, tmem_view_type E, tmem_scales_type SA, tmem_scales_type SB>
    constexpr auto mma_sp(D d, A a, B b, E metadata, SA scale_a, SB scale_b, scale_d accumulate,
                          const mma_options& o = {}, location where = location::current()) const {
        block<true, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), scale_a, scale_b, accumulate,
                          o, where, metadata.as_raw());
    }
    /// `tcgen05.mma.ws.cta_group::1.kind::K{.collector::bN::…} [d], a, b, idesc, accumulate{, zero_columns};`
    /// Weight-stationary: B stays in one of four buffers. D is a `ws_accumulator`. `zero_columns`: a descriptor of
    /// columns of B that count as zero.
    template <tok... M, class D, class A, class B>
    constexpr auto mma_ws(D d, A a, B b, scale_d accumulate, const mma_options& o = {},
                          location where = location::current()) const {
        ws<tok::none, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), nullptr, accumulate, nullptr,
                            o, where);
    }
    template <tok... M, class D, class A, class B, class Z>
        requires traits<Z>::is_reg
    constexpr auto mma_ws(D d, A a, B b, scale_d accumulate, Z&& zero_columns, const mma_options& o = {},
                          location where = location::current()) const {
        const raw_operand zero = as_operand<u64>(static_cast<Z&&>(zero_columns), where);
        ws<tok::none, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), nullptr, accumulate, &zero,
                            o, where);
    }
    /// `tcgen05.mma.ws.sp.cta_group::1.kind::K{.collector::bN::…} [d], a, b, [metadata], idesc, accumulate{,
    /// zero_columns};`
    template <tok... M, class D, class A, class B, tmem_view_type E>
    constexpr auto mma_ws_sp(D d, A a, B b, E metadata, scale_d accumulate, const mma_options& o = {},
                             location where = location::current()) const {
        const raw_operand e = metadata.as_raw();
        ws<tok::sp, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), &e, accumulate, nullptr, o,
                          where);
    }
    template <tok... M, class D, class A, class B, tmem_view_type E, class Z>
        requires traits<Z>::is_reg
    constexpr auto mma_ws_sp(D d, A a, B b, E metadata, scale_d accumulate, Z&& zero_columns, const mma_options& o = {},
                             location where = location::current()) const {
        const raw_operand e = metadata.as_raw(), zero = as_operand<u64>(static_cast<Z&&>(zero_columns), where);
        ws<tok::sp, M...>(static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), &e, accumulate, &zero, o,
                          where);
    }
    /// All K steps of a pair of tiles: one `tcgen05.mma` a step, and one `add.s64` for each further step of a
    /// descriptor. `first` decides whether the first step accumulates (false, or a predicate that is false in the first
    /// round); the others do (I14).
    template <tok... M, class D, class TileA, class TileB>
    constexpr auto multiply(D d, matrix_descriptor<TileA> a, matrix_descriptor<TileB> b, scale_d first,
                            const mma_options& o = {}, location where = location::current()) const {
        ir::span nested[] = {d.as_raw().fresh, a.as_raw().fresh, b.as_raw().fresh, first.o.fresh};
        settle_spans(*p_, nested, 4, where);
        first.o.fresh = {};
        const D to = d;  // NOLINT(performance-unnecessary-copy-initialization): a copy has a name
        for (u32 i = 0; i < TileB::layout.k_slices(); ++i)
            mma<M...>(D(to), a.k_slice(i, where), b.k_slice(i, where), i == 0 ? first : scale_d(true), o, where);
    }

    // ---- completion and order (9.7.16.11)
    // ---------------------------------------------------------------------------------

    /// `tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster.b64 [bar];` —
    /// `k.tcgen05.commit<px::cta_group_2>(bar)`. Arrives once on `bar` when the mma, cp and shift of this thread before
    /// it are done.
    template <tok Group = tok::cta_group__1, class R>
    constexpr auto commit(mbarrier<R> bar, location where = location::current()) const {
        using F = tc<tok::commit, Group, tok::mbarrier__arrive__one, tok::shared__cluster, tok::b64>;
        require<F>();
        p_->note_next(ir::note::barrier_arrive, bar.region().allocation, bar.region().stage, 1, 0);
        effect<F>(ctx(), where, address_operand_of(bar.region()));
    }
    /// `tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], mask;` Arrives
    /// on the barrier at the same offset in every block of `mask`. A literal mask costs one `mov.u16`.
    template <tok Group = tok::cta_group__2, class R, class K>
    constexpr auto commit_multicast(mbarrier<R> bar, K&& mask, location where = location::current()) const {
        using F =
            tc<tok::commit, Group, tok::mbarrier__arrive__one, tok::shared__cluster, tok::multicast__cluster, tok::b64>;
        require<F>();
        operand<u16> m = as_operand<u16>(static_cast<K&&>(mask), where);
        if (m.is_literal()) {
            check_mask<Group>(static_cast<std::uint32_t>(ir::small_value(m.words[0])), where);
            const std::uint32_t dst = p_->new_reg(isa::scalar::u16, "mask");
            emit_mov<isa::scalar::u16>(*p_, dst, m, where);
            m = operand<u16>(reg<u16>(*p_, dst), where);
        }
        p_->note_next(ir::note::barrier_arrive, bar.region().allocation, bar.region().stage, 1, 8);
        effect<F>(ctx(), where, address_operand_of(bar.region()), m);
    }
    /// `tcgen05.fence::before_thread_sync;` Orders this thread's tcgen05 operations before what it does to tell others.
    constexpr auto fence_before_thread_sync(location where = location::current()) const {
        plain<tok::fence__before_thread_sync>(where);
    }
    /// `tcgen05.fence::after_thread_sync;` Orders tcgen05 operations behind what this thread has learned from others.
    constexpr auto fence_after_thread_sync(location where = location::current()) const {
        plain<tok::fence__after_thread_sync>(where);
    }
    /// Waits for a phase that a `commit` completes, and makes what it covers visible. Emits the loop of `k.wait`, then
    /// `tcgen05.fence::after_thread_sync`.
    template <tok... M, class R, class P>
    constexpr auto wait(mbarrier<R> bar, P&& parity, location where = location::current()) const {
        require_tensor_memory<Tgt>();
        builder<Tgt>(*p_, guard_).template wait<M...>(static_cast<mbarrier<R>&&>(bar), static_cast<P&&>(parity), where);
        fence_after_thread_sync(where);
    }

    // What takes something else, with its sentence.
    template <class D = void>
    constexpr auto descriptor(anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: a matrix descriptor is that of a tile or of one stage: k.tcgen05.descriptor(a), k.tcgen05.descriptor(a[i])");
    }
    template <class D = void>
    constexpr auto mma(anything = {}, anything = {}, anything = {}, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.mma takes an accumulator in tensor memory, A, the descriptor of B, and whether it accumulates: true, false or a predicate");
    }
    template <class D = void>
    constexpr auto multiply(anything = {}, anything = {}, anything = {}, anything = {}, anything = {},
                            anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.multiply takes an accumulator in tensor memory, two descriptors, and whether the first step accumulates: true, false or a predicate");
    }
    template <class D = void>
    constexpr auto commit(anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>, "PTXDSL-A14: tcgen05.commit takes one barrier: k.tcgen05.commit(done[0])");
    }
    template <class D = void>
    constexpr auto commit_multicast(anything = {}, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.commit_multicast takes one barrier and a mask of blocks: k.tcgen05.commit_multicast(empty[i], mask)");
    }
    template <class D = void>
    constexpr auto wait(anything = {}, anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.wait takes one barrier of this block and the parity of its phase: k.tcgen05.wait(done[0], parity)");
    }
    template <class D = void>
    constexpr auto alloc(anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.alloc takes the slot that receives the address: k.tcgen05.alloc(slot), slot from k.tcgen05.make_slot<Columns>()");
    }
    template <class D = void>
    constexpr auto load(anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: tcgen05.load takes the slot that received the address: k.tcgen05.load(slot)");
    }
    template <class D = void>
    constexpr auto relinquish_alloc_permit(anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.relinquish_alloc_permit takes the slot that was allocated: k.tcgen05.relinquish_alloc_permit(slot)");
    }
    template <class D = void>
    constexpr auto dealloc(anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.dealloc takes the allocation: k.tcgen05.dealloc(memory), memory from k.tcgen05.load(slot)");
    }
    template <class D = void>
    constexpr auto quarter(anything = {}, anything = {}, anything = {}) const {
        static_assert(
            always_false<D>,
            "PTXDSL-A14: tcgen05.quarter takes the allocation and the number of the warp: k.tcgen05.quarter(memory, warp)");
    }
    template <tok Shape, tok Num, tok... M, class D = void>
    constexpr auto ld(anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: tcgen05.ld takes a view of a warp's quarter of tensor memory: "
                      "k.tcgen05.quarter(memory, warp).accumulator<px::f32, M, N>()");
    }
    template <tok Shape, tok Num, tok... M, class D = void>
    constexpr auto st(anything = {}, anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: tcgen05.st takes a view of a warp's quarter of tensor memory and the registers of "
                      "k.tcgen05.ld or k.tcgen05.make_registers<T, N>()");
    }
    template <tok Shape, tok... M, class D = void>
    constexpr auto cp(anything = {}, anything = {}, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: tcgen05.cp takes a view of tensor memory and the descriptor of a tile: "
                      "k.tcgen05.cp<px::shape_32x128b, px::warpx4>(scales, k.tcgen05.descriptor(tile))");
    }

private:
    /// What the types of one multiplication say.
    struct plan {
        tcgen05_kind kind{};
        bool known = false, group_fits = false, lanes_fit = false, shape = false, extents = false, whole_b = false,
             depth = false, widths = false;
        bool a_major = false;
        tile_error a_tile = tile_error::ok, b_tile = tile_error::ok;
        tcgen05_error error = tcgen05_error::ok;
        tcgen05_instruction i{};
    };

    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    template <tok... Toks>
    constexpr auto plain(location where) const {
        using F = tc<Toks...>;
        require<F>();
        effect<F>(ctx(), where);
    }
    template <class V>
    [[nodiscard]] static constexpr raw_operand moved(V&& view, std::uint32_t column) noexcept {
        raw_operand o = view.as_raw();
        o.words[2] += column;
        return o;
    }
    /// I07, I10 of a load or store.
    template <class V>
    constexpr auto check_access(const V& view, std::uint32_t width, std::uint32_t column, location where) const {
        static_assert(V::lanes == tmem_lanes::quarter,
                      "PTXDSL-I10: a warp reads and writes the 32 lanes of its quarter only; take the view from "
                      "k.tcgen05.quarter(memory, warp)");
        if (view.warp() != 0) p_->note_next(ir::note::warp_number, view.warp(), view.warp_location());
        if (column + width > V::columns)
            p_->report("I07", where,
                       {"columns ", column, " to ", column + width - 1, " of a tensor-memory view of ",
                        std::uint32_t{V::columns}});
    }
    constexpr auto note_read(const shared_region& r) const {
        if (r.allocation != ir::unknown_count) p_->note_next(ir::note::tile_async_read, r.allocation, r.stage);
    }
    template <class Tile>
    constexpr auto note_read(const matrix_descriptor<Tile>& d) const {
        note_read(d.region());
    }
    constexpr auto note_read(const tmem_address&) const noexcept {}
    template <class Tile>
    constexpr auto read_rows(const matrix_descriptor<Tile>& d, std::uint32_t rows, location where) const {
        d.reads(rows, true, where);
    }
    constexpr auto read_rows(const tmem_address&, std::uint32_t, location) const noexcept {}
    /// I07: an accumulator that begins anew in columns of another one, whose result nobody can have read: nothing waits
    /// between them, in one body of a branch or loop.
    template <class D>
    constexpr auto write_columns(const D& d, const scale_d& accumulate, location where) const {
        const std::uint32_t first = d.offset() & 0xffffu, end = first + D::columns;
        const bool adds = accumulate.o.words[0] == ir::head(ir::operand_kind::small_int, 1);
        for (ir::column_range& c : p_->columns_written) {
            if (c.base != d.id() || c.body != p_->body_begin) continue;
            if (c.begin == first && c.end == end) {
                c.word = p_->words.size();
                return;
            }
            if (!adds && c.begin < end && first < c.end && !waits_since(c.word))
                p_->report("I07", where,
                           {"this accumulator, columns ", first, " to ", end - 1, ", begins anew in columns ", c.begin,
                            " to ", c.end - 1, " of line ", p_->locations[c.where].line(),
                            ", whose result nobody has read: give each its own, accumulator<T, M, N, Column>"});
        }
        p_->columns_written.push_back({d.id(), first, end, p_->body_begin, p_->words.size(), p_->new_location(where)});
    }
    /// Whether something from this word on waits for others, or branches.
    [[nodiscard]] constexpr bool waits_since(std::uint32_t word) const {
        for (std::uint32_t at = word; at < p_->words.size(); at += ir::cursor{&p_->words[at]}.size()) {
            const ir::cursor c{&p_->words[at]};
            if (c.kind() == ir::record::region) return true;
            if (!c.is_instruction()) continue;
            const tok what = static_cast<tok>(c.token(0));
            if (what == tok::barrier || what == tok::bar) return true;
            if (what != tok::mbarrier) continue;
            const tok how = static_cast<tok>(c.token(1));
            if (how == tok::try_wait || how == tok::test_wait) return true;
        }
        return false;
    }
    /// I13
    template <tok Group>
    constexpr auto check_pair(location where) const {
        const std::uint32_t blocks = p_->attrs.cluster.given() ? p_->attrs.cluster.count() : 0;
        if (Group == tok::cta_group__2 && blocks % 2 != 0)
            p_->report("I13", where,
                       {"cta_group::2 works on pairs of blocks, but this kernel declares a cluster of ", blocks});
    }
    template <tok Group>
    constexpr auto check_mask(std::uint32_t mask, location where) const {
        const std::uint32_t blocks = p_->attrs.cluster.given() ? p_->attrs.cluster.count() : 16;
        if (mask == 0 || mask >> blocks != 0)
            p_->report("I13", where, {"commit mask ", mask, " names blocks outside a cluster of ", blocks});
        if (Group == tok::cta_group__2 && ((mask ^ mask >> 1) & 0x5555u) != 0)
            p_->report(
                "I13", where,
                {"commit mask ", mask, " leaves out one block of a pair, whose shared memory the mma reads as well"});
    }
    /// Whether the three operands are what they should be; the sentence otherwise.
    template <class D, class A, class B>
    static constexpr bool is_product() noexcept {
        constexpr bool d = tmem_accumulator_type<D>, a = is_descriptor<A> || tmem_operand_type<A>, b = is_descriptor<B>;
        static_assert(
            d, "PTXDSL-I07: D of tcgen05.mma is an accumulator in tensor memory: memory.accumulator<px::f32, M, N>()");
        static_assert(!d || a,
                      "PTXDSL-I04: A of tcgen05.mma is the descriptor of a shared tile, k.tcgen05.descriptor(tile), or "
                      "a tensor-memory operand");
        static_assert(!d || !a || b,
                      "PTXDSL-I04: B of tcgen05.mma is the descriptor of a shared tile, k.tcgen05.descriptor(tile)");
        if constexpr (d && a && b) require_tensor_memory<Tgt>();
        return d && a && b;
    }
    template <class X>
    [[nodiscard]] static constexpr tile_layout layout_of() noexcept {
        if constexpr (is_descriptor<X>)
            return as_operand_layout(X::tile_type::layout);
        else
            return as_operand_layout(X::layout);
    }
    template <class X>
    [[nodiscard]] static constexpr u32 rows_of() noexcept {
        if constexpr (is_descriptor<X>)
            return X::tile_type::rows;
        else
            return X::rows;
    }
    template <class D, class A, class B, class S, tok Vec, bool Sparse, bool Ws>
    [[nodiscard]] static constexpr plan plan_of() noexcept {
        constexpr tile_layout a = layout_of<A>(), b = layout_of<B>();
        constexpr bool in_tmem = tmem_operand_type<A>;
        isa::scalar scale = isa::scalar::none;
        if constexpr (!meta::is_void_v<S>) scale = scalar_of<typename S::value_type>;
        constexpr u32 pair = group_number(D::group);
        plan p;
        p.known = kind_of_types(a, b, scale, Vec, p.kind);
        p.group_fits = true;
        if constexpr (in_tmem) p.group_fits = A::group == D::group;
        if constexpr (!meta::is_void_v<S>) p.group_fits = p.group_fits && S::group == D::group;
        p.lanes_fit = D::lanes == tmem_lanes::all;
        if constexpr (in_tmem) p.lanes_fit = p.lanes_fit && A::lanes == tmem_lanes::all;
        p.i = instruction_of(p.kind, scalar_of<typename D::value_type>, a, b, D::m, D::n, scale);
        p.i.sparse = Sparse;
        p.error = instruction_error(p.i);
        p.shape = has_shape(p.kind, {pair, Sparse, in_tmem, Ws}, D::m, D::n) ||
                  (requires { D::shape_assumed; } && D::n % 8 == 0 && D::n >= 8 && D::n <= 256 &&
                   (D::m == 64 * pair || D::m == 128 * pair || D::m == 32));
        if (!in_tmem) p.a_tile = operand_error(a, sm_100a);
        p.b_tile = operand_error(b, sm_100a);
        p.a_major = !in_tmem || a.order == k_major;
        p.extents = rows_of<A>() % (D::m / pair) == 0 && rows_of<B>() % (D::n / pair) == 0;
        p.whole_b = pair == 2 && rows_of<B>() == D::n;
        p.depth = elements(a) * (Sparse ? 2 : 1) == elements(b);
        p.widths = D::weight_stationary == Ws;
        return p;
    }
    /// The plan behind a type, whose name in a message is short.
    template <class D, class A, class B, class S, tok Vec, bool Sparse, bool Ws>
    struct planned {
        static constexpr plan p = plan_of<D, A, B, S, Vec, Sparse, Ws>();
    };
    /// K elements of an operand tile; pairs count two.
    [[nodiscard]] static constexpr u32 elements(const tile_layout& t) noexcept {
        return t.cols * (t.element == isa::scalar::e2m1x2 ? 2 : 1);
    }

    /// The rules of one multiplication, a sentence each. True: it may be emitted.
    template <class Planned, class F>
    static constexpr bool check() noexcept {
        constexpr const plan& p = Planned::p;
        static_assert(p.group_fits,
                      "PTXDSL-I01: D, A and scales of one tcgen05.mma lie in tensor memory of different cta_group");
        static_assert(p.lanes_fit,
                      "PTXDSL-I10: tcgen05.mma works on all lanes; take its operands from the allocation, not from a "
                      "warp's quarter");
        static_assert(p.known,
                      "PTXDSL-I04: packed 4-bit elements need block scales (kinds mxf4, mxf4nvf4); "
                      "px::in_bytes<px::e2m1> tiles go without");
        static_assert(p.error != tcgen05_error::operand_type,
                      "PTXDSL-I04: no kind of tcgen05.mma multiplies these element types (f16xf16, bf16xbf16, "
                      "tf32xtf32, mixes of 8-, 6- and 4-bit floats, mixes of s8 and u8)");
        static_assert(p.error != tcgen05_error::result_type,
                      "PTXDSL-I04: this kind of tcgen05.mma does not accumulate in this type (integers: s32; "
                      "f16 and 8-bit floats: f16 or f32; all others: f32)");
        static_assert(p.error != tcgen05_error::scale_type,
                      "PTXDSL-I04: block scales are ue8m0, or ue4m3 with packed 4-bit elements");
        static_assert(p.error != tcgen05_error::operand_major && p.a_tile != tile_error::mn_major_type &&
                          p.b_tile != tile_error::mn_major_type,
                      "PTXDSL-C06: tcgen05.mma reads packed 4-bit elements K-major only; make this tile K-major");
        constexpr bool types =
            p.known && p.error != tcgen05_error::operand_type && p.error != tcgen05_error::result_type;
        static_assert(
            !types || (usable(p.a_tile) && usable(p.b_tile)),
            "PTXDSL-C02: the tensor core reads no such tile: its contiguous row is the swizzle span or a multiple of "
            "it, its strided extent a "
            "multiple of 8, MN-major tf32 has the 128-byte swizzle of 32-byte atoms, and no tile is a plain array");
        static_assert(p.widths,
                      "PTXDSL-I05: tcgen05.mma.ws accumulates in memory.ws_accumulator<…>(), the other forms in "
                      "memory.accumulator<…>()");
        static_assert(!types || !p.widths || p.shape,
                      "PTXDSL-I05: this kind, form and cta_group of tcgen05.mma has no instruction of this M and N "
                      "(docs/misuse/I05.md "
                      "has the table)");
        static_assert(!p.whole_b,
                      "PTXDSL-I15: with cta_group::2 each block of the pair loads half of B, a tile of N/2 rows; a box "
                      "of N rows brings "
                      "twice the bytes");
        static_assert(
            p.whole_b || p.extents,
            "PTXDSL-I05: A has M rows and B has N rows (half of each in a block of a pair); were the tiles swapped?");
        static_assert(p.depth, "PTXDSL-I05: A and B have different K extents (a sparse A has half of B's)");
        using status = isa::verdict::status;
        static_assert(F::verdict.st != status::bad_modifiers,
                      "PTXDSL-A15: tcgen05.mma of this kind has no such modifiers (collectors of A, px::ashift with A "
                      "in tensor memory; block16 and block32 with block scales)");
        return p.group_fits && p.lanes_fit && types && p.error == tcgen05_error::ok && p.shape && p.extents &&
               p.depth && p.widths && F::verdict.ok();
    }
    [[nodiscard]] static constexpr bool usable(tile_error e) noexcept {
        return e == tile_error::ok || e == tile_error::mn_major_type || e == tile_error::element_type;
    }

    /// The instruction descriptor as a literal.
    constexpr raw_operand idesc(const plan& p, const mma_options& o, location where) const {
        tcgen05_instruction i = p.i;
        i.negate_a = o.negate_a, i.negate_b = o.negate_b, i.saturate = o.saturate;
        i.sparsity_selector = o.sparsity_selector, i.max_shift = o.max_shift, i.scale_a_id = o.scale_a_id,
        i.scale_b_id = o.scale_b_id;
        if (instruction_error(i) != tcgen05_error::ok)
            p_->report("I06", where,
                       {"the instruction descriptor of this kind has no such option: saturation is of i8, negation of "
                        "floats, selectors "
                        "of sparse forms, scale ids of block scales"});
        return operand<u32>(instruction_descriptor(i), where);
    }
    /// Appends scale-input-d where it is asked for.
    constexpr std::uint32_t scaled(raw_operand* list, std::uint32_t n, const plan& p, const mma_options& o,
                                   location where) const {
        if (o.scale_input_d == 0) return n;
        if (o.scale_input_d > 15 || (p.kind != tcgen05_kind::f16 && p.kind != tcgen05_kind::tf32))
            p_->report("I06", where, {"scale_input_d is 1 to 15, and of kinds f16 and tf32"});
        list[n] = operand<u32>(std::uint32_t{o.scale_input_d}, where);
        return n + 1;
    }
    template <bool Sparse, tok... M, class D, class A, class B, class SA, class SB, class... E>
    constexpr auto block(D d, A a, B b, const SA& scale_a, const SB& scale_b, const scale_d& accumulate,
                         const mma_options& o, location where, const E&... metadata) const {
        if constexpr (is_product<D, A, B>()) {
            using P = planned<D, A, B, SA, scale_vector_of<M...>, Sparse, false>;
            constexpr bool same =
                meta::is_same_v<typename SA::value_type, typename SB::value_type> && SA::group == SB::group;
            static_assert(same, "PTXDSL-I04: the scales of A and B have one type and one cta_group");
            static_assert(SB::rows >= D::n && SA::rows >= D::m / group_number(D::group),
                          "PTXDSL-I04: there is a scale for each row of A in this block, and for each row of B (with a "
                          "pair: of both halves)");
            constexpr tok vec = scale_vector_of<M...> == tok::none ? scale_vector(P::p.kind) : tok::none;
            using F = tc_if<tok::mma, Sparse ? tok::sp : tok::none, D::group, kind_token(P::p.kind), tok::block_scale,
                            vec, M...>;
            if constexpr (check<P, F>()) {
                note_read(a), note_read(b);
                read_rows(a, D::m / group_number(D::group), where), read_rows(b, D::n / group_number(D::group), where);
                write_columns(d, accumulate, where);
                const raw_operand list[] = {
                    d.as_raw(),       a.as_raw(),       b.as_raw(),  metadata..., idesc(P::p, o, where),
                    scale_a.as_raw(), scale_b.as_raw(), accumulate.o};
                emit(*p_, ref<F>(), guard_, where, list, 7 + sizeof...(E));
            }
        }
    }
    template <tok Sp, tok... M, class D, class A, class B>
    constexpr auto ws(D d, A a, B b, const raw_operand* metadata, const scale_d& accumulate, const raw_operand* zero,
                      const mma_options& o, location where) const {
        if constexpr (is_product<D, A, B>()) {
            using P = planned<D, A, B, void, tok::none, Sp == tok::sp, true>;
            using F = tc_if<tok::mma, tok::ws, Sp, D::group, kind_token(P::p.kind), M...>;
            if constexpr (check<P, F>()) {
                note_read(a), note_read(b);
                read_rows(a, D::m / group_number(D::group), where), read_rows(b, D::n / group_number(D::group), where);
                write_columns(d, accumulate, where);
                raw_operand list[7] = {d.as_raw(), a.as_raw(), b.as_raw()};
                std::uint32_t n = 3;
                if (metadata != nullptr) list[n++] = *metadata;
                list[n++] = idesc(P::p, o, where);
                list[n++] = accumulate.o;
                if (zero != nullptr) list[n++] = *zero;
                emit(*p_, ref<F>(), guard_, where, list, n);
            }
        }
    }

    ir::program* p_;
    std::uint32_t guard_;
};

}  // namespace detail
}  // namespace ptxdsl
