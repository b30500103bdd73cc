// SPDX-License-Identifier: Apache-2.0
// Shared-memory tiles as arithmetic: the one place that knows how a (row, col) of a tile becomes a byte, a TMA box,
// and a matrix descriptor (PTX ISA 9.0: 5.5.7 swizzling modes, 9.7.15.5 shared-memory matrix layout of wgmma).
// Everything here is a plain function of a value, so it serves the type `tile<...>` in constant evaluation and a
// `tile_layout` chosen at run time alike. No instruction is emitted here.
#pragma once

#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/types.hpp>

namespace ptxdsl {

/// Which extent of an operand tile is contiguous in memory: K (`cols`), or M/N (`rows`).
enum class major : u8 { k, mn };
inline constexpr major k_major = major::k;
inline constexpr major mn_major = major::mn;

/// How the 16-byte chunks of a tile are placed.
///  - `none`: plain row-major array, one piece. Not readable by a tensor core, whose smallest unit is a core matrix.
///  - `b32`, `b64`, `b128`: panels as wide as the span, chunks exchanged by address bits (TMA and wgmma agree on it).
///  - `cores`: no exchange, but panels 16 bytes wide, so that each 8-row core matrix is 128 contiguous bytes. It is
///    what `wgmma` and `tcgen05` call "no swizzle"; TMA writes it as one unswizzled copy a panel.
///  - `b128_base32`: the 128-byte span with 32-byte chunks (`sm_100a`; what MN-major tf32 needs there).
enum class swizzle_mode : u8 { none, b32, b64, b128, cores, b128_base32 };
inline constexpr swizzle_mode no_swizzle = swizzle_mode::none;
inline constexpr swizzle_mode swizzle_32b = swizzle_mode::b32;
inline constexpr swizzle_mode swizzle_64b = swizzle_mode::b64;
inline constexpr swizzle_mode swizzle_128b = swizzle_mode::b128;
inline constexpr swizzle_mode core_matrices = swizzle_mode::cores;
inline constexpr swizzle_mode swizzle_128b_base32 = swizzle_mode::b128_base32;

/// The exchange of address bits a swizzle makes: `a ^ ((a >> shift) & mask)`. It is its own inverse, because the bits
/// it reads lie above the bits it changes. `repeat` is the period of the pattern in bytes (1 when there is none).
struct swizzle_pattern {
    u32 mask = 0;
    u32 shift = 0;
    u32 repeat = 1;

