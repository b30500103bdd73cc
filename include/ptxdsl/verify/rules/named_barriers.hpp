// SPDX-License-Identifier: Apache-2.0
// H02 warp by warp: which waits at named barriers can end at all. A wait can when enough arrivals of its number and
// count can happen, and those behind another wait happen only if that one can end. What is left over waits for ever.
#pragma once

#include <ptxdsl/verify/knowledge/values.hpp>

namespace ptxdsl::verify {

template <class Facts>
class named_barriers {
public:
    constexpr explicit named_barriers(Facts& f) noexcept : f_(f), uses_(f.barrier_uses.size()) {}

    constexpr void check() {
        bool some = false;
        for (const use& u : f_.barrier_uses) some = some || u.waits;
        if (!some || uses_ > most || f_.has_blocks || f_.tm.calls || f_.is_function || !find_groups()) return;
        for (bool again = true; again;) {
            again = false;
            for (u32 i = 0; i < uses_; ++i) again = look_at(i) || again;
        }
        for (u32 i = 0; i < uses_; ++i)
            for (u32 g = 0; g < groups_; ++g)
                if (f_.barrier_uses[i].waits && takes_part(i, g) && !done(i, g) && reaches(i, g)) return complain(i, g);
    }

private:
    using use = typename Facts::barrier_use;
    static constexpr u32 most = 16, most_groups = 8, any = unknown_count, endless = unknown_count;

    [[nodiscard]] constexpr bool takes_part(u32 i, u32 g) const noexcept {
        return (f_.barrier_uses[i].warps & warps_[g] & (0 - warps_[g])) != 0;
    }
    [[nodiscard]] constexpr bool done(u32 i, u32 g) const noexcept { return (done_[i] >> g & 1u) != 0; }
    [[nodiscard]] constexpr u32 number_in(u32 i, u32 warp) const noexcept {
        const use& u = f_.barrier_uses[i];
        std::int64_t n = 0;
        if (u.id != unknown_count) return u.id;
        return u.form != 0 && value_in_warp(f_, f_.forms[u.form - 1], warp, n) && n >= 0 && n < 16 ? static_cast<u32>(n)
                                                                                                   : any;
    }
    /// Warps that do the same; false: too many kinds of them.
    constexpr bool find_groups() noexcept {
        const u32 warps = f_.followed_warps();
        if (warps == 0) return false;
        for (u32 w = 0; w < warps; ++w) {
            u32 g = 0;
            while (g < groups_ && !is_like(w, g)) ++g;
            if (g == most_groups) return false;
            if (g == groups_) {
                for (u32 i = 0; i < uses_; ++i)
                    number_[i][g] = (f_.barrier_uses[i].warps >> w & 1u) != 0 ? number_in(i, w) : any;
                warps_[groups_++] = 0;
            }
            warps_[g] |= 1u << w;
        }
        return true;
    }
    [[nodiscard]] constexpr bool is_like(u32 warp, u32 g) const noexcept {
        for (u32 i = 0; i < uses_; ++i) {
            const bool here = (f_.barrier_uses[i].warps >> warp & 1u) != 0;
            if (here != takes_part(i, g) || (here && number_in(i, warp) != number_[i][g])) return false;
        }
        return true;
    }
    [[nodiscard]] static constexpr u32 threads_of(u32 warps) noexcept {
        u32 n = 0;
        for (; warps != 0; warps &= warps - 1) n += 32;
        return n;
    }
    /// Whether a warp that comes to use `i` has gone through wait `k` before.
    [[nodiscard]] constexpr bool comes_first(u32 k, u32 i) const noexcept {
        const use &a = f_.barrier_uses[k], &b = f_.barrier_uses[i];
        u32 l = b.loop;
        while (l != a.loop && l != 0) l = f_.loops[l].parent;
        return a.waits && a.exact && !a.guarded && !a.single && l == a.loop && f_.arm_lies_in(b.arm, a.arm) &&
               (a.role == 0 || a.role == b.role) && (a.block == 0 || a.block == b.block);
    }
    [[nodiscard]] constexpr bool reaches(u32 i, u32 g) const noexcept {
        for (u32 k = 0; k < i; ++k)
            if (takes_part(k, g) && !done(k, g) && comes_first(k, i)) return false;
        return true;
    }
    /// The most threads that can arrive at barrier `number` for a phase of `count`.
    [[nodiscard]] constexpr u32 supply(u32 number, u32 count) const noexcept {
        u32 n = 0;
        for (u32 i = 0; i < uses_; ++i) {
            const use& u = f_.barrier_uses[i];
            if (u.count != count && u.count != unknown_count) continue;
            for (u32 g = 0; g < groups_; ++g) {
                const bool same = number_[i][g] == number || number_[i][g] == any;
                if (!takes_part(i, g) || !same || !reaches(i, g)) continue;
                const bool repeats = u.loop != 0 && (!u.waits || done(i, g));
                if (repeats || number_[i][g] == any || u.count == unknown_count) return endless;
                n += threads_of(warps_[g]);
            }
        }
        return n;
    }
    constexpr bool look_at(u32 i) noexcept {
        const use& u = f_.barrier_uses[i];
        const u32 before = done_[i];
        for (u32 g = 0; g < groups_; ++g) {
            if (!u.waits || !takes_part(i, g) || done(i, g) || !reaches(i, g)) continue;
            const bool judged = u.exact && !u.all && u.count != unknown_count && number_[i][g] != any;
            if (!judged || supply(number_[i][g], u.count) >= u.count) done_[i] |= 1u << g;
        }
        return done_[i] != before;
    }
    constexpr void complain(u32 i, u32 g) {
        const use& u = f_.barrier_uses[i];
        f_.out.add(catalogue::H02_never_enough, u.where)
            .with(number_[i][g])
            .with(u.count)
            .with(supply(number_[i][g], u.count));
    }

    Facts& f_;
    u32 uses_, groups_ = 0;
    u32 number_[most][most_groups] = {};
    u32 warps_[most_groups] = {};  ///< bit per warp
    u32 done_[most] = {};          ///< bit per group that can go on
};

/// All warps that may take part in a barrier of this number.
template <class Facts, class Use>
[[nodiscard]] constexpr u32 participants_of(const Facts& f, const Use& u) noexcept {
    u32 warps = 0;
    for (const auto& v : f.barrier_uses)
        if (u.id == v.id || u.id == unknown_count || v.id == unknown_count) warps |= v.warps;
    return warps;
}
/// Whether all that may take part in a named barrier, or in others with one of those, have never initialised an
/// mbarrier: then it orders no initialisation.
template <class Facts>
[[nodiscard]] constexpr bool is_among_others(const Facts& f, u32 use) noexcept {
    u32 warps = f.barrier_uses[use].warps, before = 0;
    if (f.init_warps == 0 || f.listens || f.tm.calls) return false;
    while (warps != before) {
        before = warps;
        for (const auto& u : f.barrier_uses)
            if ((u.warps & warps) != 0) warps |= participants_of(f, u);
    }
    return (warps & f.init_warps) == 0;
}

}  // namespace ptxdsl::verify
