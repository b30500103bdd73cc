// SPDX-License-Identifier: Apache-2.0
// What an instruction record does: isa/behaviour.hpp by the words of the record.
#pragma once

#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/behaviour.hpp>

#include <cstdint>

namespace ptxdsl::ir {

/// The action of an instruction record.
[[nodiscard]] constexpr isa::action action_of(const std::uint32_t* instruction) noexcept {
    return isa::action_of(instruction[4] & 0xffffu);
}

/// What an instruction record does.
[[nodiscard]] constexpr isa::behaviour behaviour_of(const std::uint32_t* instruction) noexcept {
    return isa::behaviour_of(instruction[4] & 0xffffu, [instruction](std::uint32_t word) {
        const cursor c{instruction};
        for (std::uint32_t i = 1; i < c.tokens(); ++i)
            if (c.token(i) == word) return true;
        return false;
    });
}

/// How many of an instruction record's first operands it writes.
[[nodiscard]] constexpr std::uint32_t results_of(const std::uint32_t* instruction) noexcept {
    const std::uint32_t results = behaviour_of(instruction).results();
    const std::uint32_t operands = instruction[1] >> 8 & 0xffu;
    return results < operands ? results : operands;
}

/// Calls `use(operand)` for each operand that an instruction record writes.
template <class Use>
constexpr void each_result(const std::uint32_t* instruction, Use use) {
    const std::uint32_t* o = cursor{instruction}.first_operand();
    for (std::uint32_t n = results_of(instruction); n != 0; --n, o += operand_words(o[0])) use(o);
}

}  // namespace ptxdsl::ir
