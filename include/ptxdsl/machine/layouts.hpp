// SPDX-License-Identifier: Apache-2.0
// Which bytes of shared memory a matrix descriptor means (PTX ISA 9.7.15.5.1 and 9.7.16.4.1): rows of 16-byte pieces in
// core matrices of eight rows, permuted by the swizzle.
#pragma once

#include <cstdint>

namespace ptxdsl::machine {

enum class layout_family : std::uint8_t { wgmma, tcgen05 };

/// A descriptor of a tile in shared memory.
class tile_reader {
public:
    constexpr tile_reader(std::uint64_t descriptor, layout_family family) noexcept
        : start_(static_cast<std::uint32_t>(descriptor & 0x3fffu) << 4),
          stride_(static_cast<std::uint32_t>(descriptor >> 32 & 0x3fffu) << 4),
          leading_(static_cast<std::uint32_t>(descriptor >> 16 & 0x3fffu) << 4),
          swizzle_(family == layout_family::wgmma ? wgmma_swizzle(descriptor >> 62 & 3u)
                                                  : tcgen05_swizzle(descriptor >> 61 & 7u)) {}

    /// Calls `f(low, high)` for runs of bytes that `rows` rows of `row_bytes` bytes certainly cover. Where rows run
    /// along M or N, only the first core matrix is certain here.
    template <class F>
    constexpr void spans(std::uint32_t rows, std::uint32_t row_bytes, bool along_mn, const F& f) const {
        if (along_mn) return f(start_, start_ + 16);
        for (std::uint32_t r = 0; r < rows; ++r)
            for (std::uint32_t c = 0; c < row_bytes / 16; ++c) {
                const std::uint32_t at = swizzle_ == 0 ? start_ + r / 8 * stride_ + r % 8 * 16 + c * leading_
                                                       : permuted(start_ + r / 8 * stride_ + r % 8 * swizzle_ + c * 16);
                f(at, at + 16);
            }
    }

private:
    [[nodiscard]] static constexpr std::uint32_t wgmma_swizzle(std::uint64_t mode) noexcept {
        return mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 0;
    }
    [[nodiscard]] static constexpr std::uint32_t tcgen05_swizzle(std::uint64_t mode) noexcept {
        return mode == 2 ? 128 : mode == 4 ? 64 : mode == 6 ? 32 : 0;
    }
    [[nodiscard]] constexpr std::uint32_t permuted(std::uint32_t at) const noexcept {
        return at ^ ((at >> 7 & (swizzle_ / 16 - 1)) << 4);
    }

    std::uint32_t start_, stride_, leading_, swizzle_;  ///< bytes; swizzle 0: none
};

}  // namespace ptxdsl::machine
