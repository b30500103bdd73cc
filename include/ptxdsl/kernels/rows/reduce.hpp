// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of one thread, and over a warp, a block and a cluster.
#pragma once

#include <ptxdsl/kernels/rows/access.hpp>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl::kernels::detail {

// ---- of one thread, in four chains so that no operation waits for the one before it
// ----------------------------------

template <class Step>
[[nodiscard]] constexpr regf32 thread_reduce(const values& v, Step&& step) {
    regf32 chain[4];
    for (u32 i = 0; i < v.count; ++i) rebind(chain[i % 4], step(chain[i % 4], v[i]));
    regf32 all = chain[0];
    for (u32 i = 1; i < 4 && chain[i].bound(); ++i) rebind(all, step.join(all, chain[i]));
    return all;
}
struct sum_op {
    k_t& k;
    constexpr regf32 operator()(const regf32& sum, const regf32& x) const {
        return sum.bound() ? regf32(k.add<rn>(sum, x)) : x;
    }
    constexpr regf32 join(const regf32& a, const regf32& b) const { return k.add<rn>(a, b); }
};
struct square_op {
    k_t& k;
    constexpr regf32 operator()(const regf32& sum, const regf32& x) const {
        return sum.bound() ? regf32(k.fma<rn>(x, x, sum)) : regf32(k.mul<rn>(x, x));
    }
    constexpr regf32 join(const regf32& a, const regf32& b) const { return k.add<rn>(a, b); }
};
struct max_op {
    k_t& k;
    constexpr regf32 operator()(const regf32& m, const regf32& x) const { return m.bound() ? regf32(k.max(m, x)) : x; }
    constexpr regf32 join(const regf32& a, const regf32& b) const { return k.max(a, b); }
};
struct abs_max_op {
    k_t& k;
    constexpr regf32 operator()(const regf32& m, const regf32& x) const {
        const auto a = k.abs(x);
        return m.bound() ? regf32(k.max(m, a)) : regf32(a);
    }
    constexpr regf32 join(const regf32& a, const regf32& b) const { return k.max(a, b); }
};

// ---- reductions over threads ----------------------------------------------------------------------------------------

/// Combines `v` over `lanes` neighbouring lanes, a power of two; every lane gets the result.
template <class Combine>
[[nodiscard]] constexpr regf32 warp_reduce(k_t& k, const regf32& v, u32 lanes, Combine&& combine) {
    regf32 result = v;
    for (u32 step = lanes / 2; step > 0; step /= 2) {
        const auto other = k.shfl_sync_bfly(result, step, 31u, full_mask);
        rebind(result, regf32(combine(result, other)));
    }
    return result;
}
[[nodiscard]] constexpr regf32 warp_max(k_t& k, const regf32& m, u32 lanes = 32) {
    return warp_reduce(k, m, lanes, [&](const regf32& a, const regf32& b) { return k.max(a, b); });
}
[[nodiscard]] constexpr regf32 warp_sum(k_t& k, const regf32& s, u32 lanes = 32) {
    return warp_reduce(k, s, lanes, [&](const regf32& a, const regf32& b) { return k.add<rn>(a, b); });
}

/// A maximum, and a sum of exponentials relative to it; or only one of them.
struct partial {
    regf32 max, sum;
};

/// Where a thread stands, and how it sees the other warps and blocks of its row.
class row_team {
public:
    reg32 thread;  ///< among those of its row
    reg32 row;
    reg32 lane, warp;

    constexpr row_team(k_t& k, const row_plan& c) : c_(c) {
        const auto tid = k.mov(ptxdsl::tid.x).named("tid");
        lane = k.and_(tid, 31u).named("lane");
        warp = k.shr(tid, 5u).named("warp");
        const auto block = k.mov(ctaid.x);
        if (c.rows_per_block > 1) {
            rebind(thread, lane), row = k.mad_lo(block, c.rows_per_block, warp);
        } else if (c.cluster > 1) {
            rank_ = k.mov(cluster_ctarank).named("rank");
            thread = k.mad_lo(rank_, c.threads, tid);
            row = k.mov(clusterid.x);
            k.barrier_cluster_arrive();  // the others may write here once this block is known to run
        } else {
            rebind(thread, tid), rebind(row, block);
        }
        row.named("row");
    }
    /// Runs `body` if the row exists: a block of several rows may have some too many.
    template <class Body>
    constexpr void if_inside(k_t& k, const reg32& rows, Body&& body) const {
        if (c_.rows_per_block > 1)
            k.if_(row < rows, body);
        else
            body();
    }
    /// One thread of the row.
    [[nodiscard]] constexpr reg<pred> leads() const { return thread == 0u; }

