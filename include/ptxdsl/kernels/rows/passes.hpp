// SPDX-License-Identifier: Apache-2.0
// How a row kernel starts, and its passes over a row that is held or loaded again.
#pragma once

#include <ptxdsl/kernels/rows/reduce.hpp>

#include <cstddef>

namespace ptxdsl::kernels::detail {

/// A row kernel's start: nothing before this touches memory that the kernel ahead of it may still write.
constexpr void wait_for_previous_grid(k_t& k) {
    k.griddepcontrol_launch_dependents();
    k.griddepcontrol_wait();
}
/// Prefetches `bytes`, a multiple of 16, into L2 where `leads` holds. PTX ISA 9.7.9.25.4.5.
template <class Ptr>
constexpr void prefetch_l2(k_t& k, const reg<pred>& leads, const Ptr& from, const reg32& bytes) {
    k.at(leads).cp_async_bulk_prefetch_L2(from.template assume_aligned<16>(), bytes);
}

template <class T>
[[nodiscard]] constexpr global_ptr<T> row_at(k_t& k, const global_ptr<T>& base, const reg32& row,
                                             const reg<u64>& stride) {
    return base + k.mul_lo(k.cvt<u64>(row), stride);
}

/// The start of a kernel over rows of `matrices`: then the row `prefetch_rows` after this one is prefetched into
/// L2, where rows are whole 16-byte accesses (and end in registers: else they are read more than once).
template <class T, std::size_t N>
constexpr void start_rows(k_t& k, const row_plan& c, const row_team& team, const reg32& rows, const reg32& columns,
                          const reg32& prefetch_rows, const global_ptr<const T> (&matrices)[N],
                          const reg<u64> (&strides)[N]) {
    wait_for_previous_grid(k);
    if (c.width * sizeof(T) != 16 || c.reread) return;
    const auto row = k.add(team.row, prefetch_rows);
    const auto leads = team.leads() && row < rows;
    const auto bytes = k.mul_lo(columns, static_cast<u32>(sizeof(T)));
    // Of normal priority, such lines may leave before they are read: at 8192x8192 that costs a tenth.
    const cache_policy keep = k.createpolicy_fractional<L2::evict_last>(1.0f);
    for (std::size_t i = 0; i < N; ++i) {
        const auto from = row_at(k, matrices[i], row, strides[i]).template assume_aligned<16>();
        k.at(leads).cp_async_bulk_prefetch_L2(from, bytes, keep);
    }
}

/// Runs `body(positions, j)` on the accesses of a row that is worked on in passes: of one that does not fit in
/// registers `c.accesses` of each thread at a time, of one that is held access `j` of `all`.
template <class Body>
constexpr void for_row(k_t& k, const row_plan& c, const positions& all, const reg32& thread, const reg32& units,
                       Body&& whole_body) {
    if (c.held) {
        for (u32 j = 0; j < all.count; ++j) whole_body(slice_of(k, all, j, 1), j);
        return;
    }
    const auto body = [&](const positions& p) { whole_body(p, 0); };
    const u32 at_once = c.stride() * c.accesses;
    const auto whole = k.mul_lo(k.div(units, at_once), at_once);
    k.for_(k.mov<u32>(0), whole, at_once,
           [&](const reg32& base) { body(partition(k, c, c.accesses, true, k.add(base, thread), units)); });
    k.for_(whole, units, c.stride(),
           [&](const reg32& base) { body(partition(k, c, 1, false, k.add(base, thread), units)); });
}

/// The passes over a row that is held, or loaded again for each.
template <class T>
class row_passes {
public:
    constexpr row_passes(k_t& k, const row_plan& c, const global_ptr<const T>& x, const reg32& thread,
                         const reg32& units, float neutral)
        : c_(c), x_(x), thread_(thread), units_(units), neutral_(neutral) {
        if (!c_.held) return;
        rebind(all_, partition(k, c_, c_.accesses, c_.exact, thread_, units_));
        held_.load(k, x_, all_);
    }
    /// One pass: `body(positions, values)`; `load(positions)` gives the values where none are held.
    template <class Load, class Body>
    constexpr void next(k_t& k, const Load& load, Body&& body) {
        for_row(k, c_, all_, thread_, units_, [&](const positions& p, u32 j) {
            values v = c_.held ? held_.get(k, j, p, neutral_, passes_) : load(p);
            body(p, v);
        });
        ++passes_;
    }
    template <class Body>
    constexpr void next(k_t& k, Body&& body) {
        next(k, [&](const positions& p) { return load_row<T>(k, x_, p, neutral_); }, body);
    }

private:
    row_plan c_;
    global_ptr<const T> x_;
    reg32 thread_, units_;
    float neutral_;
    held_row<T> held_;
    positions all_;  ///< what is held
    u32 passes_ = 0;
};

}  // namespace ptxdsl::kernels::detail
