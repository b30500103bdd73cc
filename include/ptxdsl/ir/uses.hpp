// SPDX-License-Identifier: Apache-2.0
// What the body of a kernel has done with its tiles so far: for rules about several calls together, which the builder
// knows by their types and the finished program no longer shows.
#pragma once

#include <cstdint>

namespace ptxdsl::ir {

/// Which rows of a tile the tensor core reads as one operand, in groups of eight rows; taller tiles are not followed.
struct operand_rows {
    std::uint32_t allocation = 0;
    std::uint32_t groups = 0;  ///< of the tile
    std::uint64_t read = 0;    ///< bit i: rows 8i to 8i + 7
    std::uint32_t where = 0;   ///< location of the first such read
    bool of_tcgen05 = false;
    bool all = false;  ///< read in other ways, too: nothing is said

    static constexpr std::uint32_t most_groups = 64;
    static constexpr std::uint64_t bits(std::uint32_t first, std::uint32_t n) noexcept {
        return (n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << first;
    }
};

/// Columns of tensor memory that a multiplication writes.
struct column_range {
    std::uint32_t base = 0;  ///< register that holds the address of the allocation
    std::uint32_t begin = 0, end = 0;
    std::uint32_t body = 0;   ///< the body of a branch or loop it stands in
    std::uint32_t word = 0;   ///< where in the program
    std::uint32_t where = 0;  ///< location
};

}  // namespace ptxdsl::ir
