// SPDX-License-Identifier: Apache-2.0
// What an agent knows of the others: for each agent, up to which of its events everything has happened.
//
// Agents are the warps of the cluster and whatever ends work behind their backs: the phases of an mbarrier, the groups
// of asynchronous instructions of a warp or thread. Every synchronisation joins frontiers; nothing else carries
// knowledge.
#pragma once

#include <ptxdsl/machine/list.hpp>

#include <cstddef>
#include <cstdint>

namespace ptxdsl::machine {

/// A vector clock. Agents appear as the program makes them; of one not yet in the vector nothing is known.
class frontier {
public:
    [[nodiscard]] constexpr std::uint32_t of(std::uint32_t agent) const noexcept {
        return agent < seen_.size() ? seen_[agent] : 0;
    }
    constexpr void raise(std::uint32_t agent, std::uint32_t event) {
        if (agent >= seen_.size()) seen_.resize(agent + 1);
        if (seen_[agent] < event) seen_[agent] = event;
    }
    constexpr void join(const frontier& other) {
        if (other.seen_.size() > seen_.size()) seen_.resize(other.seen_.size());
        for (std::size_t k = 0; k < other.seen_.size(); ++k)
            seen_[k] = seen_[k] < other.seen_[k] ? other.seen_[k] : seen_[k];
    }
    constexpr void clear() noexcept { seen_.clear(); }

private:
    list<std::uint32_t> seen_;
};

/// Asynchronous work of one thread, warp or warpgroup that ends in the order of its groups (wgmma, bulk stores,
/// cp.async, tcgen05). Its events are numbered from 1.
class work_queue {
public:
    std::uint32_t agent = 0;

    /// Number of the work that starts now.
    constexpr std::uint32_t start() noexcept { return ++issued_; }
    [[nodiscard]] constexpr std::uint32_t issued() const noexcept { return issued_; }
    constexpr void commit() { groups_.push_back(issued_); }
    /// The last event that has ended when all but the `pending` newest groups have; 0: none.
    [[nodiscard]] constexpr std::uint32_t ended(std::uint64_t pending) const noexcept {
        return pending >= groups_.size() ? 0 : groups_[groups_.size() - 1 - static_cast<std::size_t>(pending)];
    }
    [[nodiscard]] constexpr std::uint32_t committed() const noexcept { return groups_.empty() ? 0 : groups_.back(); }

private:
    std::uint32_t issued_ = 0;
    list<std::uint32_t> groups_;
};

}  // namespace ptxdsl::machine
