// SPDX-License-Identifier: Apache-2.0
// Which values of a kernel's parameters are worth playing: how far each moves the bounds that loops and conditions
// compare with, so that a parameter can be chosen for a number of rounds.
#pragma once

#include <ptxdsl/machine/code.hpp>
#include <ptxdsl/machine/list.hpp>

#include <algorithm>
#include <cstdint>

namespace ptxdsl::machine {

/// For each parameter, the value that makes one round of the longest step it counts; 0: nothing is compared with it.
class trip_counts {
public:
    constexpr explicit trip_counts(const code& c)
        : code_(c), known_(c.program().n.regs, {}), units_(c.slots.size(), 0), sites_(c.slots.size(), {}) {
        find_steps();
        // Twice, so that what a loop carries is seen.
        for (int pass = 0; pass < 2; ++pass)
            for (site_ = 0; site_ < c.size(); ++site_) follow(c[site_]);
    }
    [[nodiscard]] constexpr const list<std::uint64_t>& units() const noexcept { return units_; }
    /// Whether two parameters reach the same comparisons: then they count the same rounds.
    [[nodiscard]] constexpr bool alike(std::uint32_t a, std::uint32_t b) const noexcept {
        const list<std::uint32_t>&x = sites_[a], &y = sites_[b];
        bool same = x.size() == y.size();
        for (std::size_t k = 0; k < x.size() && same; ++k) same = x[k] == y[k];
        return same;
    }

    static constexpr std::uint32_t deepest = 32;  ///< rings with more slots are not gone round; `coverage` says so
    /// Whether there is a deeper ring.
    [[nodiscard]] constexpr bool too_deep() const noexcept {
        const ir::view& m = code_.program();
        for (std::uint32_t k = 0; k < m.n.allocations && !m.from_text; ++k)
            if (m.allocations[k].kind == ir::allocation_kind::barrier && m.allocations[k].stages > deepest) return true;
        return false;
    }
    /// Slots of the deepest ring of mbarriers; 2 where there is none.
    [[nodiscard]] constexpr std::uint32_t stages() const noexcept {
        const ir::view& m = code_.program();
        std::uint32_t most = 2;
        for (std::uint32_t k = 0; k < m.n.allocations; ++k)
            if (m.allocations[k].kind == ir::allocation_kind::barrier)
                most = std::max<std::uint32_t>(most, std::min<std::uint32_t>(m.allocations[k].stages, deepest));
        if (!m.from_text) return most;
        std::uint32_t inits = 0;
        for (const instruction& i : code_.instructions)
            if (i.op == tok::mbarrier && code_.word(i, 1) == tok::init) ++inits;
        return std::clamp<std::uint32_t>(inits / 2, 2, deepest / 2);
    }

private:
    /// How much a register moves when a parameter moves by one.
    struct slope {
        std::uint32_t parameter = 0;
        double by = 0;
    };
    using slopes = list<slope>;

