// SPDX-License-Identifier: Apache-2.0
// What a module declares more of than there is: shared and constant memory, parameters, threads and blocks.
#pragma once

#include <ptxdsl/parse/check_definitions.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// Bytes of all constant variables of a module (5.1.3).
inline constexpr std::uint64_t constant_bytes = 65536;
/// Static shared memory of a block where `ptxas` does not give it all that a block may have.
inline constexpr std::uint64_t portable_shared_bytes = 49152;

/// Most bytes of variables in `.shared` that a kernel may declare; what goes beyond is dynamic where there is more.
[[nodiscard]] constexpr std::uint64_t most_static_shared(ptxdsl::target t) noexcept {
    return t.has_clusters() ? std::uint64_t{t.max_shared_bytes()} : portable_shared_bytes;
}
/// Bytes of parameters a kernel may have (PTX ISA 9.0, 5.1.6.2).
[[nodiscard]] constexpr std::uint64_t most_parameter_bytes(ptxdsl::target t, ptx_version version) noexcept {
    return t.has_independent_threads() && version >= ptx_version{8, 1} ? 32764u : 4352u;
}

/// Whether a declaration's variables lie in `space` of the first bank.
[[nodiscard]] constexpr bool lies_in(const tree_view& v, std::uint32_t declaration, std::string_view space) noexcept {
    const std::uint32_t s = v.child(declaration, node_kind::space);
    return s != 0 && v.atom(s) == space && !v.has_children(s);
}
template <class Each>
constexpr void for_each_declarator(const tree_view& v, std::uint32_t declaration, Each each) {
    for (std::uint32_t c = declaration + 1; c < v[declaration].end; c = v[c].end)
        if (v.kind(c) == node_kind::declarator) each(c);
}

/// The shared memory of a module's kernels: their own variables, and those of the module that they name. Gaps between
/// variables are left out, since their order is the assembler's; so is what the functions they call use.
class shared_counter {
public:
    constexpr explicit shared_counter(const tree_view& v) : v_(v) {
        for (u32 n = 1; n < v[0].end; n = v[n].end) {
            if (v.kind(n) != node_kind::declaration || !lies_in(v, n, ".shared") || linkage_of(v, n) == ".extern")
                continue;
            if (of_module_.size() == 0) of_module_.resize(v.n_words, 0), seen_.resize(v.n_words, 0);
            for_each_declarator(v, n, [&](u32 d) { of_module_[v[d].atom] = storage_of(v, n, d).bytes; });
        }
    }
    [[nodiscard]] constexpr std::uint64_t bytes_of(u32 entry) {
        std::uint64_t bytes = 0;
        for (u32 n = entry; n < v_[entry].end; ++n)
            if (v_.kind(n) == node_kind::declaration) declaration(n, entry, bytes);
        if (of_module_.size() == 0) return bytes;
        for (u32 n = entry; n < v_[entry].end; ++n) {
            if (v_.kind(n) != node_kind::name || seen_[v_[n].atom] == entry) continue;
            seen_[v_[n].atom] = entry;
            bytes = plus(bytes, of_module_[v_[n].atom]);
        }
        return bytes;
    }

private:
    using u32 = std::uint32_t;

    /// A name of the kernel's own hides that of the module.
    constexpr void declaration(u32 n, u32 entry, std::uint64_t& bytes) {
        const bool shared = lies_in(v_, n, ".shared");
        for_each_declarator(v_, n, [&](u32 d) {
            if (of_module_.size() != 0) seen_[v_[d].atom] = entry;
            if (shared) bytes = plus(bytes, storage_of(v_, n, d).bytes);
        });
    }

    const tree_view& v_;
    ptxdsl::detail::dynarray<std::uint64_t> of_module_;  ///< bytes by spelling; empty: none
    ptxdsl::detail::dynarray<u32> seen_;                 ///< the last kernel that named it
};

/// Where the parameters of a kernel end.
[[nodiscard]] constexpr std::uint64_t parameter_bytes(const tree_view& v, std::uint32_t entry) noexcept {
    const std::uint32_t list = v.child(entry, node_kind::parameters);
    std::uint64_t end = 0;
    for (std::uint32_t p = list == 0 ? 0 : list + 1; list != 0 && p < v[list].end; p = v[p].end) {
        const std::uint32_t d = v.child(p, node_kind::declarator);
        if (d == 0) continue;
        const storage s = storage_of(v, p, d);
        const std::uint64_t align = s.align == 0 ? 1 : s.align;
        end = plus(plus(end, align - 1) / align * align, s.bytes);
    }
    return end;
}

