// SPDX-License-Identifier: Apache-2.0
// Descriptors of `tcgen05.mma` (sm_100a) as arithmetic: the 64-bit shared-memory descriptor of an operand tile (PTX
// ISA 9.0, 9.7.16.4.1) and the 32-bit instruction descriptor of a matrix multiplication (9.7.16.4.2). Both come from
// types and shapes alone, in constant evaluation or at run time. No instruction is emitted here.
#pragma once

#include <ptxdsl/dsl/tile.hpp>

namespace ptxdsl {

// ---- shared-memory descriptor ---------------------------------------------------------------------------------------

/// Swizzle code of a tcgen05 descriptor, bits 61-63.
[[nodiscard]] constexpr u64 tcgen05_swizzle_code(swizzle_mode s) noexcept {
    switch (s) {
        case swizzle_mode::b128_base32: return 1;
        case swizzle_mode::b128: return 2;
        case swizzle_mode::b64: return 4;
        case swizzle_mode::b32: return 6;
        case swizzle_mode::none:
        case swizzle_mode::cores: break;
    }
    return 0;
}

/// The constant part of a tcgen05 shared-memory descriptor: everything but the start address. The descriptor of a
/// slice is `tcgen05_descriptor_base(t) | descriptor_field(address + slice)`, for a base aligned to `t.alignment()`.
/// `pattern_start` as for `wgmma_descriptor_base`. The leading stride is a relative one (bit 52 stays 0): the absolute
/// mode serves 48-byte K steps, which sm_100a has not.
[[nodiscard]] constexpr u64 tcgen05_descriptor_base(const tile_layout& t, u32 pattern_start = 0) noexcept {
    const descriptor_strides s = strides_of(t);
    constexpr u64 version = 0b001;  // fixed value of bits 46-48
    return descriptor_field(s.leading) << 16 | descriptor_field(s.stride) << 32 | version << 46 |
           static_cast<u64>((pattern_start >> 7) & 7u) << 49 | tcgen05_swizzle_code(t.swizzle) << 61;
}

/// A whole tcgen05 shared-memory descriptor, for a tile at shared-memory byte `address` and a slice `offset` bytes in.
[[nodiscard]] constexpr u64 tcgen05_descriptor(const tile_layout& t, u32 address, u32 offset = 0) noexcept {
    return tcgen05_descriptor_base(t) | descriptor_field(address + offset);
}

// ---- instruction descriptor -----------------------------------------------------------------------------------------

/// The `.kind` of a `tcgen05.mma`.
enum class tcgen05_kind : u8 { tf32, f16, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

/// Spelling in PTX, after `.kind::`.
[[nodiscard]] constexpr string_view name(tcgen05_kind k) noexcept {
    constexpr string_view names[] = {"tf32"_sv,     "f16"_sv,  "f8f6f4"_sv,  "i8"_sv,
                                     "mxf8f6f4"_sv, "mxf4"_sv, "mxf4nvf4"_sv};
    return names[static_cast<unsigned>(k)];
}

/// Whether the kind multiplies by block scales from tensor memory.
[[nodiscard]] constexpr bool is_block_scaled(tcgen05_kind k) noexcept { return k >= tcgen05_kind::mxf8f6f4; }
/// Whether the kind reads e2m1 pairs packed into bytes, instead of one element a byte.
[[nodiscard]] constexpr bool is_packed_fp4(tcgen05_kind k) noexcept { return k >= tcgen05_kind::mxf4; }

/// K elements one instruction consumes; with sparsity those of B, half of which A stores.
[[nodiscard]] constexpr u32 k_extent(tcgen05_kind k, bool sparse = false) noexcept {
    const u32 dense = k == tcgen05_kind::tf32 ? 8 : k == tcgen05_kind::f16 ? 16 : is_packed_fp4(k) ? 64 : 32;
    return sparse ? 2 * dense : dense;
}

/// How many CTAs work on one `tcgen05.mma`, and which of its forms it is: what the shape depends on beside the kind.
struct tcgen05_form {
    u32 group = 1;  ///< `.cta_group`
    bool sparse = false;
    bool a_in_tmem = false;  ///< A in tensor memory
    bool weight_stationary = false;
};

/// I05: whether the kind has the shape M x N in this form (PTX ISA 9.7.16.2.1). Where the ISA and CUTLASS differ the
/// narrower set.
[[nodiscard]] constexpr bool has_shape(tcgen05_kind k, const tcgen05_form& f, u32 m, u32 n) noexcept {
    const auto steps = [n](u32 step) { return n != 0 && n % step == 0 && n <= 256; };
    const bool narrow = k == tcgen05_kind::f8f6f4, integer = k == tcgen05_kind::i8;
    if (f.weight_stationary)
        return f.group == 1 && (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256);
    if (is_block_scaled(k))
        return f.group == 1 ? m == 128 && steps(8) : (m == 256 || (m == 128 && is_packed_fp4(k))) && steps(16);
    if (f.group == 2) return (m == 128 || m == 256) && steps(f.a_in_tmem || integer || (narrow && f.sparse) ? 32 : 16);
    if (m == 64) return integer ? n == 8 || steps(16) : steps(8);
    return m == 128 && steps(16);
}

/// What an instruction descriptor says. Extents are elements. Fields that a kind has not stay at their defaults.
struct tcgen05_instruction {
    tcgen05_kind kind = tcgen05_kind::f16;
    isa::scalar d = isa::scalar::f32;
    isa::scalar a = isa::scalar::none;
    isa::scalar b = isa::scalar::none;
    isa::scalar scale = isa::scalar::none;  ///< type of the block scales
    major a_major = k_major;
    major b_major = k_major;
    bool negate_a = false;
    bool negate_b = false;
    bool saturate = false;  ///< i8 only
    bool sparse = false;
    u8 sparsity_selector = 0;  ///< 0..3, kinds without block scales
    u8 max_shift = 0;          ///< `.ws`: 0, 8, 16 or 32 columns of shift when a B buffer is reused
    u8 scale_a_id = 0;         ///< 0..3; 0 or 2 for packed fp4
    u8 scale_b_id = 0;
    u32 m = 0;
    u32 n = 0;

