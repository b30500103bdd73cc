// SPDX-License-Identifier: Apache-2.0
// Split-K: the blocks of a cluster share a tile, each with a part of K, and add up through shared memory.
#pragma once

#include <ptxdsl/kernels/gemm/consumer.hpp>

#include <cstdint>
#include <utility>

namespace ptxdsl::kernels::detail {

/// Split-K inside a cluster: every block leaves the columns of block `d` in the shared memory of block `d`, which adds
/// them up in the order of the blocks, so that the result does not depend on timing. The stages of the pipeline serve
/// as buffer. Two barriers a block and no barrier of the cluster, which waits for all of a thread's memory: `ready`
/// counts the warpgroups of all blocks that have read their stages, `landed` the bytes that `st.async` brings. Nobody
/// leaves before both have completed, so nothing arrives at a block that is gone.
template <class S>
class split_k_reduction {
    static constexpr gemm_config C = S::config;
    static constexpr u32 ways = C.split_k, columns = C.bn / ways, registers = columns / 2, vectors = registers / 4;
    static constexpr u32 threads = 128 * C.consumers();
    static constexpr u32 slot_bytes = registers * 4 * threads;
    static constexpr bool keeps = ways == 2;  ///< of two blocks each has its own part in registers
    using four = packet<f32, 4>;
    using ready_ring = decltype(std::declval<k_t&>().template make_mbarrier_ring<"ready">(1, arrivals<1>));
    using landed_ring = decltype(std::declval<k_t&>().template make_mbarrier_ring<"landed">(1, arrivals<1>));

public:
    constexpr explicit split_k_reduction(k_t& k)
        : ready_(k.make_mbarrier_ring<"ready">(1, arrivals<std::uint64_t{ways} * C.consumers()>)),
          landed_(k.make_mbarrier_ring<"landed">(1, arrivals<1>)) {}

    /// By the one thread that initialises barriers.
    constexpr void init(k_t& k) const {
        k.mbarrier_init(ready_[0]);
        k.mbarrier_init(landed_[0]);
    }
    /// Hands this block's sums over and returns the totals of its own columns. The warpgroup has read all its stages.
    constexpr void exchange(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me,
                            const accumulator<f32, C.bn>& acc, const reg32& rank, reg<f32> (&sum)[registers]) const {
        const auto mine = k.mad_lo(k.mad_lo(me.index, 128u, me.t), 16u, k.mov(ring.a[0].address()));
        k.at(me.t < ways).mbarrier_arrive(k.mapa(ready_, k.min(me.t, ways - 1))[0]);
        k.single_thread(k.mad_lo(me.index, 128u, me.t) == 0u,
                        [&] { k.mbarrier_arrive_expect_tx(landed_[0], (keeps ? 1 : ways) * slot_bytes); });
        k.template wait<acquire, cluster>(ready_[0], 0u);
        if constexpr (keeps)
            swap(k, mine, acc, rank, sum);
        else
            send(k, k.mad_lo(rank, slot_bytes, mine), acc);
        k.template wait<acquire, cluster>(landed_[0], 0u);
        receive(k, mine, sum);
    }
    static constexpr u32 sum_size = registers;
    static constexpr u32 sum_columns = columns;

private:
    /// All parts, each to its block, into the slot of this one.
    constexpr void send(k_t& k, const reg32& slot, const accumulator<f32, C.bn>& acc) const {
        for (u32 d = 0; d < ways; ++d) {
            const auto to = k.mapa(k.template shared_pointer<four, 16>(slot), d);
            const auto bar = k.mapa(landed_, d);
            for (u32 v = 0; v < vectors; ++v) {
                const u32 r = d * registers + 4 * v;
                k.st_async(to.template byte_offset<16>(place(v)),
                           vec<f32, 4>(acc[r], acc[r + 1], acc[r + 2], acc[r + 3]), bar[0]);
            }
        }
    }
    /// Of two blocks: the other's part goes there, the own one stays.
    constexpr void swap(k_t& k, const reg32& slot, const accumulator<f32, C.bn>& acc, const reg32& rank,
                        reg<f32> (&sum)[registers]) const {
        const auto other = k.xor_(rank, 1u);
        const auto to = k.mapa(k.template shared_pointer<four, 16>(slot), other);
        const auto bar = k.mapa(landed_, other);
        const auto second = rank != 0u;
        for (u32 v = 0; v < vectors; ++v) {
            reg<f32> part[4];
            for (u32 i = 0; i < 4; ++i) {
                const u32 r = 4 * v + i;
                part[i] = k.selp(acc[r], acc[registers + r], second);
                sum[r] = k.selp(acc[registers + r], acc[r], second);
            }
            k.st_async(to.template byte_offset<16>(place(v)), vec<f32, 4>(part[0], part[1], part[2], part[3]), bar[0]);
        }
    }
    constexpr void receive(k_t& k, const reg32& mine, reg<f32> (&sum)[registers]) const {
        for (u32 v = 0; v < vectors; ++v) {
            for (u32 s = 0; s < (keeps ? 1 : ways); ++s) {
                const auto part =
                    k.ld(k.template shared_pointer<four, 16>(mine, s * slot_bytes + static_cast<u32>(place(v))));
                for (u32 i = 0; i < 4; ++i)
                    sum[4 * v + i] = s == 0 && !keeps ? part[i].same() : k.template add<rn>(sum[4 * v + i], part[i]);
            }
        }
    }
    static constexpr std::int32_t place(u32 vector) { return static_cast<std::int32_t>(vector * threads * 16); }
    ready_ring ready_;
    landed_ring landed_;
};

/// One tile a cluster, each block a part of K; the blocks add up through shared memory and each stores a part of the
/// columns.
template <class S>
class split_k_consumer {
    static constexpr gemm_config C = S::config;

public:
    constexpr split_k_consumer(k_t& k, const gemm_pointers<S>& g, const gemm_arguments& p)
        : reduction_(k), pointers_(g), p_(p) {}

    /// By the one thread that initialises barriers.
    constexpr void init(k_t& k) const { reduction_.init(k); }
    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_ring<S>& ring, const reg32& first,
                       const reg32& last, const tile_coord& at) const {
        const gemm_consumer me(k, here.tid);
        mainloop<S> mma(k, ring, me, here.block);
        mma.begin(k, first);
        mma.rest(k, last);
        mma.drain(k);
        reg<f32> sum[split_k_reduction<S>::sum_size];
        reduction_.exchange(k, ring, me, mma.acc, here.block.rank, sum);
        const epilogue_op<S> op(k, pointers_, p_);
        const tile_coord pos{k.mad_lo(me.index, 64u, at.row),
                             k.mad_lo(here.block.rank, split_k_reduction<S>::sum_columns, at.col), at.batch,
                             at.col_end};
        const auto own = [&](u32 i) { return sum[i]; };
        if constexpr (C.swaps_operands()) {
            epilogue_turned<S> out(k, pointers_.c, p_, me);
            out.pack(k, op, own, me, pos);
            for (u32 c = 0; c < out.chunks; ++c) out.store(k, pos, c);
        } else {
            epilogue_direct<S>(pointers_.c, p_)
                .store(k, me, op, own, pos, split_k_reduction<S>::sum_columns / (S::gated ? 16 : 8));
        }
    }

private:
    split_k_reduction<S> reduction_;
    gemm_pointers<S> pointers_;
    gemm_arguments p_;
};

}  // namespace ptxdsl::kernels::detail
