// SPDX-License-Identifier: Apache-2.0
// What goes on behind a thread's back: bulk and tensor copies, cp.async, wgmma. Each is held against memory when it
// starts and ends as late as it may.
#pragma once

#include <ptxdsl/machine/accesses.hpp>
#include <ptxdsl/machine/layouts.hpp>
#include <ptxdsl/machine/list.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

/// How an instruction ended for a piece of a warp.
enum class outcome : uint8_t {
    done,    ///< go on behind it
    again,   ///< it waits; come back
    jumped,  ///< the piece has a new place
};

template <class Values>
class async_work : public accesses<Values> {
public:
    using base = accesses<Values>;
    using base::base;
    using typename base::block_type;
    using typename base::value;
    using typename base::warp_type;

protected:
    using base::blocks_;
    using base::code_;
    using base::copies_;
    using base::landings_;
    using base::warps_;

    // ---- mbarriers ----------------------------------------------------------------------------------------------

    /// The mbarrier there, initialised or not.
    constexpr mbarrier& barrier_at(uint32_t target, uint32_t address) {
        list<mbarrier>& all = blocks_[target].barriers;
        for (mbarrier& b : all)
            if (b.address == address) return b;
        mbarrier b;
        b.address = address;
        b.agent = this->new_agent();
        b.init_agent = this->new_agent();
        all.push_back(b);
        return all.back();
    }
    /// The mbarrier an instruction uses; null, said and the run abandoned, where it is not initialised.
    constexpr mbarrier* barrier_for(const warp_type& w, uint32_t pc, uint32_t lanes, uint32_t target,
                                    uint32_t address) {
        if (target != w.block) this->visit(w, pc, lanes, target, "uses an mbarrier of");
        mbarrier& b = barrier_at(target, address);
        if (!b.live) {
            this->report(fault::no_barrier, w, lanes, pc,
                         "uses the mbarrier " + this->object(address) + ", which is not initialised");
            this->abandoned_ = true;
            return nullptr;
        }
        if (w.knows.of(b.init_agent) < b.inits)
            this->report(fault::no_barrier, w, lanes, pc, b.at, &warps_[b.warp], all_lanes,
                         "uses the mbarrier " + this->object(address) +
                             ", and nothing orders it behind its initialisation by %");
        return &b;
    }
    /// `n` arrivals and `expected` more bytes, by somebody who knows `knows`.
    constexpr bool arrive(const warp_type& w, uint32_t pc, uint32_t lanes, mbarrier& b, uint32_t n,
                          std::int64_t expected, const frontier& knows) {
        b.bytes += expected;
        if (b.pending < n) {
            if (b.vouched)
                this->abandon(pc, "arrivals at a barrier whose arrivals the author vouches for");
            else
                this->report(fault::arrivals, w, lanes, pc,
                             "arrives at the mbarrier " + this->object(b.address) + " " + number(n) +
                                 (n == 1 ? " time" : " times") + " where its phase " + number(b.phase) + " takes " +
                                 number(b.pending) + " more of " + number(b.count));
            this->abandoned_ = true;
            return false;
        }
        b.arriving.join(knows);
        b.pending -= n;
        b.settle();
        return true;
    }
    /// One landing happens now.
    constexpr void land(std::size_t k) {
        // Arrivals behind the work of one queue come in its order.
        for (std::size_t j = 0; j < k; ++j)
            if (landings_[j].event != 0 && landings_[j].agent == landings_[k].agent && landings_[k].event != 0) {
                k = j;
                break;
            }
        const landing l = landings_[k];
        landings_.remove(k);
        const warp_type& w = warps_[l.warp];
        if (blocks_[l.block].gone()) return;  // said when the block left
        mbarrier& b = barrier_at(l.block, l.address);
        if (!b.live) return;
        --b.in_flight;
        if (l.copy != none) copies_[l.copy] = {true, b.agent, b.total + 1, copies_[l.copy].reduces};
        b.bytes -= l.bytes;
        if (l.arrivals == 0) return b.settle();
        frontier knows = l.knows;
        if (l.event != 0) knows.raise(l.agent, l.event);
        arrive(w, l.at, all_lanes, b, l.arrivals, 0, knows);
    }

    // ---- bulk copies --------------------------------------------------------------------------------------------

