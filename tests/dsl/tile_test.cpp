// SPDX-License-Identifier: Apache-2.0
// tile.hpp against two models that share nothing with it: how TMA writes a box (chunks exchanged by bits of the
// *absolute* shared-memory address), and how wgmma reads core matrices from the bits of a descriptor.
#include "catch.hpp"

#include <ptxdsl/dsl/tile.hpp>

#include <cstdint>
#include <vector>

using namespace ptxdsl;
using S = isa::scalar;

namespace {

// ---- the type, in constant evaluation -------------------------------------------------------------------------------

using gemm_a = tile<bf16, 128, 64>;
static_assert(gemm_a::bytes == 16384 && gemm_a::alignment == 1024);
static_assert(gemm_a::layout.panels() == 1 && gemm_a::layout.box() == tma_box{64, 128});
static_assert(gemm_a::layout.k_step() == 16 && gemm_a::layout.k_slices() == 4 && gemm_a::layout.k_slice(3) == 96);
static_assert(gemm_a::layout.row_slice(64) == 8192);
static_assert(wgmma_operand_tile<gemm_a> && tcgen05_operand_tile<gemm_a> && tma_tile<gemm_a>);
// Bits 16: leading 1; bits 32: 1024 / 16; bit 62: 128-byte swizzle.
static_assert(wgmma_descriptor_base(gemm_a::layout) == 0x4000'0040'0001'0000);
static_assert(wgmma_descriptor(gemm_a::layout, 0x2400, 96) == 0x4000'0040'0001'0246);

using two_panels = tile<bf16, 64, 128>;
static_assert(two_panels::layout.panels() == 2 && two_panels::layout.panel_stride() == 8192);
static_assert(two_panels::layout.panel(1) == tile_panel{8192, 64} && two_panels::layout.k_slice(4) == 8192);

using b_mn = tile<f16, 256, 64, mn_major>;
static_assert(b_mn::layout.panels() == 4 && b_mn::layout.box() == tma_box{64, 64});
static_assert(b_mn::layout.k_slice(1) == 16 * 128 && b_mn::layout.row_slice(128) == 2 * 8192);

template <tile_layout L>
inline constexpr u32 bytes_of = L.bytes();
static_assert(bytes_of<gemm_a::layout> == 16384, "a layout is a template argument");

// C01: alignment follows the repeat of the swizzle.
static_assert(tile<bf16, 64, 32, k_major, swizzle_64b>::alignment == 512);
static_assert(tile<bf16, 64, 16, k_major, swizzle_32b>::alignment == 256);
static_assert(tile<f32, 8, 8, k_major, no_swizzle>::alignment == 128);
static_assert(is_aligned_base(gemm_a::layout, 3072) && !is_aligned_base(gemm_a::layout, 512));

// C02 and C06, each with its legal neighbour.
constexpr tile_error on_hopper(const tile_layout& t) { return operand_error(t, sm_90a); }
constexpr tile_error on_blackwell(const tile_layout& t) { return operand_error(t, sm_100a); }
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 128)) == tile_error::ok);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 32)) == tile_error::inner_not_span);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 96)) == tile_error::inner_not_span);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 64, k_major, no_swizzle)) == tile_error::plain_layout);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 64, k_major, core_matrices)) == tile_error::ok);
static_assert(on_hopper(make_tile_layout(S::bf16, 60, 64)) == tile_error::outer_not_core);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 24, mn_major)) == tile_error::k_not_step);
static_assert(on_hopper(make_tile_layout(S::bf16, 64, 8, k_major, core_matrices)) == tile_error::k_not_step);
static_assert(on_hopper(make_tile_layout(S::f32, 64, 32)) == tile_error::element_type);
static_assert(on_hopper(make_tile_layout(S::f16, 64, 64, mn_major)) == tile_error::ok);
static_assert(on_hopper(make_tile_layout(S::e4m3, 128, 64, mn_major)) == tile_error::mn_major_type);
static_assert(on_hopper(make_tile_layout(S::tf32, 64, 64, mn_major)) == tile_error::mn_major_type);
static_assert(on_hopper(make_tile_layout(S::s8, 64, 128)) == tile_error::ok);
static_assert(on_blackwell(make_tile_layout(S::e4m3, 128, 64, mn_major)) == tile_error::ok);
static_assert(on_blackwell(make_tile_layout(S::tf32, 64, 64, mn_major)) == tile_error::swizzle_target);
static_assert(on_blackwell(make_tile_layout(S::bf16, 64, 64, mn_major, swizzle_128b_base32)) ==
              tile_error::swizzle_target);
