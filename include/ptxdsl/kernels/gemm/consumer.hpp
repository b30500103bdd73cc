// SPDX-License-Identifier: Apache-2.0
// What a consumer warpgroup does with its tiles: main loop and store, one after the other, overlapped or by turns.
#pragma once

#include <ptxdsl/kernels/gemm/stream_k.hpp>

#include <type_traits>

namespace ptxdsl::kernels::detail {

/// What all roles know.
template <class S>
struct gemm_place {
    reg<u32> tid;
    block_in_cluster<S> block;
    reg<u32> cluster, clusters, steps;

    constexpr gemm_place(k_t& k, const gemm_arguments& p)
        : tid(k.mov(ptxdsl::tid.x).named("tid")),
          block(k, k.mov(cluster_ctarank).named("rank")),
          cluster(k.mov(clusterid.x)),
          clusters(k.mov(nclusterid.x)),
          steps(k.div(k.add(p.depth, S::bk - 1), S::bk).named("k_steps")) {}
};

/// Registers each thread may keep: the producer hands its own to the consumers where the accumulators need them.
/// Together they are at most what the block starts with (168 a thread for three warpgroups, 128 for four, 96 for five):
/// `setmaxnreg.inc` waits for registers that somebody gave back, without end if nobody has enough.
template <class S>
struct register_plan {
    static constexpr u32 consumers = S::config.consumers();
    static constexpr bool moves =
        S::config.blocks_per_sm == 1 &&
        ((consumers == 2 && (S::config.bn * S::config.row_blocks() > 128 || S::config.block_scaled)) || consumers > 2);
    static constexpr u32 producer = consumers == 3 ? 32 : 24;
    static constexpr u32 consumer = consumers == 2 ? 240 : consumers == 3 ? 160 : 112;
};

/// The consumer of a persistent kernel whose results are packed: the store of a tile overlaps the first products of the
/// next, a chunk behind each step. The chunks have no steps of their own: ptxas needs a twentieth of its time for each
/// copy of a product next to results that wait in registers (docs/kernels/gemm.md).
template <class S>
class overlapped_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr bool turned = C.swaps_operands();
    using store_t = std::conditional_t<turned, epilogue_turned<S>, epilogue_tma<S>>;
    static constexpr u32 chunks = store_t::chunks;
    static constexpr u32 outside = 0x70000000u;  ///< a row that no C has, so that TMA stores nothing

public:
    constexpr overlapped_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(make(k, g, p, me)), op_(k, g, p), fixup_(g.partials, g.flags) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_scheduler<S>& scheduler) {
        mainloop<S> mma(k, ring, me, here.block);
        out_.reserve(k, me.lane);
        if constexpr (chunks > 8)
            store_in_line(k, here, me, scheduler, mma);
        else
            store_in_loop(k, here, me, scheduler, mma);
        for (u32 c = 0; c < chunks; ++c) out_.store(k, pos_, c);
        signal(k, here, me);
        out_.finish(k);
    }