    constexpr void bulk(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        if (code_.has(i, tok::prefetch)) return;
        if (code_.has(i, tok::commit_group)) return each_lane_queue(w, lanes, [](work_queue& q) { q.commit(); });
        if (code_.has(i, tok::wait_group)) return bulk_wait(w, i, lanes);
        if (code_.has(i, tok::bulk_group)) return bulk_store(w, i, pc, lanes);
        if (i.sp != space::shared && i.sp != space::shared_cluster) return;
        for (uint32_t m = lanes; m != 0 && !this->abandoned_; m &= m - 1)
            bulk_load(w, i, pc, static_cast<uint32_t>(std::countr_zero(m)));
    }
    [[nodiscard]] constexpr work_queue& lane_queue(const warp_type& w, uint32_t l) {
        work_queue& q = queues_[w.agent * 32 + l];
        if (q.agent == 0) q.agent = this->new_agent();
        return q;
    }
    /// Bulk stores of lanes that leave while memory may still be read for them.
    constexpr void leave_bulk_stores(warp_type& w, uint32_t pc, uint32_t lanes) {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const work_queue* const q = queues_.find(w.agent * 32 + l);
            if (q == nullptr || w.knows.of(q->agent) >= q->issued()) continue;
            finding* const f = this->report(fault::store_at_exit, w, 1u << l, pc, last_store_[w.agent * 32 + l], &w,
                                            1u << l, "exits while the bulk store of % may still read shared memory");
            if (f != nullptr) f->warning = code_.program().from_text;
        }
    }

    // ---- cp.async -----------------------------------------------------------------------------------------------

    constexpr void thread_copy(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        work_queue& q = w.thread_copies;
        if (q.agent == 0) q.agent = this->new_agent();
        if (code_.has(i, tok::commit_group)) {
            if (lanes != w.live) this->abandon(pc, "cp.async.commit_group in part of a warp");
            return q.commit();
        }
        if (code_.has(i, tok::wait_all)) return w.knows.raise(q.agent, q.issued());
        if (code_.has(i, tok::wait_group)) {
            const value n = this->lane(w, code_.at(i, 0), 0);
            if (lanes != w.live) this->abandon(pc, "cp.async.wait_group in part of a warp");
            return w.knows.raise(q.agent, q.ended(n.bits));
        }
        const operand& size = code_.at(i, 2);
        const uint32_t bytes = static_cast<uint32_t>(size.bits);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, code_.at(i, 0), l), i.sp);
            if (!p.known) {
                this->skip(pc, "a cp.async to an address that is not followed");
                return;
            }
            if (!p.shared) return;
            span_.clear();
            blocks_[p.block].bytes.span(p.offset, p.offset + bytes, span_);
            blocks_[p.block].words.forget(p.offset, p.offset + bytes);
            touch t;
            t.how = access::thread_copy;
            t.agent = q.agent;
            t.event = q.issued() + 1;
            t.lanes = 1u << l;
            this->touch_bytes(w, pc, p.block, span_, t, false);
        }
        q.start();
    }
    /// `cp.async.mbarrier.arrive`: arrives once the copies so far have landed.
    constexpr void arrive_behind_copies(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool counted = !code_.has(i, tok::noinc);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, code_.at(i, 0), l), i.sp);
            if (!p.known) return this->abandon(pc, "an mbarrier at an address that is not followed");
            mbarrier* const b = barrier_for(w, pc, 1u << l, p.block, p.offset);
            if (b == nullptr) return;
            if (counted) ++b->pending;
            landing x = landing_at(w, pc, *b, p.block);
            x.arrivals = 1;
            x.agent = w.thread_copies.agent;
            x.event = w.thread_copies.issued();
            x.knows = w.knows;  // without a release: the copies and what the thread had learnt
            landings_.push_back(x);
        }
    }

    // ---- wgmma --------------------------------------------------------------------------------------------------

    /// The instructions of a warpgroup: its four warps start and end a product together.
    constexpr outcome wgmma(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t lanes) {
        work_queue& q = group_queue(w);
        if (code_.has(i, tok::commit_group)) q.commit();
        if (code_.has(i, tok::wait_group)) {
            const uint32_t event = q.ended(this->lane(w, code_.at(i, 0), 0).bits);
            if (!group_issued(w, event)) {
                w.pieces[at].what = waiting::products;
                w.pieces[at].generation = event;
                return outcome::again;
            }
            w.knows.raise(q.agent, event);
        }
        if (code_.has(i, tok::mma_async)) multiply(w, i, pc, lanes, q);
        return outcome::done;
    }
    /// Whether all warps of the warpgroup have started the product.
    [[nodiscard]] constexpr bool group_issued(const warp_type& w, uint32_t event) const noexcept {
        const uint32_t first = w.agent - w.index % 4;
        for (uint32_t k = first; k < first + 4 && k < warps_.size(); ++k)
            if (warps_[k].block == w.block && warps_[k].wgmma.issued() < event) return false;
        return true;
    }
    [[nodiscard]] constexpr landing landing_at(const warp_type& w, uint32_t pc, mbarrier& b, uint32_t target) const {
        landing x;
        x.block = target;
        x.address = b.address;
        x.at = pc;
        x.warp = w.agent;
        ++b.in_flight;
        return x;
    }
    /// What a copy of an unknown number of bytes certainly writes.
    static constexpr uint32_t certain_bytes = 16;

    /// Nobody can go on: the copies to a barrier whose sizes are not known bring what it still expects. Which of them
    /// brings how much does not matter, since they come together in every phase; but all of one instruction, those of
    /// several blocks' multicasts among them, bring as much. False where it expects nothing.
    constexpr bool measure(const landing& some) {
        const mbarrier& b = barrier_at(some.block, some.address);
        const auto is_one = [&](const landing& l) {
            return l.open && l.block == some.block && l.address == some.address;
        };
        uint32_t n = 0, fewest = 0, rarest = none;  // the instruction with the fewest of them brings what is left
        for (const landing& l : landings_) {
            if (!is_one(l)) continue;
            uint32_t same = 0;
            for (const landing& o : landings_) same += is_one(o) && o.at == l.at ? 1 : 0;
            ++n;
            if (fewest == 0 || same < fewest) fewest = same, rarest = l.at;
        }
        if (b.bytes <= 0 || n == 0) return false;
        uint32_t rest = static_cast<uint32_t>(b.bytes), each = rest / n;
        const uint32_t others = n - fewest;
        while (others != 0 && each != 0 && (rest - each * others) % fewest != 0) --each;
        const uint32_t left = (rest - each * others) / fewest;
        for (landing& l : landings_) {
            if (!is_one(l)) continue;
            l.open = false;
            l.bytes = --n == 0 ? rest : l.at == rarest ? left : each;
            rest -= l.bytes;
            sizes_[l.at] = l.bytes;
        }
        return true;
    }
    /// Starts a copy of `bytes` to byte `low` of a block, which lands on `b` there; 0: of a number not known yet.
    constexpr void start_copy(warp_type& w, uint32_t pc, uint32_t lanes, uint32_t target, uint32_t low, uint32_t bytes,
                              mbarrier& b, uint32_t barrier_block, bool proxy) {
        const bool unknown = bytes == 0;
        const uint32_t* const measured = unknown ? sizes_.find(pc) : nullptr;
        if (unknown) bytes = certain_bytes;
        copies_.push_back({});
        copies_.back().reduces = code_[pc].op == tok::red || code_.has(code_[pc], tok::reduce);
        const uint32_t id = static_cast<uint32_t>(copies_.size() - 1);
        span_.clear();
        blocks_[target].bytes.span(low, low + bytes, span_);
        blocks_[target].words.forget(low, low + bytes);
        touch t;
        t.how = access::copy;
        t.agent = id;
        t.lanes = lanes;
        this->touch_bytes(w, pc, target, span_, t, proxy);
        landing x = landing_at(w, pc, b, barrier_block);
        ++this->releases_;  // somebody may wait for it
        x.copy = id;
        x.open = unknown && measured == nullptr;
        x.bytes = x.open ? 0 : unknown ? *measured : bytes;
        landings_.push_back(x);
    }

