// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of threads: which bytes of shared memory they touch, and what the words hold.
#pragma once

#include <ptxdsl/machine/arithmetic.hpp>
#include <ptxdsl/machine/list.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace ptxdsl::machine {

template <class Values>
class accesses : public arithmetic<Values> {
public:
    using base = arithmetic<Values>;
    using base::base;
    using typename base::block_type;
    using typename base::value;
    using typename base::warp_type;

protected:
    using base::blocks_;
    using base::code_;
    using base::warps_;

    // ---- threads' accesses --------------------------------------------------------------------------------------

    constexpr void load(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        if (i.sp == space::param) return this->load_parameter(w, i, lanes);
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        const bool strong = is_strong(i);
        const operand& from = code_.at(i, 1);
        const bool shared = touch_lanes(w, i, pc, lanes, from, bytes, strong ? access::atomic : access::read);
        if (strong) hear_at(w, from, lanes);
        static_cast<void>(shared);
        if (!this->needs(code_.at(i, 0))) return;
        if (code_.at(i, 0).what != operand::kind::reg) return spread(w, i, lanes, from);
        std::array<value, 32> v{};
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            v[l] = loaded(w, i, from, l, bytes, strong);
        }
        this->put_each(w, code_.at(i, 0), v.data(), lanes);
    }
    constexpr void store(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        const bool strong = is_strong(i);
        const operand& to = code_.at(i, 0);
        const bool shared = touch_lanes(w, i, pc, lanes, to, bytes, strong ? access::atomic : access::write);
        const operand& what = code_.at(i, 1);
        if (strong) meet_at(w, to, lanes);
        if (!shared) return store_global(w, i, to, what, lanes, strong);
        if (!code_.reads_memory) return;
        const bool number = isa::info(i.type).cls != isa::type_class::floating &&
                            i.vector == (what.what == operand::kind::list ? what.count : 1u) && !this->is_data(what);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, to, l), i.sp);
            if (!p.known || !p.shared) continue;
            if (number && i.vector == 1)
                blocks_[p.block].words.store(p.offset, bytes, this->lane(w, what, l), Values::joined);
            else if (number)
                for (uint32_t k = 0; k < what.count; ++k)
                    blocks_[p.block].words.store(p.offset + k * bytes / i.vector, bytes / i.vector,
                                                 this->lane(w, code_.parts[what.first + k], l), Values::joined);
            else
                blocks_[p.block].words.forget(p.offset, p.offset + bytes);
        }
    }
    /// `atom` and `red`: strong; what they leave is computed where it can be.
    constexpr void update(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool returns = i.op == tok::atom;
        const operand& to = code_.at(i, returns ? 1 : 0);
        const operand& with = code_.at(i, returns ? 2 : 1);
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        touch_lanes(w, i, pc, lanes, to, bytes, access::atomic);
        meet_at(w, to, lanes);
        std::array<value, 32> old{};
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value at = this->address(w, to, l);
            old[l] = word_at(w, i, at, bytes);
            const value with_it = this->lane(w, with, l), other = this->lane(w, code_.at(i, returns ? 3 : 2), l);
            set_word(w, i, at, bytes, updated(i, old[l], with_it, other));
        }
        if (returns && code_.at(i, 0).what == operand::kind::reg)
            this->put_each(w, code_.at(i, 0), old.data(), lanes);
        else if (returns)
            this->forget(w, i, lanes);
    }
    /// `ldmatrix`, `stmatrix`: eight addresses a matrix, 16 bytes each (8 for the narrow shapes).
    constexpr void matrix(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool loads = i.op == tok::ldmatrix;
        const uint32_t matrices = code_.has(i, tok::x4) ? 4 : code_.has(i, tok::x2) ? 2 : 1;
        const uint32_t users = matrices >= 4 ? this_many(32) : this_many(8 * matrices);
        if (code_.has(i, tok::m8n8))
            touch_lanes(w, i, pc, lanes & users, code_.at(i, loads ? 1 : 0), 16, loads ? access::read : access::write);
        if (loads) return this->forget(w, i, lanes);
        for (block_type& b : blocks_) b.words.forget(0, 0);
    }

    /// Holds the accesses of all lanes against what was there. False: none is known to be in shared memory.
    constexpr bool touch_lanes(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes, const operand& at,
                               uint32_t bytes, access how) {
        if (i.has_space && i.sp != space::shared && i.sp != space::shared_cluster) return false;
        bool any = false;
        for (list<page_span>& s : spans_) s.clear();
        spans_.resize(blocks_.size());
        place run;  // bytes that lanes touch side by side
        uint32_t high = 0;
        const auto add_run = [&] {
            if (high != 0) blocks_[run.block].bytes.span(run.offset, high, spans_[run.block]);
            high = 0;
        };
        bool lost = false;
        const bool one = at.reg == none || !w.regs.read(at.reg).varies;  // one address for all lanes
        for (uint32_t m = one ? lanes & (0 - lanes) : lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, at, l), i.sp);
            if (!p.known) {
                lost = true;
                continue;
            }
            if (!p.shared) continue;
            any = true;
            if (high != p.offset || p.block != run.block) {
                add_run();
                run = p;
            }
            high = p.offset + bytes;
        }
        add_run();
        if (lost) {
            this->skip(pc, "an access of shared memory at an address that is not followed");
            if (base::writes(how))
                for (block_type& b : blocks_) b.words.forget(0, 0xffffffffu);
        }
        if (!any) return false;
        touch t;
        t.how = how;
        t.agent = w.agent;
        t.event = w.event;
        t.lanes = lanes;
        for (uint32_t b = 0; b < blocks_.size(); ++b) {
            if (spans_[b].empty()) continue;
            if (b != w.block) visit(w, pc, lanes, b, base::writes(how) ? "stores into" : "loads from");
            this->touch_bytes(w, pc, b, spans_[b], t, false);
        }
        return true;
    }
    /// A block that is used from another one has started and has not exited.
    constexpr void visit(const warp_type& w, uint32_t pc, uint32_t lanes, uint32_t target, const char* verb) {
        const block_type& b = blocks_[target];
        if (b.gone())
            this->report(fault::gone, w, lanes, pc, b.left_at, &warps_[b.first_warp], all_lanes,
                         message(verb) + " block " + number(target) +
                             ", which has exited (%): it stays until its peers are done (barrier.cluster)");
        else if (w.knows.of(this->cluster_met_) == 0 && w.knows.of(warps_[b.first_warp].agent) == 0)
            this->report(fault::gone, w, lanes, pc,
                         message(verb) + " block " + number(target) +
                             ", which need not have started: the blocks meet first (barrier.cluster)");
    }

    [[nodiscard]] constexpr bool is_strong(const instruction& i) const noexcept {
        return code_.has(i, tok::acquire) || code_.has(i, tok::release) || code_.has(i, tok::relaxed) ||
               code_.has(i, tok::volatile_) || code_.has(i, tok::mmio);
    }

