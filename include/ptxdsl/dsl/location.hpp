// SPDX-License-Identifier: Apache-2.0
// Where in the author's files a call stands, the last parameter of every call.
#pragma once

#include <cstdint>
#include <source_location>

namespace ptxdsl {

namespace detail {
template <class>
inline constexpr bool always_false = false;
}  // namespace detail

/// A line of the author's, the last parameter of every call, which C++ fills in. What is written in its place is an
/// operand too many, and refused with a sentence (A16) where C++ would list candidates.
struct location : std::source_location {
    constexpr location() noexcept = default;
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr location(std::source_location where) noexcept : std::source_location(where) {}
    template <class T>
    constexpr location(const T&) noexcept(refuse<T>()) {}
    // NOLINTEND(google-explicit-constructor)

private:
    /// In a `noexcept`, which g++ instantiates where the conversion stands.
    template <class T>
    [[nodiscard]] static constexpr auto refuse() noexcept {
        static_assert(
            detail::always_false<T>,
            "PTXDSL-A16: this call has an operand too many: a result is returned, d = k.add(a, b), and what the call "
            "takes is in docs/isa (the operand's type is in the note below)");
        return true;
    }
};

/// The same without that sentence, where another overload takes one more operand that is converted (a cache policy, a
/// number of bytes): to C++ `location` would be as good a place for it.
using call_site = std::source_location;

}  // namespace ptxdsl
