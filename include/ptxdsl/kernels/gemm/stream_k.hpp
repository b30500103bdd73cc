// SPDX-License-Identifier: Apache-2.0
// Stream-K: tiles that several clusters share, whose sums meet in global memory.
#pragma once

#include <ptxdsl/kernels/gemm/mainloop.hpp>

#include <cstdint>

namespace ptxdsl::kernels::detail {

/// Stream-K's hand-over: one slot a cluster, block and warpgroup, in global memory. A slot holds the sums as the
/// threads have them, 16 bytes a thread at a time; its flag is 1 while it is full, and is 0 again after the kernel.
template <class S>
class stream_k_fixup {
    static constexpr gemm_config C = S::config;
    static constexpr u32 vectors = C.bn / 8;
    using four = packet<f32, 4>;

public:
    constexpr stream_k_fixup(global_ptr<f32, 16> partials, global_ptr<u32> flags)
        : partials_(partials), flags_(flags) {}

    /// Leaves the sums in the slot of `cluster`; `signal` says so once they are there. `sums[i]` is what accumulator
    /// register `i` has or would have.
    template <class Sums>
    constexpr void store(k_t& k, const gemm_consumer& me, const Sums& sums, const reg32& cluster,
                         const reg32& rank) const {
        const auto to = place(k, me, index(k, me, cluster, rank));
        for (u32 v = 0; v < vectors; ++v)
            k.st(to + 128 * v,
                 vec<f32, 4>(sums[at(4 * v)], sums[at(4 * v + 1)], sums[at(4 * v + 2)], sums[at(4 * v + 3)]));
    }
    /// The barrier orders the stores of all threads before the one release, which is cumulative (PTX ISA 8.8): no fence
    /// of their own.
    constexpr void signal(k_t& k, const gemm_consumer& me, const reg32& cluster, const reg32& rank) const {
        k.bar_sync(barrier(k, me), 128u);
        k.at(me.t == 0u).template st<release, gpu>(flags_ + index(k, me, cluster, rank), 1u);
    }
    /// Waits for the slot of `cluster` and returns where this thread's part is.
    constexpr global_ptr<four, 16> wait(k_t& k, const gemm_consumer& me, const reg32& cluster,
                                        const reg32& rank) const {
        const auto slot = index(k, me, cluster, rank);
        const auto flag = flags_ + slot;
        k.do_while([&] { return k.template ld<acquire, gpu>(flag) == 0u; });
        k.bar_sync(barrier(k, me), 128u);
        k.at(me.t == 0u).template st<relaxed, gpu>(flag, 0u);
        return place(k, me, slot);
    }
    /// Adds the parts of a tile that the clusters after this one have left.
    template <class Sums>
    constexpr void reduce(k_t& k, const gemm_consumer& me, const tile_scheduler<S>& scheduler, const reg32& cluster,
                          const reg32& rank, const Sums& sums) const {
        auto owner = k.add(cluster, 1u).named("owner");
        const auto end = scheduler.tile_end(k);
        k.do_while([&] {
            const auto rest = wait(k, me, owner, rank);
            for (u32 v = 0; v < C.bn / 8; ++v) {
                const auto part = k.ld(rest + 128 * v);
                for (u32 i = 0; i < 4; ++i) {
                    auto sum = sums[at(4 * v + i)];
                    sum = k.template add<rn>(sum, part[i]);
                }
            }
            owner = k.add(owner, 1u);
            return scheduler.start_of(k, owner) < end;
        });
    }

private:
    /// Which sum is the `i`-th of a thread. Those of a store of 16 bytes have registers in a row, the first one even.
    /// `block_scaled_consumer` adds products of even registers (of accumulators) to sums of odd ones and the other way
    /// round, or both come from one bank of the register file: so sums of one row change places there.
    static constexpr u32 at(u32 i) { return C.block_scaled ? i ^ 1u : i; }
    static constexpr reg32 barrier(k_t& k, const gemm_consumer& me) { return k.add(me.index, 1u); }
    static constexpr reg32 index(k_t& k, const gemm_consumer& me, const reg32& cluster, const reg32& rank) {
        return k.mad_lo(k.mad_lo(cluster, C.cluster_blocks(), rank), C.consumers(), me.index);
    }
    constexpr global_ptr<four, 16> place(k_t& k, const gemm_consumer& me, const reg32& slot) const {
        return (partials_.template as<four>() + k.mad_lo(slot, 128 * vectors, me.t)).template assume_aligned<16>();
    }
    global_ptr<f32, 16> partials_;
    global_ptr<u32> flags_;
};

}  // namespace ptxdsl::kernels::detail
