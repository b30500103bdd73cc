// SPDX-License-Identifier: Apache-2.0
// mbarriers: arrivals and bytes a phase receives against what it was initialised for (E01, E02, E04 to E06).
//
// What is provable: a barrier's count and the arrivals of known numbers of threads at places that run unconditionally.
// Which of several places serve the same phase is not known, so a count that *some* choice of them makes is accepted.
#pragma once

#include <ptxdsl/verify/knowledge/threads.hpp>

namespace ptxdsl::verify {

inline constexpr u32 max_count = (1u << 20) - 1;

// ---- states of arrivals: E09
// ------------------------------------------------------------------------------------------------------------

/// `mbarrier.arrive state, [bar]` of a barrier that is known.
template <class Facts, class Cursor>
constexpr void keep_token(Facts& f, const Cursor& c) {
    const u32 head = c.first_operand()[0];
    if (!f.places[0].exact || ir::kind_of(head) != ir::operand_kind::reg ||
        (f.regs[ir::payload_of(head)] & bit::again) != 0)
        return;
    f.tokens.push_back({ir::payload_of(head), f.places[0].offset, f.where});
}
/// E09 of the program: what the types cannot tell is which stage of a ring a state belongs to.
template <class Facts, class Cursor>
constexpr void check_token(Facts& f, const Cursor& c) {
    if (f.tokens.empty() || has_token(c, tok::parity) || c.operands() < 3 || !f.places[0].exact) return;
    for (const auto& t : f.tokens) {
        if (operand_at(c, 2)[0] != t.reg || t.offset == f.places[0].offset) continue;
        f.out.add(catalogue::E09_other_barrier, f.where).at(f.source(t.where));
    }
}

namespace site_flag {
inline constexpr u8 remote = 1;       ///< arrives at another block's barrier
inline constexpr u8 warps = 2;        ///< whole warps come here
inline constexpr u8 loose = 4;        ///< one thread of an unknown number of warps
inline constexpr u8 several = 16;     ///< arrives in several blocks: one block of the cluster does so, or each
inline constexpr u8 commit = 8;       ///< arrives when tcgen05 operations are done
inline constexpr u8 apart = 32;       ///< not all threads do it to the same barrier
inline constexpr u8 leader = 64;      ///< a copy onto the barrier of one block of the cluster
inline constexpr u8 multicast = 128;  ///< a copy into several blocks
}  // namespace site_flag

template <class Facts>
constexpr void add_site(Facts& f, site_kind kind, u32 barrier, u32 stage, u32 amount, u32 extra, u8 flags,
                        bool guarded) {
    site s;
    s.kind = kind, s.flags = flags, s.barrier = barrier, s.stage = stage, s.amount = amount, s.extra = extra;
    if (barrier < f.m.n.allocations && f.m.allocations[barrier].stages <= 1) s.stage = 0;
    s.threads = f.threads, s.together = f.together, s.warps = f.in_single ? f.single_warps : 0, s.role = f.role_now,
    s.loop = f.loop_now, s.where = f.where;
    s.arm = f.arm_now, s.guarded = guarded, s.sure = f.blocks.all();
    if (f.in_single && f.single_warps == 0) s.flags |= site_flag::loose;
    if (!f.in_single && !f.split) s.flags |= site_flag::warps;
    s.single = f.single_now, s.block = f.block_now, s.meetings = f.meetings, s.rewrites = f.rewrites;
    s.many_singles = f.in_single && !f.one_of_block && f.single_warps != 1;
    f.sites.push_back(s);
}

/// E02, E06: single numbers.
template <class Facts>
constexpr void check_numbers(Facts& f, const site& s) {
    if (s.kind == site_kind::init && (s.amount == 0 || (s.amount > max_count && s.amount != unknown_count)))
        f.out.add(catalogue::E02_count_of, s.where).with(f.name_of(s.barrier)).with(s.amount).with(max_count);
    if (s.kind == site_kind::expect && s.amount != unknown_count && s.amount > max_count)
        f.out.add(catalogue::E06_bytes, s.where).with(f.name_of(s.barrier)).with(s.amount).with(max_count);
}

/// All that is done to one stage of one barrier (or to all stages together, when some stage is not constant).
template <class Facts>
class ledger {
public:
    constexpr ledger(Facts& f, u32 barrier, u32 stage) noexcept
        : f_(f), barrier_(barrier), stage_(stage), no_arity_((f.no_arity >> (barrier & 31u) & 1u) != 0) {}

