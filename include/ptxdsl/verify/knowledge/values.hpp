// SPDX-License-Identifier: Apache-2.0
// Values computed from registers: a stage chosen by a register is `base + stride * register + constant`, and what
// differs from thread to thread inside it is a number between two bounds. Two addresses with the same root and constant
// lie in the same stage, with other constants in others (F04, F05, F14, D11, D14).
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>
#include <ptxdsl/verify/knowledge/threads.hpp>

namespace ptxdsl::verify {

// Functions of value forms alone are templates as well: a translation unit that verifies nothing only parses them.

/// Values beyond this are not followed: 32-bit arithmetic could wrap.
inline constexpr std::int64_t value_limit = 1 << 30;

[[nodiscard]] constexpr value_form number(std::int64_t low, std::int64_t high) noexcept {
    value_form v;
    v.low = low, v.high = high;
    return v;
}

/// What an operand is. Outside of loops any register that is written once may be a root: nothing writes it again.
template <class Facts>
[[nodiscard]] constexpr value_form value_of(const Facts& f, u32 head) noexcept {
    if (ir::kind_of(head) == ir::operand_kind::small_int) return number(ir::small_value(head), ir::small_value(head));
    if (ir::kind_of(head) != ir::operand_kind::reg) return no_value;
    const u32 id = ir::payload_of(head), bits = f.regs[id];
    if ((bits & bit::form) != 0) return f.forms[f.values[id]];
    if ((bits & (bit::constant | bit::address)) != 0) {
        const std::int64_t n = static_cast<std::int32_t>(f.values[id]);
        return number(n, n);
    }
    value_form v;
    v.root = id + 1, v.times = 1;
    v.share = (bits & bit::varies) != 0 ? 0 : 31;
    v.moves = (bits & bit::again) != 0;
    const lane_form lanes = lane_form::of(f.values[id]);
    if ((bits & bit::lanes) != 0 && lanes.count == 0) {
        v.share = lanes.shift, v.most = (std::int64_t{1} << lanes.width) - 1;
        const std::int64_t last = f.roles[0].threads == 0 ? v.most : (f.roles[0].threads - 1) >> lanes.shift;
        if (last < v.most) v.most = last;  // of the last thread of the block
    } else
        v.known = v.moves || (f.loop_now == 0 && !f.is_of_round(id));
    return v;
}

template <class Form>
[[nodiscard]] constexpr Form scaled(Form v, const Form& by) noexcept {
    if (by.root != 0 || !by.exact() || 0 > by.low || by.low > value_limit) return no_value;
    v.times *= by.low, v.low *= by.low, v.high *= by.low, v.skews *= by.low;
    return v;
}
template <class Form>
[[nodiscard]] constexpr Form negative(Form v) noexcept {
    const std::int64_t low = v.low;
    v.times = -v.times, v.low = -v.high, v.high = -low;
    return v;
}
/// A register that changes, the same in all threads, moves what each thread has for itself.
template <class Form>
[[nodiscard]] constexpr bool to_skew(Form& a, const Form& b) noexcept {
    if (!a.moves || a.share != 31 || b.moves || b.share >= 31 || (a.skew | b.skew | b.peer) != 0) return false;
    a.skew = a.root, a.skews = a.times;
    a.root = 0, a.times = 0, a.moves = false;
    return true;
}
/// The sum of what has one root at most.
template <class Form>
[[nodiscard]] constexpr Form plus(Form a, const Form& b) noexcept {
    if (a.root == 0) a.root = b.root, a.most = b.most, a.share = b.share, a.moves = b.moves;
    if (a.skew == 0) a.skew = b.skew, a.skews = b.skews;
    a.times += b.times, a.low += b.low, a.high += b.high, a.peer = a.peer != 0 ? a.peer : b.peer;
    a.known = a.known && b.known;
    return a;
}
/// The sum in register `id`. Of two roots the one that counts for less becomes a number; of two that whole warps share
/// the sum is a root of its own, unless it is an address.
template <class Facts>
[[nodiscard]] constexpr value_form sum(const Facts& f, u32 id, value_form a, value_form b) noexcept {
    if (a.skew != 0 && b.skew != 0) return no_value;
    if (a.root != 0 && b.root != 0 && a.root != b.root && (to_skew(a, b) || to_skew(b, a)))
        return a.root != 0 ? plus(a, b) : plus(b, a);
    if (a.root != 0 && b.root != 0 && a.root != b.root) {
        if (f.provenance == 0 && a.share >= 5 && b.share >= 5 && (a.peer | b.peer) == 0) {
            value_form v;
            v.root = id + 1, v.times = 1, v.share = a.share < b.share ? a.share : b.share;
            v.moves = a.moves || b.moves, v.known = a.known && b.known && ((f.loop_now | f.in_rounds) == 0 || v.moves);
            return v;
        }
        const bool first = b.most < 0 || (a.most >= 0 && a.times * a.most < b.times * b.most);
        (first ? a : b).flatten();
    }
    return plus(a, b);
}
/// `a ^ b`, where `b` is small: the bits of `a` above it stay.
template <class Form>
[[nodiscard]] constexpr Form exchanged(Form a, Form b) noexcept {
    if (a.root != 0 && b.root != 0) b.flatten();
    if (a.root == 0 && (b.root != 0 || b.high > a.high)) {
        const value_form other = a;
        a = b, b = other;
    }
    std::int64_t block = 1;
    while (block <= b.high && block < value_limit) block *= 2;
    if (a.times % block != 0) a.flatten();
    if (a.skew != 0 || b.skew != 0) return no_value;
    if (!a.known || !b.known || b.root != 0 || 0 > b.low || (0 > a.low && a.root == 0)) return no_value;
    a.low -= (a.low % block + block) % block;
    a.high += block - 1 - (a.high % block + block) % block;
    return a;
}
template <class Form>
[[nodiscard]] constexpr Form masked(const Form& mask) noexcept {
    return mask.root == 0 && mask.exact() && mask.low >= 0 ? number(0, mask.low) : no_value;
}
template <class Form>
[[nodiscard]] constexpr Form shifted_down(Form v, const Form& by) noexcept {
    v.flatten();
    if (v.skew != 0 || by.root != 0 || !by.exact() || 0 > by.low || by.low > 30 || 0 > v.low) return no_value;
    v.low >>= by.low, v.high >>= by.low;
    return v;
}

/// The counter of a loop around modulo `n`: in rounds enough it is each number below.
template <class Facts>
[[nodiscard]] constexpr value_form counted(const Facts& f, value_form v, u32 of) noexcept {
    for (u32 l = f.loop_now; l != 0 && v.known && v.root == 0; l = f.loops[l].parent)
        if (f.loops[l].counter == of + 1) v.period = static_cast<u32>(v.high) + 1, v.counter = l;
    return v;
}
template <class Facts>
[[nodiscard]] constexpr value_form result_of(const Facts& f, u32 id, tok what, const u32* o) noexcept {
    const value_form a = value_of(f, o[0]), b = value_of(f, o[1]);
    std::int64_t d = 0;
    if ((what == tok::and_ || what == tok::rem) && a.known && b.known && ((a.root | b.root) | (a.skew | b.skew)) == 0 &&
        a.exact() && b.exact() && a.low >= 0 && b.low >= 0 && computes(what, a.low, b.low, d))
        return number(d, d);
    switch (what) {
        case tok::mov: return a;
        case tok::add: return sum(f, id, a, b);
        case tok::sub:
            if (b.root == 0 && b.exact()) return sum(f, id, a, number(-b.low, -b.low));
            return a.root == 0 && a.exact() && (b.skew | b.peer) == 0 ? plus(a, negative(b)) : no_value;
        case tok::mul: return b.exact() && b.root == 0 ? scaled(a, b) : scaled(b, a);
        case tok::mad: return sum(f, id, b.exact() && b.root == 0 ? scaled(a, b) : scaled(b, a), value_of(f, o[2]));
        case tok::shl:
            return b.root == 0 && b.skew == 0 && b.exact() && b.low >= 0 && b.low <= 30
                       ? scaled(a, number(1 << b.low, 1 << b.low))
                       : no_value;
        case tok::shr: return shifted_down(a, b);
        case tok::and_: return (b.low & (b.low + 1)) == 0 ? counted(f, masked(b), o[0]) : masked(b);
        case tok::rem: return b.root == 0 && b.exact() && b.low > 0 ? counted(f, number(0, b.low - 1), o[0]) : no_value;
        case tok::xor_: return exchanged(a, b);
        default: return no_value;
    }
}

/// The value in the lanes of a warp, where it follows from the warp's number; false where it does not.
template <class Facts>
[[nodiscard]] constexpr bool value_in_warp(const Facts& f, const value_form& v, u32 warp,
                                           std::int64_t& value) noexcept {
    if (!v.exact() || v.moves || (v.skew | v.peer) != 0 || v.root == 0 || v.share < 5 ||
        (f.regs[v.root - 1] & (bit::lanes | bit::again)) != bit::lanes)
        return false;
    const lane_form form = lane_form::of(f.values[v.root - 1]);
    if (form.count != 0 || form.shift < 5) return false;
    value = v.low + v.times * ((32 * warp >> form.shift) & ((1u << form.width) - 1));
    return true;
}
/// Warps for which a predicate may hold, and may fail (`warps_that_hold`).
template <class Facts>
constexpr void note_warps(Facts& f, u32 id, u32 hold, u32 fail) {
    value_form warps;
    warps.known = false, warps.low = hold, warps.high = fail;
    f.regs[id] |= bit::form;
    f.values[id] = f.forms.size();
    f.forms.push_back(warps);
}
/// `setp` of such a value with a literal: which warps it holds for.
template <class Facts>
constexpr void learn_warps(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    const u32 warps = f.followed_warps();
    if (!is_only_value(f, id) || c.operands() != 3 || ir::kind_of(sources[0]) != ir::operand_kind::reg ||
        (f.regs[ir::payload_of(sources[0])] & bit::form) == 0 ||
        ir::kind_of(sources[1]) != ir::operand_kind::small_int || warps == 0)
        return;
    const value_form& v = f.forms[f.values[ir::payload_of(sources[0])]];
    const std::int64_t literal = ir::small_value(sources[1]);
    const tok how = token_at(c, 1);
    u32 hold = 0;
    for (u32 w = 0; w < warps; ++w) {
        std::int64_t x = 0;
        const bool known = value_in_warp(f, v, w, x);
        if (!known && (f.warps >> w & 1u) != 0) return;
        bool holds = false;
        if (!compares(how, x, literal, holds)) return;
        if (x < 0 && (f.warps >> w & 1u) != 0 && how != tok::eq && how != tok::ne) return;  // perhaps unsigned
        hold |= holds ? 1u << w : 0;
    }
    if ((f.warps & hold) != 0 && (f.warps & ~hold) != 0) f.regs[id] |= bit::by_index;
    note_warps(f, id, hold, ~hold);
}
/// `and.pred`, `or.pred` of conditions that follow from the thread's index: holds where both do, or one of them.
template <class Facts>
constexpr void learn_both(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    const tok what = token_at(c, 0);
    if (!is_only_value(f, id) || (what != tok::and_ && what != tok::or_) || token_at(c, 1) != tok::pred ||
        sources[0] >> 28 > 1 || sources[1] >> 28 > 1)
        return;
    u32 hold[2] = {}, fail[2] = {};
    bool by_index = true;
    for (u32 i = 0; i < 2; ++i) {
        const u32 from = ir::payload_of(sources[i]);
        const bool negated = ir::kind_of(sources[i]) != ir::operand_kind::reg;
        hold[i] = warps_that_hold(f, from, negated), fail[i] = warps_that_hold(f, from, !negated);
        by_index = by_index && (f.regs[from] & bit::by_index) != 0;
    }
    const bool both = what == tok::and_;
    const u32 holds = both ? hold[0] & hold[1] : hold[0] | hold[1];
    const u32 fails = both ? fail[0] | fail[1] : fail[0] & fail[1];
    if (holds == ~0u && fails == ~0u) return;
    if (by_index && (f.warps & holds & ~fails) != 0 && (f.warps & fails & ~holds) != 0) f.regs[id] |= bit::by_index;
    note_warps(f, id, holds, fails);
}

/// `not.pred` of such a condition.
template <class Facts>
constexpr void learn_opposite(Facts& f, u32 id, u32 source) {
    if (!is_only_value(f, id) || source >> 28 > 1 || f.m.regs[id].type != isa::scalar::pred) return;
    const bool negated = ir::kind_of(source) != ir::operand_kind::reg;
    const u32 hold = warps_that_hold(f, ir::payload_of(source), negated),
              fail = warps_that_hold(f, ir::payload_of(source), !negated);
    if (hold == ~0u && fail == ~0u) return;
    f.regs[id] |= f.regs[ir::payload_of(source)] & bit::by_index;
    note_warps(f, id, fail, hold);
}
/// `or.pred`, `not.pred`.
template <class Facts>
constexpr void learn_condition(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    if (token_at(c, 0) == tok::not_) return learn_opposite(f, id, sources[0]);
    if (c.operands() == 3) learn_both(f, id, c, sources);
}

/// `shfl.sync.idx.b32 d, a, LANE, 31, mask`: what a whole warp has in common is what it was; all else becomes that.
template <class Facts>
constexpr void learn_shuffle(Facts& f, u32 id, const ir::cursor& c, const u32* o) {
    if (!is_only_value(f, id) || token_at(c, 0) != tok::shfl || token_at(c, 2) != tok::idx ||
        ir::kind_of(o[1]) != ir::operand_kind::small_int || o[2] != ir::head(ir::operand_kind::small_int, 31))
        return;
    value_form v = value_of(f, o[0]);
    if (!v.known || !v.exact() || v.share < 5 || v.moves) {
        if ((f.loop_now | f.in_rounds) != 0) return;
        v = value_form{.root = id + 1, .times = 1};
        v.share = 5;
    }
    f.regs[id] |= bit::form;
    f.values[id] = f.forms.size();
    f.forms.push_back(v);
}
/// `mapa`: an address in another block.
template <class Facts>
constexpr void learn_mapped(Facts& f, u32 id, u32 from) {
    if (!is_only_value(f, id) || ir::kind_of(from) != ir::operand_kind::reg) return;
    value_form v;
    v.root = id + 1, v.times = 1, v.share = 0;
    v.peer = f.regs[ir::payload_of(from)] >> bit::place;
    if (v.peer == 0 || v.peer >= mapped) return;
    f.regs[id] |= bit::form;
    f.values[id] = f.forms.size();
    f.forms.push_back(v);
}
/// What a 32-bit instruction with one-word operands leaves in `id`.
template <class Facts>
constexpr void learn_value(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    if (!is_only_value(f, id) || (f.regs[id] & (bit::constant | bit::address | bit::lanes)) != 0) return;
    const tok type = token_at(c, c.tokens() - 1);
    if (type != tok::u32 && type != tok::s32 && type != tok::b32) return;
    if (type == tok::s32 && token_at(c, 0) == tok::rem) return;
    if (c.tokens() > 2 && token_at(c, 1) != tok::lo) return;
    for (u32 i = 0; i + 1 < c.operands(); ++i)
        if (ir::operand_words(sources[i]) != 1) return;
    value_form v = result_of(f, id, token_at(c, 0), sources);
    if (!v.known && token_at(c, 0) == tok::mad && ir::kind_of(sources[0]) == ir::operand_kind::reg &&
        (f.regs[ir::payload_of(sources[0])] & bit::walks) != 0) {  // a stage of barriers that lie anywhere
        v = value_form{.root = ir::payload_of(sources[0]) + 1, .times = 8, .peer = value_of(f, sources[2]).peer};
        v.moves = true;
    }
    const std::int64_t reach = (v.times == -1 && f.provenance == 0 ? 1 : v.times) * (v.most < 0 ? 1 : v.most);
    if (!v.known || v.low < -value_limit || v.high > value_limit || reach > value_limit || reach < 0) return;
    if (v.root == 0 && v.skew == 0 && v.exact()) {
        f.regs[id] |= f.provenance != 0 ? bit::address : bit::constant;
        f.values[id] = static_cast<u32>(static_cast<std::int32_t>(v.low));
        return;
    }
    f.regs[id] |= bit::form;
    f.values[id] = f.forms.size();
    f.forms.push_back(v);
}

// ---- flags in memory: E14
// ------------------------------------------------------------------------------------------------------------

/// A strong load in a loop.
template <class Facts>
constexpr void poll_flag(Facts& f, const ir::cursor& c) {
    const u32* o = c.first_operand();
    if (f.loop_now == 0 || is_weak(c) || f.guard != 0 || c.operands() != 2 ||
        ir::kind_of(o[0]) != ir::operand_kind::reg || ir::kind_of(o[1]) != ir::operand_kind::address)
        return;
    f.polls.push_back({o[2], o[3], f.loop_now});
    f.polls.back().loaded = ir::payload_of(o[0]);
}
/// `setp.eq p, loaded, literal`, or `ne`.
template <class Facts>
constexpr void test_flag(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    if (f.polls.empty() || c.operands() != 3 || ir::kind_of(sources[0]) != ir::operand_kind::reg ||
        ir::kind_of(sources[1]) != ir::operand_kind::small_int || !is_only_value(f, id))
        return;
    auto& flag = f.polls.back();
    const tok how = token_at(c, 1);
    if (flag.loaded != ir::payload_of(sources[0]) || flag.predicate != 0 || (how != tok::eq && how != tok::ne)) return;
    flag.predicate = id + 1, flag.value = sources[1], flag.unequal = how == tok::ne;
}
/// A store of one of those threads that makes the others go on waiting. What they have in common is the warpgroup at
/// most, or several warps: the lanes of one leave their loop together.
template <class Facts>
constexpr void reset_flag(Facts& f, const ir::cursor& c) {
    const u32* o = c.first_operand();
    if (f.polls.empty() || f.guard == 0 || c.operands() != 2 || ir::kind_of(o[0]) != ir::operand_kind::address) return;
    const u32 guard = (f.guard >> 1) - 1;
    const lane_form form = lane_form::of(f.values[guard]);
    if ((f.guard & 1u) != 0 || (f.regs[guard] & (bit::lanes | bit::again)) != bit::lanes || form.count != 1) return;
    for (u32 i = 0; i < f.polls.size(); ++i) {
        const auto& flag = f.polls[i];
        if (!flag.polled || flag.base != o[1] || flag.offset != o[2] || flag.value != o[3] || flag.arm != f.arm_now ||
            flag.role != f.role_now || ir::kind_of(o[1]) != ir::operand_kind::reg)
            continue;
        const u32 share = evaluator<Facts>(f).share(ir::payload_of(o[1]));
        if (share >= 6 && (share > 10 || form.period() <= 1u << share)) f.push(event_kind::flag_reset, i);
    }
}

// ---- shared memory that others have written: E07
// ------------------------------------------------------------------------------------------------------------

/// Stores into other blocks, and loads of what they store here.
template <class Facts>
constexpr void peer_write(Facts& f, const place& p) {
    const u32 to = p.form == 0 ? 0 : f.forms[p.form - 1].peer;
    if (to == 0 || to > 32 || owner_of(f, p.mapped) != owner::peer) return;
    f.peers_write |= 1u << (to - 1);
    f.push(event_kind::peer_write, to - 1);
}
template <class Facts>
constexpr void peer_read(Facts& f, const place& p) {
    const u32 from = p.allocation;
    if (from == 0 || from > 32 || f.arm_now != 0 || ((f.peers_write & ~f.own_writes) >> (from - 1) & 1u) == 0) return;
    f.push(event_kind::peer_read, from - 1);
}

/// A generic store by one warp (or thread) to one address, or by one lane of each warp to the warp's place.
template <class Facts>
constexpr void part_write(Facts& f, const place& p, bool one_warp) {
    const u32 s = f.slot_at(p);
    if (s == max_slots || f.slots[s].fuzzy) return;
    slot& to = f.slots[s];
    const u32 guard = f.guard == 0 || (f.guard & 1u) != 0 ? 0 : (f.guard >> 1) - 1;
    const lane_form lanes = lane_form::of(f.values[guard]);
    const bool lane = f.guard != 0 ? f.whole_block() && (f.regs[guard] & (bit::lanes | bit::again)) == bit::lanes &&
                                         lanes.period() == 32 && lanes.count == 1
                                   : f.one_lane;
    const value_form v = p.form == 0 ? number(0, 0) : f.forms[p.form - 1];
    const bool warps = v.root != 0 && (f.regs[v.root - 1] & bit::lanes) != 0 && v.share == 5 && v.most >= 1;
    const bool known = (p.exact || (p.form != 0 && v.exact() && !v.moves)) && to.by != slot::writer::mixed;
    auto by = slot::writer::mixed;
    if (known && p.exact && (one_warp || f.in_single)) by = slot::writer::one_warp;
    if (known && lane && warps) by = slot::writer::a_lane_of_each;
    const std::int64_t at = v.low + p.offset;
    if (to.by != slot::writer::none &&
        (to.by != by || to.at != at || to.step != v.times || to.skew != v.skew || to.skews != v.skews))
        by = slot::writer::mixed;
    to.by = by, to.at = at, to.step = v.times, to.skew = v.skew, to.skews = v.skews, to.rewrites = f.rewrites;
    if (by != slot::writer::mixed) f.push(event_kind::part_write, s);
}
/// Whether the guard, if there is one, holds for the first two of the threads that are here.
template <class Facts>
[[nodiscard]] constexpr bool holds_for_two(const Facts& f, u32 first) noexcept {
    if (f.guard == 0) return true;
    const u32 guard = (f.guard >> 1) - 1;
    const lane_form form = lane_form::of(f.values[guard]);
    return (f.guard & 1u) == 0 && (f.regs[guard] & (bit::lanes | bit::again)) == bit::lanes && form.shift == 0 &&
           form.first_values && form.count >= 2 && first % form.period() == 0;
}
/// Whether one of the threads that are here takes the element of another warp: `form` of its index says which.
template <class Facts>
[[nodiscard]] constexpr bool takes_of_another(const Facts& f, const lane_form& form) noexcept {
    const u32 warps = f.roles[0].threads / 32, first = f.whole_block() ? 0 : f.first_thread;
    if (f.arm_now != 0 || warps < 2 || first == unknown_count || f.threads < 2 || form.shift != 0) return false;
    bool takes = false;
    for (u32 t = first; t < first + 2; ++t) {
        const u32 element = t & ((1u << form.width) - 1);
        takes = takes || (element != t / 32 && element < warps);
    }
    return takes && holds_for_two(f, first);
}
/// A load by threads some of which get what another warp has written.
template <class Facts>
constexpr void cross_read(Facts& f, const place& p) {
    const u32 s = f.slot_at(p);
    if (s == max_slots || f.slots[s].fuzzy || f.in_single) return;
    const slot& from = f.slots[s];
    const value_form v = p.form == 0 ? number(0, 0) : f.forms[p.form - 1];
    const bool same = v.exact() && !v.moves && from.at == v.low + p.offset && from.step == v.times &&
                      from.skew == v.skew && from.skews == v.skews && (v.skew == 0 || from.rewrites == f.rewrites);
    if (!same || (p.form == 0 && !p.exact)) return;
    const bool lanes = v.root != 0 && (f.regs[v.root - 1] & bit::lanes) != 0 && v.share == 0 && v.most >= 1;
    const bool others = from.by == slot::writer::one_warp ? p.exact && f.guard == 0 && f.threads > 32
                                                          : from.by == slot::writer::a_lane_of_each && lanes;
    if (others && (from.by == slot::writer::one_warp || takes_of_another(f, lane_form::of(f.values[v.root - 1]))))
        f.push(event_kind::cross_read, s);
}

// ---- walkers
// ------------------------------------------------------------------------------------------------------------

/// `setp.eq p, slot, stages`
template <class Facts>
constexpr void learn_wrap(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    if (token_at(c, 1) != tok::eq || ir::kind_of(sources[0]) != ir::operand_kind::reg ||
        ir::kind_of(sources[1]) != ir::operand_kind::small_int)
        return;
    const u32 walker = f.walker_of(ir::payload_of(sources[0]));
    if (walker < max_walkers)
        f.wrap_guard = (id + 1) << 1, f.wrap_walker = walker,
        f.wrap_limit = static_cast<u32>(ir::small_value(sources[1]));
}
/// A walker is written: how, for the end of the program, and the event.
template <class Facts>
constexpr void walk(Facts& f, u32 id, const ir::cursor& c, const u32* sources) {
    const u32 which = f.walker_of(id);
    if (which == max_walkers) return;
    walker& w = f.walkers[which];
    const bool literal = ir::kind_of(sources[0]) == ir::operand_kind::small_int;
    const bool by_one = c.operands() == 3 && ir::kind_of(sources[0]) == ir::operand_kind::reg &&
                        ir::payload_of(sources[0]) == id && sources[1] == ir::head(ir::operand_kind::small_int, 1);
    u32 how = 0;
    if (token_at(c, 0) == tok::mov && literal && f.guard == 0 && w.writes == 0) {
        w.start = static_cast<u32>(ir::small_value(sources[0]));
        how = begins;
    } else if (token_at(c, 0) == tok::mov && literal && f.guard != 0 && f.guard == f.wrap_guard &&
               which == f.wrap_walker && ir::small_value(sources[0]) == 0) {
        if (w.limit != 0 && w.limit != f.wrap_limit) w.other = w.limit;
        w.limit = f.wrap_limit;
        how = wraps;
    } else if (token_at(c, 0) == tok::mov && ir::kind_of(sources[0]) == ir::operand_kind::reg && f.guard == 0) {
        const u32 from = f.walker_of(ir::payload_of(sources[0]));
        w.odd = true;
        how = w.copy_of = from < max_walkers ? from + 1 : 0;
    } else if (token_at(c, 0) == tok::rem && w.sum && f.guard == 0 &&
               ir::kind_of(sources[1]) == ir::operand_kind::small_int) {  // several stages on
        const u32 limit = static_cast<u32>(ir::small_value(sources[1]));
        if (w.limit != 0 && w.limit != limit) w.other = w.limit;
        w.limit = limit, w.sum = false, w.odd = w.odd_before, f.sum_where = f.where + 1;
    } else if (!(by_one && (token_at(c, 0) == tok::add) == (f.guard == 0)) &&
               !(token_at(c, 0) == tok::xor_ && f.sum_where != 0 && f.where - f.sum_where < 2)) {
        w.odd_before = w.odd, w.odd = true, w.sum = token_at(c, 0) == tok::add && f.guard == 0;
    }
    const bool some = f.arm_now != 0 && f.arm_now <= 64 && (f.index_arms >> (f.arm_now - 1) & 1u) != 0;
    if (some && (w.skipped == 0 || w.skipped_in == f.arm_now)) ++w.skipped, w.skipped_in = f.arm_now;
    ++w.writes;
    f.push(event_kind::walk, which, how);
}
/// The stage a barrier's address lies in, as far as a walker or the note tells. `apart`: threads may name several.
template <class Facts>
[[nodiscard]] constexpr u32 stage_code(Facts& f, const ir::cursor& c, u32 noted, bool& apart) {
    if (noted != unknown_count) return noted < walker_code::constant ? walker_code::constant | noted : 0;
    const u32* o = nullptr;  // of a copy's addresses the barrier is the last
    const u32* next = c.first_operand();
    for (u32 i = 0; i < c.operands(); ++i, next += ir::operand_words(next[0]))
        if (ir::kind_of(next[0]) == ir::operand_kind::address) o = next;
    if (o == nullptr || ir::kind_of(o[1]) != ir::operand_kind::reg) return 0;
    const u32 id = ir::payload_of(o[1]), allocation = f.regs[id] >> bit::place;
    apart = (f.regs[id] & bit::varies) != 0;
    if ((f.regs[id] & bit::address) != 0 && allocation != 0)
        return walker_code::constant | (f.values[id] + o[2] - f.m.allocations[allocation - 1].offset) / 8;
    if ((f.regs[id] & bit::form) == 0) return 0;
    const value_form& v = f.forms[f.values[id]];
    const u32 which = v.root == 0 || v.times != 8 ? max_walkers : f.walker_of(v.root - 1);
    return which < max_walkers ? which + 1 : 0;
}
/// A stage that is a loop's counter modulo a number.
template <class Facts>
constexpr void note_period(const Facts& f, const ir::cursor& c, site& s) {
    const u32* o = c.first_operand();
    for (u32 i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
        if (ir::kind_of(o[0]) != ir::operand_kind::address || ir::kind_of(o[1]) != ir::operand_kind::reg) continue;
        const u32 id = ir::payload_of(o[1]);
        const bool known = (f.regs[id] & bit::form) != 0 && f.regs[id] >> bit::place == s.barrier + 1;
        s.period = known ? f.forms[f.values[id]].period : 0, s.counter = known ? f.forms[f.values[id]].counter : 0;
    }
}
/// The parity of a wait; `value`: the number, where it is known.
template <class Facts>
[[nodiscard]] constexpr u32 parity_code(Facts& f, const ir::cursor& c, u32& value) {
    if (c.operands() < 3) return 0;
    const u32 head = operand_at(c, 2)[0];
    if (ir::kind_of(head) == ir::operand_kind::small_int) {
        value = static_cast<u32>(ir::small_value(head)) & 1u;
        return walker_code::constant | value;
    }
    if (ir::kind_of(head) != ir::operand_kind::reg) return 0;
    const u32 which = f.walker_of(ir::payload_of(head));
    if (which == max_walkers) return 0;
    const walker& w = f.walkers[which];
    const bool skips = w.skipped == 0 || !f.arm_lies_in(f.arm_now, w.skipped_in);
    if (w.writes == 1 || (w.writes == w.skipped + 1 && skips)) value = w.start;
    return which + 1;
}

}  // namespace ptxdsl::verify
