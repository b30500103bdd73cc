// SPDX-License-Identifier: Apache-2.0
// One cluster in the middle of a run: its blocks and warps, what is under way, what was found; and how every access to
// shared memory is held against those before it.
#pragma once

#include <ptxdsl/machine/agents.hpp>
#include <ptxdsl/machine/barriers.hpp>
#include <ptxdsl/machine/code.hpp>
#include <ptxdsl/machine/findings.hpp>
#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/memory.hpp>
#include <ptxdsl/machine/table.hpp>
#include <ptxdsl/machine/words.hpp>

#include <bit>
#include <cstdint>
#include <utility>

namespace ptxdsl::machine {

/// One block of the cluster.
template <class Value>
struct block {
    shadow bytes;
    contents<Value> words;
    list<mbarrier> barriers;
    named_barrier named[16];
    uint32_t warps_left = 0;
    uint32_t left_at = 0;  ///< the instruction with which its last warp left
    uint32_t first_warp = 0;
    [[nodiscard]] constexpr bool gone() const noexcept { return warps_left == 0; }
};

/// A copy that completes on an mbarrier.
struct copy {
    bool landed = false;
    uint32_t agent = 0, event = 0;  ///< of the phase it completed in
    bool reduces = false;           ///< adds to what is there: among themselves such copies need no order
};

/// What lands on an mbarrier later: the bytes of a copy, or an arrival that waits for asynchronous work.
struct landing {
    uint32_t block = 0, address = 0;
    uint32_t bytes = 0;
    bool open = false;  ///< how many bytes is not known yet
    uint32_t copy = none;
    uint32_t arrivals = 0;
    uint32_t agent = 0, event = 0;  ///< the work an arrival waits for
    frontier knows;                 ///< what its issuer knew
    uint32_t at = 0, warp = 0;
};

/// Limits of a run.
struct limits {
    uint64_t steps = 4'000'000;  ///< instructions of warps
    uint32_t findings = 8;       ///< a run ends with so many
    uint32_t trace = 24;         ///< events a finding keeps
    /// At run time: asked now and then; true ends the run, and the runs behind it are not made. Null: nobody is asked.
    bool (*stop)() = nullptr;
};

/// The state of a run, with the checks every instruction shares.
template <class Values>
class state {
public:
    using value = typename Values::value;
    using warp_type = warp<value>;
    using block_type = block<value>;

    constexpr state(const code& c, const choices& chosen, const limits& l) : code_(c), chosen_(chosen), limits_(l) {}

    [[nodiscard]] constexpr const list<finding>& findings() const noexcept { return findings_; }
    [[nodiscard]] constexpr const list<uncovered>& unfollowed() const noexcept { return unfollowed_; }
    [[nodiscard]] constexpr uint64_t steps() const noexcept { return steps_; }
    /// Instructions, and half of one for each page of memory they touched.
    [[nodiscard]] constexpr uint64_t work() const noexcept { return steps_ + touched_ / 2; }
    [[nodiscard]] constexpr bool abandoned() const noexcept { return abandoned_; }
    /// Whether `limits::stop` has ended the run.
    [[nodiscard]] constexpr bool stopped() const noexcept { return stopped_; }
    /// The blocks and warps as the run has left them.
    [[nodiscard]] constexpr const list<block_type>& blocks() const noexcept { return blocks_; }
    [[nodiscard]] constexpr const list<warp_type>& warps() const noexcept { return warps_; }

protected:
    // ---- what is said -------------------------------------------------------------------------------------------

    /// Says once that something is not followed; the run goes on.
    constexpr void skip(uint32_t at, const char* reason, bool ends = false) {
        for (const uncovered& u : unfollowed_)
            if (u.where == code_[at].where && u.reason == reason) return;
        unfollowed_.push_back({code_[at].where, true, reason, ends});
    }
    /// Says it and ends the run: what comes later could be judged wrongly.
    constexpr void abandon(uint32_t at, const char* reason) {
        skip(at, reason, true);
        abandoned_ = true;
    }
    [[nodiscard]] constexpr message who(const warp_type& w, uint32_t lanes) const {
        message s;
        if (blocks_.size() > 1) s = "block " + number(w.block) + ", ";
        s += "warp " + number(w.index);
        if (std::popcount(lanes) == 1) s += " lane " + number(std::countr_zero(lanes));
        return s;
    }
    /// A shared address in the words of the source: `'a' stage 2`.
    [[nodiscard]] constexpr message object(uint32_t address) const { return object_name(code_.program(), address); }
    constexpr finding* report(fault f, const warp_type& w, uint32_t lanes, uint32_t at, message text) {
        return report(f, w, lanes, at, none, nullptr, 0, std::move(text));
    }
    /// `%` in the text stands for the other party's place.
    constexpr finding* report(fault f, const warp_type& w, uint32_t lanes, uint32_t at, uint32_t other_at,
                              const warp_type* other, uint32_t other_lanes, message text) {
        const uint64_t key = mix(mix(static_cast<uint64_t>(f), at), other_at);
        if (!said_.insert(key).second) return nullptr;
        finding r;
        r.kind = f;
        // One by one: g++ 12 destroys temporaries of a conditional twice in constant evaluation.
        r.first.where = code_[at].where;
        r.first.known = true;
        r.first.who = who(w, lanes);
        if (other_at != none) {
            r.second.where = code_[other_at].where;
            r.second.known = true;
            if (other != nullptr) r.second.who = who(*other, other_lanes);
        }
        r.text = std::move(text);
        r.warning = doubtful_;
        r.run = chosen_;
        for (std::size_t k = 0; k < trace_.size(); ++k) r.trace.push_back(trace_[(oldest_ + k) % trace_.size()]);
        findings_.push_back(std::move(r));
        if (findings_.size() >= limits_.findings) abandon(at, "what comes behind the findings that end a run");
        return &findings_.back();
    }
    constexpr void note(const warp_type& w, uint32_t lanes, uint32_t at, deed what, uint32_t address, uint64_t count) {
        const event e{code_[at].where, w.index, w.block, lanes, what, address, count};
        if (trace_.size() < limits_.trace) {
            trace_.push_back(e);
        } else if (!trace_.empty()) {
            trace_[oldest_] = e;
            oldest_ = (oldest_ + 1) % trace_.size();
        }
    }