private:
    [[nodiscard]] static constexpr uint32_t this_many(uint32_t n) noexcept {
        return n >= 32 ? all_lanes : (1u << n) - 1;
    }
    /// Strong loads of a word hear those who wrote it: taken as acquiring.
    constexpr void hear_at(warp_type& w, const operand& o, uint32_t lanes) {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const value v = this->address(w, o, static_cast<uint32_t>(std::countr_zero(m)));
            const frontier* const f = v.is_known() ? words_.find(v.bits) : nullptr;
            if (f != nullptr) w.knows.join(*f);
        }
    }
    /// Strong writes of one word order those who make them: taken as release and acquire at once.
    constexpr void meet_at(warp_type& w, const operand& o, uint32_t lanes) {
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value v = this->address(w, o, l);
            if (!v.is_known()) continue;
            frontier& f = words_[v.bits];
            w.knows.join(f);
            f.join(this->release(w));
        }
    }
    /// A vector load: each register its own unknown, or the word it is known to be.
    constexpr void spread(warp_type& w, const instruction& i, uint32_t lanes, const operand& from) {
        const operand& to = code_.at(i, 0);
        if (to.what != operand::kind::list) return this->forget(w, i, lanes);
        const uint32_t each = isa::bits(i.type) / 8;
        for (uint32_t k = 0; k < to.count; ++k) {
            std::array<value, 32> v{};
            operand at = from;
            at.bits += k * each;
            for (uint32_t m = lanes; m != 0; m &= m - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
                v[l] = loaded(w, i, at, l, each, false);
            }
            if (code_.parts[to.first + k].what == operand::kind::reg)
                w.regs.write_each(code_.parts[to.first + k].reg, v.data(), lanes, w.live);
        }
    }
    [[nodiscard]] constexpr value loaded(const warp_type& w, const instruction& i, const operand& from, uint32_t l,
                                         uint32_t bytes, bool strong) {
        const value at = this->address(w, from, l);
        const place p = this->resolve(w, at, i.sp);
        if (p.known && p.shared) {
            uint32_t shift = 0;
            // Of a response of launch control the first word is known.
            if (i.type == isa::scalar::b128)
                if (const value* const v = blocks_[p.block].words.load(p.offset, 4)) return *v;
            if (const value* const v = blocks_[p.block].words.around(p.offset, bytes, shift))
                return Values::part(*v, shift, 8 * bytes, isa::info(i.type).cls == isa::type_class::signed_int);
            return Values::unknown(mix(mix(p.block, p.offset), blocks_[p.block].words.age()));
        }
        if (p.known && !p.shared && at.is_known()) {
            if (const value* const word = global_.find(at.bits)) return *word;
            if (strong && code_.shares_global) return {0, knowledge::data};
        }
        // Data is a small number: the same for all who load it, other numbers in other runs.
        const bool integer = isa::info(i.type).cls != isa::type_class::floating && bytes <= 8;
        if (!strong && p.known && !p.shared && integer) return {datum(at.bits, bytes), knowledge::data};
        // Strong loads may differ each time; weak ones of one address are one value.
        return Values::unknown(strong ? mix(at.bits, ++this->fresh_) : mix(at.bits + 1, bytes));
    }

    /// Words of global memory that threads share hold zero at first, as counters and flags do.
    [[nodiscard]] constexpr value word_at(const warp_type& w, const instruction& i, const value& at, uint32_t bytes) {
        const place p = this->resolve(w, at, i.sp);
        if (p.known && p.shared) {
            const value* const v = blocks_[p.block].words.load(p.offset, bytes);
            return v != nullptr ? *v : Values::unknown(mix(at.bits, ++this->fresh_));
        }
        if (!p.known || !at.is_known()) return Values::unknown(mix(at.bits, ++this->fresh_));
        const value* const word = global_.find(at.bits);
        return word != nullptr ? *word : value{0, knowledge::data};
    }
    constexpr void set_word(const warp_type& w, const instruction& i, const value& at, uint32_t bytes, const value& v) {
        const place p = this->resolve(w, at, i.sp);
        if (p.known && p.shared)
            blocks_[p.block].words.store(p.offset, bytes, v, Values::joined);
        else if (p.known && at.is_known())
            global_[at.bits] = v;
    }
    /// Stores to global memory matter where threads share words there.
    constexpr void store_global(const warp_type& w, const instruction& i, const operand& to, const operand& what,
                                uint32_t lanes, bool strong) {
        if (!strong && global_.empty()) return;
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const value at = this->address(w, to, l);
            if (!at.is_known() || !this->resolve(w, at, i.sp).known) continue;
            if (strong || global_.find(at.bits) != nullptr)
                global_[at.bits] = i.vector == 1 && isa::info(i.type).cls != isa::type_class::floating
                                       ? this->lane(w, what, l)
                                       : Values::unknown(mix(at.bits, ++this->fresh_));
        }
    }
    [[nodiscard]] constexpr value updated(const instruction& i, const value& old, const value& with,
                                          const value& other) {
        const knowledge worst = old.known > with.known ? old.known : with.known;
        const bool integer = isa::info(i.type).cls != isa::type_class::floating && i.vector == 1;
        if (worst == knowledge::unknown || !integer) return Values::unknown(mix(old.bits, ++this->fresh_));
        const uint64_t mask = isa::bits(i.type) >= 64 ? ~uint64_t{0} : (uint64_t{1} << isa::bits(i.type)) - 1;
        const uint64_t a = old.bits & mask, b = with.bits & mask;
        uint64_t r = 0;
        if (code_.has(i, tok::add))
            r = a + b;
        else if (code_.has(i, tok::inc))
            r = a >= b ? 0 : a + 1;
        else if (code_.has(i, tok::dec))
            r = a == 0 || a > b ? b : a - 1;
        else if (code_.has(i, tok::exch))
            r = b;
        else if (code_.has(i, tok::cas) && other.is_known())
            r = a == b ? other.bits : a;
        else if (code_.has(i, tok::and_))
            r = a & b;
        else if (code_.has(i, tok::or_))
            r = a | b;
        else if (code_.has(i, tok::xor_))
            r = a ^ b;
        else
            return Values::unknown(mix(old.bits, ++this->fresh_));
        return {r & mask, worst};
    }

    /// Numbers in memory: one and two everywhere at first; then such as grow along an array, as offsets and sums do,
    /// slowly or by more than a tile; then any small ones.
    [[nodiscard]] constexpr uint64_t datum(uint64_t at, uint32_t bytes) {
        ++this->forks_;
        const uint64_t seed = this->chosen_.seed;
        if (seed < 2) return seed + 1;
        const uint64_t dice = mix(mix(at, bytes), seed) >> 20, index = at / bytes % 64;
        if (seed == 3) return index * 24 + dice % 24;
        if (seed == 5) return index * 200 + dice % 150;
        return seed < 4 ? 1 + dice % 3 : dice % 5;
    }

    list<list<page_span>> spans_;
    table<value> global_;    ///< words of global memory that threads share
    table<frontier> words_;  ///< by address: what strong accesses there carried
};

}  // namespace ptxdsl::machine
