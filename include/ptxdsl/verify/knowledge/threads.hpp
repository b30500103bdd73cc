// SPDX-License-Identifier: Apache-2.0
// Values of registers in one thread of one block of the cluster, computed: which block a thread arrives at (E01). For
// what the forms of verify/knowledge/values.hpp do not cover; asked for seldom.
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>

namespace ptxdsl::verify {

template <class Facts>
class evaluator {
public:
    /// `first_round`: counters of loops have their first value.
    constexpr explicit evaluator(const Facts& f, bool first_round = false) : f_(f), definitions_(f.m.n.regs) {
        const u32* const end = f.m.words + f.m.n.words;
        for (const u32* w = f.m.words; w < end; w += w[0] & 0xffffu) {
            const ir::cursor c{w};
            if (!c.is_instruction() || w[2] != 0 || ir::results_of(w) != 1) continue;
            const u32 head = c.first_operand()[0];
            if (ir::kind_of(head) != ir::operand_kind::reg) continue;
            u32& definition = definitions_[ir::payload_of(head)];
            const bool again = (f.regs[ir::payload_of(head)] & bit::again) != 0;
            if (!again || (first_round && definition == 0 && counts(ir::payload_of(head))))
                definition = static_cast<u32>(w - f.m.words) + 1;
        }
    }
    /// The value of a register in thread `tid` of the block with this rank; false: not known.
    [[nodiscard]] constexpr bool value(u32 id, u32 tid, u32 rank, u32& v) {
        tid_ = tid, rank_ = rank, steps_ = 0;
        return reg(id, v);
    }

    /// So many neighbouring threads, as a power of two, have the same value in a register; 31: all of the block.
    [[nodiscard]] constexpr u32 share(u32 id) {
        const u32 bits = f_.regs[id];
        if ((bits & bit::varies) == 0) return 31;
        if ((bits & (bit::lanes | bit::again)) == bit::lanes) return lane_form::of(f_.values[id]).shift;
        if (definitions_[id] == 0 || ++steps_ > most_steps) return 0;
        const auto c = definition(id);
        const op k = opcode_of(c.w);
        const bool shuffles = token_at(c, 0) == tok::shfl && token_at(c, 2) == tok::idx;
        if (k == op::load || k == op::atomic || k == op::call || (k == op::varying && !shuffles)) return 0;
        u32 least = 31;
        const u32* o = c.first_operand() + 1;
        for (u32 i = 1; i < (shuffles ? 3 : c.operands()); ++i, o += ir::operand_words(o[0])) {
            const ir::operand_kind kind = ir::kind_of(o[0]);
            const bool literal = kind == ir::operand_kind::small_int || kind == ir::operand_kind::integer;
            const u32 s = kind == ir::operand_kind::reg ? share(ir::payload_of(o[0])) : literal ? 31 : 0;
            least = s < least ? s : least;
        }
        return shuffles && least < 5 && ir::kind_of(c.first_operand()[2]) == ir::operand_kind::small_int ? 5 : least;
    }

private:
    static constexpr u32 most_steps = 200;

    [[nodiscard]] constexpr bool counts(u32 id) const noexcept {
        for (const loop& l : f_.loops)
            if (l.counter == id + 1) return true;
        return false;
    }

    [[nodiscard]] constexpr auto definition(u32 id) const noexcept {
        return ir::cursor{f_.m.words + definitions_[id] - 1};
    }

