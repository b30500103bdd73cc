// SPDX-License-Identifier: Apache-2.0
// The fifth-generation tensor core and its memory: products and copies of a thread end in order behind a commit, loads
// and stores of a warp behind its wait.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/synchronisation.hpp>

#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

/// Where products are summed up, until something else writes there.
struct accumulator {
    uint32_t first = 0, columns = 0, groups = 0;
    uint32_t at = 0;              ///< the instruction
    bool read = false;            ///< some of it has been loaded
    uint32_t overwritten = none;  ///< the instruction of another accumulator that took part of it before that
};

/// The tensor memory of a block: eight groups of 16 lanes, 512 columns. A granule is a column of a group.
struct tensor_memory {
    shadow cells;
    struct columns_taken {
        uint32_t low = 0, count = 0;
        constexpr bool operator==(const columns_taken&) const = default;
    };
    list<columns_taken> taken;
    list<accumulator> sums;
    uint32_t at = 0;  ///< the instruction that allocated last

    static constexpr uint32_t columns = 512;

    /// The first column of `n` free ones; `columns` where there are none.
    [[nodiscard]] constexpr uint32_t place(uint32_t n) const noexcept {
        for (uint32_t first = 0; first + n <= columns; first += 32) {
            bool open = true;
            for (const auto& [low, count] : taken) open = open && (first + n <= low || low + count <= first);
            if (open) return first;
        }
        return columns;
    }
    [[nodiscard]] constexpr bool holds(uint32_t first, uint32_t n) const noexcept {
        for (const auto& [low, count] : taken)
            if (first >= low && first + n <= low + count) return true;
        return false;
    }
};

template <class Values>
class tensor_core : public synchronisation<Values> {
public:
    using base = synchronisation<Values>;
    using base::base;
    using typename base::block_type;
    using typename base::value;
    using typename base::warp_type;

protected:
    using base::blocks_;
    using base::code_;
    using base::warps_;

    constexpr outcome tcgen05(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t lanes) {
        if (memories_.size() != blocks_.size()) set_up_memories();
        switch (code_.word(i, 1)) {
            case tok::alloc: return allocate(w, at, i, pc, lanes);
            case tok::dealloc: deallocate(w, i, pc, lanes); break;
            case tok::ld: transfer(w, i, pc, lanes, false); break;
            case tok::st: transfer(w, i, pc, lanes, true); break;
            case tok::wait__ld: w.knows.raise(transfers(w, false).agent, transfers(w, false).issued()); break;
            case tok::wait__st: w.knows.raise(transfers(w, true).agent, transfers(w, true).issued()); break;
            case tok::mma: each_lane(lanes, [&](uint32_t l) { multiply(w, i, pc, l); }); break;
            case tok::cp: each_lane(lanes, [&](uint32_t l) { copy_in(w, i, pc, l); }); break;
            case tok::commit: each_lane(lanes, [&](uint32_t l) { commit(w, i, pc, l); }); break;
            default: break;  // permits, fences between threads, shifts
        }
        return outcome::done;
    }
    /// A block whose last warp has left frees what it took before.
    constexpr void leave_tensor_memory(const warp_type& w, uint32_t pc) {
        if (w.block >= memories_.size() || memories_[w.block].taken.empty()) return;
        this->report(fault::tensor_memory_kept, w, all_lanes, pc, memories_[w.block].at, nullptr, 0,
                     "is the last of its block to exit, and the tensor memory of % is still allocated");
    }

private:
    template <class F>
    constexpr void each_lane(uint32_t lanes, const F& f) {
        for (uint32_t m = lanes; m != 0 && !this->abandoned_; m &= m - 1) f(static_cast<uint32_t>(std::countr_zero(m)));
    }
    constexpr void set_up_memories() {
        memories_.resize(blocks_.size());
        for (tensor_memory& t : memories_) t.cells.reset(8 * tensor_memory::columns, 1);
    }
    [[nodiscard]] constexpr work_queue& queue_of(uint32_t key) {
        work_queue& q = tensor_queues_[key];
        if (q.agent == 0) q.agent = this->new_agent();
        return q;
    }
    /// What one thread gives the tensor core, ended in order.
    [[nodiscard]] constexpr work_queue& products(const warp_type& w, uint32_t l) { return queue_of(w.agent * 64 + l); }
    /// Loads, or stores, of a warp.
    [[nodiscard]] constexpr work_queue& transfers(const warp_type& w, bool stores) {
        return queue_of(w.agent * 64 + 32 + (stores ? 1 : 0));
    }

