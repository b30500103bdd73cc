// SPDX-License-Identifier: Apache-2.0
// Registers: unwritten values (A06), predicates nobody reads (E11), and what is known of a value: a constant, a place
// in shared memory, whether it is the same in all threads. One word per register; this is the verifier's hot path.
#pragma once

#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/verify/engine/facts.hpp>

namespace ptxdsl::verify {

// ---- fragments
// --------------------------------------------------------------------------------------------------------

/// The fragment of registers `first … first + count - 1`, made on first sight; `max_fragments` when there are too many.
template <class Facts>
constexpr u32 fragment_of(Facts& f, u32 first, u32 count) {
    const u32 v = f.regs[first];
    if ((v & bit::member) != 0) {
        const u32 known = v >> 8 & 0xfu;
        if (f.fragments[known].first == first && f.fragments[known].count == count) return known;
        for (u32 i = 0; i < f.fragments.size(); ++i)
            if (f.fragments[i].first == first && f.fragments[i].count == count) return i;
    }
    if (f.fragments.size() == max_fragments) return max_fragments;
    const u32 made = f.fragments.size();
    fragment g{first, count};
    for (u32 i = first; i < first + count; ++i) {
        if ((f.regs[i] & bit::member) != 0) {
            f.fragments[f.regs[i] >> 8 & 0xfu].fuzzy = true;
            g.fuzzy = true;
        } else {
            f.regs[i] |= bit::member | made << 8;
        }
    }
    f.fragments.push_back(g);
    return made;
}

/// First register and count of a range operand, or of a vector whose registers follow each other; count 0 otherwise.
[[nodiscard]] constexpr fragment registers_of(const u32* o) noexcept {
    const u32 n = ir::payload_of(o[0]);
    if (ir::kind_of(o[0]) == ir::operand_kind::range) return {o[1], n};
    if (ir::kind_of(o[0]) != ir::operand_kind::vec) return {};
    for (u32 i = 1; i <= n; ++i)
        if (ir::kind_of(o[i]) != ir::operand_kind::reg || ir::payload_of(o[i]) != ir::payload_of(o[1]) + i - 1)
            return {};
    return {ir::payload_of(o[1]), n};
}

/// Records that fragment registers are read or written; many registers in a row are one event.
template <class Facts>
constexpr void touch(Facts& f, event_kind kind, u32 fragment) {
    if (!f.events.empty()) {
        const event& last = f.events.back();
        if (last.kind == kind && last.a == fragment && (last.flags & event_flag::guarded) == 0) return;
    }
    f.push(kind, fragment);
}

// ---- reads
// ------------------------------------------------------------------------------------------------------------

/// Compilers leave registers unwritten whose value does not matter; in a text only what decides where something
/// happens, or whether, is sure to matter.
template <class Facts>
constexpr void report_unwritten(Facts& f, u32 id, u32 where, bool decides) {
    f.out.add(decides ? catalogue::A06_decides : catalogue::A06_unwritten, where)
        .name(f.reg_name(id))
        .with(isa::name(f.m.regs[id].type));
}

/// A register that nothing before in the text has written. In a loop a later write can reach the use, unless the use is
/// certain to come first.
template <class Facts>
constexpr void unwritten_use(Facts& f, u32 id) {
    if (f.opaque) return;
    const loop& l = f.loops[f.loop_now];
    const bool comes_first = f.loop_now == 0 || (l.parent == 0 && l.ifs == f.ifs_open && f.guard == 0);
    if (!comes_first || f.unstructured) {
        f.late_varies = true;
        f.unproved_uses.push_back({id, f.where, f.decides});
        return;
    }
    report_unwritten(f, id, f.where, f.decides);
    f.regs[id] = (f.regs[id] & ~bit::hidden) | bit::written;
}

/// Whether a guard provably fails for some of the block's threads.
template <class Facts>
[[nodiscard]] constexpr bool fails_for_some(const Facts& f, u32 guard) noexcept {
    const u32 p = (guard >> 1) - 1, threads = f.roles[0].threads;
    if (threads == 0 || (f.regs[p] & (bit::lanes | bit::again)) != bit::lanes) return false;
    const lane_form form = lane_form::of(f.values[p]);
    const bool negated = (guard & 1u) != 0;
    if (form.count == 0 || form.count >= 1u << form.width) return false;
    if (form.period() <= threads) return true;
    if (!form.first_values && !form.last_values) return false;
    const u32 border = (form.first_values ? form.count : (1u << form.width) - form.count) << form.shift;
    return border < threads || form.first_values == negated;
}
/// A06: all threads store what only those have written for which a guard on their index holds.
template <class Facts>
constexpr void partly_written_use(Facts& f, u32 id) {
    const bool all = f.threads != 0 && f.threads == f.roles[0].threads && f.guard == 0 && !f.in_single;
    if ((!f.stores && !f.decides) || !all || f.m.from_text || f.opaque || f.unstructured ||
        (f.regs[id] & bit::again) != 0)
        return;
    for (u32 i = f.guarded_writes.size(); i > 0; --i) {
        if (f.guarded_writes[i - 1].reg != id) continue;
        if (!fails_for_some(f, f.guarded_writes[i - 1].guard)) return;
        f.regs[id] &= ~bit::partly;  // told once
        f.out.add(catalogue::A06_partly_written, f.where).name(f.reg_name(id)).with(isa::name(f.m.regs[id].type));
        return;
    }
}

template <class Facts>
constexpr bool special_use(Facts& f, u32 id, u32 v) {
    if ((v & bit::partly) != 0) partly_written_use(f, id);
    if ((v & bit::watched) != 0) f.regs[id] &= ~bit::watched;
    if ((v & bit::in_flight) != 0) {
        f.regs[id] &= ~bit::in_flight;
        if (!f.tm.loads.empty()) f.out.add(catalogue::I08_not_arrived, f.where).name(f.reg_name(id));
        for (u32 i = 0; i < f.tm.loads.size(); ++i)
            for (u32 r = f.tm.loads[i].first; r < f.tm.loads[i].first + f.tm.loads[i].count; ++r)
                f.regs[r] &= ~bit::in_flight;
        f.tm.loads.truncate(0);  // told once
    }
    bool written = (v & (bit::written | bit::hidden)) == bit::written;
    if ((v & bit::member) != 0) {
        const u32 which = v >> 8 & 0xfu;
        f.acc |= bit::varies;  // each thread has other elements of a product
        touch(f, event_kind::register_read, which);
        written = written || f.fragments[which].written;
    }
    if (!written) unwritten_use(f, id);
    return true;
}

/// One register is read.
template <class Facts>
constexpr bool take(Facts& f, u32 id) {
    const u32 v = f.regs[id];
    return f.acc |= v, f.provenance = v >> bit::place != 0 ? v >> bit::place : f.provenance,
                       (v & bit::special) == bit::written || special_use(f, id, v);
}

/// The same for a guard, a branch's condition or an address.
template <class Facts>
constexpr bool take_deciding(Facts& f, u32 id) {
    f.decides = true;
    const bool known = take(f, id);
    f.decides = false;
    return known;
}

using sreg = isa::special;  // `using enum` would cost the header more than both functions

/// Special registers that are the same in all threads of a block.
[[nodiscard]] constexpr bool is_uniform(sreg s) noexcept {
    return (s >= sreg::ntid_x && s <= sreg::nctaid_z) ||
           (s >= sreg::is_explicit_cluster && s <= sreg::cluster_nctarank);
}

/// Those that are the same in all blocks of a cluster, for threads of one index.
[[nodiscard]] constexpr bool is_of_cluster(sreg s) noexcept {
    return s <= sreg::ntid_z || (s >= sreg::nctaid_x && s <= sreg::nwarpid) ||
           (s >= sreg::gridid && s <= sreg::nclusterid_z) ||
           (s >= sreg::cluster_nctaid_x && s <= sreg::cluster_nctaid_z) ||
           (s >= sreg::cluster_nctarank && s <= sreg::lanemask_gt);
}

/// The allocation in which a byte of shared memory lies, + 1.
template <class Facts>
[[nodiscard]] constexpr u32 allocation_at(const Facts& f, u32 offset) noexcept {
    for (u32 i = 0; i < f.m.n.allocations; ++i) {
        const ir::allocation& a = f.m.allocations[i];
        if (offset >= a.offset && offset - a.offset < a.bytes()) return i + 1;
    }
    return 0;
}

template <class Facts>
constexpr void take_address(Facts& f, u32 base, u32 offset) {
    place p;
    if (ir::kind_of(base) == ir::operand_kind::reg) {
        const u32 id = ir::payload_of(base);
        const u32 before = f.provenance;
        take_deciding(f, id);
        f.provenance = before;
        const u32 points = f.regs[id] >> bit::place;
        p.mapped = points >= mapped ? points - mapped + 1 : 0;
        p.allocation = points >= mapped ? 0 : points;
        p.exact = (f.regs[id] & bit::address) != 0;
        p.form = (f.regs[id] & bit::form) != 0 ? f.values[id] + 1 : 0;
        p.offset = (p.form == 0 ? f.values[id] : 0) + offset;
        if (f.m.from_text && !p.exact) p.allocation = 0;
    } else if (base == ir::head(ir::operand_kind::symbol, ir::smem_symbol)) {
        p.exact = true;
        p.offset = offset;
        if (f.m.from_text) p.allocation = allocation_at(f, offset);
    }
    f.places[f.places_used++ & 3u] = p;
}

template <class Facts>
constexpr void take_range(Facts& f, u32 first, u32 n) {
    if ((f.regs[first] & bit::member) != 0) {
        const u32 which = f.regs[first] >> 8 & 0xfu;
        if (f.fragments[which].written && f.fragments[which].count >= n)
            return touch(f, event_kind::register_read, which);
    }
    for (u32 i = 0; i < n; ++i) take(f, first + i);
}

/// Reads one operand that is no plain register; returns the operand behind it.
template <class Facts>
constexpr const u32* take_other(Facts& f, const u32* o) {
    const u32 n = ir::payload_of(o[0]);
    switch (ir::kind_of(o[0])) {
        case ir::operand_kind::address: take_address(f, o[1], o[2]); return o + 3;
        case ir::operand_kind::tensor:
            take_address(f, o[1], 0);
            for (u32 i = 2; i < n + 2; ++i)
                if (ir::kind_of(o[i]) == ir::operand_kind::reg) take(f, ir::payload_of(o[i]));
            return o + 2 + n;
        case ir::operand_kind::vec:
        case ir::operand_kind::pair:
            for (u32 i = 1; i <= n; ++i)
                if (o[i] >> 28 <= 1) take(f, ir::payload_of(o[i]));
            return o + 1 + n;
        case ir::operand_kind::range: take_range(f, o[1], n); return o + 2;
        case ir::operand_kind::special:
            if (!is_uniform(static_cast<isa::special>(n))) f.acc |= bit::varies;
            if (!is_of_cluster(static_cast<isa::special>(n))) f.acc |= bit::by_block;
            return o + 1;
        case ir::operand_kind::text: f.opaque = true; return o + 2;
        default: return o + ir::operand_words(o[0]);
    }
}

// ---- writes
// -----------------------------------------------------------------------------------------------------------

template <class Facts>
constexpr void special_write(Facts& f, u32 id, u32 v) {
    if ((v & bit::member) != 0) touch(f, event_kind::register_write, v >> 8 & 0xfu);
    if ((v & bit::written) == 0) f.first_writes.push_back(id);
}

/// Under a guard, a register that had no value may still have none; `bit::partly`.
template <class Facts>
constexpr u32 partly_written(Facts& f, u32 id, u32 v) {
    if ((v & (bit::written | bit::hidden)) == bit::written || (v & bit::member) != 0) return v & bit::partly;
    f.guarded_writes.push_back({id, f.guard});
    return bit::partly;
}
/// What a register was known to hold.
template <class Facts>
constexpr void forget(Facts& f, u32 id) noexcept {
    f.regs[id] &= ~(bit::constant | bit::address | bit::lanes | bit::form | bit::by_index) & ((1u << bit::place) - 1);
    for (auto& v : f.rank_values) v.reg = v.reg == id ? unknown_count : v.reg;
    for (auto& t : f.rank_tests) t.reg = t.reg == id ? unknown_count : t.reg;
    for (auto& t : f.tokens) t.reg = t.reg == id ? unknown_count : t.reg;
}
/// Rounds: what an arm that ends has written, or a loop, may be of an earlier round behind it.
template <class Facts>
constexpr void forget_from(Facts& f, u32 first) noexcept {
    if (f.in_rounds == 0) return;
    for (u32 i = first; i < f.learned.size(); ++i) forget(f, f.learned[i]);
    f.learned.truncate(first);
}
/// Marks what is computed from marked registers, in one pass over the program; whether it marked something new.
/// A predicate, or the index of a branch by a table, ends the search: `decides`.
template <class Facts>
constexpr bool spread_marks(const Facts& f, words& marks, bool& decides) {
    bool more = false;
    const u32* const end = f.m.words + f.m.n.words;
    const auto marked = [&](u32 head) {
        return ir::kind_of(head) == ir::operand_kind::reg && marks[ir::payload_of(head)] != 0;
    };
    for (const u32* w = f.m.words; w < end && !decides; w += w[0] & 0xffffu) {
        const ir::cursor c{w};
        if (!c.is_instruction()) continue;
        const u32 results = ir::results_of(w);
        if (results == 0) continue;
        const u32* const dst = c.first_operand();
        const u32 id = ir::payload_of(dst[0]);
        if (ir::kind_of(dst[0]) == ir::operand_kind::reg && marks[id] != 0) continue;
        bool reads = false;
        const u32* o = dst;
        for (u32 i = 0; i < results; ++i) o += ir::operand_words(o[0]);
        for (u32 i = results; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
            const ir::operand_kind kind = ir::kind_of(o[0]);
            const bool several = kind == ir::operand_kind::vec || kind == ir::operand_kind::pair;
            for (u32 k = 0; k < (several ? ir::payload_of(o[0]) : 1); ++k)
                reads = reads || marked(o[several ? k + 1 : 0]);
        }
        if (!reads) continue;
        decides = ir::kind_of(dst[0]) != ir::operand_kind::reg || f.m.regs[id].type == isa::scalar::pred;
        if (!decides) marks[id] = 1, more = true;
    }
    return more;
}
/// Whether a predicate may follow from a float's value. Where none does, floats decide nothing about who goes where.
template <class Facts>
constexpr bool floats_decide(Facts& f) {
    if (f.floats_decide != unknown_count) return f.floats_decide != 0;  // asked for seldom, and seldom once
    words marks(f.m.n.regs);
    for (u32 i = 0; i < f.m.n.regs; ++i) marks[i] = isa::info(f.m.regs[i].type).cls == isa::type_class::floating;
    bool decides = f.m.from_text || f.has_blocks;
    while (!decides && spread_marks(f, marks, decides)) {}
    f.floats_decide = decides ? 1 : 0;
    return decides;
}

/// Whether what was said of a condition when it was met may be wrong: what stands before a write in a loop has taken
/// the register for the same in all threads.
template <class Facts>
[[nodiscard]] constexpr bool takes_back(Facts& f) {
    return f.late_varies || (f.late_floats && floats_decide(f));
}

/// One register is written with what the instruction has read.
template <class Facts>
constexpr void define(Facts& f, u32 id) {
    if (f.in_rounds != 0) forget(f, id), f.learned.push_back(id);
    const u32 v = f.regs[id];
    if ((v & (bit::member | bit::written)) != bit::written) special_write(f, id, v);
    if ((v & bit::again) != 0) {
        ++f.rewrites;
        // Another path may leave what it was.
        if (f.ifs_open != 0 || f.guard != 0) f.acc |= v & (bit::varies | bit::by_block);
        if (!f.blocks.all()) f.acc |= bit::by_block;
    }
    // What stands before it in a loop has taken it for the same in all threads.
    if ((v & (bit::again | bit::written | bit::varies)) == (bit::again | bit::written) && (f.acc & bit::varies) != 0) {
        f.turned.push_back(id);
        if (f.loop_now != 0 && (f.divergent == 0 || (f.divergent & diverged_in_loop) != 0)) {
            const bool is_float = isa::info(f.m.regs[id].type).cls == isa::type_class::floating;
            (is_float ? f.late_floats : f.late_varies) = true;
        }
    }
    const u32 partly = f.guard != 0 ? partly_written(f, id, v) : 0;
    f.regs[id] = (v & (bit::watched | bit::member | bit::kept)) | bit::written | partly |
                 (f.acc & (bit::varies | bit::by_block)) | f.provenance << bit::place;
}

template <class Facts>
constexpr void define_operand(Facts& f, const u32* o) {
    const u32 n = ir::payload_of(o[0]);
    switch (ir::kind_of(o[0])) {
        case ir::operand_kind::reg: return define(f, n);
        case ir::operand_kind::vec:
        case ir::operand_kind::pair:
            for (u32 i = 1; i <= n; ++i)
                if (ir::kind_of(o[i]) == ir::operand_kind::reg) define(f, ir::payload_of(o[i]));
            return;
        case ir::operand_kind::range:
            for (u32 i = 0; i < n; ++i) define(f, o[1] + i);
            return;
        default: return;
    }
}

/// An instruction that nothing runs names it as its result.
template <class Facts>
constexpr void write_unseen(Facts& f, const u32* o) noexcept {
    const u32 n = ir::payload_of(o[0]);
    const ir::operand_kind kind = ir::kind_of(o[0]);
    const bool range = kind == ir::operand_kind::range;
    const bool several = range || kind == ir::operand_kind::vec || kind == ir::operand_kind::pair;
    if (!several && kind != ir::operand_kind::reg) return;
    for (u32 i = 0; i < (several ? n : 1); ++i) {
        if (!range && several && ir::kind_of(o[i + 1]) != ir::operand_kind::reg) continue;
        const u32 id = range ? o[1] + i : several ? ir::payload_of(o[i + 1]) : n;
        f.regs[id] |= bit::written;
        if ((f.regs[id] & bit::member) != 0) f.fragments[f.regs[id] >> 8 & 0xfu].written = true;
    }
}

// ---- known values
// -----------------------------------------------------------------------------------------------------

/// Whether what an instruction writes to `dst` is what every reader of `dst` gets.
template <class Facts>
[[nodiscard]] constexpr bool is_only_value(const Facts& f, u32 dst) noexcept {
    return f.guard == 0 && (f.regs[dst] & bit::again) == 0;
}
template <class Facts>
constexpr void learn_lanes(Facts& f, u32 dst, const lane_form& form) noexcept {
    f.regs[dst] |= bit::lanes;
    f.values[dst] = form.word();
}
[[nodiscard]] constexpr bool is_one_dimensional(const ir::attributes& a) noexcept {
    return a.reqntid.given() && a.reqntid.y == 1 && a.reqntid.z == 1;
}

/// `mov`: a literal, the address of shared memory, or a thread's index.
template <class Facts>
constexpr void learn_mov(Facts& f, u32 dst, const u32* source) {
    if (!is_only_value(f, dst)) return;
    if (ir::kind_of(source[0]) == ir::operand_kind::special) {
        const auto which = static_cast<isa::special>(ir::payload_of(source[0]));
        if (which == isa::special::laneid || which == isa::special::tid_x) f.regs[dst] |= bit::by_index;
        if (which == isa::special::laneid) learn_lanes(f, dst, {0, 5});
        if (which == isa::special::tid_x && is_one_dimensional(f.m.attrs)) learn_lanes(f, dst, {0, 10});
    } else if (ir::kind_of(source[0]) == ir::operand_kind::small_int) {
        f.regs[dst] |= bit::constant;
        f.values[dst] = static_cast<u32>(ir::small_value(source[0]));
    } else if (source[0] == ir::head(ir::operand_kind::symbol, ir::smem_symbol)) {
        f.regs[dst] |= bit::address | allocation_at(f, source[1]) << bit::place;
        f.values[dst] = source[1];
    }
}

/// `add` of a literal to a known value.
template <class Facts>
constexpr void learn_add(Facts& f, u32 dst, const u32* sources) {
    if (!is_only_value(f, dst) || ir::kind_of(sources[0]) != ir::operand_kind::reg ||
        ir::kind_of(sources[1]) != ir::operand_kind::small_int)
        return;
    const u32 from = ir::payload_of(sources[0]);
    f.regs[dst] |= f.regs[from] & (bit::constant | bit::address);
    f.values[dst] = f.values[from] + static_cast<u32>(ir::small_value(sources[1]));
}

/// The literal behind a register that holds a part of the thread index; false when it is something else.
template <class Facts>
[[nodiscard]] constexpr bool lanes_and_literal(const Facts& f, u32 dst, const u32* sources, lane_form& form,
                                               u32& literal) noexcept {
    if (!is_only_value(f, dst) || ir::kind_of(sources[0]) != ir::operand_kind::reg ||
        ir::kind_of(sources[1]) != ir::operand_kind::small_int || ir::small_value(sources[1]) < 0)
        return false;
    const u32 from = ir::payload_of(sources[0]);
    if ((f.regs[from] & (bit::lanes | bit::again)) != bit::lanes) return false;
    form = lane_form::of(f.values[from]);
    literal = static_cast<u32>(ir::small_value(sources[1]));
    return form.count == 0;
}
/// `and`, `shr`, `setp` of something that follows from the thread index, with a literal.
template <class Facts>
constexpr void learn_index(Facts& f, u32 dst, const u32* sources) noexcept {
    if (!is_only_value(f, dst) || sources[0] >> 28 > 1 || ir::kind_of(sources[1]) != ir::operand_kind::small_int)
        return;
    f.regs[dst] |= f.regs[ir::payload_of(sources[0])] & bit::by_index;
}
/// `and` with 2^n - 1, `shr`.
template <class Facts>
constexpr void learn_bits(Facts& f, u32 dst, const u32* sources, bool shift) noexcept {
    lane_form form;
    u32 literal = 0;
    if (!lanes_and_literal(f, dst, sources, form, literal)) return;
    if (shift) {
        if (literal < form.width) learn_lanes(f, dst, {form.shift + literal, form.width - literal});
        return;
    }
    literal &= (1u << form.width) - 1;
    u32 width = 0;
    while (width < form.width && literal >> width != 0) ++width;
    if (width != 0 && literal + 1 == 1u << width) learn_lanes(f, dst, {form.shift, width});
}
/// `setp` with a literal.
template <class Facts>
constexpr void learn_compare(Facts& f, u32 dst, const u32* sources, tok how) noexcept {
    lane_form form;
    u32 literal = 0;
    if (!lanes_and_literal(f, dst, sources, form, literal)) return;
    const u32 values = 1u << form.width;
    const bool equal = how == tok::eq || how == tok::ne;
    if (how == tok::le || how == tok::gt) ++literal;
    if (!equal && how != tok::lt && how != tok::le && how != tok::ge && how != tok::gt) return;
    const bool negative = how == tok::ne || how == tok::ge || how == tok::gt;
    const u32 block = f.m.attrs.threads();
    const bool beyond = literal >= values || (form.shift + form.width == 10 && literal << form.shift >= block);
    if (equal ? beyond : literal == 0 || (beyond && negative)) {  // it holds for nobody, or for everybody
        f.regs[dst] |= bit::constant;
        f.values[dst] = negative == (equal || literal == 0) ? 1 : 0;
        return;
    }
    const u32 below = equal ? 1 : literal < values ? literal : values;  // `eq`, `lt`, `le` hold for so many
    form.count = negative ? values - below : below;
    if (form.count == 0) return;
    const bool at_front = !equal || literal == 0, at_end = equal && literal == values - 1;
    form.first_values = negative ? at_end : at_front;
    form.last_values = negative ? at_front : at_end;
    if (!form.first_values && !form.last_values) form.only = literal;
    learn_lanes(f, dst, form);
}

/// Warps of the block for which a predicate may hold (or, with `fails`, not hold) for some lane.
template <class Facts>
[[nodiscard]] constexpr u32 warps_that_hold(const Facts& f, u32 predicate, bool fails) noexcept {
    const u32 bits = f.regs[predicate], threads = f.roles[0].threads;
    if ((bits & bit::again) != 0) return ~0u;
    if ((bits & bit::constant) != 0) return (f.values[predicate] != 0) != fails ? ~0u : 0;
    if ((bits & bit::form) != 0) {  // `learn_warps`
        const value_form& v = f.forms[f.values[predicate]];
        return static_cast<u32>(fails ? v.high : v.low);
    }
    const lane_form form = lane_form::of(f.values[predicate]);
    if ((bits & bit::lanes) == 0 || form.period() <= 32 || threads == 0) return ~0u;
    u32 warps = 0;
    for (u32 w = 0; w < (threads + 31) / 32; ++w)
        if (form.may_hold_in(w, fails)) warps |= 1u << w;
    return warps;
}

/// Whether a guard parts whole warps from others: no warp has lanes of both.
template <class Facts>
[[nodiscard]] constexpr bool parts_warps(const Facts& f, u32 guard) noexcept {
    const u32 p = (guard >> 1) - 1, threads = f.roles[0].threads;
    if (threads == 0 || (f.regs[p] & bit::by_index) == 0) return false;
    return (f.warps & warps_that_hold(f, p, false) & warps_that_hold(f, p, true)) == 0;
}

/// `elect.sync d|p, mask`: `p` holds for one thread of each warp.
template <class Facts>
constexpr void learn_elect(Facts& f, const u32* dst) noexcept {
    if (ir::kind_of(dst[0]) != ir::operand_kind::pair || ir::kind_of(dst[2]) != ir::operand_kind::reg) return;
    const u32 id = ir::payload_of(dst[2]);
    if (!is_only_value(f, id)) return;
    f.regs[id] |= bit::by_index;
    learn_lanes(f, id, {0, 5, 1});
}

/// End of an outermost loop, or of the program: uses that no later write reaches are errors after all.
template <class Facts>
constexpr void settle_unproved(Facts& f) {
    for (u32 i = 0; i < f.unproved_uses.size(); ++i) {
        const auto u = f.unproved_uses[i];
        const u32 v = f.regs[u.reg];
        const bool reached = (v & bit::written) != 0 || ((v & bit::member) != 0 && f.fragments[v >> 8 & 0xfu].written);
        if (reached || f.opaque) continue;
        report_unwritten(f, u.reg, u.where, u.decides);
        f.regs[u.reg] |= bit::written;
    }
    f.unproved_uses.truncate(0);
}

/// Predicates of waits that nothing has read (E11); `where` lies in the register's value word.
template <class Facts>
constexpr void check_watched(Facts& f, const ::ptxdsl::detail::dynarray<u32>& predicates) {
    if (f.opaque) return;
    for (const u32 id : predicates)
        if ((f.regs[id] & bit::watched) != 0) f.out.add(catalogue::E11_never_read, f.values[id]);
}

}  // namespace ptxdsl::verify