/// Whether an integer of the text has more than 64 bits.
[[nodiscard]] constexpr bool is_too_long(std::string_view s) noexcept {
    unsigned base = 10;
    if (s.size() > 1 && s[0] == '0') {
        if (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D') return false;
        base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'b' || s[1] == 'B' ? 2 : 8;
        s.remove_prefix(base == 8 ? 1 : 2);
    }
    std::uint64_t value = 0;
    for (const char c : s) {
        const int digit = c >= '0' && c <= '9' ? c - '0' : base == 16 && c != 'U' ? (c | 0x20) - 'a' + 10 : -1;
        if (digit < 0) return false;  // a float, or the end of the number
        if (value > (~std::uint64_t{0} - static_cast<unsigned>(digit)) / base) return true;
        value = value * base + static_cast<unsigned>(digit);
    }
    return false;
}

/// The numbers of a directive.
template <class Report>
constexpr void check_numbers(const tree_view& v, std::uint32_t d, Report report) {
    for (std::uint32_t c = d + 1; c < v[d].end; c = v[c].end) {
        const std::uint64_t value = integer_value(v.atom(c));
        if (value == 0 && v.atom(d) != ".maxclusterrank" && v.atom(d) != ".reqnctapercluster")
            report("P35", c, "'", v.atom(d), "' takes numbers from 1 on, not 0");
        else if (value > 0xffffffffu)
            report("P35", c, "'", v.atom(d), "' takes numbers of 32 bits, not ", v.atom(c));
    }
}
/// No launch of a kernel succeeds that asks for more threads than a block has.
template <class Report>
constexpr void check_block(const tree_view& v, std::uint32_t entry, Report report) {
    const std::uint32_t d = directive_of(v, entry, ".reqntid");
    if (d == 0) return;
    std::uint64_t extent[3] = {1, 1, 1}, threads = 1;
    unsigned i = 0;
    for (std::uint32_t c = d + 1; c < v[d].end && i < 3; c = v[c].end) extent[i++] = integer_value(v.atom(c));
    for (const std::uint64_t e : extent) threads = times(threads, e);
    if (threads > 1024)
        report("H06", d, "a block has at most 1024 threads, and '.reqntid' asks for ", threads);
    else if (extent[2] > 64)
        report("H06", d, "a block has at most 64 threads along z, and '.reqntid' asks for ", extent[2]);
}

/// Calls `report(id, node, parts...)` for what is more than `t` has.
template <class Report>
constexpr void check_limits(const tree_view& v, ptxdsl::target t, ptx_version version, Report report) {
    using u32 = std::uint32_t;
    shared_counter shared(v);
    std::uint64_t constants = 0;
    for (u32 n = 1; n < v.n_nodes; ++n) {
        if (v.kind(n) == node_kind::tuning) check_numbers(v, n, report);
        if ((v.kind(n) == node_kind::literal || v.kind(n) == node_kind::dimension || v.kind(n) == node_kind::align) &&
            v[n].atom != 0 && is_too_long(v.atom(n)))
            report("P01", n, "'", v.atom(n), "' has more than 64 bits");
        if (v.kind(n) == node_kind::declaration && lies_in(v, n, ".const") && linkage_of(v, n) != ".extern")
            for_each_declarator(v, n, [&](u32 d) {
                const bool fitted = constants <= constant_bytes;
                constants = plus(constants, storage_of(v, n, d).bytes);
                if (fitted && constants > constant_bytes)
                    report("P39", d, "with '", v.atom(d), "' the module has ", constants,
                           " bytes in '.const'; there are ", constant_bytes);
            });
        if (v.kind(n) != node_kind::entry) continue;
        check_block(v, n, report);
        if (const std::uint64_t bytes = parameter_bytes(v, n), most = most_parameter_bytes(t, version); bytes > most)
            report("P39", n, "the parameters of '", v.atom(n), "' take ", bytes,
                   " bytes; this target and version have ", most);
        if (const std::uint64_t bytes = shared.bytes_of(n), most = most_static_shared(t); bytes > most)
            report("C04", n, "kernel '", v.atom(n), "' declares ", bytes,
                   " bytes of shared memory, of which there are ", most,
                   most == portable_shared_bytes ? "; what is over that is dynamic ('.extern .shared')" : "");
    }
}

}  // namespace ptxdsl::ptx::detail
