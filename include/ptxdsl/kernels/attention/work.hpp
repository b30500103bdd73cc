// SPDX-License-Identifier: Apache-2.0
// Which tiles of queries a block works on, in which order, and which keys each of them needs.
#pragma once

#include <ptxdsl/kernels/attention/spec.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

/// One tile of queries of one head: where it lies, and the steps [begin, end) of keys that it needs.
struct attention_tile {
    reg<s32> row;  ///< first query, counted in its sequence
    reg<u32> head, kv_head;
    reg<u32> batch;             ///< coordinate of the maps; 0 with packed sequences
    reg<s32> q_start, k_start;  ///< rows of the maps where the sequence starts
    reg<s32> q_len, k_len;
    reg<s32> shift;  ///< the last query stands at the last key: query i at key i + shift
    reg<s32> begin, end;
    reg<pred> inside;  ///< the sequence has this tile

    /// Copies what a consumer needs, register by register.
    constexpr void assign(const attention_tile& t) {
        row = t.row, head = t.head, batch = t.batch, q_start = t.q_start, q_len = t.q_len;
        k_len = t.k_len, shift = t.shift, begin = t.begin, end = t.end;
    }
};

/// A block's tiles, one after the other. The longest come first: tiles of the sequences' last queries, of all heads.
/// The blocks take turns to and fro (0, 1, 2, 2, 1, 0, 0 …), which evens out what a round's tiles differ in.
template <class S>
class attention_work {
    static constexpr attention_config C = S::config;

public:
    constexpr attention_work(k_t& k, const attention_pointers<S>& g, const attention_arguments& p) : g_(g), p_(p) {
        const auto block = k.mov(ctaid.x), blocks = k.mov(nctaid.x);
        both_ = k.shl(blocks, 1u);
        step_ = k.sub(k.sub(both_, 1u), k.shl(block, 1u));
        total_ = k.mul_lo(p.pairs, p.row_tiles);
        tile_ = k.mov(block).named("tile");
    }
    [[nodiscard]] constexpr reg<pred> more() const { return tile_ < total_; }
    constexpr void next(k_t& k) {
        tile_ = k.add(tile_, step_);
        step_ = k.sub(both_, step_);
    }

    /// The present tile.
    constexpr attention_tile locate(k_t& k) const {
        const auto level = k.div(tile_, p_.pairs);
        const auto pair = k.sub(tile_, k.mul_lo(level, p_.pairs));
        const auto sequence = k.div(pair, p_.heads);
        attention_tile t;
        t.row = k.mul_lo(k.sub(k.sub(p_.row_tiles, 1u), level), C.bm).template as<s32>().named("row");
        t.head = k.sub(pair, k.mul_lo(sequence, p_.heads)).named("head");
        t.kv_head = k.div(t.head, p_.group).named("kv_head");
        lengths(k, t, sequence);
        t.shift = k.sub(t.k_len, t.q_len).named("shift");
        t.inside = t.row < t.q_len;
        steps(k, t);
        return t;
    }

private:
    constexpr void lengths(k_t& k, attention_tile& t, const reg32& sequence) const {
        if (p_.form.packed) {
            t.batch = k.template mov<u32>(0);
            t.q_start = k.ld(g_.q_starts + sequence).named("q_start");
            t.q_len = k.sub(k.ld(g_.q_starts + sequence + 1), t.q_start).named("q_len");
            t.k_start = k.ld(g_.k_starts + sequence).named("k_start");
            if (!p_.form.used) t.k_len = k.sub(k.ld(g_.k_starts + sequence + 1), t.k_start).named("k_len");
        } else {
            t.batch = sequence.same();
            t.q_start = k.template mov<s32>(0);
            t.k_start = k.template mov<s32>(0);
            t.q_len = p_.q_len.same();
            if (!p_.form.used) t.k_len = p_.k_len.same();
        }
        if (p_.form.used) t.k_len = k.min(k.max(k.ld(g_.k_used + sequence), 0), p_.k_len).named("k_len");
    }
    /// Keys behind `end` no query of the tile sees, and those in front of `begin`.
    constexpr void steps(k_t& k, attention_tile& t) const {
        auto last = k.mov(t.k_len);
        if (p_.form.right) {
            const auto rows = k.min(k.add(t.row, C.bm), t.q_len);
            last = k.max(k.min(last, k.add(k.add(rows, t.shift), p_.right)), 0);
        }
        t.end = k.div(k.add(last, C.bn - 1).template as<u32>(), C.bn).template as<s32>().named("end");
        if (p_.form.left) {
            const auto first = k.max(k.sub(k.add(t.row, t.shift), p_.left), 0);
            t.begin = k.min(k.div(first.template as<u32>(), C.bn).template as<s32>(), t.end).named("begin");
        } else {
            t.begin = k.template mov<s32>(0).named("begin");
        }
    }
    attention_pointers<S> g_;
    attention_arguments p_;
    reg<u32> tile_, step_, both_, total_;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