    constexpr bool operator==(const swizzle_pattern&) const = default;
    /// Byte where the hardware puts what an unswizzled tile has at byte `address`, counted from an aligned base.
    [[nodiscard]] constexpr u32 apply(u32 address) const noexcept { return address ^ ((address >> shift) & mask); }
};

[[nodiscard]] constexpr swizzle_pattern pattern_of(swizzle_mode s) noexcept {
    switch (s) {
        case swizzle_mode::b32: return {0x10, 3, 256};
        case swizzle_mode::b64: return {0x30, 3, 512};
        case swizzle_mode::b128: return {0x70, 3, 1024};
        case swizzle_mode::b128_base32: return {0x60, 2, 512};
        case swizzle_mode::none:
        case swizzle_mode::cores: break;
    }
    return {};
}

/// Width of a panel in bytes; 0 for a plain tile, which is not split.
[[nodiscard]] constexpr u32 span_of(swizzle_mode s) noexcept {
    switch (s) {
        case swizzle_mode::b32: return 32;
        case swizzle_mode::b64: return 64;
        case swizzle_mode::b128:
        case swizzle_mode::b128_base32: return 128;
        case swizzle_mode::cores: return 16;
        case swizzle_mode::none: break;
    }
    return 0;
}

/// Why a tile cannot be used for something; `ok` when it can. The DSL turns each into a sentence.
enum class tile_error : u8 {
    ok,
    empty,                ///< an extent is 0
    partial_byte,         ///< the contiguous extent is not a whole number of bytes
    inner_not_span,       ///< C02: contiguous bytes are neither the swizzle span nor a multiple of it
    inner_over_span,      ///< C02/F02: contiguous bytes exceed the span and are no multiple of it
    plain_layout,         ///< C02: a plain row-major tile has no core matrices; swizzle it or use `core_matrices`
    outer_not_core,       ///< the strided extent is not a multiple of the 8 rows of a core matrix
    k_not_step,           ///< K is not a multiple of the instruction's K (32 bytes of a K-major row)
    element_type,         ///< no tensor core of the target reads this element type
    element_not_tma,      ///< TMA has no such element type
    mn_major_type,        ///< C06: the target reads this element type K-major only
    swizzle_target,       ///< the target (or element type) has no such swizzle
    inner_not_16,         ///< F02: box bytes of the contiguous side are not a multiple of 16
    inner_not_128,        ///< F02: a box of 4- or 6-bit elements in byte containers is not 128 elements wide
    box_side,             ///< F02: a box side is over 256 elements
    panel_alignment,      ///< F16: later panels would not be 128-byte aligned
    slice_not_core,       ///< a slice starts inside a core matrix
    slice_crosses_panel,  ///< an MN-major slice starts inside a panel and leaves it
    slice_range,          ///< a slice leaves the tile
};

/// Box of one TMA copy, elements: `inner` along the contiguous extent (tensor dimension 0), `outer` along the other.
struct tma_box {
    u32 inner = 0;
    u32 outer = 0;
    constexpr bool operator==(const tma_box&) const = default;
};

/// One panel: where it starts in the tile (bytes), and how far its box lies from the tile's first element (elements;
/// dimension 0 is the contiguous one, dimension 1 never moves because panels only divide the contiguous extent).
struct tile_panel {
    u32 byte_offset = 0;
    u32 inner_coordinate = 0;
    constexpr bool operator==(const tile_panel&) const = default;
};

/// A tile as a value: a structural type, so it is a template argument too. Offsets are bytes from a base aligned to
/// `alignment()`; extents and coordinates are elements.
struct tile_layout {
    isa::scalar element = isa::scalar::none;
    u16 element_bits = 0;  ///< storage bits of one element
    major order = k_major;
    swizzle_mode swizzle = swizzle_128b;
    u32 rows = 0;  ///< M or N extent
    u32 cols = 0;  ///< K extent

    constexpr bool operator==(const tile_layout&) const = default;

    // ---- shape --------------------------------------------------------------------------------------------------
    /// Contiguous extent, elements.
    [[nodiscard]] constexpr u32 inner() const noexcept { return order == k_major ? cols : rows; }
    /// Strided extent, elements.
    [[nodiscard]] constexpr u32 outer() const noexcept { return order == k_major ? rows : cols; }
    /// Contiguous extent, bytes.
    [[nodiscard]] constexpr u32 inner_bytes() const noexcept { return inner() * element_bits / 8; }

    // ---- storage ------------------------------------------------------------------------------------------------
    /// Bytes from one strided index to the next inside a panel. A swizzled row occupies its whole span, also when the
    /// box is narrower (CUDA programming guide, TMA swizzle: memory must hold the full swizzle width; seen on an H200).
    [[nodiscard]] constexpr u32 row_stride() const noexcept { return is_plain() ? inner_bytes() : span_of(swizzle); }
    [[nodiscard]] constexpr u32 panels() const noexcept {
        if (is_plain() || inner_bytes() <= span_of(swizzle)) return 1;
        return (inner_bytes() + span_of(swizzle) - 1) / span_of(swizzle);
    }
    /// Contiguous elements of one panel.
    [[nodiscard]] constexpr u32 panel_inner() const noexcept {
        return panels() == 1 ? inner() : span_of(swizzle) * 8 / element_bits;
    }
    /// Bytes from one panel to the next.
    [[nodiscard]] constexpr u32 panel_stride() const noexcept { return outer() * row_stride(); }
    /// Bytes one stage occupies.
    [[nodiscard]] constexpr u32 bytes() const noexcept { return panels() * panel_stride(); }
    /// Bytes the TMA copies of one stage report to their mbarrier (out-of-bounds elements count; what a copy pads 4-
    /// and 6-bit elements with, to a byte each, does not).
    [[nodiscard]] constexpr u32 tx_bytes() const noexcept {
        const u32 bits = isa::bits(element) < element_bits ? isa::bits(element) : element_bits;
        return outer() * (inner() * bits / 8);
    }
    /// C01: alignment the base needs, bytes: the repeat of the swizzle, and never under the 128 of a TMA tensor copy.
    [[nodiscard]] constexpr u32 alignment() const noexcept {
        const u32 repeat = pattern().repeat;
        return repeat > 128 ? repeat : 128;
    }
    /// Bytes from one stage of a ring to the next: every stage is as aligned as the first (F16).
    [[nodiscard]] constexpr u32 stage_stride() const noexcept {
        return (bytes() + alignment() - 1) / alignment() * alignment();
    }

