// SPDX-License-Identifier: Apache-2.0
// `for_` with numbers for bounds: the first pass goes over its body once for each round, with the number of the round
// in the counter, so that what the rules prove of straight-line code they prove of a loop that says the same. An `if`
// on such numbers is decided. Other loops are read once.
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>

namespace ptxdsl::verify {

/// So many words may be read again.
inline constexpr u32 most_words = 4096;

/// Finds those loops, as the prescan reads the program.
template <class Facts>
class round_finder {
public:
    constexpr explicit round_finder(Facts& f) : f_(f) {}

    constexpr void begin(const ir::cursor& c) {
        found l;
        l.id = c.payload(0), l.loop.begin = at(c.w), l.parent = open_.empty() ? 0 : open_.back() + 1;
        l.counts = c.counts();
        l.loop.counter = l.counts.counter;
        open_.push_back(loops_.size());
        loops_.push_back(l);
    }
    constexpr void body(const ir::cursor& c) noexcept {
        if (is_innermost(c.payload(0))) loops_[open_.back()].loop.body = at(c.w + c.size());
    }
    constexpr void step(const ir::cursor& c) noexcept {
        if (is_innermost(c.payload(0))) loops_[open_.back()].loop.step = at(c.w);
    }
    constexpr void end(const ir::cursor& c) {
        if (open_.empty()) return;
        found& l = loops_[open_.back()];
        open_.pop_back();
        l.loop.end = at(c.w + c.size());
        if (l.loop.step == 0 || l.writes != 1) l.loop.body = 0;
    }
    /// Leaves a round early.
    constexpr void leaves(u32 id) noexcept {
        for (const u32 l : open_)
            if (loops_[l].id == id) loops_[l].loop.body = 0;
    }
    constexpr void instruction(const u32* w, op k) {
        const ir::cursor c{w};
        if (k == op::mov && w[2] == 0 && ir::kind_of(c.first_operand()[1]) == ir::operand_kind::small_int)
            literals_.push_back({c.first_operand()[0], c.first_operand()[1]});
        if (open_.empty() || k == op::branch) return;
        const bool shared = k <= op::stmatrix && k >= op::load &&
                            (k == op::stmatrix || has_token(c, tok::shared) || has_token(c, tok::shared__cta));
        for (const u32 l : open_) {
            loops_[l].matters = loops_[l].matters || shared || k >= op::bar;
            ir::each_result(w, [&](const u32* o) { loops_[l].writes += o[0] == loops_[l].loop.counter; });
        }
    }
    /// Inner loops first: they count in what an outer one grows to.
    constexpr void finish() {
        std::int64_t added = 0;
        for (u32 i = loops_.size(); i > 0 && !f_.m.from_text; --i) {
            found& l = loops_[i - 1];
            const bool known = has_rounds(l);
            const std::int64_t growth =
                known && l.loop.rounds > 1 ? (l.loop.rounds - 1) * (l.loop.step - l.loop.body + l.grown) : 0;
            const bool chosen = known && added + growth <= most_words;
            if (l.parent != 0) loops_[l.parent - 1].grown += l.grown + (chosen ? growth : 0);
            if (!chosen) continue;
            added += growth;
            f_.counted.push_back(l.loop);
        }
    }

private:
    struct found {
        counted_loop loop;
        u32 id = 0, parent = 0;  ///< `parent`: index + 1
        ir::counting counts;
        u32 writes = 0;          ///< of the counter, in the loop
        std::int64_t grown = 0;  ///< words that loops inside it are read again
        bool matters = false;    ///< something in it is a rule's business
    };
    struct literal {
        u32 reg, number;  ///< operands
    };

    [[nodiscard]] constexpr u32 at(const u32* w) const noexcept { return static_cast<u32>(w - f_.m.words); }
    [[nodiscard]] constexpr bool is_innermost(u32 id) noexcept {
        return !open_.empty() && loops_[open_.back()].id == id;
    }
    /// The number that an operand is in the whole program.
    [[nodiscard]] constexpr bool number(u32 head, std::int64_t& n) const noexcept {
        if (ir::kind_of(head) == ir::operand_kind::reg && (f_.regs[ir::payload_of(head)] & bit::again) == 0)
            for (const literal& l : literals_)
                if (l.reg == head) head = l.number;
        n = ir::small_value(head);
        return ir::kind_of(head) == ir::operand_kind::small_int;
    }
    /// Whether the number of rounds is known, and small. (Of a loop with literals that never runs K03 speaks.)
    [[nodiscard]] constexpr bool has_rounds(found& l) const noexcept {
        std::int64_t to = 0;
        if (l.loop.body == 0 || !l.matters || !number(l.counts.first, l.loop.first) || !number(l.counts.bound, to) ||
            !number(l.counts.step, l.loop.stride) || l.loop.stride <= 0 || l.loop.first < 0 || to < 0 ||
            f_.m.words[l.loop.begin + 3] == 0)
            return false;
        const std::int64_t rounds = to <= l.loop.first ? 0 : (to - l.loop.first + l.loop.stride - 1) / l.loop.stride;
        l.loop.rounds = rounds;
        return rounds <= most_rounds;
    }

