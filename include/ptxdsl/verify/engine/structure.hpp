// SPDX-License-Identifier: Apache-2.0
// Structure: which construct a record stands in, which threads run it, which labels belong to constructs; rows K01 to
// K03.
#pragma once

#include <ptxdsl/verify/engine/rounds.hpp>

namespace ptxdsl::verify {

/// What stands around the record at hand and comes back when a construct closes.
struct frame {
    ir::region kind{};  ///< if_begin, loop_begin, scope_begin or block_begin
    bool in_else = false;
    u32 threads = 0, together = 0, arm = 0, loop = 0, divergent = 0;
    u32 first_writes = 0;  ///< how many registers had been written before
    u32 then_writes = 0;   ///< the same at the end of the then-arm
    u32 first_turned = 0, then_turned = 0;
    u32 event = 0;
    u32 role = 0, block = 0;
    u32 masks = 0;  ///< how many there were before
    u32 learned = 0;
    bool decided = false;  ///< an if that is none in the round at hand
    bool split = false, never = false, one_lane = false;
    u32 condition = 0;  ///< of the if: predicate << 1 | negated
    block_set blocks{};
    u32 cases = 0;                                ///< `facts::cases_open`
    u32 others = 0;                               ///< threads of the else-arm, where the condition tells
    u32 first = 0, others_first = unknown_count;  ///< `facts::first_thread`; that of the else-arm
    u32 warps = 0, others_warps = 0;              ///< `facts::warps`; those of the else-arm
    bool warps_known = false;
};
/// What a role or single-thread note changed.
struct selection {
    u32 threads = 0, together = 0, role = 0, arm = 0, warps = 0, divergent = 0, region = 0, first = 0;
    bool single = false, one_of_block = false, split = false;
};

/// What the first look at the program found out about labels: see `look_at_labels`.
struct label_facts {
    enum class use : u8 { wild, structural, loop_exit };
    struct entry {
        use kind = use::wild;
        u32 loop = 0;  ///< for exits: the loop's id
        u32 scope = 0;
        bool here = false;  ///< placed in this function
    };
    struct scope {
        u32 begin = 0, end = 0, parent = 0;  ///< word offsets
    };
    ::ptxdsl::detail::dynarray<entry> labels;
    ::ptxdsl::detail::dynarray<scope> scopes;
};

/// Whether the branch behind this record is part of a construct: the region before it says what it does.
[[nodiscard]] constexpr bool announces_branch(const u32* before) noexcept {
    if (before == nullptr || ir::cursor{before}.kind() != ir::record::region) return false;
    const auto code = static_cast<ir::region>(ir::cursor{before}.code());
    return code == ir::region::if_begin || code == ir::region::break_ || code == ir::region::continue_;
}

template <class Facts>
class structure {
public:
    constexpr structure(Facts& f, const label_facts& labels) noexcept : f_(f), labels_(labels) {}

