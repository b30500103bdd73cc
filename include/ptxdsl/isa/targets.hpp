// SPDX-License-Identifier: Apache-2.0
// Targets, PTX versions and state spaces as data (PTX ISA 9.0, 5.1 and 11.1).
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/generated/targets.hpp>

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

/// A `.target`: the number and the suffix. `'a'` is architecture-specific, `'f'` family-specific, 0 portable. What a
/// target has stands in isa/targets.isa; one without a row there is taken for the newest portable one below it.
struct target {
    std::uint16_t sm = 0;
    char suffix = 0;

    constexpr bool operator==(const target&) const = default;

    /// Whether PTX has this target: whether isa/targets.isa has a row for it.
    [[nodiscard]] constexpr bool known() const noexcept { return row()[0] == key(); }
    /// First PTX version that knows this target at all (PTX ISA 11.1.2).
    [[nodiscard]] constexpr ptx_version floor() const noexcept {
        const unsigned v = row()[1];
        return {static_cast<std::uint8_t>(v / 10), static_cast<std::uint8_t>(v % 10)};
    }
    /// Shared memory one block may use, bytes, static and dynamic together.
    [[nodiscard]] constexpr std::uint32_t max_shared_bytes() const noexcept { return std::uint32_t{row()[3]} << 10; }
    /// What `ptxas` 13 assembles a text of this target for: itself, the oldest that it still knows, or, where the
    /// target has another name today (sm_101), that one.
    [[nodiscard]] constexpr target assembled_as() const noexcept {
        const unsigned k = row()[4];
        return {static_cast<std::uint16_t>(k >> 2), suffixes[k & 3u]};
    }
    /// Whether portable code of `number` runs here, as what needs `sm_75 or higher` does.
    [[nodiscard]] constexpr bool at_least(unsigned number) const noexcept { return sm >= number; }

    /// Whether code for this target runs on a GPU of compute capability `device` (90 for 9.0): of an `a` target on
    /// exactly that one, of an `f` target on the later ones of its family, portable code on all later ones.
    [[nodiscard]] constexpr bool runs_on(unsigned device) const noexcept {
        const target have{static_cast<std::uint16_t>(device), suffix};
        if (suffix == 'a') return have == *this || (have.known() && have.assembled_as() == assembled_as());
        return sm <= device && (suffix != 'f' || (have.known() && have.row()[2] == row()[2]));
    }

    /// `wgmma`, the products of a warpgroup.
    [[nodiscard]] constexpr bool has_wgmma() const noexcept { return has(isa::detail::feature::wgmma); }
    /// Tensor memory and `tcgen05`.
    [[nodiscard]] constexpr bool has_tensor_memory() const noexcept { return has(isa::detail::feature::tensor_memory); }
    /// `setmaxnreg`.
    [[nodiscard]] constexpr bool has_setmaxnreg() const noexcept { return has(isa::detail::feature::setmaxnreg); }
    /// Clusters of blocks and distributed shared memory.
    [[nodiscard]] constexpr bool has_clusters() const noexcept { return has(isa::detail::feature::clusters); }
    /// Bulk and tensor copies.
    [[nodiscard]] constexpr bool has_tma() const noexcept { return has(isa::detail::feature::tma); }
    /// Tensor maps of 4- and 6-bit elements and of the 128-byte swizzle in units of 32, and the copies that came with
    /// them.
    [[nodiscard]] constexpr bool has_narrow_tma() const noexcept { return has(isa::detail::feature::narrow_tma); }
    /// Conversions and products of 8-bit floats.
    [[nodiscard]] constexpr bool has_fp8() const noexcept { return has(isa::detail::feature::fp8); }
    /// Modules with 32-bit addresses.
    [[nodiscard]] constexpr bool has_addresses_32() const noexcept { return has(isa::detail::feature::addresses_32); }
    /// Threads of a warp that advance one by one, so that `vote` and `shfl` want `.sync`.
    [[nodiscard]] constexpr bool has_independent_threads() const noexcept {
        return has(isa::detail::feature::independent_threads);
    }
    /// `mad.f32` without a rounding modifier.
    [[nodiscard]] constexpr bool has_unrounded_mad() const noexcept { return has(isa::detail::feature::unrounded_mad); }

private:
    static constexpr char suffixes[] = {0, 'a', 'f', 0};
    static constexpr unsigned row_words = 6;

    [[nodiscard]] constexpr unsigned key() const noexcept {
        return sm * 4u + (suffix == 'a' ? 1u : suffix == 'f' ? 2u : suffix == 0 ? 0u : 3u);
    }
    [[nodiscard]] constexpr const char16_t* row() const noexcept {
        const unsigned wanted = key();
        const char16_t* r = isa::detail::target_words + (isa::detail::target_count - 1) * row_words;
        for (; r != isa::detail::target_words; r -= row_words)
            if (r[0] == wanted || ((r[0] & 3u) == 0 && r[0] < wanted)) break;
        return r;
    }
    [[nodiscard]] constexpr bool has(isa::detail::feature f) const noexcept {
        return (row()[5] & static_cast<unsigned>(f)) != 0;
    }
};

/// The target `90a` stands for behind `sm_`; number 0 when it stands for none.
[[nodiscard]] constexpr target target_numbered(string_view text) noexcept {
    target t;
    std::size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && i < 4; ++i)
        t.sm = static_cast<std::uint16_t>(t.sm * 10 + text[i] - '0');
    if (i + 1 == text.size()) t.suffix = text[i++];
    const bool right = i == text.size() && t.sm != 0 && (t.suffix == 0 || t.suffix == 'a' || t.suffix == 'f');
    return right ? t : target{};
}

}  // namespace ptxdsl

#include <ptxdsl/isa/generated/target_constants.hpp>

namespace ptxdsl {

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