    // ---- element access -----------------------------------------------------------------------------------------
    [[nodiscard]] constexpr swizzle_pattern pattern() const noexcept { return pattern_of(swizzle); }
    /// Byte of element (row, col) before the swizzle exchange. This is what descriptors count in: the tensor core
    /// applies the exchange to the addresses it generates from the descriptor's start.
    [[nodiscard]] constexpr u32 linear_offset(u32 row, u32 col) const noexcept {
        const u32 contiguous = (order == k_major ? col : row) * element_bits / 8;
        const u32 strided = order == k_major ? row : col;
        const u32 width = row_stride();
        return contiguous / width * panel_stride() + strided * width + contiguous % width;
    }
    /// Byte of element (row, col), swizzle included. For sub-byte elements the byte that holds it.
    [[nodiscard]] constexpr u32 byte_offset(u32 row, u32 col) const noexcept {
        return pattern().apply(linear_offset(row, col));
    }
    /// What the swizzle exchanges in a row's byte position: where `swizzles_by_row()`, the address of byte `x` of the
    /// row of panel `p` and strided index `o` is `p * panel_stride() + o * row_stride() + (x ^ row_xor(o))`. Emitted
    /// code computes `row_xor` once a row, as `((o * row_stride()) >> pattern().shift) & pattern().mask`.
    [[nodiscard]] constexpr u32 row_xor(u32 strided) const noexcept {
        return ((strided * row_stride()) >> pattern().shift) & pattern().mask;
    }
    /// True when the exchange depends on the strided index alone, because every panel starts on the repeat.
    [[nodiscard]] constexpr bool swizzles_by_row() const noexcept {
        return panels() == 1 || panel_stride() % pattern().repeat == 0;
    }

    // ---- TMA ----------------------------------------------------------------------------------------------------
    /// Box of the copy that fills one panel.
    [[nodiscard]] constexpr tma_box box() const noexcept { return {panel_inner(), outer()}; }
    [[nodiscard]] constexpr tile_panel panel(u32 index) const noexcept {
        return {index * panel_stride(), index * panel_inner()};
    }

    // ---- slices for tensor-core instructions --------------------------------------------------------------------
    /// K elements one dense instruction consumes: 32 bytes of a K-major row for every kind (PTX ISA 9.7.15.2).
    [[nodiscard]] constexpr u32 k_step() const noexcept { return 256u / element_bits; }
    [[nodiscard]] constexpr u32 k_slices() const noexcept { return cols / k_step(); }
    /// Byte where the operand of the `index`-th instruction K step starts.
    [[nodiscard]] constexpr u32 k_slice(u32 index) const noexcept { return linear_offset(0, index * k_step()); }
    /// Byte where the rows from `first_row` on start (64-row parts of A, N parts of B). Adds to a `k_slice`.
    [[nodiscard]] constexpr u32 row_slice(u32 first_row) const noexcept { return linear_offset(first_row, 0); }