    constexpr void region(const ir::cursor& c) {
        switch (static_cast<ir::region>(c.code())) {
            case ir::region::if_begin: return begin_if(c);
            case ir::region::else_begin: return begin_else();
            case ir::region::if_end: return end_if();
            case ir::region::loop_begin: return begin_loop(c);
            case ir::region::loop_body:
            case ir::region::loop_step: return;
            case ir::region::loop_end: return end_loop(c);
            case ir::region::break_: return jump(c, event_kind::break_);
            case ir::region::continue_: return jump(c, event_kind::continue_);
            case ir::region::scope_begin: return open(ir::region::scope_begin);
            case ir::region::scope_end: close(ir::region::scope_begin); return;
            case ir::region::block_begin: return begin_block(c);
            case ir::region::block_end: return end_block(c);
        }
    }
    /// `role_begin`, `single_thread_begin`: the instructions that follow run in `threads` threads.
    constexpr void select(u32 threads, bool single) {
        selections_.push_back({f_.threads, f_.together, f_.role_now, f_.arm_now, f_.single_warps, f_.divergent,
                               f_.single_now, f_.first_thread, f_.in_single, f_.one_of_block, f_.split});
        if (f_.threads != threads) f_.first_thread = unknown_count;
        u32 chosen_from = f_.threads;
        f_.one_of_block = single && (f_.one_of_block || f_.threads == 1);
        f_.single_now = single ? f_.events.size() : 0;
        if (!frames_.empty() && frames_.back().kind == ir::region::if_begin) {
            const frame& fr = frames_.back();
            f_.arm_now = fr.arm;
            chosen_from = fr.threads;
            if (!fr.in_else && !fr.decided)
                f_.events[fr.event].flags |= single ? event_flag::selects | event_flag::one : event_flag::selects;
        }
        f_.single_warps = single_places(chosen_from);
        f_.split = f_.split || (single && chosen_from > 1);
        f_.threads = f_.together = threads;
        f_.in_single = single;
        if (single) return;
        f_.divergent = 0;                      // all threads of the role run it
        if (f_.roles[f_.role_now].inferred) {  // the author names what the condition said already
            f_.roles[f_.role_now].threads = threads;
            return;
        }
        f_.role_now = f_.roles.size();
        f_.roles.push_back({f_.never ? 0 : threads, f_.first_thread});
    }
    /// Out of how many groups of threads one each may be chosen: of warps, unless the condition tells.
    [[nodiscard]] constexpr u32 single_places(u32 chosen_from) const noexcept {
        if (frames_.empty()) return (chosen_from + 31) / 32;
        const frame& fr = frames_[frames_.size() - 1];
        const u32 id = fr.condition >> 1;
        const lane_form form = lane_form::of(f_.values[id]);
        const bool told = fr.kind == ir::region::if_begin && !fr.in_else && (fr.condition & 1u) == 0 &&
                          form.count == 1 && form.period() > 32 &&
                          (f_.regs[id] & (bit::lanes | bit::again)) == bit::lanes;
        return told && chosen_from > form.period() && chosen_from % form.period() == 0 ? chosen_from / form.period()
                                                                                       : (chosen_from + 31) / 32;
    }
    constexpr void unselect() {
        if (selections_.empty()) return malformed("a role or single-thread region ends that has not begun");
        const selection s = selections_.back();
        selections_.pop_back();
        f_.threads = s.threads, f_.together = s.together, f_.role_now = s.role, f_.arm_now = s.arm,
        f_.single_warps = s.warps, f_.divergent = s.divergent, f_.single_now = s.region, f_.in_single = s.single,
        f_.one_of_block = s.one_of_block, f_.first_thread = s.first;
        f_.split = s.split;
    }
    /// A branch no region announces: part of a construct, or one of the author's own.
    constexpr void branch(const ir::cursor& c, bool announced) {
        const u32* o = c.first_operand();
        if (c.operands() == 0 || ir::kind_of(o[0]) != ir::operand_kind::label) return;
        const u32 target = ir::payload_of(o[0]);
        if (target >= labels_.labels.size()) return;
        const label_facts::entry& to = labels_.labels[target];
        check_visible(c, target);
        if (announced || to.kind == label_facts::use::structural) return;
        if (to.kind == label_facts::use::loop_exit) return exit_loop(to.loop);
        // An author's own branch may lead anywhere: no loop can be proved endless any more.
        for (u32 l = f_.loop_now; l != 0; l = f_.loops[l].parent) f_.loops[l].leaves = true;
    }
    /// The list of labels of a `brx.idx`: all are visible where it stands.
    constexpr void table(const ir::cursor& c) {
        for (u32 i = 1; i < c.size() - 2; ++i)
            if (c.payload(i) < labels_.labels.size()) check_visible(c, c.payload(i));
    }
    /// Where each target leads is known from the labels; those of constructs are their arms.
    constexpr void branch_by_table(const ir::cursor& c) {
        const u32* const o = c.operands() < 2 ? c.w : operand_at(c, 1);
        if (c.operands() < 2 || ir::kind_of(o[0]) != ir::operand_kind::label) return;
        if (ir::payload_of(o[0]) < labels_.labels.size()) check_visible(c, ir::payload_of(o[0]));
        for (u32 l = f_.loop_now; f_.unstructured && l != 0; l = f_.loops[l].parent) f_.loops[l].leaves = true;
    }
    constexpr void finish() {
        if (!frames_.empty() && !f_.malformed)
            malformed(frames_.back().kind == ir::region::loop_begin ? "a loop is not closed"
                                                                    : "an if or a scope is not closed");
    }
    /// `trap`: the grid ends.
    constexpr void abort() noexcept {
        for (u32 l = f_.loop_now; l != 0; l = f_.loops[l].parent) f_.loops[l].leaves = true;
    }
    /// `ret`, `exit`: where only some threads leave, the numbers of threads behind are not known any more.
    constexpr void leave(u32 guard) noexcept {
        for (u32 l = f_.loop_now; l != 0; l = f_.loops[l].parent) f_.loops[l].leaves = true;
        if (guard == 0 && whole_blocks_leave())
            for (auto& frame : frames_) frame.blocks.ranks &= static_cast<u16>(~f_.blocks.ranks);
        else
            thin_blocks(0, guard);
        role& r = f_.roles[f_.role_now];
        r.exits = true;
        r.thinned = r.thinned || f_.in_single || differs(guard);
        if (f_.role_now != 0) f_.roles[0].thinned = true;
        if (guard == 0 && f_.warps_known && !f_.split && !f_.in_single && f_.loop_now == 0 && f_.is_certain() &&
            f_.blocks.all() && f_.followed_warps() != 0)
            f_.warps_gone |= f_.warps;
        for (auto& frame : frames_) frame.threads = frame.together = 0, frame.warps_known = false;
        if (guard != 0) f_.warps_known = false;
        for (auto& selection : selections_) selection.threads = selection.together = 0;
        if (guard != 0) f_.threads = f_.together = 0;
        f_.some_left = f_.some_left || guard != 0 || !frames_.empty();
    }

private:
    /// Some blocks of the cluster leave, with all their threads and whatever the data are.
    [[nodiscard]] constexpr bool whole_blocks_leave() const noexcept {
        const u32 all = all_ranks(f_), ranks = f_.blocks.ranks & all;
        return f_.blocks.sure && ranks != 0 && ranks != all && !f_.in_single && f_.role_now == 0 && f_.loop_now == 0 &&
               (f_.divergent & bit::varies) == 0 && f_.is_certain();
    }
    /// Whether some of the threads that are here follow the guard and others do not, as far as is known.
    [[nodiscard]] constexpr bool differs(u32 guard) const noexcept {
        const u32 how = f_.divergent | (guard != 0 ? f_.regs[(guard >> 1) - 1] : 0);
        return (how & bit::varies) != 0;
    }
    /// The frames inside a loop begin here.
    [[nodiscard]] constexpr u32 inside_loop(u32 id) const noexcept {
        u32 i = frames_.size();
        while (i != 0 && (frames_[i - 1].kind != ir::region::loop_begin || f_.events[frames_[i - 1].event].a != id))
            --i;
        return i;
    }
    /// Some blocks of the cluster may not come to what follows in the frames from `outer` on.
    constexpr void unsure_of_blocks(u32 outer) noexcept {
        f_.blocks.sure = false;
        for (u32 i = outer; i < frames_.size(); ++i) frames_[i].blocks.sure = false;
    }
    /// A break or continue that some threads take: who runs what follows in the frames from `outer` on is not known.
    constexpr void thin_out(u32 outer, u32 guard) noexcept {
        bool some = differs(guard);
        const bool by_index = guard == 0 || (f_.regs[(guard >> 1) - 1] & bit::by_index) != 0;
        for (u32 i = outer; i < frames_.size() && !some; ++i)
            some = frames_[i].kind == ir::region::if_begin && !frames_[i].decided &&
                   (f_.events[frames_[i].event].flags & event_flag::selects) != 0;
        if (!some) return;
        f_.divergent |= bit::varies | diverged_in_loop;
        if (!f_.in_single) f_.threads = f_.together = 0;
        if (by_index) f_.warps_known = false;
        for (u32 i = outer; i < frames_.size(); ++i) {
            frames_[i].warps_known = frames_[i].warps_known && !by_index;
            frames_[i].divergent |= bit::varies | diverged_in_loop;
            frames_[i].threads = frames_[i].together = 0;
        }
    }
    /// The same for the blocks of the cluster.
    constexpr void thin_blocks(u32 outer, u32 guard) noexcept {
        const block_set b = blocks_here(f_, guard);
        const block_set around = outer < frames_.size() ? frames_[outer].blocks : f_.blocks;
        if (!b.sure || b.ranks != (around.ranks & all_ranks(f_))) unsure_of_blocks(outer);
    }
    constexpr void malformed(string_view what) {
        if (!f_.malformed) f_.out.add(catalogue::K01_structure, f_.where).with(what);
        f_.malformed = true;
    }
    constexpr void open(ir::region kind) {
        frame fr;
        fr.kind = kind;
        fr.threads = f_.threads, fr.together = f_.together, fr.role = f_.role_now, fr.arm = f_.arm_now,
        fr.loop = f_.loop_now, fr.divergent = f_.divergent, fr.split = f_.split, fr.one_lane = f_.one_lane,
        fr.masks = f_.masks.size();
        fr.block = f_.block_now;
        fr.blocks = f_.blocks, fr.never = f_.never, fr.cases = f_.cases_open;
        fr.first = f_.first_thread;
        fr.warps = f_.warps, fr.warps_known = f_.warps_known;
        fr.first_writes = f_.first_writes.size();
        fr.first_turned = f_.turned.size();
        fr.event = f_.events.size(), fr.learned = f_.learned.size();
        frames_.push_back(fr);
    }
    constexpr bool close(ir::region kind) {
        if (frames_.empty() || frames_.back().kind != kind) {
            malformed(kind == ir::region::loop_begin ? "a loop ends that has not begun"
                                                     : "an if or a scope ends that has not begun");
            return false;
        }
        const frame& fr = frames_.back();
        f_.threads = fr.threads, f_.together = fr.together, f_.role_now = fr.role, f_.arm_now = fr.arm,
        f_.loop_now = fr.loop, f_.divergent = fr.divergent, f_.split = fr.split, f_.one_lane = fr.one_lane,
        f_.block_now = fr.block;
        f_.first_thread = fr.first;
        f_.blocks = fr.blocks, f_.never = fr.never, f_.cases_open = fr.cases;
        f_.warps = fr.warps, f_.warps_known = fr.warps_known;
        frames_.pop_back();
        return true;
    }