    constexpr void check() {
        find_waits();
        for (const site& s : f_.sites) {
            if (!is_mine(s)) continue;
            switch (s.kind) {
                case site_kind::init: init(s); break;
                case site_kind::arrive: arrive(s); break;
                case site_kind::wait:
                    if (s.parity == walker_code::constant && s.stage == stage_) first_wait_ = &s;
                    wait(s);
                    break;
                case site_kind::uncounted: break;
                default: move(s); break;
            }
        }
        const u32 before = f_.out.findings.size();
        if (count_ != 0 && !no_arity_ && !f_.arrivals_unknown) {
            check_arrivals(), check_parity();
            if (stage_ != unknown_count && in_a_row()) check_row(before != f_.out.findings.size());
        }
        note_whole();
        if (before == f_.out.findings.size()) note_parts();
        if (tallies_ != 0 && !f_.bytes_unknown) check_bytes();
    }

private:
    /// In a loop that waits for nothing a thread may arrive any number of times for one phase; as well in a loop
    /// inside all those that wait for this barrier.
    [[nodiscard]] constexpr bool repeats(const site& s) const noexcept {
        if (s.loop == 0) return false;
        if (walker_code::is_walker(s.slot) && f_.walkers[s.slot - 1].reg + 1 == f_.loops[s.loop].counter) return false;
        if ((f_.loops[s.loop].paced >> (s.role < 31 ? s.role : 31) & 1u) == 0 && !waits_beside(s)) return true;
        return waits_ && depth(s.loop) > deepest_wait_;
    }
    /// Whether each iteration that arrives here waits on some mbarrier as well: in the same arm, or around it.
    [[nodiscard]] constexpr bool waits_beside(const site& s) const noexcept {
        for (const site& w : f_.sites)
            if (w.kind == site_kind::wait && w.role == s.role && w.loop == s.loop && f_.arm_lies_in(s.arm, w.arm))
                return true;
        return false;
    }
    /// Whether an iteration that waits at `w` and arrives at `s` needs the phase that earlier arrivals at `s` end: they
    /// are one barrier's, a pipeline's, or those who wait for `s` answer each time, once, for `w`.
    [[nodiscard]] constexpr bool answers(const site& w, const site& s) const noexcept {
        if (w.barrier == s.barrier) return true;
        for (const ring& r : f_.rings)
            if ((r.full == w.barrier && r.empty == s.barrier) || (r.empty == w.barrier && r.full == s.barrier))
                return true;
        for (const site& x : f_.sites) {
            if (x.kind != site_kind::wait || x.barrier != s.barrier) continue;
            u32 answering = 0, elsewhere = 0;
            for (const site& y : f_.sites)
                if (y.kind == site_kind::arrive && y.barrier == w.barrier && y.role == x.role)
                    ++(y.loop == x.loop ? answering : elsewhere);
            if (answering == 1 && elsewhere == 0) return true;
        }
        return false;
    }
    /// Whether two walkers are known to go through the stages in step.
    [[nodiscard]] constexpr bool in_step(u32 a, u32 b) const noexcept {
        if (a == b) return a != 0;
        if (!walker_code::is_walker(a) || !walker_code::is_walker(b)) return false;
        const walker &x = f_.walkers[a - 1], &y = f_.walkers[b - 1];
        return x.copy_of == b || y.copy_of == a || (x.limit != 0 && x.limit == y.limit && !x.odd && !y.odd);
    }
    /// Several iterations may make one phase, unless each waits for the stage it then arrives at.
    [[nodiscard]] constexpr bool may_take_rounds(const site& s) const noexcept {
        if (!goes_on(s.loop)) return false;
        for (const site& w : f_.sites) {
            if (w.kind != site_kind::wait || w.role != s.role || !in_step(w.slot, s.slot) || !answers(w, s)) continue;
            u32 l = w.loop;
            while (l != s.loop && l != 0) l = f_.loops[l].parent;
            if (l != 0) return false;
        }
        return true;
    }
    [[nodiscard]] constexpr u32 depth(u32 loop) const noexcept {
        u32 n = 0;
        for (; loop != 0; loop = f_.loops[loop].parent) ++n;
        return n;
    }
    /// How often a wait happens: the loop directly around it may be its own, which spins.
    constexpr void find_waits() noexcept {
        for (const site& s : f_.sites) {
            if (s.kind != site_kind::wait || !is_mine(s)) continue;
            waiting_block_ = waits_ && waiting_block_ != s.block ? 0 : s.block;
            waits_ = true;
            const u32 spin = s.loop != 0 && !s.spins && f_.loops[s.loop].counter == 0 ? 1 : 0;
            const u32 d = depth(s.loop) - spin;
            if (d > deepest_wait_) deepest_wait_ = d;
        }
    }
    [[nodiscard]] constexpr bool is_mine(const site& s) const noexcept {
        return s.barrier == barrier_ && (stage_ == unknown_count || s.stage == stage_ || s.stage == unknown_count);
    }
    [[nodiscard]] constexpr bool goes_on(u32 l) const noexcept { return l != 0 && f_.loops[l].trips > 1; }
    [[nodiscard]] constexpr bool goes_on(const site& s) const noexcept {
        if (goes_on(s.loop) || f_.counted.empty()) return goes_on(s.loop);
        u32 rounds = 0;
        for (const site& x : f_.sites) rounds += is_mine(x) && x.kind == s.kind && x.where == s.where ? 1 : 0;
        return rounds > 1;
    }
    /// All that arrives is one statement, which ends a phase each time.
    [[nodiscard]] constexpr bool one_statement() const noexcept {
        for (u32 i = 0; i < arrivals_; ++i)
            if (amounts_[i] != count_) return false;
        for (const site& s : f_.sites)
            if (is_mine(s) && s.kind == site_kind::arrive && s.where != arrival_->where) return false;
        return arrivals_ != 0;
    }
    constexpr void wait(const site& s) noexcept {
        waits_ = true;
        if (parity_ != 2 && parity_ != s.amount) other_parity_ = true;
        parity_ = s.amount;
        if (wait_ == nullptr && goes_on(s)) wait_ = &s;
    }
    constexpr void init(const site& s) noexcept {
        if (s.loop != 0) other_parity_ = true;  // the phases begin anew
        if ((count_ != 0 && count_ != s.amount) || s.amount == unknown_count || s.amount == 0) no_arity_ = true;
        count_ = s.amount, init_ = &s;
    }
    [[nodiscard]] constexpr u32 threads_of(const site& s) const {
        return s.threads != s.together && s.together != 1 && takes_back(f_) ? s.threads : s.together;
    }
    /// Threads of this block that arrive, 0: unknown. A guard must hold for a known part of them, and an arrival at
    /// other blocks must reach each of them alike: thread i of those that arrive goes to block i.
    [[nodiscard]] constexpr u32 threads_that_arrive(const site& s) {
        const bool remote = (s.flags & site_flag::remote) != 0 && f_.mapped_lanes != own_block;
        if (remote && !f_.m.attrs.cluster.given()) return 0;  // how many blocks arrive is for the launch to say
        const u32 together = threads_of(s);
        if (remote && f_.mapped_lanes == one_block) return s.guarded || s.arm != 0 ? 0 : together;
        if (!s.guarded && !remote) return together;
        const lane_form form = lane_form::of(s.lanes);
        const bool whole = form.period() <= 32 || (form.period() <= 128 && f_.roles[s.role].multiplies);
        if (form.count == 0 || together == 0 || together % form.period() != 0 || !whole) return 0;
        if (remote && f_.mapped_lanes == unknown_count && f_.mapped_by != 0 && f_.mapped_by != unknown_count) {
            if (by_rank_.key != s.lanes + 1)
                by_rank_ = {s.lanes + 1,
                            arrivals_by_rank(f_, f_.mapped_by - 1, form, f_.roles[s.role].first, together)};
            return by_rank_.value;
        }
        if (remote && (f_.mapped_lanes == unknown_count || f_.mapped_lanes == 0 || !form.first_values ||
                       !form.same_value(lane_form::of(f_.mapped_lanes)) || form.count != f_.m.attrs.cluster_size()))
            return 0;
        return together / form.period() * form.count << form.shift;
    }
    /// Arrivals of each warpgroup (or warp) that comes here, however many do; 0: not known.
    [[nodiscard]] constexpr u32 least_of(const site& s) const noexcept {
        const lane_form form = lane_form::of(s.lanes);
        if (!s.guarded || (s.flags & site_flag::warps) == 0 || form.count == 0 || s.amount == unknown_count ||
            ((s.flags & site_flag::remote) != 0 && f_.may_have_peers()))
            return 0;
        const bool whole = form.period() <= 32 || (form.period() <= 128 && f_.roles[s.role].multiplies && s.arm == 0);
        return whole ? s.amount * (form.count << form.shift) : 0;
    }
    constexpr void arrive(const site& s) {
        if (const u32 least = least_of(s); least < least_) least_ = least;
        const u32 threads = s.amount == 0 ? 1 : threads_that_arrive(s);
        if (threads == 0 || s.amount == unknown_count || repeats(s) || arrivals_ == max_arrivals ||
            (s.flags & site_flag::apart) != 0) {
            no_arity_ = true;
            return;
        }
        loose_ = loose_ || (s.flags & site_flag::loose) != 0;
        // One block of the cluster may do it, or each.
        const bool each = s.block == 0 && ((s.flags & site_flag::several) != 0 ||
                                           ((s.flags & site_flag::remote) != 0 && f_.mapped_lanes == one_block));
        // Threads of all blocks arrive at this one.
        const bool gather = waits_ && s.to_block != 0 && s.sure && s.block == 0 && !s.guarded && s.arm == 0;
        const u32 amount = s.amount * threads * (gather ? f_.m.attrs.cluster_size() : 1);
        const bool computed = (s.flags & site_flag::remote) != 0 && f_.mapped_lanes == unknown_count;
        unsure_ = unsure_ || (computed && !s.sure);
        if (s.sure && amount > most_sure_) most_sure_ = amount;
        rounds_ = rounds_ || (amount != 0 && count_ > amount && count_ % amount == 0 && may_take_rounds(s));
        others_[arrivals_] = s.amount * (gather           ? 0
                                         : each           ? threads * f_.m.attrs.cluster_size()
                                         : s.many_singles ? s.warps
                                                          : 0);
        amounts_[arrivals_++] = amount;
        total_ += amount;
        arrival_ = &s;
    }
    constexpr void move(const site& s) {
        const u32 threads = threads_of(s);
        u32 t = 0;
        while (t < tallies_ && (tally_[t].role != s.role || tally_[t].loop != s.loop)) ++t;
        if (t == max_tallies) {
            no_sums_ = true;
            return;
        }
        if (t == tallies_) tally_[tallies_++] = {s.role, s.loop, s.single};
        // What runs under other conditions, or in other numbers of threads, does not add up.
        if (tally_[t].where != 0 && (tally_[t].threads != threads || tally_[t].arm != s.arm)) no_sums_ = true;
        tally_[t].threads = threads, tally_[t].arm = s.arm;
        if (s.amount == 0 || s.amount == unknown_count || s.guarded || threads == 0 || repeats(s)) no_sums_ = true;
        // Copies of both blocks of a pair onto the barrier of the one that waits for them.
        const bool of_pair = (s.flags & site_flag::leader) != 0 && waiting_block_ != 0 && s.block == 0;
        if (s.block != 0 && s.block != waiting_block_) no_sums_ = true;
        const bool none = s.left_out && waits_;
        const bool all = s.sure && s.block == 0 && !of_pair;
        if (all && s.mask != 0 && senders_.key != s.mask) senders_ = {s.mask, senders_by_mask(f_, s.mask - 1)};
        const u32 senders = !all                 ? 0
                            : s.to_all && waits_ ? f_.m.attrs.cluster_size()
                            : s.mask != 0        ? senders_.value
                                                 : 0;
        const u64 bytes = none ? 0 : u64{s.amount} * threads * (of_pair ? 2 : senders != 0 ? senders : 1);
        const u64 slack = s.many_singles ? bytes * ((s.warps == 0 ? 32 : s.warps) - 1) : 0;
        tally_[t].regions_differ = tally_[t].regions_differ || tally_[t].region != s.single;
        if (s.kind == site_kind::expect) {
            expect_ = &s;
            tally_[t].expected += bytes;
            tally_[t].expected_slack += slack;
        } else {
            copy_ = &s;
            tally_[t].copied += bytes;
            tally_[t].copied_slack += slack;
            if (s.extra > 1 && !of_pair && senders == 0) {
                tally_[t].extra += bytes * (s.extra - 1);
                tally_[t].unit = common_divisor(tally_[t].unit, bytes);
            }
        }
        tally_[t].where = s.kind == site_kind::expect || tally_[t].where == 0 ? s.where : tally_[t].where;
    }

