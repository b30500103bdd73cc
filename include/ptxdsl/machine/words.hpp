// SPDX-License-Identifier: Apache-2.0
// What the machine says, in words: numbers, objects of the source, steps of a trace.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/machine/findings.hpp>

#include <cstdint>
#include <string>

namespace ptxdsl::machine {

/// The decimal digits of a number that is not negative.
template <class Integer>
[[nodiscard]] constexpr std::string number(Integer n) {
    std::string s;
    for (const char c : detail::decimal(static_cast<std::uint64_t>(n))) s += c;
    return s;
}

/// A shared address in the words of the source: `'a' stage 2`.
[[nodiscard]] constexpr std::string object_name(const ir::view& m, std::uint32_t address) {
    for (std::uint32_t k = 0; k < m.n.allocations; ++k) {
        const ir::allocation& a = m.allocations[k];
        if (address < a.offset || address >= a.offset + a.bytes() || a.id.length == 0) continue;
        const string_view id = m.text(a.id);
        std::string s = "'" + std::string(id.data(), id.size()) + "'";
        if (a.stages > 1 && a.stage_bytes != 0) s += " stage " + number((address - a.offset) / a.stage_bytes);
        return s;
    }
    return "shared memory at byte " + number(address);
}

/// A step of a trace: "arrives at 'full' stage 1, phase 3".
[[nodiscard]] constexpr std::string words(const ir::view& m, const event& e) {
    const auto there = [&] { return object_name(m, e.address); };
    switch (e.what) {
        case deed::copies: return "starts a copy of " + number(e.number) + " bytes into " + there();
        case deed::arrives: return "arrives at " + there() + ", phase " + number(e.number);
        case deed::initialises: return "initialises " + there() + " for " + number(e.number) + " arrivals";
        case deed::sees_phase: return "sees phase " + number(e.number) + " of " + there();
        case deed::comes_to_named: return "comes to named barrier " + number(e.number);
        case deed::arrives_at_cluster: return "arrives at the cluster barrier";
        case deed::allocates:
            return "allocates " + number(e.number) + " columns of tensor memory from column " + number(e.address);
        case deed::commits: return "commits to " + there();
    }
    return {};
}

}  // namespace ptxdsl::machine
