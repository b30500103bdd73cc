// SPDX-License-Identifier: Apache-2.0
// Warps of a block and blocks of a cluster: block and named barriers (H01, H02, H05),
// constant peer ranks (G03).
#pragma once

#include <ptxdsl/verify/rules/named_barriers.hpp>
#include <ptxdsl/verify/rules/peers.hpp>

namespace ptxdsl::verify {

// ---- barriers
// -----------------------------------------------------------------------------------------------------------

/// Whether all lanes of a warp execute the barrier together. Without `.aligned` one lane stands for its warp (PTX ISA
/// 9.7.13.1).
[[nodiscard]] constexpr bool is_aligned(const ir::cursor& c) noexcept {
    return token_at(c, 0) == tok::bar || has_token(c, tok::aligned);
}

template <class Facts>
constexpr void block_barrier(Facts& f, const ir::cursor& c) {
    const u32 block = f.m.attrs.threads();
    if (f.in_single && block > 1 && is_aligned(c)) {
        f.out.add(catalogue::H05_one_thread, f.where).with(block);
        return;
    }
    if (f.role_now == 0 && f.arm_now != 0) return;
    role& r = f.roles[f.role_now];
    ++r.block_barriers;
    r.block_barrier_where = f.where;
    r.block_barrier_at = static_cast<u32>(c.w - f.m.words);
}

/// `id`, `count`: `unknown_count` where they are not known.
template <class Facts>
constexpr void note_use(Facts& f, const u32* number, u32 id, u32 count, bool waits, bool aligned) {
    typename Facts::barrier_use u{
        id,    count,          f.in_single ? 0 : f.threads, f.in_single ? 0 : f.together, f.role_now, f.where,
        waits, f.loop_now != 0};
    const u32 reg = ir::kind_of(number[0]) == ir::operand_kind::reg ? ir::payload_of(number[0]) : unknown_count;
    if (reg != unknown_count && (f.regs[reg] & bit::form) != 0) u.form = f.values[reg] + 1;
    u.guarded = f.guard != 0 && !parts_warps(f, f.guard), u.single = f.in_single && aligned;
    u.exact = f.warps_known, u.warps = f.warps;
    if (f.guard != 0) u.warps &= warps_that_hold(f, (f.guard >> 1) - 1, (f.guard & 1u) != 0);
    u.arm = f.arm_now, u.loop = f.loop_now, u.block = f.block_now, u.perhaps = !f.is_certain();
    f.barrier_uses.push_back(u);
}
template <class Facts>
constexpr void check_count(Facts& f, std::int64_t id, std::int64_t count) {
    const u32 block = f.m.attrs.threads(), whole = (block + 31) / 32 * 32;  // barriers count whole warps
    if (count % 32 != 0 || count <= 0)
        f.out.add(catalogue::H01_warps, f.where).with(id).with(count);
    else if (block != 0 && count > whole)
        f.out.add(catalogue::H01_count, f.where).with(id).with(count).with(block);
}

template <class Facts>
constexpr void on_cluster_barrier(Facts& f, const ir::cursor& c) {
    if (token_at(c, 2) == tok::arrive) {
        if (!has_token(c, tok::relaxed)) releases_to_cluster(f);
        return f.push(event_kind::cluster_arrive);
    }
    f.cluster_met = true;
    ++f.meetings;
    f.cluster_in_loop = f.cluster_in_loop || f.loop_now != 0;
    f.push(event_kind::cluster_wait);
}

/// `bar`, `barrier`: of a warp, the cluster, the block, or named.
template <class Facts>
constexpr void on_bar(Facts& f, const ir::cursor& c) {
    const tok second = token_at(c, 1);
    if (second == tok::warp) return f.push(event_kind::rendezvous, 0, f.roles[0].threads > 32 ? 1 : 0);
    if (second == tok::cluster) return on_cluster_barrier(f, c);
    const tok what = second == tok::cta ? token_at(c, 2) : second;
    const u32 use = f.barrier_uses.size();
    note_numbers(f, c, what);
    if (what == tok::arrive) return;
    f.push(event_kind::rendezvous, 0, f.barrier_uses.size() == use ? 0 : 2 + use);
    ++f.meetings;
}
/// Number and count of a barrier of the block.
template <class Facts>
constexpr void note_numbers(Facts& f, const ir::cursor& c, tok what) {
    const u32 first = what == tok::red ? 1 : 0;
    const u32 numbers = c.operands() - (what == tok::red ? 2 : 0);
    std::int64_t id = 0, count = f.roles[0].threads;
    if (c.operands() <= first) return;
    const u32* const number = operand_at(c, first);
    const bool fixed = f.constant_of(number[0], id);
    const bool counted = numbers > 1 ? f.constant_of(operand_at(c, first + 1)[0], count) : count != 0;
    if (fixed && (id < 0 || id > 15)) {
        f.out.add(catalogue::H01_number, f.where).with(id);
        return;
    }
    const u32 block = f.m.attrs.reqntid.given() ? f.m.attrs.reqntid.count() : 0;
    const bool whole = fixed && id == 0 && (numbers < 2 || (counted && count == block && !f.in_single));
    if (whole) block_barrier(f, c);
    if (numbers > 1 && fixed && counted && !whole) check_count(f, id, count);
    note_use(f, number, fixed ? static_cast<u32>(id) : unknown_count, counted ? static_cast<u32>(count) : unknown_count,
             what != tok::arrive, is_aligned(c));
    f.barrier_uses.back().all = numbers < 2 || whole;
}

/// Whether two uses can be of one barrier, with the same count. (Another count is another phase.)
template <class Use>
[[nodiscard]] constexpr bool may_be_one(const Use& a, const Use& b) noexcept {
    return (a.id == b.id || a.id == unknown_count || b.id == unknown_count) &&
           (a.count == b.count || a.count == unknown_count || b.count == unknown_count);
}
/// What a use adds to the count at most: a warp counts as a whole, however few of its lanes come (PTX ISA 9.7.13.1).
template <class Use>
[[nodiscard]] constexpr u32 whole_warps(const Use& u, u32 threads) noexcept {
    if (threads == 0) return 0;
    u32 most = 0;
    for (u32 w = u.warps; w != 0; w &= w - 1) most += 32;
    const u32 rounded = (threads + 31) / 32 * 32;
    return threads % 32 != 0 && most > rounded ? most : rounded;
}
/// H02: a barrier whose number is in a register, so that groups of one role have one each: their threads must make
/// whole groups. Nobody else may take part in barriers of that count.
template <class Facts, class Use>
constexpr void check_numbered_barrier(Facts& f, const Use& u) {
    for (const auto& v : f.barrier_uses)
        if ((v.count == u.count || v.count == unknown_count) && (v.role != u.role || !v.waits || v.id != u.id)) return;
    const u32 threads = whole_warps(u, u.threads != u.together && takes_back(f) ? u.threads : u.together);
    if (threads == 0 || u.count == 0 || u.count % 32 != 0 || threads % u.count == 0) return;
    f.out.add(catalogue::H02_groups, u.where).with(u.count).with(threads);
}

/// H02: the most arrivals a named barrier can get are fewer than it counts. A thread that waits cannot arrive again.
template <class Facts>
constexpr void check_named_barrier(Facts& f, u32 first) {
    const auto& u = f.barrier_uses[first];
    if (u.count == unknown_count || u.all) return;
    if (u.id == unknown_count) return check_numbered_barrier(f, u);
    u32 most = 0;
    for (u32 i = 0; i < f.barrier_uses.size(); ++i) {
        const auto& v = f.barrier_uses[i];
        if (!may_be_one(v, u)) continue;
        if (v.id != u.id || v.count != u.count) return;
        if (i < first || v.threads == 0 || (v.in_loop && !v.waits)) return;
        bool counted = false;
        for (u32 k = first; k < i; ++k)
            counted = counted || (v.waits && f.barrier_uses[k].waits && f.barrier_uses[k].id == v.id &&
                                  f.barrier_uses[k].role == v.role);
        if (!counted) most += whole_warps(v, v.threads);
    }
    if (most >= u.count) return check_numbered_barrier(f, u);
    f.out.add(catalogue::H02_total, u.where).with(u.id).with(u.count).with(most);
}

/// H05, warp by warp: some warps execute a block barrier more than others before one that they all execute. Barriers of
/// two arms may pair, so it is the numbers that count; loops are followed as far as both barriers stand in the same
/// one.
template <class Facts>
class block_barrier_count {
public:
    constexpr explicit block_barrier_count(Facts& f) noexcept
        : f_(f), warps_(f.followed_warps()), whole_(warps_ == 0 ? 0 : (1u << warps_) - 1) {}

