// SPDX-License-Identifier: Apache-2.0
// A consumer warpgroup: both products, the softmax between them, and the results of its 64 rows.
#pragma once

#include <ptxdsl/kernels/attention/producer.hpp>
#include <ptxdsl/kernels/attention/softmax.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// Named barriers: 0 is all threads', then one a consumer warpgroup for its turn at the tensor cores, one a warpgroup
/// for its own threads, and one for all consumers.
inline constexpr u32 turn_barrier = 1, own_barrier = 4, consumers_barrier = 7;

/// Results of a warp's 16 rows: through the queries' place in shared memory, where nobody needs them any more, so that
/// rows are stored 64 or 128 bytes at a time. Rows behind the sequence's end are left alone.
template <class S>
class attention_output {
    static constexpr attention_config C = S::config;
    using T = typename S::element;
    static constexpr u32 span = span_of(head_swizzle(C.dv)) / 2;  ///< elements of a panel's row
    static constexpr u32 chunks = span / 8;                       ///< of 16 bytes in it
    static constexpr u32 rows_at_once = 32 / chunks;

public:
    constexpr attention_output(k_t& k, const attention_pointers<S>& g, const attention_arguments& p,
                               const attention_consumer_thread& me)
        : g_(g),
          p_(p),
          me_(me),
          warp_row_(k.mad_lo(me.index, 64u, k.shl(me.warp, 4u))),
          store_row_(k.shr(me.lane, static_cast<u32>(std::countr_zero(chunks)))),
          chunk_(k.and_(me.lane, chunks - 1)) {}

    constexpr void stage(k_t& k, const tile_stage<typename S::q>& place, const accumulator<f32, C.dv>& o,
                         const regf32 (&inverse)[2]) const {
        const auto row = k.add(warp_row_, k.and_(me_.lane, 15u));
        const auto chunk = k.shr(me_.lane, 4u);
        for (u32 panel = 0; panel < C.dv / span; ++panel) {
            const auto line = k.tile_line(place.panel(panel), row).from(chunk);
            for (u32 c = 0; c < chunks; c += 2) {
                const u32 first = (panel * chunks + c) * 4;
                reg<typename S::packed> pair[4];
                for (u32 i = 0; i < 4; ++i) {
                    const regf32& by = inverse[i % 2];
                    const auto low = k.template mul<rn>(o[first + 2 * i], by),
                               high = k.template mul<rn>(o[first + 2 * i + 1], by);
                    pair[i] = k.template cvt<typename S::packed, rn>(hi(high), lo(low));
                }
                k.stmatrix(line.chunk(c), pair[0], pair[1], pair[2], pair[3]);
            }
        }
    }
    constexpr void store(k_t& k, const tile_stage<typename S::q>& place, const attention_tile& t) const {
        each_row(k, t, [&](const auto& to, u32 panel, const reg32& row) {
            k.st(to, k.ld(k.tile_line(place.panel(panel), row).chunk(chunk_).template as<packet<u32, 4>>()));
        });
    }
    constexpr void store_zeros(k_t& k, const attention_tile& t) const {
        const auto zero = k.template mov<u32>(0);
        each_row(k, t, [&](const auto& to, u32, const reg32&) { k.st(to, vec<u32, 4>(zero, zero, zero, zero)); });
    }
    /// One thread of four has a row's sum.
    template <class Value>
    constexpr void store_lse(k_t& k, const attention_tile& t, const Value& value) const {
        const auto first = g_.lse + row_offset(k, t.batch, p_.lse_batch) + row_offset(k, t.head, p_.lse_head);
        for (u32 r = 0; r < 2; ++r) {
            const auto row = k.add(k.add(t.row, me_.row), 8 * r);
            k.at(me_.col == 0 && row < t.q_len).st(first + k.add(t.q_start, row), value(r));
        }
    }

private:
    static constexpr reg<u64> row_offset(k_t& k, const reg32& index, const reg<u64>& stride) {
        return k.mul_lo(k.template cvt<u64>(index), stride);
    }
    /// `put(address, panel, row)` for the 16 bytes of each row and panel that are this thread's and inside the
    /// sequence.
    template <class Put>
    constexpr void each_row(k_t& k, const attention_tile& t, const Put& put) const {
        const auto first = g_.out + row_offset(k, t.batch, p_.o_batch) + row_offset(k, t.head, p_.o_head);
        for (u32 pass = 0; pass < 16 / rows_at_once; ++pass) {
            const auto row = k.add(k.add(warp_row_, store_row_), pass * rows_at_once);
            const auto in_sequence = k.add(t.row, row.template as<s32>());
            k.if_(in_sequence < t.q_len, [&] {
                const auto line = first + row_offset(k, k.add(t.q_start, in_sequence).template as<u32>(), p_.o_row);
                const auto own = line + k.mul_lo(chunk_, 8u);
                for (u32 panel = 0; panel < C.dv / span; ++panel)
                    put((own + panel * span).template as<packet<u32, 4>>().template assume_aligned<16>(), panel, row);
            });
        }
    }
    attention_pointers<S> g_;
    attention_arguments p_;
    attention_consumer_thread me_;
    reg<u32> warp_row_;           ///< the warp's first row in the block's tile
    reg<u32> store_row_, chunk_;  ///< of what the thread stores at once: the row behind the first, and 16 bytes of it
};

