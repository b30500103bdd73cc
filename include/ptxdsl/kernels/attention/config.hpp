// SPDX-License-Identifier: Apache-2.0
// What an attention kernel is made of: head sizes, tile shape, depth of the ring, and which of the optional parts it
// has. Plain values; each distinct one is one kernel.
#pragma once

#include <ptxdsl/dsl/tile.hpp>

#include <compare>

namespace ptxdsl::kernels {

/// One kernel's shape. `valid()` says whether the library can build it.
struct attention_config {
    u32 d = 128;     ///< elements of a query and of a key
    u32 dv = 128;    ///< elements of a value and of a result
    u32 bm = 128;    ///< queries of a tile: 64 for each consumer warpgroup, of which there are two or three
    u32 bn = 128;    ///< keys of a step
    u32 stages = 2;  ///< steps of keys, and of values, that shared memory holds

    constexpr bool operator==(const attention_config&) const = default;

    [[nodiscard]] constexpr u32 consumers() const noexcept { return bm / 64; }
    [[nodiscard]] constexpr u32 threads() const noexcept { return 128 * (1 + consumers()); }
    /// Registers a consumer's thread keeps; together with the producer's no more than a block starts with.
    [[nodiscard]] constexpr u32 consumer_registers() const noexcept { return consumers() == 2 ? 240 : 160; }
    [[nodiscard]] constexpr u32 producer_registers() const noexcept { return consumers() == 2 ? 24 : 32; }
    /// Tiles of queries that shared memory holds: with two, the first products of a tile go on while the results of the
    /// one before it are stored.
    [[nodiscard]] constexpr u32 query_slots() const noexcept { return bytes_with(2) <= most_bytes ? 2 : 1; }
    /// Shared memory of a block.
    [[nodiscard]] constexpr u32 shared_bytes() const noexcept { return bytes_with(query_slots()); }
    [[nodiscard]] constexpr bool valid() const noexcept {
        const bool heads = d % 32 == 0 && dv % 32 == 0 && d >= 32 && dv >= 32 && dv <= d && d <= 256;
        const bool tile = bm % 64 == 0 && (consumers() == 2 || consumers() == 3) && bn % 16 == 0 && bn >= 16 &&
                          bn <= 256 && stages >= 2;
        // Logits and results as f32, and the weights as pairs of 16 bits.
        const bool registers = bn / 2 + dv / 2 + bn / 4 + 32 <= consumer_registers();
        return heads && tile && registers && shared_bytes() <= most_bytes;
    }

private:
    static constexpr u32 most_bytes = 227 * 1024;
    /// Queries, the rings of keys and values, barriers.
    [[nodiscard]] constexpr u32 bytes_with(u32 slots) const noexcept {
        return 2 * (slots * bm * d + stages * bn * (d + dv)) + 16 * (slots + 2 * stages);
    }
};

/// What is chosen when a kernel of some configuration is written; none of it is part of a type.
struct attention_form {
    bool right = false;    ///< a query sees no keys beyond some behind its own place: causal, or a window
    bool left = false;     ///< nor those further in front of it than a window
    bool softcap = false;  ///< logits go through a hyperbolic tangent
    bool packed = false;   ///< sequences one behind the other, their ends in memory
    bool used = false;     ///< how many keys a sequence has is in memory
    bool lse = false;      ///< the logarithms of the sums are written
    constexpr auto operator<=>(const attention_form&) const = default;
    /// Keys of a tile may belong to nobody or to the next sequence, and hold anything.
    [[nodiscard]] constexpr bool foreign_keys() const noexcept { return packed || used; }
};

}  // namespace ptxdsl::kernels