    constexpr void check() {
        for (const auto& u : f_.barrier_uses) {
            if (whole_ == 0 || u.id == unknown_count || (u.id == 0 && !u.all)) return;
            if (u.id != 0) continue;
            if (u.guarded || u.single || !u.exact || !u.waits) return;
            const u32 here = u.warps & whole_;
            if (here == 0) continue;
            if (behind(here) && last_ != nullptr) {
                if (!u.perhaps) differ(*last_, u);
                return;
            }
            const bool part = here != whole_;
            if (part && (u.perhaps || (last_ != nullptr && last_->loop != u.loop))) return;
            if (!part && last_ != nullptr && last_->loop != u.loop) return;
            for (u32 w = 0; w < warps_; ++w) count_[w] += here >> w & 1u;
            last_ = part ? &u : nullptr;
        }
    }

private:
    /// Whether warps of this set have executed different numbers of barriers.
    [[nodiscard]] constexpr bool behind(u32 set) const noexcept {
        u32 least = ~0u, most = 0;
        for (u32 w = 0; w < warps_; ++w) {
            if ((set >> w & 1u) == 0) continue;
            least = count_[w] < least ? count_[w] : least;
            most = count_[w] > most ? count_[w] : most;
        }
        return least < most;
    }
    template <class Use>
    constexpr void differ(const Use& part, const Use& common) {
        if (part.loop != common.loop) return;
        u32 threads = 0;
        for (u32 w = 0; w < warps_; ++w) threads += (part.warps >> w & 1u) != 0 ? 32 : 0;
        const u32 block = f_.roles[0].threads;
        if (threads > block) threads = block;
        f_.out.add(catalogue::H05_apart, part.where)
            .with(block)
            .with(threads)
            .at(f_.source(common.where))
            .with(threads);
    }