    constexpr bool operator==(const tcgen05_instruction&) const = default;
};

/// Why an instruction has no descriptor; `ok` when it has one.
enum class tcgen05_error : u8 {
    ok,
    operand_type,   ///< I04: the kind does not multiply this element type, or not this pair
    result_type,    ///< I04: the kind does not accumulate in this type
    scale_type,     ///< I04: block scales missing, of the wrong type, or given to a kind without
    operand_major,  ///< C06: MN-major for a type the kind reads K-major only
    shape,          ///< I05: M or N out of every range of the kind (cta_group narrows it further)
    modifier,       ///< saturate, negate, sparsity selector, shift or scale id that the kind has not
};

namespace detail {

inline constexpr u32 no_code = ~0u;

/// 3-bit code of an A or B element type, by kind; `no_code` when the kind does not read it.
[[nodiscard]] constexpr u32 tcgen05_operand_code(tcgen05_kind k, isa::scalar s) noexcept {
    using enum isa::scalar;
    const bool fp4 = s == e2m1 || s == e2m1x2;
    switch (k) {
        case tcgen05_kind::tf32: return s == tf32 ? 2 : no_code;
        case tcgen05_kind::f16: return s == f16 ? 0 : s == bf16 ? 1 : no_code;
        case tcgen05_kind::i8: return s == u8 ? 0 : s == s8 ? 1 : no_code;
        case tcgen05_kind::f8f6f4:
        case tcgen05_kind::mxf8f6f4:
            return s == e4m3 ? 0 : s == e5m2 ? 1 : s == e2m3 ? 3 : s == e3m2 ? 4 : s == e2m1 ? 5 : no_code;
        case tcgen05_kind::mxf4:
        case tcgen05_kind::mxf4nvf4: return fp4 ? 1 : no_code;
    }
    return no_code;
}

/// 2-bit code of the D type, by kind. Block-scaled kinds accumulate in f32 and have no such field.
[[nodiscard]] constexpr u32 tcgen05_result_code(tcgen05_kind k, isa::scalar s) noexcept {
    if (k == tcgen05_kind::i8) return s == isa::scalar::s32 ? 2 : no_code;
    if (s == isa::scalar::f32) return 1;
    const bool half = k == tcgen05_kind::f16 || k == tcgen05_kind::f8f6f4;
    return half && s == isa::scalar::f16 ? 0 : no_code;
}

[[nodiscard]] constexpr bool has_scale_type(const tcgen05_instruction& i) noexcept {
    if (!is_block_scaled(i.kind)) return i.scale == isa::scalar::none;
    return i.scale == isa::scalar::ue8m0 || (i.kind == tcgen05_kind::mxf4nvf4 && i.scale == isa::scalar::ue4m3);
}

/// Element types that may be MN-major in shared memory: 8 bits and more (PTX ISA 9.7.16.10.3).
[[nodiscard]] constexpr bool may_be_mn_major(isa::scalar s) noexcept {
    return s != isa::scalar::e2m1x2 && isa::bits(s) >= 8;
}

[[nodiscard]] constexpr bool has_shape(const tcgen05_instruction& i) noexcept {
    if (i.n == 0 || i.n > 256 || i.n % 8 != 0) return false;
    if (is_block_scaled(i.kind)) return i.m == 128 || i.m == 256;
    return i.m == 32 || i.m == 64 || i.m == 128 || i.m == 256;  // 32 in the `.ws` form
}

[[nodiscard]] constexpr bool has_modifiers(const tcgen05_instruction& i) noexcept {
    const bool scaled = is_block_scaled(i.kind), integer = i.kind == tcgen05_kind::i8;
    if (i.saturate && !integer) return false;
    if ((i.negate_a || i.negate_b) && integer) return false;
    if (i.sparsity_selector > 3 || (i.sparsity_selector != 0 && (scaled || !i.sparse))) return false;
    if (i.max_shift != 0 && (scaled || (i.max_shift != 8 && i.max_shift != 16 && i.max_shift != 32))) return false;
    const u32 ids = i.scale_a_id | u32{i.scale_b_id};
    if (!scaled) return ids == 0;
    return is_packed_fp4(i.kind) ? (ids & ~2u) == 0 : ids <= 3;
}

}  // namespace detail

/// I04, I06 and the part of I05 that the descriptor itself sees.
[[nodiscard]] constexpr tcgen05_error instruction_error(const tcgen05_instruction& i) noexcept {
    using detail::no_code;
    if (detail::tcgen05_operand_code(i.kind, i.a) == no_code || detail::tcgen05_operand_code(i.kind, i.b) == no_code)
        return tcgen05_error::operand_type;
    if (i.kind == tcgen05_kind::f16 && i.a != i.b) return tcgen05_error::operand_type;
    if (detail::tcgen05_result_code(i.kind, i.d) == no_code) return tcgen05_error::result_type;
    if (i.d == isa::scalar::f16 && i.a == isa::scalar::bf16) return tcgen05_error::result_type;
    if (!detail::has_scale_type(i)) return tcgen05_error::scale_type;
    if ((i.a_major == mn_major && !detail::may_be_mn_major(i.a)) ||
        (i.b_major == mn_major && !detail::may_be_mn_major(i.b)))
        return tcgen05_error::operand_major;
    if (!detail::has_shape(i)) return tcgen05_error::shape;
    return detail::has_modifiers(i) ? tcgen05_error::ok : tcgen05_error::modifier;
}

/// The 32-bit instruction descriptor of an instruction without error.
[[nodiscard]] constexpr u32 instruction_descriptor(const tcgen05_instruction& i) noexcept {
    const bool scaled = is_block_scaled(i.kind);
    // Common to all kinds.
    u32 bits = u32{i.sparse} << 2 | detail::tcgen05_operand_code(i.kind, i.a) << 7 |
               detail::tcgen05_operand_code(i.kind, i.b) << 10 | u32{i.negate_a} << 13 | u32{i.negate_b} << 14 |
               u32{i.a_major == mn_major} << 15 | u32{i.b_major == mn_major} << 16 | (i.n >> 3) << 17;
    if (scaled) {
        // M is counted in 128s from bit 27, which is where its 16s from bit 24 would put it.
        return bits | u32{i.scale_b_id} << 4 | u32{i.scale == isa::scalar::ue8m0} << 23 | (i.m >> 7) << 27 |
               u32{i.scale_a_id} << 29;
    }
    const u32 shift = i.max_shift == 0 ? 0u : i.max_shift == 8 ? 1u : i.max_shift == 16 ? 2u : 3u;
    return bits | i.sparsity_selector | u32{i.saturate} << 3 | detail::tcgen05_result_code(i.kind, i.d) << 4 |
           (i.m >> 4) << 24 | shift << 30;
}

/// The instruction that multiplies two operand tiles: element types and major-ness are the tiles'.
[[nodiscard]] constexpr tcgen05_instruction instruction_of(tcgen05_kind kind, isa::scalar d, const tile_layout& a,
                                                           const tile_layout& b, u32 m, u32 n,
                                                           isa::scalar scale = isa::scalar::none) noexcept {
    tcgen05_instruction i;
    i.kind = kind;
    i.d = d;
    i.a = a.element;
    i.b = b.element;
    i.scale = scale;
    i.a_major = a.order;
    i.b_major = b.order;
    i.m = m;
    i.n = n;
    return i;
}

}  // namespace ptxdsl