private:
    template <class F>
    constexpr void each_lane_queue(warp_type& w, uint32_t lanes, const F& f) {
        for (uint32_t m = lanes; m != 0; m &= m - 1) f(lane_queue(w, static_cast<uint32_t>(std::countr_zero(m))));
    }
    constexpr void bulk_wait(warp_type& w, const instruction& i, uint32_t lanes) {
        const value n = this->lane(w, code_.at(i, 0), 0);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const work_queue* const q = queues_.find(w.agent * 32 + static_cast<uint32_t>(std::countr_zero(m)));
            if (q != nullptr) w.knows.raise(q->agent, q->ended(n.bits));
        }
    }
    constexpr void bulk_store(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool tensor = code_.has(i, tok::tensor);
        const operand& from = code_.at(i, 1);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, from, l), space::shared);
            uint32_t bytes = i.bytes;
            if (!tensor) {
                const value n = this->lane(w, code_.at(i, 2), l);
                bytes = n.is_known() ? static_cast<uint32_t>(n.bits) : 0;
            }
            if (bytes == 0) {
                this->skip(pc, "how many bytes this store reads: it is taken to read 16");
                bytes = 16;
            }
            work_queue& q = lane_queue(w, l);
            const uint32_t event = q.start();
            last_store_[w.agent * 32 + l] = pc;
            if (!p.known) {
                this->skip(pc, "a bulk store from an address that is not followed");
                continue;
            }
            span_.clear();
            blocks_[p.block].bytes.span(p.offset, p.offset + bytes, span_);
            touch t;
            t.how = access::async_read;
            t.agent = q.agent;
            t.event = event;
            t.lanes = 1u << l;
            this->touch_bytes(w, pc, p.block, span_, t, true);
        }
    }
    /// A copy into shared memory, from global memory or from another block.
    constexpr void bulk_load(warp_type& w, const instruction& i, uint32_t pc, uint32_t l) {
        const bool tensor = code_.has(i, tok::tensor);
        const operand& to = code_.at(i, 0);
        const operand& on = code_.at(i, tensor ? 2 : 3);
        const place dst = this->resolve(w, this->address(w, to, l), i.sp);
        const place bar = this->resolve(w, this->address(w, on, l), i.sp);
        if (!bar.known || !bar.shared || !dst.known || !dst.shared)
            return this->abandon(pc, "a copy to an address that is not followed");
        uint32_t bytes = i.bytes;
        if (!tensor) {
            const value n = this->lane(w, code_.at(i, 2), l);
            bytes = n.is_address() ? static_cast<uint32_t>(n.bits) : 0;
        }
        if (bytes == 0)
            this->skip(pc, "how many bytes this copy brings: as many as its barrier expects, 16 are judged");
        uint32_t targets = 1u << dst.block;
        if (code_.has(i, tok::multicast__cluster)) {
            const value mask = this->lane(w, code_.at(i, tensor ? 3 + im2col_operands(i) : 4), l);
            if (!mask.is_address()) return this->abandon(pc, "a multicast mask that is not known");
            targets = static_cast<uint32_t>(mask.bits & 0xffffu);
        }
        this->note(w, 1u << l, pc, deed::copies, dst.offset, bytes);
        const bool multicast = code_.has(i, tok::multicast__cluster);
        for (uint32_t b = 0; b < blocks_.size() && !this->abandoned_; ++b) {
            if ((targets >> b & 1u) == 0) continue;
            if (b != w.block) this->visit(w, pc, 1u << l, b, "copies into");
            // With .cta_group::2 the barrier may be the pair's first block's.
            const uint32_t at =
                multicast ? (code_.has(i, tok::cta_group__2) ? pair_barrier(b, bar.block, w.block) : b) : bar.block;
            if (blocks_[b].gone()) continue;
            mbarrier* const m = barrier_for(w, pc, 1u << l, at, bar.offset);
            if (m != nullptr) start_copy(w, pc, 1u << l, b, dst.offset, bytes, *m, at, true);
        }
        if (this->abandoned_) return;
        check_source(w, i, pc, l, bytes == 0 ? certain_bytes : bytes);
    }
    [[nodiscard]] static constexpr uint32_t pair_barrier(uint32_t target, uint32_t bar, uint32_t own) noexcept {
        return (target & ~1u) | ((bar & 1u) == (own & 1u) ? target & 1u : bar & 1u);
    }
    [[nodiscard]] constexpr uint32_t im2col_operands(const instruction& i) const noexcept {
        return code_.has(i, tok::im2col) || code_.has(i, tok::im2col__w) || code_.has(i, tok::im2col__w__128) ? 1 : 0;
    }
    /// From shared memory of the own block to a peer's: the source is read until the copy has landed.
    constexpr void check_source(warp_type& w, const instruction& i, uint32_t pc, uint32_t l, uint32_t bytes) {
        if (code_.has(i, tok::tensor) || code_.has(i, tok::global) || !code_.has(i, tok::shared__cta)) return;
        const place from = this->resolve(w, this->address(w, code_.at(i, 1), l), space::shared);
        if (!from.known || !from.shared || copies_.empty()) return;
        span_.clear();
        blocks_[from.block].bytes.span(from.offset, from.offset + bytes, span_);
        touch t;
        t.how = access::async_read;
        t.agent = w.agent;  // its end is the peer's to know: only the writes before it are judged
        t.event = 0;
        t.lanes = 1u << l;
        this->touch_bytes(w, pc, from.block, span_, t, true);
    }

    constexpr void multiply(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes, work_queue& q) {
        const uint32_t event = q.start();
        if (w.index % 4 != 0) return;  // the four warps read together
        const operand &a = code_.at(i, 1), &b = code_.at(i, 2);
        constexpr uint32_t row_bytes = 32;  // of every type: K is 32 bytes of operand A
        bool mn_a = false, mn_b = false;
        transposed(i, a.what == operand::kind::reg, mn_a, mn_b);
        if (a.what == operand::kind::reg) read_tile(w, pc, lanes, event, this->lane(w, a, 0), 64, row_bytes, mn_a, q);
        const uint32_t b_bytes = code_.has(i, tok::sp) ? 2 * row_bytes : row_bytes;
        read_tile(w, pc, lanes, event, this->lane(w, b, 0), isa::token_count_of(shape_of(i)), b_bytes, mn_b, q);
    }
    /// The wgmma of a warpgroup end together: its first warp's agent counts for all.
    [[nodiscard]] constexpr work_queue& group_queue(warp_type& w) {
        warp_type& first = warps_[w.agent - w.index % 4];
        if (first.wgmma.agent == 0) first.wgmma.agent = this->new_agent();
        w.wgmma.agent = first.wgmma.agent;
        return w.wgmma;
    }
    [[nodiscard]] constexpr tok shape_of(const instruction& i) const noexcept {
        for (uint32_t k = 1; k < i.tokens; ++k)
            if (isa::token_count_of(code_.word(i, k)) >= 8 && isa::spelling(code_.word(i, k))[0] == 'm')
                return code_.word(i, k);
        return tok::none;
    }
    /// The two last immediates of 16-bit products: which operand is stored with its rows along K.
    constexpr void transposed(const instruction& i, bool a_in_memory, bool& a, bool& b) const {
        if (i.type != isa::scalar::f16 && i.type != isa::scalar::bf16) return;
        const operand& last = code_.at(i, i.operand_count - 1);
        if (last.what != operand::kind::constant) return;
        b = (last.bits & 1u) != 0;
        if (a_in_memory && i.operand_count >= 2) a = (code_.at(i, i.operand_count - 2).bits & 1u) != 0;
    }
    constexpr void read_tile(warp_type& w, uint32_t pc, uint32_t lanes, uint32_t event, const value& descriptor,
                             uint32_t rows, uint32_t row_bytes, bool along_mn, const work_queue& q) {
        if (!descriptor.is_address()) return this->skip(pc, "a matrix descriptor that is not followed");
        const list<page_span>& spans =
            tile_spans(w.block, descriptor.bits, layout_family::wgmma, rows, row_bytes, along_mn);
        touch t;
        t.how = access::async_read;
        t.agent = q.agent;
        t.event = event;
        t.lanes = lanes;
        this->touch_bytes(w, pc, w.block, spans, t, true);
    }

