// SPDX-License-Identifier: Apache-2.0
// The player: runs a kernel on the machine for parameters, unknown conditions and schedules chosen from its structure,
// and keeps what it finds.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/machine.hpp>
#include <ptxdsl/machine/register_slots.hpp>
#include <ptxdsl/machine/trip_counts.hpp>

#include <cstdint>

namespace ptxdsl::machine {

struct options {
    limits limit{};
    bool objects = false;     ///< `result::objects` and `result::warps` are filled in
    bool zero_rounds = true;  ///< also loops over a parameter, or data, that run zero times (findings are warnings)
    std::uint32_t most_runs = 64;
    list<known_call> calls{};  ///< calls that need not end a run
    /// Parameters of the kernel; variables of the parameter space behind them are those of its calls.
    std::uint32_t parameters = 0xffffffffu;
    /// Work of all runs together: instructions of warps, and half of one for each page of memory that they touch. The
    /// first few runs are made all the same, up to twice as much, with fewer rounds where the first takes half of it.
    std::uint64_t most_work = 60'000;
};

namespace detail {

/// Chooses runs and collects their findings.
class player {
public:
    constexpr player(const ir::view& m, const options& o) : code_(sliced(m, o)), options_(o), trips_(code_) {
        const register_slots renamed(code_);
    }

