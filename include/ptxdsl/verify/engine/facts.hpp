// SPDX-License-Identifier: Apache-2.0
// What one run of the verifier knows about a program. The rules are spread over the topic headers; this is the data
// they share, and the place in the program that the first pass has reached.
//
// Two passes. The first goes over the text once: it judges what needs no control flow, follows registers, and reduces
// the rest to a short list of events. The second walks the events as a program (verify/engine/dataflow.hpp): branches
// join, loop bodies run twice. Nothing is done register by register for a 128-register operand: such a range is one
// *fragment*.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/verify/engine/events.hpp>
#include <ptxdsl/verify/engine/opcodes.hpp>
#include <ptxdsl/verify/knowledge/program.hpp>
#include <ptxdsl/verify/report.hpp>

#include <cstdint>

namespace ptxdsl::verify {

/// State of one run, up to the record the first pass has reached. A template (over `ir::view`), as are the functions
/// that take it, so that a translation unit that verifies nothing only parses them.
template <class View>
struct facts_of {
    const View& m;
    report& out;

    // Registers (verify/knowledge/registers.hpp).
    words regs;
    words values;
    ::ptxdsl::detail::dynarray<fragment> fragments;
    ::ptxdsl::detail::dynarray<u32> first_writes;  ///< registers written for the first time in open arms
    ::ptxdsl::detail::dynarray<u32> turned;        ///< registers that differ from thread to thread since an open arm
    struct unproved {
        u32 reg, where;
        bool decides;
    };
    struct guarded_write {
        u32 reg, guard;
    };
    ::ptxdsl::detail::dynarray<guarded_write> guarded_writes;
    ::ptxdsl::detail::dynarray<value_form> forms;
    ::ptxdsl::detail::dynarray<unproved> unproved_uses;  ///< in loops: wrong unless a later write reaches them

    // The instruction at hand.
    u32 where = 0;
    u32 guard = 0;
    bool decides = false;  ///< what is read now is an address or a condition
    bool stores = false;   ///< the instruction writes to memory what it reads
    u32 acc = 0;           ///< bits of everything it reads
    u32 provenance = 0;    ///< allocation its result points into
    u32 places_used = 0;
    place places[4] = {};

    // Where it stands (verify/engine/structure.hpp).
    u32 threads = 0;   ///< that execute it, 0: unknown
    u32 together = 0;  ///< the same, where only cases lie between that all of them take alike (but see `takes_back`)
    bool late_varies = false;           ///< a register that was the same in all threads was written with what is not
    bool late_floats = false;           ///< the same of floats, which decide nothing in most kernels
    u32 floats_decide = unknown_count;  ///< `floats_decide(f)`, once it was asked for
    u32 warps = ~0u;                    ///< bit per warp of the block that may be here
    bool warps_known = false;           ///< all of those come here, where any does whatever the data are
    bool has_blocks = false;            ///< a text leaves constructs in the middle
    u32 first_thread = unknown_count;   ///< the first of them in the block, where it is known; the others follow it
    u32 role_now = 0;
    u32 arm_now = 0;                       ///< innermost `if` that is not a selection of threads, 0: none
    ::ptxdsl::detail::dynarray<u32> arms;  ///< the arm around each; arm 1 stands first
    u64 index_arms = 0;  ///< bit per arm: some threads take it, and some do not, whatever the data are
    u32 ifs_open = 0;
    /// The ifs around: predicate << 1 | negated, and a number that no other arm has.
    struct condition {
        u32 holds, arm;
    };
    ::ptxdsl::detail::dynarray<condition> conditions;
    u32 arms_begun = 0;
    u32 warps_gone = 0;       ///< bit per warp: has left the kernel, whatever the data are
    u32 grid_wait = 0;        ///< a griddepcontrol.wait stands before: `ifs_open` there, + 1; 0: none
    bool early_told = false;  ///< G08 was told
    u32 cases_open = 0;       ///< those of them whose condition is on more than the thread's index and the block's rank
    u32 block_now = 0;        ///< rank of the only block of the cluster that runs it, + 1; 0: all do, or not known
    block_set blocks{};       ///< blocks of the cluster that run it
    bool never = false;       ///< nothing runs it: a condition around it cannot hold
    u32 meetings = 0;         ///< barriers of threads so far in the text
    u32 loop_now = 0;         ///< index into `loops`, 0: none
    u32 divergent = 0;  ///< bit::varies where the control flow may differ from thread to thread, `diverged_in_loop`
    bool in_single = false;
    bool split = false;         ///< a part of a warp's lanes runs it, and provably not all
    bool some_left = false;     ///< threads may have left the kernel before
    u32 single_warps = 0;       ///< in a single-thread region: warps whose threads it was chosen from, 0: unknown
    u32 single_now = 0;         ///< event of that region's `if` + 1, 0: no such region
    bool one_of_block = false;  ///< it is one thread of the whole block
    bool one_lane = false;      ///< one lane of each warp of the block runs it
    ::ptxdsl::detail::dynarray<role> roles;
    ::ptxdsl::detail::dynarray<loop> loops;
    ::ptxdsl::detail::dynarray<counted_loop> counted;
    u32 in_rounds = 0;                        ///< of so many of them the text at hand is a round
    u32 round = 0;                            ///< rounds begun so far
    ::ptxdsl::detail::dynarray<u32> learned;  ///< registers written in the rounds at hand

