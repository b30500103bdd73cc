// SPDX-License-Identifier: Apache-2.0
// What threads wait for: mbarriers, named barriers, the warp's and the cluster's barrier, and the fences.
#pragma once

#include <ptxdsl/machine/async_work.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

template <class Values>
class synchronisation : public async_work<Values> {
public:
    using base = async_work<Values>;
    using base::base;
    using typename base::block_type;
    using typename base::value;
    using typename base::warp_type;

protected:
    using base::blocks_;
    using base::cluster_;
    using base::code_;
    using base::warps_;

    // ---- mbarriers ----------------------------------------------------------------------------------------------

    constexpr outcome mbarrier_instruction(warp_type& w, std::size_t p, const instruction& i, uint32_t pc,
                                           uint32_t lanes) {
        const tok what = code_.word(i, 1);
        if (what == tok::try_wait || what == tok::test_wait)
            return wait_phase(w, p, i, pc, lanes, what == tok::try_wait);
        if (what == tok::pending_count) {
            this->forget(w, i, lanes);
            return outcome::done;
        }
        const operand* at = nullptr;
        uint32_t n = 0;
        while (n < i.operand_count && code_.at(i, n).what != operand::kind::address) ++n;
        at = &code_.at(i, n);
        const operand& with = code_.at(i, n + 1);
        const operand* const keys[] = {at, &with};
        this->each_group(w, lanes, keys, 2, [&](uint32_t group, uint32_t l) {
            if (this->abandoned_) return;
            const place a = this->resolve(w, this->address(w, *at, l), i.has_space ? i.sp : space::generic);
            if (!a.known || !a.shared) return this->abandon(pc, "an mbarrier at an address that is not followed");
            const value v = with.what == operand::kind::nothing ? Values::exact(1) : this->lane(w, with, l);
            const bool bytes = code_.has(i, tok::expect_tx) || code_.has(i, tok::complete_tx);
            if (bytes ? !v.is_address() : v.known != knowledge::exact)
                return this->abandon(pc, "a count of arrivals or bytes that is not known");
            one_mbarrier(w, i, pc, group, a, what, static_cast<uint32_t>(v.bits));
        });
        return outcome::done;
    }

    // ---- named barriers -----------------------------------------------------------------------------------------

    /// `bar.sync`, `bar.arrive`, `bar.red` and their long names, without `bar.warp.sync`.
    constexpr outcome named(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool reduces = code_.has(i, tok::red);
        const bool arrives = code_.has(i, tok::arrive);
        const operand& id = code_.at(i, reduces ? 1 : 0);
        const operand& count = code_.at(i, reduces ? 2 : 1);
        const value n = this->lane(w, id, static_cast<uint32_t>(std::countr_zero(lanes)));
        const bool counted = count.what != operand::kind::nothing && !(reduces && i.operand_count < 4);
        const value c =
            counted ? this->lane(w, count, static_cast<uint32_t>(std::countr_zero(lanes))) : Values::exact(0);
        if (n.known != knowledge::exact || c.known != knowledge::exact || n.bits > 15) {
            this->abandon(pc, "a named barrier whose number or count is not known");
            return outcome::done;
        }
        block_type& b = blocks_[w.block];
        named_barrier& bar = b.named[n.bits];
        if (w.pieces[at].arrived) {
            if (bar.generation == w.pieces[at].generation) return wait_named(w, at, static_cast<uint32_t>(n.bits));
            w.pieces[at].arrived = false;
            w.knows.join(bar.done);
            // One result for all threads that took part.
            if (reduces && this->needs(code_.at(i, 0)))
                this->put(w, code_.at(i, 0),
                          Values::unknown(mix(mix(0xba4, n.bits), mix(w.block, w.pieces[at].generation))), lanes);
            return outcome::done;
        }
        const uint32_t expected = counted ? static_cast<uint32_t>(c.bits) : threads_of_block();
        if (bar.arrived == 0) {
            bar.expected = expected, bar.at = pc, bar.warp = w.agent, bar.whole_block = !counted;
        } else if (bar.expected != expected) {
            this->report(fault::named_barrier, w, lanes, pc, bar.at, &warps_[bar.warp], all_lanes,
                         "comes to named barrier " + number(n.bits) + " with a count of " +
                             count_text(counted, expected) + ", % with " + count_text(!bar.whole_block, bar.expected));
            this->abandoned_ = true;
            return outcome::done;
        }
        bar.arriving.join(this->release(w));
        bar.arrived += 32;
        bar.came.push_back(w.agent);
        w.pieces[at].generation = bar.generation;
        this->note(w, lanes, pc, deed::comes_to_named, 0, n.bits);
        finish_named(b, bar, w, lanes, pc);
        if (arrives) return outcome::done;
        w.pieces[at].arrived = true;
        if (bar.generation != w.pieces[at].generation) return named(w, at, i, pc, lanes);
        return wait_named(w, at, static_cast<uint32_t>(n.bits));
    }
    /// Warps have left: barriers of the whole block need fewer.
    constexpr void recheck_named(block_type& b) {
        for (named_barrier& bar : b.named)
            if (bar.arrived != 0 && bar.whole_block && bar.came.size() >= b.warps_left) bar.complete();
    }

