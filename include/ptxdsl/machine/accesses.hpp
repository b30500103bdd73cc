// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of threads: which bytes of shared memory they touch, and what the words hold.
#pragma once

#include <ptxdsl/machine/arithmetic.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

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

    void load(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        if (i.sp == space::param) return this->load_parameter(w, i, lanes);
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        const bool strong = is_strong(i);
        const operand& from = code_.at(i, 1);
        const bool shared = touch_lanes(w, i, pc, lanes, from, bytes, strong ? access::atomic : access::read);
        if (strong && shared) meet_at(w, from, lanes);
        if (code_.at(i, 0).what != operand::kind::reg) return spread(w, i, lanes, from);
        std::array<value, 32> v;
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            v[l] = loaded(w, i, from, l, bytes, strong);
        }
        this->put_each(w, code_.at(i, 0), v.data(), lanes);
    }
    void store(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        const bool strong = is_strong(i);
        const operand& to = code_.at(i, 0);
        const bool shared = touch_lanes(w, i, pc, lanes, to, bytes, strong ? access::atomic : access::write);
        if (!shared) return;
        if (strong) meet_at(w, to, lanes);
        const operand& what = code_.at(i, 1);
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, to, l), i.sp);
            if (!p.known || !p.shared) continue;
            if (i.vector == 1 && isa::info(i.type).cls != isa::type_class::floating && what.what != operand::kind::list)
                blocks_[p.block].words.store(p.offset, bytes, this->lane(w, what, l));
            else if (i.vector > 1 && isa::info(i.type).cls != isa::type_class::floating &&
                     what.what == operand::kind::list)
                for (uint32_t k = 0; k < what.count; ++k)
                    blocks_[p.block].words.store(p.offset + k * bytes / i.vector, bytes / i.vector,
                                                 this->lane(w, code_.parts[what.first + k], l));
            else
                blocks_[p.block].words.forget(p.offset, p.offset + bytes);
        }
    }
    /// `atom` and `red`: strong, and what they leave is unknown.
    void update(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const operand& to = code_.at(i, i.op == tok::atom ? 1 : 0);
        const uint32_t bytes = isa::bits(i.type) / 8 * i.vector;
        if (touch_lanes(w, i, pc, lanes, to, bytes, access::atomic)) {
            meet_at(w, to, lanes);
            for (uint32_t m = lanes; m != 0; m &= m - 1) {
                const place p =
                    this->resolve(w, this->address(w, to, static_cast<uint32_t>(std::countr_zero(m))), i.sp);
                if (p.known && p.shared) blocks_[p.block].words.forget(p.offset, p.offset + bytes);
            }
        }
        if (i.op == tok::atom) this->forget(w, i, lanes);
    }
    /// `ldmatrix`, `stmatrix`: eight addresses a matrix, 16 bytes each (8 for the narrow shapes).
    void matrix(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes) {
        const bool loads = i.op == tok::ldmatrix;
        const uint32_t matrices = code_.has(i, tok::x4) ? 4 : code_.has(i, tok::x2) ? 2 : 1;
        const uint32_t users = matrices >= 4 ? this_many(32) : this_many(8 * matrices);
        if (code_.has(i, tok::m8n8))
            touch_lanes(w, i, pc, lanes & users, code_.at(i, loads ? 1 : 0), 16, loads ? access::read : access::write);
        if (loads) return this->forget(w, i, lanes);
        for (block_type& b : blocks_) b.words.forget(0, 0);
    }

    /// Holds the accesses of all lanes against what was there. False: none is known to be in shared memory.
    bool touch_lanes(warp_type& w, const instruction& i, uint32_t pc, uint32_t lanes, const operand& at, uint32_t bytes,
                     access how) {
        if (i.has_space && i.sp != space::shared && i.sp != space::shared_cluster) return false;
        bool any = false;
        for (std::vector<page_span>& s : spans_) s.clear();
        spans_.resize(blocks_.size());
        for (uint32_t m = lanes; m != 0; m &= m - 1) {
            const uint32_t l = static_cast<uint32_t>(std::countr_zero(m));
            const place p = this->resolve(w, this->address(w, at, l), i.sp);
            if (!p.known) {
                this->skip(pc, "an access of shared memory at an address that is not followed");
                if (base::writes(how))
                    for (block_type& b : blocks_) b.words.forget(0, 0xffffffffu);
                continue;
            }
            if (!p.shared) continue;
            any = true;
            blocks_[p.block].bytes.span(p.offset, p.offset + bytes, spans_[p.block]);
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
    void visit(const warp_type& w, uint32_t pc, uint32_t lanes, uint32_t target, const char* verb) {
        const block_type& b = blocks_[target];
        if (b.gone())
            this->report(fault::gone, w, lanes, pc, b.left_at, &warps_[b.first_warp], all_lanes,
                         std::string(verb) + " block " + std::to_string(target) +
                             ", which has exited (%): it stays until its peers are done (barrier.cluster)");
        else if (w.knows.of(warps_[b.first_warp].agent) == 0)
            this->report(fault::gone, w, lanes, pc,
                         std::string(verb) + " block " + std::to_string(target) +
                             ", which need not have started: the blocks meet first (barrier.cluster)");
    }

    [[nodiscard]] bool is_strong(const instruction& i) const noexcept {
        return code_.has(i, tok::acquire) || code_.has(i, tok::release) || code_.has(i, tok::relaxed) ||
               code_.has(i, tok::volatile_) || code_.has(i, tok::mmio);
    }

private:
    [[nodiscard]] static constexpr uint32_t this_many(uint32_t n) noexcept {
        return n >= 32 ? all_lanes : (1u << n) - 1;
    }
    /// Strong accesses of one word order those who make them: taken as release and acquire at once.
    void meet_at(warp_type& w, const operand& o, uint32_t lanes) {
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
    void spread(warp_type& w, const instruction& i, uint32_t lanes, const operand& from) {
        const operand& to = code_.at(i, 0);
        if (to.what != operand::kind::list) return this->forget(w, i, lanes);
        const uint32_t each = isa::bits(i.type) / 8;
        for (uint32_t k = 0; k < to.count; ++k) {
            std::array<value, 32> v;
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
    [[nodiscard]] value loaded(const warp_type& w, const instruction& i, const operand& from, uint32_t l,
                               uint32_t bytes, bool strong) {
        const value at = this->address(w, from, l);
        const place p = this->resolve(w, at, i.sp);
        if (p.known && p.shared) {
            if (const value* const v = blocks_[p.block].words.load(p.offset, bytes)) return *v;
            return Values::unknown(mix(mix(p.block, p.offset), blocks_[p.block].words.age()));
        }
        // Strong loads may differ each time; weak ones of one address are one value.
        return Values::unknown(strong ? mix(at.bits, ++this->fresh_) : mix(at.bits + 1, bytes));
    }

    std::vector<std::vector<page_span>> spans_;
    std::unordered_map<uint64_t, frontier> words_;  ///< by address: what strong accesses there carried
};

}  // namespace ptxdsl::machine
