// SPDX-License-Identifier: Apache-2.0
// Barriers as the machine plays them: mbarriers with phases and bytes, the sixteen named barriers of a block, and the
// cluster's. Each carries what its arrivals knew to those who wait for it.
#pragma once

#include <ptxdsl/machine/frontier.hpp>
#include <ptxdsl/machine/list.hpp>

#include <cstdint>

namespace ptxdsl::machine {

/// An mbarrier object in the shared memory of one block.
struct mbarrier {
    std::uint32_t address = 0;
    bool live = false;
    bool vouched = false;          ///< the author vouches for its arrivals
    std::uint32_t count = 0;       ///< arrivals a phase takes
    std::int64_t pending = 0;      ///< arrivals this phase still takes
    std::int64_t bytes = 0;        ///< bytes this phase still expects; negative where copies came first
    std::uint32_t phase = 0;       ///< phases completed
    std::uint32_t agent = 0;       ///< its phases, as events: the n-th is n
    std::uint32_t init_agent = 0;  ///< its initialisations, as events
    std::uint32_t inits = 0;
    std::uint32_t object = 0xffffffffu;  ///< allocation it lies in
    std::uint32_t at = 0;                ///< the instruction that initialised it
    std::uint32_t warp = 0;              ///< and its warp
    std::uint32_t in_flight = 0;         ///< copies and arrivals under way to it
    frontier arriving;                   ///< what the arrivals of this phase knew
    frontier done;                       ///< what the arrivals of all completed phases knew

    constexpr void start(std::uint32_t arrivals) {
        live = true;
        count = arrivals;
        pending = arrivals;
        bytes = 0;
        phase = 0;
        arriving.clear();
        done.clear();
        ++inits;
    }
    /// Completes the phase where nothing is missing any more.
    constexpr void settle() {
        if (pending != 0 || bytes != 0 || count == 0) return;
        ++phase;
        ++total;
        done.join(arriving);
        done.raise(agent, total);
        arriving.clear();
        pending = count;
    }
    /// Whether the phase of this parity has completed.
    [[nodiscard]] constexpr bool passed(std::uint64_t parity) const noexcept { return (phase & 1u) != (parity & 1u); }

    std::uint32_t total = 0;  ///< phases completed since the start, over all initialisations
};

/// `bar.sync` and its kin: one of sixteen of a block.
struct named_barrier {
    std::uint32_t expected = 0;  ///< threads, by the first to arrive
    std::uint32_t arrived = 0;
    std::uint32_t generation = 0;
    std::uint32_t at = 0;  ///< the instruction that arrived first
    std::uint32_t warp = 0;
    bool whole_block = false;  ///< without a count: all threads that live
    frontier arriving, done;
    list<std::uint32_t> came;  ///< warps, for messages

    constexpr void complete() {
        done = arriving;
        arriving.clear();
        arrived = 0;
        expected = 0;
        came.clear();
        ++generation;
    }
};

/// `barrier.cluster`: all threads of the cluster.
struct cluster_barrier {
    std::uint32_t generation = 0;
    frontier arriving, done;
};

}  // namespace ptxdsl::machine
