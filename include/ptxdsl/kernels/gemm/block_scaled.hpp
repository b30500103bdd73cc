// SPDX-License-Identifier: Apache-2.0
// The consumer of fp8 products with a scale for 1 x 128 of A and for 128 x 128 of B.
#pragma once

#include <ptxdsl/kernels/gemm/consumer.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// Block scales: one set of sums for up to 192 columns, next to those of the tile. A warpgroup adds a set to the tile's
/// while the other one multiplies; 256 columns are two halves.
///
///   warpgroup 1   issue half 0 | wait, add it | issue half 1 | wait, add it | issue half 0 of the next step | ...
///   warpgroup 2                | issue half 0 | wait, add it | issue half 1 | wait, add it                  | ...
///
/// The first products of a tile are issued before the one ahead of it is stored.
template <class S>
class block_scaled_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 width = C.bn == 256 ? 128 : C.bn, slices = C.bn / width, registers = width / 2;
    static constexpr u32 k_steps = C.bk / 16, scale_blocks = (C.bn + 127) / 128;
    /// Steps whose scales are on their way: one is not enough beside the loads of tiles.
    static constexpr u32 depth = 2;
    using sums_t = accumulator<f32, width>;

public:
    constexpr block_scaled_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(k, g, p, me),
          fixup_(g.partials, g.flags),
          g_(g),
          p_(p),
          part_(k.wgmma.template make_accumulator<f32, width>("part")) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_scheduler<S>& scheduler) {
        const stage_reader<S> stages(k, ring, me, here.block);
        const auto a = k.wgmma.descriptor(ring.a).rows_at(me.index, 64);
        const auto b = k.wgmma.descriptor(ring.b);
        const sources from{stages, a, b};
        auto pos = coord(k, me, scheduler);
        scales_of(k, me, pos, scheduler);
        clear(k);
        issue(k, from, 0);
        k.loop([&](loop_handle loop) {
            add_step(k, from, 0);
            other_steps(k, from);
            fixup(k, here, me, scheduler, pos);
            loop.break_if(scheduler.next(k));
            issue(k, from, 0);
            const auto next = coord(k, me, scheduler);
            const tile_coord now{k.mov(pos.row), k.mov(pos.col), k.mov(pos.batch)};
            pos.row = next.row, pos.col = next.col, pos.batch = next.batch;
            scales_of(k, me, pos, scheduler);  // on their way while the tile is stored
            store(k, here, me, now);
            clear(k);
        });
        store(k, here, me, pos);
        out_.finish(k);
    }