    // ---- agents -------------------------------------------------------------------------------------------------

    [[nodiscard]] constexpr uint32_t new_agent() noexcept { return agents_++; }
    /// What `w` has done so far becomes an event others can know of; the frontier it hands on.
    constexpr const frontier& release(warp_type& w) {
        w.knows.raise(w.agent, w.event++);
        ++releases_;
        return w.knows;
    }
    /// Like `release`, for arrivals that are `.relaxed`: only what a fence has released before.
    constexpr const frontier& release_relaxed(warp_type& w) { return w.released; }

    // ---- accesses -----------------------------------------------------------------------------------------------

    [[nodiscard]] constexpr bool ended(const warp_type& w, const touch& t) const noexcept {
        if (t.how == access::copy) {
            const copy& c = copies_[t.agent];
            return c.landed && w.knows.of(c.agent) >= c.event;
        }
        return t.agent == w.agent || w.knows.of(t.agent) >= t.event;
    }
    /// Whether the lanes that wrote have all fenced the proxies since, before the moment `w` knows of.
    [[nodiscard]] constexpr bool fenced(const warp_type& w, const touch& t) const noexcept {
        const warp_type& writer = warps_[t.warp];
        const uint32_t known = &writer == &w ? w.event + 1 : w.knows.of(writer.agent) + 1;
        uint32_t lanes = 0;
        for (std::size_t k = writer.fences.size(); k-- > 0;) {
            const proxy_fence& f = writer.fences[k];
            if (f.event < t.event) break;
            if (f.event < known) lanes |= f.lanes;
            if ((t.lanes & ~lanes) == 0) return true;
        }
        return (t.lanes & ~lanes) == 0;
    }
    [[nodiscard]] static constexpr bool writes(access a) noexcept {
        return a == access::write || a == access::atomic || a == access::copy || a == access::thread_copy;
    }
    [[nodiscard]] static constexpr bool by_async_proxy(access a) noexcept {
        return a == access::async_read || a == access::copy;
    }