    Facts& f_;
    u32 warps_, whole_;
    u32 count_[32] = {};
    const typename Facts::barrier_use* last_ = nullptr;  ///< the latest that a part of the warps executes
};

/// H05: barrier 0 in one role, with a role beside it that goes past to a barrier 0 all threads share.
template <class Facts>
constexpr void check_block_barriers(Facts& f) {
    const u32 block = f.roles[0].threads;
    for (u32 i = 1; i < f.roles.size() && block != 0; ++i) {
        const role& r = f.roles[i];
        if (r.block_barriers == 0 || r.threads == 0 || r.threads >= block ||
            f.roles[0].block_barrier_at <= r.block_barrier_at)
            continue;
        for (u32 k = 1; k < f.roles.size(); ++k) {
            if (k == i || f.roles[k].block_barriers != 0 || f.roles[k].threads == 0 || f.roles[k].exits ||
                f.roles[k].threads + r.threads > block)
                continue;
            f.out.add(catalogue::H05_role, r.block_barrier_where).with(block).with(r.threads).with(r.threads);
            return;
        }
    }
}

// ---- blocks of a cluster
// ------------------------------------------------------------------------------------------------

/// G03; and which blocks are addressed: each thread another one, or the own.
template <class Facts>
constexpr void on_mapa(Facts& f, const ir::cursor& c) {
    std::int64_t rank = 0;
    const u32 head = c.operands() < 3 ? ir::head(ir::operand_kind::sink, 0) : operand_at(c, 2)[0];
    const value_form v = value_of(f, head);
    const bool plain = v.root != 0 && v.times == 1 && v.low == 0 && v.high == 0 && !v.moves;
    const bool lanes = plain && (f.regs[v.root - 1] & bit::lanes) != 0;
    const mapping m = mapping_of(f, head, [](u32 own, u32 to) { return own == to; }, [](u32 to) { return to; });
    const u32 all = all_ranks(f);
    const u32 form = lanes                             ? f.values[v.root - 1]
                     : m.known && (m.own & all) == all ? own_block
                     : v.root == 0 && v.exact()        ? one_block
                                                       : unknown_count;
    f.provenance = mapped + (f.mapped_to.size() < max_mapped - 1 ? f.mapped_to.size() : max_mapped - 1);
    f.acc |= bit::by_block;
    if (f.mapped_to.size() < max_mapped - 1) f.mapped_to.push_back(m);
    const u32 source = c.operands() < 3 ? 0 : operand_at(c, 1)[0];
    const u32 from = ir::kind_of(source) == ir::operand_kind::reg ? f.regs[ir::payload_of(source)] >> bit::place : 0;
    if (from == 0 || f.m.allocations[from - 1].kind == ir::allocation_kind::barrier)
        f.mapped_lanes = f.mapped_lanes == 0 || f.mapped_lanes == form ? form : unknown_count,
        f.mapped_by = ir::kind_of(head) == ir::operand_kind::reg && (f.mapped_by == 0 || f.mapped_by == head + 1)
                          ? head + 1
                          : unknown_count;
    f.names_peers = true;
    if (c.operands() < 3 || !f.constant_of(operand_at(c, 2)[0], rank)) return;
    const u32 size = f.m.attrs.cluster.given() ? f.m.attrs.cluster_size() : max_ranks;
    if (rank >= 0 && rank < size) return;
    if (!f.m.attrs.cluster.given())
        f.out.add(catalogue::G03_no_cluster, f.where).with(rank).with(max_ranks).with(max_ranks - 1);
    else
        f.out.add(catalogue::G03_rank, f.where).with(rank).with(size).with(size - 1);
}

template <class Facts>
constexpr void check_warps(Facts& f) {
    if (f.opaque || !f.flow_is_known()) return;
    const u32 before = f.out.findings.size();
    for (u32 i = 0; i < f.barrier_uses.size(); ++i) check_named_barrier(f, i);
    if (f.out.findings.size() == before) named_barriers(f).check();
    const u32 without = f.out.findings.size();
    block_barrier_count<Facts>(f).check();
    if (f.out.findings.size() == without) check_block_barriers(f);
}

}  // namespace ptxdsl::verify