    // ---- allocation ---------------------------------------------------------------------------------------------

    constexpr outcome allocate(warp_type& w, std::size_t at, const instruction& i, uint32_t pc, uint32_t lanes) {
        const uint32_t l = static_cast<uint32_t>(std::countr_zero(lanes));
        const value n = this->lane(w, code_.at(i, 1), l);
        const place to = this->resolve(w, this->address(w, code_.at(i, 0), l), space::shared);
        if (!n.is_address() || !to.known || !to.shared) {
            this->abandon(pc, "an allocation of tensor memory that is not followed");
            return outcome::done;
        }
        tensor_memory& memory = memories_[w.block];
        const uint32_t columns = static_cast<uint32_t>(n.bits);
        const uint32_t first = memory.place(columns);
        if (first == tensor_memory::columns) {
            w.pieces[at].what = waiting::columns;
            w.pieces[at].generation = columns;
            return outcome::again;
        }
        memory.taken.push_back({first, columns});
        memory.at = pc;
        touch t;
        t.how = access::write;
        t.agent = w.agent;
        t.event = w.event;
        t.lanes = 1u << l;
        this->span_.clear();
        blocks_[to.block].bytes.span(to.offset, to.offset + 4, this->span_);
        this->touch_bytes(w, pc, to.block, this->span_, t, false);
        blocks_[to.block].words.store(to.offset, 4, Values::exact(first), Values::joined);
        this->note(w, lanes, pc, deed::allocates, first, columns);
        return outcome::done;
    }
    constexpr void deallocate(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const uint32_t l = static_cast<uint32_t>(std::countr_zero(lanes));
        const value at = this->lane(w, code_.at(i, 0), l), n = this->lane(w, code_.at(i, 1), l);
        if (!at.is_address() || !n.is_address())
            return this->abandon(pc, "a deallocation of tensor memory that is not followed");
        const uint32_t first = static_cast<uint32_t>(at.bits & 0xffffu), columns = static_cast<uint32_t>(n.bits);
        tensor_memory& memory = memories_[w.block];
        for (std::size_t k = 0; k < memory.taken.size(); ++k)
            if (memory.taken[k] == tensor_memory::columns_taken{first, columns}) {
                use(w, pc, lanes, w.block, all_groups, first, columns, access::write, nullptr, "frees");
                forget_products(memory, all_groups, first, columns);
                memory.taken.remove(k);
                return;
            }
        this->report(fault::no_tensor_memory, w, lanes, pc,
                     "frees " + number(columns) + " columns of tensor memory from column " + number(first) +
                         ", which are not allocated like that");
    }

    // ---- uses ---------------------------------------------------------------------------------------------------

    static constexpr uint32_t all_groups = 0xff;  ///< of 16 lanes
    /// What a matrix of 64 rows there certainly uses: every other group of 16 lanes.
    [[nodiscard]] static constexpr uint32_t half_groups(const value& at) noexcept {
        return (at.bits >> 20 & 1u) == 0 ? 0x55 : 0xaa;
    }

