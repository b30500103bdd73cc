// SPDX-License-Identifier: Apache-2.0
// tcgen05_descriptor.hpp against the tables of the PTX ISA: descriptors are taken apart field by field, by a table of
// bit positions written here, for every combination of types, majors, shapes and modifiers; and a model of the memory
// reads every element of every operand tile through its descriptor.
#include "catch.hpp"

#include <ptxdsl/dsl/tcgen05_descriptor.hpp>
#include <ptxdsl/dsl/tcgen05_print.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

using namespace ptxdsl;
using S = isa::scalar;
using K = tcgen05_kind;

namespace {

// ---- known values ---------------------------------------------------------------------------------------------------

// Bit 46 is the version; 2 at bit 61 the 128-byte swizzle.
static_assert(tcgen05_descriptor_base(tile<bf16, 128, 64>::layout) == 0x4000'4040'0001'0000);
static_assert(tcgen05_descriptor(tile<bf16, 128, 64>::layout, 0x2400, 32) == 0x4000'4040'0001'0242);
static_assert(tcgen05_descriptor_base(tile<e4m3, 128, 64, k_major, swizzle_64b>::layout) >> 61 == 4);
static_assert(tcgen05_descriptor_base(tile<e4m3, 128, 32, k_major, swizzle_32b>::layout) >> 61 == 6);
static_assert(tcgen05_descriptor_base(tile<e4m3, 128, 32, k_major, core_matrices>::layout) >> 61 == 0);
static_assert((tcgen05_descriptor_base(tile<bf16, 128, 64>::layout, 0x280) >> 49 & 7) == 5);

// bf16 x bf16 -> f32, 128 x 256: the value every Blackwell GEMM starts from.
constexpr tcgen05_instruction gemm =
    instruction_of(K::f16, S::f32, tile<bf16, 128, 64>::layout, tile<bf16, 256, 64>::layout, 128, 256);
static_assert(instruction_error(gemm) == tcgen05_error::ok);
static_assert(instruction_descriptor(gemm) == (1u << 4 | 1u << 7 | 1u << 10 | 32u << 17 | 8u << 24));
// nvfp4 with ue4m3 scales, 128 x 128.
constexpr tcgen05_instruction nvfp4 = instruction_of(K::mxf4nvf4, S::f32, make_tile_layout(S::e2m1x2, 128, 128),
                                                     make_tile_layout(S::e2m1x2, 128, 128), 128, 128, S::ue4m3);
static_assert(instruction_error(nvfp4) == tcgen05_error::ok);
static_assert(instruction_descriptor(nvfp4) == (1u << 7 | 1u << 10 | 16u << 17 | 1u << 27));

static_assert(k_extent(K::tf32) == 8 && k_extent(K::f16, true) == 32 && k_extent(K::mxf4) == 64 &&
              k_extent(K::mxf8f6f4) == 32);

// ---- as text --------------------------------------------------------------------------------------------------------

static_assert(describe(gemm).view() == "kind::f16 m128 n256 k16 d f32 a bf16 (k) b bf16 (k), 0x08400490");
static_assert(describe(nvfp4).view() ==
              "kind::mxf4nvf4 m128 n128 k64 d f32 a e2m1x2 (k) b e2m1x2 (k) scales ue4m3 ids 0 0, 0x08200480");
static_assert(describe(tcgen05_instruction{.m = 64, .n = 8}).view().find("no such instruction") != string_view::npos);
static_assert(describe_tile(tcgen05_descriptor(tile<bf16, 128, 64>::layout, 0x2400, 32)).view() ==
              "start 9248 leading 16 stride 1024 swizzle 128B, 0x4000404000010242");
static_assert(describe_tile(tcgen05_descriptor_base(tile<tf32, 64, 8, mn_major, swizzle_128b_base32>::layout))
                  .view()
                  .find("128B base32") != string_view::npos);

// ---- the rules, each broken once ------------------------------------------------------------------------------------

template <class Change>
constexpr tcgen05_error with(tcgen05_instruction i, Change change) {
    change(i);
    return instruction_error(i);
}
static_assert(with(gemm, [](auto& i) { i.b = S::e4m3; }) == tcgen05_error::operand_type);
static_assert(with(gemm, [](auto& i) { i.kind = K::tf32; }) == tcgen05_error::operand_type);
static_assert(with(gemm, [](auto& i) { i.d = S::s32; }) == tcgen05_error::result_type);
static_assert(with(gemm, [](auto& i) { i.d = S::f16; }) == tcgen05_error::result_type, "f16 results need f16 operands");
static_assert(with(gemm, [](auto& i) { i.d = S::f16, i.a = i.b = S::f16; }) == tcgen05_error::ok);
static_assert(with(gemm, [](auto& i) { i.scale = S::ue8m0; }) == tcgen05_error::scale_type);
static_assert(with(gemm, [](auto& i) { i.a_major = mn_major; }) == tcgen05_error::ok);
static_assert(with(gemm, [](auto& i) { i.n = 12; }) == tcgen05_error::shape);
static_assert(with(gemm, [](auto& i) { i.m = 192; }) == tcgen05_error::shape);
static_assert(with(gemm, [](auto& i) { i.saturate = true; }) == tcgen05_error::modifier);
static_assert(with(gemm, [](auto& i) { i.sparsity_selector = 1; }) == tcgen05_error::modifier);
static_assert(with(gemm, [](auto& i) { i.sparse = true, i.sparsity_selector = 1; }) == tcgen05_error::ok);
static_assert(with(gemm, [](auto& i) { i.max_shift = 4; }) == tcgen05_error::modifier);
static_assert(with(gemm, [](auto& i) { i.scale_a_id = 1; }) == tcgen05_error::modifier);
static_assert(with(nvfp4, [](auto& i) { i.scale = S::none; }) == tcgen05_error::scale_type);
static_assert(with(nvfp4, [](auto& i) { i.kind = K::mxf4; }) == tcgen05_error::scale_type, "mxf4 scales are ue8m0");
static_assert(with(nvfp4, [](auto& i) { i.b_major = mn_major; }) == tcgen05_error::operand_major);
static_assert(with(nvfp4, [](auto& i) { i.m = 64; }) == tcgen05_error::shape);
static_assert(with(nvfp4, [](auto& i) { i.scale_a_id = 1; }) == tcgen05_error::modifier);
static_assert(with(nvfp4, [](auto& i) { i.scale_a_id = 2; }) == tcgen05_error::ok);

// ---- the instruction descriptor, field by field ---------------------------------------------------------------------

/// A bit field of the ISA's tables.
struct field {
    int low, width;
};
std::uint32_t get(std::uint32_t word, field f) { return word >> f.low & ((1u << f.width) - 1); }

constexpr field sparsity_selector{0, 2}, sparsity{2, 1}, saturation{3, 1}, d_type{4, 2}, reserved_6{6, 1}, a_type{7, 3},
    b_type{10, 3}, negate_a{13, 1}, negate_b{14, 1}, transpose_a{15, 1}, transpose_b{16, 1}, n_eighths{17, 6},
    bit_23{23, 1}, m_sixteenths{24, 5}, bit_29{29, 1}, shift_code{30, 2};
constexpr field scaled_reserved_0{0, 2}, scaled_reserved_3{3, 1}, scale_b{4, 2}, scaled_reserved_24{24, 3},
    m_128ths{27, 2}, scale_a{29, 2}, k_dimension{31, 1};

/// The code the ISA's table gives a type in a kind, if it does.
std::optional<std::uint32_t> table_code(K kind, S type) {
    struct row {
        std::vector<K> kinds;
        S type;
        std::uint32_t code;
    };
    static const std::vector<row> rows = {
        {{K::tf32}, S::tf32, 2},
        {{K::f16}, S::f16, 0},
        {{K::f16}, S::bf16, 1},
        {{K::f8f6f4, K::mxf8f6f4}, S::e4m3, 0},
        {{K::f8f6f4, K::mxf8f6f4}, S::e5m2, 1},
        {{K::f8f6f4, K::mxf8f6f4}, S::e2m3, 3},
        {{K::f8f6f4, K::mxf8f6f4}, S::e3m2, 4},
        {{K::f8f6f4, K::mxf8f6f4}, S::e2m1, 5},
        {{K::i8}, S::u8, 0},
        {{K::i8}, S::s8, 1},
        {{K::mxf4, K::mxf4nvf4}, S::e2m1, 1},
        {{K::mxf4, K::mxf4nvf4}, S::e2m1x2, 1},
    };
    for (const row& r : rows)
        for (const K k : r.kinds)
            if (r.type == type && k == kind) return r.code;
    return std::nullopt;
}

u32 dense_mismatches(const tcgen05_instruction& i, std::uint32_t word) {
    u32 wrong = 0;
    wrong += get(word, sparsity_selector) != i.sparsity_selector;
    wrong += get(word, saturation) != i.saturate;
    wrong += get(word, d_type) != (i.d == S::f16 ? 0u : i.d == S::f32 ? 1u : 2u);
    wrong += get(word, bit_23) != 0 || get(word, bit_29) != 0;
    wrong += get(word, m_sixteenths) * 16 != i.m;
    wrong += get(word, shift_code) != 0 ? (4u << get(word, shift_code)) != i.max_shift : i.max_shift != 0;
    return wrong;
}

u32 scaled_mismatches(const tcgen05_instruction& i, std::uint32_t word) {
    u32 wrong = 0;
    wrong +=
        get(word, scaled_reserved_0) != 0 || get(word, scaled_reserved_3) != 0 || get(word, scaled_reserved_24) != 0;
    wrong += get(word, scale_b) != i.scale_b_id || get(word, scale_a) != i.scale_a_id;
    wrong += get(word, bit_23) != (i.scale == S::ue8m0);
    wrong += get(word, m_128ths) * 128 != i.m;
    wrong += get(word, k_dimension) != 0;
    return wrong;
}

u32 mismatches(const tcgen05_instruction& i) {
    const std::uint32_t word = instruction_descriptor(i);
    u32 wrong = 0;
    wrong += get(word, sparsity) != i.sparse || get(word, reserved_6) != 0;
    wrong += get(word, a_type) != table_code(i.kind, i.a) || get(word, b_type) != table_code(i.kind, i.b);
    wrong += get(word, negate_a) != i.negate_a || get(word, negate_b) != i.negate_b;
    wrong += get(word, transpose_a) != (i.a_major == mn_major) || get(word, transpose_b) != (i.b_major == mn_major);
    wrong += get(word, n_eighths) * 8 != i.n;
    const bool scaled = name(i.kind).starts_with("mx");
    return wrong + (scaled ? scaled_mismatches(i, word) : dense_mismatches(i, word));
}

constexpr K kinds[] = {K::tf32, K::f16, K::f8f6f4, K::i8, K::mxf8f6f4, K::mxf4, K::mxf4nvf4};
constexpr S types[] = {S::f16,  S::bf16, S::tf32,   S::e4m3, S::e5m2, S::e2m3,
                       S::e3m2, S::e2m1, S::e2m1x2, S::u8,   S::s8,   S::f32};

// ---- the model of shared memory -------------------------------------------------------------------------------------

/// Byte of (contiguous byte, line) of an operand, from the descriptor's bits and the canonical layouts of 9.7.16.5.
std::uint32_t operand_address(std::uint64_t descriptor, bool mn, u32 contiguous_byte, u32 line) {
    const auto bytes = [&](int low) { return static_cast<std::uint32_t>(descriptor >> low & 0x3FFF) * 16; };
    const std::uint32_t code = static_cast<std::uint32_t>(descriptor >> 61);
    const std::uint32_t span = code == 0 ? 16 : code <= 2 ? 128 : code == 4 ? 64 : 32;
    const u32 lines = mn && code == 1 ? 4 : 8;  // height of an atom
    const std::uint32_t leading = bytes(16), stride = bytes(32);
    const bool exchanged_roles = mn && code == 0;
    std::uint32_t a = bytes(0) + contiguous_byte % span + line % lines * span;
    a += line / lines * (exchanged_roles ? leading : stride);
    if (mn || code == 0) a += contiguous_byte / span * (exchanged_roles ? stride : leading);
    const std::uint32_t row = a / 128, chunk = a / 16 % 8;
    const std::uint32_t moved = code == 0   ? chunk
                                : code == 1 ? chunk ^ row % 4 * 2
                                : code == 2 ? chunk ^ row % 8
                                : code == 4 ? chunk ^ row % 4
                                            : chunk ^ row % 2;
    return row * 128 + moved * 16 + a % 16;
}

u32 slice_mismatches(const tile_layout& t, u32 base, u32 step) {
    const std::uint64_t d = tcgen05_descriptor(t, base, t.k_slice(step));
    const u32 element = t.element_bits / 8u, per_step = 32 / element;
    u32 wrong = 0;
    for (u32 r = 0; r < t.rows; ++r)
        for (u32 k = 0; k < per_step; ++k) {
            const bool mn = t.order == mn_major;
            wrong += operand_address(d, mn, (mn ? r : k) * element, mn ? k : r) !=
                     base + t.byte_offset(r, step * per_step + k);
        }
    return wrong;
}

}  // namespace

TEST_CASE("every legal instruction has the descriptor of the ISA's tables") {
    u32 legal = 0, wrong = 0, accepted_types = 0;
    for (const K kind : kinds)
        for (const S a : types)
            for (const S b : types)
                for (const S d : {S::f16, S::f32, S::s32})
                    for (const S scale : {S::none, S::ue8m0, S::ue4m3})
                        for (u32 flags = 0; flags < 64; ++flags)
                            for (const u32 m : {32u, 64u, 128u, 256u})
                                for (const u32 n : {8u, 24u, 128u, 256u}) {
                                    tcgen05_instruction i{kind, d, a, b, scale};
                                    i.a_major = flags & 1 ? mn_major : k_major;
                                    i.b_major = flags & 2 ? mn_major : k_major;
                                    i.negate_a = flags & 4, i.negate_b = flags & 8, i.sparse = flags & 16;
                                    i.saturate = flags & 32;
                                    i.m = m, i.n = n;
                                    if (instruction_error(i) != tcgen05_error::ok) continue;
                                    ++legal;
                                    wrong += mismatches(i);
                                    accepted_types +=
                                        table_code(kind, a).has_value() && table_code(kind, b).has_value();
                                }
    INFO(legal << " instructions");
    CHECK(wrong == 0);
    CHECK(accepted_types == legal);
    CHECK(legal > 10000);
}

namespace {

/// The N of PTX ISA 9.7.16.2.1 and CUTLASS, the narrower where they differ, written out: "first-last/step" for each
/// row.
struct shape_row {
    std::vector<K> kinds;
    u32 group, m;
    int sparse, in_tmem;  ///< 0 no, 1 yes, 2 both
    u32 first, last, step;
};
bool table_has(K kind, u32 group, bool sparse, bool in_tmem, u32 m, u32 n) {
    const std::vector<K> halves{K::f16, K::tf32}, bytes{K::f8f6f4}, floats{K::f16, K::tf32, K::f8f6f4}, integers{K::i8};
    const std::vector<K> packed{K::mxf4, K::mxf4nvf4}, scaled{K::mxf8f6f4, K::mxf4, K::mxf4nvf4};
    static const std::vector<shape_row> rows = {
        {floats, 1, 64, 2, 2, 8, 256, 8},      {floats, 1, 128, 2, 2, 16, 256, 16},
        {integers, 1, 64, 2, 2, 8, 8, 8},      {integers, 1, 64, 2, 2, 16, 256, 16},
        {integers, 1, 128, 2, 2, 16, 256, 16}, {scaled, 1, 128, 2, 2, 8, 256, 8},
        {halves, 2, 128, 2, 0, 16, 256, 16},   {halves, 2, 256, 2, 0, 16, 256, 16},
        {halves, 2, 128, 2, 1, 32, 256, 32},   {halves, 2, 256, 2, 1, 32, 256, 32},
        {bytes, 2, 128, 0, 0, 16, 256, 16},    {bytes, 2, 256, 0, 0, 16, 256, 16},
        {bytes, 2, 128, 2, 1, 32, 256, 32},    {bytes, 2, 256, 2, 1, 32, 256, 32},
        {bytes, 2, 128, 1, 0, 32, 256, 32},    {bytes, 2, 256, 1, 0, 32, 256, 32},
        {integers, 2, 128, 2, 2, 32, 256, 32}, {integers, 2, 256, 2, 2, 32, 256, 32},
        {scaled, 2, 256, 2, 2, 16, 256, 16},   {packed, 2, 128, 2, 2, 16, 256, 16},
    };
    for (const shape_row& r : rows) {
        if (r.group != group || r.m != m || (r.sparse != 2 && r.sparse != sparse) ||
            (r.in_tmem != 2 && r.in_tmem != in_tmem))
            continue;
        for (const K k : r.kinds)
            if (k == kind && n >= r.first && n <= r.last && (n - r.first) % r.step == 0) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("every shape is one of the table's, and the reverse") {
    u32 wrong = 0, legal = 0;
    for (const K kind : kinds)
        for (u32 flags = 0; flags < 8; ++flags)
            for (u32 m = 0; m <= 320; m += 8)
                for (u32 n = 0; n <= 320; ++n) {
                    const tcgen05_form form{1 + (flags & 1), (flags & 2) != 0, (flags & 4) != 0, false};
                    const bool has = has_shape(kind, form, m, n);
                    wrong += has != table_has(kind, form.group, form.sparse, form.a_in_tmem, m, n);
                    legal += has;
                }
    CHECK(wrong == 0);
    CHECK(legal > 1000);
    for (u32 m = 0; m <= 320; ++m)
        for (u32 n = 0; n <= 320; ++n) {
            const bool stationary = (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256);
            wrong += has_shape(K::f16, {1, false, false, true}, m, n) != stationary;
            wrong += has_shape(K::f16, {2, false, false, true}, m, n);
        }
    CHECK(wrong == 0);
}

TEST_CASE("selectors, shifts and scale ids land in their fields") {
    u32 wrong = 0;
    for (u32 v = 0; v < 4; ++v) {
        tcgen05_instruction i = gemm;
        i.sparse = true;
        i.sparsity_selector = static_cast<u8>(v);
        i.max_shift = static_cast<u8>(v == 0 ? 0 : 4 << v);
        REQUIRE(instruction_error(i) == tcgen05_error::ok);
        wrong += mismatches(i);
        for (u32 w = 0; w < 4; ++w) {
            tcgen05_instruction s{K::mxf8f6f4, S::f32, S::e4m3, S::e2m1, S::ue8m0};
            s.m = 256, s.n = 64;
            s.scale_a_id = static_cast<u8>(v), s.scale_b_id = static_cast<u8>(w);
            REQUIRE(instruction_error(s) == tcgen05_error::ok);
            wrong += mismatches(s);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("tcgen05 finds every element of every K step through the descriptor") {
    u32 steps = 0, wrong = 0;
    for (const S type : {S::bf16, S::tf32, S::e4m3, S::s8, S::e2m1x2, S::e3m2})
        for (const swizzle_mode s : {swizzle_32b, swizzle_64b, swizzle_128b, core_matrices, swizzle_128b_base32})
            for (const major order : {k_major, mn_major})
                for (const u32 rows : {8u, 32u, 64u, 128u, 256u})
                    for (const u32 cols : {8u, 16u, 32u, 64u, 128u, 256u}) {
                        const tile_layout t = make_tile_layout(type, rows, cols, order, s);
                        if (operand_error(t, sm_100a) != tile_error::ok || t.bytes() > 128 * 1024) continue;
                        for (u32 step = 0; step < t.k_slices(); ++step, ++steps)
                            wrong += slice_mismatches(t, 3 * t.alignment(), step);
                    }
    INFO(steps << " K steps");
    CHECK(wrong == 0);
    CHECK(steps > 500);
}