private:
    /// The steps of a tile are one loop, and each stores the next chunk of the tile before: ptxas has two copies of a
    /// product instead of one for each chunk, and is done in half the time.
    constexpr void store_in_loop(k_t& k, const gemm_place<S>& here, const gemm_consumer& me,
                                 tile_scheduler<S>& scheduler, mainloop<S>& mma) {
        stored_ = k.mov<u32>(chunks).named("stored");  // in front of the first tile nothing waits
        if constexpr (C.stream_k) was_partial_ = stored_ == 0u;
        const auto start = coord(k, me, scheduler);
        pos_.name({k.mov(start.row), k.mov(start.col), k.mov(start.batch)});
        if constexpr (C.even_columns()) pos_.col_end = k.mov(start.col_end).same();
        if constexpr (S::grouped) pos_.row_end = k.mov(start.row_end).same();
        const auto store = [&] { store_next(k, here, me, scheduler); };
        k.loop([&](loop_handle loop) {
            mma.begin(k, C.stream_k ? scheduler.first : k.mov<u32>(0));
            store();
            mma.rest(k, scheduler.last, store);
            mma.drain(k);
            k.while_([&] { return stored_ < chunks; }, store);  // K was too short for them
            finish(k, here, me, scheduler, mma.acc);
            stored_ = k.mov<u32>(0);
            loop.break_if(scheduler.next(k));
        });
    }
    /// A step between two chunks, written out. Of many narrow chunks the loop above costs 5 % (128 x 176).
    constexpr void store_in_line(k_t& k, const gemm_place<S>& here, const gemm_consumer& me,
                                 tile_scheduler<S>& scheduler, mainloop<S>& mma) {
        const auto begin = [&] { mma.begin(k, C.stream_k ? scheduler.first : k.mov<u32>(0)); };
        begin();
        const auto start = coord(k, me, scheduler);
        pos_.name(start);
        if constexpr (C.even_columns()) pos_.col_end = start.col_end.same();
        k.loop([&](loop_handle loop) {
            mma.rest(k, scheduler.last);
            mma.drain(k);
            finish(k, here, me, scheduler, mma.acc);
            loop.break_if(scheduler.next(k));
            begin();
            for (u32 c = 0; c < chunks; ++c) {
                out_.store(k, pos_, c);
                if (c + 1 < chunks) mma.more(k, scheduler.last);
            }
            signal(k, here, me);
            follow(coord(k, me, scheduler));
        });
    }
    /// Stores the next chunk of the tile before this one, if there is one; behind the last, `pos_` is this tile's.
    constexpr void store_next(k_t& k, const gemm_place<S>& here, const gemm_consumer& me,
                              const tile_scheduler<S>& scheduler) {
        k.if_(stored_ < chunks, [&] {
            for (u32 c = 0; c < chunks; ++c) k.if_(stored_ == c, [&] { out_.store(k, pos_, c); });
            stored_ = k.add(stored_, 1u);
            k.if_(stored_ == chunks, [&] {
                signal(k, here, me);
                follow(coord(k, me, scheduler));
            });
        });
    }
    static constexpr store_t make(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me) {
        if constexpr (turned)
            return store_t(k, g.c, p, me);
        else
            return store_t(k, g, p, me);
    }
    /// `pos_` gets the values of another place.
    constexpr void follow(const tile_coord& now) {
        pos_.row = now.row, pos_.col = now.col, pos_.batch = now.batch;
        if constexpr (C.even_columns()) pos_.col_end = now.col_end;
        if constexpr (S::grouped) pos_.row_end = now.row_end;
    }
    static constexpr tile_coord coord(k_t& k, const gemm_consumer& me, const tile_scheduler<S>& scheduler) {
        const auto pos = scheduler.coord(k);
        if constexpr (C.moves_last_rows() && !S::grouped) {
            const auto loaded = k.mad_lo(me.index, 64u, scheduler.raster().loaded_row(k, pos.row));
            const auto other = k.mad_lo(me.warp, 16u, loaded) < pos.row;  // the tile above this one stores them
            return {k.selp(k.mov<u32>(outside), loaded, other), pos.col, pos.batch};
        } else {
            return {k.mad_lo(me.index, 64u, pos.row), pos.col, pos.batch, pos.col_end, pos.row_end};
        }
    }
    /// Says that this warpgroup's part of a tile is in memory, if `finish` left one there.
    constexpr void signal(k_t& k, const gemm_place<S>& here, const gemm_consumer& me) {
        if constexpr (C.stream_k) {
            k.if_(was_partial_, [&] { fixup_.signal(k, me, here.cluster, here.block.rank); });
        }
    }
    /// Packs the tile, or for an item that is a part of one hands it over or completes it.
    constexpr void finish(k_t& k, const gemm_place<S>& here, const gemm_consumer& me,
                          const tile_scheduler<S>& scheduler, const accumulator<f32, C.bn>& acc) {
        const auto own = [&](u32 i) { return acc[i]; };
        if constexpr (!C.stream_k) {
            out_.pack(k, op_, own, me, pos_);
        } else {
            was_partial_ = scheduler.first != 0u;
            k.if_(scheduler.first == 0u, [&] {
                 k.if_(scheduler.last != here.steps,
                       [&] { fixup_.reduce(k, me, scheduler, here.cluster, here.block.rank, acc); });
                 out_.pack(k, op_, own, me, pos_);
             }).else_([&] {
                fixup_.store(k, me, acc, here.cluster, here.block.rank);
                pos_.row = k.mov<u32>(outside);  // nothing of this item is inside C
            });
        }
    }
    store_t out_;
    epilogue_op<S> op_;
    stream_k_fixup<S> fixup_;
    reg<u32> stored_;        ///< chunks of the tile before this one that are stored
    tile_coord pos_;         ///< of the tile that is stored, then of this one
    reg<pred> was_partial_;  ///< the item before this one was handed over
};

