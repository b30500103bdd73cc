// SPDX-License-Identifier: Apache-2.0
// What the checks of a module share: its tree, its names, its target, and how they report.
#pragma once

#include <ptxdsl/isa/table.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/parse/symbols.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx::detail {

/// The base of the checks.
class check_context {
protected:
    using u32 = std::uint32_t;

    constexpr check_context(const tree_view& v, diagnostics& out)
        : v_(v), out_(out), names_(v), target_(v.target()), version_(v.version()) {}

    template <class... Parts>
    constexpr void error(const char (&id)[4], u32 node, const Parts&... parts) {
        out_.add(severity::error, id, v_.offset(node), v_.token_length(node), parts...);
    }
    template <class... Parts>
    constexpr void warning(const char (&id)[4], u32 node, const Parts&... parts) {
        out_.add(severity::warning, id, v_.offset(node), v_.token_length(node), parts...);
    }

    // (clang evaluates templates of a class only when they are defined before their first use in it)
    template <class... Parts>
    constexpr void spelled(const char (&id)[4], u32 n, const Parts&... parts) {
        text opcode;
        spell(n, opcode);
        const u32 at = v_.has_children(n) && v_.kind(n + 1) == node_kind::guard ? opcode_token(n) : v_[n].token;
        out_.add(severity::error, id, v_.tokens[at].offset, v_.words[v_.tokens[at].spelling].size, "'", opcode.view(),
                 parts...);
    }
    /// The opcode stands behind `@p` or `@!p`.
    [[nodiscard]] constexpr u32 opcode_token(u32 n) const noexcept { return v_[n + 1].token + 1; }
    constexpr void spell(u32 n, text& out) const {
        out.put(v_.atom(n));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::modifier) out.put(v_.atom(c));
    }

    constexpr bool known(u32 n) {
        if (names_.find(v_[n].atom) != symbol_table::none) return true;
        error("P21", n, "'", v_.atom(n), "' is not declared");
        return false;
    }
    constexpr bool known_label(u32 n) {
        if (names_.find_label(v_[n].atom) != symbol_table::none) return true;
        error("P21", n, "there is no label '", v_.atom(n), "' in this scope");
        return false;
    }

    /// The table knows what targets have from sm_50 on; what is older is read as that.
    [[nodiscard]] constexpr ptxdsl::target asked_target() const noexcept {
        return target_.at_least(sm_50.sm) ? target_ : sm_50;
    }

    const tree_view& v_;
    diagnostics& out_;
    symbol_table names_;
    ptxdsl::target target_;
    ptx_version version_;
    bool address_64_ = true;
    u32 depth_ = 0;  ///< of functions around the statement
};

}  // namespace ptxdsl::ptx::detail
