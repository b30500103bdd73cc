// SPDX-License-Identifier: Apache-2.0
// How the verifier asks what an instruction does.
#pragma once

#include <ptxdsl/ir/behaviour.hpp>
#include <ptxdsl/isa/tokens.hpp>

#include <cstdint>

namespace ptxdsl::verify {

using isa::tok;

/// What the verifier follows an instruction as: the row of the instruction says it.
using op = isa::action;

[[nodiscard]] constexpr op opcode_of(const std::uint32_t* instruction) noexcept { return ir::action_of(instruction); }

/// A line that declares a variable and does nothing.
[[nodiscard]] constexpr bool is_declaration(const std::uint32_t* text) noexcept {
    return ir::cursor{text}.code() == static_cast<std::uint32_t>(ir::text_kind::declaration);
}
/// A call of the device's `vprintf`, which touches nothing that a rule follows.
template <class View>
[[nodiscard]] constexpr bool only_prints(const View& m, const ir::cursor& c) noexcept {
    const std::uint32_t* o = c.first_operand();
    for (std::uint32_t i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0])) {
        if (ir::kind_of(o[0]) != ir::operand_kind::symbol) continue;
        const std::uint32_t id = ir::payload_of(o[0]);
        if (m.from_text ? id == ir::print_symbol : m.text(m.symbols[id]) == "vprintf") return true;
    }
    return false;
}

}  // namespace ptxdsl::verify
