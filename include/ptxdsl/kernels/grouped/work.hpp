// SPDX-License-Identifier: Apache-2.0
// Which tiles of which groups a cluster works on. The groups' rows are in memory: the schedule is made on the device,
// so that a captured graph follows them.
#pragma once

#include <ptxdsl/kernels/gemm/consumer.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

/// What is chosen when a grouped kernel is written.
struct grouped_variant {
    activation act = activation::none;
    /// Group g has the first `rows[g]` rows of matrix g of A and of C; else rows [rows[g], rows[g + 1]) of one matrix.
    bool masked = false;
    constexpr auto operator<=>(const grouped_variant&) const = default;
};

namespace detail {

/// A product of which each group of rows has a B of its own.
template <gemm_config C, class T, bool Gated>
struct grouped_spec : gemm_spec<C, T, T, Gated> {
    static constexpr bool grouped = true;
    static_assert(C.store == store_mode::tma && C.store_chunk(Gated) == 64 && C.cluster == 1 && !C.stream_k &&
                      !C.ping_pong() && !C.serpentine && C.split_k == 1 && C.bn / C.store_chunk(Gated) <= 8,
                  "PTXDSL-J09: a grouped product cannot be built of this gemm_config");
};

/// The kernel's parameters that say which rows are a group's.
struct grouped_rows {
    bool masked = false;
    global_ptr<const s32> rows;  ///< `grouped_variant::masked` says of what
    reg<u32> groups, most;       ///< `most`: rows of a matrix of A
};

/// A cluster's tiles, group by group: it takes every (number of clusters)-th of all groups' tiles. Each role walks the
/// groups for itself.
template <class S>
    requires(S::grouped)
class tile_scheduler<S> {
    static constexpr gemm_config C = S::config;

public:
    reg<u32> first, last;  ///< steps of K: all of them; `first` is never used

    constexpr tile_scheduler(k_t& k, const grouped_rows& r, const gemm_arguments& p, const gemm_place<S>& here)
        : last(here.steps),
          r_(r),
          block_(here.block),
          step_(here.clusters),
          col_tiles_(k.div(k.add(p.n, C.cluster_columns() - 1), C.cluster_columns()).named("col_tiles")),
          tile_(k.mov(here.cluster).named("tile")),
          group_(k.mov<u32>(0).named("group")),
          start_(k.mov<u32>(0).named("group_start")),
          end_(k.mov<u32>(0).named("group_end")),
          row_tiles_(k.mov<u32>(0).named("row_tiles")),
          tiles_(k.mov<u32>(0).named("tiles_of_group")) {
        if (!r_.masked) end_ = k.min(k.ld(r_.rows).template as<u32>(), r_.most);
        open(k);
        find(k);
    }
    [[nodiscard]] constexpr reg<pred> inside() const { return group_ < r_.groups; }
    /// Moves to the next tile; true when there is none.
    constexpr reg<pred> next(k_t& k) {
        tile_ = k.add(tile_, step_);
        find(k);
        return group_ >= r_.groups;
    }
    /// The present tile of this block. `batch` is the matrix of A and C.
    constexpr tile_coord coord(k_t& k) const {
        const auto per_panel = k.mul_lo(col_tiles_, C.group);
        const auto panel = k.div(tile_, per_panel);
        const auto top = k.mul_lo(panel, C.group);
        const auto height = k.min(k.sub(row_tiles_, top), C.group);
        const auto inside_panel = k.sub(tile_, k.mul_lo(panel, per_panel));
        const auto col = k.div(inside_panel, height);
        const auto row = k.add(top, k.sub(inside_panel, k.mul_lo(col, height)));
        const auto block_col = C.cluster_n > 1 ? k.mad_lo(col, C.cluster_n, block_.col) : col;
        return {k.mad_lo(row, C.bm, start_),
                k.mul_lo(block_col, C.bn),
                r_.masked ? group_.same() : k.template mov<u32>(0),
                {},
                end_.same()};
    }
    [[nodiscard]] constexpr const reg32& group() const { return group_; }

private:
    /// Rows and tiles of the present group.
    constexpr void open(k_t& k) {
        if (r_.masked) {
            end_ = k.min(k.max(k.ld(r_.rows + group_), 0).template as<u32>(), r_.most);
        } else {
            start_ = end_;
            end_ = k.max(k.min(k.ld(r_.rows + group_ + 1).template as<u32>(), r_.most), start_);
        }
        row_tiles_ = k.div(k.add(k.sub(end_, start_), C.bm - 1), C.bm);
        tiles_ = k.mul_lo(row_tiles_, col_tiles_);
    }
    /// Goes on to the group that has tile `tile_`, counted from the present one's first.
    constexpr void find(k_t& k) {
        k.while_([&] { return tile_ >= tiles_ && group_ < r_.groups; },
                 [&] {
                     tile_ = k.sub(tile_, tiles_);
                     group_ = k.add(group_, 1u);
                     k.if_(group_ < r_.groups, [&] { open(k); });
                 });
    }
    grouped_rows r_;
    block_in_cluster<S> block_;
    reg<u32> step_, col_tiles_;
    reg<u32> tile_, group_, start_, end_, row_tiles_, tiles_;
};

/// The producer: one thread that fills the ring, A from the group's rows, B from its matrix. Rows behind a group's last
/// are loaded and not stored.
template <class S>
class grouped_producer {
    static constexpr gemm_config C = S::config;

public:
    constexpr grouped_producer(k_t& k, const gemm_ring<S>& ring, const gemm_pointers<S>& g,
                               const block_in_cluster<S>& block)
        : ring_(ring), a_(k, g.a, block.col), b_(k, g.b, block.row), at_(k.producer_state(ring.pipe)) {
        if constexpr (C.cluster_n > 1) a_.multicast_to(block.row_mask(k));
    }
    constexpr void load(k_t& k, const tile_coord& pos, const reg32& group, const reg32& steps) const {
        const auto a_row = a_.first_row(k, pos.row), b_row = b_.first_row(k, pos.col);
        k.for_(steps, [&](reg32 i) {
            const auto x = k.mul_lo(i, S::bk);
            k.wait_empty(ring_.pipe, at_);
            const auto full = ring_.pipe.full(at_);
            k.mbarrier_arrive_expect_tx(full, ring_.a, ring_.b);
            a_.load(k, ring_.a[at_.slot()], x, a_row, pos.batch, full);
            b_.load(k, ring_.b[at_.slot()], x, b_row, group, full);
            k.advance(at_);
        });
    }

private:
    gemm_ring<S> ring_;
    operand_loader<typename S::a, typename S::a_part, typename S::map_a, C.cluster_n, C.a_hint> a_;
    operand_loader<typename S::b, typename S::b_part, typename S::map_b, C.cluster, C.b_hint> b_;
    typename gemm_ring<S>::pipe_t::producer_state at_;
};

}  // namespace detail

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