/// What a consumer warpgroup does with the tiles.
///
///     S = Q K^T of the first step, softmax
///     each further step:  S' = Q K'^T and O += P V are given to the tensor cores one behind the other; the softmax of
///                         S' goes on beside the second; then P = S' and O is corrected
///     between two tiles:  the same, with S' that of the next tile's first step; then O is stored
///     O += P V of the last one
///
/// Where there is no room for the queries of two tiles, each begins and ends by itself. The warpgroups take turns at
/// giving: while one's products run the other's softmax does.
template <class S>
class attention_consumer {
    static constexpr attention_config C = S::config;
    using T = typename S::element;
    static constexpr u32 slices = C.bn / 16;

public:
    constexpr attention_consumer(k_t& k, const attention_rings<S>& rings, const attention_pointers<S>& g,
                                 const attention_arguments& p, const attention_consumer_thread& me)
        : rings_(rings),
          p_(p),
          me_(me),
          logits_(k.wgmma.make_accumulator<f32, C.bn>("s")),
          sums_(k.wgmma.make_accumulator<f32, C.dv>("o")),
          weights_(make_weights<T>(k, std::make_index_sequence<slices>{})),
          mask_(p),
          softmax_(p.factor),
          output_(k, g, p, me),
          q_(k.wgmma.descriptor(rings.q).rows_at(me.index, 64)),
          k_(k.wgmma.descriptor(rings.k)),
          v_(k.wgmma.descriptor(rings.v)),
          q_at_(k.consumer_state(rings.q_pipe)),
          k_at_(k.consumer_state(rings.k_pipe)),
          v_at_(k.consumer_state(rings.v_pipe)),
          releases_(me.t == 0u) {}

    constexpr void run(k_t& k, attention_work<S>& work) {
        k.if_(me_.index == C.consumers() - 1, [&] { k.bar_arrive(k.mov<u32>(turn_barrier), 256u); });
        find(k, work);
        if constexpr (C.query_slots() == 1)
            one_by_one(k, work);
        else
            k.if_(found_ != 0u, [&] { overlapped(k, work); });
        // The first one's turn after the last step is nobody's.
        k.if_(me_.index == 0u, [&] { k.bar_sync(k.mov<u32>(turn_barrier), 256u); });
    }

private:
    /// The next tile whose queries see keys becomes `next_`; the results of those in front of it are 0.
    constexpr void find(k_t& k, attention_work<S>& work) {
        found_ = k.template mov<u32>(0);
        k.while_([&] { return work.more() && found_ == 0u; },
                 [&] {
                     const auto t = work.locate(k);
                     work.next(k);
                     k.if_(t.inside, [&] {
                         k.if_(t.begin < t.end, [&] {
                              found_ = k.template mov<u32>(1);
                              next_.assign(t);
                          }).else_([&] { nothing(k, t); });
                     });
                 });
    }
    constexpr void one_by_one(k_t& k, attention_work<S>& work) {
        k.while_([&] { return found_ != 0u; },
                 [&] {
                     begin_first(k);
                     steps(k);
                     end_last(k);
                     find(k, work);
                 });
    }
    constexpr void overlapped(k_t& k, attention_work<S>& work) {
        begin_first(k);
        k.loop([&](loop_handle loop) {
            steps(k);
            find(k, work);
            loop.break_if(found_ == 0u);
            between(k);
        });
        end_last(k);
    }