    constexpr void begin_if(const ir::cursor& c) {
        const u32 predicate = c.payload(0) >> 1;
        if (!f_.never) take_deciding(f_, predicate);
        open(ir::region::if_begin);
        frames_.back().condition = c.payload(0);
        f_.one_lane = f_.whole_block() && (c.payload(0) & 1u) == 0 && is_one_lane(predicate);
        bool holds = false;
        if (!f_.never && is_decided(f_, predicate, (c.payload(0) & 1u) != 0, holds)) {
            frames_.back().decided = true, f_.never = !holds, f_.one_lane = frames_.back().one_lane;
            return;
        }
        f_.push(event_kind::if_begin);
        ++f_.ifs_open;
        f_.conditions.push_back({c.payload(0), ++f_.arms_begun});
        if ((f_.regs[predicate] & bit::varies & ~f_.divergent) != 0)
            f_.divergent |= bit::varies | (f_.loop_now != 0 ? diverged_in_loop : 0);
        const bool by_index = (f_.regs[predicate] & bit::by_index) != 0;
        f_.events[frames_.back().event].flags |= by_index && (c.payload(0) & 1u) == 0 ? event_flag::certain
                                                 : by_index                           ? u8{0}
                                                                                      : event_flag::cases;
        f_.split = f_.split || splits(predicate);
        f_.cases_open += f_.is_of_position(predicate) ? 0 : 1;
        const u32 chosen = threads_chosen(predicate, (c.payload(0) & 1u) != 0);
        f_.threads = 0, f_.first_thread = unknown_count;
        if ((f_.divergent & bit::varies) != 0 && !f_.in_single) f_.together = 0;
        enter_arm();
        select_warps(predicate, (c.payload(0) & 1u) != 0);
        count_lanes(predicate, (c.payload(0) & 1u) != 0);
        count_warps(predicate);
        choose_blocks(predicate, (c.payload(0) & 1u) != 0);
        const u32 block = one_block_of(f_.blocks_of(predicate, (c.payload(0) & 1u) != 0));
        if (block != 0) enter_block(block);
        if (chosen != 0 && !f_.never) {
            frame& fr = frames_.back();
            fr.others = fr.threads - chosen;
            const bool at_front = lane_form::of(f_.values[predicate]).first_values != ((c.payload(0) & 1u) != 0);
            f_.first_thread = at_front ? 0 : fr.others;
            fr.others_first = at_front ? chosen : 0;
            f_.events[fr.event].flags |=
                event_flag::certain | event_flag::selects | (chosen == 1 ? event_flag::one : u8{0});
            infer_role(chosen, fr.divergent);
        }
    }
    /// The arm at hand runs in those blocks of the cluster for which a condition holds; perhaps in none.
    constexpr void choose_blocks(u32 predicate, bool negated) noexcept {
        f_.never = f_.never || (!f_.unstructured && holds_never(f_, predicate, negated));
        f_.blocks = f_.blocks.both(f_.blocks_of(predicate, negated));
    }
    /// Rank + 1 of the only block; 0: there are others, or it is not sure.
    [[nodiscard]] constexpr u32 one_block_of(const block_set& b) const noexcept {
        const u32 all = all_ranks(f_), ranks = b.ranks & all;
        if (!b.sure || ranks == 0 || ranks == all || (ranks & (ranks - 1)) != 0) return 0;
        u32 rank = 0;
        while (ranks >> rank != 1) ++rank;
        return rank + 1;
    }
    /// One block of the cluster takes the arm, and does so each time: no case distinction in that block.
    constexpr void enter_block(u32 block) noexcept {
        const frame& fr = frames_.back();
        f_.block_now = block;
        f_.arm_now = fr.arm;
        f_.events[fr.event].a = block;
    }
    constexpr void enter_arm() {
        f_.arms.push_back(frames_.back().arm);
        f_.arm_now = f_.arms.size();
    }
    [[nodiscard]] constexpr bool splits(u32 predicate) const noexcept {
        return (f_.regs[predicate] & (bit::lanes | bit::again)) == bit::lanes &&
               lane_form::of(f_.values[predicate]).splits_a_warp(f_.m.attrs.threads());
    }
    /// Threads of the block for which a comparison of their index holds (or does not), when some are left for the
    /// else-arm; 0: unknown.
    [[nodiscard]] constexpr u32 threads_chosen(u32 predicate, bool negated) const noexcept {
        if ((f_.regs[predicate] & (bit::lanes | bit::again)) != bit::lanes || f_.role_now != 0 || f_.in_single ||
            f_.threads == 0 || f_.threads != f_.roles[0].threads || constructs() != 1)
            return 0;
        const lane_form form = lane_form::of(f_.values[predicate]);
        if ((!form.first_values && !form.last_values) || form.period() < 1024) return 0;
        const u32 first = (form.first_values ? form.count : (1u << form.width) - form.count) << form.shift;
        if (first >= f_.threads) return 0;
        return form.first_values != negated ? first : f_.threads - first;
    }
    /// Which warps come here: those for which a comparison of their index can hold.
    constexpr void select_warps(u32 predicate, bool negated) noexcept {
        const u32 here = f_.warps;
        const u32 hold = warps_that_hold(f_, predicate, negated), fail = warps_that_hold(f_, predicate, !negated);
        f_.warps &= hold, frames_.back().others_warps = here & fail;
        const bool apart = hold != ~0u || fail != ~0u;
        if (!apart && (f_.regs[predicate] & bit::varies) != 0) f_.warps_known = false;
        if (f_.warps_gone != 0 && (f_.warps & ~f_.warps_gone) == 0) f_.never = true;
        if (f_.warps_known && (here & hold & ~fail) != 0 && (here & fail & ~hold) != 0 && f_.arm_now <= 64)
            f_.index_arms |= u64{1} << (f_.arm_now - 1);
    }
    [[nodiscard]] constexpr bool is_one_lane(u32 predicate) const noexcept {
        const lane_form form = lane_form::of(f_.values[predicate]);
        return (f_.regs[predicate] & (bit::lanes | bit::again)) == bit::lanes && form.period() == 32 && form.count == 1;
    }
    /// Lanes that a comparison of their number chooses from each warp alike.
    constexpr void count_lanes(u32 predicate, bool negated) noexcept {
        const u32 around = frames_.back().threads;
        const lane_form form = lane_form::of(f_.values[predicate]);
        if ((f_.regs[predicate] & (bit::lanes | bit::again)) != bit::lanes || f_.in_single || around == 0 ||
            around % 32 != 0 || form.count == 0 || form.period() > 32)
            return;
        const u32 values = negated ? (1u << form.width) - form.count : form.count;
        f_.threads = f_.together = around / form.period() * (values << form.shift);
    }
    /// Threads of the warps that come here, where a role's condition on their index parts whole warps.
    constexpr void count_warps(u32 predicate) noexcept {
        if (f_.threads != 0 || f_.in_single || f_.role_now == 0 || !f_.warps_known || f_.some_left ||
            f_.roles[0].threads % 32 != 0 || f_.followed_warps() == 0 || !f_.is_certain() ||
            !parts_warps(f_, (predicate + 1) << 1))
            return;
        for (u32 w = f_.warps; w != 0; w &= w - 1) f_.threads += 32;
        f_.together = f_.threads;
    }
    /// Ifs and loops around. (A block changes nothing before a thread leaves it.)
    [[nodiscard]] constexpr u32 constructs() const noexcept {
        u32 n = 0;
        for (const frame& fr : frames_) n += fr.kind == ir::region::block_begin || fr.decided ? 0 : 1;
        return n;
    }
    /// The arm at hand is a role of `threads` threads.
    constexpr void infer_role(u32 threads, u32 divergent) {
        f_.threads = f_.together = threads;
        f_.arm_now = frames_.back().arm;
        f_.divergent = divergent;
        f_.role_now = f_.roles.size();
        f_.roles.push_back({threads, f_.first_thread});
        f_.roles.back().inferred = true;
    }
    /// Registers first written in the then-arm are unwritten again in the else-arm (outside loops, where nothing comes
    /// back).
    /// A wait inside the arm that ends has not happened on the other way.
    constexpr void forget_grid_wait() noexcept {
        if (f_.grid_wait > f_.ifs_open) f_.grid_wait = 0;
    }
    constexpr void begin_else() {
        if (frames_.empty() || frames_.back().kind != ir::region::if_begin || frames_.back().in_else)
            return malformed("else without its if");
        frame& fr = frames_.back();
        fr.in_else = true;
        if (fr.decided) {
            f_.never = !f_.never;
            return;
        }
        forget_from(f_, fr.learned);
        f_.one_lane = false;
        f_.masks.truncate(fr.masks);  // the lanes of this arm may execute the same
        raise_lone_masks();
        forget_grid_wait();
        f_.push(event_kind::else_begin);
        if (!f_.conditions.empty()) f_.conditions.back() = {fr.condition ^ 1u, ++f_.arms_begun};
        enter_arm();
        f_.block_now = fr.block;
        f_.blocks = fr.blocks, f_.never = fr.never;
        choose_blocks(fr.condition >> 1, (fr.condition & 1u) == 0);
        f_.threads = 0;
        f_.together = (f_.divergent & bit::varies) != 0 && !f_.in_single ? 0 : fr.together;
        f_.role_now = fr.role;
        f_.first_thread = fr.others_first;
        f_.warps = fr.others_warps;
        if (fr.others != 0 && !f_.never) infer_role(fr.others, fr.divergent);
        if (f_.loop_now != 0) return;
        for (u32 i = fr.first_writes; i < f_.first_writes.size(); ++i) f_.regs[f_.first_writes[i]] |= bit::hidden;
        fr.then_writes = f_.first_writes.size();
        for (u32 i = fr.first_turned; i < f_.turned.size(); ++i) f_.regs[f_.turned[i]] &= ~bit::varies;
        fr.then_turned = f_.turned.size();
    }
    constexpr void end_if() {
        if (!frames_.empty() && frames_.back().decided) {
            close(ir::region::if_begin);
            return;
        }
        if (!frames_.empty()) forget_from(f_, frames_.back().learned);
        if (!frames_.empty() && frames_.back().in_else && f_.loop_now == 0)
            for (u32 i = frames_.back().first_writes; i < frames_.back().then_writes; ++i)
                f_.regs[f_.first_writes[i]] &= ~bit::hidden;
        if (!frames_.empty() && frames_.back().in_else && f_.loop_now == 0)
            for (u32 i = frames_.back().first_turned; i < frames_.back().then_turned; ++i)
                f_.regs[f_.turned[i]] |= bit::varies;
        const bool splits_here = !frames_.empty() && f_.split && !frames_.back().split;
        const u32 masks = frames_.empty() ? 0 : frames_.back().masks;
        const bool has_else = !frames_.empty() && frames_.back().in_else;
        if (!close(ir::region::if_begin)) return;
        raise_lone_masks();
        forget_grid_wait();
        --f_.ifs_open;
        if (!f_.conditions.empty()) f_.conditions.pop_back();
        if (splits_here) settle_masks(masks, has_else);
        f_.push(event_kind::if_end);
    }