    /// From the value of each warp (in all of its lanes) to that of the row. `combine(value, lanes)` combines over
    /// lanes; `neutral` is what does not change it.
    template <class Combine>
    [[nodiscard]] constexpr regf32 reduce(k_t& k, const regf32& of_warp, float neutral, Combine&& combine) {
        if (c_.threads == 32 && c_.cluster == 1) return of_warp;
        regf32 of_block = of_warp;
        if (c_.threads > 32) {
            const auto slots = k.smem_array<f32>(32, "warps");
            k.at(lane == 0u).st(slots + warp, of_warp);
            k.bar_sync();
            const auto [lanes, slot] = slot_of(k);
            const auto theirs = k.ld(slots + slot);
            const auto value = lanes == warps() ? regf32(theirs) : regf32(k.selp(theirs, neutral, slot < warps()));
            rebind(of_block, regf32(combine(value, lanes)));
        }
        if (c_.cluster == 1) return of_block;
        const auto slots = k.smem_array<f32>(8, "blocks");
        send(k, slots, [&](const auto& to) { k.at(lane < c_.cluster && warp == 0u).st(to, of_block); });
        const auto theirs = k.ld(slots + k.and_(lane, c_.cluster - 1));
        return combine(theirs, c_.cluster);
    }
    /// The same for two values that go together.
    template <class Combine>
    [[nodiscard]] constexpr partial reduce_pair(k_t& k, const partial& of_warp, const float (&neutral)[2],
                                                Combine&& combine) {
        if (c_.threads == 32 && c_.cluster == 1) return of_warp;
        using two = packet<f32, 2>;
        partial of_block = of_warp;
        if (c_.threads > 32) {
            const auto slots = k.smem_array<two>(32, "warps");
            k.at(lane == 0u).st(slots + warp, vec<f32, 2>(of_warp.max, of_warp.sum));
            k.bar_sync();
            const auto [lanes, slot] = slot_of(k);
            const auto theirs = k.ld(slots + slot);
            partial p{theirs[0], theirs[1]};
            if (lanes != warps()) {
                const auto filled = slot < warps();
                p = {regf32(k.selp(theirs[0], neutral[0], filled)), regf32(k.selp(theirs[1], neutral[1], filled))};
            }
            const partial c = combine(p, lanes);
            rebind(of_block.max, c.max), rebind(of_block.sum, c.sum);
        }
        if (c_.cluster == 1) return of_block;
        const auto slots = k.smem_array<two>(8, "blocks");
        send(k, slots, [&](const auto& to) {
            k.at(lane < c_.cluster && warp == 0u).st(to, vec<f32, 2>(of_block.max, of_block.sum));
        });
        const auto theirs = k.ld(slots + k.and_(lane, c_.cluster - 1));
        return combine(partial{theirs[0], theirs[1]}, c_.cluster);
    }

private:
    [[nodiscard]] constexpr u32 warps() const noexcept { return c_.threads / 32; }
    struct warp_slot {
        u32 lanes;
        reg32 slot;
    };
    /// Lanes that have to combine, a power of two, and the warp whose value this lane takes.
    constexpr warp_slot slot_of(k_t& k) const {
        u32 lanes = 1;
        while (lanes < warps()) lanes *= 2;
        return {lanes, lanes == 32 ? lane : reg32(k.and_(lane, lanes - 1))};
    }
    /// Lane i writes to the slot of this block in block i of the cluster; afterwards all have been written.
    template <class Slots, class Write>
    constexpr void send(k_t& k, const Slots& slots, Write&& write) {
        if (!started_) k.barrier_cluster_wait();
        started_ = true;
        write(k.mapa(slots + rank_, k.min(lane, c_.cluster - 1)));
        k.barrier_cluster_arrive();
        k.barrier_cluster_wait();
    }
    row_plan c_;
    reg32 rank_;
    bool started_ = false;
};

}  // namespace ptxdsl::kernels::detail

#include <ptxdsl/detail/epilogue.hpp>
