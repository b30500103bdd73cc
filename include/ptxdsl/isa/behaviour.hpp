// SPDX-License-Identifier: Apache-2.0
// What an instruction does, as its row of isa/forms/*.isa states it: what it writes, whether that may differ between
// threads, the memory it touches, who executes it together. What a row does not say is the cautious answer.
#pragma once

#include <ptxdsl/isa/generated/behaviour.hpp>

#include <cstdint>

namespace ptxdsl::isa {

/// The path by which an instruction touches memory (PTX ISA, "Proxies").
enum class proxy : std::uint8_t { generic, async, tensormap, texture, any };

/// Who executes a form with `.aligned` together.
enum class together : std::uint8_t { nobody, warp, warpgroup };

/// What an instruction does. Space and semantics of an access are its operands' and its words'.
struct behaviour {
    std::uint32_t bits = static_cast<std::uint32_t>(action::unknown) | 3u << detail::behaviour_varies |
                         7u << detail::behaviour_memory |
                         static_cast<std::uint32_t>(proxy::any) << detail::behaviour_proxy;

    /// What it is followed as.
    [[nodiscard]] constexpr action what() const noexcept { return static_cast<action>(bits & 31u); }
    /// How many of its first operands it writes; `d|p` is one of them.
    [[nodiscard]] constexpr std::uint32_t results() const noexcept { return bits >> detail::behaviour_results & 3u; }
    /// A result may differ between threads of a block whose sources are the same.
    [[nodiscard]] constexpr bool varies() const noexcept { return (bits >> detail::behaviour_varies & 2u) != 0; }
    /// A result may differ between blocks whose sources are the same.
    [[nodiscard]] constexpr bool varies_by_block() const noexcept {
        return (bits >> detail::behaviour_varies & 1u) != 0;
    }
    [[nodiscard]] constexpr bool reads() const noexcept { return (bits >> detail::behaviour_memory & 1u) != 0; }
    [[nodiscard]] constexpr bool writes() const noexcept { return (bits >> detail::behaviour_memory & 2u) != 0; }
    /// Other accesses are ordered by it.
    [[nodiscard]] constexpr bool orders() const noexcept { return (bits >> detail::behaviour_memory & 4u) != 0; }
    [[nodiscard]] constexpr proxy by() const noexcept {
        return static_cast<proxy>(bits >> detail::behaviour_proxy & 7u);
    }
    /// Of the forms with `.aligned`.
    [[nodiscard]] constexpr together aligned() const noexcept {
        return static_cast<together>(bits >> detail::behaviour_together & 3u);
    }
    friend constexpr bool operator==(const behaviour&, const behaviour&) = default;
};

/// The action of a mnemonic, which all of its forms share; `unknown` for a word that is none.
[[nodiscard]] constexpr action action_of(unsigned mnemonic) noexcept {
    return static_cast<action>(detail::mnemonic_behaviour[mnemonic] & 31u);
}

/// What an instruction with these words does. `has(word)` is asked about its modifiers where the mnemonic alone does
/// not decide.
template <class Has>
[[nodiscard]] constexpr behaviour behaviour_of(unsigned mnemonic, Has has) noexcept {
    const std::uint32_t all = detail::mnemonic_behaviour[mnemonic];
    if ((all & detail::behaviour_split) == 0) return {all};
    const char32_t* at = detail::behaviour_lists + (all >> 18);
    for (std::uint32_t n = *at++; n != 0; --n, at += 3)
        if (has(at[0]) && (at[1] == 0 || has(at[1]))) return {at[2]};
    return {at[0]};
}

}  // namespace ptxdsl::isa
