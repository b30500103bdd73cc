// SPDX-License-Identifier: Apache-2.0
// Attention of few queries over keys in pages, for Hopper: `decode_body` computes the results of a part of the keys,
// `combine_body` puts those of a sequence's parts together (docs/kernels/attention_paged.md).
#pragma once

#include <ptxdsl/kernels/attention/decode_spec.hpp>
#include <ptxdsl/kernels/attention/softmax.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels {

namespace detail {

/// Shared memory as both sides see it.
template <class S>
struct decode_rings {
    static constexpr decode_config C = S::config;
    shared_tile<typename S::q> q;
    shared_tile<typename S::k> k;
    shared_tile<typename S::v> v;
    pipeline<"k"> k_pipe;
    pipeline<"v"> v_pipe;

    constexpr explicit decode_rings(k_t& b)
        : q(b.smem<typename S::q>(1, "q")),
          k(b.smem<typename S::k>(C.stages, "k")),
          v(b.smem<typename S::v>(C.stages, "v")),
          k_pipe(b.make_pipeline<"k">(C.stages, arrivals<1>, arrivals<1>)),
          v_pipe(b.make_pipeline<"v">(C.stages, arrivals<1>, arrivals<1>)) {}

    constexpr void start(k_t& b, const reg32& tid) const {
        b.single_thread(tid == 0u, [&] {
            b.init(k_pipe);
            b.init(v_pipe);
        });
        b.fence_mbarrier_init();
        b.bar_sync();
    }
};

/// One thread looks pages up and copies `box` keys at a time. A step that reaches behind the last key copies the last
/// box again: entries of the table behind it are never used, whatever they are.
template <class S>
class decode_producer {
    static constexpr decode_config C = S::config;
    static constexpr u32 boxes = C.bn / C.box;

public:
    constexpr decode_producer(k_t& k, const decode_rings<S>& rings, const decode_pointers<S>& g,
                              const decode_arguments& p)
        : rings_(rings), g_(g), p_(p), k_at_(k.producer_state(rings.k_pipe)), v_at_(k.producer_state(rings.v_pipe)) {}

    constexpr void run(k_t& k, const decode_work<S>& work) const {
        const auto row = g_.pages + k.mul_lo(work.batch, p_.most_pages);
        const auto last = k.sub(work.sequence.k_len.template as<u32>(), 1u);
        const auto last_box = k.sub(last, k.rem(last, C.box)).named("last_box");
        k.for_(work.begin, work.end, 1u, [&](const reg32& n) {
            reg<s32> page[boxes], token[boxes];
            for (u32 b = 0; b < boxes; ++b) {
                const auto key = k.min(k.add(k.mul_lo(n, C.bn), b * C.box), last_box);
                const auto entry = k.div(key, p_.page);
                page[b] = k.ld(row + entry);
                token[b] = k.sub(key, k.mul_lo(entry, p_.page)).template as<s32>();
            }
            copy(k, rings_.k_pipe, k_at_, rings_.k, g_.k, work, page, token);
            copy(k, rings_.v_pipe, v_at_, rings_.v, g_.v, work, page, token);
        });
    }

private:
    template <class Pipe, class State, class Ring>
    constexpr void copy(k_t& k, const Pipe& pipe, const State& at, const Ring& ring, const typename S::map& map,
                        const decode_work<S>& work, const reg<s32> (&page)[boxes],
                        const reg<s32> (&token)[boxes]) const {
        k.wait_empty(pipe, at);
        k.mbarrier_arrive_expect_tx(pipe.full(at), ring);
        for (u32 b = 0; b < boxes; ++b)
            for (u32 panel = 0; panel < panels(ring); ++panel)
                k.cp_async_bulk_tensor(
                    ring[at.slot()].panel(panel).template as<typename S::panel>().template part<typename S::part>(b),
                    map, coords(64 * panel, token[b], work.kv_head, page[b]), pipe.full(at));
        k.advance(at);
    }
    template <class Tile>
    static constexpr u32 panels(const shared_tile<Tile>&) noexcept {
        return Tile::layout.panels();
    }
    decode_rings<S> rings_;
    decode_pointers<S> g_;
    decode_arguments p_;
    pipeline<"k">::producer_state k_at_;
    pipeline<"v">::producer_state v_at_;
};

/// A row of the tile: a query of one of the heads.
struct decode_row {
    reg<u32> token, head;
    reg<pred> inside;

