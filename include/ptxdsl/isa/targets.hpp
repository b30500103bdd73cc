// SPDX-License-Identifier: Apache-2.0
// Targets, PTX versions and state spaces as data (PTX ISA 9.0, 5.1 and 11.1).
#pragma once

#include <ptxdsl/detail/string_view.hpp>

#include <cstdint>

namespace ptxdsl {

/// A PTX ISA version. Compared as numbers, never as text.
struct ptx_version {
    std::uint8_t major = 0;
    std::uint8_t minor = 0;
    // Spelled out: `<compare>` alone costs a thirtieth of <string>.
    constexpr bool operator==(const ptx_version&) const = default;
    [[nodiscard]] constexpr bool operator<(const ptx_version& v) const noexcept { return number() < v.number(); }
    [[nodiscard]] constexpr bool operator>(const ptx_version& v) const noexcept { return number() > v.number(); }
    [[nodiscard]] constexpr bool operator<=(const ptx_version& v) const noexcept { return number() <= v.number(); }
    [[nodiscard]] constexpr bool operator>=(const ptx_version& v) const noexcept { return number() >= v.number(); }

private:
    [[nodiscard]] constexpr unsigned number() const noexcept { return major * 256u + minor; }
};

/// A `.target`: the number and the suffix. `'a'` is architecture-specific, `'f'` family-specific, 0 portable.
struct target {
    std::uint16_t sm = 0;
    char suffix = 0;

    constexpr bool operator==(const target&) const = default;

    /// First PTX version that knows this target at all (PTX ISA 11.1.2).
    [[nodiscard]] constexpr ptx_version floor() const noexcept {
        if (sm >= 120) return {8, 7};
        if (sm >= 100) return {8, 6};
        if (sm >= 90) return suffix == 'a' ? ptx_version{8, 0} : ptx_version{7, 8};
        return {7, 0};
    }
    /// Shared memory one block may use, bytes, static and dynamic together.
    [[nodiscard]] constexpr std::uint32_t max_shared_bytes() const noexcept {
        return sm >= 120 ? 99u << 10 : 227u << 10;
    }
};

inline constexpr target sm_90{90, 0};
inline constexpr target sm_90a{90, 'a'};
inline constexpr target sm_100{100, 0};
inline constexpr target sm_100a{100, 'a'};

/// State spaces an address can lie in. `shared` is the block's own window (`shared::cta`).
enum class space : std::uint8_t { generic, global, shared, shared_cluster, constant, local, param };

namespace isa {
[[nodiscard]] constexpr string_view name(space s) noexcept {
    constexpr string_view names[] = {"generic"_sv, "global"_sv, "shared"_sv, "shared::cluster"_sv,
                                     "const"_sv,   "local"_sv,  "param"_sv};
    return names[static_cast<unsigned>(s)];
}
}  // namespace isa

}  // namespace ptxdsl