    // ---- the cluster --------------------------------------------------------------------------------------------

    constexpr outcome cluster_barrier_instruction(warp_type& w, std::size_t at, const instruction& i, uint32_t pc,
                                                  uint32_t lanes) {
        if (code_.has(i, tok::arrive)) {
            if ((w.cluster_arrived & lanes) != 0)
                return cluster_fault(w, lanes, pc, "arrives at the cluster barrier twice without a wait between");
            cluster_.arriving.join(code_.has(i, tok::relaxed) ? this->release_relaxed(w) : this->release(w));
            w.cluster_arrived |= lanes;
            for (uint32_t m = lanes; m != 0; m &= m - 1)
                w.cluster_generation[std::countr_zero(m)] = cluster_.generation;
            this->note(w, lanes, pc, deed::arrives_at_cluster, 0, 0);
            recheck_cluster();
            return outcome::done;
        }
        if ((w.cluster_arrived & lanes) != lanes)
            return cluster_fault(w, lanes, pc, "waits at the cluster barrier without having arrived");
        if ((arrived_now(w) & lanes) != 0) {
            piece& p = w.pieces[at];
            p.what = waiting::cluster;
            p.generation = cluster_.generation;
            return outcome::again;
        }
        w.knows.join(cluster_.done);
        w.knows.raise(this->cluster_met_, 1);  // apart from memory: whoever has arrived has started
        w.cluster_arrived &= ~lanes;
        return outcome::done;
    }
    /// Lanes that have arrived for the phase the cluster barrier is in.
    [[nodiscard]] constexpr uint32_t arrived_now(const warp_type& w) const noexcept {
        uint32_t now = 0;
        for (uint32_t m = w.cluster_arrived; m != 0; m &= m - 1)
            if (w.cluster_generation[std::countr_zero(m)] == cluster_.generation) now |= m & (0 - m);
        return now;
    }
    /// Completes the cluster barrier once every thread that lives has arrived.
    constexpr void recheck_cluster() {
        bool any = false;
        for (const warp_type& w : warps_) {
            const uint32_t here = arrived_now(w);
            any = any || here != 0;
            if ((w.live & ~here) != 0) return;
        }
        if (!any) return;
        cluster_.done = cluster_.arriving;
        cluster_.arriving.clear();
        ++cluster_.generation;
    }

    // ---- fences -------------------------------------------------------------------------------------------------