    constexpr decode_row(k_t& k, const decode_arguments& p, const reg32& kv_head, const reg32& row)
        : token(k.div(row, p.group)),
          head(k.mad_lo(kv_head, p.group, k.sub(row, k.mul_lo(token, p.group)))),
          inside(token < p.q_len) {}
};

constexpr reg<u64> wide_offset(k_t& k, const reg32& index, const reg<u64>& stride) {
    return k.mul_lo(k.template cvt<u64>(index), stride);
}

/// The consumer warpgroup: logits of a step, softmax in registers, results; two rows a thread.
template <class S>
class decode_consumer {
    static constexpr decode_config C = S::config;
    using T = typename S::element;
    static constexpr u32 slices = C.bn / 16;

    struct thread {
        reg<u32> t, warp, lane;
        reg<u32> row;  ///< its first row of the tile, the second is 8 below
        reg<s32> col;  ///< its first column of each group of 8
        constexpr thread(k_t& k, const reg32& tid)
            : t(k.and_(tid, 127u)),
              warp(k.shr(t, 5u)),
              lane(k.and_(tid, 31u)),
              row(k.mad_lo(warp, 16u, k.shr(lane, 2u))),
              col(k.shl(k.and_(lane, 3u), 1u).template as<s32>()) {}
    };

public:
    constexpr decode_consumer(k_t& k, const decode_rings<S>& rings, const decode_pointers<S>& g,
                              const decode_arguments& p, const decode_work<S>& work, const reg32& tid)
        : rings_(rings),
          g_(g),
          p_(p),
          work_(work),
          me_(k, tid),
          rows_{decode_row(k, p, work.kv_head, k.add(work.first_row, me_.row)),
                decode_row(k, p, work.kv_head, k.add(k.add(work.first_row, me_.row), 8u))},
          logits_(k.wgmma.make_accumulator<f32, C.bn>("s")),
          sums_(k.wgmma.make_accumulator<f32, C.dv>("o")),
          weights_(make_weights<T>(k, std::make_index_sequence<slices>{})),
          softmax_(p.factor),
          q_(k.wgmma.descriptor(rings.q)),
          k_(k.wgmma.descriptor(rings.k)),
          v_(k.wgmma.descriptor(rings.v)),
          k_at_(k.consumer_state(rings.k_pipe)),
          v_at_(k.consumer_state(rings.v_pipe)) {}

