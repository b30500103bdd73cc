// SPDX-License-Identifier: Apache-2.0
// The pointers of a call before anything is launched: null, misaligned, or written where others are read.
#pragma once

#include <ptxdsl/runtime/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ptxdsl::kernels::detail {

/// Rows of bytes in memory, as a call reads or writes them.
struct memory_rows {
    std::string_view name;
    std::uint64_t address = 0, rows = 0, bytes = 0, stride = 0;  ///< of a row; from one to the next
    std::uint32_t align = 1;
    [[nodiscard]] std::uint64_t size() const noexcept { return rows == 0 ? 0 : (rows - 1) * stride + bytes; }
    [[nodiscard]] bool without_gaps() const noexcept { return rows <= 1 || stride == bytes; }
};

/// Whether some byte certainly belongs to both. Rows of different distances may pass each other: nothing is said of
/// them unless one has no gaps and holds the other's first byte.
[[nodiscard]] inline bool surely_overlap(const memory_rows& a, const memory_rows& b) noexcept {
    if (a.size() == 0 || b.size() == 0 || a.address >= b.address + b.size() || b.address >= a.address + a.size())
        return false;
    if (a.without_gaps() && b.without_gaps()) return true;
    const auto holds = [](const memory_rows& m, std::uint64_t byte) {
        if (byte < m.address || byte >= m.address + m.size()) return false;
        return m.rows <= 1 || m.stride == 0 || (byte - m.address) % m.stride < m.bytes;
    };
    // Of rows at one distance, and of a single row: where one begins, the other one is, or not at all.
    if (holds(a, b.address) || holds(b, a.address)) return true;
    if (a.rows > 1 && b.rows > 1 && a.stride != b.stride) return false;
    const memory_rows &low = a.address < b.address ? a : b, &high = a.address < b.address ? b : a;
    if (low.rows <= 1 || low.stride == 0) return false;
    const std::uint64_t into =
        (high.address - low.address) % low.stride;  // behind a row of `low`, in front of the next
    const std::uint64_t row = (high.address - low.address) / low.stride;
    return row + 1 < low.rows && into + high.bytes > low.stride;
}

/// One element is read and written at the same place: what follows is written by the thread that read it.
[[nodiscard]] inline bool in_place(const memory_rows& a, const memory_rows& b) noexcept {
    return a.address == b.address && (a.stride == b.stride || (a.rows <= 1 && b.rows <= 1));
}

/// Errors: `bad_argument` (J06) for a null or misaligned pointer, and for a result that lies over another matrix: in
/// any other way than in its very place, where `may_be_in_place`.
[[nodiscard]] inline error check_memory(std::string_view what, std::initializer_list<memory_rows> read,
                                        std::initializer_list<memory_rows> written, bool may_be_in_place = true) {
    for (const auto& list : {read, written})
        for (const memory_rows& m : list) {
            if (m.size() == 0) continue;
            if (m.address == 0)
                return {errc::bad_argument,
                        fmt::format("PTXDSL-J06: {}: {} is a null pointer; pass memory of the device", what, m.name)};
            if (m.address % m.align != 0)
                return {errc::bad_argument,
                        fmt::format("PTXDSL-J06: {}: the address 0x{:x} of {} is not a multiple of {} bytes, the size "
                                    "of its elements; pass an aligned pointer",
                                    what, m.address, m.name, m.align)};
        }
    for (const memory_rows& out : written)
        for (const auto& list : {read, written})
            for (const memory_rows& other : list) {
                if (other.name == out.name || (may_be_in_place && in_place(out, other)) || !surely_overlap(out, other))
                    continue;
                return {errc::bad_argument,
                        fmt::format("PTXDSL-J06: {}: {} (0x{:x}) lies over {} (0x{:x}): it is written while other "
                                    "blocks still read; give it memory of its own{}",
                                    what, out.name, out.address, other.name, other.address,
                                    may_be_in_place ? ", or the very same" : "")};
            }
    return {};
}

}  // namespace ptxdsl::kernels::detail