    /// The first step of a tile, with nothing beside it.
    constexpr void begin_first(k_t& k) {
        begin_tile(k);
        k.wait_full(rings_.q_pipe, q_at_);
        k.wait_full(rings_.k_pipe, k_at_);
        k.wgmma.fence();
        products_of_keys(k, q_at_.slot());
        k.wgmma.template wait_group<0>();
        free_keys(k);
        to_weights(k);
        begin_results(k);
        pack_weights<S>(k, logits_, weights_);
    }
    constexpr void steps(k_t& k) {
        k.while_([&] { return column_ > first_; }, [&] { step(k); });
    }
    /// Logits from here on are the next tile's.
    constexpr void begin_tile(k_t& k) {
        mask_.begin(k, me_, next_);
        softmax_.begin(k);
        column_ = k.mul_lo(k.sub(next_.end, 1), C.bn);
        first_ = k.mul_lo(next_.begin, C.bn);
    }
    /// And so are results.
    constexpr void begin_results(k_t& k) {
        for (u32 i = 0; i < sums_.size; ++i) {
            auto o = sums_[i];
            o = 0.0f;
        }
        now_.assign(next_);
        if (p_.form.foreign_keys()) clear_foreign_values(k);
    }
    /// The last step of a tile beside the first one of the next.
    constexpr void between(k_t& k) {
        const auto queries = k.xor_(q_at_.slot(), 1u);
        k.wait(rings_.q_pipe.full()[queries], k.xor_(q_at_.parity(), q_at_.slot()));
        k.wait_full(rings_.k_pipe, k_at_);
        take_turn(k);
        k.wgmma.fence();
        products_of_keys(k, queries);
        k.wait_full(rings_.v_pipe, v_at_);
        k.wgmma.fence();
        products_of_values(k);
        pass_turn(k);
        k.wgmma.template wait_group<1>();
        free_keys(k);
        const auto done = totals(k);
        begin_tile(k);
        to_weights(k);
        k.wgmma.template wait_group<0>();
        free_values(k);
        store(k, done);
        begin_results(k);
        pack_weights<S>(k, logits_, weights_);
    }
    /// The last step of a tile with nothing beside it.
    constexpr void end_last(k_t& k) {
        k.wait_full(rings_.v_pipe, v_at_);
        k.wgmma.fence();
        products_of_values(k);
        const auto done = totals(k);
        k.wgmma.template wait_group<0>();
        free_values(k);
        store(k, done);
    }
    constexpr void step(k_t& k) {
        column_ = k.sub(column_, C.bn);
        k.wait_full(rings_.k_pipe, k_at_);
        take_turn(k);
        k.wgmma.fence();
        products_of_keys(k, q_at_.slot());
        k.wait_full(rings_.v_pipe, v_at_);
        k.wgmma.fence();  // behind a loop ptxas puts one of its own (C7519)
        products_of_values(k);
        pass_turn(k);
        k.wgmma.template wait_group<1>();
        free_keys(k);
        to_weights(k);
        k.wgmma.template wait_group<0>();
        free_values(k);
        pack_weights<S>(k, logits_, weights_);
        for (u32 i = 0; i < sums_.size; ++i) {
            auto o = sums_[i];
            o = k.template mul<rn>(o, softmax_.correction(i / 2 % 2));
        }
    }
    constexpr void products_of_keys(k_t& k, const reg32& slot) const {
        const auto queries = C.query_slots() == 1 ? q_ : q_[slot];  // one place needs no index
        const auto keys = k_[k_at_.slot()];
        for (u32 s = 0; s < C.d / 16; ++s) k.wgmma.mma_async(logits_, queries.k_slice(s), keys.k_slice(s), s != 0);
        k.wgmma.commit_group();
    }
    constexpr void products_of_values(k_t& k) const {
        const auto values = v_[v_at_.slot()];
        for (u32 s = 0; s < slices; ++s) k.wgmma.mma_async(sums_, weights_.f[s], values.k_slice(s));
        k.wgmma.commit_group();
    }
    constexpr void to_weights(k_t& k) {
        if (p_.form.softcap) cap_logits<S>(k, logits_, p_.cap);
        mask_.apply(k, logits_, column_);
        softmax_.step(k, logits_);
    }
    constexpr void free_keys(k_t& k) const {
        k.at(releases_).mbarrier_arrive(rings_.k_pipe.empty(k_at_));
        k.advance(k_at_);
    }
    constexpr void free_values(k_t& k) const {
        k.at(releases_).mbarrier_arrive(rings_.v_pipe.empty(v_at_));
        k.advance(v_at_);
    }
    constexpr void take_turn(k_t& k) const { k.bar_sync(k.add(me_.index, turn_barrier), 256u); }
    constexpr void pass_turn(k_t& k) const {
        const auto next = k.add(me_.index, 1u);
        k.bar_arrive(k.add(k.selp(k.mov<u32>(0), next, next == C.consumers()), turn_barrier), 256u);
    }