    /// H03: nobody outside the arm executes what its lanes wait for.
    constexpr void settle_masks(u32 from, bool has_else) {
        for (u32 i = from; i < f_.masks.size() && !has_else; ++i) f_.lone_masks.push_back({f_.masks[i], f_.ifs_open});
        f_.masks.truncate(from);
    }
    /// What all lanes of an arm come to is now what stands behind its if.
    constexpr void raise_lone_masks() {
        const u32 outside = f_.ifs_open - 1;
        for (u32 i = f_.lone_masks.size(); i > 0 && f_.lone_masks[i - 1].depth > outside; --i)
            f_.lone_masks[i - 1].depth = outside;
    }

    constexpr void begin_loop(const ir::cursor& c) {
        open(ir::region::loop_begin);
        loop l;
        l.id = c.payload(0), l.trips = c.payload(1), l.parent = f_.loop_now, l.where = f_.where, l.ifs = f_.ifs_open;
        l.cases = f_.cases_open, l.ranks = f_.blocks.ranks;
        if (const ir::counting counts = c.counts(); counts.counter != unknown_count) {
            l.counter = counts.counter + 1, l.counts_signed = counts.is_signed != 0;
            l.step_known = ir::kind_of(counts.step) == ir::operand_kind::small_int;
            if (l.step_known) l.step = ir::small_value(counts.step);
        }
        f_.loop_now = f_.loops.size();
        f_.push(event_kind::loop_begin, l.id, l.trips);
        f_.loops.push_back(l);
    }
    /// A loop that only waits: another round changes nothing, so the second pass walks it once.
    constexpr void note_spin(loop& l) noexcept {
        u32 i = f_.events.size();
        for (; i != 0 && f_.events[i - 1].kind != event_kind::loop_begin; --i) {
            const event_kind k = f_.events[i - 1].kind;
            if (k != event_kind::ring_wait && k != event_kind::barrier_use && k != event_kind::barrier_wait &&
                k != event_kind::rendezvous && k != event_kind::converge && k != event_kind::break_)
                return;
        }
        if (i != 0) f_.events[i - 1].b = 1, l.spins = true;
    }
    constexpr void end_loop(const ir::cursor& c) {
        const u32 at = f_.loop_now;
        if (!frames_.empty()) forget_from(f_, frames_.back().learned);
        if (!close(ir::region::loop_begin)) return;
        loop& l = f_.loops[at];
        if (l.id != c.payload(0)) return malformed("loops close in another order than they open");
        note_spin(l);
        f_.push(event_kind::loop_end, l.id);
        if (l.parent == 0 && !f_.unstructured && !f_.unproved_uses.empty()) settle_unproved(f_);
        check_end(l);
    }
    constexpr void begin_block(const ir::cursor& c) {
        open(ir::region::block_begin);
        f_.has_blocks = true;
        f_.push(event_kind::block_begin, c.payload(0));
    }
    constexpr void end_block(const ir::cursor& c) {
        if (close(ir::region::block_begin)) f_.push(event_kind::block_end, c.payload(0));
    }
    /// Leaves a block, and the loops in it; the threads that stay are not counted any more. False: it is no block.
    constexpr bool leave_block(u32 id, u32 guard) {
        for (u32 i = frames_.size(); i > 0; --i) {
            const frame& fr = frames_[i - 1];
            if (fr.kind != ir::region::block_begin || f_.events[fr.event].a != id) continue;
            for (u32 l = f_.loop_now; l != fr.loop; l = f_.loops[l].parent) f_.loops[l].leaves = true;
            f_.push(event_kind::break_, id, 0, guard != 0 ? event_flag::guarded : u8{0});
            if (guard != 0) f_.threads = 0;
            thin_out(i, guard);
            thin_blocks(i, guard);
            return true;
        }
        return false;
    }
    /// K03.
    constexpr void check_end(const loop& l) {
        const bool stuck = l.step_known && (l.step == 0 || (l.step < 0 && l.counts_signed));
        if (stuck && !l.leaves)
            f_.out.add(catalogue::K03_step, l.where).with(l.step);
        else if (l.trips == 0 && !stuck)
            f_.out.add(catalogue::K03_no_round, l.where);
        else if (!l.leaves && l.counter == 0 && !f_.opaque && !f_.unstructured)
            f_.out.add(catalogue::K03_no_end, l.where);
    }
    constexpr void jump(const ir::cursor& c, event_kind kind) {
        const u32 guard = c.payload(1);
        if (f_.never) return abort();
        if (guard != 0) take_deciding(f_, (guard >> 1) - 1);
        if (leave_block(c.payload(0), guard)) return;
        u32 l = f_.loop_now;
        for (; l != 0 && f_.loops[l].id != c.payload(0); l = f_.loops[l].parent) f_.loops[l].leaves = true;
        for (u32 i = f_.loop_now; i != 0 && i != f_.loops[l].parent; i = f_.loops[i].parent) f_.loops[i].skips = true;
        if (l == 0)
            return malformed(kind == event_kind::break_ ? "break outside its loop" : "continue outside its loop");
        if (kind == event_kind::break_) f_.loops[l].leaves = true;
        if (kind == event_kind::break_ && guard != 0) leave_poll(guard);
        f_.push(kind, c.payload(0), 0, guard != 0 ? event_flag::guarded : u8{0});
        thin_out(inside_loop(c.payload(0)), guard);
        thin_blocks(inside_loop(c.payload(0)), guard);
    }
    /// E14: the loop that ends here has loaded a flag until it changed.
    constexpr void leave_poll(u32 guard) {
        for (u32 i = 0; i < f_.polls.size(); ++i) {
            auto& flag = f_.polls[i];
            if (flag.predicate != guard >> 1 || flag.unequal != ((guard & 1u) == 0) || flag.loop != f_.loop_now ||
                (f_.divergent & bit::varies) != 0 || f_.in_single)
                continue;
            flag.polled = true, flag.arm = f_.arm_now, flag.role = f_.role_now;
            f_.push(event_kind::flag_polled, i);
        }
    }
    /// The test at the top of a counted loop is no way out by itself (K03); a branch past an outer loop is.
    constexpr void exit_loop(u32 id) {
        const bool counted = f_.loops[f_.loop_now].id == id && f_.loops[f_.loop_now].counter != 0;
        for (u32 l = f_.loop_now; l != 0 && !counted; l = f_.loops[l].parent) {
            f_.loops[l].leaves = true;
            if (f_.loops[l].id == id) break;
        }
        f_.push(event_kind::break_, id, 0, event_flag::guarded);
        thin_out(inside_loop(id), f_.guard);
        if (!counted) thin_blocks(inside_loop(id), f_.guard);  // else the body is taken to run
        if (f_.loops[f_.loop_now].id == id && f_.loops[f_.loop_now].trips == 0 && !f_.unstructured) f_.never = true;
    }

    /// K02: a label inside `{ … }` is not visible outside, nor outside of its function.
    constexpr void check_visible(const ir::cursor& c, u32 target) {
        const label_facts::entry& to = labels_.labels[target];
        if (!to.here && f_.m.labels[target].placed != 0)
            f_.out.add(catalogue::K02_other_function, f_.where).with(f_.m.text(f_.m.labels[target].id));
        const u32 scope = to.scope;
        const auto at = static_cast<u32>(c.w - f_.m.words);
        if (scope == 0 || (labels_.scopes[scope].begin <= at && at < labels_.scopes[scope].end)) return;
        f_.out.add(catalogue::K02_scope, f_.where).with(f_.m.text(f_.m.labels[target].id));
    }

    Facts& f_;
    const label_facts& labels_;
    ::ptxdsl::detail::dynarray<frame> frames_;
    ::ptxdsl::detail::dynarray<selection> selections_;
};

}  // namespace ptxdsl::verify
