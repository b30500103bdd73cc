// SPDX-License-Identifier: Apache-2.0
// Warps: registers that are one value for all lanes as long as they can be, and the pieces a warp splits into where its
// lanes part.
#pragma once

#include <ptxdsl/machine/code.hpp>
#include <ptxdsl/machine/frontier.hpp>
#include <ptxdsl/machine/list.hpp>

#include <bit>
#include <cstdint>
#include <utility>

namespace ptxdsl::machine {

inline constexpr uint32_t all_lanes = 0xffffffffu;

/// What a piece waits for.
enum class waiting : uint8_t {
    nothing,
    phase,     ///< a phase of an mbarrier
    named,     ///< a named barrier
    cluster,   ///< the cluster barrier
    lanes,     ///< the other lanes of its warp, at the same instruction
    products,  ///< wgmma of its warpgroup that another warp has not started
    columns,   ///< free columns of tensor memory
};

/// Lanes of a warp that are at the same instruction.
struct piece {
    uint32_t lanes = 0;
    uint32_t pc = 0;
    waiting what = waiting::nothing;
    uint32_t block = 0;       ///< phase: the mbarrier's block; named: generation
    uint32_t address = 0;     ///< phase: the mbarrier; named: the number
    uint32_t parity = 0;      ///< phase
    uint32_t generation = 0;  ///< named, cluster: of the barrier when it came
    bool spun = false;        ///< looked at something that was not yet so
    bool hurried = false;     ///< a wait that may end early has done so once
    bool alone = false;       ///< goes on without the other lanes of its warp
    bool arrived = false;     ///< named: has arrived and waits
};

/// The registers of a warp: one value for all lanes, or one a lane.
template <class Value>
class registers {
public:
    constexpr void reset(uint32_t n) {
        uniform_.assign(n, Value{});
        slot_.assign(n, none);
        varies_.assign(n, 0);
        lanes_.clear();
        lost_ = none;
    }
    /// What is written to this register is lost from now on.
    constexpr void lose(uint32_t r) noexcept { lost_ = r; }
    /// The values of a register.
    struct row {
        const Value* first;
        bool varies;
        [[nodiscard]] constexpr const Value& operator[](uint32_t lane) const noexcept {
            return first[varies ? lane : 0];
        }
    };
    [[nodiscard]] constexpr row read(uint32_t r) const noexcept {
        return varies_[r] == 0 ? row{&uniform_[r], false} : row{&lanes_[slot_[r]], true};
    }
    /// Writes one value for `lanes` of `live` lanes.
    constexpr void write(uint32_t r, const Value& v, uint32_t lanes, uint32_t live) {
        if (r == lost_) return;
        if ((live & ~lanes) == 0) {
            uniform_[r] = v;
            varies_[r] = 0;
            return;
        }
        if (varies_[r] == 0 && uniform_[r] == v) return;
        Value* const to = spread(r, lanes);
        for (uint32_t m = lanes; m != 0; m &= m - 1) to[std::countr_zero(m)] = v;
    }
    /// Writes a value a lane.
    constexpr void write_each(uint32_t r, const Value* v, uint32_t lanes, uint32_t live) {
        if (r == lost_) return;
        if ((live & ~lanes) == 0) {
            const Value& first = v[std::countr_zero(lanes)];
            bool same = true;
            for (uint32_t m = lanes; m != 0 && same; m &= m - 1) same = v[std::countr_zero(m)] == first;
            if (same) return write(r, first, lanes, live);
        }
        Value* const to = spread(r, lanes);
        if (lanes == all_lanes) {
            for (uint32_t k = 0; k < 32; ++k) to[k] = v[k];
            return;
        }
        for (uint32_t m = lanes; m != 0; m &= m - 1) to[std::countr_zero(m)] = v[std::countr_zero(m)];
    }

private:
    /// The register's values a lane; those of `lanes` are about to be written.
    constexpr Value* spread(uint32_t r, uint32_t lanes) {
        if (slot_[r] == none) {
            slot_[r] = static_cast<uint32_t>(lanes_.size());
            lanes_.resize(lanes_.size() + 32);
        }
        Value* const to = &lanes_[slot_[r]];
        if (varies_[r] == 0 && lanes != all_lanes)
            for (uint32_t k = 0; k < 32; ++k) to[k] = uniform_[r];
        varies_[r] = 1;
        return to;
    }

    list<Value> uniform_;
    list<uint32_t> slot_;
    list<uint8_t> varies_;
    list<Value> lanes_;
    uint32_t lost_ = none;
};

/// One fence between the proxies: what these lanes wrote before event `event` of their warp is visible behind it.
struct proxy_fence {
    uint32_t event = 0;
    uint32_t lanes = 0;
};

/// One warp.
template <class Value>
struct warp {
    uint32_t block = 0;
    uint32_t index = 0;  ///< in its block
    uint32_t agent = 0;
    uint32_t born = 0;   ///< lanes it has
    uint32_t live = 0;   ///< lanes that have not exited
    uint32_t event = 1;  ///< number of what it does now; every release starts the next
    list<piece> pieces;
    registers<Value> regs;
    frontier knows;
    frontier released;  ///< what its last release fence covers: a relaxed arrival carries no more
    frontier heard;     ///< what relaxed waits brought: an acquire fence makes it known
    list<proxy_fence> fences;
    frontier fenced;                       ///< what it knew when it last fenced the proxies
    uint32_t cluster_arrived = 0;          ///< lanes that have arrived at the cluster barrier and not yet waited
    uint32_t cluster_generation[32] = {};  ///< by lane: the phase it arrived for
    work_queue wgmma, thread_copies;
    uint32_t budgets = 0;    ///< how often it has executed setmaxnreg
    uint32_t budget_at = 0;  ///< the last of them
    uint32_t left_at = 0;    ///< the instruction with which its last lanes exited
    uint64_t steps = 0;      ///< instructions it has executed
};

}  // namespace ptxdsl::machine
