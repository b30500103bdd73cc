// SPDX-License-Identifier: Apache-2.0
// Uses of shared memory whose addresses follow from the thread's index: which threads use the same bytes.
#pragma once

#include <ptxdsl/verify/knowledge/threads.hpp>

namespace ptxdsl::verify {

/// `landing`: bytes of a `cp.async` that its thread has not waited for. `copy`: a bulk copy fills them.
enum class access_kind : u8 { read, write, landing, copy, none };

/// One instruction that uses shared memory, and what must hold for a thread to come to it.
struct shared_access {
    access_kind kind{};
    u32 base = 0, offset = 0, bytes = 0;  ///< operand and number of the address
    u32 allocation = 0;                   ///< + 1, 0: not known
    u32 where = 0, guard = 0, warps = 0;
    u32 first_condition = 0, conditions = 0;
    u32 unknown = 0;  ///< so many of the outer conditions are on more than the thread's index, or contain such
    u32 epoch = 0;    ///< how often threads had waited for others
    u32 group = 0;    ///< `landing`: its group, `unknown_count` before it is committed
    u32 landed = unknown_count;  ///< `landing`: so many accesses came before its group was waited for
    u32 landed_epoch = 0;        ///< `epoch` at that time
    u32 rank = 0;                ///< the first block of the cluster that comes here
    u32 first_sample = 0, samples = 0;
    bool evaluated = false, lanes_of_rows = false;
};

/// The accesses of a kernel in text order. Threads are looked at by samples, three of each warp: what a sample proves
/// is proved, and bytes that no sample uses are not looked at.
template <class Facts>
class access_list {
public:
    ::ptxdsl::detail::dynarray<shared_access> all;