    Facts& f_;
    ::ptxdsl::detail::dynarray<found> loops_;
    ::ptxdsl::detail::dynarray<u32> open_;
    ::ptxdsl::detail::dynarray<literal> literals_;
};

/// The rounds that the first pass goes through.
template <class Facts>
class round_walk {
public:
    constexpr explicit round_walk(Facts& f) : f_(f) {}

    /// Where to go on from the beginning of a loop, or from the end of a round; null: the record is read as any other.
    [[nodiscard]] constexpr const u32* enter(const u32* w) {
        if (f_.never) return nullptr;
        for (const counted_loop& l : f_.counted) {
            if (f_.m.words + l.begin != w) continue;
            open_.push_back({l, -1});
            ++f_.in_rounds;
            return next();
        }
        return nullptr;
    }
    [[nodiscard]] constexpr const u32* leave(const u32* w) {
        return open_.empty() || f_.m.words + open_.back().loop.step != w ? nullptr : next();
    }

private:
    struct round {
        counted_loop loop;
        std::int64_t n;
    };
    constexpr const u32* next() {
        round& r = open_.back();
        const counted_loop l = r.loop;
        const u32 counter = l.counter, kept = f_.regs[counter] & bit::kept & ~bit::again;
        f_.values[counter] = static_cast<u32>(l.first + ++r.n * l.stride);
        f_.regs[counter] = kept | bit::written | bit::constant, ++f_.round;
        f_.never = l.rounds == 0 && r.n == 0;  // nothing runs the body; it is read all the same
        if (r.n < l.rounds || f_.never) return f_.m.words + l.body;
        f_.regs[counter] = kept | bit::written | bit::again;
        open_.pop_back();
        if (--f_.in_rounds == 0) f_.learned.truncate(0);
        return f_.m.words + l.end;
    }

    Facts& f_;
    ::ptxdsl::detail::dynarray<round> open_;
};

/// `mad.wide d, N, stride, base` makes the descriptor of stage N of a tile; what is added to that does not leave the
/// stage.
template <class Facts>
constexpr void learn_descriptor(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    if (f.in_rounds == 0 || isa::bits(f.m.regs[id].type) != 64 || ir::kind_of(o[0]) != ir::operand_kind::reg) return;
    const u32 from = ir::payload_of(o[0]);
    std::int64_t stride = 0;
    value_form v = no_value;
    if (token_at(c, 0) == tok::mad && (f.regs[from] & bit::constant) != 0 && f.constant_of(o[1], stride))
        v.low = f.values[from], v.high = stride;
    else if (token_at(c, 0) == tok::add && (f.regs[from] & bit::form) != 0)
        v = f.forms[f.values[from]];
    else
        return;
    f.regs[id] |= bit::form, f.values[id] = f.forms.size();
    f.forms.push_back(v);
}
/// The stage of a tile that a descriptor among an instruction's operands is of.
template <class Facts>
[[nodiscard]] constexpr u32 stage_of_descriptor(const Facts& f, const ir::cursor& c, u32 allocation) noexcept {
    const u32* o = c.first_operand();
    for (u32 i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
        const u32 r = ir::payload_of(o[0]), known = ir::kind_of(o[0]) == ir::operand_kind::reg ? f.regs[r] : 0;
        if ((known & bit::form) == 0 || known >> bit::place != allocation + 1) continue;
        const value_form& v = f.forms[f.values[r]];
        const ir::allocation& a = f.m.allocations[allocation];
        if (!v.known && v.high == a.stage_bytes >> 4 && v.low < a.stages) return static_cast<u32>(v.low);
    }
    return unknown_count;
}

/// A condition on numbers, in a round. `holds`: what it is.
template <class Facts>
[[nodiscard]] constexpr bool is_decided(const Facts& f, u32 predicate, bool negated, bool& holds) noexcept {
    if (f.in_rounds == 0 || (f.regs[predicate] & (bit::constant | bit::again)) != bit::constant) return false;
    holds = (f.values[predicate] != 0) != negated;
    return true;
}
/// The guard of an instruction; 0 where it is decided that it holds.
template <class Facts>
[[nodiscard]] constexpr u32 guard_of(const Facts& f, const u32* w) noexcept {
    bool holds = false;
    return w[2] != 0 && is_decided(f, (w[2] >> 1) - 1, (w[2] & 1u) != 0, holds) && holds ? 0 : w[2];
}

/// Of findings from number `from` on, those go that say the same of the same place as one before: of another round.
template <class Report>
constexpr void drop_copies(Report& r, u32 from) noexcept {
    u32 kept = from;
    for (u32 i = from; i < r.findings.size(); ++i) {
        const auto& f = r.findings[i];
        u32 k = from;
        while (k < kept && (r.findings[k].where != f.where || r.text(r.findings[k]) != r.text(f))) ++k;
        if (k == kept) r.findings[kept++] = f;
    }
    r.findings.truncate(kept);
}

}  // namespace ptxdsl::verify
