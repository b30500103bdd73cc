// SPDX-License-Identifier: Apache-2.0
// Which element of a matrix sits in which register of which thread, for the tensor-core instructions
// (PTX ISA 9.0: 9.7.14.5 mma.sync, ldmatrix, stmatrix fragments; 9.7.15.5 wgmma register fragments).
//
// All of these fragments are one family. Four neighbouring lanes (a quad) share a line of the matrix and each owns
// `run` consecutive elements of it; the eight quads of a warp own eight lines; fragments sixteen lines high repeat
// that for the lines eight below before they move on along the line. `fragment_layout` is that rule as a value.
#pragma once

#include <ptxdsl/isa/types.hpp>

namespace ptxdsl {

/// A row and a column of a matrix, elements.
struct matrix_index {
    u32 row = 0;
    u32 col = 0;
    constexpr bool operator==(const matrix_index&) const = default;
};

/// A place in a fragment: thread (0..31 of a warp, 0..127 of a warpgroup), register of that thread, and the element
/// inside the register, counted from its least significant bits.
struct fragment_index {
    u32 thread = 0;
    u32 reg = 0;
    u32 part = 0;
    constexpr bool operator==(const fragment_index&) const = default;
};

/// A fragment as a value (structural, so it is a template argument too).
struct fragment_layout {
    isa::scalar element = isa::scalar::none;  ///< what the matrix holds
    isa::scalar reg = isa::scalar::none;      ///< type of each register in PTX
    u8 packed = 1;                            ///< elements a register holds
    u8 run = 1;                               ///< consecutive elements one lane owns along a line
    u8 halves = 2;                            ///< 2 when lines 8 apart alternate in the registers, else 1
    u8 warps = 1;                             ///< 1 for a warp's fragment, 4 for a warpgroup's
    bool lines_are_columns = false;           ///< B operands: a line runs along K, down a column
    u16 lines = 0;                            ///< extent across lines, elements
    u16 length = 0;                           ///< extent along a line, elements

    constexpr bool operator==(const fragment_layout&) const = default;

    [[nodiscard]] constexpr u32 rows() const noexcept { return lines_are_columns ? length : lines; }
    [[nodiscard]] constexpr u32 cols() const noexcept { return lines_are_columns ? lines : length; }
    [[nodiscard]] constexpr u32 threads() const noexcept { return 32u * warps; }
    /// Elements each thread holds.
    [[nodiscard]] constexpr u32 elements() const noexcept { return u32{lines} * length / threads(); }
    /// Registers each thread holds.
    [[nodiscard]] constexpr u32 registers() const noexcept { return elements() / packed; }

    /// The element of the matrix at a place of the fragment.
    [[nodiscard]] constexpr matrix_index at(fragment_index f) const noexcept {
        const u32 lane = f.thread % 32;
        const u32 index = f.reg * packed + f.part;
        const u32 line = f.thread / 32 * (8u * halves) + index / run % halves * 8 + lane / 4;
        const u32 along = index / (u32{run} * halves) * (4u * run) + lane % 4 * run + index % run;
        return lines_are_columns ? matrix_index{along, line} : matrix_index{line, along};
    }

    /// The place of the fragment that holds an element; inverse of `at`.
    [[nodiscard]] constexpr fragment_index find(matrix_index m) const noexcept {
        const u32 line = lines_are_columns ? m.col : m.row;
        const u32 along = lines_are_columns ? m.row : m.col;
        const u32 thread = line / (8u * halves) * 32 + line % 8 * 4 + along / run % 4;
        const u32 index = (along / (4u * run) * halves + line / 8 % halves) * run + along % run;
        return {thread, index / packed, index % packed};
    }

