// SPDX-License-Identifier: Apache-2.0
// The ring of stages, and the warp that fills it through TMA.
#pragma once

#include <ptxdsl/kernels/gemm/tile_scheduler.hpp>

#include <cstdint>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// The ring of stages, as both sides see it.
template <class S>
struct gemm_ring {
    static constexpr gemm_config C = S::config;
    using pipe_t = pipeline<"load">;
    shared_tile<typename S::a> a;
    shared_tile<typename S::b> b;
    pipe_t pipe;

    constexpr explicit gemm_ring(k_t& k)
        : a(k.smem<typename S::a>(C.stages, "a")),
          b(k.smem<typename S::b>(C.stages, "b")),
          pipe(k.make_pipeline<"load">(C.stages, arrivals<1>, arrivals<std::uint64_t{C.readers()} * C.sharers()>)) {}

    /// One thread initialises the barriers, and does what `also` says; afterwards every block of the cluster may use
    /// them. The arrival is relaxed: the fence has published the barriers, and a release would wait for more.
    template <class Also>
    constexpr void start(k_t& k, const reg32& tid, const Also& also) const {
        k.single_thread(tid == 0u, [&] {
            k.init(pipe);
            also();
        });
        k.fence_mbarrier_init();
        if constexpr (C.cluster_blocks() > 1) {
            k.template barrier_cluster_arrive<relaxed>();
            k.barrier_cluster_wait();
        } else {
            k.bar_sync();
        }
    }
};

/// The cache policy of an operand, made once; unbound without one.
constexpr reg<b64> make_policy(k_t& k, l2_hint hint) {
    switch (hint) {
        case l2_hint::evict_first: return k.createpolicy_fractional<L2::evict_first>();
        case l2_hint::evict_last: return k.createpolicy_fractional<L2::evict_last>();
        case l2_hint::normal: break;
    }
    return {};
}

/// How one block loads its part of an operand's tile: which part, for whom, with which policy. A block's part starts at
/// `Part` number `part` of the tile.
template <class Tile, class Part, class Map, u32 Shares, l2_hint Hint>
class operand_loader {
public:
    constexpr operand_loader(k_t& k, const Map& map, const reg32& part)
        : map_(map), part_(part), policy_(make_policy(k, Hint)) {}
    constexpr void multicast_to(const reg<u16>& mask) { mask_ = mask.same(); }

    /// First row of this block's part of the tile that starts at `row`.
    [[nodiscard]] constexpr reg32 first_row(k_t& k, const reg32& row) const {
        if constexpr (Shares > 1)
            return k.mad_lo(part_, Part::rows, row);
        else
            return row;
    }
    template <class Barrier>
    constexpr void load(k_t& k, const tile_stage<Tile>& stage, const reg32& x, const reg32& row, const reg32& batch,
                        const Barrier& full) const {
        if constexpr (Shares > 1)
            panels(k, stage.template part<Part>(part_), x, row, batch, full);
        else
            panels(k, stage, x, row, batch, full);
    }

private:
    template <class T, class Barrier>
    constexpr void panels(k_t& k, const tile_stage<T>& to, const reg32& x, const reg32& row, const reg32& batch,
                          const Barrier& full) const {
        for (u32 p = 0; p < T::layout.panels(); ++p) {
            const u32 step = T::layout.panel(p).inner_coordinate;
            if constexpr (T::layout.order == k_major)
                copy(k, to.panel(p), coords(k.add(x, step), row, batch), full);
            else
                copy(k, to.panel(p), coords(k.add(row, step), x, batch), full);
        }
    }
    template <class T, class Where, class Barrier>
    constexpr void copy(k_t& k, const T& to, const Where& where, const Barrier& full) const {
        if constexpr (Shares > 1 && Hint != l2_hint::normal)
            k.cp_async_bulk_tensor_multicast(to, map_, where, full, mask_, policy_);
        else if constexpr (Shares > 1)
            k.cp_async_bulk_tensor_multicast(to, map_, where, full, mask_);
        else if constexpr (Hint != l2_hint::normal)
            k.cp_async_bulk_tensor(to, map_, where, full, policy_);
        else
            k.cp_async_bulk_tensor(to, map_, where, full);
    }
    Map map_;
    reg<u32> part_;
    reg<u16> mask_;
    reg<b64> policy_;
};