protected:
    /// The pages of a tile that a descriptor means; kept, since kernels use few tiles often.
    constexpr const list<page_span>& tile_spans(uint32_t block, uint64_t descriptor, layout_family family,
                                                uint32_t rows, uint32_t row_bytes, bool along_mn) {
        const uint64_t key = mix(descriptor, uint64_t{rows} << 32 | row_bytes << 2 | (along_mn ? 2u : 0u) |
                                                 (family == layout_family::wgmma ? 1u : 0u));
        const auto entry = tiles_.insert(key);  // by name: clang does not capture parts of a pair in a constant
        list<page_span>* const spans = entry.first;
        if (!entry.second) return *spans;
        const shadow& bytes = blocks_[block].bytes;
        tile_reader(descriptor, family).spans(rows, row_bytes, along_mn, [&](uint32_t low, uint32_t high) {
            if (high <= code_.shared_bytes) bytes.span(low, high, *spans);
        });
        join_pages(*spans);
        return *spans;
    }
    static constexpr void join_pages(list<page_span>& s) {
        if (s.size() < 2) return;
        for (std::size_t k = 1; k < s.size(); ++k)  // nearly in order
            for (std::size_t j = k; j > 0 && s[j].page < s[j - 1].page; --j) std::swap(s[j], s[j - 1]);
        std::size_t keep = 0;
        for (std::size_t k = 1; k < s.size(); ++k) {
            if (s[k].page == s[keep].page)
                s[keep].granules |= s[k].granules;
            else
                s[++keep] = s[k];
        }
        s.resize(keep + 1);
    }

    list<page_span> span_;
    table<list<page_span>> tiles_;
    table<work_queue> queues_;    ///< bulk groups, by thread
    table<uint32_t> last_store_;  ///< by thread: its last bulk store
    table<uint32_t> sizes_;       ///< by instruction: bytes of copies that do not say how many, as far as it showed
};

}  // namespace ptxdsl::machine