    [[nodiscard]] constexpr bool operand(u32 head, u32& v) {
        if (value_in_block(f_, head, rank_, v)) return true;
        const ir::operand_kind kind = ir::kind_of(head);
        if (kind == ir::operand_kind::reg) return reg(ir::payload_of(head), v);
        if (kind == ir::operand_kind::not_pred) {
            const bool known = reg(ir::payload_of(head), v);
            v ^= 1u;
            return known;
        }
        const auto which = static_cast<isa::special>(ir::payload_of(head));
        const bool lane = which == isa::special::laneid;
        v = lane ? tid_ & 31u : tid_;
        return kind == ir::operand_kind::special &&
               (lane || (which == isa::special::tid_x && is_one_dimensional(f_.m.attrs)));
    }
    [[nodiscard]] constexpr bool reg(u32 id, u32& v) {
        const u32 bits = f_.regs[id];
        if ((bits & (bit::lanes | bit::again)) == bit::lanes) {
            v = lane_form::of(f_.values[id]).in_thread(tid_);
            return true;
        }
        if ((bits & (bit::address | bit::again)) == bit::address) {
            v = f_.values[id];
            return true;
        }
        if (definitions_[id] == 0 || ++steps_ > most_steps) return false;
        const auto c = definition(id);
        const u32* const o = c.first_operand() + 1;
        const tok what = token_at(c, 0);
        if (what == tok::shfl) return shuffle(c, o, v);
        u32 x[3] = {};
        const u32 n = c.operands() - 1;
        if (n == 0 || n > 3 || isa::bits(f_.m.regs[id].type) > 32 ||
            (c.tokens() > 2 && what != tok::cvt && what != tok::setp && token_at(c, 1) != tok::lo))
            return false;
        const u32* in = o;
        for (u32 i = 0; i < n; in += ir::operand_words(in[0]), ++i) {
            const bool wide = ir::kind_of(in[0]) == ir::operand_kind::integer;
            if (wide) x[i] = in[1];
            if (!wide && (ir::operand_words(in[0]) != 1 || !operand(in[0], x[i]))) return false;
        }
        return apply(c, what, x, v);
    }
    template <class Cursor>
    [[nodiscard]] constexpr bool shuffle(const Cursor& c, const u32* o, u32& v) {
        if (token_at(c, 2) != tok::idx || ir::kind_of(o[1]) != ir::operand_kind::small_int ||
            o[2] != ir::head(ir::operand_kind::small_int, 31))
            return false;
        const u32 before = tid_;
        tid_ = (tid_ & ~31u) | (static_cast<u32>(ir::small_value(o[1])) & 31u);
        const bool known = operand(o[0], v);
        tid_ = before;
        return known;
    }
    /// Signed and floating-point arithmetic is not followed.
    template <class Cursor>
    [[nodiscard]] constexpr bool apply(const Cursor& c, tok what, const u32 (&x)[3], u32& v) const noexcept {
        const tok type = token_at(c, c.tokens() - 1);
        bool known = type == tok::u32 || type == tok::b32 || type == tok::pred, holds = false;
        if (type == tok::s32) known = ((x[0] | x[1] | x[2]) >> 31) == 0;
        std::int64_t d = 0;
        if (what == tok::selp) {
            d = x[2] != 0 ? x[0] : x[1];
        } else if (what == tok::setp) {
            known = known && c.tokens() == 3 && compares(token_at(c, 1), x[0], x[1], holds);
            d = holds ? 1 : 0;
        } else {
            known = known && what != tok::cvt && computes(what == tok::mad ? tok::mul : what, x[0], x[1], d);
            d += what == tok::mad ? x[2] : 0;
        }
        v = static_cast<u32>(d) & (type == tok::pred ? 1u : ~0u);
        return known && (type != tok::s32 || v >> 31 == 0);
    }

    const Facts& f_;
    words definitions_;  ///< word of the instruction that writes a register + 1, 0: several, or under a guard
    u32 tid_ = 0, rank_ = 0, steps_ = 0;
};

/// How many arrivals each block of the cluster gets when threads of all blocks arrive at the block `rank` tells; 0: not
/// the same everywhere, or not known. `threads` from `first` on run it, those for which `form` holds arrive.
template <class Facts>
[[nodiscard]] constexpr u32 arrivals_by_rank(const Facts& f, u32 rank, const lane_form& form, u32 first, u32 threads) {
    const u32 blocks = f.m.attrs.cluster_size(), period = form.period();
    if (blocks > max_ranks || first == unknown_count || first % period != 0 || threads % period != 0 ||
        !form.first_values)
        return 0;
    evaluator<Facts> values(f);
    u32 arrivals[max_ranks] = {};
    for (u32 block = 0; block < blocks; ++block)
        for (u32 base = first; base < first + threads; base += period)
            for (u32 t = base; t < base + (form.count << form.shift); ++t) {
                u32 to = 0;
                if (!values.value(rank, t, block, to) || to >= blocks) return 0;
                ++arrivals[to];
            }
    for (u32 block = 1; block < blocks; ++block)
        if (arrivals[block] != arrivals[0]) return 0;
    return arrivals[0];
}
/// How many blocks send to each block of the cluster, where each sends to those in its `mask`; 0: as above.
template <class Facts>
[[nodiscard]] constexpr u32 senders_by_mask(const Facts& f, u32 mask) {
    const u32 blocks = f.m.attrs.cluster_size();
    u32 senders[max_ranks] = {};
    for (u32 block = 0; block < blocks && blocks <= max_ranks; ++block) {
        u32 m = 0;
        if (!value_in_block(f, mask, block, m) || m >> blocks != 0) return 0;
        for (u32 to = 0; to < blocks; ++to) senders[to] += m >> to & 1u;
    }
    for (u32 block = 1; block < blocks; ++block)
        if (senders[block] != senders[0]) return 0;
    return senders[0];
}

}  // namespace ptxdsl::verify