    constexpr void fence(warp_type& w, const instruction& i, uint32_t lanes) {
        if (code_.has(i, tok::proxy)) {
            if (!code_.has(i, tok::async)) return;
            w.fences.push_back({w.event, lanes});
            w.knows.raise(w.agent, w.event++);
            w.fenced.join(w.knows);
            return;
        }
        if (code_.has(i, tok::mbarrier_init)) {
            for (const block_type& b : blocks_)
                for (const mbarrier& m : b.barriers) w.released.raise(m.init_agent, w.knows.of(m.init_agent));
            return;
        }
        w.released.join(this->release(w));
        w.knows.join(w.heard);
    }

private:
    constexpr void one_mbarrier(warp_type& w, const instruction& i, uint32_t pc, uint32_t group, const place& a,
                                tok what, uint32_t n) {
        if (what == tok::init) return initialise(w, i, pc, group, a, n);
        if (what == tok::inval) return invalidate(w, pc, group, a);
        mbarrier* const b = this->barrier_for(w, pc, group, a.block, a.offset);
        if (b == nullptr) return;
        const uint32_t lanes = static_cast<uint32_t>(std::popcount(group));
        const bool expects = code_.has(i, tok::expect_tx);
        if (what == tok::expect_tx) {
            b->bytes += std::int64_t{n} * lanes;
            return;
        }
        if (what == tok::complete_tx) {
            b->bytes -= std::int64_t{n} * lanes;
            return b->settle();
        }
        const uint32_t arrivals = expects ? lanes : n * lanes;
        this->note(w, group, pc, deed::arrives, a.offset, b->phase);
        // The state that the arrival returns names the phase it belongs to.
        const operand& to = code_.at(i, 0);
        if (to.what == operand::kind::reg) this->put(w, to, Values::exact(b->phase), group);
        if (what == tok::arrive_drop) b->count -= lanes;
        const frontier& knows = code_.has(i, tok::relaxed) ? this->release_relaxed(w) : this->release(w);
        this->arrive(w, pc, group, *b, arrivals, expects ? std::int64_t{n} * lanes : 0, knows);
    }
    constexpr void initialise(warp_type& w, const instruction& i, uint32_t pc, uint32_t group, const place& a,
                              uint32_t n) {
        mbarrier& b = this->barrier_at(a.block, a.offset);
        if (b.live || std::popcount(group) > 1) {
            const bool used = b.live && (b.phase != 0 || b.pending != b.count || b.in_flight != 0);
            if (used || !b.live || b.warp != w.agent || std::popcount(group) > 1) {
                finding* const f =
                    this->report(fault::barrier_in_use, w, group, pc, b.live ? b.at : pc, &w, all_lanes,
                                 "initialises the mbarrier " + this->object(a.offset) +
                                     (std::popcount(group) > 1 ? " in several threads at once" : " again, after %") +
                                     ": one thread initialises it once");
                // Lanes of one instruction that say the same: kernels do so, and they run.
                const bool alike = !used && (!b.live || b.warp == w.agent);
                if (f != nullptr) f->disputed = alike;
                this->abandoned_ = !alike || !code_.program().from_text;
            }
        }
        b.start(n);
        b.at = pc;
        b.warp = w.agent;
        b.object = i.object;
        b.vouched = i.object < code_.vouched.size() && code_.vouched[i.object] != 0;
        w.knows.raise(b.init_agent, b.inits);
        this->note(w, group, pc, deed::initialises, a.offset, n);
    }
    constexpr void invalidate(warp_type& w, uint32_t pc, uint32_t group, const place& a) {
        mbarrier& b = this->barrier_at(a.block, a.offset);
        if (b.in_flight != 0)
            this->report(fault::barrier_in_use, w, group, pc,
                         "invalidates the mbarrier " + this->object(a.offset) + " with copies under way to it");
        b.live = false;
    }
    constexpr outcome wait_phase(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t lanes,
                                 bool patient) {
        const operand &from = code_.at(i, 1), &until = code_.at(i, 2);
        const operand* const keys[] = {&from, &until};
        // Lanes with other barriers or parities become a piece of their own.
        uint32_t first = lanes, leader = static_cast<uint32_t>(std::countr_zero(lanes));
        bool got = false;
        this->each_group(w, lanes, keys, 2, [&](uint32_t group, uint32_t l) {
            if (!got) first = group, leader = l;
            got = true;
        });
        if (first != lanes) {
            piece rest = w.pieces[at];
            rest.lanes = lanes & ~first;
            w.pieces[at].lanes = first | (w.pieces[at].lanes & ~lanes);
            w.pieces.push_back(rest);
        }
        const place a = this->resolve(w, this->address(w, from, leader), i.has_space ? i.sp : space::generic);
        const value s = this->lane(w, until, leader);
        if (!a.known || !a.shared || !s.is_known()) {
            this->abandon(pc, "a wait whose barrier or parity is not known");
            return outcome::done;
        }
        mbarrier* const b = this->barrier_for(w, pc, first, a.block, a.offset);
        if (b == nullptr) return outcome::done;
        const bool done = code_.has(i, tok::parity) ? b->passed(s.bits) : b->phase > s.bits;
        piece& p = w.pieces[at];
        if (!done && patient && (p.hurried || !this->hurried_)) {
            p.what = waiting::phase;
            p.block = a.block;
            p.address = a.offset;
            p.parity = static_cast<uint32_t>(s.bits);
            p.generation = b->total;
            return outcome::again;
        }
        p.hurried = !done;
        p.spun = !done;
        if (done) (code_.has(i, tok::relaxed) ? w.heard : w.knows).join(b->done);
        if (done) this->note(w, first, pc, deed::sees_phase, a.offset, b->phase == 0 ? 0 : b->phase - 1);
        this->put(w, code_.at(i, 0), Values::exact(done ? 1 : 0), first);
        return outcome::done;
    }
    constexpr outcome wait_named(warp_type& w, std::size_t at, uint32_t id) {
        piece& p = w.pieces[at];
        p.what = waiting::named;
        p.address = id;
        return outcome::again;
    }
    constexpr void finish_named(block_type& b, named_barrier& bar, const warp_type& w, uint32_t lanes, uint32_t pc) {
        if (bar.whole_block) {
            if (bar.came.size() >= b.warps_left) bar.complete();
            return;
        }
        if (bar.arrived > bar.expected) {
            this->report(fault::named_barrier, w, lanes, pc, bar.at, &warps_[bar.warp], all_lanes,
                         "is one warp more than the named barrier counts (" + number(bar.expected) +
                             " threads), where % came first");
            this->abandoned_ = true;
        } else if (bar.arrived == bar.expected) {
            bar.complete();
        }
    }
    /// Threads of the block, warps counted whole.
    [[nodiscard]] constexpr uint32_t threads_of_block() const noexcept {
        return 32 * static_cast<uint32_t>(warps_.size() / blocks_.size());
    }
    [[nodiscard]] static constexpr message count_text(bool counted, uint32_t n) {
        if (!counted) return "all threads";
        return number(n);
    }
    constexpr outcome cluster_fault(const warp_type& w, uint32_t lanes, uint32_t pc, const char* text) {
        this->report(fault::cluster_barrier, w, lanes, pc, text);
        this->abandoned_ = true;
        return outcome::done;
    }

protected:
    bool hurried_ = false;  ///< waits that may end early do so once
};

}  // namespace ptxdsl::machine