    constexpr void run(k_t& k) {
        load_queries(k);
        edges(k);
        softmax_.begin(k);
        for (u32 i = 0; i < sums_.size; ++i) {
            auto o = sums_[i];
            o = 0.0f;
        }
        k.for_(work_.begin, work_.end, 1u, [&](const reg32& n) { step(k, k.mul_lo(n, C.bn).template as<s32>()); });
        softmax_.finish(k);
        k.if_(work_.sequence.splits <= 1u, [&] { store(k); }).else_([&] { store_part(k); });
    }

private:
    /// The rows of the tile, 0 where there are none: for any stride of heads and queries.
    constexpr void load_queries(k_t& k) const {
        const auto chunk = k.and_(me_.t, 7u);
        const auto base = g_.q + wide_offset(k, work_.batch, p_.q_batch);
        for (u32 first = 0; first < C.bm; first += 16) {
            const auto row = k.add(k.shr(me_.t, 3u), first);
            const decode_row at(k, p_, work_.kv_head, k.add(work_.first_row, row));
            const auto from =
                base + wide_offset(k, at.token, p_.q_row) + wide_offset(k, at.head, p_.q_head) + k.mul_lo(chunk, 8u);
            for (u32 panel = 0; panel < C.d / 64; ++panel) {
                const auto to = k.tile_line(rings_.q[0].panel(panel), row).chunk(chunk).template as<packet<u32, 4>>();
                k.if_(at.inside, [&] {
                     k.st(to,
                          k.ld((from + 64 * panel).template as<const packet<u32, 4>>().template assume_aligned<16>()));
                 }).else_([&] {
                    const auto zero = k.template mov<u32>(0);
                    k.st(to, vec<u32, 4>(zero, zero, zero, zero));
                });
            }
        }
        k.fence_proxy_async_shared_cta();
        k.template bar_sync<1, 128>();
    }
    /// What the thread's rows see, counted from its first column: the last query stands at the last key.
    constexpr void edges(k_t& k) {
        for (u32 r = 0; r < 2; ++r) {
            const auto at =
                k.sub(k.add(rows_[r].token.template as<s32>(), work_.sequence.k_len), p_.q_len.template as<s32>());
            end_[r] = p_.form.right
                          ? reg<s32>(k.sub(k.min(work_.sequence.k_len, k.add(k.add(at, p_.right), 1)), me_.col))
                          : reg<s32>(k.sub(work_.sequence.k_len, me_.col));
            if (p_.form.left) begin_[r] = k.sub(k.sub(at, p_.left), me_.col);
        }
    }
    constexpr void step(k_t& k, const reg<s32>& column) {
        k.wait_full(rings_.k_pipe, k_at_);
        k.wgmma.fence();
        const auto queries = q_;
        const auto keys = k_[k_at_.slot()];
        for (u32 s = 0; s < C.d / 16; ++s) k.wgmma.mma_async(logits_, queries.k_slice(s), keys.k_slice(s), s != 0);
        k.wgmma.commit_group();
        k.wgmma.template wait_group<0>();
        k.at(me_.t == 0u).mbarrier_arrive(rings_.k_pipe.empty(k_at_));
        k.advance(k_at_);
        if (p_.form.softcap) cap_logits<S>(k, logits_, p_.cap);
        mask(k, column);
        softmax_.step(k, logits_);
        for (u32 i = 0; i < sums_.size; ++i) {
            auto o = sums_[i];
            o = k.template mul<rn>(o, softmax_.correction(i / 2 % 2));
        }
        pack_weights<S>(k, logits_, weights_);
        clear_foreign_values(k, column);
        k.wait_full(rings_.v_pipe, v_at_);
        k.wgmma.fence();
        const auto values = v_[v_at_.slot()];
        for (u32 s = 0; s < slices; ++s) k.wgmma.mma_async(sums_, weights_.f[s], values.k_slice(s));
        k.wgmma.commit_group();
        k.wgmma.template wait_group<0>();
        k.at(me_.t == 0u).mbarrier_arrive(rings_.v_pipe.empty(v_at_));
        k.advance(v_at_);
    }
    constexpr void mask(k_t& k, const reg<s32>& first) const {
        // The first query sees the fewest keys at the right end, the last one at the left end.
        const auto& length = work_.sequence.k_len;
        const auto queries = p_.q_len.template as<s32>();
        const auto whole =
            p_.form.right ? reg<s32>(k.min(length, k.add(k.add(k.sub(length, queries), p_.right), 1))) : length.same();
        k.if_(k.add(first, C.bn) > whole, [&] {
            hide_logits(
                k, logits_, [&](u32 r) { return reg<s32>(k.sub(end_[r], first)); },
                [](const reg<s32>& edge, s32 c) { return edge > c; });
        });
        if (!p_.form.left) return;
        k.if_(first < k.sub(k.sub(length, 1), p_.left), [&] {
            hide_logits(
                k, logits_, [&](u32 r) { return reg<s32>(k.sub(begin_[r], first)); },
                [](const reg<s32>& edge, s32 c) { return edge <= c; });
        });
    }
    /// Values behind the last key may be NaN, which a weight of 0 would not silence.
    constexpr void clear_foreign_values(k_t& k, const reg<s32>& column) const {
        const auto valid = k.sub(work_.sequence.k_len, column);
        k.if_(valid < static_cast<s32>(C.bn), [&] {
            k.wait_full(rings_.v_pipe, v_at_);
            const auto chunk = k.and_(me_.t, 7u);
            const auto zero = k.template mov<u32>(0);
            k.for_(k.add(valid.template as<u32>(), k.shr(me_.t, 3u)), C.bn, 16u, [&](const reg32& row) {
                for (u32 panel = 0; panel < C.dv / 64; ++panel)
                    k.st(k.tile_line(rings_.v[v_at_.slot()].panel(panel), row)
                             .chunk(chunk)
                             .template as<packet<u32, 4>>(),
                         vec<u32, 4>(zero, zero, zero, zero));
            });
            k.fence_proxy_async_shared_cta();
            k.template bar_sync<1, 128>();
        });
    }
    /// Results of a sequence that one block has all keys of.
    constexpr void store(k_t& k) const {
        for (u32 r = 0; r < 2; ++r) {
            const auto inverse = softmax_.inverse(k, r);
            k.if_(rows_[r].inside, [&] {
                const auto to = g_.out + wide_offset(k, work_.batch, p_.o_batch) +
                                wide_offset(k, rows_[r].token, p_.o_row) + wide_offset(k, rows_[r].head, p_.o_head) +
                                me_.col.template as<u32>();
                for (u32 c = 0; c < C.dv / 8; ++c) {
                    const auto low = k.template mul<rn>(sums_[4 * c + 2 * r], inverse),
                               high = k.template mul<rn>(sums_[4 * c + 2 * r + 1], inverse);
                    k.st((to + 8 * c).template as<typename S::packed>().template assume_aligned<4>(),
                         k.template cvt<typename S::packed, rn>(hi(high), lo(low)));
                }
                if (!p_.form.lse) return;
                const auto row = k.mad_lo(k.mad_lo(work_.batch, p_.heads, rows_[r].head), p_.q_len, rows_[r].token);
                k.at(me_.col == 0).st(g_.lse + row, softmax_.log_sum(k, r));
            });
        }
    }
    /// A part's results and their logarithms, f32.
    constexpr void store_part(k_t& k) const {
        for (u32 r = 0; r < 2; ++r) {
            const auto inverse = softmax_.inverse(k, r);
            k.if_(rows_[r].inside, [&] {
                const auto row = k.mad_lo(k.mad_lo(work_.batch, p_.q_len, rows_[r].token), p_.heads, rows_[r].head);
                const auto place = k.template cvt<u64>(k.mad_lo(work_.split, p_.rows, row));
                const auto to = g_.partial_sums + k.mul_lo(place, std::uint64_t{C.dv}) + me_.col.template as<u32>();
                for (u32 c = 0; c < C.dv / 8; ++c)
                    k.st((to + 8 * c).template as<packet<f32, 2>>().template assume_aligned<8>(),
                         vec<f32, 2>(k.template mul<rn>(sums_[4 * c + 2 * r], inverse),
                                     k.template mul<rn>(sums_[4 * c + 2 * r + 1], inverse)));
                k.at(me_.col == 0).st(g_.partial_logs + place, softmax_.log_sum(k, r));
            });
        }
    }