    /// A use of columns of some groups of lanes, held against those before it. `q`: the queue the use belongs to; null:
    /// it is over at once and not remembered.
    constexpr void use(const warp_type& w, uint32_t pc, uint32_t lanes, uint32_t target, uint32_t groups,
                       uint32_t first, uint32_t n, access how, const work_queue* q, const char* verb) {
        tensor_memory& memory = memories_[target];
        if (!memory.holds(first, n)) {
            this->report(fault::no_tensor_memory, w, lanes, pc,
                         message(verb) + " columns " + number(first) + " to " + number(first + n - 1) +
                             " of tensor memory, which are not allocated");
            this->abandoned_ = true;
            return;
        }
        list<page_span> cells;
        for (uint32_t m = groups; m != 0; m &= m - 1) {
            const uint32_t at = static_cast<uint32_t>(std::countr_zero(m)) * tensor_memory::columns + first;
            memory.cells.span(at, at + n, cells);
        }
        touch t;
        t.how = how;
        t.agent = q == nullptr ? w.agent : q->agent;
        t.event = q == nullptr ? 0 : q->issued();
        t.lanes = lanes;
        t.warp = w.agent;
        t.at = pc;
        for (const page_span& s : cells) {
            shadow::page* const p = memory.cells.at(s.page);
            t.granules = s.granules;
            hold(w, p->writes, t, first, verb);
            if (how == access::write) hold(w, p->reads, t, first, verb);
            if (q == nullptr) continue;
            if (how == access::write) {
                shadow::write(*p, t);
                shadow::forget_reads(*p, s.granules);
            } else {
                shadow::read(*p, t);
            }
        }
    }
    constexpr void hold(const warp_type& w, const list<touch>& others, const touch& t, uint32_t column,
                        const char* verb) {
        for (const touch& old : others) {
            if ((old.granules & t.granules) == 0 || old.agent == t.agent || w.knows.of(old.agent) >= old.event)
                continue;
            this->report(fault::tensor_memory_used, w, t.lanes, t.at, old.at, &warps_[old.warp], old.lanes,
                         message(verb) + " tensor memory from column " + number(column) +
                             " while what % started there need not have ended");
        }
    }

    // ---- accumulators -------------------------------------------------------------------------------------------

    [[nodiscard]] static constexpr bool meet(const accumulator& a, uint32_t groups, uint32_t first,
                                             uint32_t n) noexcept {
        return (a.groups & groups) != 0 && a.first < first + n && first < a.first + a.columns;
    }
    /// A product goes to columns `[first, first + n)`. Accumulators that lie elsewhere and share some of them lose what
    /// nobody has read.
    constexpr void sum_up(tensor_memory& memory, uint32_t groups, uint32_t first, uint32_t n, uint32_t pc) {
        for (std::size_t k = memory.sums.size(); k-- > 0;) {
            accumulator& a = memory.sums[k];
            if (!meet(a, groups, first, n)) continue;
            const bool whole = first <= a.first && a.first + a.columns <= first + n;
            if (whole || a.read)
                memory.sums.remove(k);
            else
                a.overwritten = pc;
        }
        memory.sums.push_back({first, n, groups, pc, false, none});
    }
    constexpr void load_products(const warp_type& w, uint32_t pc, uint32_t lanes, uint32_t groups, uint32_t first,
                                 uint32_t n) {
        for (accumulator& a : memories_[w.block].sums) {
            if (!meet(a, groups, first, n)) continue;
            a.read = true;
            if (a.overwritten == none) continue;
            this->report(fault::accumulator_overwritten, w, lanes, pc, a.overwritten, nullptr, 0,
                         "loads from an accumulator of columns " + number(a.first) + " to " +
                             number(a.first + a.columns - 1) + ", part of which the product of % has overwritten");
        }
    }
    static constexpr void forget_products(tensor_memory& memory, uint32_t groups, uint32_t first, uint32_t n) {
        for (std::size_t k = memory.sums.size(); k-- > 0;)
            if (meet(memory.sums[k], groups, first, n)) memory.sums.remove(k);
    }

    // ---- loads and stores of warps ------------------------------------------------------------------------------

