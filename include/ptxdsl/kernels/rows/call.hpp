// SPDX-License-Identifier: Apache-2.0
// What the calls of row kernels share: views without types, options, and the launch of a kernel by its arguments.
#pragma once

#include <ptxdsl/kernels/call_check.hpp>
#include <ptxdsl/kernels/compiled.hpp>
#include <ptxdsl/kernels/memory_check.hpp>
#include <ptxdsl/kernels/rows/plan.hpp>
#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ptxdsl::kernels {

/// What a call of a row kernel may say.
struct row_options {
    bool programmatic = true;            ///< may be placed on the device before the kernel ahead of it has ended
    std::optional<row_plan> plan{};      ///< instead of `plan_rows`; its width has to suit the matrices
    std::optional<u32> prefetch_rows{};  ///< rows from one that is loaded to the one prefetched into L2, 0: none;
                                         ///< default: `l2_prefetch_distance`
};

/// What a call of an element kernel may say.
struct element_options {
    bool programmatic = true;            ///< as in `row_options`
    std::optional<element_plan> plan{};  ///< instead of the library's; its width and flatness are those of the matrices
    std::optional<u32> prefetch_blocks{};  ///< blocks that prefetch into L2 before they wait; default:
                                           ///< `l2_prefetch_distance`
};

namespace detail {

/// A matrix as row kernels see it.
struct row_view {
    std::uint64_t address = 0, rows = 0, columns = 0, stride = 0;
    u32 element = 1;  ///< bytes
    bool contiguous = true;

    /// What it is to the checks of memory.
    [[nodiscard]] memory_rows named(std::string_view name) const noexcept {
        return {name, address, rows, columns * element, stride * element, element};
    }
};

template <class T, std::size_t Rank>
[[nodiscard]] row_view rows_of(const tensor_view<T, Rank>& t) noexcept {
    static_assert(Rank <= 2, "PTXDSL-J09: a matrix is a view of rank 2, a vector one of rank 1");
    row_view v{.address = t.data().address, .rows = 1, .columns = t.size(Rank - 1), .stride = t.size(Rank - 1)};
    v.element = sizeof(T);
    if constexpr (Rank == 2) v.rows = t.size(0), v.stride = t.stride(0);
    v.contiguous = t.stride(Rank - 1) == 1 || v.columns == 1;
    return v;
}

/// Scales of blocks: rank 2, any strides.
struct scale_view {
    std::uint64_t address = 0, rows = 0, columns = 0, row_stride = 0, column_stride = 0;
};
template <class T>
[[nodiscard]] scale_view scales_of(const tensor_view<T, 2>& t) noexcept {
    return {t.data().address, t.size(0), t.size(1), t.stride(0), t.stride(1)};
}

template <class T>
inline constexpr bool row_element = std::is_same_v<T, f32> || std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
template <class T>
inline constexpr bool fp8_element = std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>;

/// `f.template operator()<T>()` for the element type of a row kernel.
template <class F>
[[nodiscard]] error with_row_element(isa::scalar type, const F& f) {
    switch (type) {
        case isa::scalar::f32: return f.template operator()<f32>();
        case isa::scalar::bf16: return f.template operator()<bf16>();
        default: return f.template operator()<f16>();
    }
}
template <class F>
[[nodiscard]] error with_fp8_element(isa::scalar type, const F& f) {
    return type == isa::scalar::e4m3 ? f.template operator()<e4m3>() : f.template operator()<e5m2>();
}

}  // namespace detail

}  // namespace ptxdsl::kernels