    decode_rings<S> rings_;
    decode_pointers<S> g_;
    decode_arguments p_;
    decode_work<S> work_;
    thread me_;
    decode_row rows_[2];
    accumulator<f32, C.bn> logits_;
    accumulator<f32, C.dv> sums_;
    weight_fragments<T, slices> weights_;
    online_softmax<S> softmax_;
    matrix_descriptor<typename S::q> q_;
    matrix_descriptor<typename S::k> k_;
    matrix_descriptor<typename S::v> v_;
    pipeline<"k">::consumer_state k_at_;
    pipeline<"v">::consumer_state v_at_;
    reg<s32> end_[2], begin_[2];
};

/// The weighted sum of a row's parts: a block a row, whose warps take turns at the parts; two neighbouring elements of
/// each 64 a lane.
template <u32 Size, class T>
class decode_combination {
    static constexpr u32 warps = 4;
    static constexpr u32 at_once = 4;  ///< parts of a warp whose loads are under way together
    using packed = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;

public:
    constexpr decode_combination(k_t& k, const global_ptr<const f32>& sums, const global_ptr<const f32>& logs,
                                 const reg32& rows, const reg32& row)
        : lane_(k.and_(k.mov(tid.x), 31u)),
          warp_(k.shr(k.mov(tid.x), 5u)),
          sums_(sums + k.mul_lo(k.template cvt<u64>(row), std::uint64_t{Size}) + k.shl(lane_, 1u)),
          logs_(logs + k.template cvt<u64>(row)),
          rows_(rows) {
        for (auto& o : out_) o = k.template mov<f32>(0.0f);
        sum_ = k.template mov<f32>(0.0f);
    }