    /// A plain array, not split into panels.
    [[nodiscard]] constexpr bool is_plain() const noexcept { return swizzle == swizzle_mode::none; }
};

/// A tile of `rows` x `cols` elements of type `element`, packed as densely as memory holds the type: 6-bit elements
/// take a byte each, 4-bit elements half of one (`tcgen05` kinds mxf4 and mxf4nvf4; else `in_byte_containers`).
[[nodiscard]] constexpr tile_layout make_tile_layout(isa::scalar element, u32 rows, u32 cols, major order = k_major,
                                                     swizzle_mode swizzle = swizzle_128b) noexcept {
    const unsigned bits = isa::bits(element);
    return {element, static_cast<u16>(bits == 6 ? 8 : bits), order, swizzle, rows, cols};
}

/// The same tile with one byte of storage for each element, as `tcgen05` kinds f8f6f4 and mxf8f6f4 read e2m1 (PTX ISA
/// 9.7.16.10.4: 16 elements packed at the start of each 16 bytes, so only offsets of multiples of 16 elements count).
[[nodiscard]] constexpr tile_layout in_byte_containers(tile_layout t) noexcept {
    t.element_bits = 8;
    return t;
}

// ---- what a tile may be used for ------------------------------------------------------------------------------------

/// Faults of the shape itself, whatever the tile is used for.
[[nodiscard]] constexpr tile_error shape_error(const tile_layout& t) noexcept {
    if (t.rows == 0 || t.cols == 0 || t.element_bits == 0) return tile_error::empty;
    if (t.inner() * t.element_bits % 8 != 0) return tile_error::partial_byte;
    if (t.is_plain() || t.inner_bytes() <= span_of(t.swizzle)) return tile_error::ok;
    return t.inner_bytes() % span_of(t.swizzle) == 0 ? tile_error::ok : tile_error::inner_over_span;
}

namespace detail {

/// Element types TMA can copy: as themselves, as the unsigned integer of their width, or in one of the 4- and 6-bit
/// types of Blackwell's tensor maps.
[[nodiscard]] constexpr bool is_tma_element(isa::scalar s) noexcept {
    const unsigned bits = isa::bits(s);
    return bits == 4 || bits == 6 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// Element types a tensor core reads from shared memory through a descriptor.
[[nodiscard]] constexpr bool is_operand_element(isa::scalar s, const target& on) noexcept {
    using enum isa::scalar;
    switch (s) {
        case f16:
        case bf16:
        case tf32:
        case e4m3:
        case e5m2:
        case s8:
        case u8: return true;
        case b1: return !on.has_tensor_memory();
        case e2m1:
        case e2m1x2:
        case e2m3:
        case e3m2: return on.has_tensor_memory();
        default: return false;
    }
}

/// C06 and the reach of the 32-byte-chunk swizzle (for sm_100a PTX ISA 9.7.16.10.3: K-major takes every swizzle;
/// MN-major 8- and 16-bit types every other swizzle, 32-bit types that one alone, narrower types none).
[[nodiscard]] constexpr tile_error operand_major_error(const tile_layout& t, const target& on) noexcept {
    const bool base32 = t.swizzle == swizzle_mode::b128_base32;
    if (!on.has_tensor_memory()) {
        if (base32) return tile_error::swizzle_target;
        return t.order == k_major || t.element_bits == 16 ? tile_error::ok : tile_error::mn_major_type;
    }
    if (t.order == k_major) return tile_error::ok;
    if (t.element == isa::scalar::e2m1x2 || isa::bits(t.element) < 8) return tile_error::mn_major_type;
    return base32 == (t.element_bits == 32) ? tile_error::ok : tile_error::swizzle_target;
}

}  // namespace detail

/// C02, C06: whether the tensor core of `on` can read this tile from shared memory through one descriptor.
[[nodiscard]] constexpr tile_error operand_error(const tile_layout& t, const target& on) noexcept {
    if (const tile_error e = shape_error(t); e == tile_error::empty || e == tile_error::partial_byte) return e;
    if (!detail::is_operand_element(t.element, on)) return tile_error::element_type;
    if (t.is_plain()) return tile_error::plain_layout;
    if (t.inner_bytes() % span_of(t.swizzle) != 0) return tile_error::inner_not_span;
    if (const tile_error e = detail::operand_major_error(t, on); e != tile_error::ok) return e;
    if (t.outer() % 8 != 0) return tile_error::outer_not_core;
    return t.cols % t.k_step() == 0 ? tile_error::ok : tile_error::k_not_step;
}

/// F02, F16: whether TMA can write (or read) this tile, one tiled copy a panel, on a target that has its type and
/// swizzle.
[[nodiscard]] constexpr tile_error tma_error(const tile_layout& t) noexcept {
    if (const tile_error e = shape_error(t); e != tile_error::ok) return e;
    if (!detail::is_tma_element(t.element)) return tile_error::element_not_tma;
    const tma_box box = t.box();
    if (box.inner * t.element_bits / 8 % 16 != 0) return tile_error::inner_not_16;
    if (isa::bits(t.element) < t.element_bits && box.inner != 128) return tile_error::inner_not_128;
    if (box.inner > 256 || box.outer > 256) return tile_error::box_side;
    return t.panels() == 1 || t.panel_stride() % 128 == 0 ? tile_error::ok : tile_error::panel_alignment;
}

/// The same, on one target.
[[nodiscard]] constexpr tile_error tma_error(const tile_layout& t, const target& on) noexcept {
    if (!on.has_narrow_tma() && t.swizzle == swizzle_mode::b128_base32) return tile_error::swizzle_target;
    if (!on.has_narrow_tma() && isa::bits(t.element) < 8) return tile_error::element_not_tma;
    return tma_error(t);
}

/// Whether `count` rows from `first_row` on can be read through the descriptor of the whole operand tile.
[[nodiscard]] constexpr tile_error row_slice_error(const tile_layout& t, u32 first_row, u32 count) noexcept {
    if (count == 0 || first_row > t.rows || count > t.rows - first_row) return tile_error::slice_range;
    if (t.order == k_major) return first_row % 8 == 0 ? tile_error::ok : tile_error::slice_not_core;
    if (first_row * t.element_bits % 128 != 0) return tile_error::slice_not_core;
    const u32 start = first_row % t.panel_inner();
    return start == 0 || start + count <= t.panel_inner() ? tile_error::ok : tile_error::slice_crosses_panel;
}

/// C01: whether a base at this shared-memory byte keeps the swizzle's phase (and TMA's alignment).
[[nodiscard]] constexpr bool is_aligned_base(const tile_layout& t, u32 address) noexcept {
    return address % t.alignment() == 0;
}

// ---- matrix descriptors ---------------------------------------------------------------------------------------------

/// The strides of a matrix descriptor, bytes. PTX ISA calls them leading and stride dimension byte offset; which
/// direction each steps depends on major-ness and swizzle (9.7.15.5.1.2, "Strides").
struct descriptor_strides {
    u32 leading = 0;
    u32 stride = 0;
    constexpr bool operator==(const descriptor_strides&) const = default;
};

[[nodiscard]] constexpr descriptor_strides strides_of(const tile_layout& t) noexcept {
    const u32 eight_rows = 8 * t.row_stride();
    const bool cores = t.swizzle == swizzle_mode::cores;
    const bool base32 = t.swizzle == swizzle_mode::b128_base32;
    // K-major: `stride` steps 8 rows of M/N; `leading` the second 16 bytes of K, which a swizzled row holds itself
    // (the hardware then ignores the field and the ISA wants 1, that is 16 bytes).
    if (t.order == k_major) return {cores ? t.panel_stride() : 16u, eight_rows};
    // MN-major: 8 rows of K, and the next panel of M/N. The two fields trade places when there is no swizzle, and the
    // atoms of the 32-byte-chunk swizzle are 4 rows of K high.
    if (cores) return {eight_rows, t.panel_stride()};
    return {t.panel_stride(), base32 ? eight_rows / 2 : eight_rows};
}

/// A 14-bit descriptor field: 16-byte units of an 18-bit shared-memory byte (address or distance).
[[nodiscard]] constexpr u64 descriptor_field(u32 byte) noexcept { return (byte & 0x3FFFFu) >> 4; }

/// Swizzle code of a wgmma descriptor, bits 62-63 (PTX ISA 9.7.15.5.1.3).
[[nodiscard]] constexpr u64 wgmma_swizzle_code(swizzle_mode s) noexcept {
    switch (s) {
        case swizzle_mode::b128: return 1;
        case swizzle_mode::b64: return 2;
        case swizzle_mode::b32: return 3;
        default: return 0;
    }
}

/// The constant part of a wgmma descriptor: everything but the start address. The descriptor of a slice is
/// `wgmma_descriptor_base(t) | descriptor_field(address + slice)`, for a base aligned to `t.alignment()`.
/// `pattern_start` is the shared-memory byte where the swizzle pattern starts, 0 (like any multiple of the repeat) for
/// a tile whose chunks were exchanged by address, as TMA does. Only a tile whose pattern was laid out from a base off
/// the repeat names that base here (checked on an H200: tests/dsl/gpu/layout_on_device.cpp, probe_base_offset).
[[nodiscard]] constexpr u64 wgmma_descriptor_base(const tile_layout& t, u32 pattern_start = 0) noexcept {
    const descriptor_strides s = strides_of(t);
    return descriptor_field(s.leading) << 16 | descriptor_field(s.stride) << 32 |
           static_cast<u64>((pattern_start >> 7) & 7u) << 49 | wgmma_swizzle_code(t.swizzle) << 62;
}

/// A whole wgmma descriptor, for a tile at shared-memory byte `address` and a slice `offset` bytes into it.
[[nodiscard]] constexpr u64 wgmma_descriptor(const tile_layout& t, u32 address, u32 offset = 0) noexcept {
    return wgmma_descriptor_base(t) | descriptor_field(address + offset);
}

// ---- the type -------------------------------------------------------------------------------------------------------

/// Element type of tiles that give each 4-bit element a byte, as `tcgen05.mma` of kinds f8f6f4 and mxf8f6f4 reads them.
template <ptx_type T>
struct in_bytes {
    using byte_element = T;
    std::uint8_t bits;
};
template <ptx_type T>
inline constexpr isa::scalar scalar_of<in_bytes<T>> = scalar_of<T>;

namespace detail {
template <class T>
[[nodiscard]] consteval tile_layout layout_of(const tile_layout& t) noexcept {
    return t;
}
template <class T>
    requires requires { typename T::byte_element; }
[[nodiscard]] consteval tile_layout layout_of(const tile_layout& t) noexcept {
    return in_byte_containers(t);
}
}  // namespace detail

/// A shared-memory tile type: `Rows` is the M or N extent, `Cols` the K extent (for a plain tile rows and columns).
/// Everything about it is in `layout`.
template <ptx_type T, u32 Rows, u32 Cols, major Major = k_major, swizzle_mode Swizzle = swizzle_128b>
struct tile {
    using element_type = T;
    static constexpr tile_layout layout =
        detail::layout_of<T>(make_tile_layout(scalar_of<T>, Rows, Cols, Major, Swizzle));
    static constexpr u32 rows = Rows;
    static constexpr u32 cols = Cols;
    static constexpr u32 bytes = layout.bytes();
    static constexpr u32 alignment = layout.alignment();
};

template <class T>
inline constexpr bool is_tile = false;
template <class T, u32 Rows, u32 Cols, major Major, swizzle_mode Swizzle>
inline constexpr bool is_tile<tile<T, Rows, Cols, Major, Swizzle>> = true;

/// Any `tile<...>` type.
template <class T>
concept tile_type = is_tile<T>;
/// A tile whose shape is storable at all.
template <class T>
concept well_formed_tile = tile_type<T> && shape_error(T::layout) == tile_error::ok;
/// A tile TMA can copy.
template <class T>
concept tma_tile = tile_type<T> && tma_error(T::layout) == tile_error::ok;
/// A tile `wgmma` can read through a descriptor.
template <class T>
concept wgmma_operand_tile = tile_type<T> && operand_error(T::layout, sm_90a) == tile_error::ok;
/// A tile `tcgen05.mma` can read through a descriptor.
template <class T>
concept tcgen05_operand_tile = tile_type<T> && operand_error(T::layout, sm_100a) == tile_error::ok;

}  // namespace ptxdsl