    /// `address`: the operand.
    constexpr void add(const Facts& f, access_kind kind, const u32* address, u32 bytes, u32 epoch) {
        shared_access a;
        a.kind = kind, a.bytes = bytes, a.epoch = epoch, a.where = f.where, a.guard = f.guard;
        a.base = address[1], a.offset = address[2];
        a.allocation = f.places[0].allocation;
        a.warps = f.warps, a.group = unknown_count;
        a.first_condition = conditions_.size(), a.conditions = f.conditions.size();
        a.rank = f.blocks.ranks & (~u32{f.blocks.ranks} + 1);
        // What stands in one place has the conditions of the access before.
        if (!all.empty() && is_same_place(f, all.back()))
            a.first_condition = all.back().first_condition;
        else
            for (const auto& c : f.conditions) conditions_.push_back(c);
        all.push_back(a);
    }
    /// Conditions that two accesses have in common, the outer ones.
    [[nodiscard]] constexpr u32 common(const shared_access& a, const shared_access& b) const noexcept {
        u32 n = 0;
        while (n < a.conditions && n < b.conditions &&
               conditions_[a.first_condition + n].arm == conditions_[b.first_condition + n].arm)
            ++n;
        return n;
    }
    /// Whether threads of different warps certainly use the same bytes; at a `write` before a `read`, one that has not
    /// written them itself. `within`: so many conditions hold for both at once. `any`: also threads of one warp.
    [[nodiscard]] constexpr bool overlap(const Facts& f, evaluator<Facts>& e, u32 a, u32 b, u32 within, bool any) {
        shared_access &x = all[a], &y = all[b];
        if (x.rank != y.rank || (x.allocation != 0 && y.allocation != 0 && x.allocation != y.allocation)) return false;
        if (!evaluate(f, e, x) || !evaluate(f, e, y)) return false;
        const u32 both = common(x, y);
        const u32 limit = both < within ? both : within;
        if (x.unknown > limit || y.unknown > limit) return false;
        for (u32 j = y.first_sample; j < y.first_sample + y.samples; ++j) {
            bool found = false, own = false;
            for (u32 i = x.first_sample; i < x.first_sample + x.samples; ++i) {
                const sample &s = samples_[i], &t = samples_[j];
                const bool meets = s.at < t.at + y.bytes && t.at < s.at + x.bytes;
                own = own || (meets && s.tid == t.tid);
                found = found || (meets && (any || s.tid / 32 != t.tid / 32));
            }
            if (found && (any || !own || x.kind == access_kind::read)) return true;
        }
        return false;
    }

private:
    struct sample {
        u32 tid, at;
    };
    [[nodiscard]] constexpr bool is_same_place(const Facts& f, const shared_access& a) const noexcept {
        if (a.conditions != f.conditions.size()) return false;
        for (u32 i = 0; i < a.conditions; ++i)
            if (conditions_[a.first_condition + i].arm != f.conditions[i].arm) return false;
        return true;
    }
    /// Whether a thread comes to it: 0 no, 1 yes, 2 not known.
    [[nodiscard]] constexpr u32 comes(const Facts& f, evaluator<Facts>& e, shared_access& a, u32 tid, u32 rank) {
        for (u32 i = 0; i <= a.conditions; ++i) {
            const bool guard = i == a.conditions;
            if (guard && a.guard == 0) break;
            const u32 holds = guard ? a.guard - 2 : conditions_[a.first_condition + i].holds;
            u32 v = 0;
            if (e.value(holds >> 1, tid, rank, v)) {
                if ((v != 0) == ((holds & 1u) != 0)) return 0;
                continue;
            }
            if (guard || (f.regs[holds >> 1] & bit::varies) != 0) return 2;
            if (a.unknown < i + 1) a.unknown = i + 1;
        }
        return 1;
    }
    /// The addresses in some of the threads; false: they are not known.
    [[nodiscard]] constexpr bool evaluate(const Facts& f, evaluator<Facts>& e, shared_access& a) {
        if (a.evaluated) return a.samples != 0;
        a.evaluated = true, a.first_sample = samples_.size();
        u32 rank = 0, taken = 0;
        while (rank < max_ranks - 1 && (a.rank >> rank & 1u) == 0) ++rank;
        const u32 threads = f.roles[0].threads;
        for (u32 w = 0; w < (threads + 31) / 32 && taken < most_warps; ++w) {
            if (w < 31 && (a.warps >> w & 1u) == 0) continue;
            u32 here = 0;
            for (u32 lane = 0; lane < 32 && here < 3 && 32 * w + lane < threads; lane = next(lane, here, a)) {
                if (++evaluated_ > most_threads) return a.samples != 0;
                const u32 tid = 32 * w + lane, does = comes(f, e, a, tid, rank);
                if (does == 2) return leave(a);
                if (does == 0) continue;
                u32 at = 0;
                if (!address(e, a, tid, rank, at)) return leave(a);
                samples_.push_back({tid, at});
                ++a.samples, ++here;
            }
            taken += here != 0 ? 1 : 0;
        }
        return a.samples != 0;
    }
    /// Behind the first lane that comes here the next one and the last are enough.
    [[nodiscard]] static constexpr u32 next(u32 lane, u32 here, const shared_access& a) noexcept {
        return here < 2 ? lane + 1 : lane < 31 && !a.lanes_of_rows ? 31 : 32;
    }
    [[nodiscard]] constexpr bool leave(shared_access& a) noexcept {
        samples_.truncate(a.first_sample);
        a.samples = 0;
        return false;
    }
    [[nodiscard]] static constexpr bool address(evaluator<Facts>& e, const shared_access& a, u32 tid, u32 rank,
                                                u32& at) {
        at = 0;
        if (ir::kind_of(a.base) == ir::operand_kind::reg && !e.value(ir::payload_of(a.base), tid, rank, at))
            return false;
        at += a.offset;
        return true;
    }

    static constexpr u32 most_warps = 8, most_threads = 1500;
    ::ptxdsl::detail::dynarray<typename Facts::condition> conditions_;
    ::ptxdsl::detail::dynarray<sample> samples_;
    u32 evaluated_ = 0;
};

/// Bytes that one thread moves: of the type, times those of a vector.
[[nodiscard]] constexpr u32 bytes_of(const ir::cursor& c) noexcept {
    u32 bytes = 0, lanes = 1;
    for (u32 i = 1; i < c.tokens(); ++i) {
        const tok t = token_at(c, i);
        if (t == tok::v2 || t == tok::v4 || t == tok::v8) lanes = isa::token_count_of(t);
        const u32 bits = isa::bits(isa::token_type(t));
        if (bits != 0) bytes = bits / 8;
    }
    return bytes * lanes;
}

}  // namespace ptxdsl::verify
