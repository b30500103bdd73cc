// SPDX-License-Identifier: Apache-2.0
// What debug information must have (PTX ISA 9.0, 11.5): places that inlined code comes from, sections.
#pragma once

#include <ptxdsl/parse/tree.hpp>

#include <cstdint>

namespace ptxdsl::ptx::detail {

/// A set of `.loc` places.
class place_set {
public:
    struct place {
        std::uint32_t file = 0, line = 0, column = 0;
        bool used = false;
    };

    constexpr void insert(place p) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        place& s = slots_[slot(p)];
        if (!s.used) s = p, s.used = true, ++size_;
    }
    [[nodiscard]] constexpr bool contains(const place& p) const noexcept { return size_ != 0 && slots_[slot(p)].used; }

private:
    /// Where `p` is, or would be.
    [[nodiscard]] constexpr std::uint32_t slot(const place& p) const noexcept {
        const std::uint32_t mask = slots_.size() - 1;
        std::uint32_t h = (p.file * 0x9e3779b1u ^ p.line) * 0x85ebca6bu ^ p.column * 0xc2b2ae35u;
        for (h = (h ^ h >> 15) & mask;; h = (h + 1) & mask) {
            const place& s = slots_[h];
            if (!s.used || (s.file == p.file && s.line == p.line && s.column == p.column)) return h;
        }
    }
    constexpr void grow() {
        ptxdsl::detail::dynarray<place> old = static_cast<ptxdsl::detail::dynarray<place>&&>(slots_);
        slots_ = ptxdsl::detail::dynarray<place>();
        slots_.resize(old.size() == 0 ? 64 : 4 * old.size());
        for (const place& p : old)
            if (p.used) slots_[slot(p)] = p;
    }

    ptxdsl::detail::dynarray<place> slots_;
    std::uint32_t size_ = 0;
};

/// The place that the three numbers from `c` on name.
[[nodiscard]] constexpr place_set::place place_at(const tree_view& v, std::uint32_t c) noexcept {
    const auto number = [&](std::uint32_t n) { return static_cast<std::uint32_t>(integer_value(v.atom(n))); };
    return {number(c), number(c + 1), number(c + 2)};
}

/// Calls `missing(node)` for each `inlined_at` whose place no `.loc` before it has.
template <class Missing>
constexpr void check_inlined(const tree_view& v, Missing missing) {
    bool some = false;
    for (std::uint32_t n = 1; n < v.n_nodes && !some; ++n) some = v.kind(n) == node_kind::inlined;
    if (!some) return;
    place_set known;
    for (std::uint32_t n = 1; n < v.n_nodes; ++n) {
        if (v.kind(n) != node_kind::loc || v.children(n) < 3) continue;
        const std::uint32_t i = v.child(n, node_kind::inlined);
        if (i != 0 && !known.contains(place_at(v, i + 1 + (v[i].flags == node::has_offset ? 1u : 0u)))) missing(i);
        known.insert(place_at(v, n + 1));
    }
}

/// Whether the module has a debug section, as `.target …, debug` promises.
[[nodiscard]] constexpr bool has_debug_section(const tree_view& v) noexcept {
    for (std::uint32_t c = 1; c < v[0].end; c = v[c].end)
        if (v.kind(c) == node_kind::section || v.kind(c) == node_kind::dwarf) return true;
    return false;
}

}  // namespace ptxdsl::ptx::detail