static_assert(on_blackwell(make_tile_layout(S::bf16, 64, 64, k_major, swizzle_128b_base32)) == tile_error::ok);
static_assert(on_blackwell(in_byte_containers(make_tile_layout(S::e2m1, 128, 128))) == tile_error::ok);
static_assert(on_blackwell(in_byte_containers(make_tile_layout(S::e2m1, 128, 128, mn_major))) ==
              tile_error::mn_major_type);
static_assert(on_blackwell(make_tile_layout(S::e3m2, 128, 128)) == tile_error::ok);
static_assert(make_tile_layout(S::e2m1, 128, 256).k_step() == 64 && make_tile_layout(S::e2m1, 128, 256).panels() == 1);
static_assert(in_byte_containers(make_tile_layout(S::e2m1, 128, 256)).k_step() == 32);
static_assert(on_blackwell(make_tile_layout(S::tf32, 64, 64, mn_major, swizzle_128b_base32)) == tile_error::ok);
static_assert(on_hopper(make_tile_layout(S::tf32, 64, 64, k_major, swizzle_128b_base32)) == tile_error::swizzle_target);
static_assert(on_blackwell(make_tile_layout(S::e2m1x2, 256, 64, mn_major)) == tile_error::mn_major_type);
static_assert(on_blackwell(make_tile_layout(S::e2m1x2, 128, 128)) == tile_error::ok);
static_assert(on_hopper(make_tile_layout(S::e2m1x2, 128, 128)) == tile_error::element_type);

// F02 and F16.
static_assert(tma_error(make_tile_layout(S::f32, 64, 33, k_major, no_swizzle)) == tile_error::inner_not_16);
static_assert(tma_error(make_tile_layout(S::f32, 64, 36, k_major, no_swizzle)) == tile_error::ok);
static_assert(tma_error(make_tile_layout(S::bf16, 257, 64)) == tile_error::box_side);
static_assert(tma_error(make_tile_layout(S::bf16, 256, 64)) == tile_error::ok);
static_assert(tma_error(make_tile_layout(S::u8, 16, 512, k_major, no_swizzle)) == tile_error::box_side);
static_assert(tma_error(make_tile_layout(S::bf16, 64, 72)) == tile_error::inner_over_span);
static_assert(tma_error(make_tile_layout(S::bf16, 64, 40)) == tile_error::ok, "narrower than the span");
static_assert(tma_error(make_tile_layout(S::bf16, 3, 32, k_major, swizzle_32b)) == tile_error::panel_alignment);
static_assert(tma_error(make_tile_layout(S::bf16, 4, 32, k_major, swizzle_32b)) == tile_error::ok);
static_assert(tma_error(make_tile_layout(S::bf16, 0, 64)) == tile_error::empty);
static_assert(tma_error(in_byte_containers(make_tile_layout(S::e2m1, 64, 128))) == tile_error::ok);
// What a copy pads does not count for the barrier: 64 bytes of 128 4-bit values, 96 of 6-bit ones.
static_assert(in_byte_containers(make_tile_layout(S::e2m1, 64, 128)).tx_bytes() == 64 * 64);
static_assert(in_byte_containers(make_tile_layout(S::e2m1, 64, 128)).bytes() == 64 * 128);
static_assert(make_tile_layout(S::e2m1, 64, 256).tx_bytes() == 64 * 128);
static_assert(make_tile_layout(S::e3m2, 64, 128).tx_bytes() == 64 * 96);
static_assert(tma_error(in_byte_containers(make_tile_layout(S::e2m1, 64, 64, k_major, swizzle_64b))) ==
              tile_error::inner_not_128);
static_assert(tma_error(make_tile_layout(S::e2m1, 64, 128), sm_90a) == tile_error::element_not_tma);
static_assert(tma_error(make_tile_layout(S::tf32, 64, 64, mn_major, swizzle_128b_base32), sm_90a) ==
              tile_error::swizzle_target);
static_assert(tma_error(make_tile_layout(S::tf32, 64, 64, mn_major, swizzle_128b_base32), sm_100a) == tile_error::ok);
static_assert(tma_error(make_tile_layout(S::pred, 64, 64, k_major, no_swizzle)) == tile_error::element_not_tma);
static_assert(!well_formed_tile<tile<bf16, 64, 72>> && well_formed_tile<tile<bf16, 64, 72, k_major, no_swizzle>>);

// Slices.
constexpr tile_layout wide_mn = make_tile_layout(S::bf16, 256, 64, mn_major);
static_assert(row_slice_error(wide_mn, 192, 64) == tile_error::ok);
static_assert(row_slice_error(wide_mn, 32, 32) == tile_error::ok);
static_assert(row_slice_error(wide_mn, 32, 64) == tile_error::slice_crosses_panel);
static_assert(row_slice_error(wide_mn, 4, 8) == tile_error::slice_not_core);
static_assert(row_slice_error(wide_mn, 224, 64) == tile_error::slice_range);
static_assert(row_slice_error(make_tile_layout(S::bf16, 256, 64), 24, 64) == tile_error::ok);
static_assert(row_slice_error(make_tile_layout(S::bf16, 256, 64), 20, 64) == tile_error::slice_not_core);

