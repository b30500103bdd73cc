// SPDX-License-Identifier: Apache-2.0
// Split-K: the blocks of a cluster share a tile, each with a part of K, and add up through shared memory.
#pragma once

#include <ptxdsl/kernels/gemm/consumer.hpp>

#include <cstdint>

namespace ptxdsl::kernels::detail {

/// Split-K inside a cluster: every block leaves the columns of block `d` in the shared memory of block `d`, which adds
/// them up in the order of the blocks, so that the result does not depend on timing. The stages of the pipeline serve
/// as buffer.
template <class S>
class split_k_reduction {
    static constexpr gemm_config C = S::config;
    static constexpr u32 ways = C.split_k, columns = C.bn / ways, registers = columns / 2, vectors = registers / 4;
    static constexpr u32 threads = 128 * C.consumers();
    static constexpr u32 slot_bytes = registers * 4 * threads;
    using four = packet<f32, 4>;

public:
    constexpr split_k_reduction(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me)
        : mine_(k.mad_lo(k.mad_lo(me.index, 128u, me.t), 16u, k.mov(ring.a[0].address()))) {}

    constexpr void send(k_t& k, const accumulator<f32, C.bn>& acc, const reg32& rank) const {
        const auto slot = k.mad_lo(rank, slot_bytes, mine_);
        for (u32 d = 0; d < ways; ++d) {
            const auto to = k.mapa(k.template shared_pointer<four, 16>(slot), d);
            for (u32 v = 0; v < vectors; ++v) {
                const u32 r = d * registers + 4 * v;
                k.st(to.template byte_offset<16>(static_cast<std::int32_t>(v * threads * 16)),
                     vec<f32, 4>(acc[r], acc[r + 1], acc[r + 2], acc[r + 3]));
            }
        }
    }
    /// The sums of this block's columns.
    constexpr void receive(k_t& k, reg<f32> (&sum)[registers]) const {
        for (u32 v = 0; v < vectors; ++v) {
            for (u32 s = 0; s < ways; ++s) {
                const auto part = k.ld(k.template shared_pointer<four, 16>(mine_, s * slot_bytes + v * threads * 16));
                for (u32 i = 0; i < 4; ++i)
                    sum[4 * v + i] = s == 0 ? part[i].same() : k.template add<rn>(sum[4 * v + i], part[i]);
            }
        }
    }
    static constexpr u32 sum_size = registers;
    static constexpr u32 sum_columns = columns;

private:
    reg<u32> mine_;
};

/// One tile a cluster, each block a part of K; the blocks add up through shared memory and each stores a part of the
/// columns.
template <class S>
class split_k_consumer {
    static constexpr gemm_config C = S::config;

public:
    constexpr split_k_consumer(const gemm_pointers<S>& g, const gemm_arguments& p)
        : out_(g.c, p), pointers_(g), p_(p) {}

    constexpr void run(k_t& k, const gemm_place<S>& here, const gemm_ring<S>& ring, const reg32& first,
                       const reg32& last, const tile_coord& at) const {
        const gemm_consumer me(k, here.tid);
        mainloop<S> mma(k, ring, me, here.block);
        mma.begin(k, first);
        mma.rest(k, last);
        mma.drain(k);
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();  // every block has read its stages
        const split_k_reduction<S> exchange(k, ring, me);
        exchange.send(k, mma.acc, here.block.rank);
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
        reg<f32> sum[split_k_reduction<S>::sum_size];
        exchange.receive(k, sum);
        const epilogue_op<S> op(k, pointers_, p_);
        const tile_coord pos{k.mad_lo(me.index, 64u, at.row),
                             k.mad_lo(here.block.rank, split_k_reduction<S>::sum_columns, at.col), at.batch,
                             at.col_end};
        constexpr bool halved = S::gated && !C.swaps_operands();
        out_.store(
            k, me, op, [&](u32 i) { return sum[i]; }, pos, split_k_reduction<S>::sum_columns / (halved ? 16 : 8));
    }

private:
    epilogue_registers<S> out_;
    gemm_pointers<S> pointers_;
    gemm_arguments p_;
};

}  // namespace ptxdsl::kernels::detail
