// SPDX-License-Identifier: Apache-2.0
// E01: the same threads arrive twice at one mbarrier, each time as often as a phase counts, and wait for nothing
// between: the second arrival ends the next phase, before those who wait have seen the first (PTX ISA 9.7.13.15.4).
#pragma once

#include <ptxdsl/verify/rules/barriers.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct arrivals_in_a_row : rule<Facts> {
    constexpr void finish(Facts& f) {
        if (f.opaque || f.unstructured || f.is_function || f.begins_anew) return;
        const site* last = nullptr;
        for (const site& s : f.sites) {
            if (s.kind == site_kind::wait || s.kind == site_kind::uncounted) last = nullptr;
            if (s.kind != site_kind::arrive) continue;
            if (last != nullptr && is_again(f, *last, s)) return say(f, *last, s);
            last = &s;
        }
    }

private:
    /// Whether both are of one stage, by the same threads, one right after the other, and each ends a phase.
    [[nodiscard]] static constexpr bool is_again(const Facts& f, const site& a, const site& b) noexcept {
        constexpr u8 unclear =
            site_flag::remote | site_flag::loose | site_flag::several | site_flag::commit | site_flag::apart;
        const bool same = a.barrier == b.barrier && a.slot == b.slot && a.stage == b.stage && a.role == b.role &&
                          a.loop == b.loop && a.arm == b.arm && a.single == b.single && a.block == b.block;
        if (!same || a.where == b.where || a.rewrites != b.rewrites || a.meetings != b.meetings || a.guarded ||
            b.guarded || ((a.flags | b.flags) & unclear) != 0 || (a.slot == 0 && a.stage == unknown_count) ||
            (f.no_arity >> (a.barrier & 31u) & 1u) != 0)
            return false;
        u32 count = 0;
        bool waits = false;
        for (const site& s : f.sites) {
            if (s.barrier != a.barrier) continue;
            waits = waits || s.kind == site_kind::wait;
            if (s.kind != site_kind::init) continue;
            if (s.amount == 0 || (count != 0 && count != s.amount)) return false;
            count = s.amount;
        }
        return waits && count != 0 && a.amount * a.together == count && b.amount * b.together == count;
    }
    static constexpr void say(Facts& f, const site& a, const site& b) {
        f.out.add(catalogue::E01_in_a_row, b.where).with(f.name_of(b.barrier)).at(f.source(a.where));
    }
};

}  // namespace ptxdsl::verify