    /// The step at `column` reaches behind the sequence: what lies there in V is another's, or NaN, which a weight of 0
    /// would not silence. The consumers overwrite it with 0.
    constexpr void clear_foreign_values(k_t& k) const {
        using panel_layout = typename S::v;
        constexpr u32 chunks = span_of(panel_layout::layout.swizzle) / 16, threads = 128 * C.consumers();
        const auto valid = k.sub(now_.k_len, column_);
        k.if_(valid < static_cast<s32>(C.bn), [&] {
            k.wait_full(rings_.v_pipe, v_at_);
            const auto thread = k.mad_lo(me_.index, 128u, me_.t);
            const auto chunk = k.rem(thread, chunks);
            const auto zero = k.template mov<u32>(0);
            k.for_(k.add(valid.template as<u32>(), k.div(thread, chunks)), C.bn, threads / chunks,
                   [&](const reg32& row) {
                       for (u32 panel = 0; panel < panel_layout::layout.panels(); ++panel)
                           k.st(k.tile_line(rings_.v[v_at_.slot()].panel(panel), row)
                                    .chunk(chunk)
                                    .template as<packet<u32, 4>>(),
                                vec<u32, 4>(zero, zero, zero, zero));
                   });
            k.fence_proxy_async_shared_cta();
            k.template bar_sync<consumers_barrier, threads>();
        });
    }
    /// What the sums of a tile's weights come to.
    struct row_totals {
        regf32 inverse[2], log[2];
    };
    constexpr row_totals totals(k_t& k) {
        row_totals t;
        softmax_.finish(k);
        for (u32 r = 0; r < 2; ++r) {
            t.inverse[r] = softmax_.inverse(k, r);
            if (p_.form.lse) t.log[r] = softmax_.log_sum(k, r);
        }
        return t;
    }
    constexpr void store(k_t& k, const row_totals& done) {
        k.bar_sync(k.add(me_.index, own_barrier), 128u);  // all its warps' products have read the queries
        const auto place = rings_.q[q_at_.slot()];
        output_.stage(k, place, sums_, done.inverse);
        k.bar_warp_sync();
        output_.store(k, place, now_);
        k.fence_proxy_async_shared_cta();
        k.bar_warp_sync();
        k.at(me_.lane == 0u).mbarrier_arrive(rings_.q_pipe.empty(q_at_));
        k.advance(q_at_);
        if (p_.form.lse) output_.store_lse(k, now_, [&](u32 r) { return done.log[r]; });
    }
    /// No key is seen.
    constexpr void nothing(k_t& k, const attention_tile& t) const {
        output_.store_zeros(k, t);
        if (p_.form.lse)
            output_.store_lse(k, t, [&](u32) { return k.template mov<f32>(-std::numeric_limits<float>::infinity()); });
    }

    attention_rings<S> rings_;
    attention_arguments p_;
    attention_consumer_thread me_;
    accumulator<f32, C.bn> logits_;
    accumulator<f32, C.dv> sums_;
    weight_fragments<T, slices> weights_;
    attention_mask<S> mask_;
    online_softmax<S> softmax_;
    attention_output<S> output_;
    attention_tile now_, next_;  ///< whose results are summed up; whose come behind them
    reg<u32> found_;             ///< 0: none do
    reg<s32> column_, first_;    ///< first key of the present step and of the last one
    matrix_descriptor<typename S::q> q_;
    matrix_descriptor<typename S::k> k_;
    matrix_descriptor<typename S::v> v_;
    pipeline<"q">::consumer_state q_at_;
    pipeline<"k">::consumer_state k_at_;
    pipeline<"v">::consumer_state v_at_;
    reg<pred> releases_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