    /// One access of shared memory: held against what was there, then remembered. `proxy`: whether ordinary writes have
    /// to be fenced for it.
    constexpr void touch_bytes(const warp_type& w, uint32_t at, uint32_t target, const list<page_span>& spans, touch t,
                               bool proxy) {
        t.warp = w.agent;
        t.at = at;
        block_type& b = blocks_[target];
        touched_ += spans.size();
        for (const page_span& s : spans) {
            shadow::page* const p = b.bytes.at(s.page);
            if (p == nullptr) continue;
            t.granules = s.granules;
            check_writes(w, *p, s, t, proxy && by_async_proxy(t.how));
            if (!writes(t.how)) {
                shadow::read(*p, t);
                continue;
            }
            check_reads(w, *p, s, t);
            shadow::write(*p, t);
            shadow::forget_reads(*p, s.granules);
        }
    }

private:
    constexpr void check_writes(const warp_type& w, const shadow::page& p, const page_span& s, const touch& t,
                                bool proxy) {
        for (const touch& old : p.writes) {
            if ((old.granules & s.granules) == 0 || commute(old, t)) continue;
            if (!ended(w, old))
                unordered(w, s, t, old);
            else if (proxy && (old.how == access::write || old.how == access::atomic) && !fenced(w, old) &&
                     code_[old.at].op != tok::tcgen05)  // the place of an allocation, read long ago
                unfenced(w, s, t, old);
        }
    }
    /// Whether two writes need no order: atomics, sums, what one instruction writes in several threads (it may be the
    /// same everywhere), and a thread's copies into one place.
    [[nodiscard]] constexpr bool commute(const touch& old, const touch& t) const noexcept {
        if (old.how == access::copy && t.how == access::copy)
            return copies_[old.agent].reduces && copies_[t.agent].reduces;
        if (old.how != t.how || !writes(t.how)) return false;
        return old.how == access::atomic || (old.at == t.at && old.how == access::write) ||
               (old.how == access::thread_copy && old.warp == t.warp && old.lanes == t.lanes);
    }
    constexpr void check_reads(const warp_type& w, const shadow::page& p, const page_span& s, const touch& t) {
        for (const touch& old : p.reads) {
            if ((old.granules & s.granules) == 0 || ended(w, old)) continue;
            const bool async = old.how == access::async_read;
            if (!async && !written_before(p, old.granules & s.granules)) {
                report(fault::race, w, t.lanes, t.at, old.at, &warps_[old.warp], old.lanes,
                       verb(t.how) + place(s, old) + ", and nothing makes the read of % wait for that");
                continue;
            }
            report(async ? reader(old) : fault::overwritten, w, t.lanes, t.at, old.at, &warps_[old.warp], old.lanes,
                   verb(t.how) + place(s, old) +
                       (async ? " while what % started may still read it" : " while % may still read it"));
        }
    }
    /// Whether somebody has written there before: who reads it reads that.
    [[nodiscard]] static constexpr bool written_before(const shadow::page& p, uint64_t granules) noexcept {
        for (const touch& old : p.writes)
            if ((old.granules & granules) != 0) return true;
        return false;
    }
    /// What it is to overwrite what an asynchronous instruction reads.
    [[nodiscard]] constexpr fault reader(const touch& old) const noexcept {
        const tok op = code_[old.at].op;
        return op == tok::wgmma     ? fault::read_in_flight
               : op == tok::tcgen05 ? fault::multiplied_from
                                    : fault::stored_from;
    }
    [[nodiscard]] constexpr fault unfenced_kind(const touch& t) const noexcept {
        if (t.how == access::copy) return fault::unfenced_copy;
        const tok op = code_[t.at].op;
        return op == tok::wgmma || op == tok::tcgen05 ? fault::unfenced_product : fault::proxy_fence;
    }
    constexpr void unfenced(const warp_type& w, const page_span& s, const touch& t, const touch& old) {
        finding* const f = report(
            unfenced_kind(t), w, t.lanes, t.at, old.at, &warps_[old.warp], old.lanes,
            verb(t.how) + place(s, old) +
                " through the async proxy, which need not see what % wrote there: the threads that wrote execute "
                "fence.proxy.async, then they meet");
        if (f != nullptr) f->disputed = t.how == access::copy || w.fenced.of(old.agent) >= old.event;
    }
    constexpr void unordered(const warp_type& w, const page_span& s, const touch& t, const touch& old) {
        const bool copying = old.how == access::copy || old.how == access::thread_copy;
        finding* const f = report(
            copying ? fault::copy_in_flight : fault::race, w, t.lanes, t.at, old.at, &warps_[old.warp], old.lanes,
            verb(t.how) + place(s, old) +
                (copying ? " while the copy of % may be in flight" : ", and nothing orders it behind the write of %"));
        // One instruction that copies again and again to a place nobody reads warms the cache: kernels do so.
        if (f != nullptr && t.how == access::copy && old.how == access::copy && t.at == old.at) f->disputed = true;
    }
    [[nodiscard]] constexpr message place(const page_span& s, const touch& old) const {
        return object(blocks_[0].bytes.byte_of(s.page, s.granules & old.granules));
    }
    [[nodiscard]] static constexpr message verb(access a) {
        switch (a) {
            case access::read: return "reads ";
            case access::async_read: return "starts to read ";
            case access::copy:
            case access::thread_copy: return "starts a copy into ";
            case access::atomic: return "updates ";
            default: return "writes ";
        }
    }

protected:
    const code& code_;
    choices chosen_;
    limits limits_;
    list<warp_type> warps_;
    list<block_type> blocks_;
    cluster_barrier cluster_;
    list<copy> copies_;
    list<landing> landings_;
    list<finding> findings_;
    list<uncovered> unfollowed_;
    list<event> trace_;  ///< a ring of `limits::trace`, the oldest at `oldest_`
    std::size_t oldest_ = 0;
    table<uint8_t> said_;
    uint32_t agents_ = 0;
    uint32_t cluster_met_ = 0;  ///< the agent whose event 1 is that all blocks have met once at the cluster barrier
    uint64_t steps_ = 0;
    uint64_t touched_ = 0;   ///< pages of memory, over all accesses
    uint64_t releases_ = 0;  ///< whoever looks again and again may see something new behind one
    bool abandoned_ = false;
    bool stopped_ = false;
    bool doubtful_ = false;  ///< data of single threads decided who takes part in something
};

}  // namespace ptxdsl::machine