    constexpr result play() {
        if (!playable()) return result_;
        if (trips_.too_deep()) cover({0, false, "a ring of more than 32 slots: no run goes round it", false});
        plan();
        for (std::size_t k = 0; k < runs_.size() && result_.runs < options_.most_runs; ++k) {
            if (!result_.findings.empty() && !only_warnings()) break;
            if (result_.stopped || spent(k < essential_ && k < 4 ? 0 : k < essential_ ? 2 : 1)) {
                ++result_.left_out;
                continue;
            }
            one(runs_[k]);
            if (k == 0 && result_.work > options_.most_work / 2) plan_few();
        }
        // Unknown conditions that differ from one another take more than "all hold" and "none holds".
        for (std::uint64_t seed = 2; forked_ && seed < 8 && result_.runs < options_.most_runs; ++seed) {
            if (result_.stopped || spent(2)) break;
            if (!result_.findings.empty() && !only_warnings()) break;
            // Where data grow along arrays (`datum`), some of all: four rounds of every counter.
            const bool growing = seed == 3 || seed == 5;
            if (growing) add(static_cast<std::uint32_t>(counters_.size()), 4, 4, schedule::in_turn);
            choices c = growing ? runs_.back() : runs_[seed % runs_.size()];
            if (growing) runs_.pop_back();
            if (c.zero_rounds || c.seed == seed) continue;
            c.seed = seed;
            c.zero_rounds = seed >= 4 && !growing;  // data may be zero
            if (c.zero_rounds && !options_.zero_rounds) continue;
            one(c);
        }
        join_warps();
        return result_;
    }
    /// Run `number` alone; `made` is false where there is none: behind the runs that are made whatever they cost, five
    /// at least, and behind three more where conditions on unknown data make each another.
    constexpr result play_one(std::uint32_t number, bool& made) {
        made = false;
        if (!playable()) {
            made = number == 0;
            return result_;
        }
        plan();
        const std::size_t five = runs_.size() < 5 ? runs_.size() : 5;
        const std::size_t planned = essential_ < five ? five : essential_;
        if (number < planned) {
            made = true;
            one(runs_[number]);
            return result_;
        }
        one(runs_[0]);
        const std::uint64_t seed = 2 + number - planned;
        if (!forked_ || seed > 4) return result_;
        choices c = runs_[seed % runs_.size()];
        c.seed = seed;
        c.zero_rounds = seed >= 4;
        result_ = {};
        made = true;
        one(c);
        return result_;
    }
    /// One run again, for its trace.
    constexpr result replay(const choices& c) {
        one(c);
        return result_;
    }

private:
    /// Whether the kernel says how large its blocks are, and some device has such; else the result says why not.
    constexpr bool playable() {
        const ir::view& m = code_.program();
        // Counted in 64 bits: a text may declare what no device has.
        const auto& b = m.attrs.reqntid.given() ? m.attrs.reqntid : m.attrs.maxntid;
        const std::uint64_t threads = b.given() ? std::uint64_t{b.x} * b.y : 0;
        const bool huge = threads > 1024 || threads * b.z > 1024 || std::uint64_t{m.attrs.cluster_size()} > 16;
        const bool late = options_.limit.stop != nullptr && options_.limit.stop();
        if (threads * b.z != 0 && !huge && !late) return true;
        const char* reason = late ? "it was not played, for the time that takes" : "the block size is not declared";
        if (huge) reason = "no device has such blocks or clusters";
        result_.coverage.push_back({0, false, reason, synchronises()});
        result_.complete = false;
        result_.stopped = late;
        return false;
    }
    /// Whether there is anything to find: shared memory is used, or threads wait for one another.
    [[nodiscard]] constexpr bool synchronises() const noexcept {
        for (const instruction& i : code_.instructions) switch (i.op) {
                case tok::bar:
                case tok::barrier:
                case tok::mbarrier:
                case tok::cp:
                case tok::wgmma:
                case tok::tcgen05: return true;
                default:
                    if (i.has_space && (i.sp == space::shared || i.sp == space::shared_cluster)) return true;
            }
        return false;
    }
    [[nodiscard]] static constexpr code sliced(const ir::view& m, const options& o) {
        code c(m, o.parameters);
        for (const known_call& k : o.calls) c.know(k.where, k.returns);
        const slice cut(c);
        return c;
    }
    /// Parameters that count the same rounds are one counter: each of them has its turn at it.
    struct counter {
        list<std::uint32_t> slots;
        std::uint32_t turn = 0;
    };
    constexpr void plan() {
        const std::uint64_t s = trips_.stages();
        const std::uint32_t n = find_counters();
        add(n, 2, 2, schedule::in_turn);
        for (std::uint32_t c = 0; c < n; ++c) add(c, 2 * s + 1, 1, schedule::in_turn);
        for (std::uint32_t c = 0; c < n; ++c) {
            add(c, s + 2, 2, schedule::first_starved);
            add(n - 1 - c, s + 2, 1, schedule::last_starved);
        }
        essential_ = runs_.size() < 8 ? runs_.size() : 8;
        add(n, 1, 1, schedule::in_turn_hurried);
        for (std::uint32_t c = 0; c < n; ++c) add(c, s + 2, 1, schedule::shuffled);
        for (std::uint32_t c = 0; c < n; ++c) add(c, s, 2, schedule::in_turn_hurried);
        add(n, 3, 3, schedule::shuffled);
        if (n == 0) {
            add(n, 1, 1, schedule::first_starved);
            add(n, 1, 1, schedule::last_starved);
        }
        if (options_.zero_rounds)
            for (std::uint32_t c = 0; c < n; ++c)
                for (std::size_t k = 0; k < counters_[c].slots.size(); ++k) add(c, 0, 2, schedule::in_turn);
    }
    /// Whether the runs have taken so many times the work they may; 0: never.
    [[nodiscard]] constexpr bool spent(std::uint64_t times) const noexcept {
        return times != 0 && result_.work > times * options_.most_work;
    }
    /// The first run took long: what follows are three rounds of each counter, and more only of the one that is
    /// cheapest, which goes round the rings (in a product, the steps along K and not the tiles).
    constexpr void plan_few() {
        const std::uint32_t n = static_cast<std::uint32_t>(counters_.size());
        const std::size_t planned = runs_.size();
        std::uint32_t cheapest = 0;
        std::uint64_t least = ~std::uint64_t{0};
        std::uint32_t made = 0;
        runs_.resize(1);
        for (; made < n && (result_.findings.empty() || only_warnings()); ++made) {
            const std::uint64_t before = result_.work;
            add(made, 3, 1, schedule::first_starved);
            one(runs_.back());
            runs_.pop_back();
            if (result_.work - before < least) least = result_.work - before, cheapest = made;
        }
        if (n != 0) add(cheapest, 2 * trips_.stages() + 1, 1, schedule::last_starved);
        essential_ = runs_.size();
        const std::size_t all = made + runs_.size();
        result_.left_out += static_cast<std::uint32_t>(planned > all ? planned - all : 0);
    }
    constexpr std::uint32_t find_counters() {
        const list<std::uint64_t>& units = trips_.units();
        for (std::uint32_t p = 0; p < units.size(); ++p) {
            if (units[p] == 0 || !is_number(p)) continue;
            counter* of = nullptr;
            for (counter& c : counters_)
                if (trips_.alike(c.slots[0], p)) of = &c;
            if (of == nullptr) of = &counters_.emplace_back();
            of->slots.push_back(p);
        }
        return static_cast<std::uint32_t>(counters_.size());
    }
    [[nodiscard]] constexpr bool is_number(std::uint32_t slot) const noexcept {
        return isa::info(code_.slots[slot].type).cls != isa::type_class::floating;
    }
    /// A run in which counter `one` makes `rounds` rounds and the others `others`; one past the last: all of them.
    constexpr void add(std::uint32_t one, std::uint64_t rounds, std::uint64_t others, schedule s) {
        choices c;
        c.schedule = static_cast<std::uint32_t>(s);
        c.seed = runs_.size() % 2;
        for (std::uint32_t p = 0; p < code_.slots.size(); ++p) {
            const bool wide =
                isa::bits(code_.slots[p].type) == 64;  // nothing is compared with it: an address or a stride
            c.parameters.push_back({wide ? (std::uint64_t{1} << 46) + (std::uint64_t{p} << 36) : 64,
                                    code_.slots[p].symbol, code_.slots[p].offset, false});
        }
        for (std::uint32_t k = 0; k < counters_.size(); ++k) {
            counter& x = counters_[k];
            for (const std::uint32_t p : x.slots)
                c.parameters[p].value = trips_.units()[p], c.parameters[p].counts = true;
            const std::uint32_t p = x.slots[x.turn++ % x.slots.size()];
            c.parameters[p].value = trips_.units()[p] * (k == one || one == counters_.size() ? rounds : others);
        }
        c.zero_rounds = rounds == 0 || others == 0;
        runs_.push_back(c);
    }
    [[nodiscard]] constexpr bool only_warnings() const noexcept {
        const bool text = code_.program().from_text;
        for (const finding& f : result_.findings)
            if (!f.warning && !(f.disputed && text)) return false;
        return true;
    }
    constexpr void one(const choices& c) {
        // Nothing takes longer with less to do: a step of a loop that is zero would make it endless.
        limits l = options_.limit;
        if (c.zero_rounds && l.steps > 2 * longest_ + 1000) l.steps = 2 * longest_ + 1000;
        machine<protocol_values> m(code_, c, l);
        m.run();
        ++result_.runs;
        result_.steps += m.steps();
        result_.work += m.work();
        if (c.zero_rounds && m.steps() > l.steps && m.findings().empty()) return;
        if (m.steps() > longest_) longest_ = m.steps();
        forked_ = forked_ || m.forks() != 0;
        for (finding f : m.findings()) {
            f.warning = f.warning || c.zero_rounds;
            keep(f);
        }
        for (const uncovered& u : m.unfollowed()) cover(u);
        if (m.abandoned() && m.findings().empty()) result_.complete = false;
        result_.stopped = result_.stopped || m.stopped();
        if (options_.objects) {
            follow_objects(m.blocks());
            follow_warps(m.warps());
        }
    }
    template <class Blocks>
    constexpr void follow_objects(const Blocks& blocks) {
        for (const auto& b : blocks)
            for (const mbarrier& x : b.barriers) {
                followed_object& o = object_at(x.address, true);
                o.phases = x.total > o.phases ? x.total : o.phases;
            }
        const ir::view& m = code_.program();
        for (std::uint32_t k = 0; k < m.n.allocations; ++k) {
            const ir::allocation& a = m.allocations[k];
            if (a.offset >= code_.shared_bytes) continue;  // external: its place is the launch's
            const std::uint32_t each = a.stages > 1 && a.stage_bytes != 0 ? a.stage_bytes : a.bytes();
            for (std::uint32_t at = 0; each != 0 && at < a.bytes(); at += each) {
                followed_object& o = object_at(a.offset + at, a.kind == ir::allocation_kind::barrier);
                for (const auto& b : blocks) o.used = o.used || b.bytes.touched(a.offset + at, a.offset + at + each);
            }
        }
    }
    constexpr followed_object& object_at(std::uint32_t address, bool is_barrier) {
        for (followed_object& o : result_.objects)
            if (o.address == address) {
                o.is_barrier = o.is_barrier || is_barrier;
                return o;
            }
        result_.objects.push_back({address, is_barrier, 0, false});
        return result_.objects.back();
    }
    template <class Warps>
    constexpr void follow_warps(const Warps& warps) {
        for (const auto& w : warps) {
            while (result_.warps.size() <= w.index) {
                const std::uint32_t n = static_cast<std::uint32_t>(result_.warps.size());
                result_.warps.push_back({n, n, 0, 0});
            }
            followed_warps& f = result_.warps[w.index];
            f.steps = w.steps > f.steps ? w.steps : f.steps;
            f.stopped += w.live != 0 ? 1 : 0;
        }
    }
    /// Neighbours that did the same are one entry: they are a role.
    constexpr void join_warps() {
        list<followed_warps> roles;
        for (const followed_warps& w : result_.warps) {
            const bool same = !roles.empty() && roles.back().steps == w.steps && roles.back().stopped == w.stopped;
            if (same)
                roles.back().last = w.last;
            else
                roles.push_back(w);
        }
        result_.warps = roles;
    }
    constexpr void keep(const finding& f) {
        for (finding& old : result_.findings)
            if (old.kind == f.kind && same_place(old.first.where, f.first.where) &&
                same_place(old.second.where, f.second.where)) {
                if (old.warning && !f.warning) old = f;
                return;
            }
        result_.findings.push_back(f);
    }
    /// Unrolled statements are one place.
    [[nodiscard]] constexpr bool same_place(std::uint32_t a, std::uint32_t b) const noexcept {
        const ir::view& m = code_.program();
        if (a == b) return true;
        if (m.from_text || a >= m.n.locations || b >= m.n.locations) return false;
        return m.locations[a].line() == m.locations[b].line() &&
               string_view(m.locations[a].file_name()) == string_view(m.locations[b].file_name());
    }
    constexpr void cover(const uncovered& u) {
        for (const uncovered& old : result_.coverage)
            if (same_place(old.where, u.where) && old.reason == u.reason) return;
        result_.coverage.push_back(u);
    }

    code code_;
    options options_;
    trip_counts trips_;
    list<counter> counters_;
    list<choices> runs_;
    std::size_t essential_ = 0;  ///< runs that are made whatever they cost
    bool forked_ = false;        ///< some condition was unknown
    std::uint64_t longest_ = 0;  ///< steps of the longest run
    result result_;
};

}  // namespace detail

/// Plays a kernel and says what it finds: errors come with the run that leads to them.
///
/// Not part of a proof that a kernel is right: what is not followed is listed in `result::coverage`.
[[nodiscard]] constexpr result play(const ir::view& kernel, const options& o = {}) {
    return detail::player(kernel, o).play();
}
/// Plays a kernel and says what was followed: every mbarrier with its phases, every stage of an allocation, every role;
/// and in `result::coverage` what was not, with the reason.
[[nodiscard]] constexpr result coverage(const ir::view& kernel, options o = {}) {
    o.objects = true;
    return play(kernel, o);
}
/// Plays one run again.
[[nodiscard]] constexpr result replay(const ir::view& kernel, const choices& run, const options& o = {}) {
    return detail::player(kernel, o).replay(run);
}

}  // namespace ptxdsl::machine