    constexpr void transfer(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes, bool stores) {
        const operand* at = nullptr;
        for (uint32_t k = 0; k < i.operand_count; ++k)
            if (code_.at(i, k).what == operand::kind::address) at = &code_.at(i, k);
        if (!stores) this->forget(w, i, lanes);
        if (at == nullptr) return;
        const value a = this->address(w, *at, static_cast<uint32_t>(std::countr_zero(lanes)));
        if (!a.is_address()) return this->skip(pc, "an access of tensor memory at an address that is not followed");
        const uint32_t lane = static_cast<uint32_t>(a.bits >> 16 & 0xffffu),
                       column = static_cast<uint32_t>(a.bits & 0xffffu);
        const uint32_t quarter = w.index % 4;
        if (lane / 32 != quarter) {
            this->report(fault::no_tensor_memory, w, lanes, pc,
                         message(stores ? "stores to" : "loads from") + " lane " + number(lane) +
                             " of tensor memory; a warp reaches its own quarter only, here lanes " +
                             number(32 * quarter) + " to " + number(32 * quarter + 31));
            return;
        }
        work_queue& q = transfers(w, stores);
        q.start();
        const bool half = code_.has(i, tok::_16x64b) || code_.has(i, tok::_16x128b) || code_.has(i, tok::_16x256b) ||
                          code_.has(i, tok::_16x32bx2);
        const uint32_t groups = half ? 1u << lane / 16 : 3u << 2 * quarter;
        if (stores)
            forget_products(memories_[w.block], groups, column, columns_of(i));
        else
            load_products(w, pc, lanes, groups, column, columns_of(i));
        use(w, pc, lanes, w.block, groups, column, columns_of(i), stores ? access::write : access::read, &q,
            stores ? "stores to" : "loads from");
    }
    /// Columns that a load or store certainly touches.
    [[nodiscard]] constexpr uint32_t columns_of(const instruction& i) const noexcept {
        uint32_t n = 1;
        for (uint32_t k = 1; k < i.tokens; ++k) switch (code_.word(i, k)) {
                case tok::x2: n = 2; break;
                case tok::x4: n = 4; break;
                case tok::x8: n = 8; break;
                case tok::x16: n = 16; break;
                case tok::x32: n = 32; break;
                case tok::x64: n = 64; break;
                case tok::x128: n = 128; break;
                default: break;
            }
        if (code_.has(i, tok::_16x64b) || code_.has(i, tok::_16x32bx2)) return 1;
        if (code_.has(i, tok::_16x128b)) return 4 * n;
        if (code_.has(i, tok::_16x256b)) return 8 * n;
        return code_.has(i, tok::pack__16b) || code_.has(i, tok::unpack__16b) ? 1 : n;
    }

    // ---- products -----------------------------------------------------------------------------------------------