    /// One use of a named barrier.
    struct barrier_use {
        u32 id, count, threads, together, role, where;  ///< `id`: `unknown_count` when a register has it
        bool waits, in_loop;
        bool guarded = false, single = false;
        bool exact = false;    ///< `warps` are those that execute it, not only those that may
        bool all = false;      ///< without a count: of all threads of the block
        bool perhaps = false;  ///< under a condition on more than who executes it
        u32 warps = ~0u;       ///< bit per warp of the block that may execute it
        u32 form = 0;          ///< of `facts::forms` + 1: the register's value
        u32 arm = 0, loop = 0, block = 0;
    };
    ::ptxdsl::detail::dynarray<barrier_use> barrier_uses;
    u32 init_warps = 0;  ///< bit per warp that may initialise an mbarrier
    u32 noted = 0;       ///< bit per kind of note that stands before the instruction
    u32 noted_slot = 0;
    u32 void_wait = 0;  ///< the latest site + 1, when it is a wait that returns at once and nobody was met since

    // What the second pass and the accounting read.
    ::ptxdsl::detail::dynarray<event> events;
    ::ptxdsl::detail::dynarray<slot> slots;
    ::ptxdsl::detail::dynarray<site> sites;
    bool unstructured = false;  ///< branches that no construct made
    bool malformed = false;     ///< regions do not nest
    bool opaque = false;        ///< raw text, calls: anything may have happened
    u32 no_arity = 0;           ///< bit per allocation: the author vouches for the arrivals
    ::ptxdsl::detail::dynarray<ring> rings;
    ::ptxdsl::detail::dynarray<walker> walkers;
    u32 rewrites = 0;  ///< of registers that are written more than once, in the text so far
    u32 wrap_guard = 0, wrap_walker = 0, wrap_limit = 0;  ///< the latest comparison of a walker with a literal
    u32 sum_where = 0;                                    ///< of the latest walker that went several stages on + 1
    struct ring_tile {
        u32 allocation, barrier;
        u32 slot = 0;  ///< register + 1 that chooses the tile's stage, 0: not known
        u32 where = 0;
    };
    ::ptxdsl::detail::dynarray<ring_tile> ring_tiles;  ///< tiles whose copies complete on a barrier
    ::ptxdsl::detail::dynarray<u32> read_at;  ///< by allocation + 1 (0: not known): first read behind a copy, + 1
    struct late_copy {
        u32 where, allocation;  ///< both + 1, or 0
        bool by_thread;         ///< `cp.async`, no bulk copy
    };
    ::ptxdsl::detail::dynarray<late_copy> late_copies;  ///< into shared memory: the first of each array
    bool waits = false;                                 ///< has a wait on an mbarrier
    bool waits_for_thread_copies = false;               ///< has `cp.async.wait_group` or the like
    bool told_late = false;                             ///< E07: nothing waits for a copy
    struct thread_write {
        u32 base = 0, offset = 0, stand = 0, loop = 0, where = 0, round = 0;
    };
    ::ptxdsl::detail::dynarray<thread_write> thread_writes;  ///< `cp.async` that have not been waited for
    u32 noted_barrier = 0;
    u32 noted_wait = 0;    ///< barrier + 1 of the wait the note stands in front of
    u32 mapped_lanes = 0;  ///< rank operand of all `mapa` (`lane_form`, `own_block`, `one_block`), `unknown_count`:
                           ///< they differ, or are unknown
    ::ptxdsl::detail::dynarray<rank_value> rank_values;
    u32 mapped_by = 0;  ///< register with the rank of all `mapa` of barriers + 1, `unknown_count`: not just one
    struct rank_test {
        u32 reg;
        block_set holds, fails;  ///< in some threads of these blocks
        bool alone = true;       ///< of the rank and the thread's index, and nothing else
    };
    ::ptxdsl::detail::dynarray<rank_test> rank_tests;  ///< predicates
    ::ptxdsl::detail::dynarray<mapping> mapped_to;     ///< what `mapa` was given
    u32 peers_write = 0;         ///< bit per allocation: generic stores go into that of another block
    u32 own_writes = 0;          ///< bit per allocation: the block has stored into its own, which it may read again
    bool reaches_peers = false;  ///< writes into other blocks of the cluster, or arrives there
    bool names_peers = false;    ///< maps addresses to blocks of the cluster by number, or multicasts
    /// A word in memory that threads load again and again while it holds `value`.
    struct flag {
        u32 base = 0, offset = 0;  ///< operand
        u32 loop = 0, arm = 0, role = 0;
        u32 loaded = 0;     ///< register it is loaded into
        u32 predicate = 0;  ///< + 1, that tells whether it holds `value` (or, with `unequal`, does not)
        u32 value = 0;
        bool unequal = false, polled = false;
    };
    ::ptxdsl::detail::dynarray<flag> polls;
    /// E09: a register with the state that an arrival returns, and the byte of shared memory of its barrier.
    struct token {
        u32 reg, offset, where;
    };
    ::ptxdsl::detail::dynarray<token> tokens;
    u32 unfenced_init = 0;         ///< the first init of an mbarrier with no fence for the async proxy behind it + 1
    u32 first_unfenced = 0;        ///< the first copy onto an mbarrier behind such an init + 1
    bool listens = false;          ///< has strong loads or atomics: flags of others may be read there
    bool tells_peers = false;      ///< arrives at another block's mbarrier, or copies with one
    bool cluster_met = false;      ///< a barrier.cluster.wait stands before in the text
    bool cluster_in_loop = false;  ///< one stands in a loop
    u32 peer_store = 0,
        narrow_arrive = 0;      ///< G07: first store into a peer, arrive of block scope behind it (location + 1)
    bool wide_release = false;  ///< something behind it releases to the cluster
    bool changes_maps = false;  ///< has a `tensormap` instruction
    ::ptxdsl::detail::dynarray<u32> maps;  ///< registers that hold the addresses of tensor maps
    struct alias {
        u32 of, root;
    };
    ::ptxdsl::detail::dynarray<alias> map_aliases;  ///< `cvta` results
    ::ptxdsl::detail::dynarray<u32> masks;          ///< H03: full masks in a part of a warp, by location
    struct lone_mask {
        u32 where, depth;  ///< ifs around the code that all lanes come to afterwards
    };
    ::ptxdsl::detail::dynarray<lone_mask> lone_masks;  ///< those of them that the other lanes do not execute
    bool waits_unknown = false;                        ///< a wait without a note
    u32 unknown_wait = 0;                              ///< the first of them (location + 1)
    bool inits_unknown = false;                        ///< an init without a note
    bool initialises = false;                          ///< has an init, noted or not
    bool begins_anew = false;                          ///< a barrier is invalidated: its phases begin again
    bool arrivals_unknown = false;                     ///< an arrival without a note
    bool is_function = false;    ///< a device function: the caller may have begun things and may end them
    bool bytes_unknown = false;  ///< a copy onto a barrier without a note
    tensor_memory_facts tm;

