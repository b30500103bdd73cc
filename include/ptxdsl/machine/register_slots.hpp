// SPDX-License-Identifier: Apache-2.0
// Few registers instead of many: a builder gives every value a register of its own, and a warp that keeps hundreds of
// them, one value a lane, works from far memory. Registers whose lives do not meet share a slot.
#pragma once

#include <ptxdsl/machine/list.hpp>
#include <ptxdsl/machine/slice.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// Renames the registers of a sliced kernel. Slot 0 stands for all that nothing needs: what is written there is lost,
/// what is read there is data.
///
/// A register's life is the stretch of text between its first and its last use, if nothing jumps into the stretch from
/// outside: then each thread that comes by writes it first. Any other life is as long as the text.
class register_slots {
public:
    constexpr explicit register_slots(code& c) : c_(c), lives_(c.registers(), {}) {
        for (std::uint32_t pc = 0; pc < c.size(); ++pc) {
            if (c[pc].op == tok::brx || (c[pc].op == tok::call && !c[pc].known_call)) jumps_unseen_ = true;
            if (c[pc].op == tok::bra && c[pc].target != none) jumps_.push_back({pc, c[pc].target});
        }
        for (std::uint32_t pc = 0; pc < c.size(); ++pc) see(c[pc], pc);
        for (const std::uint32_t r : order_) bound(lives_[r]);
        if (needs_a_range())
            keep_all();
        else
            for (const std::uint32_t r : order_) lives_[r].slot = free_slot(r);
        rename();
    }

private:
    struct life {
        std::uint32_t first = none, last = 0;
        bool whole = false;  ///< as long as the text
        std::uint32_t slot = none;
    };

    struct jump {
        std::uint32_t from = 0, to = 0;
    };

    // ---- lives --------------------------------------------------------------------------------------------------

    constexpr void see(const instruction& i, std::uint32_t pc) {
        const bool writes = i.guard == none && writes_first(i);
        if (i.guard != none) use(i.guard, pc, false);
        for (std::uint32_t k = i.operand_count; k-- > 0;) see(c_.at(i, k), pc, writes && k == 0);
    }
    constexpr void see(const operand& o, std::uint32_t pc, bool written) {
        if (o.what == operand::kind::reg || o.what == operand::kind::address) {
            if (o.reg != none) use(o.reg, pc, written && o.what == operand::kind::reg);
        }
        if (o.what == operand::kind::range)
            for (std::uint32_t k = 0; k < o.count; ++k) use(o.reg + k, pc, false);
        if (has_parts(o))
            for (std::uint32_t k = 0; k < o.count; ++k) see(c_.parts[o.first + k], pc, written);
    }
    [[nodiscard]] static constexpr bool has_parts(const operand& o) noexcept {
        return o.count != 0 && (o.what == operand::kind::list || o.what == operand::kind::address);
    }
    /// Whether the machine gives the first operand a value whenever it executes the instruction.
    [[nodiscard]] static constexpr bool writes_first(const instruction& i) noexcept {
        return only_computes(i.op) || i.op == tok::ld || i.op == tok::shfl || i.op == tok::elect || i.op == tok::vote;
    }
    constexpr void use(std::uint32_t r, std::uint32_t pc, bool written) {
        life& l = lives_[r];
        if (l.first == none) {
            l.first = pc;
            order_.push_back(r);
            l.whole = !written || jumps_unseen_ || r >= c_.program().n.regs;
        }
        l.last = pc;
    }
    constexpr void bound(life& l) const {
        for (std::size_t k = 0; k < jumps_.size() && !l.whole; ++k) {
            const jump& j = jumps_[k];
            l.whole = j.to > l.first && j.to <= l.last && (j.from < l.first || j.from > l.last);
        }
    }
    /// Whether something needs registers of a range, which lie side by side: then nothing moves.
    [[nodiscard]] constexpr bool needs_a_range() const noexcept {
        for (const operand& o : c_.operands)
            for (std::uint32_t k = 0; o.what == operand::kind::range && k < o.count; ++k)
                if (needed(o.reg + k)) return true;
        return false;
    }
    constexpr void keep_all() {
        for (const std::uint32_t r : order_) lives_[r].slot = 1 + r;
        next_ += static_cast<std::uint32_t>(lives_.size());
    }
    [[nodiscard]] constexpr bool needed(std::uint32_t r) const noexcept {
        return c_.needed.empty() || c_.needed[r] != 0;
    }

    // ---- slots --------------------------------------------------------------------------------------------------

    [[nodiscard]] constexpr std::uint32_t free_slot(std::uint32_t r) {
        const life& l = lives_[r];
        if (!needed(r)) return 0;
        if (l.whole) return next_++;
        for (shared_slot& s : shared_)
            if (s.until < l.first) {
                s.until = l.last;
                return s.slot;
            }
        shared_.push_back({next_, l.last});
        return next_++;
    }
    struct shared_slot {
        std::uint32_t slot = 0;
        std::uint32_t until = 0;
    };

    constexpr void rename() {
        for (instruction& i : c_.instructions)
            if (i.guard != none) i.guard = lives_[i.guard].slot;
        // Operands of instructions that are no longer there name registers that have no slot.
        for (operand& o : c_.operands) rename(o);
        for (operand& o : c_.parts) rename(o);
        for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(isa::special::count_); ++s)
            c_.special_slots.push_back(special_slot(lives_[c_.program().n.regs + s].slot));
        c_.needed.assign(next_, 1);
        c_.needed[0] = 0;
        c_.slots_used = next_;
    }
    [[nodiscard]] static constexpr std::uint32_t special_slot(std::uint32_t slot) noexcept {
        return slot == 0 ? none : slot;
    }
    constexpr void rename(operand& o) const {
        if (o.reg == none) return;
        const std::uint32_t slot = lives_[o.reg].slot;
        o.reg = slot == none ? 0 : slot;
        if (o.what == operand::kind::range && o.reg == 0) o.count = 0;
    }

    code& c_;
    list<life> lives_;           ///< by register
    list<std::uint32_t> order_;  ///< registers by their first use
    list<jump> jumps_;
    list<shared_slot> shared_;
    std::uint32_t next_ = 1;
    bool jumps_unseen_ = false;
};

}  // namespace ptxdsl::machine
