// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of one thread, and over a warp, a block and a cluster.
#pragma once

#include <ptxdsl/kernels/rows/access.hpp>

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace ptxdsl::kernels::detail {

// ---- of one thread, in four chains so that no operation waits for the one before it
// ----------------------------------

template <class Step>
[[nodiscard]] constexpr floats in_chains(const values& v, Step&& step) {
    floats chain[4];
    for (u32 i = 0; i < v.count; ++i) point(chain[i % 4], step(chain[i % 4], v[i]));
    floats all = chain[0];
    for (u32 i = 1; i < 4 && chain[i].bound(); ++i) point(all, step.join(all, chain[i]));
    return all;
}
struct sum_step {
    k_t& k;
    constexpr floats operator()(const floats& sum, const floats& x) const {
        return sum.bound() ? floats(k.add<rn>(sum, x)) : x;
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.add<rn>(a, b); }
};
struct square_step {
    k_t& k;
    constexpr floats operator()(const floats& sum, const floats& x) const {
        return sum.bound() ? floats(k.fma<rn>(x, x, sum)) : floats(k.mul<rn>(x, x));
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.add<rn>(a, b); }
};
struct max_step {
    k_t& k;
    constexpr floats operator()(const floats& m, const floats& x) const { return m.bound() ? floats(k.max(m, x)) : x; }
    constexpr floats join(const floats& a, const floats& b) const { return k.max(a, b); }
};
struct abs_step {
    k_t& k;
    constexpr floats operator()(const floats& m, const floats& x) const {
        const auto a = k.abs(x);
        return m.bound() ? floats(k.max(m, a)) : floats(a);
    }
    constexpr floats join(const floats& a, const floats& b) const { return k.max(a, b); }
};

// ---- reductions over threads ----------------------------------------------------------------------------------------

/// Combines `v` over `lanes` neighbouring lanes, a power of two; every lane gets the result.
template <class Combine>
[[nodiscard]] constexpr floats over_lanes(k_t& k, const floats& v, u32 lanes, Combine&& combine) {
    floats result = v;
    for (u32 step = lanes / 2; step > 0; step /= 2) {
        const auto other = k.shfl_sync_bfly(result, step, 31u, full_mask);
        point(result, floats(combine(result, other)));
    }
    return result;
}
[[nodiscard]] constexpr floats max_over(k_t& k, const floats& m, u32 lanes = 32) {
    return over_lanes(k, m, lanes, [&](const floats& a, const floats& b) { return k.max(a, b); });
}
[[nodiscard]] constexpr floats sum_over(k_t& k, const floats& s, u32 lanes = 32) {
    return over_lanes(k, s, lanes, [&](const floats& a, const floats& b) { return k.add<rn>(a, b); });
}

/// A maximum, and a sum of exponentials relative to it; or only one of them.
struct partial {
    floats max, sum;
};

/// Where a thread stands, and how it sees the other warps and blocks of its row.
class row_seat {
public:
    words thread;  ///< among those of its row
    words row;
    words lane, warp;

    constexpr row_seat(k_t& k, const row_plan& c) : c_(c) {
        const auto tid = k.mov(ptxdsl::tid.x).named("tid");
        lane = k.and_(tid, 31u).named("lane");
        warp = k.shr(tid, 5u).named("warp");
        const auto block = k.mov(ctaid.x);
        if (c.together > 1) {
            thread = lane, row = k.mad_lo(block, c.together, warp);
        } else if (c.cluster > 1) {
            rank_ = k.mov(cluster_ctarank).named("rank");
            thread = k.mad_lo(rank_, c.threads, tid);
            row = k.mov(clusterid.x);
            k.barrier_cluster_arrive();  // the others may write here once this block is known to run
        } else {
            thread = tid, row = block;
        }
        row.named("row");
    }
    /// Runs `body` if the row exists: a block of several rows may have some too many.
    template <class Body>
    constexpr void if_inside(k_t& k, const words& rows, Body&& body) const {
        if (c_.together > 1)
            k.if_(row < rows, body);
        else
            body();
    }
    /// One thread of the row.
    [[nodiscard]] constexpr reg<pred> leads() const { return thread == 0u; }

    /// From the value of each warp (in all of its lanes) to that of the row. `combine(value, lanes)` combines over
    /// lanes; `neutral` is what does not change it.
    template <class Combine>
    [[nodiscard]] constexpr floats over_row(k_t& k, const floats& of_warp, float neutral, Combine&& combine) {
        if (c_.threads == 32 && c_.cluster == 1) return of_warp;
        floats of_block = of_warp;
        if (c_.threads > 32) {
            const auto slots = k.smem_array<f32>(32, "warps");
            k.at(lane == 0u).st(slots + warp, of_warp);
            k.bar_sync();
            const auto [lanes, slot] = slot_of(k);
            const auto theirs = k.ld(slots + slot);
            const auto value = lanes == warps() ? floats(theirs) : floats(k.selp(theirs, neutral, slot < warps()));
            point(of_block, floats(combine(value, lanes)));
        }
        if (c_.cluster == 1) return of_block;
        const auto slots = k.smem_array<f32>(8, "blocks");
        send(k, slots, [&](const auto& to) { k.at(lane < c_.cluster && warp == 0u).st(to, of_block); });
        const auto theirs = k.ld(slots + k.and_(lane, c_.cluster - 1));
        return combine(theirs, c_.cluster);
    }
    /// The same for two values that go together.
    template <class Combine>
    [[nodiscard]] constexpr partial pair_over_row(k_t& k, const partial& of_warp, const float (&neutral)[2],
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
                p = {floats(k.selp(theirs[0], neutral[0], filled)), floats(k.selp(theirs[1], neutral[1], filled))};
            }
            const partial c = combine(p, lanes);
            point(of_block.max, c.max), point(of_block.sum, c.sum);
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
        words slot;
    };
    /// Lanes that have to combine, a power of two, and the warp whose value this lane takes.
    constexpr warp_slot slot_of(k_t& k) const {
        u32 lanes = 1;
        while (lanes < warps()) lanes *= 2;
        return {lanes, lanes == 32 ? lane : words(k.and_(lane, lanes - 1))};
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
    words rank_;
    bool started_ = false;
};

}  // namespace ptxdsl::kernels::detail

#pragma pop_macro("max")
#pragma pop_macro("min")