    constexpr void run(k_t& k, const reg32& parts) {
        largest(k, parts);
        k.for_(k.mul_lo(warp_, at_once), parts, warps * at_once, [&](const reg32& first) { add(k, first, parts); });
        gather(k);
    }
    /// By the first warp.
    template <class Row>
    constexpr void store(k_t& k, const Row& row) const {
        const auto inverse = k.selp(k.template rcp<approx, ftz>(sum_), 0.0f, sum_ != 0.0f);
        const auto to = row + k.shl(lane_, 1u);
        for (u32 c = 0; c < Size / 64; ++c)
            k.at(warp_ == 0u)
                .st((to + 64 * c).template as<packed>().template assume_aligned<4>(),
                    k.template cvt<packed, rn>(hi(k.template mul<rn>(out_[2 * c + 1], inverse)),
                                               lo(k.template mul<rn>(out_[2 * c], inverse))));
    }
    [[nodiscard]] constexpr regf32 log_sum(k_t& k) const {
        return k.template fma<rn>(k.template lg2<approx>(sum_), std::numbers::ln2_v<float>, base_);
    }

private:
    /// What the parts' logarithms are relative to: the largest, or 0 where no part saw a key.
    constexpr void largest(k_t& k, const reg32& parts) {
        constexpr float nothing = -std::numeric_limits<float>::infinity();
        auto high = k.template mov<f32>(nothing);
        k.for_(lane_, parts, 32u, [&](const reg32& part) {
            high = k.max(high, k.ld(logs_ + k.template cvt<u64>(k.mul_lo(part, rows_))));
        });
        for (u32 lanes = 1; lanes < 32; lanes *= 2) high = k.max(high, k.shfl_sync_bfly(high, lanes, 31u, full_mask));
        base_ = k.selp(high, 0.0f, high > nothing);
    }
    constexpr void add(k_t& k, const reg32& first, const reg32& parts) {
        regf32 log[at_once], value[at_once][Size / 32];
        for (u32 i = 0; i < at_once; ++i) {
            const auto part = k.min(k.add(first, i), k.sub(parts, 1u));
            const auto place = k.template cvt<u64>(k.mul_lo(part, rows_));
            log[i] = k.ld(logs_ + place);
            for (u32 c = 0; c < Size / 64; ++c) {
                const auto two = k.ld((sums_ + k.mul_lo(place, std::uint64_t{Size}) + 64 * c)
                                          .template as<const packet<f32, 2>>()
                                          .template assume_aligned<8>());
                value[i][2 * c] = two[0].same(), value[i][2 * c + 1] = two[1].same();
            }
        }
        for (u32 i = 0; i < at_once; ++i) {
            const auto power = k.template mul<rn>(k.template sub<rn>(log[i], base_), std::numbers::log2e_v<float>);
            const auto w = k.selp(k.template ex2<approx, ftz>(power), 0.0f, k.add(first, i) < parts);
            sum_ = k.template add<rn>(sum_, w);
            for (u32 c = 0; c < Size / 32; ++c) out_[c] = k.template fma<rn>(value[i][c], w, out_[c]);
        }
    }
    /// What the warps have goes to the first one.
    constexpr void gather(k_t& k) {
        const auto sums = k.smem_array<f32>(warps, "sums");
        const auto values = k.smem_array<f32>(warps * Size, "values");
        const auto own = values + k.mad_lo(warp_, Size, lane_);
        for (u32 c = 0; c < Size / 32; ++c) k.st(own + 32 * c, out_[c]);
        k.at(lane_ == 0u).st(sums + warp_, sum_);
        k.bar_sync();
        for (u32 w = 1; w < warps; ++w) {
            sum_ = k.template add<rn>(w == 1 ? regf32(k.ld(sums)) : sum_.same(), k.ld(sums + w));
            for (u32 c = 0; c < Size / 32; ++c)
                out_[c] = k.template add<rn>(w == 1 ? regf32(k.ld(values + lane_ + 32 * c)) : out_[c].same(),
                                             k.ld(values + lane_ + (w * Size + 32 * c)));
        }
    }
    reg<u32> lane_, warp_;
    global_ptr<const f32> sums_, logs_;
    reg<u32> rows_;
    regf32 base_, sum_, out_[Size / 32];
};

}  // namespace detail