private:
    struct sources {
        const stage_reader<S>& stages;
        const matrix_descriptor<typename S::a>& a;
        const matrix_descriptor<typename S::b>& b;
    };
    /// Scales of one step: of this thread's two rows of A, and of the tile's one or two blocks of columns.
    struct scales {
        reg<f32> up, down, b[scale_blocks];
    };

    static constexpr tile_coord coord(k_t& k, const gemm_consumer& me, const tile_scheduler<S>& scheduler) {
        const auto pos = scheduler.coord(k);
        return {k.mad_lo(me.index, 64u, pos.row), pos.col, pos.batch};
    }
    constexpr void clear(k_t& k) {
        for (u32 i = 0; i < C.bn / 2; ++i) sum_[i] = k.template mov<f32>(0.0f);
    }
    /// Hands the sums of an item over that is not the first part of its tile, or completes the tile whose first part it
    /// is.
    constexpr void fixup(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_scheduler<S>& scheduler,
                         tile_coord& pos) {
        if constexpr (C.stream_k) {
            was_partial_ = scheduler.first != 0u;
            k.if_(was_partial_, [&] {
                 fixup_.store(k, me, sum_, here.cluster, here.block.rank);
                 pos.row = k.template mov<u32>(0x70000000u);  // nothing of this item is inside C
             }).else_([&] {
                k.if_(scheduler.last != here.steps,
                      [&] { fixup_.reduce(k, me, scheduler, here.cluster, here.block.rank, sum_); });
            });
        }
    }
    /// Stores a tile, or says that a part of one is in memory.
    constexpr void store(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const tile_coord& pos) {
        out_.write(k, me, [&](u32 i) { return sum_[i]; }, pos);
        if constexpr (C.stream_k) k.if_(was_partial_, [&] { fixup_.signal(k, me, here.cluster, here.block.rank); });
    }

    /// Where the scales of an item begin, and those of its first steps. Rows and columns behind the last take its
    /// scales.
    constexpr void scales_of(k_t& k, const gemm_consumer& me, const tile_coord& pos,
                             const tile_scheduler<S>& scheduler) {
        const auto last = k.sub(p_.m, 1u), last_block = k.shr(k.sub(p_.n, 1u), 7u);
        const auto row = k.add(pos.row, me.row);
        const auto a_line = k.template cvt<u32>(p_.a_scale_row), b_line = k.template cvt<u32>(p_.b_scale_col);
        up_ = k.mul_lo(k.min(row, last), a_line);
        down_ = k.mul_lo(k.min(k.add(row, 8u), last), a_line);
        // Of this thread's columns: ptxas moves a scale that is the same for all threads to a uniform register as soon
        // as it is loaded, and waits there.
        const auto block = k.shr(k.add(pos.col, me.col), 7u);
        for (u32 i = 0; i < scale_blocks; ++i) b_[i] = k.mul_lo(k.min(k.add(block, i), last_block), b_line);
        if constexpr (C.bn % 128 != 0) middle_ = k.and_(pos.col, 64u);
        if constexpr (C.stream_k) {
            move(k.mul_lo(scheduler.first, k.template cvt<u32>(p_.a_scale_k)),
                 k.mul_lo(scheduler.first, k.template cvt<u32>(p_.b_scale_k)));
            left_ = k.sub(k.sub(scheduler.last, scheduler.first), 1u);
        } else {
            left_ = k.sub(scheduler.last, 1u);
        }
        to_load_ = k.mov(left_);
        load(k, 0);
        for (u32 i = 1; i < depth; ++i) load_next(k, i);
    }
    constexpr void move(const reg32& a, const reg32& b) {
        up_ = up_ + a, down_ = down_ + a;
        for (u32 i = 0; i < scale_blocks; ++i) b_[i] = b_[i] + b;
    }
    /// The scales of the step the offsets stand at. Not `.nc`, or ptxas moves the loads to where their values are
    /// needed.
    constexpr void load(k_t& k, u32 set) {
        scales& s = ahead_[set];
        s.up = k.ld(g_.a_scale + up_), s.down = k.ld(g_.a_scale + down_);
        for (u32 i = 0; i < scale_blocks; ++i) s.b[i] = k.ld(g_.b_scale + b_[i]);
    }
    /// Those of the step after the one loaded last; behind the last step of an item its own once more.
    constexpr void load_next(k_t& k, u32 set) {
        const auto more = to_load_ != 0u;
        const auto zero = k.template mov<u32>(0);
        const auto a = k.selp(k.template cvt<u32>(p_.a_scale_k), zero, more),
                   b = k.selp(k.template cvt<u32>(p_.b_scale_k), zero, more);
        to_load_ = k.sub(k.max(to_load_, 1u), 1u);
        move(a, b);
        load(k, set);
    }

    /// The steps after the first: the sets of scales take turns, each loaded where its last value was used.
    constexpr void other_steps(k_t& k, const sources& from) {
        const auto step = [&](u32 set) {
            issue(k, from, 0);
            add_step(k, from, set);
        };
        k.for_(k.template mov<u32>(0), k.shr(left_, 1u), 1u, [&](const reg32&) {
            for (u32 i = 1; i <= depth; ++i) step(i % depth);
        });
        // A loop, so that the verifier counts the stages it frees.
        k.for_(k.template mov<u32>(0), k.and_(left_, 1u), 1u, [&](const reg32&) { step(1); });
    }
    /// Waits for a stage with the first slice, and multiplies.
    constexpr void issue(k_t& k, const sources& from, u32 slice) {
        if (slice == 0) {
            from.stages.wait(k);
            slot_ = k.mov(from.stages.slot());
            from.stages.advance(k);
        }
        const auto a = from.a[slot_];
        const auto b = from.b[slot_].row_slice(width * slice);
        k.wgmma.fence();
        for (u32 s = 0; s < k_steps; ++s) k.wgmma.mma_async(part_, a.k_slice(s), b.k_slice(s), s != 0);
        k.wgmma.commit_group();
    }
    /// Adds a step whose first slice has been issued; set `set` holds its scales, then those of `depth` steps later.
    constexpr void add_step(k_t& k, const sources& from, u32 set) {
        for (u32 slice = 0; slice < slices; ++slice) {
            if (slice > 0) issue(k, from, slice);
            reg<f32> up[width / 64], down[width / 64];
            for (u32 i = 0; i < width / 64; ++i) {
                const reg<f32> b = scale_of_b(k, slice * width / 64 + i, set);
                up[i] = k.template mul<rn>(ahead_[set].up, b), down[i] = k.template mul<rn>(ahead_[set].down, b);
            }
            const bool last = slice + 1 == slices;
            if (last) load_next(k, set);
            k.wgmma.template wait_group<0>();
            if (last) from.stages.release(k, slot_);
            // All of one scale first: a register that the addition before it has read costs no second read.
            for (u32 half = 0; half < 2; ++half)
                for (u32 r = 0; r < registers; ++r)
                    if (r / 2 % 2 == half) {
                        reg<f32>& sum = sum_[slice * registers + r];
                        sum = k.template fma<rn>(part_[r], half == 0 ? up[r / 32] : down[r / 32], sum);
                    }
        }
    }
    /// Of 64 columns. A tile of 192 begins in the middle of a block of 128 or at its start; so belongs its middle.
    constexpr reg<f32> scale_of_b(k_t& k, u32 slice, u32 set) const {
        const auto& b = ahead_[set].b;
        if constexpr (C.bn % 128 == 0)
            return b[slice / 2];
        else
            return slice == 1 ? reg<f32>(k.selp(b[1], b[0], middle_ != 0u)) : b[slice / 2];
    }

    tile_epilogue<S> out_;
    stream_k_fixup<S> fixup_;
    gemm_pointers<S> g_;
    gemm_arguments p_;
    reg<pred> was_partial_;  ///< the item before this one was handed over
    sums_t part_;
    reg<f32> sum_[C.bn / 2];
    reg<u32> up_, down_, b_[scale_blocks];  ///< elements from the first scale, fewer than 2^32
    scales ahead_[depth];
    reg<u32> middle_, slot_, to_load_;
    reg<u32> left_;  ///< steps of the item after its first
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