/// The consumer of a persistent kernel that stores a tile before it begins the next: meanwhile the ring fills.
template <class S>
class direct_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr bool turned = C.swaps_operands();
    using store_t = std::conditional_t<turned, epilogue_turned<S>, epilogue_direct<S>>;

public:
    constexpr direct_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(make(k, g, p, me)), op_(k, g, p), fixup_(g.partials, g.flags) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_scheduler<S>& scheduler) {
        mainloop<S> mma(k, ring, me, here.block);
        k.loop([&](loop_handle loop) {
            mma.begin(k, C.stream_k ? scheduler.first : k.mov<u32>(0));
            mma.rest(k, scheduler.last);
            mma.drain(k);
            finish(k, here, me, scheduler, mma.acc);
            loop.break_if(scheduler.next(k));
        });
    }

private:
    static constexpr store_t make(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me) {
        if constexpr (turned)
            return store_t(k, g.c, p, me);
        else
            return store_t(g.c, p);
    }
    constexpr void finish(k_t& k, const gemm_place<S>& here, const gemm_consumer& me,
                          const tile_scheduler<S>& scheduler, const accumulator<typename S::sum, C.bn>& acc) {
        const auto store = [&] {
            auto pos = scheduler.coord(k);
            pos.row = k.mad_lo(me.index, 64u, pos.row);
            const auto own = [&](u32 i) { return acc[i]; };
            if constexpr (turned) {
                out_.pack(k, op_, own, me, pos);
                for (u32 c = 0; c < store_t::chunks; ++c) out_.store(k, pos, c);
            } else {
                out_.store(k, me, op_, own, pos, S::out_columns / 8);
            }
        };
        if constexpr (!C.stream_k) {
            store();
        } else {
            k.if_(scheduler.first == 0u, [&] {
                 k.if_(scheduler.last != here.steps,
                       [&] { fixup_.reduce(k, me, scheduler, here.cluster, here.block.rank, acc); });
                 store();
             }).else_([&] {
                fixup_.store(k, me, acc, here.cluster, here.block.rank);
                fixup_.signal(k, me, here.cluster, here.block.rank);
            });
        }
    }
    store_t out_;
    epilogue_op<S> op_;
    stream_k_fixup<S> fixup_;
};

/// Two warpgroups with every other tile each. A named barrier apiece says whose products go to the tensor cores: it is
/// passed on when the last one of a tile is issued, so that the other's follow without a gap and this one stores beside
/// them. Nobody arrives for a tile that does not exist, so that each arrival is met.
template <class S>
class ping_pong_consumer {
    static constexpr gemm_config C = S::config;
    static constexpr u32 threads = 256;  ///< one warpgroup waits, one arrives

public:
    constexpr ping_pong_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p, const gemm_consumer& me)
        : out_(k, g, p, me) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_consumer& me, const gemm_ring<S>& ring,
                       tile_scheduler<S>& scheduler) {
        mainloop<S> mma(k, ring, me, here.block);
        const auto own = k.add(me.index, 1u).named("own_turn");
        const auto other = k.sub(2u, me.index).named("other_turn");
        k.if_(me.index != 0u, [&] {  // the first turn is the first warpgroup's
            k.bar_arrive(other, threads);
            mma.skip(k, here.steps);
            scheduler.skip(k);
        });
        k.while_([&] { return scheduler.inside(); },
                 [&] {
                     k.bar_sync(own, threads);
                     mma.begin(k, k.mov<u32>(0));
                     mma.rest(k, scheduler.last);
                     const auto pos = scheduler.coord(k);
                     scheduler.skip(k);
                     k.at(scheduler.inside()).bar_arrive(other, threads);
                     mma.drain(k);
                     write(k, me, mma, pos);
                     mma.skip(k, here.steps);
                     scheduler.skip(k);
                 });
        out_.finish(k);
    }

private:
    constexpr void write(k_t& k, const gemm_consumer& me, const mainloop<S>& mma, const tile_coord& pos) {
        for (u32 b = 0; b < C.row_blocks(); ++b) {
            const auto row = b == 0 ? pos.row : reg32(k.add(pos.row, 64 * b));
            out_.write(k, me, [&](u32 i) { return mma.rows(b)[i]; }, {row, pos.col, pos.batch});
        }
    }
    tile_epilogue<S> out_;
};

}  // namespace ptxdsl::kernels::detail