/// The kernel of configuration `C` and form `f`: results of every row over one part of its sequence's keys. They are
/// `out` and `lse` where the sequence has one part, else `partial_sums` and `partial_logs`.
template <decode_config C, class T>
constexpr void decode_body(builder<sm_90a>& k, const attention_form& f, typename detail::decode_spec<C, T>::map keys,
                           typename detail::decode_spec<C, T>::map values, global_ptr<const T, 16> q,
                           global_ptr<T, 16> out, global_ptr<f32> lse, global_ptr<const s32> pages,
                           global_ptr<const s32> used, global_ptr<f32> partial_sums, global_ptr<f32> partial_logs,
                           reg<u32> q_len, reg<u32> heads, reg<u32> group, reg<u32> kv_heads, reg<u32> row_tiles,
                           reg<u32> rows, reg<u32> page, reg<u32> most_pages, reg<u32> split_steps, reg<u32> splits,
                           reg<f32> factor, reg<f32> cap, reg<s32> left, reg<s32> right, reg<u64> q_row,
                           reg<u64> q_head, reg<u64> q_batch, reg<u64> o_row, reg<u64> o_head, reg<u64> o_batch) {
    using namespace detail;
    using S = decode_spec<C, T>;
    const decode_pointers<S> g{keys, values, q, out, lse, pages, used, partial_sums, partial_logs};
    const decode_arguments p{.form = f,
                             .q_len = q_len,
                             .heads = heads,
                             .group = group,
                             .kv_heads = kv_heads,
                             .row_tiles = row_tiles,
                             .rows = rows,
                             .page = page,
                             .most_pages = most_pages,
                             .split_steps = split_steps,
                             .splits = splits,
                             .factor = factor,
                             .cap = cap,
                             .left = left,
                             .right = right,
                             .q_row = q_row,
                             .q_head = q_head,
                             .q_batch = q_batch,
                             .o_row = o_row,
                             .o_head = o_head,
                             .o_batch = o_batch};
    const decode_rings<S> rings(k);
    const auto tid = k.mov(ptxdsl::tid.x).named("tid");
    k.single_thread(tid == 0u, [&] {
        k.prefetch_tensormap(keys);
        k.prefetch_tensormap(values);
    });
    rings.start(k, tid);
    k.griddepcontrol_launch_dependents();
    k.griddepcontrol_wait();  // the grid before this one may still write what is read here
    const decode_work<S> work(k, g, p);
    // The blocks of shorter sequences have nothing to do; one there is for each, be it for results of 0.
    k.if_(work.split == 0u || work.split < work.sequence.splits, [&] {
        k.if_(tid < 128u, [&] { decode_consumer<S>(k, rings, g, p, work, tid).run(k); }).else_([&] {
            k.single_thread(tid == 128u, [&] { decode_producer<S>(k, rings, g, p).run(k, work); });
        });
    });
}

/// Puts the parts of sequences together that have more than one.
template <u32 Size, class T>
constexpr void combine_body(builder<sm_90a>& k, const attention_form& f, u32 bn, global_ptr<const f32> partial_sums,
                            global_ptr<const f32> partial_logs, global_ptr<const s32> used, global_ptr<T, 16> out,
                            global_ptr<f32> lse, reg<u32> rows, reg<u32> q_len, reg<u32> heads, reg<u32> most_keys,
                            reg<u32> split_steps, reg<u64> o_row, reg<u64> o_head, reg<u64> o_batch) {
    using namespace detail;
    const auto row = k.mov(ctaid.x).named("row");
    k.griddepcontrol_launch_dependents();
    k.griddepcontrol_wait();
    const auto query = k.div(row, heads), head = k.sub(row, k.mul_lo(query, heads));
    const auto batch = k.div(query, q_len), token = k.sub(query, k.mul_lo(batch, q_len));
    const decode_sequence sequence(k, used, batch, most_keys, split_steps, bn);
    k.if_(sequence.splits > 1u, [&] {
        decode_combination<Size, T> sum(k, partial_sums, partial_logs, rows, row);
        sum.run(k, sequence.splits);
        sum.store(k,
                  out + wide_offset(k, batch, o_batch) + wide_offset(k, token, o_row) + wide_offset(k, head, o_head));
        if (!f.lse) return;
        k.at(k.mov(ptxdsl::tid.x) == 0u).st(lse + k.mad_lo(k.mad_lo(batch, heads, head), q_len, token), sum.log_sum(k));
    });
}

/// The launch attributes of configuration `C`.
template <decode_config C>
inline constexpr attributes decode_attributes{.reqntid = {C.threads}, .minnctapersm = C.blocks()};
inline constexpr attributes combine_attributes{.reqntid = {128}};

}  // namespace ptxdsl::kernels

#include <ptxdsl/detail/epilogue.hpp>