    constexpr facts_of(const View& program, report& to)
        : m(program), out(to), regs(program.n.regs), values(program.n.regs) {
        threads = together = m.attrs.reqntid.given() ? m.attrs.reqntid.count() : 0;
        if (threads != 0) first_thread = 0, warps_known = true;
        roles.push_back({threads, first_thread});
        if (followed_warps() != 0) warps = (1u << followed_warps()) - 1;
        loops.push_back({});
    }

    /// All threads of a block of several warps are here.
    [[nodiscard]] constexpr bool whole_block() const noexcept {
        return role_now == 0 && arm_now == 0 && threads >= 64 && threads == roles[0].threads;
    }
    /// Whether a register is written in the rounds at hand: its value may be another one in each.
    [[nodiscard]] constexpr bool is_of_round(u32 reg) const noexcept {
        for (u32 i = 0; in_rounds != 0 && i < learned.size(); ++i)
            if (learned[i] == reg) return true;
        return false;
    }
    /// Warps of the block, where rules follow each of them; 0: not known, or more than sets of 31 bits hold.
    [[nodiscard]] constexpr u32 followed_warps() const noexcept {
        return roles[0].threads > 31 * 32 ? 0 : (roles[0].threads + 31) / 32;
    }
    [[nodiscard]] constexpr register_name reg_name(u32 id) const noexcept {
        const ir::prefix_info& p = m.prefixes[m.regs[id].prefix];
        return {m.text(p.id), id - p.first, p.how == ir::naming::numbered};
    }
    [[nodiscard]] constexpr string_view name_of(u32 allocation) const noexcept {
        return allocation < m.n.allocations && m.allocations[allocation].id.length != 0
                   ? m.text(m.allocations[allocation].id)
                   : string_view("buffer");
    }
    [[nodiscard]] constexpr const std::source_location* source(u32 location) const noexcept {
        return m.from_text || location >= m.n.locations ? nullptr : m.locations + location;
    }
    [[nodiscard]] constexpr bool flow_is_known() const noexcept { return !unstructured && !malformed; }
    /// The blocks of the cluster in which a condition holds, as far as it is made of their ranks.
    [[nodiscard]] constexpr block_set blocks_of(u32 predicate, bool negated) const noexcept {
        for (const rank_test& t : rank_tests)
            if (t.reg == predicate) return negated ? t.fails : t.holds;
        return {.sure = (regs[predicate] & (bit::by_block | bit::again)) == 0};
    }
    /// Whether other blocks may reach this one: in a cluster that is declared, or that the launch may give.
    [[nodiscard]] constexpr bool may_have_peers() const noexcept {
        return m.attrs.cluster_size() > 1 || (!m.attrs.cluster.given() && names_peers);
    }
    /// Whether a condition is made of the thread's index, the block's rank and constants alone.
    [[nodiscard]] constexpr bool is_of_position(u32 predicate) const noexcept {
        if ((regs[predicate] & (bit::by_index | bit::constant)) != 0) return true;
        for (const rank_test& t : rank_tests)
            if (t.reg == predicate) return t.alone;
        return false;
    }
    /// Whether nothing but who executes it is asked of the code at hand: no case distinction stands around it.
    [[nodiscard]] constexpr bool is_certain() const noexcept { return cases_open == 0; }
    /// Whether each round of a loop around comes here: no case distinction, and none between blocks, lies between.
    [[nodiscard]] constexpr bool in_each_round_of(u32 l) const noexcept {
        return loops[l].cases == cases_open && loops[l].ranks == blocks.ranks;
    }
    /// Whether arm `inner` stands in `outer`, or is it.
    [[nodiscard]] constexpr bool arm_lies_in(u32 inner, u32 outer) const noexcept {
        while (inner > outer) inner = arms[inner - 1];
        return inner == outer;
    }