    /// Whether each arrival of a pipeline's barrier ends a phase by itself.
    constexpr void note_whole() noexcept {
        bool whole = count_ != 0 && !no_arity_ && !unsure_ && !f_.arrivals_unknown && arrivals_ != 0;
        for (u32 i = 0; i < arrivals_; ++i) whole = whole && (amounts_[i] == count_ || others_[i] == count_);
        whole = whole || (least_ != unknown_count && least_ >= count_ && count_ != 0 && !f_.arrivals_unknown &&
                          (f_.no_arity >> (barrier_ & 31u) & 1u) == 0);
        for (u32 i = 0; i < f_.rings.size(); ++i) {
            if (f_.rings[i].full == barrier_) f_.rings[i].whole[0] = whole;
            if (f_.rings[i].empty == barrier_) f_.rings[i].whole[1] = whole;
        }
    }

    /// Only several places of one role together free as many as are counted.
    constexpr void note_parts() noexcept {
        bool same = arrivals_ > 1 && !no_arity_ && !f_.arrivals_unknown && !unsure_ && !loose_ && !rounds_ &&
                    amounts_[0] < count_ && total_ >= count_;
        for (u32 i = 0; i < arrivals_; ++i) same = same && amounts_[i] == amounts_[0] && others_[i] == 0;
        for (const site& s : f_.sites)
            same = same && (s.barrier != barrier_ || s.kind != site_kind::arrive || s.role == arrival_->role);
        for (u32 i = 0; same && i < f_.rings.size(); ++i)
            if (f_.rings[i].empty == barrier_)
                f_.rings[i].part = amounts_[0], f_.rings[i].count = count_, f_.rings[i].part_where = arrival_->where;
    }
    /// One elected thread may be one of the block or one of each warp.
    [[nodiscard]] constexpr bool some_choice_makes(u32 wanted, u32 from) const noexcept {
        if (wanted == 0) return true;
        for (u32 i = from; i < arrivals_; ++i) {
            if (i > from && amounts_[i] == amounts_[i - 1] && others_[i] == others_[i - 1]) continue;  // the same again
            if (amounts_[i] <= wanted && some_choice_makes(wanted - amounts_[i], i + 1)) return true;
            if (others_[i] != 0 && others_[i] <= wanted && some_choice_makes(wanted - others_[i], i + 1)) return true;
        }
        return false;
    }
    /// A sentence about this barrier, its first piece.
    constexpr report& tell(const char* what, u32 where) {
        f_.out.add(what, where).say("mbarrier '").say(f_.name_of(barrier_)).say("'");
        for (const ring& r : f_.rings)
            if (r.full == barrier_ || r.empty == barrier_) f_.out.say(" of pipeline '").say(f_.m.text(r.name)).say("'");
        if (stage_ != unknown_count) f_.out.stage(stage_);
        return f_.out.next();
    }
    constexpr void check_arrivals() {
        if (arrivals_ == 0) return check_no_arrival();
        if (total_ == count_ || some_choice_makes(count_, 0) || (loose_ && count_ <= 32 * total_) || rounds_) return;
        if (unsure_ && most_sure_ < count_) return;
        const u32 provided = arrivals_ == 1 ? amounts_[0] : total_;
        const bool one = arrival_->threads == 1 && count_ > 1;
        tell(total_ == 0 ? catalogue::E01_adds_nothing
             : one       ? catalogue::E01_one_arrives
                         : catalogue::E01_arrivals,
             arrival_->where);
        f_.out.say(count_).say(count_ == 1 ? " arrival" : " arrivals").next().say(provided);
        if (arrivals_ > 1) f_.out.say(" from ").say(arrivals_).say(" places");
        f_.out.next();
        if (total_ == 0) return;
        f_.out.with(provided);
        if (one) f_.out.with(count_);
        if (init_ != nullptr) f_.out.say("; initialised at ").at(f_.source(init_->where));
    }
    /// E08: one phase a round, and a wait that names the same parity in all of them.
    constexpr void check_parity() {
        if (wait_ == nullptr || other_parity_ || parity_ > 1 || stage_ == unknown_count || !one_statement() ||
            arrival_->guarded || !goes_on(*arrival_))
            return;
        u32 l = wait_->loop;
        while (l != arrival_->loop && l != 0) l = f_.loops[l].parent;
        if (l == 0 && wait_->role == arrival_->role) return;
        tell(catalogue::E08_parity, wait_->where).with(parity_);
    }
    // ---- what happens once: each phase is one place of the text