    /// Whether one register of a warp is one 8-line matrix of `ldmatrix`/`stmatrix` (`.m8n8`, 16 bytes a line).
    [[nodiscard]] constexpr bool is_matrix_movable() const noexcept {
        return run == packed && packed * isa::bits(element) == 32;
    }
    /// Whether `.trans` works too: it exchanges 16-bit elements.
    [[nodiscard]] constexpr bool is_matrix_transposable() const noexcept {
        return is_matrix_movable() && isa::bits(element) == 16;
    }
    /// First element of the 16-byte memory row whose address `lane` supplies when `ldmatrix`/`stmatrix` moves the
    /// registers from `first_register` on. Matrix `lane / 8` is register `first_register + lane / 8`; `.x1` and `.x2`
    /// use the addresses of lanes 0..7 and 0..15 only. Memory rows run along a line of the fragment, or across lines
    /// with `.trans`. `warp` selects the warp of a warpgroup's fragment.
    [[nodiscard]] constexpr matrix_index matrix_row(u32 lane, u32 first_register = 0, bool trans = false,
                                                    u32 warp = 0) const noexcept {
        const matrix_index corner = at({warp * 32, first_register + lane / 8, 0});
        const bool step_column = lines_are_columns != trans;
        return step_column ? matrix_index{corner.row, corner.col + lane % 8}
                           : matrix_index{corner.row + lane % 8, corner.col};
    }
};

namespace detail {

/// Operand fragment: 32-bit registers full of neighbours along K.
[[nodiscard]] constexpr fragment_layout operand_fragment(isa::scalar element, u32 lines, u32 k, u8 warps,
                                                         bool lines_are_columns) noexcept {
    const unsigned bits = isa::bits(element);
    const bool wide = bits == 64;  // f64 fragments hold one element in one 64-bit register
    const u8 packed = static_cast<u8>(wide ? 1 : 32 / bits);
    const u8 halves = lines == 8 ? 1 : 2;
    return {element,
            wide ? isa::scalar::f64 : isa::scalar::b32,
            packed,
            packed,
            halves,
            warps,
            lines_are_columns,
            static_cast<u16>(lines),
            static_cast<u16>(k)};
}

/// Accumulator fragment: pairs of neighbours along N; f16 pairs share a 32-bit register.
[[nodiscard]] constexpr fragment_layout accumulator_fragment(isa::scalar element, u32 m, u32 n, u8 warps) noexcept {
    const bool packs = isa::bits(element) == 16;
    const u8 halves = m == 8 ? 1 : 2;
    return {element,
            packs ? isa::scalar::b32 : element,
            static_cast<u8>(packs ? 2 : 1),
            2,
            halves,
            warps,
            false,
            static_cast<u16>(m),
            static_cast<u16>(n)};
}

}  // namespace detail

// ---- wgmma (PTX ISA 9.7.15.5.1.1) -----------------------------------------------------------------------------------

/// Accumulator D of `wgmma.mma_async.m64nNk*`: N/2 registers of f32 or s32, or N/4 registers of packed f16.
[[nodiscard]] constexpr fragment_layout wgmma_accumulator(isa::scalar element, u32 n) noexcept {
    return detail::accumulator_fragment(element, 64, n, 4);
}
/// A in registers: m64 by 32 bytes of K (k16 for 16-bit types, k8 for tf32, k32 for 8-bit), four b32 registers.
[[nodiscard]] constexpr fragment_layout wgmma_a_fragment(isa::scalar element) noexcept {
    return detail::operand_fragment(element, 64, 256 / isa::bits(element), 4, false);
}

// ---- mma.sync (PTX ISA 9.7.14.5) ------------------------------------------------------------------------------------

/// A of `mma.sync.m16n8kK` (row-major m16 x K): f16, bf16 (k8, k16), tf32 (k4, k8), 8-bit (k16, k32), s4/u4, b1, f64.
[[nodiscard]] constexpr fragment_layout mma_a_fragment(isa::scalar element, u32 k, u32 m = 16) noexcept {
    return detail::operand_fragment(element, m, k, 1, false);
}
/// B of `mma.sync.m16n8kK` (K x n8, lines down the columns).
[[nodiscard]] constexpr fragment_layout mma_b_fragment(isa::scalar element, u32 k) noexcept {
    return detail::operand_fragment(element, 8, k, 1, true);
}
/// C and D of `mma.sync.m16n8k*`: four registers of f32 or s32, two of packed f16, four of f64.
[[nodiscard]] constexpr fragment_layout mma_accumulator(isa::scalar element, u32 m = 16) noexcept {
    return detail::accumulator_fragment(element, m, 8, 1);
}

// ---- the types ------------------------------------------------------------------------------------------------------

/// Accumulator fragment type of `wgmma` with `N` columns; `layout` is the map.
template <ptx_type T, u32 N>
struct wgmma_acc_layout {
    using element_type = T;
    static constexpr fragment_layout layout = wgmma_accumulator(scalar_of<T>, N);
};
/// A fragment type of `wgmma` in registers.
template <ptx_type T>
struct wgmma_a_layout {
    using element_type = T;
    static constexpr fragment_layout layout = wgmma_a_fragment(scalar_of<T>);
};
/// A fragment type of `mma.sync.m16n8kK`.
template <ptx_type T, u32 K>
struct mma_a_layout {
    using element_type = T;
    static constexpr fragment_layout layout = mma_a_fragment(scalar_of<T>, K);
};
/// B fragment type of `mma.sync.m16n8kK`.
template <ptx_type T, u32 K>
struct mma_b_layout {
    using element_type = T;
    static constexpr fragment_layout layout = mma_b_fragment(scalar_of<T>, K);
};
/// C and D fragment type of `mma.sync.m16n8k*`.
template <ptx_type T>
struct mma_acc_layout {
    using element_type = T;
    static constexpr fragment_layout layout = mma_accumulator(scalar_of<T>);
};

/// A type that carries a fragment map.
template <class T>
concept fragment_type = requires { requires T::layout == fragment_layout(T::layout); };

}  // namespace ptxdsl
