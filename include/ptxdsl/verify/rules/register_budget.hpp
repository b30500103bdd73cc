// SPDX-License-Identifier: Apache-2.0
// Registers that the warpgroups of a block hand to each other with setmaxnreg (H04, H07; PTX ISA 9.7.19.5): who asks
// for how many, warp by warp.
#pragma once

#include <ptxdsl/verify/knowledge/values.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

inline constexpr u32 register_file = 65536;

/// Registers a thread has at entry, where the attributes fix them; else 0.
[[nodiscard]] constexpr u32 entry_registers(const ir::attributes& a) noexcept {
    if (a.maxnreg != 0) return a.maxnreg;
    if (a.threads() == 0 || a.minnctapersm == 0) return 0;
    // As ptxas counts: the warps that fit are spread over four parts of the register file.
    const u32 warps = ((a.threads() + 31) / 32 * a.minnctapersm + 3) / 4 * 4;
    const u32 n = register_file / (32 * warps) / 8 * 8;
    return n < 256 ? n : 0;
}

/// H04 of a block whose warps are followed one by one, if it is known of every setmaxnreg who executes it.
template <class Facts, class Requests>
class register_sum {
public:
    constexpr register_sum(Facts& f, const Requests& requests, u32 entry) noexcept
        : f_(f), requests_(requests), entry_(entry), warps_(f.followed_warps()) {}

    constexpr void check() {
        for (const auto& r : requests_) {
            if (!r.certain) return;
            for (u32 w = 0; w < warps_; ++w) {
                if ((r.warps >> w & 1u) == 0) continue;
                twice_ = twice_ || asked_[w] != 0;
                asked_[w] = r.registers;
            }
        }
        bool whole = true;
        for (const auto& r : requests_) whole = is_whole(r) && whole;
        if (whole && !twice_ && entry_ != 0) check_sum();
    }

private:
    /// All warps of a warpgroup execute one setmaxnreg; if the others execute another, this cannot tell.
    template <class Request>
    constexpr bool is_whole(const Request& r) {
        for (u32 first = 0; first < warps_; first += 4) {
            u32 here = 0, others = 0;
            for (u32 w = first; w < first + 4 && w < warps_; ++w) {
                here += r.warps >> w & 1u;
                others += asked_[w] == 0 ? 1 : 0;
            }
            if (here == 0 || others == 0) continue;
            f_.out.add(others == 1 ? catalogue::H04_warp_missing : catalogue::H04_warps_missing, r.where)
                .with(others)
                .with(32 * first)
                .with(32 * (first + 4 < warps_ ? first + 4 : warps_) - 1);
            return false;
        }
        return true;
    }
    /// What the warpgroups ask for, and what those keep that do not ask, against the registers the block has.
    constexpr void check_sum() {
        u32 wanted = 0, idle = 0, where = requests_[requests_.size() - 1].where;
        for (u32 w = 0; w < warps_; ++w) {
            wanted += 32 * (asked_[w] != 0 ? asked_[w] : entry_);
            idle += asked_[w] == 0 ? 32 : 0;
        }
        if (wanted <= 32 * warps_ * entry_) return;
        for (const auto& r : requests_)
            if (r.registers > entry_) where = r.where;
        f_.out.add(catalogue::H04_sum, where).with(wanted);
        bool comma = false;
        for (const auto& r : requests_) {
            part(comma, 32 * count(r.warps), r.registers);
            comma = true;
        }
        if (idle != 0) part(comma, idle, entry_);
        f_.out.say("), it has ")
            .with(32 * warps_ * entry_)
            .say(" (")
            .with(32 * warps_)
            .say(" threads x ")
            .with(entry_)
            .say("): an inc waits for ever");
    }
    constexpr void part(bool comma, u32 threads, u32 registers) {
        f_.out.say(comma ? " + " : "").with(threads).say(" x ").with(registers);
    }
    [[nodiscard]] constexpr u32 count(u32 set) const noexcept {
        u32 n = 0;
        for (u32 w = 0; w < warps_; ++w) n += set >> w & 1u;
        return n;
    }

    Facts& f_;
    const Requests& requests_;
    u32 entry_, warps_;
    u32 asked_[32] = {};  ///< registers by warp; 0: it asks for none
    bool twice_ = false;  ///< a warp asks again: the sum then depends on when
};

template <class Facts>
struct register_budget : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        std::int64_t n = 0;
        if (what != op::setmaxnreg || c.operands() == 0 || !f.constant_of(c.first_operand()[0], n)) return;
        const ir::attributes& a = f.m.attrs;
        if (n < 24 || n > 256 || n % 8 != 0) {
            f.out.add(catalogue::H04_number, f.where).with(n);
            return;
        }
        if (a.maxnreg == 0 && (a.threads() == 0 || a.minnctapersm == 0)) f.out.add(catalogue::H07_ignored, f.where);
        u32 warps = f.warps;
        if (f.guard != 0) warps &= warps_that_hold(f, (f.guard >> 1) - 1, (f.guard & 1u) != 0);
        const bool certain =
            f.warps_known && (f.guard == 0 || parts_warps(f, f.guard)) && f.is_certain() && !f.in_single;
        const request r{static_cast<u32>(n), warps, f.role_now, f.where, certain};
        check_direction(f, r, token_at(c, 1) == tok::dec);
        requests_.push_back(r);
    }
    constexpr void finish(Facts& f) {
        if (f.opaque || !f.flow_is_known() || requests_.empty() || told_ || f.followed_warps() == 0 ||
            !f.m.attrs.reqntid.given())
            return;
        register_sum(f, requests_, entry_registers(f.m.attrs)).check();
    }

private:
    /// One setmaxnreg.
    struct request {
        u32 registers = 0;
        u32 warps = 0;  ///< bit per warp that may execute it
        u32 role = 0, where = 0;
        bool certain = false;  ///< those warps do, whatever the data are
    };

    constexpr void check_direction(Facts& f, const request& r, bool dec) {
        const u32 entry = entry_registers(f.m.attrs);
        if (entry == 0 || !is_first(f, r.warps) || (dec ? r.registers <= entry : r.registers >= entry)) return;
        told_ = true;
        f.out.add(catalogue::H04_direction, r.where).with(dec ? "dec" : "inc").with(r.registers).with(entry);
    }
    /// No setmaxnreg before this one changes the registers of the threads at hand.
    [[nodiscard]] constexpr bool is_first(const Facts& f, u32 warps) const noexcept {
        for (const request& r : requests_)
            if (f.followed_warps() != 0 ? (r.warps & warps) != 0 : r.role == f.role_now) return false;
        return true;
    }

    ::ptxdsl::detail::dynarray<request> requests_;
    bool told_ = false;  ///< one asks in the wrong direction
};

}  // namespace ptxdsl::verify