    /// The loop in which the site is one step.
    [[nodiscard]] constexpr u32 loop_of(const site& s) const noexcept {
        return s.kind == site_kind::wait && !s.spins && f_.loops[s.loop].spins ? f_.loops[s.loop].parent : s.loop;
    }
    /// Everything done to the barrier is done once, or once in each round of one loop, under no condition, by a known
    /// number of threads of this block.
    [[nodiscard]] constexpr bool in_a_row() const noexcept {
        if (f_.begins_anew || f_.waits_unknown || arrivals_ == 0 || loose_) return false;
        u32 around = unknown_count;
        for (const site& s : f_.sites) {
            if (!is_mine(s) || s.kind == site_kind::init) continue;
            if (around != unknown_count && around != loop_of(s)) return false;
            around = loop_of(s);
            constexpr u8 elsewhere = site_flag::remote | site_flag::several | site_flag::leader | site_flag::apart;
            const bool remote = (s.flags & elsewhere) != 0 || s.extra > 1;
            const bool known = s.role == 0 || f_.roles[s.role].threads == 1;
            if (s.arm != 0 || !known || s.block != 0 || s.guarded || remote || s.many_singles) return false;
            if (s.kind == site_kind::wait && s.amount > 1) return false;
        }
        return true;
    }
    /// Whether some thread does both; in a row that is all there is to know.
    [[nodiscard]] static constexpr bool by_one_thread(const site& a, const site& b) noexcept {
        return a.single == 0 || b.single == 0 || a.single == b.single;
    }
    /// E01: some thread waits for more phases than the arrivals before it, or all, end. E08: for the phase before
    /// again, though one ended between; or for the second phase without having met the thread that has seen the first.
    constexpr void check_row(bool told) {
        const site* last = nullptr;
        u32 phases = 0, ended = 0, before = 0;  // `ended`: arrivals since the last wait; `before`: all so far
        bool apart = false, once = true, alone = true;
        for (const site& s : f_.sites) {
            if (!is_mine(s)) continue;
            once = once && loop_of(s) == 0;
            if (s.kind == site_kind::arrive) {
                alone = alone && s.amount * threads_of(s) == count_;
                ended += s.amount * threads_of(s), before += s.amount * threads_of(s);
                apart = apart || (last != nullptr && !by_one_thread(*last, s));
            }
            if (s.kind != site_kind::wait) continue;
            if (last == nullptr ? s.amount == 1 : !by_one_thread(*last, s)) return;
            if (last == nullptr || last->amount != s.amount)
                ++phases;
            else if (ended == count_ && !apart)
                return say_again(s, *last);
            if (once && s.single == 0 && s.role == 0 && before < phases * count_ && !told)
                return say_early(s, phases, before);
            if (last == nullptr && once && s.single == 0 && ended >= 2 * count_ && alone) return say_missed(s);
            const bool others = last != nullptr && last->single != 0 && s.single == 0 && once;
            if (others && s.amount == 1 && phases == 2 && last->meetings == s.meetings && !waits_between(*last, s))
                return say_unseen(s, *last);
            last = &s, ended = 0;
        }
        if (!once || phases < 2 || total_ < count_ || phases * count_ <= total_) return;
        tell(catalogue::E01_last_phase, last->where).with(phases).with(count_).with(total_);
    }
    [[nodiscard]] constexpr bool waits_between(const site& a, const site& b) const noexcept {
        for (const site* s = &a + 1; s != &b; ++s)
            if (s->kind == site_kind::wait && s->barrier != barrier_) return true;
        return false;
    }
    /// All threads wait, so nobody comes to the arrivals behind.
    constexpr void say_early(const site& s, u32 phases, u32 before) {
        tell(catalogue::E01_early, s.where).with(count_).with(phases).with(before);
    }
    constexpr void say_missed(const site& s) { tell(catalogue::E01_missed, s.where); }
    constexpr void say_again(const site& s, const site& last) {
        tell(catalogue::E08_again, s.where).with(s.amount).at(f_.source(last.where));
    }
    constexpr void say_unseen(const site& s, const site& last) {
        tell(catalogue::E08_unseen, s.where).at(f_.source(last.where));
    }
    constexpr void check_no_arrival() {
        if (!waits_ || f_.opaque || f_.is_function) return;
        if (expect_ == nullptr) return check_lonely_wait();
        if (f_.may_have_peers()) return;
        tell(catalogue::E01_no_arrival, expect_->where).with(count_);
    }

