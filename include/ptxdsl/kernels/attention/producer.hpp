// SPDX-License-Identifier: Apache-2.0
// The rings of queries, keys and values, and the thread that fills them through TMA.
#pragma once

#include <ptxdsl/kernels/attention/work.hpp>

#include <cstdint>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// Shared memory as both sides see it.
template <class S>
struct attention_rings {
    static constexpr attention_config C = S::config;
    shared_tile<typename S::q> q;
    shared_tile<typename S::k> k;
    shared_tile<typename S::v> v;
    pipeline<"q"> q_pipe;
    pipeline<"k"> k_pipe;
    pipeline<"v"> v_pipe;

    /// A slot of keys or values is freed by one thread of each consumer warpgroup, one of queries by one of each
    /// warp: it stages the results, which every warp stores for itself.
    constexpr explicit attention_rings(k_t& b)
        : q(b.smem<typename S::q>(C.query_slots(), "q")),
          k(b.smem<typename S::k>(C.stages, "k")),
          v(b.smem<typename S::v>(C.stages, "v")),
          q_pipe(b.make_pipeline<"q">(C.query_slots(), arrivals<1>, arrivals<std::uint64_t{C.consumers()} * 4>)),
          k_pipe(b.make_pipeline<"k">(C.stages, arrivals<1>, arrivals<std::uint64_t{C.consumers()}>)),
          v_pipe(b.make_pipeline<"v">(C.stages, arrivals<1>, arrivals<std::uint64_t{C.consumers()}>)) {}

    constexpr void start(k_t& b, const reg32& tid) const {
        b.single_thread(tid == 0u, [&] {
            b.init(q_pipe);
            b.init(k_pipe);
            b.init(v_pipe);
        });
        b.fence_mbarrier_init();
        b.bar_sync();
    }
};

/// Loads the queries of a tile and its keys and values, from the last step to the first: a step of keys ahead of the
/// values, since the products of a step's queries and keys come before those of the values of the step before.
template <class S>
class attention_producer {
    static constexpr attention_config C = S::config;

public:
    constexpr attention_producer(k_t& k, const attention_rings<S>& rings, const attention_pointers<S>& g)
        : rings_(rings),
          g_(g),
          q_at_(k.producer_state(rings.q_pipe)),
          k_at_(k.producer_state(rings.k_pipe)),
          v_at_(k.producer_state(rings.v_pipe)) {}

    constexpr void run(k_t& k, attention_work<S>& work) const {
        k.while_([&] { return work.more(); },
                 [&] {
                     const auto t = work.locate(k);
                     k.if_(t.inside && t.begin < t.end, [&] { load(k, t); });
                     work.next(k);
                 });
    }

private:
    constexpr void load(k_t& k, const attention_tile& t) const {
        auto n = k.sub(t.end, 1).named("n");
        keys(k, t, n);
        k.wait_empty(rings_.q_pipe, q_at_);
        k.mbarrier_arrive_expect_tx(rings_.q_pipe.full(q_at_), rings_.q);
        k.load_tile(rings_.q[q_at_.slot()], g_.q, coords(0, k.add(t.q_start, t.row), t.head, t.batch),
                    rings_.q_pipe.full(q_at_));
        k.advance(q_at_);
        k.while_([&] { return n > t.begin; },
                 [&] {
                     keys(k, t, k.sub(n, 1));
                     values(k, t, n);
                     n = k.sub(n, 1);
                 });
        values(k, t, n);
    }
    constexpr void keys(k_t& k, const attention_tile& t, const reg<s32>& n) const {
        k.wait_empty(rings_.k_pipe, k_at_);
        k.mbarrier_arrive_expect_tx(rings_.k_pipe.full(k_at_), rings_.k);
        k.load_tile(rings_.k[k_at_.slot()], g_.k, coords(0, k.mad_lo(n, C.bn, t.k_start), t.kv_head, t.batch),
                    rings_.k_pipe.full(k_at_));
        k.advance(k_at_);
    }
    constexpr void values(k_t& k, const attention_tile& t, const reg<s32>& n) const {
        k.wait_empty(rings_.v_pipe, v_at_);
        k.mbarrier_arrive_expect_tx(rings_.v_pipe.full(v_at_), rings_.v);
        k.load_tile(rings_.v[v_at_.slot()], g_.v, coords(0, k.mad_lo(n, C.bn, t.k_start), t.kv_head, t.batch),
                    rings_.v_pipe.full(v_at_));
        k.advance(v_at_);
    }
    attention_rings<S> rings_;
    attention_pointers<S> g_;
    pipeline<"q">::producer_state q_at_;
    pipeline<"k">::producer_state k_at_;
    pipeline<"v">::producer_state v_at_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