/// The producer: one thread that fills the ring with the steps [first, last) of the tile at `pos`.
template <class S>
class gemm_producer {
    static constexpr gemm_config C = S::config;

public:
    constexpr gemm_producer(k_t& k, const gemm_ring<S>& ring, const typename S::map_a& a, const typename S::map_b& b,
                            const tile_raster<S>& raster)
        : raster_(raster),
          ring_(ring),
          a_(k, a, raster.block.col),
          b_(k, b, part_of_b(k, raster)),
          at_(k.producer_state(ring.pipe)) {
        const auto& block = raster.block;
        if constexpr (C.even_columns()) {
            const auto rows = C.cluster == 1 ? raster.columns : reg32(k.mul_lo(rows_of_part(k, raster), C.cluster));
            bytes_ = k.mad_lo(rows, S::b::bytes / C.bn, S::a::bytes).named("stage_bytes");
        }
        if constexpr (C.serpentine) backwards_ = k.mov<u32>(0).named("backwards");
        if constexpr (C.cluster_n > 1) a_.multicast_to(block.row_mask(k));
        if constexpr (C.cluster > 1) b_.multicast_to(block.column_mask(k));
    }

    constexpr void load(k_t& k, const tile_coord& pos, const reg32& first, const reg32& last) const {
        const auto a_row = a_.first_row(k, raster_.loaded_row(k, pos.row)), b_row = b_.first_row(k, pos.col);
        k.for_(first, last, 1u, [&](reg32 i) {
            const auto x = k.mul_lo(step_of(k, i, first, last), S::bk);
            k.wait_empty(ring_.pipe, at_);
            const auto full = ring_.pipe.full(at_);
            expect(k, full);
            a_.load(k, ring_.a[at_.slot()], x, a_row, pos.batch, full);
            b_.load(k, ring_.b[at_.slot()], x, b_row, pos.batch, full);
            k.advance(at_);
        });
        if constexpr (C.serpentine) {
            auto back = backwards();
            back = k.xor_(back, 1u);
        }
    }
    /// The same for the first item of a kernel that may start before the one ahead of it has ended: the weights' parts
    /// of the first stages are under way before the wait, the other operand's after it. The ring is empty, so nobody
    /// has to free a slot.
    constexpr void load_early(k_t& k, const tile_coord& pos, const reg32& first, const reg32& last) const {
        const auto a_row = a_.first_row(k, raster_.loaded_row(k, pos.row)), b_row = b_.first_row(k, pos.col);
        const auto head = k.min(k.sub(last, first), C.stages);
        const auto load_a = [&](const reg32& i) {
            a_.load(k, ring_.a[i], k.mul_lo(k.add(first, i), S::bk), a_row, pos.batch, ring_.pipe.full()[i]);
        };
        const auto load_b = [&](const reg32& i) {
            b_.load(k, ring_.b[i], k.mul_lo(k.add(first, i), S::bk), b_row, pos.batch, ring_.pipe.full()[i]);
        };
        k.for_(head, [&](reg32 i) {
            expect(k, ring_.pipe.full()[i]);
            if constexpr (C.swaps_operands())
                load_a(i);
            else
                load_b(i);
        });
        k.griddepcontrol_wait();
        k.for_(head, [&](reg32 i) {
            if constexpr (C.swaps_operands())
                load_b(i);
            else
                load_a(i);
            k.advance(at_);
        });
        load(k, pos, k.add(first, head), last);
    }

private:
    /// Rows of B that each of the blocks that share them loads (`gemm_config::loaded_columns`).
    static constexpr reg32 rows_of_part(k_t& k, const tile_raster<S>& raster) {
        return k.div(k.add(raster.columns, C.cluster - 1), C.cluster);
    }
    static constexpr reg32 part_of_b(k_t& k, const tile_raster<S>& raster) {
        if constexpr (C.even_columns() && C.cluster > 1)
            return k.mul_lo(raster.block.row, rows_of_part(k, raster));
        else
            return raster.block.row;
    }
    /// The bytes of a stage. Those of `even_columns` are known at run time: the tensor map's box has the rows that a
    /// tile has.
    template <class Barrier>
    constexpr void expect(k_t& k, const Barrier& full) const {
        if constexpr (C.even_columns())
            k.mbarrier_arrive_expect_tx(full, bytes_);
        else
            k.mbarrier_arrive_expect_tx(full, ring_.a, ring_.b);
    }
    /// What the `i`-th of the steps [first, last) loads.
    constexpr reg32 step_of(k_t& k, const reg32& i, const reg32& first, const reg32& last) const {
        if constexpr (C.serpentine)
            return k.selp(k.sub(k.sub(k.add(first, last), 1u), i), i, backwards() != 0u);
        else
            return i;
    }
    [[nodiscard]] constexpr reg32 backwards() const { return backwards_; }

    reg32 backwards_;  ///< 1 in every other item
    reg32 bytes_;      ///< of a stage; of `even_columns` only
    tile_raster<S> raster_;
    gemm_ring<S> ring_;
    operand_loader<typename S::a, typename S::a_part, typename S::map_a, C.cluster_n, C.a_hint> a_;
    operand_loader<typename S::b, typename S::b_part, typename S::map_b, C.cluster, C.b_hint> b_;
    typename gemm_ring<S>::pipe_t::producer_state at_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