    constexpr u8 thread_flags() const noexcept {
        return static_cast<u8>((guard != 0 ? event_flag::guarded : 0) |
                               (in_single || threads == 1 ? event_flag::single : 0) |
                               (!in_single && threads > 1 ? event_flag::many : 0));
    }
    constexpr void push(event_kind k, u32 a = 0, u32 b = 0, u8 flags = 0) {
        event e;
        e.kind = k, e.a = a, e.b = b, e.flags = static_cast<u8>(flags | thread_flags()), e.where = where;
        events.push_back(e);
    }

    /// The slot of a stage; `max_slots` when there are too many to follow.
    constexpr u32 slot_of(u32 allocation, u32 stage, const value_form& v = {}) {
        if (allocation >= m.n.allocations) return max_slots;
        if (m.allocations[allocation].stages <= 1) stage = 0;
        for (u32 i = 0; i < slots.size(); ++i)
            if (slots[i].allocation == allocation && slots[i].stage == stage && slots[i].root == v.root &&
                slots[i].times == v.times)
                return i;
        if (slots.size() == max_slots) return max_slots;
        slots.push_back({allocation, stage, stage == unknown_count, false, v.root, v.times, v.share});
        return slots.size() - 1;
    }
    /// The stage an exact address lies in.
    [[nodiscard]] constexpr u32 stage_of(const place& p) const noexcept {
        const ir::allocation& a = m.allocations[p.allocation - 1];
        return p.exact && a.stage_bytes != 0 && p.offset >= a.offset ? (p.offset - a.offset) / a.stage_bytes
                                                                     : unknown_count;
    }
    constexpr u32 slot_at(const place& p) {
        if (p.allocation == 0) return max_slots;
        const ir::allocation& a = m.allocations[p.allocation - 1];
        if (p.form == 0 || a.stages <= 1 || a.stage_bytes == 0 || forms[p.form - 1].moves)
            return slot_of(p.allocation - 1, stage_of(p));
        // All of what the address may be lies in one stage, counted from where the root's multiple begins.
        value_form v = forms[p.form - 1];
        if (v.times % a.stage_bytes != 0) v.flatten();
        if (v.skew != 0) v.known = false;
        const std::int64_t bytes = a.stage_bytes, skew = std::int64_t{p.offset} - a.offset + bytes * a.stages * 16;
        const std::int64_t first = (v.low + skew) / bytes, last = (v.high + skew) / bytes;
        if (!v.known || v.low + skew < 0 || first != last) return slot_of(p.allocation - 1, unknown_count);
        const u32 stage = static_cast<u32>(first) - a.stages * 16u;
        return v.root == 0 && stage >= a.stages ? max_slots : slot_of(p.allocation - 1, stage, v);
    }