// ---- the model of TMA -----------------------------------------------------------------------------------------------

/// Shared memory as one element number a byte: byte b of the element (row, col) is stored as 1 + that number.
using memory = std::vector<std::uint32_t>;

std::uint32_t label(const tile_layout& t, u32 row, u32 col, u32 byte) { return 1 + (row * t.cols + col) * 8 + byte; }

/// Where the hardware puts the byte that would be at `address`: 16-byte chunk numbers inside a span, exclusive-or'd
/// with the number of the 128-byte line (for the narrow spans, its low bits), and the 32-byte-chunk variant.
std::uint32_t exchanged(swizzle_mode s, std::uint32_t address) {
    const std::uint32_t line = address / 128;
    const std::uint32_t chunk = address / 16 % 8;
    const std::uint32_t rest = address % 16;
    switch (s) {
        case swizzle_mode::b128: return line * 128 + (chunk ^ line % 8) * 16 + rest;
        case swizzle_mode::b64: return line * 128 + (chunk ^ line % 4) * 16 + rest;
        case swizzle_mode::b32: return line * 128 + (chunk ^ line % 2) * 16 + rest;
        case swizzle_mode::b128_base32: return line * 128 + ((chunk / 2 ^ line % 4) * 2 + chunk % 2) * 16 + rest;
        default: return address;
    }
}

/// One tiled copy: box rows one pitch apart, the pitch being the whole span where there is a swizzle.
void tma_write_panel(memory& shared, const tile_layout& t, u32 base, u32 panel) {
    const std::uint32_t element = t.element_bits / 8;
    const tma_box box = t.box();
    const bool swizzled = exchanged(t.swizzle, 0x3F0) != 0x3F0;
    const std::uint32_t pitch = !swizzled                        ? box.inner * element
                                : t.swizzle == swizzle_mode::b32 ? 32
                                : t.swizzle == swizzle_mode::b64 ? 64
                                                                 : 128;
    const std::uint32_t start = base + t.panel(panel).byte_offset;
    REQUIRE(start % 128 == 0);
    for (u32 o = 0; o < box.outer; ++o)
        for (u32 i = 0; i < box.inner; ++i)
            for (u32 b = 0; b < element; ++b) {
                const u32 along = t.panel(panel).inner_coordinate + i;
                const std::uint32_t at = exchanged(t.swizzle, start + o * pitch + i * element + b);
                shared.at(at) = t.order == k_major ? label(t, o, along, b) : label(t, along, o, b);
            }
}

memory tma_write(const tile_layout& t, u32 base) {
    memory shared(base + t.bytes());
    for (u32 p = 0; p < t.panels(); ++p) tma_write_panel(shared, t, base, p);
    return shared;
}

// ---- the model of wgmma ---------------------------------------------------------------------------------------------

/// Byte of (row, k) of an instruction operand, read from a descriptor's bits alone. Core matrices are 8 lines of 16
/// bytes; `unit` numbers 16-byte pieces along the contiguous direction and `line` the lines across it.
std::uint32_t wgmma_address(std::uint64_t descriptor, bool mn, u32 contiguous_byte, u32 line) {
    const auto field = [&](int low) { return static_cast<std::uint32_t>(descriptor >> low & 0x3FFF) * 16; };
    const std::uint32_t start = field(0), leading = field(16), stride = field(32);
    const std::uint32_t code = static_cast<std::uint32_t>(descriptor >> 62);
    const std::uint32_t unit = contiguous_byte / 16, byte = contiguous_byte % 16;
    if (code == 0) {  // core matrices stored whole
        const std::uint32_t inside = line % 8 * 16 + byte;
        return mn ? start + unit * stride + line / 8 * leading + inside
                  : start + unit * leading + line / 8 * stride + inside;
    }
    const std::uint32_t units = 16u >> code;  // 128, 64, 32 bytes: 8, 4, 2 units in a swizzled row
    const std::uint32_t across = line % 8 * units * 16 + line / 8 * stride;
    const std::uint32_t linear = start + across + unit % units * 16 + (mn ? unit / units * leading : 0) + byte;
    return exchanged(code == 1 ? swizzle_mode::b128 : code == 2 ? swizzle_mode::b64 : swizzle_mode::b32, linear);
}

