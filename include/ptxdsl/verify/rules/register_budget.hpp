// SPDX-License-Identifier: Apache-2.0
// Registers that the warpgroups of a block hand to each other with setmaxnreg (H04, H07; PTX ISA 9.7.19.5): who asks
// for how many, warp by warp.
#pragma once

#include <ptxdsl/verify/knowledge/values.hpp>

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

/// No setmaxnreg before this one changes the registers of the threads at hand.
template <class Facts>
[[nodiscard]] constexpr bool is_first_request(const Facts& f, u32 warps) noexcept {
    for (const auto& r : f.register_requests)
        if (f.followed_warps() != 0 ? (r.warps & warps) != 0 : r.role == f.role_now) return false;
    return true;
}

template <class Facts>
constexpr void on_setmaxnreg(Facts& f, const ir::cursor& c) {
    std::int64_t n = 0;
    if (c.operands() == 0 || !f.constant_of(c.first_operand()[0], n)) return;
    const ir::attributes& a = f.m.attrs;
    if (n < 24 || n > 256 || n % 8 != 0) {
        f.out.add(catalogue::H04_number, f.where).with(n);
        return;
    }
    if (a.maxnreg == 0 && (a.threads() == 0 || a.minnctapersm == 0)) f.out.add(catalogue::H07_ignored, f.where);
    u32 warps = f.warps;
    if (f.guard != 0) warps &= warps_that_hold(f, (f.guard >> 1) - 1, (f.guard & 1u) != 0);
    const u32 entry = entry_registers(a);
    const bool dec = token_at(c, 1) == tok::dec;
    const bool wrong_way = entry != 0 && is_first_request(f, warps) && (dec ? n > entry : n < entry);
    f.register_requests.push_back(
        {static_cast<u32>(n), warps, f.role_now, f.where,
         f.warps_known && (f.guard == 0 || parts_warps(f, f.guard)) && f.is_certain() && !f.in_single});
    f.requests_told = f.requests_told || wrong_way;
    if (wrong_way) f.out.add(catalogue::H04_direction, f.where).with(dec ? "dec" : "inc").with(n).with(entry);
}

/// H04 of a block whose warps are followed one by one, if it is known of every setmaxnreg who executes it.
template <class Facts>
class register_budget {
public:
    constexpr register_budget(Facts& f, u32 entry) noexcept : f_(f), entry_(entry), warps_(f.followed_warps()) {}

    constexpr void check() {
        for (const auto& r : f_.register_requests) {
            if (!r.certain) return;
            for (u32 w = 0; w < warps_; ++w) {
                if ((r.warps >> w & 1u) == 0) continue;
                twice_ = twice_ || asked_[w] != 0;
                asked_[w] = r.registers;
            }
        }
        bool whole = true;
        for (const auto& r : f_.register_requests) whole = is_whole(r) && whole;
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
        u32 wanted = 0, idle = 0, where = f_.register_requests.back().where;
        for (u32 w = 0; w < warps_; ++w) {
            wanted += 32 * (asked_[w] != 0 ? asked_[w] : entry_);
            idle += asked_[w] == 0 ? 32 : 0;
        }
        if (wanted <= 32 * warps_ * entry_) return;
        for (const auto& r : f_.register_requests)
            if (r.registers > entry_) where = r.where;
        f_.out.add(catalogue::H04_sum, where).with(wanted);
        bool comma = false;
        for (const auto& r : f_.register_requests) {
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
    u32 entry_, warps_;
    u32 asked_[32] = {};  ///< registers by warp; 0: it asks for none
    bool twice_ = false;  ///< a warp asks again: the sum then depends on when
};

template <class Facts>
constexpr void check_register_budget(Facts& f) {
    const u32 entry = entry_registers(f.m.attrs);
    if (f.register_requests.empty() || f.requests_told || f.followed_warps() == 0 || !f.m.attrs.reqntid.given()) return;
    register_budget<Facts>(f, entry).check();
}

}  // namespace ptxdsl::verify