    /// Ring of which `barrier` counts filled (or freed) slots; `max_rings`: none.
    [[nodiscard]] constexpr u32 ring_of(u32 barrier, bool freed) const noexcept {
        for (u32 i = 0; i < rings.size() && i < max_rings; ++i)
            if ((freed ? rings[i].empty : rings[i].full) == barrier) return i;
        return max_rings;
    }
    /// Ring whose copies bring this tile.
    [[nodiscard]] constexpr u32 ring_of_tile(u32 allocation) const noexcept {
        for (const ring_tile& t : ring_tiles)
            if (t.allocation == allocation) return ring_of(t.barrier, false);
        return max_rings;
    }

    /// The walker a register is; `max_walkers`: none, or too many.
    constexpr u32 walker_of(u32 reg) {
        if ((regs[reg] & bit::walks) == 0) return max_walkers;
        for (u32 i = 0; i < walkers.size(); ++i)
            if (walkers[i].reg == reg) return i;
        if (walkers.size() == max_walkers) return max_walkers;
        walkers.push_back({reg});
        return walkers.size() - 1;
    }

    /// A number behind a one-word operand: literal, or register that holds one.
    [[nodiscard]] constexpr bool constant_of(u32 head, std::int64_t& v) const noexcept {
        const ir::operand_kind k = ir::kind_of(head);
        if (k == ir::operand_kind::small_int) {
            v = ir::small_value(head);
            return true;
        }
        if (k != ir::operand_kind::reg || (regs[ir::payload_of(head)] & bit::constant) == 0) return false;
        v = static_cast<std::int32_t>(values[ir::payload_of(head)]);
        return true;
    }
};

using facts = facts_of<ir::view>;

/// Head word of operand `i` of an instruction; for operands before it of any length.
[[nodiscard]] constexpr const u32* operand_at(const ir::cursor& c, u32 i) noexcept {
    const u32* o = c.first_operand();
    for (; i != 0; --i) o += ir::operand_words(o[0]);
    return o;
}
[[nodiscard]] constexpr bool has_token(const ir::cursor& c, tok t) noexcept {
    for (u32 i = 1; i < c.tokens(); ++i)
        if (c.token(i) == static_cast<u32>(t)) return true;
    return false;
}
/// `.volatile`, `.relaxed` and the like: may race.
[[nodiscard]] constexpr bool is_weak(const ir::cursor& c) noexcept {
    return !has_token(c, tok::volatile_) && !has_token(c, tok::relaxed) && !has_token(c, tok::acquire) &&
           !has_token(c, tok::release);
}
[[nodiscard]] constexpr tok token_at(const ir::cursor& c, u32 i) noexcept {
    return i < c.tokens() ? static_cast<tok>(c.token(i)) : tok::none;
}

}  // namespace ptxdsl::verify