    /// A wait for the first phase of a barrier on which nothing ever arrives.
    constexpr void check_lonely_wait() {
        if (first_wait_ == nullptr || copy_ != nullptr) return;
        tell(catalogue::E01_lonely_wait, first_wait_->where);
    }
    /// E05: one side without the other. E04: the sums of one place differ, or those of several roles with one place
    /// each.
    constexpr void check_bytes() {
        if (expect_ == nullptr) {
            tell(catalogue::E05_nobody_expects, copy_->where);
            return;
        }
        if (copy_ == nullptr) {
            if (expect_->amount == 0) return;
            if (expect_->amount == unknown_count)
                tell(catalogue::E05_no_copy_of_register, expect_->where);
            else
                tell(catalogue::E05_no_copy, expect_->where).with(expect_->amount);
            return;
        }
        if (no_sums_) return;
        bool one_role = true, one_place_each = true;
        for (u32 t = 1; t < tallies_; ++t) {
            one_role = one_role && tally_[t].role == tally_[0].role;
            for (u32 k = 0; k < t; ++k) one_place_each = one_place_each && tally_[k].role != tally_[t].role;
        }
        if (!one_role && !one_place_each) return;
        // Places of one role may each serve phases of their own, or a phase together.
        tally rest;
        u32 alone = 0;  ///< a bit for each place that makes sense by itself
        for (u32 t = 0; t < tallies_; ++t) {
            if (one_role && fits(tally_[t])) {
                alone |= 1u << t;
                continue;
            }
            if (rest.where != 0 && (tally_[t].loop == 0) != (rest.loop == 0)) return;  // how often it runs is not known
            add_up(rest, tally_[t]);
        }
        if (!fits(rest) && !fits_with_some(rest, alone)) complain(rest);
    }
    struct tally {
        u32 role = 0, loop = 0, region = 0, threads = 0, arm = 0;
        u64 expected = 0, copied = 0, extra = 0;   ///< `extra`: what multicast may add, when all blocks send
        u64 unit = 0;                              ///< it adds multiples of this
        u64 expected_slack = 0, copied_slack = 0;  ///< what one thread of each warp may add to that of the first
        u32 where = 0;
        bool regions_differ = false;  ///< the single threads that expect and that copy are chosen apart
    };
    static constexpr void add_up(tally& to, const tally& t) noexcept {
        to.regions_differ =
            to.regions_differ || t.regions_differ || (to.where != 0 && (to.region != t.region || to.role != t.role));
        to.loop = t.loop, to.region = t.region, to.role = t.role;
        to.expected += t.expected, to.copied += t.copied, to.extra += t.extra;
        to.expected_slack += t.expected_slack, to.copied_slack += t.copied_slack;
        to.unit = common_divisor(to.unit, t.unit);
        if (t.expected != 0 || to.where == 0) to.where = t.where;
    }
    [[nodiscard]] static constexpr u64 common_divisor(u64 a, u64 b) noexcept {
        while (b != 0) {
            const u64 rest = a % b;
            a = b, b = rest;
        }
        return a;
    }
    [[nodiscard]] static constexpr bool fits(const tally& t) noexcept {
        const u64 most_expected = t.expected + (t.regions_differ ? t.expected_slack : 0);
        const u64 most_copied = t.copied + t.extra + (t.regions_differ ? t.copied_slack : 0);
        if (t.expected > max_count * u64{16}) return true;
        if (most_expected < t.copied || t.expected > most_copied) return false;
        const bool slack = t.regions_differ && (t.expected_slack | t.copied_slack) != 0;
        return slack || t.unit == 0 || t.expected < t.copied || (t.expected - t.copied) % t.unit == 0;
    }
    /// Places that make sense alone, because multicast may bring the rest, may as well be parts of the same phase.
    [[nodiscard]] constexpr bool fits_with_some(const tally& rest, u32 alone) const noexcept {
        for (u32 some = alone; some != 0; some = (some - 1) & alone) {
            tally sum = rest;
            for (u32 t = 0; t < tallies_; ++t)
                if ((some >> t & 1u) != 0) add_up(sum, tally_[t]);
            if (fits(sum)) return true;
        }
        return false;
    }
    constexpr void complain(const tally& t) {
        tell(t.expected > t.copied ? catalogue::E04_too_few : catalogue::E04_too_many, t.where)
            .with(t.expected)
            .with(t.copied + t.extra);
        if (copy_ != nullptr) f_.out.say("; copied at ").at(f_.source(copy_->where));
    }