    constexpr void find_steps() {
        steps_.assign(code_.program().n.regs, 1);
        for (const instruction& i : code_.instructions) {
            if (i.op != tok::add || i.operand_count != 3) continue;
            const operand &d = code_.at(i, 0), &a = code_.at(i, 1), &b = code_.at(i, 2);
            if (d.what != operand::kind::reg || a.reg != d.reg || b.what != operand::kind::constant ||
                d.reg >= steps_.size())
                continue;
            const std::uint64_t down = std::uint64_t{0} - b.bits;  // a counter may go towards zero
            const std::uint64_t step = b.bits < down ? b.bits : down;
            if (step > 1 && step < 65536) steps_[d.reg] = step;
        }
    }
    [[nodiscard]] constexpr slopes of(const operand& o) const {
        if (o.what == operand::kind::reg && o.reg < known_.size()) return known_[o.reg];
        return {};
    }
    static constexpr void add(slopes& to, const slopes& from, double factor) {
        for (const slope& s : from) {
            bool found = false;
            for (slope& t : to)
                if (t.parameter == s.parameter) t.by = (std::max)(t.by, s.by * factor), found = true;
            if (!found) to.push_back({s.parameter, s.by * factor});
        }
    }
    /// The factor a constant operand multiplies with; 1 for registers.
    [[nodiscard]] static constexpr double factor(const operand& o) noexcept {
        return o.what == operand::kind::constant && o.bits != 0 ? static_cast<double>(o.bits) : 1.0;
    }
    /// A positive number to the nearest integer. (std::llround is none of the constant evaluation's.)
    [[nodiscard]] static constexpr std::uint64_t rounded(double u) noexcept {
        const auto down = static_cast<std::uint64_t>(u);
        return u - static_cast<double>(down) >= 0.5 ? down + 1 : down;
    }
    [[nodiscard]] static constexpr double power_of_two(std::uint64_t n) noexcept {
        return static_cast<double>(std::uint64_t{1} << (n & 63u));
    }
    constexpr void follow(const instruction& i) {
        if (i.op == tok::setp) return compare(i);
        const operand& d = code_.at(i, 0);
        if (i.op == tok::ld && i.sp == space::param && d.what == operand::kind::list)
            for (std::uint32_t k = 0; k < d.count; ++k) {
                const operand &from = code_.at(i, 1), &to = code_.parts[d.first + k];
                const std::uint32_t slot = code_.slot_of(from, from.bits + k * isa::bits(i.type) / 8);
                if (slot != none && to.what == operand::kind::reg && to.reg < known_.size())
                    add(known_[to.reg], slopes{{slot, 1}}, 1);
            }
        if (i.op == tok::mov && i.operand_count == 2) return move(d, code_.at(i, 1));
        if (d.what != operand::kind::reg || d.reg >= known_.size()) return;
        const operand &a = code_.at(i, 1), &b = code_.at(i, 2), &c = code_.at(i, 3);
        slopes r;
        switch (i.op) {
            case tok::ld:
                if (i.slot != none) r.push_back({i.slot, 1});
                break;
            case tok::cvt:
            case tok::not_: add(r, of(a), 1); break;
            case tok::add:
            case tok::sub:
            case tok::min:
            case tok::max:
            case tok::and_:
            case tok::or_:
            case tok::xor_:
            case tok::selp: add(r, of(a), 1), add(r, of(b), 1); break;
            case tok::mul: add(r, of(a), factor(b)), add(r, of(b), factor(a)); break;
            case tok::mad: add(r, of(a), factor(b)), add(r, of(b), factor(a)), add(r, of(c), 1); break;
            case tok::div: add(r, of(a), 1 / factor(b)); break;
            case tok::shr: add(r, of(a), b.what == operand::kind::constant ? 1 / power_of_two(b.bits) : 1); break;
            case tok::shl: add(r, of(a), b.what == operand::kind::constant ? power_of_two(b.bits) : 1); break;
            default: return;
        }
        add(known_[d.reg], r, 1);
    }
    /// `mov`, also of several registers into one and back: each follows from all.
    constexpr void move(const operand& to, const operand& from) {
        slopes r = of(from);
        if (from.what == operand::kind::list)
            for (std::uint32_t k = 0; k < from.count; ++k) add(r, of(code_.parts[from.first + k]), 1);
        if (to.what == operand::kind::list)
            for (std::uint32_t k = 0; k < to.count; ++k) reach(code_.parts[to.first + k], r);
        reach(to, r);
    }
    constexpr void reach(const operand& to, const slopes& r) {
        if (to.what == operand::kind::reg && to.reg < known_.size()) add(known_[to.reg], r, 1);
    }
    constexpr void compare(const instruction& i) {
        const operand &a = code_.at(i, 1), &b = code_.at(i, 2);
        const double step = (std::max)(step_of(a), step_of(b));
        unit(of(a), step);
        unit(of(b), step);
    }
    [[nodiscard]] constexpr double step_of(const operand& o) const noexcept {
        return o.what == operand::kind::reg && o.reg < steps_.size() ? static_cast<double>(steps_[o.reg]) : 1;
    }
    constexpr void unit(const slopes& s, double step) {
        for (const slope& x : s) {
            if (x.by <= 0) continue;
            bool met = false;
            for (const uint32_t k : sites_[x.parameter]) met = met || k == site_;
            if (!met) sites_[x.parameter].push_back(site_);
            const double u = std::clamp(step / x.by, 1.0, 1048576.0);
            units_[x.parameter] = (std::max)(units_[x.parameter], rounded(u));
        }
    }

    const code& code_;
    list<slopes> known_;         ///< by register
    list<std::uint64_t> steps_;  ///< by register: what a loop adds to it
    list<std::uint64_t> units_;
    list<list<std::uint32_t>> sites_;  ///< by parameter: the comparisons it reaches
    std::uint32_t site_ = 0;           ///< the instruction that is followed
};

}  // namespace ptxdsl::machine