/// Mismatches between what TMA stored and what wgmma reads for `count` rows from `first` on and K step `step`.
u32 wgmma_mismatches(const memory& shared, const tile_layout& t, u32 base, u32 first, u32 count, u32 step) {
    const std::uint64_t descriptor =
        wgmma_descriptor_base(t) | descriptor_field(base + t.row_slice(first) + t.k_slice(step));
    const std::uint32_t element = t.element_bits / 8;
    const u32 k_extent = 32 / element;
    u32 wrong = 0;
    for (u32 r = 0; r < count; ++r)
        for (u32 k = 0; k < k_extent; ++k)
            for (u32 b = 0; b < element; ++b) {
                const bool mn = t.order == mn_major;
                const std::uint32_t at = wgmma_address(descriptor, mn, (mn ? r : k) * element + b, mn ? k : r);
                wrong += at >= shared.size() || shared[at] != label(t, first + r, step * k_extent + k, b);
            }
    return wrong;
}

template <class Visit>
void each_layout(Visit visit) {
    for (const S type : {S::bf16, S::f16, S::tf32, S::e4m3, S::s8})
        for (const swizzle_mode s :
             {no_swizzle, swizzle_32b, swizzle_64b, swizzle_128b, core_matrices, swizzle_128b_base32})
            for (const major order : {k_major, mn_major})
                for (const u32 rows : {8u, 16u, 24u, 32u, 64u, 128u, 192u, 256u})
                    for (const u32 cols : {8u, 16u, 24u, 32u, 64u, 128u, 256u})
                        visit(make_tile_layout(type, rows, cols, order, s));
}

}  // namespace

TEST_CASE("every element lies where TMA writes it") {
    u32 layouts = 0, elements = 0, wrong = 0;
    each_layout([&](const tile_layout& t) {
        if (tma_error(t) != tile_error::ok || t.bytes() > 128 * 1024) return;
        ++layouts;
        const u32 base = 3 * t.alignment();  // aligned to the repeat and no better
        const memory shared = tma_write(t, base);
        u32 filled = 0;
        for (const std::uint32_t byte : shared) filled += byte != 0;
        wrong += filled != t.tx_bytes();
        for (u32 r = 0; r < t.rows; ++r)
            for (u32 c = 0; c < t.cols; ++c, ++elements)
                wrong += shared[base + t.byte_offset(r, c)] != label(t, r, c, 0);
    });
    INFO(layouts << " layouts, " << elements << " elements");
    CHECK(wrong == 0);
    CHECK(layouts > 400);
}

TEST_CASE("the emitted address formula is byte_offset") {
    u32 wrong = 0;
    each_layout([&](const tile_layout& t) {
        if (shape_error(t) != tile_error::ok || !t.swizzles_by_row()) return;
        for (u32 r = 0; r < t.rows; ++r)
            for (u32 c = 0; c < t.cols; ++c) {
                const u32 inner = t.order == k_major ? c : r, outer = t.order == k_major ? r : c;
                const u32 in_row = inner % t.panel_inner() * t.element_bits / 8;
                wrong += t.byte_offset(r, c) != inner / t.panel_inner() * t.panel_stride() + outer * t.row_stride() +
                                                    (in_row ^ t.row_xor(outer));
            }
    });
    CHECK(wrong == 0);
}

TEST_CASE("wgmma finds every element of every slice through the descriptor") {
    u32 slices = 0, wrong = 0;
    each_layout([&](const tile_layout& t) {
        if (operand_error(t, sm_90a) != tile_error::ok || tma_error(t) != tile_error::ok || t.bytes() > 64 * 1024)
            return;
        REQUIRE(t.swizzles_by_row());
        const u32 base = 5 * t.alignment();
        const memory shared = tma_write(t, base);
        for (const u32 count : {8u, 64u, t.rows})
            for (u32 first = 0; first < t.rows; first += 8) {
                if (row_slice_error(t, first, count) != tile_error::ok) continue;
                for (u32 step = 0; step < t.k_slices(); ++step, ++slices)
                    wrong += wgmma_mismatches(shared, t, base, first, count, step);
            }
    });
    INFO(slices << " slices");
    CHECK(wrong == 0);
    CHECK(slices > 10000);
}

TEST_CASE("a wrong descriptor is noticed by the model") {
    // The check above has teeth: another swizzle's tile, or a slice refused by row_slice_error, does mismatch.
    const tile_layout t = make_tile_layout(S::bf16, 128, 64);
    const tile_layout narrow = make_tile_layout(S::bf16, 128, 64, k_major, swizzle_64b);
    CHECK(wgmma_mismatches(tma_write(narrow, 1024), t, 1024, 0, 64, 0) != 0);
    const tile_layout mn = make_tile_layout(S::bf16, 128, 64, mn_major);
    CHECK(row_slice_error(mn, 32, 64) != tile_error::ok);
    CHECK(wgmma_mismatches(tma_write(mn, 1024), mn, 1024, 32, 64, 0) != 0);
}
