// SPDX-License-Identifier: Apache-2.0
// The signature of a kernel as types: what the DSL declares and what a launch must pass. Plain data, no `<string>`.
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cstddef>
#include <cstdint>

namespace ptxdsl {

/// Parameter list of a kernel, in PTX order. Each `P` is a scalar type (`u32`, `f32`, `bf16` ...), a
/// `pointer_param` or a `tensor_map_param`.
template <class... P>
struct param_list {
    static constexpr std::size_t size = sizeof...(P);
};

/// A global-memory pointer. `T` is const for memory the kernel only reads.
/// `Align`: alignment in bytes the kernel relies on; checked at every launch. `Nullable`: null may be passed.
template <class T, unsigned Align = alignof(T), bool Nullable = false>
struct pointer_param {
    static_assert(Align != 0 && (Align & (Align - 1)) == 0,
                  "PTXDSL-J06: the alignment of a pointer parameter is a power of two, in bytes");
    using element = T;
    static constexpr unsigned align = Align;
    static constexpr bool nullable = Nullable;
};

/// A tensor map passed by value (`.param .align 64 .b8 name[128]`). `Map` has `static constexpr tensor_map_spec spec`.
/// `Writes`: the kernel stores or reduces through the map, so a view of const elements cannot be passed.
template <class Map, bool Writes = false>
struct tensor_map_param {
    using map = Map;
    static constexpr bool writes = Writes;
};

/// Where a line of PTX comes from in the C++ source; line 0 when nothing is known.
struct source_line {
    string_view file;
    std::uint32_t line = 0;
};

/// What one kernel needs of a launch. Zero means "not declared".
struct kernel_resources {
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t threads[3] = {0, 0, 0};  ///< `.reqntid`: the block must be exactly this
    std::uint32_t max_threads = 0;         ///< `.maxntid`: threads of a block at most
    std::uint32_t cluster[3] = {0, 0, 0};  ///< `.reqnctapercluster`, in blocks
    std::uint32_t least_cluster = 0;       ///< blocks that the cluster a launch gives has at least: it reaches so far
    bool uses_pdl_wait = false;            ///< the kernel executes `griddepcontrol.wait`
};

// The enumerators below have the values of the driver's enumerations (checked against cuda.h by a test).

/// (Tiles have `swizzle_mode`, dsl/tile.hpp; this is the tensor map's own enumeration.)
/// How a tensor map permutes 16-byte chunks in shared memory, so that columns do not collide in one bank.
enum class map_swizzle : std::uint8_t { none, b32, b64, b128, b128_atom_32b, b128_atom_32b_flip_8b, b128_atom_64b };
/// Interleaved channel layouts (NC/8HWC8, NC/16HWC16).
enum class map_interleave : std::uint8_t { none, b16, b32 };
/// Bytes the L2 fetches around each request.
enum class l2_promotion : std::uint8_t { none, b64, b128, b256 };
/// What elements outside the tensor read as: zero, or a NaN that FMA units treat as zero.
enum class oob_fill : std::uint8_t { zero, nan };
/// Boxes, image columns, or the one-dimensional image columns of sm_100.
enum class map_kind : std::uint8_t { tiled, im2col, im2col_wide };
enum class im2col_wide_mode : std::uint8_t { w, w128 };
/// How the bytes of an element are read. `natural` follows the element type; the packed formats are those of fp4 and
/// fp6.
enum class map_format : std::uint8_t { natural, f32_ftz, tf32_ftz, u4_align8, u4_align16, u6_align16 };

/// The part of a tensor map that the kernel's code relies on. Dimension 0 is the innermost one, as in PTX coordinates.
struct tensor_map_spec {
    isa::scalar element = isa::scalar::none;
    std::uint8_t rank = 0;
    map_kind kind = map_kind::tiled;
    map_swizzle swizzle = map_swizzle::none;
    map_interleave interleave = map_interleave::none;
    l2_promotion promotion = l2_promotion::b128;
    oob_fill fill = oob_fill::zero;
    map_format format = map_format::natural;
    im2col_wide_mode wide = im2col_wide_mode::w;
    std::uint32_t box[5] = {1, 1, 1, 1, 1};              ///< tiled: elements
    std::uint32_t element_strides[5] = {1, 1, 1, 1, 1};  ///< step along each dimension, 1 to 8
    std::int32_t lower[3] = {0, 0, 0};                   ///< im2col: lower corner of the pixel box along W, H, D
    std::int32_t upper[3] = {0, 0, 0};                   ///< im2col: upper corner, relative to the far end
    std::uint32_t channels = 0;                          ///< im2col: channels per pixel
    std::uint32_t pixels = 0;                            ///< im2col: pixels per column

    constexpr bool operator==(const tensor_map_spec&) const = default;
};

/// A map spec as a type: `tensor_map_param<map_constant<my_spec>>`.
template <tensor_map_spec S>
struct map_constant {
    static constexpr tensor_map_spec spec = S;
};

}  // namespace ptxdsl