    constexpr void multiply(warp_type& w, const instruction& i, uint32_t pc, uint32_t l) {
        const bool sparse = code_.has(i, tok::sp), pair = code_.has(i, tok::cta_group__2);
        const value d = this->address(w, code_.at(i, 0), l);
        const operand &a = code_.at(i, 1), &b = code_.at(i, 2);
        const value shape = this->lane(w, code_.at(i, sparse ? 4 : 3), l);
        if (!d.is_address() || !shape.is_address())
            return this->abandon(pc, "a tcgen05.mma whose operands are not known");
        const uint32_t rows = static_cast<uint32_t>(shape.bits >> 24 & 31u) << 4;
        const uint32_t n = static_cast<uint32_t>(shape.bits >> 17 & 63u) << 3;
        const bool a_mn = (shape.bits >> 15 & 1u) != 0, b_mn = (shape.bits >> 16 & 1u) != 0;
        work_queue& q = products(w, l);
        q.start();
        const uint32_t first = pair ? w.block & ~1u : w.block, last = pair ? first + 2 : first + 1;
        constexpr uint32_t row_bytes = 32;
        for (uint32_t block = first; block < last && block < blocks_.size() && !this->abandoned_; ++block) {
            if (block != w.block) this->visit(w, pc, 1u << l, block, "multiplies in");
            if (a.what == operand::kind::address)
                read_columns(w, pc, l, block, this->address(w, a, l), q);
            else
                read_rows(w, pc, l, block, this->lane(w, a, l), pair ? rows / 2 : rows, row_bytes, a_mn, q);
            read_rows(w, pc, l, block, this->lane(w, b, l), pair ? n / 2 : n, sparse ? 2 * row_bytes : row_bytes, b_mn,
                      q);
            // Where the layout of D is not one row a lane, less is certain.
            const bool whole = !code_.has(i, tok::ws) && rows / (pair ? 2 : 1) == 128 && (shape.bits >> 4 & 3u) == 1;
            const bool scaled = code_.has(i, tok::block_scale);
            const uint32_t columns = whole || scaled ? n : 1;
            const uint32_t column = static_cast<uint32_t>(d.bits & 0xffffu);
            const uint32_t groups = whole ? all_groups : half_groups(d);
            sum_up(memories_[block], groups, column, columns, pc);
            use(w, pc, 1u << l, block, groups, column, columns, access::write, &q, "multiplies into");
        }
    }
    constexpr void read_columns(const warp_type& w, uint32_t pc, uint32_t l, uint32_t block, const value& at,
                                const work_queue& q) {
        if (!at.is_address()) return this->skip(pc, "an operand in tensor memory that is not followed");
        use(w, pc, 1u << l, block, half_groups(at), static_cast<uint32_t>(at.bits & 0xffffu), 1, access::read, &q,
            "multiplies from");
    }
    constexpr void read_rows(const warp_type& w, uint32_t pc, uint32_t l, uint32_t block, const value& descriptor,
                             uint32_t rows, uint32_t row_bytes, bool along_mn, const work_queue& q) {
        if (!descriptor.is_address()) return this->skip(pc, "a matrix descriptor that is not followed");
        const list<page_span>& spans =
            this->tile_spans(block, descriptor.bits, layout_family::tcgen05, rows, row_bytes, along_mn);
        touch t;
        t.how = access::async_read;
        t.agent = q.agent;
        t.event = q.issued();
        t.lanes = 1u << l;
        this->touch_bytes(w, pc, block, spans, t, true);
    }
    /// `tcgen05.cp`: from shared into tensor memory.
    constexpr void copy_in(warp_type& w, const instruction& i, uint32_t pc, uint32_t l) {
        const value to = this->address(w, code_.at(i, 0), l);
        if (!to.is_address()) return this->abandon(pc, "a tcgen05.cp to columns that are not known");
        const bool pair = code_.has(i, tok::cta_group__2);
        work_queue& q = products(w, l);
        q.start();
        const uint32_t first = pair ? w.block & ~1u : w.block, last = pair ? first + 2 : first + 1;
        const uint32_t columns = code_.has(i, tok::_128x256b) || code_.has(i, tok::_4x256b) ? 8 : 4;
        for (uint32_t block = first; block < last && block < blocks_.size() && !this->abandoned_; ++block) {
            read_rows(w, pc, l, block, this->lane(w, code_.at(i, 1), l), 1, 16, true, q);
            use(w, pc, 1u << l, block, half_groups(to), static_cast<uint32_t>(to.bits & 0xffffu), columns,
                access::write, &q, "copies into");
        }
    }
    /// Arrives once all the thread has given the tensor core so far has ended, in its block or in all of a mask.
    constexpr void commit(warp_type& w, const instruction& i, uint32_t pc, uint32_t l) {
        const value at = this->address(w, code_.at(i, 0), l);
        const place p = this->resolve(w, at, i.has_space ? i.sp : space::shared);
        if (!p.known || !p.shared) return this->abandon(pc, "an mbarrier at an address that is not followed");
        uint32_t targets = 1u << p.block;
        if (code_.has(i, tok::multicast__cluster)) {
            const value mask = this->lane(w, code_.at(i, 1), l);
            if (!mask.is_address()) return this->abandon(pc, "a multicast mask that is not known");
            targets = static_cast<uint32_t>(mask.bits & 0xffffu);
        }
        const work_queue& q = products(w, l);
        this->note(w, 1u << l, pc, deed::commits, p.offset, 0);
        for (uint32_t b = 0; b < blocks_.size() && !this->abandoned_; ++b) {
            if ((targets >> b & 1u) == 0) continue;
            mbarrier* const m = this->barrier_for(w, pc, 1u << l, b, p.offset);
            if (m == nullptr) return;
            landing x = this->landing_at(w, pc, *m, b);
            x.arrivals = 1;
            x.agent = q.agent;
            x.event = q.issued();
            x.knows = w.knows;  // the products started behind what their thread knew
            this->landings_.push_back(x);
        }
    }

protected:
    /// Whether a piece that waits for columns can have them.
    [[nodiscard]] constexpr bool columns_free(const warp_type& w, uint32_t n) const noexcept {
        return memories_[w.block].place(n) != tensor_memory::columns;
    }

private:
    list<tensor_memory> memories_;  ///< by block
    table<work_queue> tensor_queues_;
};

}  // namespace ptxdsl::machine
