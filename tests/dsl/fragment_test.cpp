// SPDX-License-Identifier: Apache-2.0
// fragment.hpp against the fragment tables of the PTX ISA written out case by case, and against themselves: every map
// is a bijection between (thread, register, part) and the matrix.
#include "catch.hpp"

#include <ptxdsl/dsl/fragment.hpp>

#include <set>
#include <utility>

using namespace ptxdsl;
using S = isa::scalar;

namespace {

// ---- counts, in constant evaluation ---------------------------------------------------------------------------------

static_assert(wgmma_acc_layout<f32, 256>::layout.registers() == 128 &&
              wgmma_acc_layout<f32, 256>::layout.reg == S::f32);
static_assert(wgmma_acc_layout<f16, 256>::layout.registers() == 64 && wgmma_acc_layout<f16, 256>::layout.reg == S::b32);
static_assert(wgmma_acc_layout<s32, 24>::layout.registers() == 12 && wgmma_acc_layout<s32, 24>::layout.reg == S::s32);
static_assert(wgmma_a_layout<bf16>::layout.registers() == 4 && wgmma_a_layout<bf16>::layout.cols() == 16);
static_assert(wgmma_a_layout<tf32>::layout.registers() == 4 && wgmma_a_layout<tf32>::layout.cols() == 8);
static_assert(wgmma_a_layout<e4m3>::layout.registers() == 4 && wgmma_a_layout<e4m3>::layout.cols() == 32);
static_assert(mma_a_layout<bf16, 16>::layout.registers() == 4 && mma_b_layout<bf16, 16>::layout.registers() == 2);
static_assert(mma_a_layout<tf32, 4>::layout.registers() == 2 && mma_b_layout<tf32, 4>::layout.registers() == 1);
static_assert(mma_acc_layout<f32>::layout.registers() == 4 && mma_acc_layout<f16>::layout.registers() == 2);
static_assert(fragment_type<wgmma_acc_layout<f32, 64>> && !fragment_type<int>);
template <fragment_layout L>
inline constexpr u32 registers_of = L.registers();
static_assert(registers_of<wgmma_acc_layout<f32, 64>::layout> == 32, "a layout is a template argument");

// ---- the tables of the ISA ------------------------------------------------------------------------------------------

struct place {
    u32 group, quad;  // the ISA's groupID and threadID_in_group
};
constexpr place place_of(u32 thread) { return {(thread & 31) >> 2, thread & 3}; }

/// D of wgmma.m64nN with 32-bit elements d0, d1, ... (PTX ISA 9.7.15.5.1.1).
matrix_index isa_wgmma_d(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    const u32 row = (thread >> 5) * 16 + group + ((i & 2) ? 8 : 0);
    return {row, (i >> 2) * 8 + quad * 2 + (i & 1)};
}

/// A of mma.m16n8k16 and of each warp of wgmma: elements a0..a7 of 16 bits.
matrix_index isa_a16(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return {(thread >> 5) * 16 + (upper ? group : group + 8), quad * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}

/// A with k8 of tf32: a0..a3.
matrix_index isa_a32(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    return {(thread >> 5) * 16 + (i == 0 || i == 2 ? group : group + 8), i < 2 ? quad : quad + 4};
}

/// A with k32 of 8 bits: a0..a15.
matrix_index isa_a8(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    const bool upper = i < 4 || (i >= 8 && i < 12);
    return {(thread >> 5) * 16 + (upper ? group : group + 8), quad * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

matrix_index isa_b16(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    return {quad * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
}
matrix_index isa_b32(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    return {i == 0 ? quad : quad + 4, group};
}
matrix_index isa_b8(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    return {quad * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
}
matrix_index isa_c(u32 thread, u32 i) {
    const auto [group, quad] = place_of(thread);
    return {i < 2 ? group : group + 8, quad * 2 + (i & 1)};
}

template <class Table>
u32 differences(const fragment_layout& f, Table table) {
    u32 wrong = 0;
    for (u32 t = 0; t < f.threads(); ++t)
        for (u32 i = 0; i < f.elements(); ++i) wrong += f.at({t, i / f.packed, i % f.packed}) != table(t, i);
    return wrong;
}

/// Every place maps into the matrix, to an element of its own, and back.
bool is_bijection(const fragment_layout& f) {
    std::set<std::pair<u32, u32>> seen;
    for (u32 t = 0; t < f.threads(); ++t)
        for (u32 r = 0; r < f.registers(); ++r)
            for (u32 p = 0; p < f.packed; ++p) {
                const matrix_index m = f.at({t, r, p});
                if (m.row >= f.rows() || m.col >= f.cols() || !seen.emplace(m.row, m.col).second) return false;
                if (f.find(m) != fragment_index{t, r, p}) return false;
            }
    return seen.size() == std::size_t{f.rows()} * f.cols();
}

// ---- ldmatrix -------------------------------------------------------------------------------------------------------

/// What `ldmatrix.m8n8.b16` gives: register j of lane t holds, of matrix j, the elements 2 (t % 4) and one more of row
/// t / 4 (with .trans, of column t / 4). `rows[l]` is the element whose address lane l supplies; memory rows run along
/// the fragment's line (across lines with .trans). Counts the elements that come out other than the fragment's.
u32 ldmatrix_differences(const fragment_layout& f, u32 first, u32 matrices, bool trans, u32 warp) {
    u32 wrong = 0;
    const u32 per_register = f.packed;
    const bool step_rows = f.lines_are_columns != trans;  // a memory row advances the matrix row, not the column
    for (u32 t = 0; t < 32; ++t)
        for (u32 j = 0; j < matrices; ++j)
            for (u32 p = 0; p < per_register; ++p) {
                const u32 across = t / 4, along = t % 4 * per_register + p;
                const u32 memory_row = trans ? along : across, position = trans ? across : along;
                const matrix_index start = f.matrix_row(j * 8 + memory_row, first, trans, warp);
                const matrix_index got = step_rows ? matrix_index{start.row + position, start.col}
                                                   : matrix_index{start.row, start.col + position};
                wrong += got != f.at({warp * 32 + t, first + j, p});
            }
    return wrong;
}

}  // namespace

TEST_CASE("fragments are the tables of the ISA") {
    for (u32 n = 8; n <= 256; n += 8) {
        CHECK(differences(wgmma_accumulator(S::f32, n), isa_wgmma_d) == 0);
        CHECK(differences(wgmma_accumulator(S::s32, n), isa_wgmma_d) == 0);
        CHECK(differences(wgmma_accumulator(S::f16, n), isa_wgmma_d) == 0);
    }
    CHECK(differences(wgmma_a_fragment(S::bf16), isa_a16) == 0);
    CHECK(differences(wgmma_a_fragment(S::tf32), isa_a32) == 0);
    CHECK(differences(wgmma_a_fragment(S::e5m2), isa_a8) == 0);
    CHECK(differences(mma_a_fragment(S::f16, 16), isa_a16) == 0);
    CHECK(differences(mma_a_fragment(S::tf32, 8), isa_a32) == 0);
    CHECK(differences(mma_a_fragment(S::s8, 32), isa_a8) == 0);
    CHECK(differences(mma_b_fragment(S::f16, 16), isa_b16) == 0);
    CHECK(differences(mma_b_fragment(S::tf32, 8), isa_b32) == 0);
    CHECK(differences(mma_b_fragment(S::u8, 32), isa_b8) == 0);
    CHECK(differences(mma_accumulator(S::f32), isa_c) == 0);
    CHECK(differences(mma_accumulator(S::f16), isa_c) == 0);
}

TEST_CASE("fragments are bijections") {
    for (u32 n = 8; n <= 256; n += 8)
        for (const S s : {S::f32, S::s32, S::f16}) CHECK(is_bijection(wgmma_accumulator(s, n)));
    for (const S s : {S::f16, S::bf16, S::tf32, S::e4m3, S::e5m2, S::s8, S::u8, S::s4, S::u4, S::b1}) {
        const u32 k = 256 / isa::bits(s);
        CHECK(is_bijection(wgmma_a_fragment(s)));
        for (const u32 extent : {k / 2, k}) {
            CHECK(is_bijection(mma_a_fragment(s, extent)));
            CHECK(is_bijection(mma_a_fragment(s, extent, 8)));
            CHECK(is_bijection(mma_b_fragment(s, extent)));
        }
    }
    for (const u32 k : {4u, 8u, 16u}) {
        CHECK(is_bijection(mma_a_fragment(S::f64, k)));
        CHECK(is_bijection(mma_b_fragment(S::f64, k)));
    }
    for (const S s : {S::f32, S::s32, S::f16, S::f64}) {
        CHECK(is_bijection(mma_accumulator(s)));
        CHECK(is_bijection(mma_accumulator(s, 8)));
    }
}

TEST_CASE("ldmatrix and stmatrix move whole fragments") {
    for (const S s : {S::f16, S::bf16, S::tf32, S::e4m3, S::s8}) {
        for (const fragment_layout& f : {mma_a_fragment(s, 256 / isa::bits(s)), wgmma_a_fragment(s)}) {
            REQUIRE(f.is_matrix_movable());
            for (u32 warp = 0; warp < f.warps; ++warp) CHECK(ldmatrix_differences(f, 0, 4, false, warp) == 0);
            if (f.is_matrix_transposable()) CHECK(ldmatrix_differences(f, 0, 4, true, 0) == 0);
        }
        const fragment_layout b = mma_b_fragment(s, 256 / isa::bits(s));
        CHECK(ldmatrix_differences(b, 0, 2, false, 0) == 0);
        CHECK(ldmatrix_differences(b, 1, 1, false, 0) == 0);
        CHECK(b.is_matrix_transposable() == (isa::bits(s) == 16));
        if (b.is_matrix_transposable()) CHECK(ldmatrix_differences(b, 0, 2, true, 0) == 0);
    }
    const fragment_layout d = wgmma_accumulator(S::f16, 64);
    for (u32 warp = 0; warp < 4; ++warp)
        for (u32 first = 0; first < d.registers(); first += 4) {
            CHECK(ldmatrix_differences(d, first, 4, false, warp) == 0);
            CHECK(ldmatrix_differences(d, first, 4, true, warp) == 0);
        }
    CHECK(!wgmma_accumulator(S::f32, 64).is_matrix_movable());
}
