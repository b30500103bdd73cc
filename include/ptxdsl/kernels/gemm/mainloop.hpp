// SPDX-License-Identifier: Apache-2.0
// The main loop of a consumer warpgroup: waits for a stage, multiplies, frees the stage before.
#pragma once

#include <ptxdsl/kernels/gemm/epilogue.hpp>
#include <ptxdsl/kernels/gemm/producer.hpp>

#include <cstdint>

namespace ptxdsl::kernels::detail {

/// A consumer warpgroup's place in the ring.
template <class S>
class stage_reader {
    static constexpr gemm_config C = S::config;

public:
    constexpr stage_reader(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me, const block_in_cluster<S>& block)
        : ring_(ring),
          at_(k.consumer_state(ring.pipe)),
          releases_(me.t < C.sharers()),
          empty_(k.mapa(ring.pipe.empty(), release_rank(k, me, block))) {}

    constexpr void wait(k_t& k) const { k.wait_full(ring_.pipe, at_); }
    [[nodiscard]] constexpr const reg32& slot() const { return at_.slot(); }
    constexpr void advance(k_t& k) const { k.advance(at_); }
    /// Leaves `steps` stages to another warpgroup.
    constexpr void skip(k_t& k, const reg32& steps) const { k.advance(at_, steps); }
    constexpr void release(k_t& k, const reg32& slot) const { k.at(releases_).mbarrier_arrive(empty_[slot]); }

private:
    /// Thread i of a warpgroup frees the slot in the i-th block that shares it.
    static constexpr reg32 release_rank(k_t& k, const gemm_consumer& me, const block_in_cluster<S>& block) {
        if constexpr (C.split_k > 1)
            return block.rank;
        else
            return block.sharer(k, me.t);
    }
    gemm_ring<S> ring_;
    typename gemm_ring<S>::pipe_t::consumer_state at_;
    reg<pred> releases_;
    remote_mbarrier_ring<typename gemm_ring<S>::pipe_t::empty_ring> empty_;
};

/// A consumer warpgroup's main loop. `begin` issues the first step of an item and returns at once; `rest` issues all
/// others, each time freeing the slot of the step before, and runs `then` behind each; `drain` waits for the last.
template <class S>
class mainloop {
    static constexpr gemm_config C = S::config;

    using sums_t = accumulator<typename S::sum, C.bn>;

public:
    sums_t acc;

    constexpr mainloop(k_t& k, const gemm_ring<S>& ring, const gemm_consumer& me, const block_in_cluster<S>& block)
        : acc(k.wgmma.make_accumulator<typename S::sum, C.bn>()),
          lower_(make_lower(k, acc)),
          stages_(k, ring, me, block),
          a_(first_rows(k, ring, me)),
          b_(k.wgmma.descriptor(ring.b)),
          previous_(k.mov<u32>(0).named("previous")),
          step_(k.mov<u32>(0).named("step")) {}

    constexpr void begin(k_t& k, const reg32& first) {
        multiply(k, true);
        previous_ = stages_.slot();
        stages_.advance(k);
        step_ = k.add(first, 1u);
    }
    /// One step more, if there is one.
    constexpr void more(k_t& k, const reg32& last) {
        k.if_(step_ < last, [&] {
            next(k);
            step_ = k.add(step_, 1u);
        });
    }
    template <class Then>
    constexpr void rest(k_t& k, const reg32& last, const Then& then) {
        k.for_(step_, last, 1u, [&](reg32) {
            next(k);
            then();
        });
    }
    constexpr void rest(k_t& k, const reg32& last) {
        rest(k, last, [] {});
    }
    constexpr void drain(k_t& k) const {
        k.wgmma.template wait_group<0>();
        release(k);
    }
    /// The sums of rows 64 * `block` of the warpgroup's on.
    [[nodiscard]] constexpr const sums_t& rows(u32 block) const { return block == 0 ? acc : lower_; }
    /// Leaves `steps` stages to the other warpgroup.
    constexpr void skip(k_t& k, const reg32& steps) { stages_.skip(k, steps); }

private:
    static constexpr sums_t make_lower(k_t& k, const sums_t& acc) {
        if constexpr (C.row_blocks() > 1)
            return k.wgmma.template make_accumulator<typename S::sum, C.bn>("lower");
        else
            return acc;
    }
    static constexpr matrix_descriptor<typename S::a> first_rows(k_t& k, const gemm_ring<S>& ring,
                                                                 const gemm_consumer& me) {
        if constexpr (C.ping_pong())
            return k.wgmma.descriptor(ring.a);
        else
            return k.wgmma.descriptor(ring.a).rows_at(me.index, 64);
    }
    constexpr void next(k_t& k) {
        multiply(k, false);
        k.wgmma.template wait_group<1>();  // the step before this one has read its slot
        release(k);
        previous_ = stages_.slot();
        stages_.advance(k);
    }
    constexpr void multiply(k_t& k, bool start) const {
        stages_.wait(k);
        const auto a = a_[stages_.slot()];
        const auto b = b_[stages_.slot()];
        k.wgmma.fence();
        for (u32 s = 0; s < C.bk / 16; ++s) {
            const auto b_step = b.k_slice(s);
            k.wgmma.mma_async(acc, a.k_slice(s), b_step, !(start && s == 0));
            if constexpr (C.row_blocks() > 1)
                k.wgmma.mma_async(lower_, a.row_slice(64).k_slice(s), b_step, !(start && s == 0));
        }
        k.wgmma.commit_group();
    }
    constexpr void release(k_t& k) const { stages_.release(k, previous_); }

    sums_t lower_;  ///< of the second 64 rows, where a warpgroup has them
    stage_reader<S> stages_;
    matrix_descriptor<typename S::a> a_;
    matrix_descriptor<typename S::b> b_;
    reg<u32> previous_, step_;
};

}  // namespace ptxdsl::kernels::detail