    static constexpr u32 max_arrivals = most_rounds + 4, max_tallies = 10;
    Facts& f_;
    u32 barrier_, stage_;
    u32 count_ = 0, arrivals_ = 0, total_ = 0, tallies_ = 0, deepest_wait_ = 0;
    u32 amounts_[max_arrivals] = {}, others_[max_arrivals] = {};
    tally tally_[max_tallies] = {};
    const site *init_ = nullptr, *arrival_ = nullptr, *expect_ = nullptr, *copy_ = nullptr, *wait_ = nullptr,
               *first_wait_ = nullptr;
    struct {
        u32 key = 0, value = 0;
    } by_rank_, senders_;        ///< the latest results of `arrivals_by_rank` (of `lanes` + 1) and `senders_by_mask`
    bool unsure_ = false;        ///< perhaps not all blocks of the cluster arrive at one of the places
    u32 most_sure_ = 0;          ///< arrivals of the largest place at which they do
    u32 least_ = unknown_count;  ///< of all statements that arrive: what each warp or warpgroup adds, 0: not known
    u32 waiting_block_ = 0;      ///< only this block of the cluster waits for it: rank + 1
    u32 parity_ = 2;             ///< of the waits, 2: none yet
    bool other_parity_ = false;
    bool no_arity_, no_sums_ = false, waits_ = false, loose_ = false;
    bool rounds_ = false;  ///< several iterations may make one phase
};

/// E03: a stage that is used and never initialised, in a program that initialises some barrier, or in which threads
/// arrive at this one or wait for it. (Others are fragments.)
template <class Facts>
constexpr void check_initialised(Facts& f, u32 barrier, u64 initialised) {
    bool some = false, met = false;
    for (const site& s : f.sites) {
        some = some || s.kind == site_kind::init;
        met = met || (s.barrier == barrier && s.kind == site_kind::wait);
    }
    for (u32 i = 0; i < f.sites.size(); ++i) {  // one that expects bytes has two sites
        const bool plain = i + 1 == f.sites.size() || f.sites[i + 1].kind != site_kind::expect;
        met = met || (f.sites[i].barrier == barrier && f.sites[i].kind == site_kind::arrive && plain);
    }
    for (const ring& r : f.rings) met = met && r.full != barrier && r.empty != barrier;  // told of the pipeline
    if ((!some && !met) || f.inits_unknown || f.is_function || f.tm.calls) return;
    for (const site& s : f.sites) {
        if (s.barrier != barrier || s.kind == site_kind::init || (s.flags & site_flag::remote) != 0) continue;
        const u32 stages = f.m.allocations[barrier].stages;
        u32 missing = s.stage == unknown_count ? 0 : s.stage;
        while (s.stage == unknown_count && missing < stages && missing < 64 && (initialised >> missing & 1u) != 0)
            ++missing;
        if (missing >= stages || missing >= 64 || (initialised >> missing & 1u) != 0) continue;
        f.out.add(catalogue::E03_stage, s.where).with(f.name_of(barrier)).stage(missing).next();
        return;
    }
}

template <class Facts>
constexpr void check_barrier(Facts& f, u32 barrier) {
    bool constant = true, any = false;
    u64 initialised = 0;
    for (const site& s : f.sites) {
        if (s.barrier != barrier) continue;
        any = true;
        if (s.kind == site_kind::init)
            initialised |= s.stage == unknown_count ? ~u64{0} : s.stage < 64 ? u64{1} << s.stage : 0;
        if (s.kind != site_kind::wait && s.stage == unknown_count) constant = false;
    }
    if (!any) return;
    check_initialised(f, barrier, initialised);
    if (!constant) return ledger<Facts>(f, barrier, unknown_count).check();
    for (u32 stage = 0; stage < f.m.allocations[barrier].stages; ++stage) ledger<Facts>(f, barrier, stage).check();
}

/// A read of what one of these copies fills; of an unknown array, a read behind a copy. 0: none; else the location + 1.
template <class Facts>
[[nodiscard]] constexpr u32 read_of(const Facts& f, bool by_threads, u32& copy, bool& sure) noexcept {
    for (const auto& c : f.late_copies) {
        if (c.by_thread != by_threads || f.read_at.size() == 0) continue;
        copy = c.where, sure = c.allocation != 0 && f.read_at[c.allocation] != 0;
        if (sure) return f.read_at[c.allocation];
    }
    return copy == 0 || f.read_at.size() == 0 ? 0 : f.read_at[0];
}
template <class Facts>
constexpr void say_late(Facts& f, bool by_threads, const char* is, const char* perhaps) {
    u32 copy = 0;
    bool sure = false;
    const u32 read = read_of(f, by_threads, copy, sure);
    if (read == 0) return;
    f.told_late = f.told_late || (sure && !by_threads);
    f.out.add(sure ? is : perhaps, read - 1).at(f.source(copy - 1));
}
/// E07: what asynchronous copies bring is read, and nothing in the kernel waits for them.
template <class Facts>
constexpr void check_late_copies(Facts& f) {
    if (f.is_function || f.tm.calls || f.opaque) return;
    if (!f.waits_for_thread_copies) say_late(f, true, catalogue::E07_cp_async_read, catalogue::E07_cp_async_perhaps);
    if (!f.waits) return say_late(f, false, catalogue::E07_bulk_read, catalogue::E07_bulk_perhaps);
    for (u32 i = 0; i < f.ring_tiles.size() && !f.waits_unknown; ++i) {
        const auto t = f.ring_tiles[i];
        bool waits = f.ring_of(t.barrier, false) < max_rings;  // told of the pipeline
        for (const site& s : f.sites) waits = waits || (s.kind == site_kind::wait && s.barrier == t.barrier);
        if (waits || f.read_at.size() == 0 || f.read_at[t.allocation + 1] == 0) continue;
        f.out.add(catalogue::E07_no_wait_for, f.read_at[t.allocation + 1] - 1)
            .with(f.name_of(t.allocation))
            .with(f.name_of(t.barrier));
        f.read_at[t.allocation + 1] = 0, f.told_late = true;
    }
}

/// Whether C05 has spoken of it: what is done to one of two barriers is done to the other.
template <class Facts>
[[nodiscard]] constexpr bool overlaps(const Facts& f, u32 i) noexcept {
    const ir::allocation& a = f.m.allocations[i];
    for (u32 k = 0; k < f.m.n.allocations; ++k) {
        const ir::allocation& b = f.m.allocations[k];
        if (k != i && (a.placed_by_author || b.placed_by_author) && a.offset < b.offset + b.bytes() &&
            b.offset < a.offset + a.bytes())
            return true;
    }
    return false;
}
/// E01, E04, E05 for every barrier; needs the whole program.
template <class Facts>
constexpr void check_barriers(Facts& f) {
    for (const site& s : f.sites) check_numbers(f, s);
    check_late_copies(f);
    if (f.first_unfenced != 0 && !f.is_function && !f.opaque && !f.tm.calls && !f.unstructured)
        f.out.add(catalogue::E03_no_fence, f.first_unfenced - 1);
    if (f.unknown_wait != 0 && !f.initialises && !f.is_function && !f.opaque && !f.tm.calls)
        f.out.add(catalogue::E03_none, f.unknown_wait - 1);
    if (f.opaque || !f.flow_is_known()) return;
    for (u32 i = 0; i < f.m.n.allocations; ++i)
        if (f.m.allocations[i].kind == ir::allocation_kind::barrier && f.sites.size() != 0 && !overlaps(f, i))
            check_barrier(f, i);
}

}  // namespace ptxdsl::verify
